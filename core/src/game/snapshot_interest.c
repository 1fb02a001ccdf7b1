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
        .items = cw_snapshot_take(arena, count, sizeof *parts.items),
        .other = cw_snapshot_take(arena, count, sizeof *parts.other),
        .wishes = cw_snapshot_take(arena, 3 * count, sizeof *parts.wishes),
    };
    if (scratch)
        *scratch = parts;
}

uint32_t cw_snapshot_interest_sort(const struct cw_snapshot_interest_scratch *scratch,
                                   const struct cw_priority *priorities, uint32_t count,
                                   uint32_t max_entities)
{
    for (uint32_t i = 0; i < count; ++i) {
        scratch->items[i].key = priorities[i].entity;
        memcpy(&scratch->items[i].value, &priorities[i].priority, sizeof(float));
    }
    const struct cw_sorted *const items =
        cw_radix_sort(scratch->items, scratch->other, count, cw_bits_required(max_entities - 1));
    struct cw_priority *next = scratch->sorted;
    for (uint32_t i = 0; i < count; ++i) {
        struct cw_priority priority = {.entity = items[i].key};
        memcpy(&priority.priority, &items[i].value, sizeof(float));
        if (next > scratch->sorted && next[-1].entity == priority.entity)
            next[-1].priority = fmaxf(next[-1].priority, priority.priority);
        else if (priority.priority > 0)
            *next++ = priority;
    }
    return (uint32_t)(next - scratch->sorted);
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
            scratch->sorted[count++] = (struct cw_priority){wish->entity, wish->priority};
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
    const struct cw_snapshot_numbers *numbers;
    const uint32_t *changes; /* the world's */
    struct cw_snapshot_had *had;
    uint32_t count, room;
    struct cursor before;
};

/* Adds an entity as the client has it. Returns false when there is no room. */
static bool add_had(struct making *making, uint32_t entity, uint32_t had)
{
    if (making->count < making->room)
        making->had[making->count] = (struct cw_snapshot_had){entity, had};
    return making->count++ < making->room;
}

static void add_difference(struct making *making, uint32_t entity, uint32_t had, uint32_t has,
                           float urgency)
{
    struct cw_snapshot_difference *const added =
        &making->body->scratch->differences[making->body->differing++];
    added->id = entity;
    added->had = had;
    added->has = has;
    added->before = take(&making->before, entity);
    added->urgency = cw_change_is_present(has) ? urgency : INFINITY;
    added->bits = 0;
    added->chosen = true;
}

/* Adds the entities with lower ids than this that the client has and nobody wants any more. */
static void add_unwanted(struct making *making, struct cursor *had, uint32_t entity)
{
    for (; had->at < had->end && had->at->entity < entity; ++had->at)
        if (cw_change_is_present(had->at->change) &&
            add_had(making, had->at->entity, had->at->change))
            add_difference(making, had->at->entity, had->at->change, CW_CHANGE_HIDDEN, INFINITY);
}

/* Adds a wish. Returns whether it has to be kept. */
static bool add_wish(struct making *making, struct cw_snapshot_wish *wish, uint32_t had)
{
    uint32_t has = making->changes[wish->entity];
    if (has != 0 && !cw_change_is_present(has) && !end(wish, making->numbers->number))
        return false;
    if (wish->priority <= 0)
        has = CW_CHANGE_HIDDEN;
    if (wish->since > making->numbers->baseline)
        /* a snapshot after the baseline may have told something else */
        had = cw_change_is_present(had) ? had | CW_CHANGE_HIDDEN : 0;
    else if (wish->priority <= 0 && had == has)
        return false;
    const bool only_changes =
        cw_change_is_present(has & had) && ((has | had) & CW_CHANGE_HIDDEN) == 0;
    wish->waited += wish->priority;
    if (had == has && wish->waited > 1)
        wish->waited = 1;
    if (add_had(making, wish->entity, had) && had != has && (!only_changes || wish->waited >= 1))
        add_difference(making, wish->entity, had, has, wish->waited);
    return true;
}

bool cw_snapshot_interest_list(struct cw_snapshot_interest *interest,
                               const struct cw_snapshot_numbers *numbers,
                               struct cw_snapshot_body *body)
{
    struct cursor had = start(interest, numbers->baseline);
    struct making making = {.body = body,
                            .numbers = numbers,
                            .changes = cw_snapshot_world_changes(body->world, body->world->version),
                            .had = had_with(interest, numbers->number),
                            .room = room_of(interest),
                            .before = start(interest, numbers->before)};
    uint32_t kept = 0;
    body->differing = 0;
    for (uint32_t i = 0; i < interest->count; ++i) {
        struct cw_snapshot_wish *const wish = &interest->wishes[i];
        add_unwanted(&making, &had, wish->entity);
        if (!add_wish(&making, wish, take(&had, wish->entity)))
            continue;
        if (kept != i)
            interest->wishes[kept] = *wish;
        ++kept;
    }
    add_unwanted(&making, &had, UINT32_MAX);
    const bool fits = making.count <= making.room;
    interest->count = kept;
    interest->had_counts[numbers->number % interest->window] = fits ? making.count : making.room;
    body->head.count = body->differing;
    body->head.complete = true;
    return fits;
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
