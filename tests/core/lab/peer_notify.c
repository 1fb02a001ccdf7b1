/* Tests of packet notification in a column, with states, messages and blocks. */
#include "causeway/protocols/notify.h"
#include "lab/peers.h"
#include "protocols/bunch_internal.h"
#include "protocols/notify_internal.h"

#include "column_rig.h"

static const struct cw_lab_peer_type *const type = &cw_lab_peer_notify;

TEST(messages_wait_but_states_do_not)
{
    struct cw_lab_column *column = column_of(type);
    column_run(column, 30, 0.1, true);
    column_run(column, 5, 0, false);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats states = items_of(column, sender, CW_LAB_STATE);
        const struct cw_lab_game_stats messages = items_of(column, sender, CW_LAB_MESSAGE);
        assert_true(messages.sent - messages.delivered < 8);
        assert_true(messages.mean_seconds > 0.08);
        assert_true(states.delivered > states.sent * 80 / 100 && states.delivered < states.sent);
        assert_true(states.mean_seconds > 0.05 && states.mean_seconds < 0.065);
    }
    const struct cw_lab_game_stats blocks = items_of(column, 0, CW_LAB_BLOCK);
    assert_true(blocks.sent > 8 && blocks.delivered == blocks.sent);
}

TEST(nothing_is_lost_at_90_percent_loss)
{
    struct cw_lab_column *column = column_of(type);
    column_run(column, 60, 0.9, true);
    column_run(column, 20, 0, true);
    all_messages_came(column);
    assert_true(items_of(column, 0, CW_LAB_BLOCK).delivered > 0);
}

TEST(an_outage_delays_all_and_loses_nothing)
{
    struct cw_lab_column *column = column_of(type);
    uint32_t number = 0;
    column_run(column, 1, 0, true);
    column_run(column, 20, 1, true);
    /* The queue of 512 messages is full, and so is the history of 256 packets. */
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_ACK);
    assert_true(number >= SECOND && number <= 3 * SECOND);
    column_run(column, 20, 0, true);
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_NOTHING);
    assert_int_equal(number, 0);
    all_messages_came(column);
    assert_true(items_of(column, 0, CW_LAB_BLOCK).delivered > 5);
}

TEST(it_waits_for_the_next_message)
{
    struct cw_lab_column *column = column_of(type);
    int waits = 0;
    for (int second = 0; second < 20; second++) {
        uint32_t number = 0;
        column_run(column, 1, 0.3, false);
        if (cw_lab_column_waiting(column, 1, &number) != CW_LAB_WAITING_MESSAGE)
            continue;
        assert_int_equal(number, items_of(column, 0, CW_LAB_MESSAGE).delivered);
        waits++;
    }
    assert_true(waits > 5);
}

TEST(its_datagrams_are_not_too_long)
{
    const struct cw_lab_item block = {CW_LAB_BLOCK, 0, CW_LAB_BLOCK_MAX};
    uint8_t out[CW_LAB_MAX_DATAGRAM];
    void *peer = peer_of(type);
    assert_true(type->send(peer, &block, 0));
    assert_false(type->send(peer, &block, 0));
    type->update(peer, 0);
    assert_in_range(type->transmit(peer, out, sizeof out, 0), 500, sizeof out);
}

/* Gives a peer packet `sequence` with the first bytes of an item, the last of them changed by
   damage. */
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

TEST(only_the_right_bytes_are_an_item)
{
    for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_MESSAGE; traffic++) {
        const struct cw_lab_item item = {(enum cw_lab_traffic)traffic, 5, 64};
        struct cw_lab_item longer = item;
        struct cw_lab_arrival arrival;
        void *peer;
        longer.size++;
        peer = peer_of(type);
        give(peer, 0, &item, 1);
        assert_false(type->next(peer, &arrival));
        give(peer, 1, &longer, 0); /* has as many bytes as the item */
        assert_false(type->next(peer, &arrival));
        give(peer, 2, &item, 0);
        assert_true(type->next(peer, &arrival));
        assert_int_equal(arrival.item.traffic, traffic);
        assert_int_equal(arrival.item.id, 5);
        assert_false(arrival.lost);
        give(peer, 3, &item, 0); /* a state counts once */
        assert_int_equal(type->next(peer, &arrival), traffic != CW_LAB_STATE);
    }
}
