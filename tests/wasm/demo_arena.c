/* The rules of the demo's game: whatever players do, everything stays within the ranges of the
   schema. */
#include "arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t seed;

static int32_t random_within(int32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (int32_t)(seed >> 8) % (2 * most + 1) - most;
}

static void expect_inside(const struct arena *arena)
{
    for (uint32_t i = 0; i < BODIES; i++) {
        assert_in_range(arena->bodies[i].at.x, BODY_RADIUS, ARENA_WIDTH - BODY_RADIUS);
        assert_in_range(arena->bodies[i].at.y, BODY_RADIUS, ARENA_HEIGHT - BODY_RADIUS);
    }
    for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
        const struct player *const player = &arena->players[i];
        if (!arena->here[i])
            continue;
        assert_in_range(player->at.x, PLAYER_RADIUS, ARENA_WIDTH - PLAYER_RADIUS);
        assert_in_range(player->at.y, PLAYER_RADIUS, ARENA_HEIGHT - PLAYER_RADIUS);
        assert_in_range(player->speed.x + SPEED_LIMIT, 0, 2 * SPEED_LIMIT);
        assert_in_range(player->speed.y + SPEED_LIMIT, 0, 2 * SPEED_LIMIT);
    }
}

static void a_body_between_a_player_and_the_wall_stays_inside(void **state)
{
    (void)state;
    static struct arena arena;
    arena_init(&arena);
    arena_join(&arena, 0);
    arena.players[0].at.x = arena.players[0].at.y = PLAYER_RADIUS;
    arena.bodies[0].at = (struct place){BODY_RADIUS, BODY_RADIUS};
    arena_step(&arena);
    expect_inside(&arena);
    assert_int_equal(arena.bodies[0].owner, 1);
}

static void a_round_is_won_by_who_has_most_bodies_and_the_next_begins_without_owners(void **state)
{
    (void)state;
    static struct arena arena;
    arena_init(&arena);
    arena_join(&arena, 4);
    arena_join(&arena, 9);
    for (uint32_t i = 1; i < ROUND_TICKS; i++)
        arena_step(&arena);
    assert_int_equal(arena.round.winner, 0);
    assert_int_equal(arena.round.ends, ROUND_TICKS);
    for (uint32_t i = 0; i < 30; i++)
        arena.bodies[i].owner = i < 10 ? 5 : 10;
    arena.players[4].at.x = arena.players[4].at.y = PLAYER_RADIUS;
    uint32_t scores[MAX_PLAYERS];
    arena_scores(&arena, scores);
    arena_step(&arena);
    assert_int_equal(arena.round.winner, 10);
    assert_int_equal(arena.round.bodies, scores[9]);
    assert_int_equal(arena.round.ends, 2 * ROUND_TICKS);
    arena_scores(&arena, scores);
    assert_int_equal(scores[9], 0);
    assert_true(arena.here[9]);
    /* Nobody wins a round in which nobody has a body. */
    arena_leave(&arena, 4);
    arena_leave(&arena, 9);
    for (uint32_t i = 0; i < ROUND_TICKS; i++)
        arena_step(&arena);
    assert_int_equal(arena.round.winner, 0);
    assert_int_equal(arena.round.ends, 3 * ROUND_TICKS);
}

static void shoot(struct arena *arena, uint32_t number)
{
    struct targets targets = {0};
    struct place end;
    for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
        targets.here[i] = arena->here[i];
        targets.players[i] =
            (struct place){(int32_t)arena->players[i].at.x, (int32_t)arena->players[i].at.y};
    }
    for (uint32_t i = 0; i < BODIES; i++)
        targets.bodies[i] = arena->bodies[i].at;
    arena_hit(arena, number, arena_aim(&arena->players[number], number, &targets, &end));
    assert_in_range(end.x, 0, ARENA_WIDTH);
    assert_in_range(end.y, 0, ARENA_HEIGHT);
}

/* Random inputs cover all that the schema lets a client ask for, aiming nowhere included. */
static void random_players_keep_everything_inside(void **state)
{
    (void)state;
    static struct arena arena;
    arena_init(&arena);
    seed = 1;
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        arena_join(&arena, i);
    struct command commands[MAX_PLAYERS] = {0};
    for (int tick = 0; tick < 2000; tick++) {
        for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
            if (random_within(20) == 0)
                commands[i] =
                    (struct command){.move = {random_within(127), random_within(127)},
                                     .aim = {random_within(2) * 63, random_within(2) * 63},
                                     .fire = true};
            if (arena_step_player(&arena.players[i], &commands[i]))
                shoot(&arena, i);
        }
        arena_step(&arena);
        expect_inside(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_between_a_player_and_the_wall_stays_inside),
        cmocka_unit_test(random_players_keep_everything_inside),
        cmocka_unit_test(a_round_is_won_by_who_has_most_bodies_and_the_next_begins_without_owners),
    };
    return cmocka_run_group_tests_name("demo_arena", tests, NULL, NULL);
}
