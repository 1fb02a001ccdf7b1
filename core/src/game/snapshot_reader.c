#include "game/snapshot_reader.h"

/* Returns the motion of an entity of the baseline. */
static struct cw_snapshot_motion motion_of(const struct cw_snapshot_reader *with,
                                           const struct cw_snapshot_reading *reading,
                                           uint32_t entity)
{
    const struct cw_snapshot_received *const baseline = reading->baseline, *const before =
                                                                               reading->before;
    if (!before || before->types[entity] != reading->snapshot->types[entity])
        return (struct cw_snapshot_motion){0};
    return (struct cw_snapshot_motion){cw_snapshot_state_in(with, before, entity),
                                       baseline->tick - before->tick,
                                       reading->head.tick - baseline->tick};
}

/* Reads an entry that is not an update of a plain struct by its differences. */
static bool read_other(const struct cw_snapshot_reader *with, struct cw_bit_reader *reader,
                       const struct cw_snapshot_reading *reading,
                       struct cw_snapshot_mention *mention)
{
    uint32_t *const type = &reading->snapshot->types[mention->entity];
    uint8_t *const state = cw_snapshot_state_in(with, reading->snapshot, mention->entity);
    struct cw_snapshot_entry entry = {.in_baseline = *type != 0,
                                      .type = *type != 0 ? *type - 1 : 0,
                                      .baseline = state,
                                      .motion = motion_of(with, reading, mention->entity),
                                      .state = state};
    struct cw_stream stream = {.mode = CW_STREAM_READ};
    cw_bit_reader_settle(reader);
    stream.reader = *reader;
    const bool done = cw_snapshot_serialize_entry(&with->wire, &stream, &entry);
    *reader = stream.reader;
    *type = entry.change == CW_SNAPSHOT_REMOVE ? 0 : entry.type + 1;
    mention->whole = entry.change == CW_SNAPSHOT_WHOLE;
    mention->incarnation = (uint8_t)entry.incarnation;
    return done;
}

/* Reads entries with the reader in registers. */
static bool read_entries(const struct cw_snapshot_reader *with, struct cw_bit_reader *in,
                         const struct cw_snapshot_reading *reading)
{
    const struct cw_snapshot_kind *const kinds = with->kinds;
    const struct cw_snapshot_mention *const end = with->mentions + reading->head.count;
    /* a compiler cannot know that writing to states leaves these as they are */
    const uint32_t *const types = reading->snapshot->types;
    uint8_t *const states = reading->snapshot->states;
    const size_t stride = with->stride;
    struct cw_bit_reader reader = *in;
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (struct cw_snapshot_mention *mention = with->mentions; mention < end; ++mention) {
        if (!cw_snapshot_read_id(&with->wire, &reader, previous, &previous))
            return false;
        *mention = (struct cw_snapshot_mention){.entity = previous};
        const uint32_t type = types[previous];
        cw_bit_reader_fill(&reader);
        if (kinds[type].plain && cw_snapshot_is_update(&reader)) {
            cw_bit_reader_skip(&reader, 1);
            if (!cw_schema_read_plain(&reader, kinds[type].steps, states + previous * stride))
                return false;
            continue;
        }
        struct cw_bit_reader copy = reader;
        if (!read_other(with, &copy, reading, mention))
            return false;
        reader = copy;
    }
    cw_bit_reader_settle(&reader);
    *in = reader;
    return true;
}

/* Returns whether the baseline had news of an entity; its own baseline is known. */
static bool told_before(const struct cw_snapshot_reading *reading, uint32_t entity)
{
    return reading->before && (reading->baseline->mentions[entity / 64] >> entity % 64 & 1) != 0;
}

/* Reads an entry of which the range coder knows at least that it is there. */
static bool read_coded_entry(const struct cw_snapshot_reader *with, struct cw_stream *stream,
                             const struct cw_snapshot_reading *reading,
                             struct cw_snapshot_mention *mention)
{
    const uint32_t type = reading->snapshot->types[mention->entity];
    uint8_t *const state = cw_snapshot_state_in(with, reading->snapshot, mention->entity);
    bool plain = false;
    if (!cw_snapshot_code_is_plain(with->coder, &plain))
        return false;
    if (!plain)
        return read_other(with, &stream->reader, reading, mention);
    const struct cw_schema_steps *const steps =
        type != 0 ? cw_snapshot_moving(&with->wire, type - 1) : NULL;
    const struct cw_snapshot_motion motion = motion_of(with, reading, mention->entity);
    return steps && cw_snapshot_code_fields(with->coder, steps, &motion, state, state);
}

/* Reads the range coder's part, and along with it the entries that it does not hold. */
static bool read_coded(const struct cw_snapshot_reader *with, struct cw_stream *stream,
                       const struct cw_snapshot_reading *reading, const uint8_t *data, size_t size)
{
    uint32_t end = 0, count = 0;
    cw_snapshot_coder_start(with->coder, cw_range_reader(data, size));
    if (!cw_stream_count(stream, &end, with->wire.max_entities))
        return false;
    for (uint32_t entity = 0; entity < end; ++entity) {
        bool changed = false;
        if (!cw_snapshot_code_changed(with->coder, told_before(reading, entity), &changed))
            return false;
        if (!changed)
            continue;
        struct cw_snapshot_mention *const mention = &with->mentions[count++];
        *mention = (struct cw_snapshot_mention){.entity = entity};
        if (!read_coded_entry(with, stream, reading, mention))
            return false;
    }
    return count == reading->head.count && cw_range_ended(&with->coder->range);
}

bool cw_snapshot_read_body(const struct cw_snapshot_reader *with,
                           struct cw_snapshot_reading *reading, const uint8_t *data, size_t size)
{
    const struct cw_snapshot_received *const baseline = reading->baseline, *const before =
                                                                               reading->before;
    size_t split = CW_SNAPSHOT_NOT_SPLIT;
    if (with->coder) {
        if (size < CW_SNAPSHOT_SPLIT_SIZE)
            return false;
        split = data[0] | (size_t)data[1] << 8;
        data += CW_SNAPSHOT_SPLIT_SIZE;
        size -= CW_SNAPSHOT_SPLIT_SIZE;
    }
    const bool coded = split != CW_SNAPSHOT_NOT_SPLIT;
    if (coded && split > size)
        return false;
    const size_t plain = coded ? split : size;
    struct cw_stream stream = cw_stream_reader(data, plain);
    struct cw_snapshot_head *const head = &reading->head;
    *head = (struct cw_snapshot_head){.has_baseline = baseline != NULL,
                                      .baseline_tick = baseline ? baseline->tick : 0};
    if (!cw_snapshot_serialize_head(&with->wire, &stream, head) ||
        (before &&
         !cw_snapshot_can_predict(baseline->tick - before->tick, head->tick - baseline->tick)))
        return false;
    const bool done = coded ? read_coded(with, &stream, reading, data + plain, size - plain)
                            : read_entries(with, &stream.reader, reading);
    reading->snapshot->tick = head->tick;
    return done && cw_stream_align(&stream) && cw_stream_position(&stream) == plain * 8;
}
