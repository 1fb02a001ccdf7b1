/* A game whose players block each other's way, each of whom predicts the others too. */
#include "play_rig.h"

#define SECONDS 60

static struct play_config touching(void)
{
    struct play_config config = play_config();
    config.players = config.max_group = PLAY_MOST;
    config.reach = 4;
    config.changes_per_second = 0.5;
    return config;
}

static uint64_t all_corrections(const struct play *play)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < play->config.players; id++)
        sum += play_stats(play, id).prediction.corrections;
    return sum;
}

/* Returns the corrections in a game. */
static uint64_t play_corrections(struct play_config config)
{
    struct play *const play = play_start(&config);
    play_run(play, 3);
    const uint64_t before = all_corrections(play);
    play_run(play, SECONDS);
    return all_corrections(play) - before;
}

TEST(who_predicts_the_others_is_corrected_much_less)
{
    struct play_config config = touching();
    for (config.seed = 1; config.seed <= 3; config.seed++) {
        const uint64_t with = play_corrections(config);
        config.max_group = 0;
        const uint64_t without = play_corrections(config);
        config.max_group = PLAY_MOST;
        print_message("%u corrections with a group, %u without\n", (unsigned)with,
                      (unsigned)without);
        assert_true(without > 200);
        assert_true(4 * with < without);
    }
}

/* Players who push against each other all the time are predicted exactly. */
TEST(nothing_is_corrected_while_all_hold_their_keys)
{
    struct play_config config = touching();
    config.holds = true;
    struct play *const play = play_start(&config);
    play_run(play, 30);
    const uint64_t before = all_corrections(play);
    play_run(play, 20);
    assert_int_equal(all_corrections(play), before);
    assert_true(fabsf(play->runners[2].x - play->runners[3].x) < config.reach + 0.2f);
}

/* When another one turns round, what was guessed of him meanwhile was wrong. */
TEST(corrections_of_others_are_smoothed)
{
    struct play_config config = touching();
    config.players = 2;
    config.reach = 0;
    struct play *const play = play_start(&config);
    play_run(play, 3);
    play_measure(play);
    play_run(play, 10);
    for (uint32_t id = 0; id < 2; id++) {
        print_message("%f ticks\n", play->players[id].other_jump);
        assert_true(play->players[id].other_jump < 1.5);
        assert_int_equal(play->players[id].shown, play->players[id].frames);
    }
}

/* Takes the turns of player 1 until a tick is played for the first time. Returns its tick. */
static uint32_t play_tick_of_1(struct play *play, uint32_t stepped[PLAY_MOST], uint32_t *count)
{
    struct cw_game_client *const client = play->players[1].client;
    struct cw_game_turn turn;
    uint32_t tick = 0;
    play->now += 1 / 60.0;
    cw_game_client_update(client, play_client_clock(play, 1));
    while (cw_game_client_next_turn(client, &turn)) {
        if (turn.type == CW_GAME_TURN_INPUT)
            continue;
        assert_int_equal(turn.entity_type, PLAY_PLAYER);
        assert_int_equal(turn.input != NULL, turn.entity == 1);
        assert_ptr_equal(cw_game_client_state(client, turn.entity, NULL), turn.state);
        *count = turn.tick == tick ? *count : 0;
        tick = turn.tick;
        stepped[(*count)++] = turn.entity;
    }
    return tick;
}

TEST(each_tick_steps_the_group_by_id)
{
    struct play_config config = touching();
    struct play *const play = play_start(&config);
    struct cw_game_client *const client = play->players[1].client;
    uint32_t stepped[PLAY_MOST], count = 0, type = 9;
    play_run(play, 2);
    const uint32_t tick = play_tick_of_1(play, stepped, &count);
    assert_int_equal(tick, play_stats(play, 1).tick);
    assert_int_equal(count, 4);
    for (uint32_t id = 0; id < 4; id++)
        assert_int_equal(stepped[id], id);

    /* A player who leaves the group is no longer stepped, and is known from the newest snapshot. */
    const uint32_t group[] = {3, 1, 3, 7};
    assert_ok(cw_game_client_set_group(client, group, 4));
    play_tick_of_1(play, stepped, &count);
    assert_int_equal(count, 2);
    assert_int_equal(stepped[1], 3);
    assert_non_null(cw_game_client_state(client, 0, &type));
    assert_int_equal(type, PLAY_PLAYER);
    assert_null(cw_game_client_state(client, 7, &type));
}

TEST(a_group_has_its_limits)
{
    struct play_config config = touching();
    struct play *const play = play_start(&config);
    struct cw_game_client *const client = play->players[0].client;
    const uint32_t far[] = {16}, many[PLAY_MOST + 1] = {0};
    assert_int_equal(cw_game_client_set_group(client, far, 1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_game_client_set_group(client, many, PLAY_MOST + 1),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_ok(cw_game_client_set_group(client, NULL, 0));
}

/* Returns whether a client shows an entity as predicted, or CW_FIELD_NONE when it does not show
   it. */
static uint32_t shows_predicted(const struct play *play, uint32_t id, uint32_t entity)
{
    struct cw_game_client *const client = play->players[id].client;
    struct cw_game_entity shown;
    uint32_t found = CW_FIELD_NONE;
    cw_game_client_view(client, play_client_clock(play, id));
    while (cw_game_client_next_entity(client, &shown))
        if (shown.entity == entity) {
            assert_int_equal(found, CW_FIELD_NONE); /* it is shown once */
            found = shown.predicted;
        }
    return found;
}

TEST(the_group_is_predicted_while_the_own_entity_is)
{
    struct play_config config = touching();
    struct play *const play = play_start(&config);
    play_run(play, 2);
    assert_int_equal(shows_predicted(play, 1, 0), true);
    play->players[1].dead = true;
    cw_game_server_remove(play->server, 1);
    play_run(play, 2);
    assert_int_equal(shows_predicted(play, 1, 0), false);
    play->players[1].dead = false;
    play_run(play, 2);
    assert_int_equal(shows_predicted(play, 1, 0), true);
    play->players[0].dead = true;
    cw_game_server_remove(play->server, 0);
    play_run(play, 2);
    assert_int_equal(shows_predicted(play, 1, 0), CW_FIELD_NONE);
}
