#include "causeway/prediction.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "game/smoothing.h"
#include "message/schema_delta.h"

#include <math.h>
#include <string.h>

/* The most bytes of inputs and states together: 32 bits can still add them up. */
#define MAX_BYTES (1u << 30)

enum replay {
    REPLAY_NONE,
    REPLAY_TAKE,   /* the result is the new state */
    REPLAY_COMPARE /* the result has to be the same as before */
};

struct cw_prediction {
    struct cw_prediction_config config; /* tolerances are this object's own */
    size_t memory;
    struct cw_smoothing smoothing; /* the numbers of the state */
    double *errors;
    size_t input_size, state_size, input_stride, state_stride;

    /* The ticks from newest - count + 1 on. Tick t has place t % max_ticks, which counts on when
       the ticks wrap. A server's state that was not predicted has no input. */
    uint32_t count, newest, newest_place;
    uint8_t *inputs;
    uint8_t *states;
    bool compared; /* there is a newest tick of the server */
    uint32_t compared_tick;

    enum replay replay;
    uint32_t replay_start; /* the tick whose state is right */
    uint32_t replay_tick;  /* the tick that was given last */
    bool again;            /* the state from which it started was right before, too */
    uint8_t *shown;        /* the newest state before the correction */
    uint8_t *scratch;

    bool smoothed;
    double smoothed_at;
    struct cw_prediction_stats stats;
};

struct cw_prediction_config cw_prediction_config_default(const struct cw_schema *schema)
{
    return (struct cw_prediction_config){
        .schema = schema, .state_type = 1, .max_ticks = 128, .smooth_seconds = 0.1};
}

static bool check_amounts(const struct cw_message_type *type, const float *amounts)
{
    for (uint32_t i = 0; amounts && i < type->field_count; i++)
        if (!(amounts[i] >= 0 && amounts[i] < (float)INFINITY))
            return false;
    return true;
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "must not be NULL")                                                              \
    OTHER(input_type, "must be a type of the schema")                                              \
    OTHER(state_type, "must be a type of the schema that has a table of fields")                   \
    OTHER(max_ticks, "must be from 2 to 4096, and all inputs and states together may have at "     \
                     "most 2^30 bytes")                                                            \
    OTHER(tolerances, "must be finite and not negative")                                           \
    OTHER(smooth_limits, "must be finite and not negative")                                        \
    RANGE(__VA_ARGS__, ABOVE, smooth_seconds, 0, 60)
CW_CONFIG_FIELDS(cw_prediction_config, 0x1440, FIELDS, cw_prediction_config_errors)

static enum cw_error check_config(const struct cw_prediction_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!config->schema)
        return CW_FIELD_ERROR(schema);
    const struct cw_message_type *const input = cw_schema_type(config->schema, config->input_type);
    if (!input)
        return CW_FIELD_ERROR(input_type);
    const struct cw_message_type *const state = cw_schema_type(config->schema, config->state_type);
    if (!state || state->field_count == 0 ||
        !cw_schema_comparable(config->schema, config->state_type))
        return CW_FIELD_ERROR(state_type);
    if (config->max_ticks < 2 || config->max_ticks > 4096 ||
        (uint64_t)config->max_ticks * ((uint64_t)input->size + state->size) > MAX_BYTES)
        return CW_FIELD_ERROR(max_ticks);
    if (!check_amounts(state, config->tolerances))
        return CW_FIELD_ERROR(tolerances);
    if (!check_amounts(state, config->smooth_limits))
        return CW_FIELD_ERROR(smooth_limits);
    return CW_CHECK_FIELDS(config);
}

static size_t round_up(size_t size)
{
    return (size + 15) / 16 * 16;
}

static struct cw_prediction *lay_out(struct cw_arena *arena,
                                     const struct cw_prediction_config *config)
{
    const struct cw_message_type *const input = cw_schema_type(config->schema, config->input_type);
    const struct cw_message_type *const state = cw_schema_type(config->schema, config->state_type);
    struct cw_prediction made = {.config = *config,
                                 .memory = arena->size,
                                 .input_size = input->size,
                                 .state_size = state->size,
                                 .input_stride = round_up(input->size),
                                 .state_stride = round_up(state->size)};
    struct cw_prediction *const p = cw_arena_take(arena, sizeof *p);
    struct cw_schema_numbers numbers = {0};
    cw_schema_list_numbers(config->schema, config->state_type, &numbers);
    cw_smoothing_layout(p ? &made.smoothing : NULL, arena, config->schema, config->state_type,
                        config->smooth_limits);
    made.errors = cw_arena_take(arena, numbers.count * sizeof *made.errors);
    made.inputs = cw_arena_take(arena, config->max_ticks * made.input_stride);
    made.states = cw_arena_take(arena, config->max_ticks * made.state_stride);
    made.shown = cw_arena_take(arena, made.state_stride);
    made.scratch = cw_arena_take(arena, made.state_stride);
    made.config.tolerances = cw_smoothing_amounts(arena, state, config->tolerances);
    if (p)
        *p = made;
    return p;
}

size_t cw_prediction_memory(const struct cw_prediction_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_prediction_create(const struct cw_prediction_config *config,
                                   struct cw_prediction **prediction)
{
    const enum cw_error error = prediction ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_prediction_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_prediction *const p = lay_out(&arena, config);
    cw_prediction_reset(p);
    *prediction = p;
    return CW_OK;
}

void cw_prediction_destroy(struct cw_prediction *prediction)
{
    if (!prediction)
        return;
    const struct cw_allocator allocator = prediction->config.allocator;
    cw_release(&allocator, prediction, prediction->memory);
}

static void forget_errors(struct cw_prediction *p)
{
    memset(p->errors, 0, p->smoothing.numbers.count * sizeof *p->errors);
}

void cw_prediction_reset(struct cw_prediction *prediction)
{
    if (!prediction)
        return;
    prediction->count = 0;
    prediction->compared = false;
    prediction->replay = REPLAY_NONE;
    prediction->smoothed = false;
    prediction->stats =
        (struct cw_prediction_stats){.error_field = CW_FIELD_NONE, .wrong_field = CW_FIELD_NONE};
    forget_errors(prediction);
}

/* Returns the place of a tick that is kept. */
static size_t place_of(const struct cw_prediction *p, uint32_t tick)
{
    return (p->newest_place + p->config.max_ticks - (p->newest - tick)) % p->config.max_ticks;
}

static uint8_t *state_of(const struct cw_prediction *p, uint32_t tick)
{
    return p->states + place_of(p, tick) * p->state_stride;
}

static uint8_t *input_of(const struct cw_prediction *p, uint32_t tick)
{
    return p->inputs + place_of(p, tick) * p->input_stride;
}

/* Makes place for the next tick; any other tick begins anew. */
static void advance(struct cw_prediction *p, uint32_t tick)
{
    if (p->count == 0 || tick != p->newest + 1)
        p->count = 0;
    p->newest = tick;
    p->newest_place = (p->newest_place + 1) % p->config.max_ticks;
    p->count += p->count < p->config.max_ticks;
}

/* Starts with the state of a tick that is kept. */
static void begin_replay(struct cw_prediction *p, enum replay replay, uint32_t tick)
{
    p->replay = replay;
    p->replay_start = p->replay_tick = tick;
    p->again = false;
}

enum cw_error cw_prediction_add(struct cw_prediction *prediction, uint32_t tick, const void *input,
                                const void *state)
{
    struct cw_prediction *const p = prediction;
    if (!p || !input || !state)
        return CW_ERROR_INVALID_ARGUMENT;
    advance(p, tick);
    memcpy(input_of(p, tick), input, p->input_size);
    memcpy(state_of(p, tick), state, p->state_size);
    p->replay = REPLAY_NONE;
    if (p->config.stress && p->count > 1)
        begin_replay(p, REPLAY_COMPARE, tick - 1);
    return CW_OK;
}

/* Returns whether the server's state is the predicted one. Leaves it in scratch, with its numbers
   moved within their tolerance. */
static bool agrees(struct cw_prediction *p, const uint8_t *predicted, const void *state)
{
    const struct cw_prediction_config *const config = &p->config;
    memcpy(p->scratch, state, p->state_size);
    for (uint32_t i = 0; i < p->smoothing.numbers.count; i++) {
        const struct cw_schema_number *const number = &p->smoothing.numbers.numbers[i];
        const double tolerance = (double)config->tolerances[number->field];
        if (tolerance > 0 &&
            fabs(cw_smoothing_difference(&p->smoothing, number, predicted, state)) <= tolerance)
            cw_schema_set_number(number, p->scratch, cw_schema_get_number(number, predicted));
    }
    return cw_schema_equal(config->schema, config->state_type, p->scratch, predicted);
}

static void note_error(struct cw_prediction *p, const uint8_t *predicted, const void *state)
{
    p->stats.corrections++;
    p->stats.error = 0;
    p->stats.error_field = CW_FIELD_NONE;
    for (uint32_t i = 0; i < p->smoothing.numbers.count; i++) {
        const struct cw_schema_number *const number = &p->smoothing.numbers.numbers[i];
        const double error = fabs(cw_smoothing_difference(&p->smoothing, number, predicted, state));
        if (error > p->stats.error) {
            p->stats.error = error;
            p->stats.error_field = number->field;
        }
    }
    p->stats.max_error = fmax(p->stats.max_error, p->stats.error);
}

static void note_depth(struct cw_prediction *p)
{
    p->stats.depth = p->newest - p->replay_start;
    if (p->stats.depth > p->stats.max_depth)
        p->stats.max_depth = p->stats.depth;
}

/* Notes that playing again has changed the newest state. */
static void note_change(struct cw_prediction *p, const void *state)
{
    p->stats.wrong_tick = p->newest;
    p->stats.wrong_field =
        cw_schema_differing_field(p->config.schema, p->config.state_type, p->shown, state);
    note_error(p, p->shown, state);
    note_depth(p);
}

/* Starts from a state that was not predicted: the game goes on from there. */
static void start_from(struct cw_prediction *p, uint32_t tick, const void *state)
{
    p->count = 0;
    advance(p, tick);
    memcpy(state_of(p, tick), state, p->state_size);
    memcpy(p->shown, state, p->state_size);
    forget_errors(p);
    begin_replay(p, REPLAY_TAKE, tick);
}

bool cw_prediction_correct(struct cw_prediction *prediction, uint32_t tick, const void *state)
{
    struct cw_prediction *const p = prediction;
    if (!p || !state)
        return false;
    const bool newer = p->count == 0 || (int32_t)(tick - p->newest) > 0;
    const bool repeated = p->compared && (int32_t)(tick - p->compared_tick) <= 0;
    if (repeated || (!newer && p->newest - tick >= p->count)) {
        p->stats.stale++;
        return false;
    }
    p->compared = true;
    p->compared_tick = tick;
    if (newer) {
        start_from(p, tick, state);
        return true;
    }
    uint8_t *const predicted = state_of(p, tick);
    p->stats.compared++;
    /* After a correction that was not replayed yet, the predicted states are out of date. */
    if (agrees(p, predicted, state) && (p->replay != REPLAY_TAKE || p->again))
        return false;
    p->stats.wrong_tick = tick;
    p->stats.wrong_field =
        cw_schema_differing_field(p->config.schema, p->config.state_type, p->scratch, predicted);
    memcpy(p->shown, state_of(p, p->newest), p->state_size);
    note_error(p, predicted, state);
    memcpy(predicted, state, p->state_size);
    begin_replay(p, REPLAY_TAKE, tick);
    note_depth(p);
    return true;
}

bool cw_prediction_again(struct cw_prediction *prediction)
{
    struct cw_prediction *const p = prediction;
    if (!p || !p->compared || p->count == 0 || p->newest - p->compared_tick >= p->count)
        return false;
    if (p->replay == REPLAY_TAKE && !p->again)
        return true;
    memcpy(p->shown, state_of(p, p->newest), p->state_size);
    begin_replay(p, REPLAY_TAKE, p->compared_tick);
    p->again = true;
    return true;
}

static bool same_state(const struct cw_prediction *p, const void *a, const void *b)
{
    for (uint32_t i = 0; i < p->smoothing.numbers.count; i++)
        if (fabs(cw_smoothing_difference(&p->smoothing, &p->smoothing.numbers.numbers[i], a, b)) >
            0)
            return false;
    return cw_schema_equal(p->config.schema, p->config.state_type, a, b);
}

/* Takes the state to which the tick that was given last has led. */
static void take_result(struct cw_prediction *p, void *state)
{
    uint8_t *const known = state_of(p, p->replay_tick);
    if (p->replay == REPLAY_TAKE) {
        memcpy(known, state, p->state_size);
        p->stats.replayed++;
    } else if (!same_state(p, known, state)) {
        p->stats.desyncs++;
        p->stats.desync_tick = p->replay_tick;
        memcpy(state, known, p->state_size);
    }
}

/* Ends a pass of a replay. Under stress, a replay whose result is taken is played once more.
   Returns true when there is more to play. */
static bool end_pass(struct cw_prediction *p, const void *state)
{
    const bool again = p->replay == REPLAY_TAKE && p->config.stress && p->replay_start != p->newest;
    if (p->replay == REPLAY_TAKE && p->again && !same_state(p, p->shown, state))
        note_change(p, state);
    if (p->replay == REPLAY_TAKE)
        cw_smoothing_correct(&p->smoothing, p->errors, p->shown, state);
    p->replay = REPLAY_NONE;
    if (again)
        begin_replay(p, REPLAY_COMPARE, p->replay_start);
    return again;
}

bool cw_prediction_replay(struct cw_prediction *prediction, void *state, uint32_t *tick,
                          void *input)
{
    struct cw_prediction *const p = prediction;
    if (!p || !state || !tick || !input || p->replay == REPLAY_NONE)
        return false;
    if (p->replay_tick != p->replay_start)
        take_result(p, state);
    else
        memcpy(state, state_of(p, p->replay_start), p->state_size);
    if (p->replay_tick == p->newest) {
        if (!end_pass(p, state))
            return false;
        memcpy(state, state_of(p, p->replay_start), p->state_size);
    }
    p->replay_tick++;
    *tick = p->replay_tick;
    memcpy(input, input_of(p, p->replay_tick), p->input_size);
    return true;
}

void cw_prediction_smooth(struct cw_prediction *prediction, void *state, double now)
{
    struct cw_prediction *const p = prediction;
    if (!p || !state || !isfinite(now))
        return;
    const double passed = p->smoothed ? fmax(now - p->smoothed_at, 0) : 0;
    const double left = exp(-passed / p->config.smooth_seconds);
    p->smoothed_at = p->smoothed ? p->smoothed_at + passed : now;
    p->smoothed = true;
    for (uint32_t i = 0; i < p->smoothing.numbers.count; i++)
        p->errors[i] *= left;
    cw_smoothing_add(&p->smoothing, p->errors, state);
}

void cw_prediction_get_stats(const struct cw_prediction *prediction,
                             struct cw_prediction_stats *stats)
{
    if (prediction && stats)
        *stats = prediction->stats;
}
