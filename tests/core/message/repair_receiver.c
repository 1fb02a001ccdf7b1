/* Tests of the two halves of coded repair, without channels: the receiver knows all that can be
   known from what arrived, and nothing else. */
#include "message/repair_receiver.h"
#include "message/repair_sender.h"

#include "base/prng.h"
#include "base/sequence.h"
#include "fixture.h"

#include <string.h>

#define LIMIT 1000

static size_t size_of(uint16_t id)
{
    return 1 + id * 37u % 90;
}

static uint8_t byte_of(uint16_t id, size_t i)
{
    return (uint8_t)(id * 91 + i * 13 + 1);
}

struct world {
    struct cw_repair_sender sender;
    struct cw_repair_receiver receiver;
    uint32_t work;
    uint32_t repaired;
};

static void start(struct world *world)
{
    cw_repair_sender_reset(&world->sender);
    world->sender.share = 1;
    memset(&world->receiver, 0xA5, sizeof world->receiver);
    cw_repair_receiver_reset(&world->receiver);
    world->work = UINT32_MAX;
    world->receiver.work = &world->work;
    world->repaired = 0;
}

static void add_message(struct world *world, uint16_t id)
{
    struct cw_repair_symbol *symbol = cw_repair_sender_add(&world->sender, id, false);
    symbol->size = (uint16_t)size_of(id);
    for (size_t i = 0; i < symbol->size; i++)
        symbol->bytes[i] = byte_of(id, i);
}

static void arrive(struct world *world, uint16_t id)
{
    uint8_t bytes[128];
    for (size_t i = 0; i < size_of(id); i++)
        bytes[i] = byte_of(id, i);
    cw_repair_receiver_add(&world->receiver, id, bytes, size_of(id) * 8);
}

/* Passes a packet of its own with one combination, of the messages from oldest up to before end. */
static void combine(struct world *world, uint16_t oldest, uint16_t end, bool lost)
{
    uint8_t packet[600];
    struct cw_stream stream = cw_stream_writer(packet, sizeof packet);
    world->sender.due = 1;
    cw_repair_sender_begin(&world->sender, false);
    assert_true(cw_repair_sender_pick(&world->sender, oldest, end, NULL, 0, UINT32_MAX) > 0);
    assert_true(cw_repair_sender_write(&world->sender, &stream));
    const size_t size = cw_stream_flush(&stream);
    stream = cw_stream_reader(packet, size);
    if (!lost)
        assert_true(cw_repair_receiver_read(&world->receiver, &stream, NULL, end + LIMIT));
}

/* Takes the repaired messages, which must be as they were sent, and in order. */
static void take(struct world *world)
{
    struct cw_stream stream;
    uint16_t id, before = (uint16_t)(world->receiver.end - CW_REPAIR_WINDOW - 1);
    while (cw_repair_receiver_next(&world->receiver, &id, &stream)) {
        uint8_t bytes[128];
        assert_true(cw_sequence_newer(id, before));
        before = id;
        assert_true(cw_stream_bytes(&stream, bytes, size_of(id)));
        for (size_t i = 0; i < size_of(id); i++)
            assert_int_equal(bytes[i], byte_of(id, i));
        world->repaired++;
    }
}

static bool knows(const struct world *world, uint16_t id)
{
    return (uint16_t)(world->receiver.end - 1 - id) < CW_REPAIR_WINDOW &&
           (world->receiver.known >> cw_repair_slot(id) & 1);
}

#define FEW 6

/* Every pattern of which of six messages arrive is tried, before or after as many combinations as
   are needed. One combination less repairs nothing. Ids wrap in some. */
TEST(test_n_combinations_repair_any_n_messages)
{
    static struct world world;
    for (unsigned pattern = 0; pattern < 1 << FEW; pattern++) {
        for (unsigned late = 0; late < 2; late++) {
            const uint16_t first = (uint16_t)(65532 + 7 * pattern);
            uint32_t missing = 0;
            start(&world);
            arrive(&world, (uint16_t)(first - 1)); /* brings the window here */
            for (uint16_t i = 0; i < FEW; i++) {
                add_message(&world, (uint16_t)(first + i));
                missing += !(pattern >> i & 1);
            }
            for (uint16_t i = 0; i < FEW && !late; i++) {
                if (pattern >> i & 1)
                    arrive(&world, (uint16_t)(first + i));
            }
            for (uint32_t i = 0; i < missing; i++) {
                take(&world);
                assert_int_equal(world.repaired, 0);
                combine(&world, first, (uint16_t)(first + FEW), false);
            }
            for (uint16_t i = 0; i < FEW && late; i++) {
                if (pattern >> i & 1)
                    arrive(&world, (uint16_t)(first + i));
            }
            take(&world);
            assert_int_equal(world.repaired, missing);
        }
    }
}

/* Runs a stream of which messages and combinations are lost. Repaired messages are right, and in
   the end few more combinations than messages are missing make it whole. */
static void check_stream(uint64_t seed, double loss)
{
    static struct world world;
    struct cw_prng random = {.state = seed};
    const uint16_t count = 400;
    uint32_t arrived = 0, more = 0;
    uint16_t oldest = 0;
    start(&world);
    for (uint16_t id = 0; id < count; id++) {
        add_message(&world, id);
        if (!cw_prng_chance(&random, loss)) {
            arrive(&world, id);
            arrived++;
        }
        combine(&world, oldest, (uint16_t)(id + 1), cw_prng_chance(&random, loss));
        take(&world);
        while (id - oldest >= CW_REPAIR_WINDOW / 2) { /* the sender catches up */
            combine(&world, oldest, (uint16_t)(id + 1), false);
            take(&world);
            more++;
            while (oldest < id && knows(&world, oldest))
                oldest++;
        }
        while (oldest < id && knows(&world, oldest))
            oldest++;
    }
    while (arrived + world.repaired < count) {
        combine(&world, oldest, count, false);
        take(&world);
        more++;
    }
    assert_int_equal(arrived + world.repaired, count);
    assert_true(more <= count * loss * 2 + 4);
}

/* Work beyond the limit is ignored or waits; `take` checks that nothing wrong comes of it. */
TEST(test_little_work_is_never_wrong)
{
    static struct world world;
    struct cw_prng random = {.state = 1};
    start(&world);
    for (uint16_t id = 0; id < 20000; id++) {
        const uint16_t oldest = (uint16_t)(id - cw_prng_bits(&random) % 40);
        add_message(&world, id);
        world.work = (uint32_t)(cw_prng_bits(&random) % CW_REPAIR_WORK);
        if (cw_prng_chance(&random, 0.5))
            arrive(&world, id);
        if (cw_prng_chance(&random, 0.2))
            arrive(&world, oldest);
        combine(&world, oldest, (uint16_t)(id + 1), cw_prng_chance(&random, 0.3));
        take(&world);
        assert_true(world.work < CW_REPAIR_WORK);
    }
    assert_in_range(world.repaired, 400, 10000);
}

TEST(test_streams_become_whole_at_any_loss)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int percent = 0; percent <= 90; percent += 10)
            check_stream(seed, percent / 100.0);
    }
}

TEST(test_what_is_out_of_the_window_is_ignored)
{
    static struct world world;
    start(&world);
    for (uint16_t id = 0; id < 100; id++)
        add_message(&world, id);
    arrive(&world, 99);
    arrive(&world, 99 - CW_REPAIR_WINDOW);
    assert_int_equal(world.receiver.known, (uint64_t)1 << cw_repair_slot(99));
    combine(&world, 36, 100, false); /* has 64 messages */
    assert_int_not_equal(world.receiver.equations, 0);
    arrive(&world, 130); /* now the window begins with 67 */
    world.receiver.equations = 0;
    combine(&world, 66, 100, false);
    assert_int_equal(world.receiver.equations, 0);
    combine(&world, 67, 100, false);
    assert_int_not_equal(world.receiver.equations, 0);
    arrive(&world, 200);
    assert_int_equal(world.receiver.equations, 0);
}

/* The place of a message that has no bytes here holds another message. */
TEST(test_a_range_ends_at_a_message_without_bytes)
{
    static struct world world;
    start(&world);
    for (uint16_t id = 0; id < 74; id++) {
        if (id != 69)
            add_message(&world, id);
    }
    world.sender.due = 1;
    assert_true(cw_repair_sender_pick(&world.sender, 60, 74, NULL, 0, UINT32_MAX) > 0);
    assert_int_equal(world.sender.range.count, 74 - 70);
}

TEST(test_combinations_do_not_pile_up)
{
    static struct world world;
    start(&world);
    for (uint16_t id = 0; id < 50; id++)
        add_message(&world, id);
    uint32_t combinations = 0;
    for (int packet = 0; packet < 20; packet++) {
        cw_repair_sender_begin(&world.sender, packet == 0);
        (void)cw_repair_sender_pick(&world.sender, 0, 50, NULL, 0, UINT32_MAX);
        combinations += world.sender.combinations;
    }
    assert_in_range(combinations, 1, 4);
}

/* Ids that are not to be received yet do not move the window. */
TEST(test_ids_beyond_the_limit_are_ignored)
{
    static struct world world;
    uint8_t packet[600];
    start(&world);
    arrive(&world, 0);
    for (uint16_t id = 0; id < 20; id++)
        add_message(&world, id);
    for (uint16_t limit = 19; limit <= 20; limit++) {
        struct cw_stream stream = cw_stream_writer(packet, sizeof packet);
        world.sender.due = 1;
        cw_repair_sender_begin(&world.sender, false);
        assert_true(cw_repair_sender_pick(&world.sender, 0, 20, NULL, 0, UINT32_MAX) > 0);
        assert_true(cw_repair_sender_write(&world.sender, &stream));
        stream = cw_stream_reader(packet, cw_stream_flush(&stream));
        assert_true(cw_repair_receiver_read(&world.receiver, &stream, NULL, limit));
        assert_int_equal(world.receiver.end, limit < 20 ? 1 : 20);
    }
}

/* A range beside messages refers to the newest of them, so there must be one, and all its bytes
   must be there. */
TEST(test_malformed_ranges_are_refused)
{
    static struct world world;
    const uint16_t newest = 5;
    uint8_t packet[64];
    start(&world);
    for (int beside = 0; beside < 2; beside++) {
        for (uint32_t size = 1; size < 4; size++) {
            uint32_t picked = 1, bytes = 2, count = 0;
            bool apart = false;
            uint8_t sum[3] = {1, 2, 3};
            struct cw_stream stream = cw_stream_writer(packet, sizeof packet);
            assert_true(cw_stream_bits(&stream, &picked, CW_REPAIR_MOST_BITS) &&
                        cw_stream_bits(&stream, &bytes, CW_REPAIR_SIZE_BITS) &&
                        cw_stream_bits(&stream, &count, CW_REPAIR_COUNT_BITS) &&
                        cw_stream_bool(&stream, &apart) && cw_stream_bytes(&stream, sum, size));
            stream = cw_stream_reader(packet, cw_stream_flush(&stream));
            assert_int_equal(
                cw_repair_receiver_read(&world.receiver, &stream, beside ? &newest : NULL, LIMIT),
                beside && size == 3);
        }
    }
}
