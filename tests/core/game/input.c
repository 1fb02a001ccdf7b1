/* Tests of a player's inputs on their way to the server. */
#include "config_error.h"
#include "input_rig.h"
#include "owned.h"

#include <stdbool.h>

#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-100, 100))                                                                    \
    FIELD(turn, CW_COMPRESSED_FLOAT(-1, 1, 0.01f))                                                 \
    FIELD(number, CW_UINT(0, 1000000))
CW_MESSAGE(move, MOVE_FIELDS)

struct ends {
    struct cw_schema *schema;
    struct cw_input_config config;
    struct cw_input_sender *sender;
    struct cw_input_receiver *receiver;
};

static struct cw_schema *make_schema(void)
{
    const struct cw_schema_config config = {.types = &move_type, .count = 1};
    return schema_with(&config);
}

static struct ends open_ends(void)
{
    struct ends ends = {.schema = make_schema()};
    ends.config = cw_input_config_default(ends.schema);
    ends.sender = input_sender_with(&ends.config);
    ends.receiver = input_receiver_with(&ends.config);
    return ends;
}

static void add(struct ends *ends, uint32_t tick)
{
    struct move move = {.x = (int32_t)(tick % 7), .turn = 0.5f, .number = tick % 1000000};
    assert_int_equal(cw_input_sender_add(ends->sender, tick, &move), CW_OK);
}

/* Sends what the sender has; the bytes are in memory of exactly their size. */
static enum cw_error pass(struct ends *ends, double tick_time)
{
    uint8_t data[512];
    const size_t size = cw_input_sender_transmit(ends->sender, data, sizeof data);
    assert_true(size > 0);
    uint8_t *exact = malloc(size);
    memcpy(exact, data, size);
    const enum cw_error error = cw_input_receiver_receive(ends->receiver, exact, size, tick_time);
    free(exact);
    return error;
}

static struct cw_input_report report(struct ends *ends)
{
    uint8_t data[CW_INPUT_REPORT_SIZE];
    struct cw_input_report report = {0};
    assert_int_equal(cw_input_receiver_transmit(ends->receiver, data, sizeof data), sizeof data);
    assert_int_equal(cw_input_sender_receive(ends->sender, data, sizeof data, &report), CW_OK);
    return report;
}

/* Returns the number of the input that a tick gets; stores whether it is its own. */
static uint32_t take(struct ends *ends, uint32_t tick, bool *own)
{
    struct move move;
    memset(&move, 0xAA, sizeof move);
    *own = cw_input_receiver_take(ends->receiver, tick, &move);
    return move.number;
}

static struct cw_input_receiver_stats stats_of(const struct ends *ends)
{
    struct cw_input_receiver_stats stats;
    cw_input_receiver_get_stats(ends->receiver, &stats);
    return stats;
}

TEST(each_tick_gets_its_input_whatever_is_lost)
{
    /* Any five packets in a row may be lost, also across the wrap of ticks. */
    static const uint32_t starts[] = {1, 1000, UINT32_MAX - 20, 65536 - 20, INT32_MAX - 20u};
    for (size_t i = 0; i < 5; i++) {
        struct ends ends = open_ends();
        bool own;
        uint8_t data[512];
        for (uint32_t age = 0; age < 60; age++) {
            const uint32_t tick = starts[i] + age;
            add(&ends, tick);
            if (age % 6 == 5)
                assert_int_equal(pass(&ends, tick - 6.0 + 0x1p32), CW_OK);
            else
                cw_input_sender_transmit(ends.sender, data, sizeof data);
            if (age >= 6) {
                assert_int_equal(take(&ends, tick - 6, &own), (tick - 6) % 1000000);
                assert_true(own);
            }
        }
        assert_int_equal(stats_of(&ends).taken, 54);
        assert_int_equal(stats_of(&ends).starved, 0);
    }
}

TEST(a_tick_without_its_input_repeats_the_one_before)
{
    struct ends ends = open_ends();
    bool own;
    assert_int_equal(take(&ends, 9, &own), 0);
    assert_false(own);
    add(&ends, 10);
    assert_int_equal(pass(&ends, 9.5), CW_OK);
    assert_int_equal(take(&ends, 10, &own), 10);
    assert_true(own);
    for (uint32_t i = 1; i <= 30; i++) {
        assert_int_equal(take(&ends, 10 + i, &own), 10);
        assert_false(own);
        assert_int_equal(stats_of(&ends).starved_in_row, i);
    }
    /* After so many ticks the input is that of nobody at the keys. */
    for (uint32_t tick = 41; tick < 200; tick++) {
        assert_int_equal(take(&ends, tick, &own), 0);
        assert_false(own);
    }
    add(&ends, 200);
    assert_int_equal(pass(&ends, 199.5), CW_OK);
    assert_int_equal(stats_of(&ends).waiting, 1);
    assert_int_equal(take(&ends, 200, &own), 200);
    assert_true(own);
    assert_int_equal(stats_of(&ends).starved, 190);
    assert_int_equal(stats_of(&ends).starved_in_row, 0);
    assert_int_equal(stats_of(&ends).waiting, 0);
}

TEST(what_is_late_early_or_known_is_told)
{
    struct ends ends = open_ends();
    bool own;
    add(&ends, 100);
    assert_int_equal(pass(&ends, 99.5), CW_OK);
    assert_int_equal(pass(&ends, 99.75), CW_ERROR_DUPLICATE);
    assert_int_equal(take(&ends, 100, &own), 100);
    assert_int_equal(pass(&ends, 100), CW_ERROR_DUPLICATE);
    assert_int_equal(take(&ends, 101, &own), 100);
    add(&ends, 101);
    add(&ends, 102);
    /* 101 comes too late to be taken and 102 in time; the copy is a duplicate. */
    assert_int_equal(pass(&ends, 101.5), CW_OK);
    assert_int_equal(pass(&ends, 101.5), CW_ERROR_DUPLICATE);
    assert_int_equal(stats_of(&ends).late, 1);
    assert_int_equal(take(&ends, 102, &own), 102);
    assert_true(own);

    /* The tick was taken before its time, so that half a tick before it is too late. */
    take(&ends, 103, &own);
    add(&ends, 103);
    assert_int_equal(pass(&ends, 102.5), CW_OK);
    assert_int_equal(stats_of(&ends).late, 2);
    const struct cw_input_report latest = report(&ends);
    assert_int_equal(latest.tick, 101);
    assert_true(latest.early_ticks == -0.5);

    add(&ends, 103 + 65);
    assert_int_equal(pass(&ends, 102.5), CW_ERROR_TOO_EARLY);
    assert_int_equal(stats_of(&ends).refused, 1);
    add(&ends, 103 + 64);
    assert_int_equal(pass(&ends, 102.5), CW_OK);
    add(&ends, 39);
    assert_int_equal(pass(&ends, 102.5), CW_ERROR_DUPLICATE);
    add(&ends, 38);
    assert_int_equal(pass(&ends, 102.5), CW_ERROR_STALE);
    assert_int_equal(stats_of(&ends).refused, 2);
}

TEST(the_report_tells_the_closest_call)
{
    struct ends ends = open_ends();
    uint8_t data[CW_INPUT_REPORT_SIZE];
    bool own;
    assert_int_equal(cw_input_receiver_transmit(ends.receiver, data, sizeof data), 0);
    add(&ends, 100);
    assert_int_equal(pass(&ends, 97.75), CW_OK);
    assert_int_equal(cw_input_receiver_transmit(ends.receiver, data, sizeof data - 1), 0);
    struct cw_input_report latest = report(&ends);
    assert_int_equal(latest.acked, 96); /* 97 to 99 are not here */
    assert_int_equal(latest.tick, 100);
    assert_true(latest.early_ticks == 2.25);

    for (uint32_t tick = 98; tick <= 100; tick++)
        take(&ends, tick, &own);
    assert_int_equal(report(&ends).acked, 100);
    add(&ends, 101);
    assert_int_equal(pass(&ends, 100.5), CW_OK);
    latest = report(&ends);
    assert_int_equal(latest.acked, 101);
    assert_int_equal(latest.tick, 101);
    assert_true(latest.early_ticks == 0.5);

    /* The input is late by 1.5 ticks. */
    take(&ends, 101, &own);
    take(&ends, 102, &own);
    take(&ends, 103, &own);
    add(&ends, 102);
    assert_int_equal(pass(&ends, 103.5), CW_OK);
    latest = report(&ends);
    assert_int_equal(latest.acked, 103);
    assert_int_equal(latest.tick, 102);
    assert_true(latest.early_ticks == -1.5);

    /* At a server that is behind its own clock, this input is in time nevertheless. */
    for (uint32_t tick = 104; tick < 200; tick++)
        take(&ends, tick, &own);
    add(&ends, 200);
    assert_int_equal(pass(&ends, 203.5), CW_OK);
    latest = report(&ends);
    assert_int_equal(latest.tick, 200);
    assert_true(latest.early_ticks == 0);
}

TEST(the_report_holds_for_two_periods)
{
    struct ends ends = open_ends();
    bool own;
    for (uint32_t tick = 64; tick < 200; tick++) {
        add(&ends, tick);
        assert_int_equal(pass(&ends, tick - (tick == 90 ? 0.25 : 3)), CW_OK);
        take(&ends, tick, &own);
        const struct cw_input_report latest = report(&ends);
        if (tick >= 90 && tick < 128 + 3)
            assert_true(latest.tick == 90 && latest.early_ticks == 0.25);
        else
            assert_true(latest.tick != 90 && latest.early_ticks == 3);
    }
    /* An input that was nearly late before a silence is not reported after it. */
    for (uint32_t tick = 200; tick < 300; tick++)
        take(&ends, tick, &own);
    add(&ends, 300);
    assert_int_equal(pass(&ends, 295), CW_OK);
    assert_true(report(&ends).early_ticks == 5);

    /* The tick was taken before its time, so that an input that is still early comes too late. */
    take(&ends, 301, &own);
    add(&ends, 301);
    assert_int_equal(pass(&ends, 300.5), CW_OK);
    assert_int_equal(report(&ends).tick, 301);
    assert_true(report(&ends).early_ticks == 0);
}

/* The report also tells of inputs that were much too early, so that the client can slow down. */
TEST(the_report_tells_of_inputs_refused_as_too_early)
{
    struct ends ends = open_ends();
    add(&ends, 600);
    assert_int_equal(pass(&ends, 100), CW_ERROR_TOO_EARLY);
    const struct cw_input_report latest = report(&ends);
    assert_int_equal(latest.tick, 600);
    assert_true(latest.early_ticks > 127.9); /* the most that its bits hold */
}

TEST(an_ack_ends_the_copies)
{
    struct ends ends = open_ends();
    uint8_t data[512], one[CW_INPUT_REPORT_SIZE];
    struct cw_input_report latest;
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), 0);
    add(&ends, 1);
    const size_t alone = cw_input_sender_transmit(ends.sender, data, sizeof data);
    for (uint32_t tick = 2; tick <= 6; tick++)
        add(&ends, tick);
    const size_t six = cw_input_sender_transmit(ends.sender, data, sizeof data);
    assert_true(six > alone);
    for (uint32_t tick = 7; tick <= 40; tick++)
        add(&ends, tick);
    assert_in_range(cw_input_sender_transmit(ends.sender, data, sizeof data), six, six + 3);
    assert_int_equal(cw_input_receiver_receive(
                         ends.receiver, data, cw_input_sender_transmit(ends.sender, data, 512), 35),
                     CW_OK);
    assert_int_equal(cw_input_receiver_transmit(ends.receiver, one, sizeof one), sizeof one);
    assert_int_equal(cw_input_sender_receive(ends.sender, one, sizeof one, &latest), CW_OK);
    assert_int_equal(latest.acked, 40);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), 0);
    add(&ends, 41);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), alone);
    /* An ack that was overtaken changes nothing. */
    assert_int_equal(cw_input_sender_receive(ends.sender, one, sizeof one, &latest), CW_OK);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), alone);
    add(&ends, 1000);
    assert_int_equal(cw_input_sender_receive(ends.sender, one, sizeof one, &latest), CW_OK);
    assert_in_range(cw_input_sender_transmit(ends.sender, data, sizeof data), 1, alone);
    /* An ack from before the ticks began anew is stale. */
    add(&ends, 20);
    assert_int_equal(cw_input_sender_receive(ends.sender, one, sizeof one, &latest),
                     CW_ERROR_STALE);
    assert_int_equal(cw_input_sender_receive(ends.sender, one, 5, &latest), CW_ERROR_MALFORMED);
    assert_true(cw_input_sender_transmit(ends.sender, data, sizeof data) > 0);
    cw_input_sender_reset(ends.sender);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), 0);
    assert_int_equal(cw_input_sender_receive(ends.sender, one, sizeof one, &latest),
                     CW_ERROR_STALE);
}

/* Healthy clients send a message without inputs when the server has all of them. */
TEST(an_empty_body_is_nothing_wrong)
{
    struct ends ends = open_ends();
    struct cw_input_receiver_stats stats;
    struct cw_input_report report;
    uint8_t data[512];
    assert_int_equal(cw_input_receiver_receive(ends.receiver, data, 0, 2.5), CW_OK);
    assert_int_equal(cw_input_receiver_receive(ends.receiver, NULL, 0, 2.5), CW_OK);
    assert_int_equal(cw_input_receiver_transmit(ends.receiver, data, sizeof data), 0);
    add(&ends, 4);
    assert_int_equal(pass(&ends, 4.5), CW_OK);
    const size_t size = cw_input_receiver_transmit(ends.receiver, data, sizeof data);
    assert_int_equal(cw_input_sender_receive(ends.sender, data, size, &report), CW_OK);
    const size_t nothing = cw_input_sender_transmit(ends.sender, data, sizeof data);
    assert_int_equal(nothing, 0);
    assert_int_equal(cw_input_receiver_receive(ends.receiver, data, nothing, 4.6), CW_OK);
    cw_input_receiver_get_stats(ends.receiver, &stats);
    assert_int_equal(stats.refused, 0);
    assert_int_equal(stats.waiting, 1);
}

TEST(an_ack_may_be_ahead)
{
    struct ends ends = open_ends();
    uint8_t data[512];
    bool own;
    for (uint32_t tick = 1; tick <= 20; tick++)
        add(&ends, tick);
    for (uint32_t tick = 19; tick <= 30; tick++)
        take(&ends, tick, &own);
    assert_int_equal(pass(&ends, 30), CW_OK);
    const struct cw_input_report latest = report(&ends);
    assert_int_equal(latest.acked, 30);
    assert_true(latest.early_ticks == -11);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, sizeof data), 0);
    add(&ends, 21);
    assert_int_equal(pass(&ends, 30), CW_OK);
}

TEST(ticks_left_out_by_the_client_have_no_input)
{
    struct ends ends = open_ends();
    bool own;
    for (uint32_t tick = 1; tick <= 10; tick++)
        add(&ends, tick);
    add(&ends, 14);
    add(&ends, 15);
    assert_int_equal(pass(&ends, 9), CW_OK);
    for (uint32_t tick = 10; tick < 14; tick++) {
        take(&ends, tick, &own);
        assert_false(own);
    }
    assert_int_equal(take(&ends, 14, &own), 14);
    assert_true(own);
}

TEST(the_oldest_are_left_out_when_there_is_no_room)
{
    struct ends ends = open_ends();
    uint8_t data[64];
    bool own;
    for (uint32_t tick = 1; tick <= 6; tick++)
        add(&ends, tick);
    const size_t all = cw_input_sender_transmit(ends.sender, data, sizeof data);
    const size_t fewer = cw_input_sender_transmit(ends.sender, data, all - 1);
    assert_in_range(fewer, 1, all - 1);
    assert_int_equal(cw_input_receiver_receive(ends.receiver, data, fewer, 1), CW_OK);
    take(&ends, 1, &own);
    assert_false(own);
    assert_int_equal(take(&ends, 6, &own), 6);
    assert_true(own);
    assert_int_equal(cw_input_sender_transmit(ends.sender, data, 3), 0);
}

/* The client plays with the rounded values that the server will get. */
TEST(floats_are_rounded_at_the_client)
{
    struct ends ends = open_ends();
    struct cw_prng random = {5};
    struct move sent[100], got;
    for (uint32_t tick = 0; tick < 100; tick++) {
        sent[tick] = (struct move){.x = (int32_t)cw_prng_below(&random, 201) - 100,
                                   .turn = (float)(2 * cw_prng_share(&random) - 1)};
        const float turn = sent[tick].turn;
        assert_int_equal(cw_input_sender_add(ends.sender, tick, &sent[tick]), CW_OK);
        assert_true(fabsf(sent[tick].turn - turn) <= 0.0051f);
        if (tick % 4 != 3)
            continue;
        assert_int_equal(pass(&ends, tick - 3.5), CW_OK);
        for (uint32_t i = tick - 3; i <= tick; i++) {
            assert_true(cw_input_receiver_take(ends.receiver, i, &got));
            assert_memory_equal(&got, &sent[i], sizeof got);
        }
    }
    struct move wrong = {.x = 101};
    assert_int_equal(cw_input_sender_add(ends.sender, 100, &wrong), CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(wrong.x, 101);
    wrong = (struct move){.turn = 1.5f};
    assert_int_equal(cw_input_sender_add(ends.sender, 100, &wrong), CW_ERROR_MESSAGE_VALUE);
    assert_true(wrong.turn == 1.5f);
}

/* Noise, and real bodies with a bit turned or the end cut off, are taken whole or not at all, and
   what is not refused is in range. */
TEST(hostile_bytes_are_refused_whole)
{
    struct ends ends = open_ends();
    struct cw_prng random = {99};
    uint8_t data[64];
    unsigned refused = 0;
    for (uint32_t tick = 1000; tick < 41000; tick++) {
        struct move move;
        add(&ends, tick);
        size_t size = cw_input_sender_transmit(ends.sender, data, sizeof data);
        const unsigned kind = cw_prng_below(&random, 3);
        if (kind == 0)
            for (size_t i = 2; i < size; i++)
                data[i] = (uint8_t)cw_prng_bits(&random);
        else if (kind == 1)
            size = cw_prng_below(&random, (uint32_t)size);
        else
            data[cw_prng_below(&random, (uint32_t)size)] ^= 1u << cw_prng_below(&random, 8);
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, data, size);
        const struct cw_input_receiver_stats before = stats_of(&ends);
        const enum cw_error error =
            cw_input_receiver_receive(ends.receiver, exact, size, tick - 2.5);
        free(exact);
        const struct cw_input_receiver_stats after = stats_of(&ends);
        if (error != CW_OK) {
            assert_int_equal(after.waiting, before.waiting);
            assert_int_equal(after.late, before.late);
            refused++;
        }
        cw_input_receiver_take(ends.receiver, tick - 2, &move);
        assert_int_equal(cw_schema_check(ends.schema, 0, &move), CW_FIELD_NONE);
    }
    assert_true(refused > 10000);

    add(&ends, 50000);
    const size_t size = cw_input_sender_transmit(ends.sender, data, sizeof data - 1);
    data[size] = 0;
    cw_input_receiver_reset(ends.receiver);
    assert_int_equal(cw_input_receiver_receive(ends.receiver, data, size + 1, 49999),
                     CW_ERROR_MALFORMED);
    assert_int_equal(cw_input_receiver_receive(ends.receiver, data, size, 49999), CW_OK);

    /* Reports are bytes from outside as well. */
    struct cw_input_report latest;
    for (int i = 0; i < 10000; i++) {
        for (size_t j = 0; j < CW_INPUT_REPORT_SIZE; j++)
            data[j] = (uint8_t)cw_prng_bits(&random);
        if (cw_input_sender_receive(ends.sender, data, CW_INPUT_REPORT_SIZE, &latest) == CW_OK)
            assert_true(fabs(latest.early_ticks) <= 128);
    }
}

/* A player who also sends nonsense still gets his own inputs through, and too much of it does not
   pile up. */
TEST(a_flood_fills_nothing)
{
    struct ends ends = open_ends(), flood = ends;
    struct cw_prng random = {3};
    bool own;
    flood.sender = input_sender_with(&ends.config);
    take(&ends, 99, &own);
    for (uint32_t tick = 100; tick < 400; tick++) {
        for (int i = 0; i < 100; i++) {
            const uint32_t far = 70 + cw_prng_below(&random, 30000);
            add(&flood, i % 2 ? tick + far : tick - far - 200);
            const enum cw_error error = pass(&flood, tick - 0.5);
            assert_true(error == CW_ERROR_TOO_EARLY || error == CW_ERROR_STALE);
        }
        add(&ends, tick);
        assert_int_equal(pass(&ends, tick - 0.5), CW_OK);
        assert_int_equal(stats_of(&ends).waiting, 1);
        assert_int_equal(take(&ends, tick, &own), tick);
        assert_true(own);
    }
}

TEST(ticks_that_jump_begin_anew)
{
    struct ends ends = open_ends();
    bool own;
    static const uint32_t jumps[] = {5000, 100, 4000000000u, 90, 300};
    for (size_t i = 0; i < 5; i++) {
        for (uint32_t tick = jumps[i]; tick < jumps[i] + 40; tick++) {
            add(&ends, tick);
            const enum cw_error error = pass(&ends, tick - 0.5);
            /* Until the server takes a tick of the new count, it knows only of the old one. */
            if (tick > jumps[i])
                assert_int_equal(error, CW_OK);
            const uint32_t number = take(&ends, tick, &own);
            if (tick > jumps[i]) {
                assert_true(own);
                assert_int_equal(number, tick % 1000000);
            }
        }
    }
    cw_input_receiver_reset(ends.receiver);
    assert_int_equal(stats_of(&ends).taken, 0);
    assert_int_equal(take(&ends, 341, &own), 0);
    assert_false(own);
}

static void *no_memory(void *context, size_t size)
{
    assert_int_equal(size, *(size_t *)context);
    return NULL;
}

static bool serialize_nothing(struct cw_stream *stream, void *message)
{
    (void)stream;
    (void)message;
    return true;
}

TEST(configs_that_cannot_work_are_refused)
{
    struct cw_schema *schema = make_schema();
    struct cw_input_config config = cw_input_config_default(schema);
    struct cw_input_sender *sender = NULL;
    struct cw_input_receiver *receiver = NULL;
    config.type = 1;
    assert_error_names(cw_input_sender_create(&config, &sender), "type");
    assert_error_names(cw_input_receiver_create(&config, &receiver), "type");

    config.type = 0;
    size_t expected = cw_input_sender_memory(&config);
    config.allocator = (struct cw_allocator){.allocate = no_memory, .context = &expected};
    assert_int_equal(cw_input_sender_create(&config, &sender), CW_ERROR_NO_MEMORY);
    expected = cw_input_receiver_memory(&config);
    assert_int_equal(cw_input_receiver_create(&config, &receiver), CW_ERROR_NO_MEMORY);
    assert_null(sender);
    assert_null(receiver);

    static const struct cw_field large[] = {
        {.name = "large", .kind = CW_KIND_BYTES, .max = CW_INPUT_MAX_SIZE}};
    const struct cw_message_type types[] = {
        {.name = "own", .size = 4, .serialize = serialize_nothing},
        {.name = "large", .fields = large, .field_count = 1}};
    const struct cw_schema_config schema_config = {.types = types, .count = 2};
    schema = schema_with(&schema_config);
    config = cw_input_config_default(schema);
    assert_error_names(cw_input_sender_create(&config, &sender), "type");
    config.type = 1;
    assert_error_names(cw_input_sender_create(&config, &sender), "type");
}

/* From here on the clock leads the inputs. */

static struct input_rig_config over(double way, double jitter, double loss, uint64_t seed)
{
    const struct cw_simulator_path path = {
        .latency_seconds = way, .jitter_seconds = jitter, .loss = loss};
    return (struct input_rig_config){.ticks_per_second = 60,
                                     .frames_per_second = 60,
                                     .states_per_second = 60,
                                     .up = path,
                                     .down = path,
                                     .drift = 100e-6,
                                     .first_tick = 4294967296.0 - 2000,
                                     .seed = seed};
}

static double starved_share(const struct input_rig *rig)
{
    return (double)rig->starved / (double)rig->ticks;
}

static double lead(const struct input_rig *rig)
{
    struct cw_clock_sync_stats stats;
    cw_clock_sync_get_stats(rig->sync, input_rig_client_clock(rig), &stats);
    return stats.lead_seconds;
}

TEST(one_tick_in_a_thousand_starves_at_20_percent_loss)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct input_rig_config config = over(0.05, 0.03, 0.2, seed);
        config.server_polls = seed % 2;
        struct input_rig *rig = input_rig_start(&config);
        input_rig_run(rig, 10);
        input_rig_count(rig);
        input_rig_run(rig, 120);
        assert_true(rig->ticks > 7000);
        assert_true(starved_share(rig) <= 0.001);
        assert_int_equal(rig->wrong, 0);
        assert_int_equal(rig->restarts, 0);
        assert_true(lead(rig) < 0.2);
        input_rig_stop(rig);
    }
}

TEST(inputs_arrive_just_in_time_at_every_rate_and_distance)
{
    static const double rates[] = {10, 30, 60, 128}, ways[] = {0.00005, 0.05, 0.5};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (int polls = 0; polls < 2; polls++) {
                struct input_rig_config config = over(ways[j], 0.001, 0, 1);
                config.ticks_per_second = rates[i];
                config.frames_per_second = i % 2 ? 144 : 60;
                config.states_per_second = fmin(rates[i], 20);
                config.server_polls = polls;
                struct input_rig *rig = input_rig_start(&config);
                input_rig_run(rig, 30);
                input_rig_count(rig);
                input_rig_run(rig, 30);
                if (starved_share(rig) > 0.001 || rig->wrong > 0)
                    fail_msg("%g ticks/s, %g s: %g starved", rates[i], ways[j], starved_share(rig));
                /* A frame and a poll may each keep an input waiting. */
                const double frame = 1 / config.frames_per_second, tick = 1 / rates[i];
                if (lead(rig) > ways[j] + 1.35 * frame + (0.35 + 1.1 * polls) * tick + 0.004)
                    fail_msg("%g ticks/s, %g s: lead of %g s", rates[i], ways[j], lead(rig));
                input_rig_stop(rig);
            }
        }
    }
}

/* Two ticks go with each packet, and one state in three is sent. */
TEST(fewer_packets_will_do)
{
    struct input_rig_config config = over(0.05, 0.01, 0.05, 2);
    config.frames_per_second = 30;
    config.states_per_second = 20;
    struct input_rig *rig = input_rig_start(&config);
    input_rig_run(rig, 20);
    input_rig_count(rig);
    input_rig_run(rig, 120);
    assert_true(starved_share(rig) <= 0.001);
    assert_int_equal(rig->wrong, 0);
    input_rig_stop(rig);
}

TEST(a_path_that_becomes_longer_starves_for_seconds)
{
    struct input_rig_config config = over(0.025, 0.01, 0.02, 4);
    struct input_rig *rig = input_rig_start(&config);
    input_rig_run(rig, 20);
    config.up.latency_seconds = config.down.latency_seconds = 0.125;
    cw_simulator_change(rig->up, &config.up);
    cw_simulator_change(rig->down, &config.down);
    input_rig_count(rig);
    input_rig_run(rig, 5); /* the lead grows by 100 ms at a rate of 5 % */
    assert_in_range(rig->starved, 60, 240);
    input_rig_count(rig);
    input_rig_run(rig, 60);
    assert_true(starved_share(rig) <= 0.001);
    /* A path that becomes shorter again costs no lead in the end. */
    config.up.latency_seconds = config.down.latency_seconds = 0.025;
    cw_simulator_change(rig->up, &config.up);
    cw_simulator_change(rig->down, &config.down);
    input_rig_run(rig, 60);
    assert_true(starved_share(rig) <= 0.001);
    assert_true(lead(rig) < 0.1);
    assert_int_equal(rig->restarts, 0);
    input_rig_stop(rig);
}

TEST(a_page_that_was_hidden_goes_on)
{
    static const double pauses[] = {0.1, 3, 60, 700};
    for (size_t i = 0; i < 4; i++) {
        const struct input_rig_config config = over(0.05, 0.02, 0.05, i + 1);
        struct input_rig *rig = input_rig_start(&config);
        input_rig_run(rig, 10);
        input_rig_count(rig);
        rig->hidden = true;
        input_rig_run(rig, pauses[i]);
        rig->hidden = false;
        rig->next_frame = rig->now;
        input_rig_run(rig, 5);
        assert_int_equal(rig->restarts, i > 0);
        input_rig_count(rig);
        input_rig_run(rig, 60);
        assert_true(starved_share(rig) <= 0.001);
        assert_int_equal(rig->wrong, 0);
        assert_int_equal(rig->restarts, 0);
        input_rig_stop(rig);
    }
}

TEST(a_server_that_begins_anew_is_followed)
{
    const struct input_rig_config config = over(0.05, 0.02, 0.05, 1);
    struct input_rig *rig = input_rig_start(&config);
    static const double jumps[] = {-1500, 90000, -20000, 1000};
    for (size_t i = 0; i < 4; i++) {
        input_rig_run(rig, 20);
        rig->tick_jump += jumps[i];
        rig->next_tick += jumps[i];
        input_rig_count(rig);
        input_rig_run(rig, 3);
        assert_int_equal(rig->restarts, 1);
        input_rig_count(rig);
        input_rig_run(rig, 30);
        assert_true(starved_share(rig) <= 0.001);
        assert_int_equal(rig->wrong, 0);
        assert_int_equal(rig->restarts, 0);
    }
    input_rig_stop(rig);
}
