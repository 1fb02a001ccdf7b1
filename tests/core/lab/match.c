/* Tests of a match: deterministic lockstep beside prediction, with the same moves on the same
   network. */
#include "lab/match.h"

#include "fixture.h"

#include <stdlib.h>

#define SECOND 60
#define SLOW   (CW_LAB_PLAYERS - 1)
#define SERVER CW_LAB_PLAYERS

static void match_release(void *match)
{
    cw_lab_match_destroy(match);
}

static struct cw_lab_match *match_with(const struct cw_lab_match_config *config)
{
    struct cw_lab_match *match = NULL;
    assert_ok(cw_lab_match_create(config, &match));
    return own(match, match_release);
}

static struct cw_lab_match *match_of(bool prediction, double slow_rtt_seconds, double loss)
{
    struct cw_lab_match_config config = cw_lab_match_config_default();
    config.prediction = prediction;
    config.slow_rtt_seconds = slow_rtt_seconds;
    config.loss = loss;
    return match_with(&config);
}

static struct cw_lab_match_stats stats_of(const struct cw_lab_match *match, uint32_t player)
{
    struct cw_lab_match_stats stats;
    cw_lab_match_get_stats(match, player, &stats);
    return stats;
}

/* Checks that the players of lockstep have the same state after each of these turns. */
static void players_agree(const struct cw_lab_match *match, uint32_t from, uint32_t to)
{
    for (uint32_t turns = from; turns <= to; turns++) {
        const uint64_t hash = cw_lab_match_hash(match, 0, turns);
        assert_true(hash != 0);
        for (uint32_t i = 1; i < CW_LAB_PLAYERS; i++)
            assert_true(cw_lab_match_hash(match, i, turns) == hash);
    }
}

TEST(players_of_lockstep_agree_at_every_turn)
{
    struct cw_lab_match *match = match_of(false, 0.3, 0.1);
    uint32_t seen = 1;
    for (int second = 0; second < 60; second++) {
        cw_lab_match_step(match, SECOND);
        uint32_t least = UINT32_MAX;
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
            if (stats_of(match, i).turns < least)
                least = stats_of(match, i).turns;
        players_agree(match, seen, least);
        seen = least + 1;
    }
    assert_true(seen > 59 * SECOND);
}

/* With the same moves, the server has the state that the players of lockstep have. */
TEST(both_designs_play_the_same_game)
{
    struct cw_lab_match *lockstep = match_of(false, 0.3, 0.02), *other = match_of(true, 0.3, 0.02);
    cw_lab_match_step(lockstep, 12 * SECOND);
    cw_lab_match_step(other, 12 * SECOND);
    uint32_t told = 0;
    for (uint32_t turns = 1; turns <= 11 * SECOND; turns++) {
        const uint64_t hash = cw_lab_match_hash(lockstep, 0, turns);
        assert_true(hash != 0 && cw_lab_match_hash(other, SERVER, turns) == hash);
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
            const uint64_t known = cw_lab_match_hash(other, i, turns);
            assert_true(known == hash || known == 0);
            told += known != 0;
        }
    }
    assert_true(told > 11 * SECOND * CW_LAB_PLAYERS * 9 / 10);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        assert_int_equal(stats_of(other, i).late, 0);
        assert_int_equal(stats_of(other, i).corrections, 0);
    }
}

/* In lockstep, every player's own moves take as long as those of the slowest; predicted ones take
   no time. */
TEST(lockstep_is_as_slow_as_the_slowest)
{
    const double slow[] = {0.06, 0.1, 0.3, 0.6};
    for (uint32_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        struct cw_lab_match *lockstep = match_of(false, slow[i], 0),
                            *other = match_of(true, slow[i], 0);
        cw_lab_match_step(lockstep, 30 * SECOND);
        cw_lab_match_step(other, 30 * SECOND);
        const double way = (0.05 + slow[i]) / 2;
        for (uint32_t player = 0; player < CW_LAB_PLAYERS; player++) {
            const struct cw_lab_match_stats waits = stats_of(lockstep, player);
            assert_true(waits.own_seconds >= way && waits.own_seconds < way + 1.1 / SECOND);
            assert_true(waits.stalled_seconds == 0);
            const struct cw_lab_match_stats acts = stats_of(other, player);
            assert_true(acts.own_p99_seconds < 0.001 && acts.stalled_seconds == 0);
        }
        /* Nobody sees others sooner than the network brings their moves. */
        assert_true(stats_of(other, 0).others_seconds >= (0.05 + way) / 2);
        assert_true(stats_of(other, 0).others_seconds < (0.05 + way) / 2 + 5.0 / SECOND);
    }
}

/* A lost datagram of one holds all up, for about a tick: the next one has its moves too. */
TEST(in_lockstep_a_loss_stalls_all)
{
    struct cw_lab_match *lockstep = match_of(false, 0.3, 0.05), *other = match_of(true, 0.3, 0.05);
    cw_lab_match_step(lockstep, 30 * SECOND);
    cw_lab_match_step(other, 30 * SECOND);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        assert_true(stats_of(lockstep, i).stalled_seconds > 1);
        assert_true(stats_of(lockstep, i).longest_stall_seconds < 0.1);
        assert_true(stats_of(other, i).stalled_seconds == 0);
    }
}

TEST(a_cut_line_stops_lockstep_and_nothing_else)
{
    struct cw_lab_match *lockstep = match_of(false, 0.3, 0), *other = match_of(true, 0.3, 0);
    struct cw_lab_match *const both[] = {lockstep, other};
    for (uint32_t i = 0; i < 2; i++) {
        cw_lab_match_step(both[i], 5 * SECOND);
        cw_lab_match_cut(both[i], true);
        cw_lab_match_step(both[i], 2 * SECOND);
        cw_lab_match_cut(both[i], false);
        cw_lab_match_step(both[i], 5 * SECOND);
    }
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        const double stall = stats_of(lockstep, i).longest_stall_seconds;
        assert_true(stall > 1.9 && stall < 2.4);
        assert_true(stats_of(other, i).stalled_seconds == 0);
        assert_true((stats_of(other, i).late > 0) == (i == SLOW));
        assert_true((stats_of(other, i).corrections > 0) == (i == SLOW));
        assert_true(stats_of(other, i).turns > 11 * SECOND);
    }
    players_agree(lockstep, 1, 11 * SECOND);
    /* The server played on without the slow player's moves, so its game is another one by now. */
    const uint32_t turns = 11 * SECOND;
    assert_true(cw_lab_match_hash(other, SERVER, 4 * SECOND) ==
                cw_lab_match_hash(lockstep, 0, 4 * SECOND));
    assert_false(cw_lab_match_hash(other, SERVER, turns) == cw_lab_match_hash(lockstep, 0, turns));
    /* And the player was put right: after as many moves, others see the player there too. */
    struct cw_lab_spot predicted, said;
    cw_lab_match_look(other, SLOW, SLOW, &predicted);
    while (stats_of(other, 0).turns < 12 * SECOND)
        cw_lab_match_step(other, 1);
    cw_lab_match_look(other, 0, SLOW, &said);
    assert_true(predicted.x == said.x && predicted.y == said.y);
}

/* A line that is cut for long does not wear the windows out. */
TEST(lockstep_waits_for_ever)
{
    struct cw_lab_match *match = match_of(false, 0.3, 0.1);
    cw_lab_match_step(match, SECOND);
    cw_lab_match_cut(match, true);
    cw_lab_match_step(match, 60 * SECOND);
    const uint32_t turns = stats_of(match, 0).turns;
    assert_true(turns < 2 * SECOND);
    cw_lab_match_cut(match, false);
    cw_lab_match_step(match, 10 * SECOND);
    assert_true(stats_of(match, 0).turns > turns + 9 * SECOND);
    players_agree(match, turns, turns + 9 * SECOND);
}

TEST(the_same_seed_gives_the_same_match)
{
    for (int prediction = 0; prediction < 2; prediction++) {
        struct cw_lab_match_config config = cw_lab_match_config_default();
        config.prediction = prediction;
        config.loss = 0.1;
        struct cw_lab_match *one = match_with(&config), *same = match_with(&config);
        config.seed = 2;
        struct cw_lab_match *other = match_with(&config);
        cw_lab_match_step(one, 10 * SECOND);
        for (int tick = 0; tick < 10 * SECOND; tick++)
            cw_lab_match_step(same, 1);
        cw_lab_match_step(other, 10 * SECOND);
        const struct cw_lab_match_stats figures = stats_of(one, 1), again = stats_of(same, 1);
        assert_true(figures.turns == again.turns && figures.own_seconds == again.own_seconds);
        assert_true(figures.stalled_seconds == again.stalled_seconds);
        const uint32_t turns = 5 * SECOND;
        assert_true(cw_lab_match_hash(one, 1, turns) == cw_lab_match_hash(same, 1, turns));
        assert_false(cw_lab_match_hash(one, 0, turns) == cw_lab_match_hash(other, 0, turns));
    }
}

/* The test lab.wasm_match expects the same of WebAssembly. */
TEST(the_hash_is_that_of_every_machine)
{
    struct cw_lab_match *match = match_of(false, 0.3, 0.05);
    cw_lab_match_step(match, 11 * SECOND);
    assert_true(cw_lab_match_hash(match, SLOW, 10 * SECOND) == 0x98bccb72e4cd0598u);
}

TEST(players_see_the_field)
{
    for (int prediction = 0; prediction < 2; prediction++) {
        struct cw_lab_match *match = match_of(prediction, 0.3, 0);
        struct cw_lab_spot first[CW_LAB_PLAYERS + 1], now;
        uint32_t moved = 0;
        for (uint32_t i = 0; i <= CW_LAB_PLAYERS; i++)
            cw_lab_match_look(match, 0, i, &first[i]);
        cw_lab_match_step(match, 30 * SECOND);
        for (uint32_t i = 0; i <= CW_LAB_PLAYERS; i++) {
            cw_lab_match_look(match, 0, i, &now);
            assert_true(now.x >= 0 && now.x <= CW_LAB_PITCH_WIDTH);
            assert_true(now.y >= 0 && now.y <= CW_LAB_PITCH_HEIGHT);
            moved += now.x != first[i].x || now.y != first[i].y;
        }
        assert_true(moved > 2);
        cw_lab_match_look(match, SERVER, 0, &now);
        assert_true(now.x == 0 && now.y == 0);
        cw_lab_match_look(match, 0, SERVER + 1, &now);
        assert_true(now.x == 0 && now.y == 0);
        assert_true(cw_lab_match_hash(match, SERVER + 1, 1) == 0);
        assert_true(cw_lab_match_hash(match, 0, 0) == 0 && cw_lab_match_hash(match, 0, 5000) == 0);
        assert_int_equal(stats_of(match, SERVER).turns, 0);
    }
}

/* Fails after so many allocations. */
struct meagre {
    size_t left, held;
};

static void *meagre_allocate(void *context, size_t size)
{
    struct meagre *meagre = context;
    if (meagre->left == 0)
        return NULL;
    meagre->left--;
    meagre->held++;
    return malloc(size);
}

static void meagre_release(void *context, void *memory, size_t size)
{
    struct meagre *meagre = context;
    (void)size;
    meagre->held -= memory != NULL;
    free(memory);
}

TEST(what_cannot_be_made_leaves_nothing)
{
    struct meagre meagre = {0};
    struct cw_lab_match_config config = cw_lab_match_config_default();
    struct cw_lab_match *match = NULL;
    config.prediction = true;
    config.allocator = (struct cw_allocator){meagre_allocate, meagre_release, &meagre};
    enum cw_error error = CW_ERROR_NO_MEMORY;
    for (size_t most = 0; error != CW_OK; most++) {
        meagre.left = most;
        error = cw_lab_match_create(&config, &match);
        assert_true(error == CW_OK || error == CW_ERROR_NO_MEMORY);
        assert_true((meagre.held == 0) == (error != CW_OK));
    }
    cw_lab_match_destroy(match);
    assert_int_equal(meagre.held, 0);
    double *const values[] = {&config.rtt_seconds, &config.slow_rtt_seconds, &config.loss};
    for (uint32_t i = 0; i < 3; i++) {
        const double good = *values[i];
        for (int bad = 0; bad < 2; bad++) {
            *values[i] = bad ? 1.001 : -0.001;
            assert_int_equal(cw_lab_match_create(&config, &match), CW_ERROR_INVALID_ARGUMENT);
        }
        *values[i] = good;
    }
}
