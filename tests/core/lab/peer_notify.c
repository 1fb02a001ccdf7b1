/* Packet notification in a column: what it does with states, messages and blocks. */
#include "causeway/protocols/notify.h"
#include "lab/column.h"
#include "lab/peers.h"
#include "protocols/bunch_internal.h"
#include "protocols/notify_internal.h"

#include "unit.h"

#define SECOND CW_LAB_TICKS_PER_SECOND

static const struct cw_lab_peer_type *const type = &cw_lab_peer_notify;

static struct cw_lab_column *make(void)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_column *column;
    while (cw_lab_protocol(config.protocol) != type)
        config.protocol++;
    assert_int_equal(cw_lab_column_create(&config, &column), CW_OK);
    return column;
}

static void run(struct cw_lab_column *column, uint32_t seconds, double loss, bool blocks)
{
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.loss = loss;
    settings.blocks = blocks;
    assert_int_equal(cw_lab_column_change(column, &settings), CW_OK);
    cw_lab_column_step(column, seconds * SECOND);
}

static struct cw_lab_game_stats stats_of(const struct cw_lab_column *column, uint32_t sender,
                                         enum cw_lab_traffic traffic)
{
    struct cw_lab_game_stats stats;
    cw_lab_column_item_stats(column, sender, traffic, &stats);
    assert_int_equal(stats.faults, 0);
    return stats;
}

static void messages_wait_but_states_do_not(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 30, 0.1, true);
    run(column, 5, 0, false);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats states = stats_of(column, sender, CW_LAB_STATE);
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        assert_true(messages.sent - messages.delivered < 8);
        assert_true(messages.mean_seconds > 0.08);
        assert_true(states.delivered > states.sent * 80 / 100 && states.delivered < states.sent);
        assert_true(states.mean_seconds > 0.05 && states.mean_seconds < 0.065);
    }
    const struct cw_lab_game_stats blocks = stats_of(column, 0, CW_LAB_BLOCK);
    assert_true(blocks.sent > 8 && blocks.delivered == blocks.sent);
    cw_lab_column_destroy(column);
}

static void nothing_is_lost_at_90_percent_loss(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 60, 0.9, true);
    run(column, 20, 0, true);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        assert_int_equal(messages.lost, 0);
        assert_true(messages.sent - messages.delivered < 8);
    }
    assert_true(stats_of(column, 0, CW_LAB_BLOCK).delivered > 0);
    cw_lab_column_destroy(column);
}

static void an_outage_delays_all_and_loses_nothing(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    uint32_t number = 0;
    run(column, 1, 0, true);
    run(column, 20, 1, true);
    /* The queue of 512 messages is full, and so is the history of 256 packets. */
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_ACK);
    assert_true(number >= SECOND && number <= 3 * SECOND);
    run(column, 20, 0, true);
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_NOTHING);
    assert_int_equal(number, 0);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        assert_int_equal(messages.lost, 0);
        assert_true(messages.sent - messages.delivered < 8);
    }
    assert_true(stats_of(column, 0, CW_LAB_BLOCK).delivered > 5);
    cw_lab_column_destroy(column);
}

static void it_waits_for_the_next_message(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    int waits = 0;
    for (int second = 0; second < 20; second++) {
        uint32_t number = 0;
        run(column, 1, 0.3, false);
        if (cw_lab_column_waiting(column, 1, &number) != CW_LAB_WAITING_MESSAGE)
            continue;
        assert_int_equal(number, stats_of(column, 0, CW_LAB_MESSAGE).delivered);
        waits++;
    }
    assert_true(waits > 5);
    cw_lab_column_destroy(column);
}

static void its_datagrams_are_not_too_long(void **state)
{
    (void)state;
    const struct cw_allocator allocator = {0};
    const struct cw_lab_item block = {CW_LAB_BLOCK, 0, CW_LAB_BLOCK_MAX};
    uint8_t out[CW_LAB_MAX_DATAGRAM];
    void *peer;
    assert_non_null(peer = cw_lab_peer_create(type, &allocator));
    assert_true(type->send(peer, &block, 0));
    assert_false(type->send(peer, &block, 0));
    type->update(peer, 0);
    assert_in_range(type->transmit(peer, out, sizeof out, 0), 500, sizeof out);
    cw_lab_peer_destroy(peer);
}

/* Gives a peer the packet of that number with the first bytes of an item, the last of them changed
   by damage. */
static void give(void *peer, uint16_t sequence, const struct cw_lab_item *item, uint8_t damage)
{
    uint8_t bytes[64], data[CW_NOTIFY_HEADER_SIZE + CW_BUNCH_ITEM_HEAD + 64];
    const struct cw_notify_header header = {
        .sequence = sequence, .acked = CW_NOTIFY_SEQUENCES - 1, .words = 1};
    struct cw_bunch_item part = {.tag = CW_BUNCH_PROPERTY, .size = 64, .data = bytes};
    if (item->traffic != CW_LAB_STATE) {
        part.tag = CW_BUNCH_FIRST | CW_BUNCH_LAST;
        part.number = sequence;
    }
    cw_lab_item_write(item, 0, bytes, sizeof bytes);
    bytes[63] ^= damage;
    size_t size = cw_notify_header_write(&header, data);
    size += cw_bunch_item_write(&part, data + size);
    type->receive(peer, data, size, 0);
}

static void only_the_right_bytes_are_an_item(void **state)
{
    (void)state;
    const struct cw_allocator allocator = {0};
    for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_MESSAGE; traffic++) {
        const struct cw_lab_item item = {(enum cw_lab_traffic)traffic, 5, 64};
        struct cw_lab_item longer = item;
        struct cw_lab_arrival arrival;
        void *peer;
        longer.size++;
        assert_non_null(peer = cw_lab_peer_create(type, &allocator));
        give(peer, 0, &item, 1);
        assert_false(type->next(peer, &arrival));
        give(peer, 1, &longer, 0); /* in as many bytes */
        assert_false(type->next(peer, &arrival));
        give(peer, 2, &item, 0);
        assert_true(type->next(peer, &arrival));
        assert_int_equal(arrival.item.traffic, traffic);
        assert_int_equal(arrival.item.id, 5);
        assert_false(arrival.lost);
        give(peer, 3, &item, 0); /* a state counts once */
        assert_int_equal(type->next(peer, &arrival), traffic != CW_LAB_STATE);
        cw_lab_peer_destroy(peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_wait_but_states_do_not),
        cmocka_unit_test(nothing_is_lost_at_90_percent_loss),
        cmocka_unit_test(an_outage_delays_all_and_loses_nothing),
        cmocka_unit_test(it_waits_for_the_next_message),
        cmocka_unit_test(its_datagrams_are_not_too_long),
        cmocka_unit_test(only_the_right_bytes_are_an_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
