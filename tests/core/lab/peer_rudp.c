/* Tests of the request-based protocol in a column, with states, messages and blocks, and of how the
   game hears what has expired. */
#include "lab/peers.h"

#include "column_rig.h"
#include "rudp_rig.h"

TEST(everything_comes_in_order_even_states)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_rudp);
    column_run(column, 30, 0.1, true);
    column_run(column, 5, 0, false);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats states = items_of(column, sender, CW_LAB_STATE);
        const struct cw_lab_game_stats messages = items_of(column, sender, CW_LAB_MESSAGE);
        /* The last ones are under way, for half a round trip. */
        assert_true(states.sent - states.delivered < 8);
        assert_true(messages.sent - messages.delivered < 8);
        /* Both kinds wait for items that are missing before them. */
        assert_true(messages.mean_seconds > 0.07 && states.mean_seconds > 0.07);
    }
    const struct cw_lab_game_stats blocks = items_of(column, 0, CW_LAB_BLOCK);
    assert_true(blocks.sent > 8 && blocks.delivered == blocks.sent);
}

TEST(nothing_expires_at_90_percent_loss)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_rudp);
    column_run(column, 60, 0.9, true);
    column_run(column, 5, 0, true);
    all_messages_came(column);
    assert_true(items_of(column, 0, CW_LAB_BLOCK).delivered > 0);
}

TEST(what_expired_in_an_outage_is_given_up)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_rudp);
    column_run(column, 1, 0, true);
    column_run(column, 40, 1, true);
    column_run(column, 20, 0, true);
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = items_of(column, sender, CW_LAB_MESSAGE);
        /* The items of about the first 10 seconds are lost, since packages are kept for 30 seconds.
         */
        assert_true(messages.lost > 9 * SECOND && messages.lost < 12 * SECOND);
        assert_true(messages.sent - messages.lost - messages.delivered < 8);
        assert_int_equal(items_of(column, sender, CW_LAB_STATE).lost, 0);
    }
    const struct cw_lab_game_stats blocks = items_of(column, 0, CW_LAB_BLOCK);
    assert_int_equal(blocks.lost, 1);
    assert_true(blocks.delivered > 5);
}

TEST(a_block_that_nobody_saw_is_given_up)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_rudp);
    column_run(column, 1, 0, false);
    column_run(column, 40, 1, true);
    assert_int_equal(items_of(column, 0, CW_LAB_BLOCK).sent, 1);
    column_run(column, 20, 0, true);
    const struct cw_lab_game_stats blocks = items_of(column, 0, CW_LAB_BLOCK);
    assert_int_equal(blocks.lost, 1);
    assert_true(blocks.delivered > 5);
}

TEST(it_waits_for_an_answer)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_rudp);
    uint32_t number = 7;
    column_run(column, 2, 0, false);
    assert_int_equal(cw_lab_column_waiting(column, 0, &number), CW_LAB_WAITING_NOTHING);
    assert_int_equal(number, 0);
    int waits = 0;
    for (int second = 0; second < 20; second++) {
        column_run(column, 1, 0.5, false);
        waits += cw_lab_column_waiting(column, 0, &number) == CW_LAB_WAITING_ANSWER && number > 0;
    }
    assert_true(waits > 5);
}

TEST(one_block_is_sent_at_a_time)
{
    const struct cw_lab_peer_type *type = &cw_lab_peer_rudp;
    const struct cw_lab_item blocks[] = {{CW_LAB_BLOCK, 0, 1200}, {CW_LAB_BLOCK, 1, 1200}};
    void *peer = peer_of(type);
    assert_true(type->send(peer, &blocks[0], 0));
    assert_false(type->send(peer, &blocks[1], 0));
    type->update(peer, 0); /* two of its three pieces go out */
    assert_false(type->send(peer, &blocks[1], 0));
    type->update(peer, 0);
    assert_true(type->send(peer, &blocks[1], 0));
}

/* Gives a peer a package with this item's bytes, the last of them changed by damage. */
static void give(void *peer, struct cw_rudp *from, const struct cw_lab_item *item, uint8_t damage)
{
    uint8_t data[CW_LAB_ITEM_MIN + 64], out[CW_RUDP_DATAGRAM_SIZE];
    const size_t head = item->traffic == CW_LAB_BLOCK ? CW_LAB_ITEM_MIN : 0;
    cw_lab_item_write(item, 0, data, head);
    cw_lab_item_write(item, 0, data + head, item->size);
    data[head + item->size - 1] ^= damage;
    assert_ok(cw_rudp_send(from, data, head + item->size));
    cw_rudp_update(from, 1);
    const size_t size = cw_rudp_transmit(from, out, sizeof out);
    cw_lab_peer_rudp.receive(peer, out, size, 0);
}

TEST(only_the_right_bytes_are_an_item)
{
    const struct cw_rudp_config config = cw_rudp_config_default();
    for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_BLOCK; traffic++) {
        const struct cw_lab_item item = {(enum cw_lab_traffic)traffic, 0, 64};
        struct cw_lab_arrival arrival;
        struct cw_rudp *from;
        void *peer;
        from = rudp_make(&config);
        peer = peer_of(&cw_lab_peer_rudp);
        give(peer, from, &item, 1);
        assert_false(cw_lab_peer_rudp.next(peer, &arrival));
        give(peer, from, &item, 0);
        assert_true(cw_lab_peer_rudp.next(peer, &arrival));
        assert_int_equal(arrival.item.traffic, traffic);
        assert_false(arrival.lost);
        assert_false(cw_lab_peer_rudp.next(peer, &arrival));
    }
}
