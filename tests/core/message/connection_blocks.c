/* Tests of blocks: on a reliable channel they go in fragments, on an unreliable one whole. */
#include "fixture.h"

#include "connection_pair.h"

#define FRAGMENT 200
#define MAX_SIZE 5000

static struct cw_connection_config config_of_blocks(void)
{
    struct cw_connection_config config = notes_config();
    for (int i = 0; i < 2; i++) {
        config.channels[i].blocks = true;
        config.channels[i].block_fragment_size = FRAGMENT;
        config.channels[i].max_block_size = MAX_SIZE;
    }
    return config;
}

/* Runs rounds both ways over a path without delay. */
static void rounds(struct cw_connection *a, struct cw_connection *b, int count, double *now)
{
    for (int i = 0; i < count; i++, *now += TICK) {
        round_of(a, b, *now);
        round_of(b, a, *now);
    }
}

TEST(test_blocks_of_every_size_arrive)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    static const uint32_t sizes[] = {1,
                                     2,
                                     FRAGMENT - 1,
                                     FRAGMENT,
                                     FRAGMENT + 1,
                                     2 * FRAGMENT - 1,
                                     2 * FRAGMENT,
                                     2 * FRAGMENT + 1,
                                     MAX_SIZE - 1,
                                     MAX_SIZE};
    double now = 0;
    int released = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint32_t channel = 0; channel < 2; channel++) {
            if (channel == 1 && sizes[i] > 1000)
                continue;
            send_parcel(a, channel, (uint32_t)i, sizes[i], now);
            rounds(a, b, 10, &now);
            expect_parcel(b, channel, (uint32_t)i, sizes[i]);
            assert_int_equal(parcels_released, ++released);
            assert_int_equal(stats_of(a).messages_in_use, 0);
            assert_int_equal(stats_of(b).messages_in_use, 0);
        }
    }
    assert_int_equal(channel_of(a, 0).resent, 0);
}

TEST(test_a_block_waits_its_turn_among_messages)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    send_note(a, 0, 0, 10, 0);
    send_parcel(a, 0, 1, 3000, 0);
    send_parcel(a, 0, 2, 1, 0);
    send_note(a, 0, 3, 10, 0);
    double now = 0;
    uint32_t channel;
    struct cw_message *message;
    for (uint32_t next = 0; next < 4;) {
        rounds(a, b, 1, &now);
        assert_true(now < 2);
        while ((message = next_message(b, &channel)) != NULL) {
            assert_int_equal(number_of(message), next);
            if (next == 1 || next == 2)
                check_parcel(message, next, next == 1 ? 3000 : 1);
            next++;
            cw_message_release(message);
        }
    }
}

TEST(test_a_block_that_is_held_makes_the_next_one_wait)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    double now = 0;
    send_parcel(a, 0, 1, 900, now);
    send_parcel(a, 0, 2, 700, now);
    send_note(a, 0, 3, 0, now);
    rounds(a, b, 20, &now);
    struct cw_message *kept = next_message(b, NULL);
    assert_non_null(kept);
    rounds(a, b, 200, &now);
    assert_null(next_message(b, NULL));
    check_parcel(kept, 1, 900);
    assert_true(stats_of(b).packets_refused > 0);
    assert_int_equal(stats_of(b).packets_invalid, 0);
    cw_message_release(kept);
    rounds(a, b, 20, &now);
    expect_parcel(b, 0, 2, 700);
    rounds(a, b, 20, &now);
    expect_note(b, 0, 3);
    assert_int_equal(stats_of(a).messages_in_use + stats_of(b).messages_in_use, 0);
}

TEST(test_a_held_block_outlives_a_reset)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t channel = 0; channel < 2; channel++) {
        double now = 0;
        send_parcel(a, channel, 1, 900, now);
        rounds(a, b, 10, &now);
        struct cw_message *kept = next_message(b, NULL);
        cw_connection_reset(a);
        cw_connection_reset(b);
        now = 0;
        send_parcel(a, channel, 2, 800, now);
        rounds(a, b, 10, &now);
        check_parcel(kept, 1, 900);
        cw_message_release(kept);
        rounds(a, b, 10, &now);
        expect_parcel(b, channel, 2, 800);
        cw_connection_reset(a);
        cw_connection_reset(b);
    }
}

TEST(test_a_block_is_released_once_whatever_happens)
{
    for (int way = 0; way < 5; way++) {
        for (uint32_t channel = 0; channel < 2; channel++) {
            struct cw_connection_config config = config_of_blocks();
            config.max_packets_per_update = 1;
            struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
            double now = 0;
            send_parcel(a, channel, 1, 900, now);
            send_parcel(a, channel, 2, 900, now);
            if (way == 0) /* nothing was sent yet */
                cw_connection_reset(a);
            if (way == 1) /* some fragments are under way */
                rounds(a, b, 2, &now);
            if (way == 2) { /* all was sent, and never acked */
                for (int i = 0; i < 10; i++)
                    round_of(a, NULL, i);
            }
            if (way == 3) /* all arrived, and was never taken */
                rounds(a, b, 40, &now);
            if (way == 4) {
                rounds(a, b, 3, &now);
                cw_connection_reset(b);
                cw_connection_reset(a);
            }
            fixture_release(NULL);
            assert_int_equal(parcels_released, 2);
        }
    }
}

TEST(test_blocks_get_through_loss_and_only_lost_fragments_go_again)
{
    struct cw_connection_config config = config_of_blocks();
    struct pair pair = pair_open(&config, 0.1, 0.2);
    struct cw_simulator_path path = path_of(0.1, 0.2);
    path.reorder = 0.05;
    path.reorder_delay_seconds =
        0.1; /* so that a packet given up is acked after all, and its copy too */
    pair_change(&pair, &path);
    const uint32_t count = 160, fragments = MAX_SIZE / FRAGMENT;
    for (uint32_t i = 0; i < count; i++)
        send_parcel(pair.sides[0], 0, i, MAX_SIZE, 0);
    for (uint32_t next = 0; next < count;) {
        pair_tick(&pair);
        assert_true(pair.now < 800);
        struct cw_message *message = next_message(pair.sides[1], NULL);
        if (!message)
            continue;
        check_parcel(message, next++, MAX_SIZE);
        cw_message_release(message);
    }
    pair_run(&pair, 120);
    const double resent = (double)channel_of(pair.sides[0], 0).resent;
    print_message("%g fragments of %u sent again\n", resent, count * fragments);
    assert_true(resent < 0.36 * count * fragments);
    assert_int_equal(parcels_released, count);
}

TEST(test_a_long_block_fills_every_packet)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    config.max_packets_per_update = 4;
    config.congestion.mode = CW_CONGESTION_NONE;
    struct pair pair = pair_open(&config, 0.1, 0);
    send_parcel(pair.sides[0], 0, 1, 256 * 1024, 0);
    struct cw_message *message = NULL;
    while (!message) {
        pair_tick(&pair);
        message = next_message(pair.sides[1], NULL);
        assert_true(pair.now < 2);
    }
    /* The block has 256 fragments, four a tick. */
    assert_in_range(pair.ticks, 64, 64 + 6);
    check_parcel(message, 1, 256 * 1024);
    cw_message_release(message);
    pair_run(&pair, 60);
    assert_int_equal(channel_of(pair.sides[0], 0).resent, 0);
}

/* Takes `count` parcels in order, as soon as they arrive. */
static void take_parcels(struct pair *pair, uint32_t count, uint32_t size)
{
    for (uint32_t next = 0; next < count;) {
        pair_tick(pair);
        assert_true(pair->now < 60);
        for (struct cw_message *message; (message = next_message(pair->sides[1], NULL)) != NULL;) {
            check_parcel(message, next++, size);
            cw_message_release(message);
        }
    }
}

TEST(test_one_block_follows_another_without_a_pause)
{
    const uint32_t size = 64 * 1024, count = 10;
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    config.max_packets_per_update = 4;
    config.congestion.mode = CW_CONGESTION_NONE;
    struct pair pair = pair_open(&config, 0.1, 0);
    for (uint32_t i = 0; i < count; i++)
        send_parcel(pair.sides[0], 0, i, size, 0);
    take_parcels(&pair, count, size);
    /* Each block has 64 fragments, four a tick, and some that may have been dropped go again: with
       a round trip between the blocks they would take 60 ticks more. */
    assert_in_range(pair.ticks, count * 16, count * 17 + 6);
    assert_int_equal(stats_of(pair.sides[1]).packets_refused, 0);
}

/* Sends two notes of 600 bytes a tick, and the fragments of a few parcels. Returns how many parcels
   arrive. */
static uint32_t run_beside_notes(struct pair *pair, int ticks)
{
    uint32_t arrived = 0;
    for (int i = 0; i < ticks; i++) {
        for (uint32_t j = 0; j < 2; j++)
            send_note(pair->sides[0], 0, 0, 600, pair->now);
        const struct cw_channel_stats parcels = channel_of(pair->sides[0], 1);
        if (parcels.queued + parcels.in_flight < 2)
            send_parcel(pair->sides[0], 1, 0, MAX_SIZE, pair->now);
        pair_tick(pair);
        struct cw_message *message;
        for (uint32_t channel; (message = next_message(pair->sides[1], &channel));
             cw_message_release(message))
            arrived += channel == 1;
    }
    return arrived;
}

TEST(test_messages_that_fill_the_window_starve_no_block)
{
    struct cw_connection_config config = config_of_blocks();
    config.channels[1] = config.channels[0];
    config.channels[1].block_fragment_size = 1000;
    struct pair pair = pair_open(&config, 0.4, 0);
    struct cw_simulator_path path = path_of(0.4, 0);
    path.bytes_per_second = 100000; /* the notes alone take three quarters */
    path.queue_bytes = 20000;
    assert_int_equal(cw_simulator_change(pair.paths[0], &path), CW_OK);
    for (int i = 0; i < 12; i++)
        assert_in_range(run_beside_notes(&pair, 300), 5, 50);
}

TEST(test_early_blocks_survive_losses_and_other_orders)
{
    const uint32_t size = 20 * FRAGMENT + 7, count = 100;
    struct cw_connection_config config = config_of_blocks();
    for (int step = 0; step < 4; step++) {
        struct pair pair = pair_open(&config, 0.1, 0);
        struct cw_simulator_path path = path_of(0.1, 0.005 * step);
        path.reorder = 0.05;
        path.reorder_delay_seconds = 0.02 + 0.02 * step;
        pair_change(&pair, &path);
        for (uint32_t i = 0; i < count; i++)
            send_parcel(pair.sides[0], 0, i, size, 0);
        take_parcels(&pair, count, size);
        pair_run(&pair, 60);
        assert_int_equal(stats_of(pair.sides[0]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[1]).packets_invalid, 0);
    }
}

TEST(test_unreliable_blocks_beyond_what_can_be_held_are_dropped)
{
    const struct cw_connection_config config = config_of_blocks();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct cw_message *kept[20];
    uint32_t count = 0;
    double now = 0;
    for (uint32_t i = 0; i < 12; i++) {
        send_parcel(a, 1, i, 500, now);
        rounds(a, b, 1, &now);
        struct cw_message *message = next_message(b, NULL);
        if (message)
            kept[count++] = message;
    }
    assert_int_equal(count, 8);
    assert_int_equal(channel_of(b, 1).received, 8);
    assert_int_equal(channel_of(b, 1).dropped, 4);
    for (uint32_t i = 0; i < count; i++) {
        check_parcel(kept[i], i, 500);
        cw_message_release(kept[i]);
    }
    send_parcel(a, 1, 77, 500, now);
    rounds(a, b, 1, &now);
    expect_parcel(b, 1, 77, 500);
}
