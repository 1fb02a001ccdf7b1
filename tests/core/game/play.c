/* A game, each end of which is one object of the kit: what happens when a machine or a path stalls,
   when a server is too slow, and when players come and go; and what each call does. */
#include "config_error.h"
#include "counted.h"
#include "play_rig.h"

static struct play *running(struct play_config config)
{
    struct play *const play = play_start(&config);
    play_run(play, 5);
    play_measure(play);
    return play;
}

static struct play_config holding(void)
{
    struct play_config config = play_config();
    config.holds = true;
    config.path.latency_seconds = 0.03;
    return config;
}

static void expect_no_jump(const struct play *play)
{
    for (uint32_t id = 0; id < play->config.players; id++) {
        assert_true(play->players[id].own_jump <= 2);
        assert_true(play->players[id].other_jump <= 2);
        assert_int_equal(play->players[id].shown, play->players[id].frames);
    }
}

TEST(a_client_gets_its_own_entity_and_what_interests_it)
{
    struct play_config config = play_config();
    config.players = 4;
    assert_int_equal(cw_game_server_set_interest(play_start(&config)->server, 0, NULL, 0),
                     CW_ERROR_INVALID_ARGUMENT);
    config.max_interest = 2;
    struct play *const play = play_start(&config);
    const struct cw_priority list[] = {{3, 1}, {0, 1}, {2, 1}};
    struct cw_game_entity entity;
    assert_int_equal(cw_game_server_set_interest(play->server, 0, list, 3),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_game_server_set_interest(play->server, PLAY_MOST, list, 1),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_ok(cw_game_server_set_interest(play->server, 0, list, 1));
    play_run(play, 2);
    assert_true(cw_game_client_view(play->players[0].client, play_client_clock(play, 0)));
    for (uint32_t id = 0; id <= 3; id += 3) {
        assert_true(cw_game_client_next_entity(play->players[0].client, &entity));
        assert_int_equal(entity.entity, id);
    }
    assert_false(cw_game_client_next_entity(play->players[0].client, &entity));
}

TEST(a_server_that_stalls_half_a_second_plays_what_it_missed)
{
    struct play *const play = running(holding());
    struct cw_game_server_stats stats;
    const uint64_t steps = play->steps;
    play->next_turn += 0.5;
    play_run(play, 5);
    cw_game_server_get_stats(play->server, &stats);
    expect_no_jump(play);
    assert_int_equal(stats.skipped, 0);
    assert_true(unit_same(stats.rate, 1));
    assert_true(play->steps - steps >= 299);
    for (uint32_t id = 0; id < 2; id++)
        assert_int_equal(play_stats(play, id).prediction.corrections, 0);
}

TEST(a_loop_at_the_rate_of_the_ticks_plays_one_in_each_turn_early_or_late)
{
    struct play *const play = play_start(&(struct play_config){
        .ticks_per_second = 60, .server_hz = 60, .client_hz = 60, .ticks_per_snapshot = 1});
    uint32_t tick;
    for (uint32_t turn = 1; turn < 1000; turn++) {
        const double early = (cw_prng_share(&play->random) - 0.5) * 0.48;
        cw_game_server_update(play->server, (turn + early) / 60);
        assert_true(cw_game_server_next_tick(play->server, &tick) && tick == turn);
        assert_false(cw_game_server_next_tick(play->server, &tick));
    }
}

TEST(a_client_that_stalls_half_a_second_goes_on)
{
    struct play *const play = running(holding());
    play->players[0].next_frame += 0.5;
    play_run(play, 5);
    expect_no_jump(play);
}

TEST(a_path_that_stalls_half_a_second_is_bridged)
{
    struct play *const play = running(holding());
    for (int i = 30; i >= 0; i--) {
        play_change(play, &(struct cw_simulator_path){.latency_seconds = 0.03 + i / 60.0});
        play_run(play, 1 / 60.0);
    }
    play_run(play, 5);
    expect_no_jump(play);
}

TEST(clients_follow_a_server_that_cannot_keep_up)
{
    struct play_config config = play_config();
    config.step_seconds = 1 / 40.0;
    struct play *const play = play_start(&config);
    play_run(play, 30);
    play_measure(play);
    const struct cw_game_client_stats before = play_stats(play, 0);
    const uint64_t steps = play->steps;
    play_run(play, 30);
    const struct cw_game_client_stats after = play_stats(play, 0);
    struct cw_game_server_stats stats;
    cw_game_server_get_stats(play->server, &stats);
    const double rate = (double)(play->steps - steps) / 30 / config.ticks_per_second;
    assert_true(stats.skipped > 0 && rate < 0.7);
    assert_true(fabs(stats.rate - rate) < 0.03);
    assert_true(fabs(after.server_rate - rate) < 0.03);
    assert_true(after.prediction.compared > before.prediction.compared + 20);
    assert_int_equal(after.prediction.corrections, before.prediction.corrections);
    assert_int_equal(after.clock.restarts, before.clock.restarts);
    assert_int_equal(after.starved, before.starved);
    assert_true(play->players[0].delay <= 0.5 + 1 / config.client_hz);
}

TEST(nobody_jumps_when_a_server_falls_behind_and_when_it_recovers)
{
    for (uint32_t ticks_per_second = 20; ticks_per_second <= 70; ticks_per_second += 5) {
        struct play *const play = running(holding());
        const double quick = play->config.step_seconds;
        play->config.step_seconds = 1.0 / ticks_per_second;
        play_run(play, 15);
        play->config.step_seconds = quick;
        play_run(play, 8);
        expect_no_jump(play);
    }
}

/* One long stall is no slow server: what cannot be caught up with is left out. */
TEST(a_server_that_sleeps_leaves_ticks_out)
{
    struct play *const play = running(holding());
    struct cw_game_server_stats stats;
    const uint64_t steps = play->steps;
    play->next_turn += 5;
    play_run(play, 20);
    cw_game_server_get_stats(play->server, &stats);
    assert_in_range(stats.skipped, 260, 268);
    assert_in_range(play->steps - steps, 1200 - 270, 1200 - 260);
    assert_true(unit_same(stats.rate, 1));
    play_measure(play);
    const uint64_t corrections = play_stats(play, 0).prediction.corrections;
    play_run(play, 5);
    expect_no_jump(play);
    assert_int_equal(play_stats(play, 0).prediction.corrections, corrections);
}

TEST(a_client_that_was_away_comes_back)
{
    struct play *const play = running(holding());
    play->players[0].gone = true;
    play_run(play, 30);
    play->players[0].gone = false;
    play_run(play, 3);
    play_measure(play);
    const uint64_t corrections = play_stats(play, 0).prediction.corrections;
    play_run(play, 5);
    expect_no_jump(play);
    assert_int_equal(play_stats(play, 0).prediction.corrections, corrections);
}

TEST(a_new_connection_begins_anew)
{
    struct play *const play = running(play_config());
    for (int i = 0; i < 3; i++) {
        struct play_player *const player = &play->players[0];
        uint32_t own;
        play_run(play, 0.1); /* some bodies of the old connection are lost with it */
        cw_simulator_destroy(player->up);
        cw_simulator_destroy(player->down);
        player->up = play_path(play, 900 + (uint64_t)i);
        player->down = play_path(play, 950 + (uint64_t)i);
        cw_game_client_reset(player->client);
        cw_game_server_leave(play->server, 0);
        play_run(play, 1);
        assert_false(cw_game_client_own(player->client, &own));
        assert_false(cw_game_client_view(player->client, play_client_clock(play, 0)));
        assert_ok(cw_game_server_join(play->server, 0, 0));
        play_run(play, 4);
        play_measure(play);
        const uint64_t corrections = play_stats(play, 0).prediction.corrections;
        play_run(play, 4);
        assert_true(cw_game_client_own(player->client, &own) && own == 0);
        assert_int_equal(player->shown, player->frames);
        assert_int_equal(play_stats(play, 0).prediction.corrections, corrections);
    }
}

TEST(an_entity_that_dies_is_played_no_more)
{
    struct play *const play = running(holding());
    uint32_t type;
    assert_int_equal(((const struct play_runner *)cw_game_server_state(play->server, 1, &type))->x,
                     play->runners[1].x);
    assert_int_equal(type, PLAY_PLAYER);
    play->players[1].dead = true;
    cw_game_server_remove(play->server, 1);
    assert_null(cw_game_server_state(play->server, 1, &type));
    const uint64_t starved = play_stats(play, 1).starved;
    play_run(play, 2);
    assert_int_equal(play_stats(play, 1).tick, 0);
    assert_int_equal(play_stats(play, 1).starved, starved); /* its inputs still come */

    play->players[1].dead = false;
    play_run(play, 2);
    assert_true(play_stats(play, 1).tick > 0);
    const uint64_t corrections = play_stats(play, 1).prediction.corrections;
    play_measure(play);
    play_run(play, 2);
    expect_no_jump(play);
    assert_int_equal(play_stats(play, 1).prediction.corrections, corrections);
}

TEST(a_player_may_get_another_entity)
{
    struct play *const play = running(holding());
    uint32_t own;
    cw_game_server_remove(play->server, 0);
    play->players[0].entity = 9;
    assert_ok(cw_game_server_join(play->server, 0, 9));
    play_run(play, 2);
    assert_true(cw_game_client_own(play->players[0].client, &own));
    assert_int_equal(own, 9);
    const uint64_t corrections = play_stats(play, 0).prediction.corrections;
    play_measure(play);
    play_run(play, 2);
    expect_no_jump(play);
    assert_int_equal(play_stats(play, 0).prediction.corrections, corrections);
}

/* The server finds a target where it was shown to the player when he pulled the trigger. */
TEST(the_server_sees_what_a_client_saw)
{
    struct play_config config = play_config();
    config.path = (struct cw_simulator_path){.latency_seconds = 0.1, .jitter_seconds = 0.02};
    struct play *const play = running(config);
    play->watch = true;
    play_run(play, 10);
    assert_true(play->watched > 500);
    assert_true(play->worst_seen < 0.02);
    /* Without that, he would have to aim ahead. */
    assert_true(play->worst_now > 1);
}

TEST(a_client_knows_what_the_newest_snapshot_says)
{
    struct play_config config = play_config();
    config.path.loss = 0.2;
    struct play *const play = running(config);
    struct cw_game_client *const client = play->players[0].client;
    const struct cw_game_client_stats before = play_stats(play, 0);
    play_run(play, 5);
    const struct cw_game_client_stats after = play_stats(play, 0);
    /* The numbers of those that were lost are missing. */
    assert_in_range(after.snapshots.newest - before.snapshots.newest, 145, 155);
    assert_in_range(after.snapshots.snapshots - before.snapshots.snapshots, 100, 135);

    struct cw_game_server_stats server;
    cw_game_server_get_stats(play->server, &server);
    assert_true(fabs(after.server_tick - server.tick) < 2);

    uint32_t type;
    struct cw_game_entity own, other;
    struct play_runner newest;
    memcpy(&newest, cw_game_client_newest(client, 1, &type), sizeof newest);
    assert_int_equal(type, PLAY_PLAYER);
    assert_null(cw_game_client_newest(client, 2, NULL));
    assert_true(cw_game_client_view_newest(client, play_client_clock(play, 0)));
    assert_true(cw_game_client_next_entity(client, &own) && own.own);
    assert_true(cw_game_client_next_entity(client, &other) && other.from == other.to);
    assert_memory_equal(other.from, &newest, sizeof newest);
    assert_int_equal(play_stats(play, 0).view.from, play_stats(play, 0).view.to);
    assert_true(play_stats(play, 0).view.from >= after.view.to);
}

/* A fast screen sends no more than a slow one, and each snapshot is a difference from one that the
   client has acked. */
TEST(ticks_and_not_frames_decide_how_much_is_sent)
{
    struct play_config config = play_config();
    config.client_hz = 144;
    struct play *const play = running(config);
    struct cw_game_server_stats before, after;
    cw_game_server_get_stats(play->server, &before);
    play_run(play, 10);
    cw_game_server_get_stats(play->server, &after);
    print_message("%u bytes/s up, %u down, each\n", play->up_bytes / 20, play->down_bytes / 20);
    assert_in_range(play->up_bodies, 2 * 300 - 10, 2 * 300 + 10);
    assert_in_range(play->down_bodies, 2 * 300 - 2, 2 * 300 + 2);
    assert_int_equal(after.snapshots.whole, before.snapshots.whole);
    assert_true(play->down_bytes / 20 < 1000);
}

/* Returns the verdict of player 0. */
static struct cw_game_verdict judge(const struct play *play)
{
    struct cw_game_verdict verdict;
    cw_game_client_judge(play->players[0].client, play_client_clock(play, 0), &verdict);
    return verdict;
}

TEST(a_step_that_depends_on_chance_is_named_within_two_seconds)
{
    struct play_config config = play_config();
    config.ticks_per_snapshot = 1;
    struct play *const play = running(config);
    assert_int_equal(judge(play).type, CW_GAME_VERDICT_GOOD);
    const uint32_t tick = play_stats(play, 0).tick;
    play->wild = true;
    double took = 0;
    for (; took < 2 && judge(play).type != CW_GAME_VERDICT_DIVERGING; took += 1 / 60.0)
        play_run(play, 1 / 60.0);
    print_message("named after %.2f s\n", took);
    const struct cw_game_verdict verdict = judge(play);
    assert_int_equal(verdict.type, CW_GAME_VERDICT_DIVERGING);
    assert_int_equal(verdict.entity, 0);
    assert_int_equal(verdict.field, 1);
    assert_in_range(verdict.tick, tick, tick + 120);
    play->wild = false;
    play_run(play, 3);
    assert_int_equal(judge(play).type, CW_GAME_VERDICT_GOOD);
}

TEST(a_bad_path_is_no_divergence)
{
    struct play *const play = running(play_config());
    for (int i = 0; i < 40; i++) {
        play_change(play, &(struct cw_simulator_path){.latency_seconds = i % 2 ? 0.4 : 0.03,
                                                      .jitter_seconds = 0.1,
                                                      .loss = i % 4 == 0 ? 0.9 : 0.2});
        play_run(play, 0.5);
    }
    print_message("%u frames of %u are a bad path's, %u diverge\n",
                  play->verdicts[CW_GAME_VERDICT_NETWORK],
                  (uint32_t)(play->players[0].frames + play->players[1].frames),
                  play->verdicts[CW_GAME_VERDICT_DIVERGING]);
    assert_true(play->verdicts[CW_GAME_VERDICT_NETWORK] > 1200);
    assert_int_equal(play->verdicts[CW_GAME_VERDICT_DIVERGING], 0);
    assert_true(judge(play).jitter_seconds > 0.02);
    assert_true(play_stats(play, 0).prediction.corrections > 5);
}

static struct cw_game_fault server_fault(const struct play *play)
{
    struct cw_game_server_stats stats;
    cw_game_server_get_stats(play->server, &stats);
    return stats.fault;
}

TEST(a_value_out_of_range_is_told_and_moved_into_it)
{
    struct play *const play = running(play_config());
    assert_int_equal(server_fault(play).count, 0);
    struct play_runner runner = {.x = 1e6f, .speed = 1, .hits = 7};
    assert_int_equal(cw_game_server_set(play->server, 0, PLAY_PLAYER, &runner),
                     CW_ERROR_MESSAGE_VALUE);
    assert_true(unit_same((double)runner.x, (double)PLAY_LEVEL));
    assert_int_equal(server_fault(play).count, 1);
    assert_int_equal(server_fault(play).entity, 0);
    assert_int_equal(server_fault(play).type, PLAY_PLAYER);
    assert_int_equal(server_fault(play).field, 0);
    runner.hits = 1001;
    assert_int_equal(cw_game_server_set(play->server, 3, PLAY_PLAYER, &runner),
                     CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(runner.hits, 1000);
    assert_int_equal(server_fault(play).field, 2);
    assert_memory_equal(cw_game_server_state(play->server, 3, NULL), &runner, sizeof runner);

    /* A value that is no number cannot be mended. */
    struct play_runner broken = {.x = (float)NAN};
    assert_int_equal(cw_game_server_set(play->server, 3, PLAY_PLAYER, &broken),
                     CW_ERROR_MESSAGE_VALUE);
    assert_memory_equal(cw_game_server_state(play->server, 3, NULL), &runner, sizeof runner);
    assert_int_equal(server_fault(play).count, 3);
    assert_int_equal(cw_game_server_set(play->server, 3, 2, &runner), CW_ERROR_MESSAGE_TYPE);
    assert_int_equal(cw_game_server_set(play->server, 16, 1, &runner), CW_ERROR_INVALID_ARGUMENT);
}

/* Plays the turns that are due and puts this value into every input or state. */
static void play_values(struct play *play, float right, float x)
{
    struct cw_game_client *const client = play->players[0].client;
    struct cw_game_turn turn;
    play->now += 0.05;
    cw_game_client_update(client, play_client_clock(play, 0));
    while (cw_game_client_next_turn(client, &turn)) {
        if (turn.type == CW_GAME_TURN_INPUT)
            ((struct play_keys *)turn.input)->right = right;
        else
            ((struct play_runner *)turn.state)->x = x;
        assert_true(turn.type == CW_GAME_TURN_STEP || !turn.state);
    }
}

TEST(a_client_tells_values_out_of_range_too)
{
    struct play *const play = running(play_config());
    play_values(play, 0.5f, 1);
    assert_int_equal(play_stats(play, 0).fault.count, 0);
    play_values(play, 2, 1);
    struct cw_game_fault fault = play_stats(play, 0).fault;
    assert_true(fault.count >= 2 && fault.entity == CW_FIELD_NONE);
    assert_int_equal(fault.type, PLAY_INPUT);
    assert_int_equal(fault.field, 0);
    play_values(play, 0, -1e9f);
    fault = play_stats(play, 0).fault;
    assert_true(fault.entity == 0 && fault.type == PLAY_PLAYER && fault.field == 0);
    assert_int_equal(fault.tick, play_stats(play, 0).tick);
    const uint64_t count = fault.count;
    play_values(play, 0, (float)NAN);
    assert_true(play_stats(play, 0).fault.count > count);
    play_values(play, (float)NAN, 0);
    assert_int_equal(play_stats(play, 0).fault.type, PLAY_INPUT);
}

TEST(each_end_is_one_allocation)
{
    struct play *const play = play_start(&(struct play_config){
        .ticks_per_second = 60, .server_hz = 60, .client_hz = 60, .ticks_per_snapshot = 1});
    struct counted client_memory = {0}, server_memory = {0};
    const float limits[] = {5, 0, 0};
    const float *const group_limits[] = {NULL, limits};
    struct cw_game_config config = play_game(play);
    struct cw_game_client *client;
    struct cw_game_server *server;
    config.max_group = 3;
    config.group_limits = group_limits;
    config.allocator = counted_allocator(&client_memory);
    assert_ok(cw_game_client_create(&config, &client));
    assert_int_equal(client_memory.allocations, 1);
    assert_int_equal(client_memory.size, cw_game_client_memory(&config));
    cw_game_client_destroy(client);
    assert_int_equal(client_memory.releases, 1);
    assert_int_equal(client_memory.released, client_memory.size);
    config.allocator = counted_allocator(&server_memory);
    assert_ok(cw_game_server_create(&config, &server));
    assert_int_equal(server_memory.allocations, 1);
    assert_int_equal(server_memory.size, cw_game_server_memory(&config));
    cw_game_server_destroy(server);
    assert_int_equal(server_memory.released, server_memory.size);
    server_memory.refuse = true;
    assert_int_equal(cw_game_server_create(&config, &server), CW_ERROR_NO_MEMORY);
    assert_int_equal(cw_game_client_create(&config, &client), CW_ERROR_NO_MEMORY);
}

TEST(impossible_configs_are_refused)
{
    struct play *const play = play_start(&(struct play_config){
        .ticks_per_second = 60, .server_hz = 60, .client_hz = 60, .ticks_per_snapshot = 1});
    const float bad_amounts[] = {0, -1, 0};
    const float *const bad_limits[] = {NULL, bad_amounts};
    struct cw_game_config bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = play_game(play);
    bad[0].input_type = 2;
    bad[1].player_type = 2;
    bad[2].smooth_limits = bad_amounts;
    bad[3].tolerances = bad_amounts;
    bad[4].group_limits = bad_limits;
    bad[5].max_group = 257;
    static const char *const fields[] = {"input_type", "player_type",  "smooth_limits",
                                         "tolerances", "group_limits", "max_group"};
    struct cw_game_client *client = NULL;
    struct cw_game_server *server = NULL;
    for (int i = 0; i < 6; i++) {
        assert_error_names(cw_game_client_create(&bad[i], &client), fields[i]);
        assert_error_names(cw_game_server_create(&bad[i], &server), fields[i]);
        assert_int_equal(cw_game_client_memory(&bad[i]), 0);
        assert_int_equal(cw_game_server_memory(&bad[i]), 0);
    }
    assert_true(!client && !server);
}
