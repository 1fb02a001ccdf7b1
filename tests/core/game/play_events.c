/* A client that predicts an event plays it at once and once, and the server confirms it or takes it
   back. */
#include "play_rig.h"

static struct play_config shooting(void)
{
    struct play_config config = play_config();
    config.shots_per_second = 3;
    return config;
}

/* Plays for so long, and then until all shots are told. */
static struct play *played(struct play_config config, double seconds)
{
    struct play *const play = play_start(&config);
    play_run(play, seconds);
    play->config.shots_per_second = 0;
    play_change(play, &(struct cw_simulator_path){.latency_seconds = 0.05});
    play_run(play, 2);
    return play;
}

TEST(each_shot_is_heard_once)
{
    struct play *const play = played(shooting(), 20);
    for (uint32_t id = 0; id < 2; id++) {
        const struct play_player *const player = &play->players[id];
        assert_true(player->shots > 30);
        assert_int_equal(player->own_events[CW_GAME_EVENT_HAPPENED], player->shots);
        assert_int_equal(player->own_events[CW_GAME_EVENT_CONFIRMED], player->shots);
        assert_int_equal(player->own_events[CW_GAME_EVENT_TAKEN_BACK], 0);
        assert_int_equal(player->other_events[CW_GAME_EVENT_HAPPENED], play->players[1 - id].shots);
    }
}

TEST(a_shot_is_heard_before_the_server_has_it)
{
    struct play_config config = shooting();
    config.path.latency_seconds = 0.2;
    struct play *const play = play_start(&config);
    while (play->players[0].shots == 0)
        play_run(play, 1 / 60.0);
    assert_int_equal(play->players[0].own_events[CW_GAME_EVENT_HAPPENED], 1);
    assert_int_equal(play->players[0].own_events[CW_GAME_EVENT_CONFIRMED], 0);
}

TEST(what_the_server_does_not_tell_is_taken_back)
{
    struct play_config config = shooting();
    config.duds = true;
    struct play *const play = played(config, 10);
    const struct play_player *const player = &play->players[0];
    assert_int_equal(player->own_events[CW_GAME_EVENT_HAPPENED], player->shots);
    assert_int_equal(player->own_events[CW_GAME_EVENT_TAKEN_BACK], player->shots);
    assert_int_equal(player->other_events[CW_GAME_EVENT_HAPPENED], 0);
    assert_int_equal(play_stats(play, 0).prediction.corrections, 0);
}

/* Ticks are played again, and the server plays some without their input: the rig sees that nothing
   is heard twice. */
TEST(a_bad_path_repeats_and_loses_nothing)
{
    struct play_config config = shooting();
    config.players = config.max_group = PLAY_MOST;
    config.reach = 4;
    config.path = (struct cw_simulator_path){
        .latency_seconds = 0.05, .jitter_seconds = 0.1, .loss = 0.4, .duplicate = 0.1};
    struct play *const play = played(config, 30);
    uint32_t taken_back = 0;
    for (uint32_t id = 0; id < PLAY_MOST; id++) {
        const struct play_player *const player = &play->players[id];
        const uint32_t *const own = player->own_events;
        assert_true(own[CW_GAME_EVENT_CONFIRMED] > 60);
        assert_true(own[CW_GAME_EVENT_CONFIRMED] + own[CW_GAME_EVENT_TAKEN_BACK] <=
                    own[CW_GAME_EVENT_HAPPENED]);
        /* All players hear the same shots of this one; its own predictions come to that. */
        for (uint32_t other = 0; other < PLAY_MOST; other++)
            for (uint32_t tick = 0; tick < 4096 && other != id; tick++)
                assert_true(!play->players[other].heard[id][tick] || player->heard[id][tick]);
        taken_back += own[CW_GAME_EVENT_TAKEN_BACK];
    }
    print_message("%u were taken back\n", taken_back);
    assert_true(taken_back > 0);
}

TEST(nothing_happens_outside_a_step)
{
    struct play_config config = play_config();
    struct play *const play = play_start(&config);
    struct cw_game_event event;
    play_run(play, 2);
    cw_game_client_emit(play->players[0].client, 1);
    cw_game_server_emit(play->server, 0, 1);
    cw_game_server_emit(play->server, 16, 1);
    play_run(play, 0.5);
    assert_false(cw_game_client_next_event(play->players[0].client, &event));
}
