/* Tests of a block put together in one buffer. */
#include "fixture.h"

#include "message/block_receiver.h"

#include "channel_rig.h"

#include <string.h>

struct rig {
    struct channel_rig channel;
    struct cw_block_receiver receiver;
    uint8_t buffer[25], ahead[25], received[2];
};

static void start(struct rig *rig)
{
    channel_rig_start(&rig->channel);
    rig->receiver = (struct cw_block_receiver){
        .buffer = rig->buffer,
        .ahead = rig->ahead,
        .received = rig->received,
        .max_block_size = sizeof rig->buffer,
        .fragment_size = 10,
    };
}

static struct cw_block_piece piece_of(uint16_t id, uint32_t fragment, uint32_t count, uint32_t size)
{
    static const uint8_t bytes[] = "abcdefghijklmnopqrstuvwxyz";
    return (struct cw_block_piece){.id = id,
                                   .count = count,
                                   .fragment = fragment,
                                   .size = size,
                                   .bytes = bytes + 10 * (fragment % 3)};
}

static enum cw_error check(const struct rig *rig, uint16_t id, uint32_t fragment, uint32_t count,
                           uint32_t size)
{
    const struct cw_block_piece piece = piece_of(id, fragment, count, size);
    return cw_block_receiver_check(&rig->receiver, &piece);
}

static struct cw_message *take(struct rig *rig, uint16_t id, uint32_t fragment, uint32_t count,
                               uint32_t size)
{
    const struct cw_block_piece piece = piece_of(id, fragment, count, size);
    struct cw_message *message = NULL;
    assert_int_equal(cw_block_receiver_check(&rig->receiver, &piece), CW_OK);
    assert_false(cw_block_receiver_has(&rig->receiver, &piece));
    if (fragment == 0)
        assert_int_equal(cw_message_create_owned(rig->channel.arrived, RIG_BLOCK, &message), CW_OK);
    return cw_block_receiver_take(&rig->receiver, &piece, message);
}

TEST(fragments_in_any_order)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct rig rig;
    start(&rig);
    for (uint16_t i = 0; i < 3; i++) {
        struct cw_message *message = NULL;
        for (int step = 0; step < 3; step++) {
            assert_null(message);
            const uint32_t fragment = orders[i][step];
            message = take(&rig, i, fragment, 3, fragment == 2 ? 5 : 10);
        }
        assert_non_null(message);
        assert_int_equal(message->block_size, 25);
        assert_memory_equal(message->block, "abcdefghijklmnopqrstuvwxy", 25);
        cw_message_drop(message);
    }
    channel_rig_stop(&rig.channel);
}

TEST(one_block_at_a_time)
{
    struct rig rig;
    start(&rig);
    const struct cw_block_piece first = piece_of(1, 1, 2, 5);
    assert_null(take(&rig, 1, 1, 2, 5));
    assert_true(cw_block_receiver_has(&rig.receiver, &first));
    assert_int_equal(check(&rig, 2, 0, 1, 5), CW_ERROR_RECEIVER_FULL);
    struct cw_message *message = take(&rig, 1, 0, 2, 10);
    assert_int_equal(message->block_size, 15);
    assert_int_equal(check(&rig, 2, 0, 1, 5), CW_ERROR_RECEIVER_FULL); /* 1 is not released yet */
    cw_message_drop(message);
    assert_int_equal(check(&rig, 2, 0, 1, 5), CW_OK);
    channel_rig_stop(&rig.channel);
}

TEST(the_next_block_begins_while_one_is_held)
{
    struct rig rig;
    start(&rig);
    struct cw_message *kept = take(&rig, 1, 0, 1, 5);
    assert_null(take(&rig, 2, 0, 3, 10));
    assert_null(take(&rig, 2, 1, 3, 10));
    assert_int_equal(check(&rig, 2, 2, 3, 5), CW_ERROR_RECEIVER_FULL); /* completes the block */
    assert_memory_equal(kept->block, "abcde", 5);
    cw_message_drop(kept);
    struct cw_message *next = take(&rig, 2, 2, 3, 5);
    assert_memory_equal(next->block, "abcdefghijklmnopqrstuvwxy", 25);
    cw_message_drop(next);
    channel_rig_stop(&rig.channel);
}

TEST(only_the_first_fragments_come_ahead)
{
    static uint8_t buffer[1000], ahead[CW_BLOCK_AHEAD * 10], received[13];
    struct rig rig;
    start(&rig);
    rig.receiver.buffer = buffer;
    rig.receiver.ahead = ahead;
    rig.receiver.received = received;
    rig.receiver.max_block_size = sizeof buffer;
    assert_int_equal(cw_block_ahead(sizeof buffer, 10), sizeof ahead);
    struct cw_message *kept = take(&rig, 1, 0, 1, 5);
    assert_int_equal(check(&rig, 2, CW_BLOCK_AHEAD - 1, 100, 10), CW_OK);
    assert_int_equal(check(&rig, 2, CW_BLOCK_AHEAD, 100, 10), CW_ERROR_RECEIVER_FULL);
    cw_message_drop(kept);
    assert_int_equal(check(&rig, 2, CW_BLOCK_AHEAD, 100, 10), CW_OK);
    channel_rig_stop(&rig.channel);
}

TEST(what_does_not_fit_is_malformed)
{
    struct rig rig;
    start(&rig);
    assert_int_equal(check(&rig, 1, 0, 2, 9), CW_ERROR_MALFORMED); /* a short one, not the last */
    assert_int_equal(check(&rig, 1, 2, 3, 6), CW_ERROR_MALFORMED); /* makes a block of 26 bytes */
    assert_int_equal(check(&rig, 1, 2, 3, 5), CW_OK);
    assert_null(take(&rig, 1, 0, 3, 10));
    assert_int_equal(check(&rig, 1, 1, 2, 5), CW_ERROR_MALFORMED); /* has another count */
    cw_block_receiver_reset(&rig.receiver);
    assert_int_equal(check(&rig, 2, 1, 2, 5), CW_OK);
    channel_rig_stop(&rig.channel);
}
