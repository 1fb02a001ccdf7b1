#include "game/snapshot_world.h"

#include "game/snapshot_internal.h"
#include "message/schema_delta.h"
#include "message/schema_plain.h"
#include "message/schema_quantized.h"

#include <string.h>

void cw_snapshot_world_layout(struct cw_snapshot_world *world, struct cw_arena *arena,
                              const struct cw_schema *schema, uint32_t max_entities,
                              uint32_t window)
{
    const uint64_t entities = max_entities;
    const size_t size = sizeof(uint32_t);
    const size_t stride =
        sizeof(struct cw_snapshot_state) + (cw_schema_message_size(schema) + 7) / 8 * 8;
    struct cw_snapshot_world parts = {
        .schema = schema,
        .quantized = cw_schema_quantized(schema, arena),
        .max_entities = max_entities,
        .window = window,
        .stride = stride,
    };

    parts.plain = cw_snapshot_take(arena, cw_schema_count(schema), sizeof *parts.plain);
    for (uint32_t i = 0; parts.plain && i < cw_schema_count(schema); ++i)
        parts.plain[i] = cw_schema_is_plain(&schema->types[i].steps);
    parts.last = cw_snapshot_take(arena, entities, size);
    parts.changed = cw_snapshot_take(arena, entities, size);
    parts.states = cw_snapshot_take(arena, entities * window, stride);
    parts.scratch = cw_arena_take(arena, stride);
    parts.versions = cw_snapshot_take(arena, entities * window, size);
    parts.ticks = cw_snapshot_take(arena, window, size);
    if (world)
        *world = parts;
}

void cw_snapshot_world_reset(struct cw_snapshot_world *world)
{
    const size_t size = world->max_entities * sizeof(uint32_t);
    world->version = 0;
    world->used = 0;
    world->alive = 0;

    memset(world->last, 0, size);
    memset(world->changed, 0, size);
    memset(world->versions, 0, size * world->window);
}

/* Changes an entity. In the version that is being set this counts once, however often it is set. */
static void change(struct cw_snapshot_world *world, uint32_t entity, bool present)
{
    uint32_t last = world->last[entity] / CW_CHANGE_STEP * CW_CHANGE_STEP;
    if (world->changed[entity] != world->version + 1) {
        world->changed[entity] = world->version + 1;
        last += CW_CHANGE_STEP;
    }
    world->last[entity] = present ? last | CW_CHANGE_PRESENT : last;
}

/* Returns whether the fields of a plain struct are in range. */
static bool in_range(const struct cw_schema_steps *steps, const uint8_t *state)
{
    bool in = true;
    for (const struct cw_schema_step *step = steps->at; step < steps->at + steps->count; ++step)
        in &= step->code == CW_CODE_PLAIN_BOOL ||
              cw_schema_load_integer(step, state + step->value) <= step->range;
    return in;
}

/* Returns whether an entity's state is the same as another one that is quantized. */
static bool is_same(const struct cw_snapshot_world *world, uint32_t type,
                    struct cw_snapshot_state *state, const uint8_t *quantized)
{
    const uint8_t *const old = cw_snapshot_state_struct(state);
    const struct cw_schema_steps *const steps = &world->quantized->types[type].steps;
    if (!world->plain[type])
        return cw_schema_equal(world->quantized, type, old, quantized);
    for (uint32_t i = 0; i < steps->count; ++i)
        if (!cw_schema_is_plain_same(&steps->at[i], old, quantized))
            return false;
    return true;
}

enum cw_error cw_snapshot_world_set(struct cw_snapshot_world *world, uint32_t entity, uint32_t type,
                                    const void *state)
{
    if (entity >= world->max_entities ||
        (!state && type < world->schema->count && world->schema->types[type].public.size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (!cw_schema_comparable(world->schema, type))
        return CW_ERROR_MESSAGE_TYPE;
    const struct cw_compiled_type *const of = &world->schema->types[type];
    const size_t size = of->public.size;
    const uint8_t *quantized = state;
    if (!world->plain[type]) {
        if (cw_schema_check(world->schema, type, state) != CW_FIELD_NONE)
            return CW_ERROR_MESSAGE_VALUE;
        if (size > 0)
            memcpy(world->scratch, state, size);
        cw_schema_quantize(world->schema, type, world->scratch);
        quantized = world->scratch;
    } else if (!in_range(&of->steps, state)) {
        return CW_ERROR_MESSAGE_VALUE;
    }
    const bool was = cw_change_is_present(world->last[entity]);
    struct cw_snapshot_state *now = cw_snapshot_world_state(world, entity, world->last[entity]);
    const bool same = was && now->type == type;
    const uint32_t created = now->created;
    if (same && is_same(world, type, now, quantized))
        return CW_OK;
    change(world, entity, true);
    now = cw_snapshot_world_state(world, entity, world->last[entity]);
    now->type = type;
    now->created = same ? created : world->last[entity];
    if (size > 0)
        memcpy(cw_snapshot_state_struct(now), quantized, size);
    world->alive += !was;
    if (world->used <= entity)
        world->used = entity + 1;
    return CW_OK;
}

bool cw_snapshot_world_remove(struct cw_snapshot_world *world, uint32_t entity)
{
    if (entity >= world->max_entities || !cw_change_is_present(world->last[entity]))
        return false;
    change(world, entity, false);
    --world->alive;
    return true;
}

enum cw_error cw_snapshot_world_tick(struct cw_snapshot_world *world, uint32_t tick)
{
    if (world->version > 0 &&
        (int32_t)(tick - cw_snapshot_world_tick_of(world, world->version)) <= 0)
        return CW_ERROR_INVALID_ARGUMENT;
    const uint32_t slot = ++world->version % world->window;
    world->ticks[slot] = tick;
    memcpy(world->versions + (size_t)slot * world->max_entities, world->last,
           world->used * sizeof *world->last);
    return CW_OK;
}
