#include "causeway/history.h"

#include "base/config_fields.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* The most bytes of all states together: 32 bits can still add them up. */
#define MAX_BYTES (1u << 30)

struct place {
    uint32_t entity;
    uint32_t state; /* the number of states added to the tick before */
};

struct cw_history {
    struct cw_history_config config;
    size_t memory;
    size_t stride; /* bytes from one state to the next */
    /* These keep the ticks in a ring; each tick has a row in all of the following arrays. */
    uint32_t kept;
    uint32_t newest_row;
    uint32_t *ticks;
    uint32_t *counts;
    struct place *places; /* places in the order of entities */
    uint8_t *states;      /* states in the order in which they were added */
};

struct cw_history_config cw_history_config_default(void)
{
    return (struct cw_history_config){.max_entities = 256, .max_ticks = 64};
}

/* Returns the bytes from one state to the next, each aligned for any type. */
static size_t stride_of(const struct cw_history_config *config)
{
    return ((size_t)config->state_size + 15) / 16 * 16;
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    RANGE(__VA_ARGS__, UINT, state_size, 1, 65536)                                                 \
    RANGE(__VA_ARGS__, UINT, max_entities, 1, 65536)                                               \
    OTHER(max_ticks, "must be from 2 to 4096, and all states together may have at most 2^30 "      \
                     "bytes")
CW_CONFIG_FIELDS(cw_history_config, 0x1410, FIELDS, cw_history_config_errors)

static enum cw_error check_config(const struct cw_history_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    const bool valid =
        config->max_ticks >= 2 && config->max_ticks <= 4096 &&
        (uint64_t)stride_of(config) * config->max_entities * config->max_ticks <= MAX_BYTES;
    return valid ? CW_OK : CW_FIELD_ERROR(max_ticks);
}

static struct cw_history *lay_out(struct cw_arena *arena, const struct cw_history_config *config)
{
    const size_t count = (size_t)config->max_ticks * config->max_entities;
    const size_t stride = stride_of(config);
    struct cw_history *history = cw_arena_take(arena, sizeof *history);
    uint32_t *ticks = cw_arena_take(arena, config->max_ticks * sizeof *ticks);
    uint32_t *counts = cw_arena_take(arena, config->max_ticks * sizeof *counts);
    struct place *places = cw_arena_take(arena, count * sizeof *places);
    uint8_t *states = cw_arena_take(arena, count * stride);
    if (history)
        *history = (struct cw_history){.config = *config,
                                       .memory = arena->size,
                                       .stride = stride,
                                       .ticks = ticks,
                                       .counts = counts,
                                       .places = places,
                                       .states = states};
    return history;
}

size_t cw_history_memory(const struct cw_history_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_history_create(const struct cw_history_config *config, struct cw_history **history)
{
    const enum cw_error error = history ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_history_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *history = lay_out(&arena, config);
    return CW_OK;
}

void cw_history_destroy(struct cw_history *history)
{
    if (!history)
        return;
    const struct cw_allocator allocator = history->config.allocator;
    cw_release(&allocator, history, history->memory);
}

void cw_history_reset(struct cw_history *history)
{
    if (history)
        history->kept = 0;
}

/* The record of a tick. */
struct row {
    uint32_t tick;
    uint32_t *count;
    struct place *places;
    uint8_t *states;
};

/* Returns the row of a tick by its age; age 0 is the newest. */
static struct row row_of(const struct cw_history *history, uint32_t age)
{
    const uint32_t ticks = history->config.max_ticks;
    const uint32_t row = (history->newest_row + ticks - age) % ticks;
    const size_t first = (size_t)row * history->config.max_entities;
    return (struct row){.tick = history->ticks[row],
                        .count = &history->counts[row],
                        .places = history->places + first,
                        .states = history->states + first * history->stride};
}

/* Returns the number of ticks from the newest one to this: 0 or less for ticks that are kept. */
static double relative(const struct cw_history *history, uint32_t tick)
{
    return (int32_t)(tick - history->ticks[history->newest_row]);
}

/* Returns the age of the newest tick that is not after the moment, itself not before the oldest. */
static uint32_t age_of(const struct cw_history *history, double moment)
{
    uint32_t low = 0, high = history->kept - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (relative(history, row_of(history, middle).tick) <= moment)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool find_row(const struct cw_history *history, uint32_t tick, struct row *row)
{
    if (history->kept == 0)
        return false;
    *row = row_of(history, age_of(history, relative(history, tick)));
    return row->tick == tick;
}

/* Returns the index of the first place whose entity is not below this one. */
static uint32_t search(const struct row *row, uint32_t entity)
{
    uint32_t low = 0, high = *row->count;
    if (high > 0 && row->places[high - 1].entity < entity)
        return high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (row->places[middle].entity < entity)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const void *find_state(const struct cw_history *history, uint32_t tick, uint32_t entity)
{
    struct row row;
    if (!find_row(history, tick, &row))
        return NULL;
    const uint32_t at = search(&row, entity);
    const bool found = at < *row.count && row.places[at].entity == entity;
    return found ? row.states + row.places[at].state * history->stride : NULL;
}

enum cw_error cw_history_begin(struct cw_history *history, uint32_t tick)
{
    if (!history)
        return CW_ERROR_INVALID_ARGUMENT;
    if (history->kept > 0 && relative(history, tick) <= 0)
        history->kept = 0;
    history->newest_row = (history->newest_row + 1) % history->config.max_ticks;
    history->ticks[history->newest_row] = tick;
    history->counts[history->newest_row] = 0;
    if (history->kept < history->config.max_ticks)
        history->kept++;
    return CW_OK;
}

enum cw_error cw_history_add(struct cw_history *history, uint32_t entity, const void *state)
{
    if (!history || !state || history->kept == 0)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct row row = row_of(history, 0);
    const uint32_t count = *row.count;
    const uint32_t at = search(&row, entity);
    if (at < count && row.places[at].entity == entity)
        return CW_ERROR_DUPLICATE;
    if (count == history->config.max_entities)
        return CW_ERROR_ENTITIES_FULL;
    memmove(row.places + at + 1, row.places + at, (count - at) * sizeof *row.places);
    row.places[at] = (struct place){.entity = entity, .state = count};
    memcpy(row.states + count * history->stride, state, history->config.state_size);
    *row.count = count + 1;
    return CW_OK;
}

bool cw_history_rewind(const struct cw_history *history, const struct cw_view *seen,
                       struct cw_view *view)
{
    struct row row;
    if (!history || !seen || !view || history->kept == 0)
        return false;
    const double from = relative(history, seen->from), to = relative(history, seen->to);
    const double fraction = seen->fraction > 0 ? (double)seen->fraction : 0;
    if (from <= to && fraction <= 1 && find_row(history, seen->from, &row) &&
        find_row(history, seen->to, &row)) {
        *view = (struct cw_view){seen->from, seen->to, (float)fraction};
        return true;
    }
    const double oldest = relative(history, row_of(history, history->kept - 1).tick);
    const double moment = fmax(from + (to - from) * fraction, oldest);
    const uint32_t age = age_of(history, moment);
    const struct row before = row_of(history, age), after = row_of(history, age > 0 ? age - 1 : 0);
    const double passed = moment - relative(history, before.tick);
    const uint32_t span = after.tick - before.tick;
    *view = (struct cw_view){before.tick, after.tick, span > 0 ? (float)(passed / span) : 0};
    return true;
}

uint32_t cw_history_count(const struct cw_history *history, uint32_t tick)
{
    struct row row;
    return history && find_row(history, tick, &row) ? *row.count : 0;
}

uint32_t cw_history_entity(const struct cw_history *history, uint32_t tick, uint32_t index)
{
    struct row row;
    if (!history || !find_row(history, tick, &row) || index >= *row.count)
        return 0;
    return row.places[index].entity;
}

bool cw_history_find(const struct cw_history *history, const struct cw_view *view, uint32_t entity,
                     const void **from, const void **to)
{
    if (!history || !view || !from || !to)
        return false;
    const void *const first = find_state(history, view->from, entity);
    if (!first)
        return false;
    const void *const second = find_state(history, view->to, entity);
    *from = first;
    *to = second ? second : first;
    return true;
}
