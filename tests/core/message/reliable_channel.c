/* Tests of the reliable channel: what is due, what becomes of it, and the order in which it
   arrives. */
#include "fixture.h"

#include "message/reliable_channel.h"

#include "channel_rig.h"

#include <math.h>
#include <string.h>

struct end {
    struct cw_reliable_channel channel;
    struct cw_reliable_slot slots[RIG_QUEUE + CW_RELIABLE_LISTS];
    struct cw_message *received[RIG_QUEUE];
    struct cw_block_fragment fragments[3], early[3];
    uint8_t arrived[2], buffer[25], ahead[25];
};

struct rig {
    struct channel_rig common;
    struct end from, to;
    uint16_t packet;
    uint16_t newest_reported; /* the newest packet that acks have named */
    bool early;
    double now;
};

static void end_start(struct end *end, struct channel_rig *rig)
{
    memset(end, 0, sizeof *end);
    end->channel.common = channel_rig_common(rig, CW_CHANNEL_RELIABLE_ORDERED);
    end->channel.slots.items = end->slots;
    end->channel.slots.size = RIG_QUEUE;
    end->channel.received = end->received;
    end->channel.block_sender.fragments = end->fragments;
    end->channel.next_block.fragments = end->early;
    end->channel.block_sender.fragment_size = end->channel.next_block.fragment_size = 10;
    end->channel.block_receiver.received = end->arrived;
    end->channel.block_receiver.buffer = end->buffer;
    end->channel.block_receiver.ahead = end->ahead;
    end->channel.block_receiver.max_block_size = sizeof end->buffer;
    end->channel.block_receiver.fragment_size = 10;
    cw_reliable_reset(&end->channel);
}

static void start(struct rig *rig)
{
    channel_rig_start(&rig->common);
    end_start(&rig->from, &rig->common);
    end_start(&rig->to, &rig->common);
    rig->packet = rig->newest_reported = 0;
    rig->early = true;
    rig->now = 10.0;
}

static void stop(struct rig *rig)
{
    cw_reliable_reset(&rig->from.channel);
    cw_reliable_reset(&rig->to.channel);
    channel_rig_stop(&rig->common);
}

static enum cw_error send_number(struct rig *rig, uint32_t number, const char *block)
{
    struct cw_message *message =
        channel_rig_message(&rig->common, number, block, block ? (uint32_t)strlen(block) : 0);
    const enum cw_error error =
        cw_reliable_send(&rig->from.channel, message,
                         channel_rig_bits(&rig->from.channel.common, message), rig->now);
    if (error)
        cw_message_drop(message);
    return error;
}

/* A packet as it stood on the wire, and what it carried. */
struct packet {
    uint16_t number;
    uint8_t bytes[100];
    size_t size;
    uint16_t ids[RIG_PER_PACKET + 1];
    uint32_t count;
    bool is_fragment;
};

/* Fills a packet of `bits_left` bits. */
static struct packet make_packet(struct rig *rig, uint32_t bits_left)
{
    struct cw_reliable_channel *channel = &rig->from.channel;
    struct packet packet = {.number = rig->packet++};
    const struct cw_timing timing = {.now = rig->now,
                                     .round = rig->now,
                                     .last_arrival = NAN,
                                     .newest_reported = rig->newest_reported,
                                     .early = rig->early,
                                     .answer = 1,
                                     .patience = 1,
                                     .packet = packet.number};
    cw_reliable_begin(channel, &(struct cw_timing){0}, true);
    for (uint32_t bits; (bits = cw_reliable_pick(channel, &timing, bits_left)) > 0;) {
        assert_true(bits <= bits_left);
        bits_left -= bits;
    }
    packet.count = channel->common.selection_count;
    packet.is_fragment = channel->picked_fragment;
    memcpy(packet.ids, channel->common.selection, packet.count * sizeof *packet.ids);
    if (packet.count > 0) {
        struct cw_stream stream = cw_stream_writer(packet.bytes, sizeof packet.bytes);
        assert_true(cw_reliable_write(channel, &stream, 1));
        packet.size = cw_stream_flush(&stream);
    }
    return packet;
}

/* Gives a packet to the other end. Returns false when something in it could not be kept. */
static bool arrive(struct rig *rig, const struct packet *packet)
{
    struct cw_stream stream = cw_stream_reader(packet->bytes, packet->size);
    struct cw_parsed_entry parsed = {.pool_limit = RIG_MESSAGES};
    const bool is_fragment = channel_rig_is_fragment(&stream);
    assert_int_equal(is_fragment, packet->is_fragment);
    assert_true(cw_reliable_read(&rig->to.channel, &stream, is_fragment, &parsed));
    cw_reliable_take(&rig->to.channel, &parsed, 0);
    return !parsed.full;
}

static void acked(struct rig *rig, const struct packet *packet)
{
    if (cw_sequence_newer(packet->number, rig->newest_reported))
        rig->newest_reported = packet->number;
    cw_reliable_acked(&rig->from.channel, packet->ids, packet->count, packet->is_fragment,
                      packet->number, rig->now);
}

static void lost(struct rig *rig, const struct packet *packet)
{
    cw_reliable_lost(&rig->from.channel, packet->ids, packet->count, packet->is_fragment,
                     packet->number);
}

static void expect_number(struct rig *rig, uint32_t number)
{
    assert_int_equal(channel_rig_number(cw_reliable_next(&rig->to.channel)), number);
}

TEST(messages_arrive_in_order_and_once)
{
    struct rig rig;
    start(&rig);
    for (uint32_t number = 0; number < 6; number++)
        assert_int_equal(send_number(&rig, number, NULL), CW_OK);
    const struct packet first = make_packet(&rig, 800);
    const struct packet second = make_packet(&rig, 800);
    assert_int_equal(first.count, RIG_PER_PACKET);
    assert_int_equal(second.count, 2);
    assert_int_equal(make_packet(&rig, 800).count, 0);
    assert_true(arrive(&rig, &second));
    assert_null(cw_reliable_next(&rig.to.channel));
    assert_true(arrive(&rig, &first));
    assert_true(arrive(&rig, &first));
    for (uint32_t number = 0; number < 6; number++)
        expect_number(&rig, number);
    assert_null(cw_reliable_next(&rig.to.channel));
    assert_true(arrive(&rig, &second));
    assert_null(cw_reliable_next(&rig.to.channel));
    assert_int_equal(rig.to.channel.common.stats.received, 6);
    stop(&rig);
}

TEST(what_is_lost_is_sent_again)
{
    struct rig rig;
    start(&rig);
    for (uint32_t number = 0; number < 3; number++)
        send_number(&rig, number, NULL);
    const struct packet first = make_packet(&rig, 800);
    const struct packet other = {.number = 99, .ids = {1}, .count = 1};
    lost(&rig, &other); /* another packet carried it */
    assert_int_equal(make_packet(&rig, 800).count, 0);
    lost(&rig, &first);
    const struct packet again = make_packet(&rig, 800);
    assert_int_equal(again.count, 3);
    lost(&rig, &first); /* all are in another packet by now */
    assert_int_equal(make_packet(&rig, 800).count, 0);
    acked(&rig, &again);
    acked(&rig, &again);
    rig.now += 100;
    assert_int_equal(make_packet(&rig, 800).count, 0);
    assert_int_equal(rig.from.channel.common.stats.delivered, 3);
    assert_int_equal(rig.from.channel.common.stats.resent, 3);
    assert_int_equal(rig.from.channel.common.stats.in_flight, 0);
    stop(&rig);
}

static void assert_ids(const struct packet *packet, const uint16_t *ids, uint32_t count)
{
    assert_int_equal(packet->count, count);
    assert_memory_equal(packet->ids, ids, count * sizeof *ids);
}

/* The oldest message goes first, then lost ones, then those whose ack is overdue, then new ones;
   but a packet's ids ascend. */
TEST(what_was_sent_first_is_due_first)
{
    struct rig rig;
    start(&rig);
    for (uint32_t number = 0; number < 6; number++)
        send_number(&rig, number, NULL);
    const uint32_t two = rig.from.channel.common.entry_bits + CW_MESSAGE_ID_BITS + 1 + 2 * 17;
    const struct packet first = make_packet(&rig, two);
    rig.now += 0.5;
    const struct packet second = make_packet(&rig, two);
    assert_ids(&first, (uint16_t[]){0, 1}, 2);
    assert_ids(&second, (uint16_t[]){2, 3}, 2);
    lost(&rig, &second);
    lost(&rig, &second); /* the second time changes nothing */
    rig.now += 0.5;
    const struct packet third = make_packet(&rig, 800);
    assert_ids(&third, (uint16_t[]){0, 1, 2, 3}, 4); /* the first two are overdue */
    rig.now += 0.5;
    const struct packet fourth = make_packet(&rig, 800);
    assert_ids(&fourth, (uint16_t[]){4, 5}, 2);
    acked(&rig, &first);
    rig.now += 0.5;
    lost(&rig, &fourth);
    const struct packet fifth = make_packet(&rig, 800);
    assert_ids(&fifth, (uint16_t[]){2, 3, 4, 5}, 4);
    rig.now += 1;
    const struct packet sixth = make_packet(&rig, two + 4);
    assert_ids(&sixth, (uint16_t[]){2, 4}, 2); /* 2 is the oldest, and 4 and 5 went before 3 */
    stop(&rig);
}

TEST(the_queue_is_bounded_by_the_oldest_message)
{
    struct rig rig;
    start(&rig);
    for (uint32_t number = 0; number < RIG_QUEUE; number++)
        assert_int_equal(send_number(&rig, number, NULL), CW_OK);
    assert_int_equal(send_number(&rig, 8, NULL), CW_ERROR_QUEUE_FULL);
    const struct packet first = make_packet(&rig, 800), second = make_packet(&rig, 800);
    acked(&rig, &second);
    assert_int_equal(send_number(&rig, 8, NULL), CW_ERROR_QUEUE_FULL);
    acked(&rig, &first);
    for (uint32_t number = 8; number < 2 * RIG_QUEUE; number++)
        assert_int_equal(send_number(&rig, number, NULL), CW_OK);

    /* The application of the other end has taken none of the first ones, so it has no room for
       more. */
    assert_true(arrive(&rig, &first) && arrive(&rig, &second));
    const struct packet third = make_packet(&rig, 800);
    assert_false(arrive(&rig, &third));
    for (uint32_t number = 0; number < RIG_QUEUE; number++)
        expect_number(&rig, number);
    assert_true(arrive(&rig, &third));
    expect_number(&rig, 8);
    stop(&rig);
}

TEST(a_packet_takes_what_fits)
{
    struct rig rig;
    start(&rig);
    send_number(&rig, 1, NULL);
    send_number(&rig, 2, NULL);
    const uint32_t one = rig.from.channel.common.entry_bits + CW_MESSAGE_ID_BITS + 1 + 16;
    assert_int_equal(make_packet(&rig, one - 1).count, 0);
    assert_true(rig.from.channel.common.more_due);
    assert_int_equal(make_packet(&rig, one).count, 1);
    assert_true(rig.from.channel.common.more_due);
    assert_int_equal(make_packet(&rig, 800).count, 1);
    assert_false(rig.from.channel.common.more_due);
    stop(&rig);
}

TEST(receipts_come_with_acks)
{
    struct rig rig;
    struct cw_receipt receipt;
    start(&rig);
    struct cw_message *message = channel_rig_message(&rig.common, 1, NULL, 0);
    message->receipt = 77;
    assert_int_equal(cw_reliable_send(&rig.from.channel, message, 17, rig.now), CW_OK);
    const struct packet packet = make_packet(&rig, 800);
    lost(&rig, &packet);
    assert_false(cw_receipts_next(&rig.common.receipts, &receipt));
    const struct packet again = make_packet(&rig, 800);
    acked(&rig, &again);
    assert_true(cw_receipts_next(&rig.common.receipts, &receipt));
    assert_int_equal(receipt.number, 77);
    assert_true(receipt.acked);
    stop(&rig);
}

/* The block holds up what comes behind it, as the order is that of sending. */
TEST(a_block_goes_in_fragments)
{
    struct rig rig;
    start(&rig);
    send_number(&rig, 1, "abcdefghijklmnopqrstuvwxy");
    send_number(&rig, 2, NULL);
    assert_int_equal(make_packet(&rig, 50).count, 0); /* there is no room */
    struct packet packets[3];
    for (int i = 0; i < 3; i++) {
        packets[i] = make_packet(&rig, 800);
        assert_true(packets[i].is_fragment);
    }
    assert_int_equal(make_packet(&rig, 800).count, 0);
    for (int i = 3; i-- > 0;) {
        assert_true(arrive(&rig, &packets[i]));
        acked(&rig, &packets[i]);
    }
    const struct packet after = make_packet(&rig, 800);
    assert_int_equal(after.count, 1);
    assert_true(arrive(&rig, &after));
    struct cw_message *message = cw_reliable_next(&rig.to.channel);
    assert_int_equal(message->block_size, 25);
    assert_memory_equal(message->block, "abcdefghijklmnopqrstuvwxy", 25);
    assert_int_equal(channel_rig_number(message), 1);
    expect_number(&rig, 2);
    stop(&rig);
}

static const char first_block[] = "a block of 25 bytes, one.";
static const char second_block[] = "a block of 25 bytes, two.";

static void send_two_blocks(struct rig *rig)
{
    start(rig);
    assert_int_equal(send_number(rig, 0, first_block), CW_OK);
    assert_int_equal(send_number(rig, 1, second_block), CW_OK);
}

/* Makes a packet, which must have that fragment of that message, and returns it. */
static struct packet expect_fragment(struct rig *rig, uint16_t id, uint16_t fragment)
{
    const struct packet packet = make_packet(rig, 800);
    assert_true(packet.is_fragment);
    assert_int_equal(packet.ids[0], id);
    assert_int_equal(packet.ids[1], fragment);
    rig->now += 0.001;
    return packet;
}

static void expect_block(struct rig *rig, uint32_t number, const char *block)
{
    struct cw_message *message = cw_reliable_next(&rig->to.channel);
    assert_non_null(message);
    assert_int_equal(message->block_size, strlen(block));
    assert_memory_equal(message->block, block, message->block_size);
    assert_int_equal(channel_rig_number(message), number);
}

TEST(a_block_begins_while_the_one_before_is_being_acked)
{
    struct rig rig;
    struct packet packets[6];
    send_two_blocks(&rig);
    for (uint16_t i = 0; i < 6; i++)
        packets[i] = expect_fragment(&rig, i / 3, i % 3);
    assert_int_equal(make_packet(&rig, 800).count, 0);
    assert_int_equal(rig.from.channel.common.stats.queued, 0);
    assert_int_equal(rig.from.channel.common.stats.in_flight, 2);
    for (uint16_t i = 0; i < 3; i++)
        assert_true(arrive(&rig, &packets[i]));
    expect_block(&rig, 0, first_block);
    for (uint16_t i = 3; i < 6; i++)
        assert_true(arrive(&rig, &packets[i]));
    for (uint16_t i = 0; i < 4; i++)
        acked(&rig, &packets[i]); /* one header acks them, so the last may have been dropped */
    const struct packet again = expect_fragment(&rig, 1, 0);
    assert_int_equal(make_packet(&rig, 800).count, 0);
    for (uint16_t i = 4; i < 6; i++)
        acked(&rig, &packets[i]);
    assert_int_equal(rig.from.channel.common.stats.in_flight, 1);
    acked(&rig, &again);
    assert_int_equal(rig.from.channel.common.stats.in_flight, 0);
    expect_block(&rig, 1, second_block);
    stop(&rig);
}

/* The receiver acks and drops the block then, as the reference library does. */
TEST(a_block_that_came_too_early_comes_again)
{
    struct rig rig;
    struct packet packets[6];
    send_two_blocks(&rig);
    for (uint16_t i = 0; i < 6; i++)
        packets[i] = expect_fragment(&rig, i / 3, i % 3);
    for (uint16_t i = 3; i < 6; i++) {
        assert_true(arrive(&rig, &packets[i]));
        acked(&rig, &packets[i]);
    }
    assert_int_equal(make_packet(&rig, 800).count, 0);
    for (uint16_t i = 0; i < 3; i++) {
        assert_true(arrive(&rig, &packets[i]));
        acked(&rig, &packets[i]);
    }
    expect_block(&rig, 0, first_block);
    assert_null(cw_reliable_next(&rig.to.channel));
    for (uint16_t i = 0; i < 3; i++) {
        const struct packet again = expect_fragment(&rig, 1, i);
        assert_true(arrive(&rig, &again));
        acked(&rig, &again);
    }
    expect_block(&rig, 1, second_block);
    assert_int_equal(rig.from.channel.common.stats.in_flight, 0);
    stop(&rig);
}

TEST(blocks_begin_early_only_behind_blocks_on_good_paths)
{
    struct rig rig;
    send_two_blocks(&rig);
    rig.early = false;
    for (uint16_t i = 0; i < 3; i++)
        expect_fragment(&rig, 0, i);
    assert_int_equal(make_packet(&rig, 800).count, 0);
    stop(&rig);
    start(&rig);
    send_number(&rig, 0, first_block);
    send_number(&rig, 1, NULL);
    send_number(&rig, 2, second_block);
    for (uint16_t i = 0; i < 3; i++)
        expect_fragment(&rig, 0, i);
    assert_int_equal(make_packet(&rig, 800).count, 0);
    stop(&rig);
}
