#include "game/snapshot_body.h"

#include "base/bit_copy.h"
#include "game/snapshot_internal.h"
#include "message/schema_plain.h"

#include <math.h>

/* The bits of the shortest entry: a bit for the next id, a bit for the kind of change. */
#define LEAST_BITS 2

/* cw_bit_copy reads this many bytes past the last one. */
#define COPY_AHEAD 8

/* The search for an entity that fits passes over this many that do not. */
#define MOST_PASSED 16

void cw_snapshot_scratch_layout(struct cw_snapshot_scratch *scratch, struct cw_arena *arena,
                                const struct cw_snapshot_config *config)
{
    const uint32_t max_entities = config->max_entities;
    struct cw_snapshot_scratch parts = {
        .differences = cw_snapshot_take(arena, max_entities, sizeof *parts.differences),
        .queue = cw_snapshot_take(arena, 2 * (uint64_t)max_entities, sizeof *parts.queue),
    };
    parts.plain = cw_snapshot_take(arena, cw_schema_count(config->schema), sizeof *parts.plain);
    if (config->coding == CW_SNAPSHOT_RANGE_CODED && config->max_interest == 0) {
        parts.coder = cw_arena_take(arena, sizeof *parts.coder);
        parts.coded = cw_arena_take(arena, config->max_bytes);
    } else {
        parts.entries = cw_arena_take(arena, config->max_bytes + COPY_AHEAD);
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

/* Writes a plain struct's entry, an update, as differences. */
static bool write_plain(struct cw_stream *stream, const struct cw_schema_steps *steps,
                        const struct cw_snapshot_entry *entry)
{
    struct cw_bit_writer writer = stream->writer;
    const bool done = cw_bit_writer_bits(&writer, 0, 1) && /* as cw_snapshot_is_update reads it */
                      cw_schema_write_plain(&writer, steps, entry->baseline, entry->state);
    stream->writer = writer;
    return done;
}

/* Writes or measures an entry without its id. */
static bool write_entry(const struct cw_snapshot_body *body, struct cw_stream *stream,
                        struct cw_snapshot_entry *entry)
{
    const struct cw_snapshot_wire *const wire = body->wire;
    if (stream->mode == CW_STREAM_WRITE && entry->change == CW_SNAPSHOT_UPDATE &&
        wire->coding == CW_SNAPSHOT_DIFFERENCES && body->scratch->plain[entry->type])
        return write_plain(stream, &wire->schema->types[entry->type].steps, entry);
    return cw_snapshot_serialize_entry(wire, stream, entry);
}

/* Writes the entry of a difference after the id. */
static bool write_difference(const struct cw_snapshot_body *body, struct cw_stream *stream,
                             const struct cw_snapshot_difference *difference)
{
    if (difference->bits > 0)
        return cw_bit_copy(&stream->writer, body->scratch->entries + difference->at / 8,
                           difference->at % 8, difference->bits);
    struct cw_snapshot_entry entry = entry_of(body, difference);
    return write_entry(body, stream, &entry);
}

/* Writes the body with all changes in entries. */
static size_t write_entries(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    bool fits = cw_snapshot_serialize_head(body->wire, &stream, &body->head);
    for (uint32_t i = 0; i < body->differing && fits; ++i) {
        const struct cw_snapshot_difference *const difference = &body->scratch->differences[i];
        if (!difference->chosen)
            continue;
        fits = cw_snapshot_write_id(body->wire, &stream, previous, difference->id) &&
               write_difference(body, &stream, difference);
        previous = difference->id;
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
    if (body->wire->coding != CW_SNAPSHOT_RANGE_CODED)
        return write_entries(body, out, capacity);
    if (capacity < head)
        return 0;
    size_t split = 0, size = 0;
    if (body->scratch->coder)
        size = write_coded(body, out + head, capacity - head, &split);
    if (size == 0) {
        split = CW_SNAPSHOT_NOT_SPLIT;
        size = write_entries(body, out + head, capacity - head);
    }
    out[0] = (uint8_t)split;
    out[1] = (uint8_t)(split >> 8);
    return size > 0 ? head + size : 0;
}

/* Returns the bits of an entry without its id; more than any body has if it does not fit. The entry
   stands ready if it can, at the end of those in the stream. */
static size_t make_entry(const struct cw_snapshot_body *body,
                         struct cw_snapshot_difference *difference, struct cw_stream *ready)
{
    struct cw_snapshot_entry entry = entry_of(body, difference);
    struct cw_stream measurer = cw_stream_measurer();
    const bool copies = body->scratch->entries &&
                        (entry.change == CW_SNAPSHOT_REMOVE || body->scratch->plain[entry.type]);
    struct cw_stream *const stream = copies ? ready : &measurer;
    const size_t at = cw_stream_position(stream);
    if (!write_entry(body, stream, &entry))
        return SIZE_MAX / 2;
    const size_t bits = cw_stream_position(stream) - at;
    difference->at = (uint32_t)at;
    difference->bits = copies ? (uint32_t)bits : 0;
    return bits;
}

/* Returns the bits of the ids that were chosen. */
static size_t id_bits(const struct cw_snapshot_body *body)
{
    const struct cw_snapshot_difference *const differences = body->scratch->differences;
    size_t bits = 0;
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (uint32_t i = 0; i < body->differing; ++i) {
        if (!differences[i].chosen)
            continue;
        bits += cw_snapshot_bits_of_id(body->wire, previous, differences[i].id);
        previous = differences[i].id;
    }
    return bits;
}

/* Returns the indices of the differences as the values of a list: the more urgent first, then those
   with the lower id. Two that differ by less than a hundredth are taken as equal. */
static const struct cw_sorted *make_queue(const struct cw_snapshot_body *body)
{
    struct cw_sorted *const queue = body->scratch->queue;
    for (uint32_t i = 0; i < body->differing; ++i) {
        struct cw_snapshot_difference *const difference = &body->scratch->differences[i];
        uint32_t bits; /* floats that are not negative are in the order of their bits */
        memcpy(&bits, &difference->urgency, sizeof bits);
        queue[i] = (struct cw_sorted){~bits >> 16, i};
        difference->chosen = false;
        difference->bits = 0;
    }
    return cw_radix_sort(queue, queue + body->world->max_entities, body->differing, 16);
}

/* Returns whether the client then has every entity that it should have, and no other. */
static bool is_complete(const struct cw_snapshot_body *body)
{
    for (uint32_t i = 0; i < body->differing; ++i) {
        const struct cw_snapshot_difference *const difference = &body->scratch->differences[i];
        if (!difference->chosen &&
            cw_change_is_present(difference->had) != cw_change_is_present(difference->has))
            return false;
    }
    return true;
}

/* The room of a body, in bits. */
struct room {
    size_t all, entries, used;
    bool exact; /* used is exact; otherwise it counts ids at their longest */
};

/* Returns whether so many bits fit. Counts the ids only if it has to. */
static bool fits(const struct cw_snapshot_body *body, struct room *room, size_t bits)
{
    if (bits > room->all || (room->used + bits > room->all && room->exact))
        return false;
    if (room->used + bits > room->all) {
        room->used = room->entries + id_bits(body);
        room->exact = true;
    }
    return room->used + bits <= room->all;
}

/* Chooses the entities that go into capacity bytes, the most urgent first. */
static void choose(struct cw_snapshot_body *body, size_t capacity)
{
    const struct cw_snapshot_scratch *const scratch = body->scratch;
    struct cw_stream ready = cw_stream_measurer();
    cw_snapshot_serialize_head(body->wire, &ready, &body->head);
    const size_t head = cw_stream_position(&ready), most_id = cw_snapshot_id_bits(body->wire);
    const bool split = body->wire->coding == CW_SNAPSHOT_RANGE_CODED;
    struct room room = {(capacity - (split ? CW_SNAPSHOT_SPLIT_SIZE : 0)) * 8, head, head, false};
    uint32_t passed = 0;
    if (scratch->entries)
        ready = cw_stream_writer(scratch->entries, capacity);
    const struct cw_sorted *next = make_queue(body), *const end = next + body->differing;
    body->head.count = 0;
    for (; next < end && passed < MOST_PASSED && fits(body, &room, LEAST_BITS + most_id); ++next) {
        struct cw_snapshot_difference *const difference = &scratch->differences[next->value];
        const struct cw_stream before_it = ready;
        const size_t entry = make_entry(body, difference, &ready);
        if (!fits(body, &room, entry + most_id)) {
            ready = before_it;
            ++passed;
            continue;
        }
        difference->chosen = true;
        room.entries += entry;
        room.used += entry + most_id;
        room.exact = false;
        ++body->head.count;
    }
    if (scratch->entries)
        cw_stream_flush(&ready);
    body->head.complete = is_complete(body);
}

size_t cw_snapshot_body_write_some(struct cw_snapshot_body *body, uint8_t *out, size_t capacity)
{
    struct cw_snapshot_scratch *const scratch = body->scratch;
    /* nobody knows beforehand how much a range coder saves: this tries a little more than the last
       time, then less and less */
    const uint32_t most = 64;
    uint32_t extra = scratch->coder ? scratch->extra + scratch->extra / 4 + 2 : 0;
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
