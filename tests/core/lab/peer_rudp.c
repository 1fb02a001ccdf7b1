/* The request-based protocol in a column: what it does with states, messages and blocks, and how
   the game hears of what has expired. */
#include "causeway/protocols/rudp.h"
#include "lab/column.h"
#include "lab/peers.h"

#include "unit.h"

#define SECOND CW_LAB_TICKS_PER_SECOND

static struct cw_lab_column *make(void)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_column *column;
    while (cw_lab_protocol(config.protocol) != &cw_lab_peer_rudp)
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

static void everything_comes_in_order_even_states(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 30, 0.1, true);
    run(column, 5, 0, false);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats states = stats_of(column, sender, CW_LAB_STATE);
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        /* the last are under way, for half a round trip */
        assert_true(states.sent - states.delivered < 8);
        assert_true(messages.sent - messages.delivered < 8);
        /* both wait for what is missing before them */
        assert_true(messages.mean_seconds > 0.07 && states.mean_seconds > 0.07);
    }
    const struct cw_lab_game_stats blocks = stats_of(column, 0, CW_LAB_BLOCK);
    assert_true(blocks.sent > 8 && blocks.delivered == blocks.sent);
    cw_lab_column_destroy(column);
}

static void nothing_expires_at_90_percent_loss(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 60, 0.9, true);
    run(column, 5, 0, true);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        assert_int_equal(messages.lost, 0);
        assert_true(messages.sent - messages.delivered < 8);
    }
    assert_true(stats_of(column, 0, CW_LAB_BLOCK).delivered > 0);
    cw_lab_column_destroy(column);
}

static void what_expired_in_an_outage_is_given_up(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 1, 0, true);
    run(column, 40, 1, true);
    run(column, 20, 0, true);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = stats_of(column, sender, CW_LAB_MESSAGE);
        /* those of the first 10 seconds or so; 30 seconds are kept */
        assert_true(messages.lost > 9 * SECOND && messages.lost < 12 * SECOND);
        assert_true(messages.sent - messages.lost - messages.delivered < 8);
        assert_int_equal(stats_of(column, sender, CW_LAB_STATE).lost, 0);
    }
    const struct cw_lab_game_stats blocks = stats_of(column, 0, CW_LAB_BLOCK);
    assert_int_equal(blocks.lost, 1);
    assert_true(blocks.delivered > 5);
    cw_lab_column_destroy(column);
}

static void a_block_that_nobody_saw_is_given_up(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    run(column, 1, 0, false);
    run(column, 40, 1, true);
    assert_int_equal(stats_of(column, 0, CW_LAB_BLOCK).sent, 1);
    run(column, 20, 0, true);
    const struct cw_lab_game_stats blocks = stats_of(column, 0, CW_LAB_BLOCK);
    assert_int_equal(blocks.lost, 1);
    assert_true(blocks.delivered > 5);
    cw_lab_column_destroy(column);
}

static void it_waits_for_an_answer(void **state)
{
    (void)state;
    struct cw_lab_column *column = make();
    uint32_t number = 7;
    run(column, 2, 0, false);
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_NOTHING);
    assert_int_equal(number, 0);
    int waits = 0;
    for (int second = 0; second < 20; second++) {
        run(column, 1, 0.5, false);
        waits += cw_lab_column_waiting(column, 0, &number) == CW_LAB_WAITING_ANSWER && number > 0;
    }
    assert_true(waits > 5);
    cw_lab_column_destroy(column);
}

static void one_block_is_sent_at_a_time(void **state)
{
    (void)state;
    const struct cw_lab_peer_type *type = &cw_lab_peer_rudp;
    const struct cw_allocator allocator = {0};
    const struct cw_lab_item blocks[] = {{CW_LAB_BLOCK, 0, 1200}, {CW_LAB_BLOCK, 1, 1200}};
    void *peer;
    assert_non_null(peer = cw_lab_peer_create(type, &allocator));
    assert_true(type->send(peer, &blocks[0], 0));
    assert_false(type->send(peer, &blocks[1], 0));
    type->update(peer, 0); /* two of its three pieces go out */
    assert_false(type->send(peer, &blocks[1], 0));
    type->update(peer, 0);
    assert_true(type->send(peer, &blocks[1], 0));
    cw_lab_peer_destroy(peer);
}

/* Gives a peer a package with this item's bytes, the last of them changed by damage. */
static void give(void *peer, struct cw_rudp *from, const struct cw_lab_item *item, uint8_t damage)
{
    uint8_t data[CW_LAB_ITEM_MIN + 64], out[CW_RUDP_DATAGRAM_SIZE];
    const size_t head = item->traffic == CW_LAB_BLOCK ? CW_LAB_ITEM_MIN : 0;
    cw_lab_item_write(item, 0, data, head);
    cw_lab_item_write(item, 0, data + head, item->size);
    data[head + item->size - 1] ^= damage;
    assert_int_equal(cw_rudp_send(from, data, head + item->size), CW_OK);
    cw_rudp_update(from, 1);
    const size_t size = cw_rudp_transmit(from, out, sizeof out);
    cw_lab_peer_rudp.receive(peer, out, size, 0);
}

static void only_the_right_bytes_are_an_item(void **state)
{
    (void)state;
    const struct cw_allocator allocator = {0};
    const struct cw_rudp_config config = cw_rudp_config_default();
    for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_BLOCK; traffic++) {
        const struct cw_lab_item item = {(enum cw_lab_traffic)traffic, 0, 64};
        struct cw_lab_arrival arrival;
        struct cw_rudp *from;
        void *peer;
        assert_int_equal(cw_rudp_create(&config, &from), CW_OK);
        assert_non_null(peer = cw_lab_peer_create(&cw_lab_peer_rudp, &allocator));
        give(peer, from, &item, 1);
        assert_false(cw_lab_peer_rudp.next(peer, &arrival));
        give(peer, from, &item, 0);
        assert_true(cw_lab_peer_rudp.next(peer, &arrival));
        assert_int_equal(arrival.item.traffic, traffic);
        assert_false(arrival.lost);
        assert_false(cw_lab_peer_rudp.next(peer, &arrival));
        cw_lab_peer_destroy(peer);
        cw_rudp_destroy(from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_in_order_even_states),
        cmocka_unit_test(nothing_expires_at_90_percent_loss),
        cmocka_unit_test(what_expired_in_an_outage_is_given_up),
        cmocka_unit_test(a_block_that_nobody_saw_is_given_up),
        cmocka_unit_test(it_waits_for_an_answer),
        cmocka_unit_test(one_block_is_sent_at_a_time),
        cmocka_unit_test(only_the_right_bytes_are_an_item),
    };
    return cmocka_run_group_tests_name("peer_rudp", tests, NULL, NULL);
}
