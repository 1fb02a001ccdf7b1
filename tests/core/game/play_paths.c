/* A game, each end of which is one object of the kit, over tables of paths and loops: what is
   predicted is right, and what is shown is smooth. */
#include "play_rig.h"

#define SEEDS 2

struct row {
    double rtt, jitter, loss, drift;
    double ticks, server, client; /* per second */
    uint32_t every;               /* ticks per snapshot */
};

/* Without loss, no prediction is ever wrong: whatever the rates of the loops and the clocks are,
   the input of a tick arrives before the tick, and both ends round alike. */
static const struct row no_loss[] = {
    {0.0001, 0, 0, 0, 60, 60, 60, 2},
    {0.0001, 0, 0, 1e-4, 60, 60, 144, 1},
    {0.02, 0.002, 0, -1e-4, 60, 240, 120, 1},
    {0.1, 0, 0, 0, 60, 60, 60, 2},
    {0.1, 0, 0, 0, 60, 45, 60, 1},
    {0.1, 0.01, 0, 1e-4, 60, 45, 60, 2},
    {0.1, 0, 0, 0, 60, 20, 144, 3},
    {0.1, 0, 0, 0, 60, 60, 20, 3},
    {0.1, 0, 0, 0, 60, 45, 45, 60},
    {0.1, 0.02, 0, 0, 20, 60, 60, 1},
    {0.1, 0.01, 0, 0, 128, 64, 75, 4},
    {1, 0.05, 0, 0, 60, 60, 60, 2},
    {4.8, 0.01, 0, 0, 60, 60, 60, 2},
};

static const struct row losses[] = {
    {0.02, 0.005, 0.02, 0, 60, 60, 60, 2}, {0.1, 0.02, 0.05, 1e-4, 60, 45, 60, 2},
    {0.1, 0.02, 0.05, 0, 60, 60, 144, 1},  {0.3, 0.05, 0.1, -1e-4, 60, 60, 60, 3},
    {0.1, 0, 0.05, 0, 60, 60, 60, 60},
};

static struct play *play_row(const struct row *row, uint64_t seed)
{
    struct play_config config = play_config();
    config.path = (struct cw_simulator_path){
        .latency_seconds = row->rtt / 2, .jitter_seconds = row->jitter, .loss = row->loss};
    config.drift = row->drift;
    config.ticks_per_second = row->ticks;
    config.server_hz = row->server;
    config.client_hz = row->client;
    config.ticks_per_snapshot = row->every;
    config.seed = seed;
    struct play *const play = play_start(&config);
    play_run(play, 6 + 3 * row->rtt);
    play_measure(play);
    return play;
}

/* These hold on every path. */
static void check_shown(const struct play *play, const struct row *row)
{
    for (uint32_t id = 0; id < play->config.players; id++) {
        const struct play_player *const player = &play->players[id];
        assert_int_equal(player->shown, player->frames);
        /* A lost one of one snapshot per second leaves nothing to show for longer. */
        if (row->loss <= 0 || row->every < 60)
            assert_true(player->delay <= 0.5 + 1 / row->client);
        assert_true(player->own_jump < 2);
    }
}

TEST(nothing_is_corrected_without_loss)
{
    for (size_t i = 0; i < sizeof no_loss / sizeof *no_loss; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct play *const play = play_row(&no_loss[i], seed);
            const struct cw_game_client_stats before = play_stats(play, 0);
            play_run(play, 10);
            const struct cw_game_client_stats after = play_stats(play, 0);
            const double rate = fmin(no_loss[i].ticks / no_loss[i].every, no_loss[i].server);
            check_shown(play, &no_loss[i]);
            assert_true((double)(after.prediction.compared - before.prediction.compared) >=
                        9 * rate - 2);
            assert_int_equal(after.prediction.corrections, before.prediction.corrections);
            assert_int_equal(after.starved, before.starved);
            assert_int_equal(after.clock.restarts, before.clock.restarts);
            assert_int_equal(play->verdicts[CW_GAME_VERDICT_DIVERGING], 0);
            if (no_loss[i].every < 60)
                assert_int_equal(play->verdicts[CW_GAME_VERDICT_NETWORK], 0);
        }
}

TEST(others_are_shown_evenly)
{
    for (size_t i = 0; i < sizeof no_loss / sizeof *no_loss; i++) {
        if (no_loss[i].every >= 60)
            continue;
        struct play *const play = play_row(&no_loss[i], 7);
        const struct cw_interpolation_stats before = play_stats(play, 0).interpolation;
        play_run(play, 10);
        const struct cw_interpolation_stats after = play_stats(play, 0).interpolation;
        assert_true(play->players[0].other_jump < 0.5);
        assert_true((double)(after.extrapolated - before.extrapolated) <=
                    0.05 * (double)(after.views - before.views));
        assert_int_equal(after.jumps, before.jumps);
    }
}

TEST(losses_hardly_disturb)
{
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct play *const play = play_row(&losses[i], seed);
            const struct cw_game_client_stats before = play_stats(play, 0);
            play_run(play, 20);
            const struct cw_game_client_stats after = play_stats(play, 0);
            check_shown(play, &losses[i]);
            assert_true(after.prediction.corrections - before.prediction.corrections <= 2);
            assert_true(after.starved - before.starved <= 6);
            assert_int_equal(play->verdicts[CW_GAME_VERDICT_DIVERGING], 0);
        }
}
