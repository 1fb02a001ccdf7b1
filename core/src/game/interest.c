#include "causeway/interest.h"

#include "base/config_fields.h"
#include "game/snapshot_internal.h"

#include <math.h>

/* Cells are squares of this part of the radius. */
#define CELLS_PER_RADIUS 2

/* The least cells along the grid's side: a search must not go round the grid. */
#define LEAST_SIDE 8

/* The cell of an entity that is nowhere. */
#define NO_CELL UINT32_MAX

/* The edge of the world, in cells. All that is beyond counts as being there. */
#define EDGE (1 << 30)

struct place {
    float x, y;
    float importance;
    uint32_t entity;
};

/* The cells of a plane without bounds fall onto a grid of side * side, as on a torus. */
struct cw_interest {
    struct cw_interest_config config;
    size_t memory;
    uint32_t side; /* a power of two */
    bool sorted;   /* the sorted places are those of the entities */
    /* These two have an item for each entity. */
    struct place *places;
    uint32_t *cells;
    struct place *sorted_places; /* the places by cell, and within a cell by id */
    uint32_t *starts;            /* the index of each cell's first place, and the end of the last */
    struct cw_priority *candidates;
};

struct cw_interest_config cw_interest_config_default(void)
{
    return (struct cw_interest_config){.max_entities = 1024, .radius = 100, .full_radius = 25};
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    RANGE(__VA_ARGS__, UINT, max_entities, 1, 1048576)                                             \
    RANGE(__VA_ARGS__, ABOVE, radius, 0, 1000000000)                                               \
    RANGE(__VA_ARGS__, ABOVE, full_radius, 0, 1000000000)
CW_CONFIG_FIELDS(cw_interest_config, 0x1480, FIELDS, cw_interest_config_errors)

static enum cw_error check_config(const struct cw_interest_config *config)
{
    return config ? CW_CHECK_FIELDS(config) : CW_ERROR_INVALID_ARGUMENT;
}

static uint32_t cells_of(const struct cw_interest *interest)
{
    return interest->side * interest->side;
}

static struct cw_interest *lay_out(struct cw_arena *arena, const struct cw_interest_config *config)
{
    struct cw_interest *const interest = cw_arena_take(arena, sizeof *interest);
    struct cw_interest parts = {.config = *config, .memory = arena->size, .side = LEAST_SIDE};
    while (cells_of(&parts) < config->max_entities / 4)
        parts.side *= 2;
    parts.places = cw_snapshot_take(arena, config->max_entities, sizeof *parts.places);
    parts.cells = cw_snapshot_take(arena, config->max_entities, sizeof *parts.cells);
    parts.sorted_places =
        cw_snapshot_take(arena, config->max_entities, sizeof *parts.sorted_places);
    parts.starts = cw_snapshot_take(arena, cells_of(&parts) + 1, sizeof *parts.starts);
    parts.candidates = cw_snapshot_take(arena, config->max_entities, sizeof *parts.candidates);
    if (interest)
        *interest = parts;
    return interest;
}

size_t cw_interest_memory(const struct cw_interest_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_interest_create(const struct cw_interest_config *config,
                                 struct cw_interest **interest)
{
    const enum cw_error error = interest ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_interest_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *interest = lay_out(&arena, config);
    cw_interest_reset(*interest);
    return CW_OK;
}

void cw_interest_destroy(struct cw_interest *interest)
{
    if (!interest)
        return;
    const struct cw_allocator allocator = interest->config.allocator;
    cw_release(&allocator, interest, interest->memory);
}

void cw_interest_reset(struct cw_interest *interest)
{
    if (!interest)
        return;
    for (uint32_t i = 0; i < interest->config.max_entities; ++i)
        interest->cells[i] = NO_CELL;
    interest->sorted = false;
}

/* Returns the cell of a coordinate, counted from the origin. */
static int32_t cell_at(const struct cw_interest *interest, double coordinate)
{
    const double cell = coordinate * CELLS_PER_RADIUS / interest->config.radius;
    if (cell >= EDGE)
        return EDGE;
    if (cell <= -EDGE)
        return -EDGE;
    const int32_t whole = (int32_t)cell;
    return whole - (whole > cell);
}

/* Returns the index of a cell on the grid. */
static uint32_t index_of(const struct cw_interest *interest, int32_t column, int32_t row)
{
    const uint32_t mask = interest->side - 1;
    return ((uint32_t)row & mask) * interest->side + ((uint32_t)column & mask);
}

enum cw_error cw_interest_set(struct cw_interest *interest, uint32_t entity, float x, float y,
                              float importance)
{
    if (!interest || entity >= interest->config.max_entities || !isfinite(x) || !isfinite(y) ||
        !(importance >= 0 && importance < INFINITY))
        return CW_ERROR_INVALID_ARGUMENT;
    interest->places[entity] = (struct place){x, y, importance, entity};
    interest->cells[entity] =
        importance > 0 ? index_of(interest, cell_at(interest, x), cell_at(interest, y)) : NO_CELL;
    interest->sorted = false;
    return CW_OK;
}

void cw_interest_remove(struct cw_interest *interest, uint32_t entity)
{
    if (!interest || entity >= interest->config.max_entities)
        return;
    interest->cells[entity] = NO_CELL;
    interest->sorted = false;
}

/* Sorts the places by counting. */
static void sort(struct cw_interest *interest)
{
    const uint32_t count = interest->config.max_entities, cells = cells_of(interest);
    uint32_t *const starts = interest->starts;
    uint32_t end = 0;
    memset(starts, 0, ((size_t)cells + 1) * sizeof *starts);
    for (uint32_t i = 0; i < count; ++i)
        if (interest->cells[i] != NO_CELL)
            ++starts[interest->cells[i]];
    for (uint32_t i = 0; i <= cells; ++i) {
        end += starts[i];
        starts[i] = end;
    }
    for (uint32_t i = count; i > 0; --i)
        if (interest->cells[i - 1] != NO_CELL)
            interest->sorted_places[--starts[interest->cells[i - 1]]] = interest->places[i - 1];
    interest->sorted = true;
}

/* Adds the places from one index to another that are within the radius to the candidates. */
static uint32_t gather(const struct cw_interest *interest, const struct place *center,
                       uint32_t from, uint32_t to, uint32_t count)
{
    const float radius = (float)interest->config.radius, full = (float)interest->config.full_radius;
    const float most = radius * radius, near = full * full;
    for (uint32_t i = from; i < to; ++i) {
        const struct place *const place = &interest->sorted_places[i];
        const float x = place->x - center->x, y = place->y - center->y;
        const float square = x * x + y * y;
        const float priority =
            square > near ? place->importance * (near / square) : place->importance;
        interest->candidates[count] = (struct cw_priority){place->entity, priority};
        count += square <= most;
    }
    return count;
}

static uint32_t key_of(const struct cw_priority *priority)
{
    uint32_t key; /* floats that are not negative are in the order of their bits */
    memcpy(&key, &priority->priority, sizeof key);
    return key;
}

/* Finds the key of the last of the most urgent candidates, a byte at a time; *left becomes how many
   of those with this very key are among them. It takes the same time for all candidates, as nobody
   should be able to choose a place that makes it slow. */
static uint32_t last_key(const struct cw_priority *candidates, uint32_t count, uint32_t capacity,
                         uint32_t *left)
{
    uint32_t key = 0;
    *left = capacity;
    for (int shift = 24; shift >= 0; shift -= 8) {
        uint32_t counts[256] = {0}, byte = 255;
        const uint32_t above = shift < 24 ? UINT32_MAX << (shift + 8) : 0;
        for (uint32_t i = 0; i < count; ++i)
            if (((key_of(&candidates[i]) ^ key) & above) == 0)
                ++counts[key_of(&candidates[i]) >> shift & 255];
        for (; counts[byte] < *left; --byte)
            *left -= counts[byte];
        key |= byte << shift;
    }
    return key;
}

/* Copies the most urgent of the candidates. */
static void take_urgent(const struct cw_interest *interest, uint32_t count,
                        struct cw_priority *found, uint32_t capacity)
{
    uint32_t left, taken = 0;
    const uint32_t last = last_key(interest->candidates, count, capacity, &left);
    for (uint32_t i = 0; taken < capacity; ++i) {
        const uint32_t key = key_of(&interest->candidates[i]);
        if (key < last || (key == last && left == 0))
            continue;
        left -= key == last;
        found[taken++] = interest->candidates[i];
    }
}

size_t cw_interest_find(struct cw_interest *interest, float x, float y, struct cw_priority *found,
                        size_t capacity)
{
    if (!interest || !found || capacity == 0 || !isfinite(x) || !isfinite(y))
        return 0;
    if (!interest->sorted)
        sort(interest);
    const double radius = interest->config.radius;
    const int32_t left = cell_at(interest, x - radius), right = cell_at(interest, x + radius);
    const int32_t top = cell_at(interest, y + radius);
    const struct place center = {.x = x, .y = y};
    uint32_t count = 0;
    for (int32_t row = cell_at(interest, y - radius); row <= top; ++row) {
        const uint32_t from = index_of(interest, left, row), to = index_of(interest, right, row);
        const uint32_t *const starts = interest->starts;
        if (from <= to) {
            count = gather(interest, &center, starts[from], starts[to + 1], count);
            continue;
        }
        /* the row of cells goes over the edge of the grid */
        const uint32_t first = index_of(interest, 0, row);
        count = gather(interest, &center, starts[first], starts[to + 1], count);
        count = gather(interest, &center, starts[from], starts[first + interest->side], count);
    }
    if (count > capacity) {
        take_urgent(interest, count, found, (uint32_t)capacity);
        return capacity;
    }
    memcpy(found, interest->candidates, count * sizeof *found);
    return count;
}
