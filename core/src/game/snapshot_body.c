#include "game/snapshot_body.h"

#include "game/snapshot_internal.h"

#include <math.h>

/* The bits of the shortest entry: a bit for the next id, a bit for the kind of change. */
#define LEAST_BITS 2

/* The search for an entity that fits passes over this many that do not. */
#define MOST_PASSED 16

void cw_snapshot_scratch_layout(struct cw_snapshot_scratch *scratch, struct cw_arena *arena,
                                const struct cw_snapshot_config *config)
{
    const uint32_t max_entities = config->max_entities;
    struct cw_snapshot_scratch parts = {
        .differences = cw_snapshot_take(arena, max_entities, sizeof *parts.differences),
        .queue = cw_snapshot_take(arena, max_entities, sizeof *parts.queue),
    };
    if (config->coding == CW_SNAPSHOT_RANGE_CODED) {
        parts.coder = cw_arena_take(arena, sizeof *parts.coder);
        parts.coded = cw_arena_take(arena, config->max_bytes);
    }
    if (scratch)
        *scratch = parts;
}

void cw_snapshot_body_list(struct cw_snapshot_body *body)
{
    const uint32_t used = body->world->used;
    uint32_t count = 0;
    for (uint32_t id = 0; id < used; ++id)
        if (body->had[id] != body->has[id] &&
            (body->head.has_baseline || cw_change_is_present(body->has[id])))
            body->scratch->differences[count++] =
                (struct cw_snapshot_difference){.id = id,
                                                .had = body->had[id],
                                                .has = body->has[id],
                                                .before = body->before ? body->before[id] : 0,
                                                .chosen = true};
    body->differing = count;
    body->head.count = count;
    body->head.complete = true;
}

/* Finds the motion of an entity of the type. Returns false when the client has a state that is no
   longer known here, with which it would predict something else. */
static bool find_motion(const struct cw_snapshot_body *body,
                        const struct cw_snapshot_difference *difference, uint32_t type,
                        struct cw_snapshot_motion *motion)
{
    *motion = (struct cw_snapshot_motion){NULL, body->took, body->ahead};
    if (!cw_change_is_present(difference->before))
        return true;
    struct cw_snapshot_state *const state =
        cw_snapshot_world_state(body->world, difference->id, difference->before);
    if (state && state->type == type)
        motion->before = cw_snapshot_state_struct(state);
    return state != NULL;
}

/* Returns the body's entry for an entity. */
static struct cw_snapshot_entry entry_of(const struct cw_snapshot_body *body,
                                         const struct cw_snapshot_difference *difference)
{
    const uint32_t id = difference->id, had = difference->had, has = difference->has;
    struct cw_snapshot_entry entry = {
        .id = id, .change = CW_SNAPSHOT_REMOVE, .in_baseline = cw_change_is_present(had)};
    if (!cw_change_is_present(has))
        return entry;
    struct cw_snapshot_state *const state = cw_snapshot_world_state(body->world, id, has);
    struct cw_snapshot_state *const old =
        entry.in_baseline ? cw_snapshot_world_state(body->world, id, had) : NULL;
    const bool update = old && old->created == state->created &&
                        find_motion(body, difference, state->type, &entry.motion);
    entry.change = update ? CW_SNAPSHOT_UPDATE : CW_SNAPSHOT_WHOLE;
    entry.type = state->type;
    entry.incarnation = state->created / CW_CHANGE_STEP % 256;
    entry.state = cw_snapshot_state_struct(state);
    entry.baseline = update ? cw_snapshot_state_struct(old) : NULL;
    return entry;
}

/* Writes the body with all changes in entries. */
static size_t write_entries(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    bool fits = cw_snapshot_serialize_head(body->wire, &stream, &body->head);
    for (uint32_t i = 0; i < body->differing && fits; ++i) {
        if (!body->scratch->differences[i].chosen)
            continue;
        struct cw_snapshot_entry entry = entry_of(body, &body->scratch->differences[i]);
        fits = cw_snapshot_write_id(body->wire, &stream, previous, entry.id) &&
               cw_snapshot_serialize_entry(body->wire, &stream, &entry);
        previous = entry.id;
    }
    return fits ? cw_stream_flush(&stream) : 0;
}

/* Writes the parts of an entity's change, for the range coder and for its entry. */
static bool write_coded_entry(const struct cw_snapshot_body *body, struct cw_stream *stream,
                              const struct cw_snapshot_difference *difference)
{
    struct cw_snapshot_coder *const coder = body->scratch->coder;
    struct cw_snapshot_entry entry = entry_of(body, difference);
    const struct cw_schema_steps *const steps =
        entry.change == CW_SNAPSHOT_UPDATE ? cw_snapshot_moving(body->wire, entry.type) : NULL;
    bool plain = steps != NULL;
    if (!cw_snapshot_code_is_plain(coder, &plain))
        return false;
    return plain ? cw_snapshot_code_fields(coder, steps, &entry.motion, entry.baseline, entry.state)
                 : cw_snapshot_serialize_entry(body->wire, stream, &entry);
}

/* Writes all of the body, through the range coder and in entries. */
static bool write_both(struct cw_snapshot_body *body, struct cw_stream *stream)
{
    const struct cw_snapshot_scratch *const scratch = body->scratch;
    const struct cw_snapshot_difference *next = scratch->differences;
    uint32_t end = 0;
    for (uint32_t i = 0; i < body->differing; ++i)
        if (scratch->differences[i].chosen)
            end = scratch->differences[i].id + 1;
    if (!cw_snapshot_serialize_head(body->wire, stream, &body->head) ||
        !cw_stream_count(stream, &end, body->wire->max_entities))
        return false;
    for (uint32_t id = 0; id < end; ++id) {
        while (next->id < id || !next->chosen)
            ++next;
        bool changed = next->id == id;
        const bool did = body->before && body->before[id] != body->had[id];
        if (!cw_snapshot_code_changed(scratch->coder, did, &changed) ||
            (changed && !write_coded_entry(body, stream, next)))
            return false;
    }
    return true;
}

/* Writes as much as possible through the range coder; *split becomes the number of bytes before its
   part. Returns the size, 0 when it is above capacity. */
static size_t write_coded(struct cw_snapshot_body *body, uint8_t *out, size_t capacity,
                          size_t *split)
{
    const struct cw_snapshot_scratch *const scratch = body->scratch;
    struct cw_stream stream = cw_stream_writer(out, capacity);
    cw_snapshot_coder_start(scratch->coder, cw_range_writer(scratch->coded, capacity));
    if (!write_both(body, &stream))
        return 0;
    const size_t coded = cw_range_finish(&scratch->coder->range);
    *split = cw_stream_flush(&stream);
    if (*split == 0 || coded == 0 || *split + coded > capacity)
        return 0;
    memcpy(out + *split, scratch->coded, coded);
    return *split + coded;
}

size_t cw_snapshot_body_write(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    const size_t head = CW_SNAPSHOT_SPLIT_SIZE;
    if (!body->scratch->coder)
        return write_entries(body, out, capacity);
    if (capacity < head)
        return 0;
    size_t split = 0, size = 0;
    if (body->had)
        size = write_coded(body, out + head, capacity - head, &split);
    if (size == 0) {
        split = CW_SNAPSHOT_NOT_SPLIT;
        size = write_entries(body, out + head, capacity - head);
    }
    out[0] = (uint8_t)split;
    out[1] = (uint8_t)(split >> 8);
    return size > 0 ? head + size : 0;
}

/* Returns the bits of an entry without its id; more than any body has if it cannot be measured. */
static size_t entry_bits(const struct cw_snapshot_body *body,
                         const struct cw_snapshot_difference *difference)
{
    struct cw_stream stream = cw_stream_measurer();
    struct cw_snapshot_entry entry = entry_of(body, difference);
    return cw_snapshot_serialize_entry(body->wire, &stream, &entry) ? cw_stream_position(&stream)
                                                                    : SIZE_MAX / 2;
}

/* Returns the bits of the ids that were chosen. */
static size_t id_bits(const struct cw_snapshot_body *body)
{
    struct cw_stream stream = cw_stream_measurer();
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (uint32_t i = 0; i < body->differing; ++i)
        if (body->scratch->differences[i].chosen) {
            const uint32_t id = body->scratch->differences[i].id;
            cw_snapshot_write_id(body->wire, &stream, previous, id);
            previous = id;
        }
    return cw_stream_position(&stream);
}

/* Returns whether difference a goes before b: the more urgent first, then the lower id. */
static bool before(const struct cw_snapshot_scratch *scratch, uint32_t a, uint32_t b)
{
    const float of_a = scratch->differences[a].urgency, of_b = scratch->differences[b].urgency;
    return of_a != of_b ? of_a > of_b : a < b;
}

/* Lets the index at the place sink to its place in the heap. */
static void sink(const struct cw_snapshot_scratch *scratch, uint32_t place, uint32_t count)
{
    const uint32_t index = scratch->queue[place];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= count)
            break;
        if (child + 1 < count && before(scratch, scratch->queue[child + 1], scratch->queue[child]))
            ++child;
        if (!before(scratch, scratch->queue[child], index))
            break;
        scratch->queue[place] = scratch->queue[child];
        place = child;
    }
    scratch->queue[place] = index;
}

static void make_queue(const struct cw_snapshot_body *body)
{
    const struct cw_snapshot_scratch *const scratch = body->scratch;
    for (uint32_t i = 0; i < body->differing; ++i) {
        scratch->queue[i] = i;
        scratch->differences[i].chosen = false;
    }
    for (uint32_t i = body->differing / 2; i > 0; --i)
        sink(scratch, i - 1, body->differing);
}

/* Chooses the entities that go into capacity bytes, the most urgent first. */
static void choose(struct cw_snapshot_body *body, size_t capacity)
{
    const struct cw_snapshot_scratch *const scratch = body->scratch;
    struct cw_stream stream = cw_stream_measurer();
    cw_snapshot_serialize_head(body->wire, &stream, &body->head);
    const size_t head = cw_stream_position(&stream);
    const size_t all = (capacity - (scratch->coder ? CW_SNAPSHOT_SPLIT_SIZE : 0)) * 8;
    const size_t most_id = cw_snapshot_id_bits(body->wire);
    uint32_t left = body->differing, passed = 0;
    size_t bits = head, entries = 0;
    make_queue(body);
    body->head.count = 0;
    while (left > 0 && passed < MOST_PASSED) {
        /* ids are counted at their longest until no more seem to fit */
        if (bits + LEAST_BITS + most_id > all) {
            const size_t exact = head + entries + id_bits(body);
            if (exact == bits || exact + LEAST_BITS + most_id > all)
                break;
            bits = exact;
        }
        const uint32_t index = scratch->queue[0];
        scratch->queue[0] = scratch->queue[--left];
        sink(scratch, 0, left);
        const size_t entry = entry_bits(body, &scratch->differences[index]);
        if (bits + entry + most_id > all)
            bits = head + entries + id_bits(body);
        if (bits + entry + most_id > all) {
            ++passed;
            continue;
        }
        scratch->differences[index].chosen = true;
        entries += entry;
        bits += entry + most_id;
        ++body->head.count;
    }
    body->head.complete = true;
    for (uint32_t i = 0; i < body->differing; ++i) {
        const struct cw_snapshot_difference *const difference = &scratch->differences[i];
        if (!difference->chosen &&
            cw_change_is_present(difference->had) != cw_change_is_present(difference->has))
            body->head.complete = false;
    }
}

size_t cw_snapshot_body_write_some(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    struct cw_snapshot_scratch *const scratch = body->scratch;
    /* nobody knows beforehand how much a range coder saves: this tries a little more than the last
       time, then less and less */
    const uint32_t most = 64;
    uint32_t extra = scratch->coder && body->had ? scratch->extra + scratch->extra / 4 + 2 : 0;
    extra = extra < most ? extra : most;
    choose(body, capacity + capacity * extra / 8);
    size_t size = cw_snapshot_body_write(body, out, capacity);
    while (size == 0 && extra > 0) {
        extra = extra * 3 / 4;
        choose(body, capacity + capacity * extra / 8);
        size = cw_snapshot_body_write(body, out, capacity);
    }
    scratch->extra = extra;
    return size;
}
