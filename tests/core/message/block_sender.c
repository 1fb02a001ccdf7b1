/* Tests of a block sent fragment by fragment until all are acked. */
#include "message/block_sender.h"

#include "fixture.h"

#include <math.h>
#include <string.h>

static struct cw_block_fragment fragments[32];
static const uint8_t block[320];
static double path_loss;

static struct cw_timing timing_at(double now, uint16_t packet)
{
    return (struct cw_timing){
        .now = now,
        .round = now,
        .last_arrival = NAN,
        .answer = 1,
        .patience = 1,
        .loss = path_loss,
        .packet = packet,
    };
}

static struct cw_block_sender start(uint32_t size)
{
    struct cw_block_sender sender = {.fragments = fragments, .fragment_size = 10};
    memset(fragments, 0, sizeof fragments);
    cw_block_sender_start(&sender, 7, block, size);
    return sender;
}

/* Sends the fragment that is due as a channel does. Returns it, or the count when none is due. */
static uint32_t send_due(struct cw_block_sender *sender, double now, uint16_t packet,
                         enum cw_due expected)
{
    const struct cw_timing timing = timing_at(now, packet);
    enum cw_due due;
    const uint32_t fragment = cw_block_sender_due(sender, &timing, false, &due);
    assert_int_equal(due, expected);
    if (due == CW_NOT_DUE)
        return fragment;
    cw_block_sender_send(sender, fragment, due, &timing);
    return fragment;
}

TEST(sizes_of_fragments)
{
    struct cw_block_sender sender = start(25);
    assert_int_equal(sender.count, 3);
    assert_int_equal(cw_block_sender_fragment_size(&sender, 0), 10);
    assert_int_equal(cw_block_sender_fragment_size(&sender, 1), 10);
    assert_int_equal(cw_block_sender_fragment_size(&sender, 2), 5);
    sender = start(20);
    assert_int_equal(sender.count, 2);
    assert_int_equal(cw_block_sender_fragment_size(&sender, 1), 10);
    sender = start(1);
    assert_int_equal(sender.count, 1);
    assert_int_equal(cw_block_sender_fragment_size(&sender, 0), 1);
}

TEST(fragments_go_once_and_again_when_lost)
{
    struct cw_block_sender sender = start(25);
    for (uint16_t i = 0; i < 3; i++)
        assert_int_equal(send_due(&sender, 10.0, i, CW_DUE_FIRST), i);
    send_due(&sender, 10.0, 3, CW_NOT_DUE);
    cw_block_sender_lost(&sender, 7, 1, 0); /* another packet carried it last */
    cw_block_sender_lost(&sender, 8, 1, 1); /* another block */
    send_due(&sender, 10.0, 3, CW_NOT_DUE);
    cw_block_sender_lost(&sender, 7, 1, 1);
    assert_int_equal(send_due(&sender, 10.0, 3, CW_DUE_AGAIN), 1);
    send_due(&sender, 10.0, 4, CW_NOT_DUE);
    assert_int_equal(send_due(&sender, 11.5, 5, CW_DUE_AGAIN), 0); /* fragment 0 is overdue */
}

TEST(the_last_ack_ends_it)
{
    struct cw_block_sender sender = start(25);
    assert_false(cw_block_sender_acked(&sender, 7, 0, 0)); /* it was not sent yet */
    for (uint16_t i = 0; i < 3; i++)
        send_due(&sender, 10.0, i, CW_DUE_FIRST);
    assert_false(cw_block_sender_acked(&sender, 7, 2, 2));
    assert_false(cw_block_sender_acked(&sender, 7, 2, 2));
    assert_false(cw_block_sender_acked(&sender, 7, 0, 0));
    assert_false(cw_block_sender_acked(&sender, 6, 1, 1));
    assert_false(cw_block_sender_acked(&sender, 7, 3, 3));
    assert_int_equal(send_due(&sender, 12.0, 9, CW_DUE_AGAIN), 1); /* all others are acked */
    assert_true(cw_block_sender_acked(&sender, 7, 1, 1));
    assert_false(sender.active);
    assert_false(cw_block_sender_acked(&sender, 7, 1, 1));
}

TEST(what_may_have_been_dropped_is_sent_again)
{
    struct cw_block_sender sender = start(25);
    for (uint16_t i = 0; i < 3; i++)
        send_due(&sender, 10.0, i, CW_DUE_FIRST);
    cw_block_sender_doubt(&sender, 1);
    assert_false(cw_block_sender_acked(&sender, 7, 1, 1)); /* this ack comes late */
    assert_false(cw_block_sender_acked(&sender, 7, 2, 2));
    assert_int_equal(send_due(&sender, 10.1, 3, CW_DUE_AGAIN), 0);
    assert_int_equal(send_due(&sender, 10.1, 4, CW_DUE_AGAIN), 1);
    send_due(&sender, 10.1, 5, CW_NOT_DUE);
    assert_false(cw_block_sender_acked(&sender, 7, 0, 0));
    assert_false(cw_block_sender_acked(&sender, 7, 0, 3));
    assert_true(cw_block_sender_acked(&sender, 7, 1, 4));
}

TEST(the_last_ones_go_again_twice_if_packets_are_lost)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        struct cw_block_sender sender = start(320);
        path_loss = lossy ? 0.2 : 0;
        for (uint16_t i = 0; i < 32; i++)
            send_due(&sender, 10.0, i, CW_DUE_FIRST);
        for (uint16_t i = 3; i < 32; i++)
            cw_block_sender_acked(&sender, 7, i, i);
        cw_block_sender_lost(&sender, 7, 0, 0);
        assert_int_equal(send_due(&sender, 10.1, 32, CW_DUE_AGAIN), 0); /* three are left */
        send_due(&sender, 10.2, 33, CW_NOT_DUE);
        cw_block_sender_acked(&sender, 7, 0, 32);
        cw_block_sender_lost(&sender, 7, 1, 1);
        assert_int_equal(send_due(&sender, 10.3, 34, CW_DUE_AGAIN), 1); /* two are left */
        send_due(&sender, 10.4, 35, lossy ? CW_DUE_COPY : CW_NOT_DUE);
        send_due(&sender, 10.5, 36, CW_NOT_DUE);
    }
    path_loss = 0;
}

/* So it does while little is lost, since the queue on its path may be growing. */
TEST(with_others_to_send_it_waits_longer)
{
    path_loss = 0.1;
    struct cw_block_sender sender = start(5);
    send_due(&sender, 10.0, 0, CW_DUE_FIRST);
    const struct cw_timing timing = timing_at(11.2, 1);
    enum cw_due due;
    cw_block_sender_due(&sender, &timing, true, &due);
    assert_int_equal(due, CW_NOT_DUE);
    cw_block_sender_due(&sender, &timing, false, &due);
    assert_int_equal(due, CW_DUE_AGAIN);
    path_loss = 0;
    const struct cw_timing lossless = timing_at(11.2, 1);
    cw_block_sender_due(&sender, &lossless, false, &due);
    assert_int_equal(due, CW_NOT_DUE);
}
