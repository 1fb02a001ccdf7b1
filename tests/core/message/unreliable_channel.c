/* Tests of the unreliable channel: each message goes into one packet, or into none. */
#include "fixture.h"

#include "message/unreliable_channel.h"

#include "channel_rig.h"

#include <string.h>

struct end {
    struct cw_unreliable_channel channel;
    struct cw_unreliable_slot queue[RIG_QUEUE];
    struct cw_message *received[RIG_QUEUE];
    uint8_t blocks[CW_UNRELIABLE_BLOCKS * 25];
};

struct rig {
    struct channel_rig common;
    struct end from, to;
    bool at_once; /* one pick takes all messages that fit */
};

static void end_start(struct end *end, struct channel_rig *rig)
{
    memset(end, 0, sizeof *end);
    end->channel.common = channel_rig_common(rig, CW_CHANNEL_UNRELIABLE);
    end->channel.queue = end->queue;
    end->channel.received = end->received;
    end->channel.block_buffers = end->blocks;
    end->channel.block_size = 25;
}

static void start(struct rig *rig)
{
    channel_rig_start(&rig->common);
    rig->at_once = false;
    end_start(&rig->from, &rig->common);
    end_start(&rig->to, &rig->common);
}

static void stop(struct rig *rig)
{
    cw_unreliable_reset(&rig->from.channel);
    cw_unreliable_reset(&rig->to.channel);
    channel_rig_stop(&rig->common);
}

static enum cw_error send_number(struct rig *rig, uint32_t number, const char *block)
{
    const uint32_t size = block ? (uint32_t)strlen(block) : 0;
    struct cw_message *message = channel_rig_message(&rig->common, number, block, size);
    message->receipt = number;
    uint32_t bits = channel_rig_bits(&rig->from.channel.common, message);
    if (block)
        bits += cw_unreliable_block_bits(&rig->from.channel, size);
    const enum cw_error error = cw_unreliable_send(&rig->from.channel, message, bits);
    if (error)
        cw_message_drop(message);
    return error;
}

/* Makes a packet of `bits_left` bits, and gives it to the other end. Returns the messages in it. */
static uint32_t pass_packet(struct rig *rig, uint32_t bits_left, struct cw_parsed_entry *parsed)
{
    struct cw_unreliable_channel *channel = &rig->from.channel;
    uint8_t bytes[200];
    cw_unreliable_begin(channel);
    for (uint32_t bits; (bits = cw_unreliable_pick(channel, bits_left, rig->at_once, true)) > 0;) {
        assert_true(bits <= bits_left);
        bits_left -= bits;
    }
    const uint32_t count = channel->common.selection_count;
    *parsed = (struct cw_parsed_entry){.pool_limit = RIG_MESSAGES};
    if (count == 0)
        return 0;
    struct cw_stream writer = cw_stream_writer(bytes, sizeof bytes);
    assert_true(cw_unreliable_write(channel, &writer, 1));
    struct cw_stream reader = cw_stream_reader(bytes, cw_stream_flush(&writer));
    const bool is_fragment = channel_rig_is_fragment(&reader);
    assert_true(cw_unreliable_read(&rig->to.channel, &reader, is_fragment, parsed));
    cw_unreliable_take(&rig->to.channel, parsed);
    return count;
}

static void expect_number(struct rig *rig, uint32_t number)
{
    assert_int_equal(channel_rig_number(cw_unreliable_next(&rig->to.channel)), number);
}

static void check_each_message_goes_once(bool at_once)
{
    struct rig rig;
    struct cw_parsed_entry parsed;
    start(&rig);
    rig.at_once = at_once;
    for (uint32_t number = 1; number <= 6; number++)
        assert_int_equal(send_number(&rig, number, NULL), CW_OK);
    assert_int_equal(pass_packet(&rig, 800, &parsed), RIG_PER_PACKET);
    assert_true(rig.from.channel.common.more_due);
    assert_int_equal(pass_packet(&rig, 800, &parsed), 2);
    assert_int_equal(pass_packet(&rig, 800, &parsed), 0);
    for (uint32_t number = 1; number <= 6; number++)
        expect_number(&rig, number);
    assert_null(cw_unreliable_next(&rig.to.channel));
    stop(&rig);
}

TEST(each_message_goes_once)
{
    check_each_message_goes_once(false);
    check_each_message_goes_once(true);
}

/* A message that does not fit lets smaller ones behind it pass, and is dropped when the round ends.
 */
static void check_what_finds_no_room_is_dropped(bool at_once)
{
    struct rig rig;
    struct cw_parsed_entry parsed;
    struct cw_receipt receipt;
    start(&rig);
    rig.at_once = at_once;
    send_number(&rig, 1, "abcdefghijklmnopqrstuvwxy");
    send_number(&rig, 2, NULL);
    assert_int_equal(pass_packet(&rig, 150, &parsed), 1);
    expect_number(&rig, 2);
    assert_true(rig.from.channel.common.more_due);
    assert_int_equal(rig.from.channel.common.stats.queued, 1);
    cw_unreliable_end_round(&rig.from.channel);
    assert_int_equal(rig.from.channel.common.stats.queued, 0);
    assert_int_equal(rig.from.channel.common.stats.dropped, 1);
    assert_true(cw_receipts_next(&rig.common.receipts, &receipt));
    assert_int_equal(receipt.number, 1);
    assert_false(receipt.acked);
    cw_receipts_settle_packet(&rig.common.receipts, cw_receipts_packet(&rig.common.receipts), true);
    assert_true(cw_receipts_next(&rig.common.receipts, &receipt));
    assert_int_equal(receipt.number, 2);
    stop(&rig);
}

TEST(what_finds_no_room_is_dropped)
{
    check_what_finds_no_room_is_dropped(false);
    check_what_finds_no_room_is_dropped(true);
}

TEST(the_send_queue_is_bounded)
{
    struct rig rig;
    struct cw_parsed_entry parsed;
    start(&rig);
    for (uint32_t number = 0; number < RIG_QUEUE; number++)
        assert_int_equal(send_number(&rig, 0, NULL), CW_OK);
    assert_int_equal(send_number(&rig, 0, NULL), CW_ERROR_QUEUE_FULL);
    assert_int_equal(pass_packet(&rig, 800, &parsed), RIG_PER_PACKET);
    for (uint32_t number = 0; number < RIG_PER_PACKET; number++)
        assert_int_equal(send_number(&rig, 0, NULL), CW_OK);
    assert_int_equal(send_number(&rig, 0, NULL), CW_ERROR_QUEUE_FULL);
    stop(&rig);
}

TEST(the_oldest_unread_makes_room)
{
    struct rig rig;
    struct cw_parsed_entry parsed;
    start(&rig);
    for (uint32_t number = 0; number < RIG_QUEUE + 2; number++) {
        struct cw_message *message = channel_rig_message(&rig.common, number, NULL, 0);
        assert_int_equal(cw_unreliable_send(&rig.from.channel, message, 17), CW_OK);
        pass_packet(&rig, 800, &parsed);
    }
    assert_int_equal(cw_unreliable_unread(&rig.to.channel), RIG_QUEUE);
    assert_int_equal(rig.to.channel.common.stats.dropped, 2);
    assert_true(cw_unreliable_drop_oldest(&rig.to.channel, false));
    assert_false(cw_unreliable_drop_oldest(&rig.to.channel, true));
    expect_number(&rig, 3);
    stop(&rig);
}

TEST(blocks_wait_in_a_few_buffers)
{
    struct rig rig;
    struct cw_parsed_entry parsed;
    static const char *const texts[] = {"first", "second"};
    struct cw_message *kept[CW_UNRELIABLE_BLOCKS];
    start(&rig);
    for (uint32_t i = 0; i < CW_UNRELIABLE_BLOCKS; i++) {
        send_number(&rig, 0, texts[i % 2]);
        assert_int_equal(pass_packet(&rig, 800, &parsed), 1);
        assert_false(parsed.full);
        kept[i] = cw_unreliable_next(&rig.to.channel);
    }
    for (uint32_t i = 0; i < CW_UNRELIABLE_BLOCKS; i++) {
        assert_int_equal(kept[i]->block_size, strlen(texts[i % 2]));
        assert_memory_equal(kept[i]->block, texts[i % 2], kept[i]->block_size);
    }
    send_number(&rig, 0, "third");
    pass_packet(&rig, 800, &parsed);
    assert_true(parsed.full);
    assert_int_equal(parsed.missing_blocks, 1);
    assert_null(cw_unreliable_next(&rig.to.channel));
    cw_message_drop(kept[3]);
    send_number(&rig, 4, "fourth");
    pass_packet(&rig, 800, &parsed);
    assert_false(parsed.full);
    kept[3] = cw_unreliable_next(&rig.to.channel);
    assert_memory_equal(kept[3]->block, "fourth", 6);
    assert_memory_equal(kept[2]->block, "first", 5);
    for (uint32_t i = 0; i < CW_UNRELIABLE_BLOCKS; i++)
        cw_message_drop(kept[i]);
    stop(&rig);
}
