/* Tests of a world that remembers what it was like some changes ago. */
#include "game/snapshot_world.h"

#include "message/schema_quantized.h"

#include "fixture.h"

#include <string.h>

#define PLAYER_FIELDS(FIELD) FIELD(x, CW_COMPRESSED_FLOAT(-10, 10, 0.5f))
#define CRATE_FIELDS(FIELD)  FIELD(x, CW_COMPRESSED_FLOAT(-10, 10, 0.5f))
CW_MESSAGE(player, PLAYER_FIELDS)
CW_MESSAGE(crate, CRATE_FIELDS)

enum { PLAYER, CRATE };
enum { ENTITIES = 5, WINDOW = 4 };

static struct cw_schema *schema;
static struct cw_snapshot_world world;
static uint8_t memory[16384];

static void end_schema(void *made)
{
    cw_schema_destroy(made);
}

BEFORE_EACH_TEST
{
    const struct cw_message_type types[] = {player_type, crate_type};
    const struct cw_schema_config config = {.types = types, .count = 2};
    struct cw_arena measured = {0}, arena = {.base = memory, .size = sizeof memory};
    memset(memory, 0, sizeof memory);
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    own(schema, end_schema);
    cw_snapshot_world_layout(NULL, &measured, schema, ENTITIES, WINDOW);
    cw_snapshot_world_layout(&world, &arena, schema, ENTITIES, WINDOW);
    assert_int_equal(arena.used, measured.used);
}

static enum cw_error set(uint32_t entity, uint32_t type, float x)
{
    return cw_snapshot_world_set(&world, entity, type, &(struct player){.x = x});
}

static float x_after(uint32_t entity, uint32_t change)
{
    struct cw_snapshot_state *const state = cw_snapshot_world_state(&world, entity, change);
    assert_non_null(state);
    struct player player;
    memcpy(&player, cw_snapshot_state_struct(state), sizeof player);
    cw_schema_dequantize(schema, state->type, &player);
    return player.x;
}

TEST(what_stays_within_a_step_is_no_change)
{
    assert_int_equal(set(2, PLAYER, 1), CW_OK);
    const uint32_t first = world.last[2];
    assert_true(cw_change_is_present(first));
    assert_int_equal(cw_snapshot_world_tick(&world, 1), CW_OK);
    assert_int_equal(set(2, PLAYER, 1.1f), CW_OK);
    assert_int_equal(world.last[2], first);
    assert_int_equal(set(2, PLAYER, 1.5f), CW_OK);
    assert_int_equal(cw_change_distance(world.last[2], first), 1);
    assert_true(x_after(2, first) == 1);
    assert_true(x_after(2, world.last[2]) == 1.5f);
}

TEST(an_entity_changes_once_in_a_tick)
{
    assert_int_equal(set(0, PLAYER, 1), CW_OK);
    assert_int_equal(cw_snapshot_world_tick(&world, 1), CW_OK);
    const uint32_t before = world.last[0];
    assert_int_equal(set(0, PLAYER, 2), CW_OK);
    assert_int_equal(set(0, PLAYER, 3), CW_OK);
    assert_int_equal(cw_change_distance(world.last[0], before), 1);
    assert_true(x_after(0, world.last[0]) == 3);
    assert_true(x_after(0, before) == 1);
}

TEST(a_version_keeps_what_each_entity_was)
{
    assert_false(cw_snapshot_world_knows(&world, 0));
    for (uint32_t version = 1; version <= WINDOW + 2; version++) {
        assert_int_equal(set(1, PLAYER, (float)version), CW_OK);
        assert_int_equal(cw_snapshot_world_tick(&world, 10 * version), CW_OK);
        assert_int_equal(world.version, version);
    }
    assert_false(cw_snapshot_world_knows(&world, 2));
    for (uint32_t version = 3; version <= WINDOW + 2; version++) {
        assert_true(cw_snapshot_world_knows(&world, version));
        assert_int_equal(cw_snapshot_world_tick_of(&world, version), 10 * version);
        const uint32_t change = cw_snapshot_world_changes(&world, version)[1];
        assert_true(x_after(1, change) == (float)version);
    }
    assert_int_equal(cw_snapshot_world_tick(&world, 10 * world.version), CW_ERROR_INVALID_ARGUMENT);
    /* Ticks go on where their number wraps. */
    assert_int_equal(cw_snapshot_world_tick(&world, 0x70000000), CW_OK);
    assert_int_equal(cw_snapshot_world_tick(&world, 0xe0000000), CW_OK);
    assert_int_equal(cw_snapshot_world_tick(&world, 0x10000000), CW_OK);
}

TEST(states_are_kept_for_a_window_of_changes)
{
    assert_int_equal(set(1, PLAYER, 0), CW_OK);
    const uint32_t first = world.last[1];
    for (uint32_t tick = 1; tick < WINDOW; tick++) {
        assert_int_equal(cw_snapshot_world_tick(&world, tick), CW_OK);
        assert_int_equal(set(1, PLAYER, (float)tick), CW_OK);
        assert_true(x_after(1, first) == 0);
    }
    assert_int_equal(cw_snapshot_world_tick(&world, WINDOW), CW_OK);
    assert_int_equal(set(1, PLAYER, WINDOW), CW_OK);
    assert_null(cw_snapshot_world_state(&world, 1, first));
}

TEST(another_entity_with_the_id_is_created_anew)
{
    assert_int_equal(set(3, PLAYER, 1), CW_OK);
    const uint32_t first = world.last[3];
    assert_int_equal(cw_snapshot_world_tick(&world, 1), CW_OK);
    assert_int_equal(set(3, PLAYER, 2), CW_OK);
    assert_int_equal(cw_snapshot_world_state(&world, 3, world.last[3])->created, first);

    assert_int_equal(cw_snapshot_world_tick(&world, 2), CW_OK);
    assert_int_equal(set(3, CRATE, 2), CW_OK);
    assert_int_equal(cw_snapshot_world_state(&world, 3, world.last[3])->created, world.last[3]);
    assert_int_equal(world.alive, 1);

    assert_int_equal(cw_snapshot_world_tick(&world, 3), CW_OK);
    assert_true(cw_snapshot_world_remove(&world, 3));
    assert_false(cw_snapshot_world_remove(&world, 3));
    assert_false(cw_change_is_present(world.last[3]));
    assert_int_equal(world.alive, 0);
    assert_int_equal(cw_snapshot_world_tick(&world, 4), CW_OK);
    assert_int_equal(set(3, CRATE, 2), CW_OK);
    assert_int_equal(cw_snapshot_world_state(&world, 3, world.last[3])->created, world.last[3]);
    assert_int_equal(cw_change_distance(world.last[3], first), 4);
}

TEST(what_cannot_be_set_changes_nothing)
{
    assert_int_equal(set(ENTITIES, PLAYER, 1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(set(0, CRATE + 1, 1), CW_ERROR_MESSAGE_TYPE);
    assert_int_equal(set(0, PLAYER, 11), CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(cw_snapshot_world_set(&world, 0, PLAYER, NULL), CW_ERROR_INVALID_ARGUMENT);
    assert_false(cw_snapshot_world_remove(&world, ENTITIES));
    assert_int_equal(world.alive, 0);
    assert_int_equal(world.used, 0);
    assert_int_equal(world.last[0], 0);
}

TEST(reset_makes_it_empty)
{
    assert_int_equal(set(4, PLAYER, 1), CW_OK);
    assert_int_equal(cw_snapshot_world_tick(&world, 7), CW_OK);
    assert_int_equal(world.used, 5);
    cw_snapshot_world_reset(&world);
    assert_int_equal(world.alive, 0);
    assert_int_equal(world.used, 0);
    assert_int_equal(world.last[4], 0);
    assert_false(cw_snapshot_world_knows(&world, 1));
    assert_int_equal(cw_snapshot_world_tick(&world, 1), CW_OK);
    assert_int_equal(cw_snapshot_world_changes(&world, 1)[4], 0);
}
