/* Tests of the functions that a connection calls on its channels, for each kind. */
#define OWN_MAIN
#include "fixture.h"

#include "message/channel_internal.h"

#include "base/memory.h"
#include "channel_rig.h"

#include <math.h>
#include <string.h>

#define PACKET_SIZE 100

struct rig {
    struct channel_rig common;
    bool reliable;
    struct cw_arena arena;
    struct cw_channel from, to;
};

static enum cw_channel_kind kind; /* the kind of the channels tested now */
static const struct cw_allocator allocator = {0};

static void stop(void *object)
{
    struct rig *rig = object;
    cw_channel_reset(&rig->from);
    cw_channel_reset(&rig->to);
    cw_release(&allocator, rig->arena.base, rig->arena.size);
    channel_rig_stop(&rig->common);
}

BEFORE_EACH_TEST
{
    static struct rig the_rig;
    struct rig *rig = *state = &the_rig;
    memset(rig, 0, sizeof *rig);
    rig->reliable = kind == CW_CHANNEL_RELIABLE_ORDERED || kind == CW_CHANNEL_RELIABLE_UNORDERED;
    channel_rig_start(&rig->common);
    const struct cw_channel_common common = channel_rig_common(&rig->common, kind);
    struct cw_arena measure = {0};
    cw_channel_layout(NULL, &measure, &common.config, 0, PACKET_SIZE);
    rig->arena = cw_arena_create(&allocator, 2 * measure.used);
    struct cw_channel *ends[] = {&rig->from, &rig->to};
    for (int i = 0; i < 2; i++) {
        cw_channel_layout(ends[i], &rig->arena, &common.config, 0, PACKET_SIZE);
        ends[i]->common = common;
    }
    assert_int_equal(rig->arena.used, rig->arena.size);
    own(rig, stop);
}

static enum cw_error send_number(struct rig *rig, uint32_t number, const char *block)
{
    struct cw_message *message =
        channel_rig_message(&rig->common, number, block, block ? (uint32_t)strlen(block) : 0);
    const enum cw_error error = cw_channel_send(&rig->from, message, 10);
    if (error)
        cw_message_drop(message);
    return error;
}

/* Picks one entry, as a connection does for each packet. Returns the bits that it takes. */
static uint32_t pick(struct rig *rig, uint32_t bits_left)
{
    const struct cw_timing timing = {
        .now = 10, .round = 10, .last_arrival = NAN, .answer = 1, .patience = 1};
    return cw_channel_pick(&rig->from, &timing, bits_left, false);
}

/* Writes the entry that was picked and gives it to the other end. */
static void carry(struct rig *rig)
{
    uint8_t bytes[PACKET_SIZE];
    struct cw_stream writer = cw_stream_writer(bytes, sizeof bytes);
    assert_true(cw_channel_write(&rig->from, &writer, 1));
    struct cw_stream reader = cw_stream_reader(bytes, cw_stream_flush(&writer));
    struct cw_parsed_entry parsed = {.pool_limit = RIG_MESSAGES};
    const bool is_fragment = channel_rig_is_fragment(&reader);
    assert_true(cw_channel_read(&rig->to, &reader, is_fragment, &parsed));
    cw_channel_take(&rig->to, &parsed, 0);
}

/* Passes one packet with all that is due and fits. */
static void pass_packet(struct rig *rig)
{
    cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
    uint32_t bits_left = PACKET_SIZE * 8;
    for (uint32_t bits; (bits = pick(rig, bits_left)) > 0;)
        bits_left -= bits;
    carry(rig);
}

TEST(test_messages_cross)
{
    struct rig *rig = *state;
    for (uint32_t number = 1; number <= 3; number++)
        assert_int_equal(send_number(rig, number, NULL), CW_OK);
    pass_packet(rig);
    for (uint32_t number = 1; number <= 3; number++)
        assert_int_equal(channel_rig_number(cw_channel_next(&rig->to)), number);
    assert_null(cw_channel_next(&rig->to));
}

/* A reliable channel cuts a block into fragments, an unreliable one sends it with its message. */
TEST(test_blocks_cross)
{
    struct rig *rig = *state;
    static const char block[] = "more than two fragments";
    unsigned packets = 0;
    struct cw_message *message = NULL;
    assert_int_equal(send_number(rig, 5, block), CW_OK);
    for (; !message && packets < 10; packets++) {
        pass_packet(rig);
        message = cw_channel_next(&rig->to);
    }
    assert_int_equal(packets, rig->reliable ? 3 : 1);
    assert_non_null(message);
    assert_int_equal(message->block_size, strlen(block));
    assert_memory_equal(message->block, block, strlen(block));
    assert_int_equal(channel_rig_number(message), 5);
}

/* Only an entry of a reliable channel is acked, and is due again when it was lost. */
TEST(test_what_a_packet_carried)
{
    struct rig *rig = *state;
    bool is_fragment = true;
    assert_int_equal(cw_channel_is_reliable(&rig->from), rig->reliable);
    assert_int_equal(send_number(rig, 1, NULL), CW_OK);
    assert_int_equal(send_number(rig, 2, NULL), CW_OK);
    pass_packet(rig);
    assert_int_equal(cw_channel_carried(&rig->from, &is_fragment), rig->reliable ? 2 : 0);
    assert_int_equal(is_fragment, !rig->reliable);
    cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
    assert_int_equal(pick(rig, PACKET_SIZE * 8), 0);
    if (rig->reliable) {
        cw_channel_acked(&rig->from, (const uint16_t[]){1}, 1, false, 0, 10);
        assert_int_equal(cw_message_pool_used(rig->common.made), 1);
        cw_channel_lost(&rig->from, (const uint16_t[]){0}, 1, false, 0);
        cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
        assert_true(pick(rig, PACKET_SIZE * 8) > 0);
        assert_int_equal(pick(rig, PACKET_SIZE * 8), 0);
        assert_int_equal(cw_channel_carried(&rig->from, &is_fragment), 1);
    }
}

/* An entry that finds no room in a round waits for the next one, or is dropped. */
TEST(test_the_end_of_a_round)
{
    struct rig *rig = *state;
    assert_int_equal(send_number(rig, 1, NULL), CW_OK);
    rig->from.exhausted = true;
    cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
    assert_false(rig->from.exhausted);
    assert_int_equal(rig->from.bits_left, rig->from.common.packet_bits);
    assert_int_equal(pick(rig, 8), 0);
    cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
    rig->from.bits_left = 8; /* the channel's share is less than the packet has */
    assert_int_equal(pick(rig, PACKET_SIZE * 8), 0);
    cw_channel_end_round(&rig->from);
    cw_channel_begin(&rig->from, &(struct cw_timing){0}, false);
    assert_int_equal(pick(rig, PACKET_SIZE * 8) > 0, rig->reliable);
}

/* A reliable channel has its packet sent again rather than lose part of it; what arrived on an
   unreliable one may be dropped. */
TEST(test_what_may_be_dropped)
{
    struct rig *rig = *state;
    assert_int_equal(cw_channel_keeps_all(&rig->to), rig->reliable);
    assert_int_equal(send_number(rig, 1, NULL), CW_OK);
    assert_int_equal(send_number(rig, 2, NULL), CW_OK);
    pass_packet(rig);
    assert_int_equal(cw_channel_droppable(&rig->to), rig->reliable ? 0 : 2);
    assert_false(cw_channel_drop_oldest(&rig->to, true));
    assert_int_equal(cw_channel_drop_oldest(&rig->to, false), !rig->reliable);
    assert_int_equal(channel_rig_number(cw_channel_next(&rig->to)), rig->reliable ? 1 : 2);
}

TEST(test_what_cannot_be_sent)
{
    struct rig *rig = *state;
    struct cw_channel_common *common = &rig->from.common;
    assert_int_equal(send_number(rig, 65536, NULL), CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(send_number(rig, 1, ""), CW_ERROR_BLOCK_MISSING);
    assert_int_equal(send_number(rig, 1, "more than twenty-five bytes"), CW_ERROR_BLOCK_TOO_LARGE);
    common->config.blocks = false;
    assert_int_equal(send_number(rig, 1, "block"), CW_ERROR_BLOCK_NOT_ALLOWED);
    common->config.blocks = true;
    /* The bits are those of the entry's head, the type, the body, and the number of a reliable
       message. */
    const uint32_t bits = common->entry_bits + 1 + 16 + (rig->reliable ? 16 : 0);
    common->packet_bits = bits;
    common->whole_bits = 17;
    assert_int_equal(send_number(rig, 1, NULL), CW_OK);
    /* A message or a fragment may have a packet of its own, which is larger than those of others.
     */
    assert_int_equal(send_number(rig, 1, "block"), CW_OK);
    common->packet_bits = bits - 1;
    common->whole_bits = 16;
    common->fragment_bits = bits - 1;
    assert_int_equal(send_number(rig, 1, NULL), CW_ERROR_MESSAGE_TOO_LARGE);
    common->fragment_bits = 20;
    assert_int_equal(send_number(rig, 1, "block"),
                     rig->reliable ? CW_ERROR_MESSAGE_TOO_LARGE : CW_ERROR_BLOCK_TOO_LARGE);
    assert_int_equal(cw_message_pool_used(rig->common.made), 2);
}

TEST(test_what_a_config_asks_for)
{
    struct rig *rig = *state;
    struct cw_channel_config config = rig->from.common.config;
    config.receive_queue_size = 4;
    assert_int_equal(cw_channel_config_in_flight(&config), rig->reliable ? 4 : 0);
    config.send_queue_size = 2;
    assert_int_equal(cw_channel_config_in_flight(&config), rig->reliable ? 2 : 0);
    assert_true(cw_channel_config_fragment_fits(&config, 10 + CW_FRAGMENT_HEADERS));
    assert_int_equal(cw_channel_config_fragment_fits(&config, 9 + CW_FRAGMENT_HEADERS),
                     !rig->reliable);
    config.blocks = false;
    assert_true(cw_channel_config_fragment_fits(&config, 9 + CW_FRAGMENT_HEADERS));
}

TEST(test_a_reset_leaves_nothing)
{
    struct rig *rig = *state;
    assert_int_equal(send_number(rig, 1, NULL), CW_OK);
    pass_packet(rig);
    assert_int_equal(send_number(rig, 2, NULL), CW_OK);
    rig->from.finish = 7;
    rig->from.has_leftovers = true;
    cw_channel_reset(&rig->from);
    cw_channel_reset(&rig->to);
    assert_int_equal(cw_message_pool_used(rig->common.made), 0);
    assert_null(cw_channel_next(&rig->to));
    assert_true(rig->from.finish == 0 && !rig->from.has_leftovers);
    assert_int_equal(send_number(rig, 3, NULL), CW_OK);
    pass_packet(rig);
    assert_int_equal(channel_rig_number(cw_channel_next(&rig->to)), 3);
}

int main(void)
{
    int failed = 0;
    for (kind = CW_CHANNEL_RELIABLE_ORDERED; kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++)
        failed += fixture_run();
    return failed;
}
