#include "lab/cubes_wire.h"

#include <math.h>
#include <string.h>

/* These numbers are the article's. */
#define STEPS_PER_METRE 512  /* the steps of a quantized position */
#define VELOCITY_STEPS  32   /* steps in a metre per second */
#define VELOCITY_BOUND  1023 /* the most steps: 32 metres per second */
#define ORIENTATION_MAX 511  /* the most steps of the smallest three */

#define INDEX_BITS 10 /* bits of a cube's number */
#define HALF_ROOT  0.70710678f

void cw_lab_cubes_state_of(const struct cw_lab_cubes_body *body, struct cw_lab_cubes_state *state)
{
    for (int i = 0; i < 3; i++) {
        state->position[i] = (float)body->position[i];
        state->velocity[i] = (float)body->velocity[i];
    }
    for (int i = 0; i < 4; i++)
        state->orientation[i] = (float)body->orientation[i];
    cw_lab_cubes_quantize(body, &state->quantized);
    state->at_rest = body->asleep;
}

static void restore_orientation(struct cw_lab_cubes_state *state)
{
    const struct cw_lab_cube *const cube = &state->quantized;
    const uint32_t parts[] = {cube->a, cube->b, cube->c};
    float rest = 1;
    for (uint32_t i = 0, next = 0; i < 4; i++) {
        if (i == cube->largest)
            continue;
        const float part = ((float)parts[next++] / ORIENTATION_MAX * 2 - 1) * HALF_ROOT;
        state->orientation[i] = part;
        rest -= part * part;
    }
    state->orientation[cube->largest] = rest > 0 ? sqrtf(rest) : 0;
}

void cw_lab_cubes_restore(struct cw_lab_cubes_state *state)
{
    state->position[0] = (float)state->quantized.x / STEPS_PER_METRE;
    state->position[1] = (float)state->quantized.y / STEPS_PER_METRE;
    state->position[2] = (float)state->quantized.z / STEPS_PER_METRE;
    restore_orientation(state);
}

bool cw_lab_cubes_serialize_part(struct cw_stream *stream, struct cw_lab_cubes_part *part)
{
    return cw_stream_bool(stream, &part->has_baseline) &&
           cw_stream_uint(stream, &part->ago, 0, 127) && part->ago < CW_LAB_CUBES_KEPT &&
           cw_stream_bits(stream, &part->first, INDEX_BITS) &&
           cw_stream_bits(stream, &part->count, INDEX_BITS) &&
           part->first + part->count <= CW_LAB_CUBES_COUNT;
}

static bool floats(struct cw_stream *stream, float *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!cw_stream_float(stream, &values[i]) || !isfinite(values[i]))
            return false;
    return true;
}

static bool smallest_three(struct cw_stream *stream, struct cw_lab_cube *cube)
{
    return cw_stream_uint(stream, &cube->largest, 0, 3) &&
           cw_stream_uint(stream, &cube->a, 0, ORIENTATION_MAX) &&
           cw_stream_uint(stream, &cube->b, 0, ORIENTATION_MAX) &&
           cw_stream_uint(stream, &cube->c, 0, ORIENTATION_MAX);
}

static bool quantized_velocity(struct cw_stream *stream, float *velocity)
{
    for (int i = 0; i < 3; i++) {
        float steps = roundf(velocity[i] * VELOCITY_STEPS);
        steps = steps > VELOCITY_BOUND ? VELOCITY_BOUND : steps;
        int32_t whole = (int32_t)(steps < -VELOCITY_BOUND - 1 ? -VELOCITY_BOUND - 1 : steps);
        if (!cw_stream_int(stream, &whole, -VELOCITY_BOUND - 1, VELOCITY_BOUND))
            return false;
        velocity[i] = (float)whole / VELOCITY_STEPS;
    }
    return true;
}

static bool bounded(struct cw_stream *stream, struct cw_lab_cube *cube)
{
    return cw_stream_int(stream, &cube->x, -131072, 131071) &&
           cw_stream_int(stream, &cube->y, -131072, 131071) &&
           cw_stream_uint(stream, &cube->z, 0, 16383) && smallest_three(stream, cube);
}

static bool same(const struct cw_lab_cube *a, const struct cw_lab_cube *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->largest == b->largest &&
           a->a == b->a && a->b == b->b && a->c == b->c && a->touched == b->touched;
}

static bool changed(struct cw_stream *stream, struct cw_lab_cube *cube,
                    const struct cw_lab_cube *baseline)
{
    bool differs = !baseline || !same(cube, baseline);
    if (baseline && !cw_stream_bool(stream, &differs))
        return false;
    if (!differs)
        *cube = *baseline;
    return !differs || (bounded(stream, cube) && cw_stream_bool(stream, &cube->touched));
}

/* The codings that have positions in floats. */
static bool cube_with_floats(struct cw_stream *stream, enum cw_lab_cubes_coding coding,
                             struct cw_lab_cubes_state *state)
{
    if (!floats(stream, state->position, 3))
        return false;
    if (coding == CW_LAB_CUBES_FLOATS)
        return floats(stream, state->velocity, 3) && floats(stream, state->orientation, 4);
    if (coding == CW_LAB_CUBES_SMALLEST_THREE && !floats(stream, state->velocity, 3))
        return false;
    if (coding == CW_LAB_CUBES_AT_REST &&
        !(cw_stream_bool(stream, &state->at_rest) &&
          (state->at_rest || quantized_velocity(stream, state->velocity))))
        return false;
    return smallest_three(stream, &state->quantized);
}

bool cw_lab_cubes_serialize_cube(struct cw_stream *stream, enum cw_lab_cubes_coding coding,
                                 struct cw_lab_cubes_state *state,
                                 const struct cw_lab_cube *baseline)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    if (coding >= CW_LAB_CUBES_BOUNDED) {
        const bool done = coding == CW_LAB_CUBES_CHANGED
                              ? changed(stream, &state->quantized, baseline)
                              : bounded(stream, &state->quantized) &&
                                    cw_stream_bool(stream, &state->quantized.touched);
        if (done && reading)
            cw_lab_cubes_restore(state);
        return done;
    }
    if (!cube_with_floats(stream, coding, state) ||
        !cw_stream_bool(stream, &state->quantized.touched))
        return false;
    if (reading && coding != CW_LAB_CUBES_FLOATS)
        restore_orientation(state);
    return true;
}

struct cw_snapshot_config cw_lab_cubes_snapshots(const struct cw_schema *schema,
                                                 enum cw_lab_cubes_coding coding,
                                                 const struct cw_allocator *allocator)
{
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.allocator = *allocator;
    config.max_entities = CW_LAB_CUBES_COUNT;
    config.max_clients = CW_LAB_CUBES_VIEWS;
    config.max_bytes = CW_LAB_CUBES_MAX_BODY;
    config.window = CW_LAB_CUBES_KEPT;
    config.coding = (enum cw_snapshot_coding)(coding - CW_LAB_CUBES_DIFFERENCES);
    return config;
}
