#include "game/snapshot_interest.h"

#include "game/snapshot_internal.h"

#include <math.h>

static uint32_t room_of(const struct cw_snapshot_interest *interest)
{
    return 2 * interest->most;
}

void cw_snapshot_interest_layout(struct cw_snapshot_interest *interest, struct cw_arena *arena,
                                 uint32_t most, uint32_t window)
{
    struct cw_snapshot_interest parts = {.most = most, .window = window};
    const uint64_t room = room_of(&parts);
    parts.wishes = cw_snapshot_take(arena, room, sizeof *parts.wishes);
    parts.had = cw_snapshot_take(arena, room * window, sizeof *parts.had);
    parts.had_counts = cw_snapshot_take(arena, window, sizeof *parts.had_counts);
    if (interest)
        *interest = parts;
}

void cw_snapshot_interest_scratch_layout(struct cw_snapshot_interest_scratch *scratch,
                                         struct cw_arena *arena, uint32_t most)
{
    const uint64_t count = most;
    struct cw_snapshot_interest_scratch parts = {
        .sorted = cw_snapshot_take(arena, count, sizeof *parts.sorted),
        .other = cw_snapshot_take(arena, count, sizeof *parts.other),
        .wishes = cw_snapshot_take(arena, 3 * count, sizeof *parts.wishes),
    };
    if (scratch)
        *scratch = parts;
}

/* Sorts by a byte of the ids from one list into another. */
static void sort_by_byte(const struct cw_priority *from, struct cw_priority *to, uint32_t count,
                         unsigned shift)
{
    uint32_t starts[256] = {0}, start = 0;
    for (uint32_t i = 0; i < count; ++i)
        ++starts[from[i].entity >> shift & 255];
    for (unsigned byte = 0; byte < 256; ++byte) {
        const uint32_t here = starts[byte];
        starts[byte] = start;
        start += here;
    }
    for (uint32_t i = 0; i < count; ++i)
        to[starts[from[i].entity >> shift & 255]++] = from[i];
}

uint32_t cw_snapshot_interest_sort(const struct cw_snapshot_interest_scratch *scratch,
                                   const struct cw_priority *priorities, uint32_t count,
                                   uint32_t max_entities)
{
    struct cw_priority *sorted = scratch->sorted, *other = scratch->other;
    uint32_t kept = 0;
    memcpy(sorted, priorities, count * sizeof *sorted);
    for (unsigned shift = 0; (max_entities - 1) >> shift > 0; shift += 8) {
        sort_by_byte(sorted, other, count, shift);
        struct cw_priority *const swap = sorted;
        sorted = other;
        other = swap;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct cw_priority next = sorted[i];
        struct cw_priority *const last = &scratch->sorted[kept];
        if (kept > 0 && last[-1].entity == next.entity) {
            if (last[-1].priority < next.priority)
                last[-1].priority = next.priority;
        } else if (next.priority > 0) {
            *last = next;
            ++kept;
        }
    }
    return kept;
}

/* Ends a wish. Returns whether the client may have the entity, and has to lose it. */
static bool end(struct cw_snapshot_wish *wish, uint32_t next)
{
    if (wish->priority > 0)
        wish->since = next;
    wish->priority = 0;
    wish->waited = 0;
    return wish->sent;
}

bool cw_snapshot_interest_set(struct cw_snapshot_interest *interest,
                              const struct cw_snapshot_interest_scratch *scratch, uint32_t count,
                              uint32_t next)
{
    struct cw_snapshot_wish *const merged = scratch->wishes;
    uint32_t kept = 0, i = 0;
    for (uint32_t old = 0; old < interest->count || i < count;) {
        const struct cw_priority *const wanted = i < count ? &scratch->sorted[i] : NULL;
        const bool is_new =
            old == interest->count || (wanted && wanted->entity < interest->wishes[old].entity);
        struct cw_snapshot_wish wish =
            is_new ? (struct cw_snapshot_wish){.entity = wanted->entity} : interest->wishes[old++];
        if (wanted && wanted->entity == wish.entity) {
            if (wish.priority <= 0)
                wish.since = next;
            wish.priority = wanted->priority;
            ++i;
        } else if (!end(&wish, next)) {
            continue;
        }
        merged[kept++] = wish;
    }
    const bool fits = kept <= room_of(interest);
    interest->count = 0;
    for (uint32_t j = 0; j < kept; ++j)
        if (fits || merged[j].priority > 0)
            interest->wishes[interest->count++] = merged[j];
    return fits;
}

uint32_t cw_snapshot_interest_copy(const struct cw_snapshot_interest *interest,
                                   const struct cw_snapshot_interest_scratch *scratch,
                                   uint32_t except)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < interest->count; ++i) {
        const struct cw_snapshot_wish *const wish = &interest->wishes[i];
        if (wish->priority > 0 && wish->entity != except)
            scratch->other[count++] = (struct cw_priority){wish->entity, wish->priority};
    }
    return count;
}

/* A list of what the client has, as far as it was read. */
struct cursor {
    const struct cw_snapshot_had *at, *end;
};

static struct cw_snapshot_had *had_with(const struct cw_snapshot_interest *interest,
                                        uint32_t number)
{
    return interest->had + (size_t)(number % interest->window) * room_of(interest);
}

static struct cursor start(const struct cw_snapshot_interest *interest, uint32_t number)
{
    if (number == 0)
        return (struct cursor){NULL, NULL};
    const struct cw_snapshot_had *const had = had_with(interest, number);
    return (struct cursor){had, had + interest->had_counts[number % interest->window]};
}

/* Returns the change that the client has of an entity; each call is for a higher id. */
static uint32_t take(struct cursor *cursor, uint32_t entity)
{
    while (cursor->at < cursor->end && cursor->at->entity < entity)
        ++cursor->at;
    return cursor->at < cursor->end && cursor->at->entity == entity ? cursor->at++->change : 0;
}

/* The lists that are being made. */
struct making {
    struct cw_snapshot_body *body;
    struct cw_snapshot_had *had;
    uint32_t count, room;
    struct cursor before;
    bool fits;
};

static void add(struct making *making, uint32_t entity, uint32_t had, uint32_t has, float urgency)
{
    if (making->count == making->room) {
        making->fits = false;
        return;
    }
    making->had[making->count++] = (struct cw_snapshot_had){entity, had};
    if (had != has)
        making->body->scratch->differences[making->body->differing++] =
            (struct cw_snapshot_difference){
                .id = entity,
                .had = had,
                .has = has,
                .before = take(&making->before, entity),
                .urgency = cw_change_is_present(has) ? urgency : INFINITY,
                .chosen = true,
            };
}

/* Adds the entities with lower ids than this that the client has and nobody wants any more. */
static void add_unwanted(struct making *making, struct cursor *had, uint32_t entity)
{
    for (; had->at < had->end && had->at->entity < entity; ++had->at)
        if (cw_change_is_present(had->at->change))
            add(making, had->at->entity, had->at->change, CW_CHANGE_HIDDEN, INFINITY);
}

/* Adds a wish. Returns whether it has to be kept. */
static bool add_wish(struct making *making, struct cw_snapshot_wish *wish, uint32_t had,
                     const struct cw_snapshot_numbers *numbers)
{
    const struct cw_snapshot_world *const world = making->body->world;
    uint32_t has = cw_snapshot_world_changes(world, world->version)[wish->entity];
    if (has != 0 && !cw_change_is_present(has) && !end(wish, numbers->number))
        return false;
    if (wish->priority <= 0)
        has = CW_CHANGE_HIDDEN;
    if (wish->since > numbers->baseline)
        /* a snapshot after the baseline may have told something else */
        had = cw_change_is_present(had) ? had | CW_CHANGE_HIDDEN : 0;
    else if (wish->priority <= 0 && had == has)
        return false;
    if (had != has)
        wish->waited += wish->priority;
    add(making, wish->entity, had, has, wish->waited);
    return true;
}

bool cw_snapshot_interest_list(struct cw_snapshot_interest *interest,
                               const struct cw_snapshot_numbers *numbers,
                               struct cw_snapshot_body *body)
{
    struct cursor had = start(interest, numbers->baseline);
    struct making making = {.body = body,
                            .had = had_with(interest, numbers->number),
                            .room = room_of(interest),
                            .before = start(interest, numbers->before),
                            .fits = true};
    uint32_t kept = 0;
    body->differing = 0;
    for (uint32_t i = 0; i < interest->count; ++i) {
        struct cw_snapshot_wish wish = interest->wishes[i];
        add_unwanted(&making, &had, wish.entity);
        if (add_wish(&making, &wish, take(&had, wish.entity), numbers))
            interest->wishes[kept++] = wish;
    }
    add_unwanted(&making, &had, UINT32_MAX);
    interest->count = kept;
    interest->had_counts[numbers->number % interest->window] = making.count;
    body->head.count = body->differing;
    body->head.complete = true;
    return making.fits;
}

void cw_snapshot_interest_note(struct cw_snapshot_interest *interest, uint32_t number,
                               const struct cw_snapshot_body *body)
{
    struct cw_snapshot_had *had = had_with(interest, number);
    struct cw_snapshot_wish *wish = interest->wishes;
    const struct cw_snapshot_wish *const last = wish + interest->count;
    for (uint32_t i = 0; i < body->differing; ++i) {
        const struct cw_snapshot_difference *const difference = &body->scratch->differences[i];
        if (!difference->chosen)
            continue;
        while (had->entity < difference->id)
            ++had;
        had->change = difference->has;
        while (wish < last && wish->entity < difference->id)
            ++wish;
        if (wish < last && wish->entity == difference->id) {
            wish->waited = 0;
            wish->sent = true;
        }
    }
}
