/* Tests of columns of the lab: what is the same in two of them, what changes, and what is counted.
   Every test runs with every protocol. */
#include "column_rig.h"
#include "config_error.h"
#include "counted.h"
#include "lab/peers.h"

#include <math.h>
#include <string.h>

static struct cw_lab_column *make(uint32_t protocol, uint64_t seed)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    config.protocol = protocol;
    config.seed = seed;
    return column_with(&config);
}

static void change_loss(struct cw_lab_column *column, double loss)
{
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.jitter_seconds = 0.01;
    settings.loss = loss;
    column_change(column, &settings);
}

#define FOR_EACH(protocol)                                                                         \
    for (uint32_t protocol = 0; protocol < cw_lab_protocol_count(); protocol++)

static uint64_t run(uint32_t protocol, uint64_t seed, double loss)
{
    struct cw_lab_column *column = make(protocol, seed);
    change_loss(column, loss);
    cw_lab_column_step(column, 10 * SECOND);
    const uint64_t hash = cw_lab_column_hash(column);
    return hash;
}

TEST(the_same_seed_gives_the_same_run)
{
    FOR_EACH(i)
    {
        const uint64_t hash = run(i, 7, 0.1);
        assert_true(run(i, 7, 0.1) == hash);
        assert_false(run(i, 8, 0.1) == hash);
        assert_false(run(i, 7, 0.11) == hash);
    }
}

TEST(a_reset_column_begins_again)
{
    FOR_EACH(i)
    {
        struct cw_lab_column *column = make(i, 3);
        struct cw_lab_column_event event;
        change_loss(column, 0.2);
        cw_lab_column_step(column, 3 * SECOND);
        const uint64_t hash = cw_lab_column_hash(column);
        cw_lab_column_reset(column);
        assert_true(cw_lab_column_hash(column) == 0 && cw_lab_column_time(column) == 0);
        assert_false(cw_lab_column_next(column, &event));
        assert_int_equal(items_of(column, 0, CW_LAB_MESSAGE).sent, 0);
        cw_lab_column_step(column, 3 * SECOND);
        assert_true(cw_lab_column_hash(column) == hash);
    }
}

TEST(steps_may_be_large_or_small)
{
    FOR_EACH(i)
    {
        struct cw_lab_column *one = make(i, 1), *many = make(i, 1);
        cw_lab_column_step(one, 2 * SECOND);
        for (int tick = 0; tick < 2 * SECOND; tick++)
            cw_lab_column_step(many, 1);
        assert_true(cw_lab_column_hash(one) == cw_lab_column_hash(many));
        assert_true(cw_lab_column_time(one) == 2);
    }
}

/* The fates of the first datagrams of an end: 0 for lost, and otherwise the time that they take. */
#define FATES 400

static void collect_fates(uint32_t protocol, const struct cw_lab_settings *settings, double *fates)
{
    struct cw_lab_column *column = make(protocol, 5);
    struct cw_lab_column_event event;
    uint32_t known = 0;
    column_change(column, settings);
    for (int tick = 0; known < FATES && tick < 120 * SECOND; tick++) {
        cw_lab_column_step(column, 1);
        while (cw_lab_column_next(column, &event))
            if (event.traffic == 0 && event.sender == 1 && known < FATES) {
                assert_int_equal(event.number, known);
                fates[known++] = event.type == CW_LAB_COLUMN_EVENT_SENT ? event.seconds : 0;
            }
    }
    assert_int_equal(known, FATES);
}

TEST(networks_treat_all_protocols_alike)
{
    const double burst_lengths[] = {1, 4};
    for (int burst = 0; burst < 2; burst++) {
        struct cw_lab_settings settings = cw_lab_settings_default();
        settings.loss = 0.2;
        settings.jitter_seconds = 0.05;
        settings.burst_length = burst_lengths[burst];
        double first[FATES], fates[FATES];
        collect_fates(0, &settings, first);
        FOR_EACH(i)
        {
            collect_fates(i, &settings, fates);
            for (int n = 0; n < FATES; n++)
                assert_true(fabs(fates[n] - first[n]) < 1e-9);
        }
    }
}

TEST(losses_are_as_many_and_as_long_as_set)
{
    for (double length = 1; length <= 5; length += 4) {
        struct cw_lab_column *column = make(0, 11);
        struct cw_lab_settings settings = cw_lab_settings_default();
        struct cw_lab_column_event event;
        uint32_t lost = 0, sent = 0, bursts = 0;
        bool in_burst = false;
        settings.loss = 0.1;
        settings.burst_length = length;
        column_change(column, &settings);
        for (int second = 0; second < 150; second++) {
            cw_lab_column_step(column, SECOND);
            while (cw_lab_column_next(column, &event)) {
                if (event.traffic != 0 || event.sender != 0)
                    continue;
                const bool now_lost = event.type == CW_LAB_COLUMN_EVENT_LOST;
                bursts += now_lost && !in_burst;
                in_burst = now_lost;
                lost += now_lost;
                sent++;
            }
        }
        const double share = (double)lost / sent, mean = (double)lost / bursts;
        assert_true(fabs(share - 0.1) < 0.015);
        assert_true(length > 1 ? fabs(mean - length) < 0.5 : mean < 1.2);
    }
}

/* Every protocol promises that each message is delivered or given up, once and in order. */
TEST(messages_are_told_of_once_and_in_order)
{
    FOR_EACH(i)
    {
        struct cw_lab_column *column = make(i, 2);
        struct cw_lab_settings settings = cw_lab_settings_default();
        settings.jitter_seconds = 0.03;
        settings.loss = 0.2;
        settings.message_every = 4;
        column_change(column, &settings);
        cw_lab_column_step(column, 30 * SECOND);
        settings.message_every = 0;
        settings.loss = 0;
        column_change(column, &settings);
        cw_lab_column_step(column, 60 * SECOND);
        for (uint32_t sender = 0; sender < 2; sender++) {
            const struct cw_lab_game_stats stats = items_of(column, sender, CW_LAB_MESSAGE);
            assert_int_equal(stats.sent, 30 * SECOND / 4);
            assert_int_equal(stats.delivered + stats.lost, stats.sent);
            assert_int_equal(stats.refused, 0);
            assert_true(stats.oldest_seconds == 0);
            items_of(column, sender, CW_LAB_STATE); /* fails if states have faults */
            items_of(column, sender, CW_LAB_BLOCK);
        }
    }
}

/* Returns in how many of ten seconds' ticks the network held an end up. */
static uint32_t ticks_held_up(uint32_t protocol, double loss)
{
    struct cw_lab_column *column = make(protocol, 4);
    uint32_t ticks = 0, number;
    change_loss(column, loss);
    for (int tick = 0; tick < 10 * SECOND; tick++) {
        cw_lab_column_step(column, 1);
        for (uint32_t end = 0; end < 2; end++) {
            const enum cw_lab_waiting waiting = cw_lab_column_waiting(column, end, &number);
            ticks += waiting != CW_LAB_WAITING_NOTHING && waiting != CW_LAB_WAITING_RATE;
        }
    }
    return ticks;
}

/* In these, the next packet repeats what a lost one had. */
static bool repeats_at_once(uint32_t protocol)
{
    const struct cw_lab_peer_type *type = cw_lab_protocol(protocol);
    return type == &cw_lab_peer_unacked || type == &cw_lab_peer_thrice;
}

TEST(losses_hold_every_protocol_up_that_does_not_repeat_at_once)
{
    FOR_EACH(i)
    {
        assert_int_equal(ticks_held_up(i, 0), 0);
        if (repeats_at_once(i))
            assert_int_equal(ticks_held_up(i, 0.2), 0);
        else
            assert_true(ticks_held_up(i, 0.2) > SECOND);
    }
}

TEST(a_message_that_is_missing_is_named)
{
    struct cw_lab_column *column = make(0, 4);
    uint32_t number, named = 0;
    change_loss(column, 0.2);
    for (int tick = 0; tick < 10 * SECOND; tick++) {
        cw_lab_column_step(column, 1);
        if (cw_lab_column_waiting(column, 1, &number) != CW_LAB_WAITING_MESSAGE)
            continue;
        assert_int_equal(number, items_of(column, 0, CW_LAB_MESSAGE).delivered);
        named++;
    }
    assert_true(named > SECOND);
}

TEST(a_full_window_is_named)
{
    struct cw_lab_column *column = make(0, 4);
    struct cw_lab_settings settings = cw_lab_settings_default();
    uint32_t number, named = 0;
    settings.blocks = true;
    settings.bytes_per_second = 125000;
    column_change(column, &settings);
    for (int tick = 0; tick < 10 * SECOND; tick++) {
        cw_lab_column_step(column, 1);
        if (cw_lab_column_waiting(column, 0, &number) != CW_LAB_WAITING_WINDOW)
            continue;
        assert_true(number > 0);
        named++;
    }
    assert_true(named > SECOND);
}

TEST(settings_change_while_it_runs)
{
    struct cw_lab_column *column = make(0, 1);
    struct cw_lab_settings settings = cw_lab_settings_default();
    cw_lab_column_step(column, 2 * SECOND);
    cw_lab_column_restart_stats(column);
    cw_lab_column_step(column, 2 * SECOND);
    /* The mean is half a round trip, and half a tick until the other end's next turn. */
    assert_true(fabs(items_of(column, 0, CW_LAB_MESSAGE).mean_seconds - (0.05 + 0.5 / 60)) < 1e-6);

    settings.rtt_seconds = 0.3;
    column_change(column, &settings);
    cw_lab_column_step(column, SECOND);
    cw_lab_column_restart_stats(column);
    cw_lab_column_step(column, 2 * SECOND);
    assert_true(fabs(items_of(column, 0, CW_LAB_MESSAGE).mean_seconds - (0.15 + 0.5 / 60)) < 1e-6);
    assert_true(fabs(cw_lab_column_quantile(column, 0, CW_LAB_MESSAGE, 0.5) - 0.1583) < 0.001);

    settings.message_every = 0;
    settings.states = false;
    column_change(column, &settings);
    cw_lab_column_step(column, SECOND);
    cw_lab_column_restart_stats(column);
    cw_lab_column_step(column, SECOND);
    assert_int_equal(items_of(column, 0, CW_LAB_MESSAGE).sent, 0);
    assert_int_equal(items_of(column, 0, CW_LAB_MESSAGE).delivered, 0);
}

/* This test uses the protocol that sends the same on every path. */
TEST(a_narrow_path_delays_and_drops)
{
    uint32_t protocol = 0;
    while (strcmp(cw_lab_protocol_name(protocol), "rudp") != 0)
        protocol++;
    struct cw_lab_column *column = make(protocol, 1);
    struct cw_lab_settings settings = cw_lab_settings_default();
    struct cw_lab_wire_stats wire;
    settings.bytes_per_second = 4000;
    settings.queue_bytes = 2000;
    column_change(column, &settings);
    cw_lab_column_step(column, 10 * SECOND);
    cw_lab_column_wire_stats(column, 0, &wire);
    assert_true(wire.datagrams_overflowed > 0);
    assert_int_equal(wire.datagrams_lost, 0);
    assert_true(items_of(column, 0, CW_LAB_MESSAGE).mean_seconds > 0.4);
}

TEST(blocks_arrive_one_after_the_other)
{
    FOR_EACH(i)
    {
        struct cw_lab_column *column = make(i, 1);
        struct cw_lab_settings settings = cw_lab_settings_default();
        settings.blocks = true;
        settings.loss = 0.01;
        column_change(column, &settings);
        cw_lab_column_step(column, 60 * SECOND);
        const struct cw_lab_game_stats stats = items_of(column, 0, CW_LAB_BLOCK);
        assert_true(stats.delivered >= 2);
        assert_in_range(stats.sent - stats.delivered - stats.lost, 0, 1);
        assert_int_equal(items_of(column, 1, CW_LAB_BLOCK).sent, 0);
    }
}

TEST(events_that_nobody_takes_make_room)
{
    for (uint32_t room = 0; room <= 10; room += 10) {
        struct cw_lab_column_config config = cw_lab_column_config_default();
        struct cw_lab_column *emptied = make(0, 1);
        struct cw_lab_column_event event, all;
        uint64_t noted = 0, kept = 0;
        config.max_events = room;
        struct cw_lab_column *column = column_with(&config);
        struct cw_lab_column_event newest[10];
        for (int tick = 0; tick < SECOND; tick++) {
            cw_lab_column_step(column, 1);
            cw_lab_column_step(emptied, 1);
            while (cw_lab_column_next(emptied, &all))
                newest[noted++ % 10] = all;
        }
        assert_true(cw_lab_column_hash(column) == cw_lab_column_hash(emptied));
        for (; cw_lab_column_next(column, &event); kept++)
            assert_memory_equal(&event, &newest[(noted + kept) % 10], sizeof event);
        assert_int_equal(kept, room);
        assert_int_equal(cw_lab_column_events_dropped(column), noted - room);
        assert_int_equal(cw_lab_column_events_dropped(emptied), 0);
    }
}

TEST(a_column_is_one_allocation)
{
    FOR_EACH(i)
    {
        struct counted counted = {0};
        struct cw_lab_column_config config = cw_lab_column_config_default();
        struct cw_lab_column *column = NULL;
        config.protocol = i;
        config.allocator = counted_allocator(&counted);
        counted.refuse = true;
        assert_int_equal(cw_lab_column_create(&config, &column), CW_ERROR_NO_MEMORY);
        assert_null(column);
        counted.refuse = false;
        assert_ok(cw_lab_column_create(&config, &column));
        assert_int_equal(counted.size, cw_lab_column_memory(&config));
        change_loss(column, 0.1);
        cw_lab_column_step(column, SECOND);
        cw_lab_column_reset(column);
        cw_lab_column_step(column, SECOND);
        assert_int_equal(counted.allocations, 1);
        assert_int_equal(counted.releases, 0);
        cw_lab_column_destroy(column);
        assert_int_equal(counted.releases, 1);
        assert_int_equal(counted.released, counted.size);
    }
}

TEST(a_peer_is_one_allocation)
{
    FOR_EACH(i)
    {
        struct counted counted = {0};
        const struct cw_allocator allocator = counted_allocator(&counted);
        const struct cw_lab_peer_type *type = cw_lab_protocol(i);
        void *peer = NULL;
        counted.refuse = true;
        assert_null(cw_lab_peer_create(type, &allocator));
        assert_null(peer);
        counted.refuse = false;
        assert_non_null(peer = cw_lab_peer_create(type, &allocator));
        assert_int_equal(counted.allocations, 1);
        assert_int_equal(counted.size, cw_lab_peer_memory(type));
        cw_lab_peer_destroy(peer);
        assert_int_equal(counted.releases, 1);
        assert_int_equal(counted.released, counted.size);
    }
}

TEST(what_makes_no_sense_is_refused)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_column *column = NULL;
    config.protocol = cw_lab_protocol_count();
    assert_int_equal(cw_lab_column_create(&config, &column), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_lab_column_memory(&config), 0);
    config.protocol = 0;
    config.max_events = 65537;
    assert_int_equal(cw_lab_column_create(&config, &column), CW_ERROR_INVALID_ARGUMENT);
    assert_null(column);

    column = make(0, 1);
    const struct cw_lab_settings fine = cw_lab_settings_default();
    struct cw_lab_settings bad[] = {fine, fine, fine, fine, fine, fine, fine, fine, fine};
    bad[0].rtt_seconds = -1;
    bad[1].jitter_seconds = (double)NAN;
    bad[2].loss = 1.1;
    bad[3].burst_length = 0.5;
    bad[4].burst_length = (double)NAN;
    bad[5].bytes_per_second = -1;
    bad[6].queue_bytes = (double)INFINITY;
    bad[7].flood_bytes_per_second = -1;
    bad[8].flood_bytes_per_second = (double)NAN;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (bad[i].burst_length != 1 || bad[i].flood_bytes_per_second != 0)
            assert_int_equal(cw_lab_column_change(column, &bad[i]), CW_ERROR_INVALID_ARGUMENT);
        else
            assert_error_names(cw_lab_column_change(column, &bad[i]),
                               "latency_seconds jitter_seconds loss bytes_per_second queue_bytes");
    cw_lab_column_step(column, 2 * SECOND);
    assert_true(items_of(column, 0, CW_LAB_MESSAGE).delivered > SECOND);
}

TEST(protocols_have_names_of_their_own)
{
    assert_string_equal(cw_lab_protocol_name(0), "plain");
    assert_null(cw_lab_protocol_name(cw_lab_protocol_count()));
    FOR_EACH(i)
    {
        assert_string_equal(cw_lab_protocol_name(i), cw_lab_protocol(i)->name);
        for (uint32_t other = 0; other < i; other++)
            assert_string_not_equal(cw_lab_protocol_name(i), cw_lab_protocol_name(other));
    }
}
