#include "game/snapshot_body.h"

#include "game/snapshot_internal.h"

#include <math.h>

/* No entry is shorter: a bit for the next id, a bit for what happened. */
#define LEAST_BITS 2

/* How many that do not fit are passed over in search for one that does. */
#define MOST_PASSED 16

void cw_snapshot_room_layout(struct cw_snapshot_room *room, struct cw_arena *arena,
                             uint32_t max_entities)
{
    const struct cw_snapshot_room parts = {
        .ids = cw_snapshot_take(arena, max_entities, sizeof *parts.ids),
        .queue = cw_snapshot_take(arena, max_entities, sizeof *parts.queue),
        .urgency = cw_snapshot_take(arena, max_entities, sizeof *parts.urgency),
        .chosen = cw_snapshot_take(arena, max_entities, sizeof *parts.chosen),
    };
    if (room)
        *room = parts;
}

void cw_snapshot_body_list(struct cw_snapshot_body *body)
{
    const uint32_t used = body->world->used;
    uint32_t count = 0;
    for (uint32_t id = 0; id < used; ++id)
        if (body->had[id] != body->has[id] &&
            (body->head.has_baseline || cw_change_is_present(body->has[id])))
            body->room->ids[count++] = id;
    memset(body->room->chosen, true, count * sizeof *body->room->chosen);
    body->differing = count;
    body->head.count = count;
    body->head.complete = true;
}

/* What is to be told of an entity. */
static struct cw_snapshot_entry entry_of(const struct cw_snapshot_body *body, uint32_t id)
{
    const uint32_t had = body->had[id], has = body->has[id];
    struct cw_snapshot_entry entry = {
        .id = id, .change = CW_SNAPSHOT_REMOVE, .in_baseline = cw_change_is_present(had)};
    if (!cw_change_is_present(has))
        return entry;
    struct cw_snapshot_state *const state = cw_snapshot_world_state(body->world, id, has);
    struct cw_snapshot_state *const old =
        entry.in_baseline ? cw_snapshot_world_state(body->world, id, had) : NULL;
    const bool update = old && old->created == state->created;
    entry.change = update ? CW_SNAPSHOT_UPDATE : CW_SNAPSHOT_WHOLE;
    entry.type = state->type;
    entry.incarnation = state->created / CW_CHANGE_STEP % 256;
    entry.state = cw_snapshot_state_struct(state);
    entry.baseline = update ? cw_snapshot_state_struct(old) : NULL;
    return entry;
}

size_t cw_snapshot_body_write(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    bool fits = cw_snapshot_serialize_head(body->wire, &stream, &body->head);
    for (uint32_t i = 0; i < body->differing && fits; ++i) {
        if (!body->room->chosen[i])
            continue;
        struct cw_snapshot_entry entry = entry_of(body, body->room->ids[i]);
        fits = cw_snapshot_write_id(body->wire, &stream, previous, entry.id) &&
               cw_snapshot_serialize_entry(body->wire, &stream, &entry);
        previous = entry.id;
    }
    return fits ? cw_stream_flush(&stream) : 0;
}

/* The bits of an entry without its id; more than any body has when it cannot be measured. */
static size_t entry_bits(const struct cw_snapshot_body *body, uint32_t id)
{
    struct cw_stream stream = cw_stream_measurer();
    struct cw_snapshot_entry entry = entry_of(body, id);
    return cw_snapshot_serialize_entry(body->wire, &stream, &entry) ? cw_stream_position(&stream)
                                                                    : SIZE_MAX / 2;
}

/* The bits of the ids that were chosen. */
static size_t id_bits(const struct cw_snapshot_body *body)
{
    struct cw_stream stream = cw_stream_measurer();
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (uint32_t i = 0; i < body->differing; ++i)
        if (body->room->chosen[i]) {
            cw_snapshot_write_id(body->wire, &stream, previous, body->room->ids[i]);
            previous = body->room->ids[i];
        }
    return cw_stream_position(&stream);
}

/* Of two that are as urgent, the one with the lower id. */
static bool before(const struct cw_snapshot_room *room, uint32_t a, uint32_t b)
{
    return room->urgency[a] != room->urgency[b] ? room->urgency[a] > room->urgency[b] : a < b;
}

/* Lets the index at the place sink to where it belongs. */
static void sink(const struct cw_snapshot_room *room, uint32_t place, uint32_t count)
{
    const uint32_t index = room->queue[place];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= count)
            break;
        if (child + 1 < count && before(room, room->queue[child + 1], room->queue[child]))
            ++child;
        if (!before(room, room->queue[child], index))
            break;
        room->queue[place] = room->queue[child];
        place = child;
    }
    room->queue[place] = index;
}

static void make_queue(struct cw_snapshot_body *body, const float *priority, float *waited)
{
    const struct cw_snapshot_room *const room = body->room;
    for (uint32_t i = 0; i < body->differing; ++i) {
        const uint32_t id = room->ids[i];
        waited[id] += priority[id];
        room->urgency[i] = !cw_change_is_present(body->has[id]) ? INFINITY : waited[id];
        room->queue[i] = i;
        room->chosen[i] = false;
    }
    for (uint32_t i = body->differing / 2; i > 0; --i)
        sink(room, i - 1, body->differing);
}

void cw_snapshot_body_choose(struct cw_snapshot_body *body, size_t capacity, const float *priority,
                             float *waited)
{
    const struct cw_snapshot_room *const room = body->room;
    struct cw_stream stream = cw_stream_measurer();
    cw_snapshot_serialize_head(body->wire, &stream, &body->head);
    const size_t head = cw_stream_position(&stream), all = capacity * 8;
    const size_t most_id = cw_snapshot_id_bits(body->wire);
    uint32_t left = body->differing, passed = 0;
    size_t bits = head, entries = 0;
    make_queue(body, priority, waited);
    body->head.count = 0;
    while (left > 0 && passed < MOST_PASSED) {
        /* ids are counted at their longest until no more seem to fit */
        if (bits + LEAST_BITS + most_id > all) {
            const size_t exact = head + entries + id_bits(body);
            if (exact == bits || exact + LEAST_BITS + most_id > all)
                break;
            bits = exact;
        }
        const uint32_t index = room->queue[0];
        room->queue[0] = room->queue[--left];
        sink(room, 0, left);
        const size_t entry = entry_bits(body, room->ids[index]);
        if (bits + entry + most_id > all)
            bits = head + entries + id_bits(body);
        if (bits + entry + most_id > all) {
            ++passed;
            continue;
        }
        room->chosen[index] = true;
        entries += entry;
        bits += entry + most_id;
        ++body->head.count;
    }
    body->head.complete = true;
    for (uint32_t i = 0; i < body->differing; ++i) {
        const uint32_t id = room->ids[i];
        if (room->chosen[i])
            waited[id] = 0;
        else if (cw_change_is_present(body->had[id]) != cw_change_is_present(body->has[id]))
            body->head.complete = false;
    }
}
