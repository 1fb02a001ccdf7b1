#include "game/snapshot_wire.h"

#include "message/schema_delta.h"

struct cw_snapshot_wire cw_snapshot_wire_make(const struct cw_schema *quantized,
                                              const struct cw_snapshot_config *config)
{
    return (struct cw_snapshot_wire){.schema = quantized,
                                     .coding = config->coding,
                                     .max_entities = config->max_entities,
                                     .id_bits = cw_bits_required(config->max_entities - 1),
                                     .last_type = cw_schema_count(quantized) - 1};
}

const struct cw_schema_steps *cw_snapshot_moving(const struct cw_snapshot_wire *wire, uint32_t type)
{
    const struct cw_schema_steps *const steps = &wire->schema->types[type].steps;
    return wire->coding != CW_SNAPSHOT_DIFFERENCES && cw_schema_is_plain(steps) ? steps : NULL;
}

bool cw_snapshot_serialize_head(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                                struct cw_snapshot_head *head)
{
    if (head->has_baseline) {
        /* the 1 is added because relative takes no 0, and a tick may be sent more than once */
        uint32_t ahead = head->tick - head->baseline_tick + 1;
        if (!cw_stream_relative(stream, 0, &ahead))
            return false;
        head->tick = head->baseline_tick + ahead - 1;
    } else if (!cw_stream_bits(stream, &head->tick, 32)) {
        return false;
    }
    return cw_stream_bool(stream, &head->complete) &&
           cw_stream_count(stream, &head->count, wire->max_entities);
}

unsigned cw_snapshot_id_bits(const struct cw_snapshot_wire *wire)
{
    const unsigned most = cw_snapshot_steps[CW_SNAPSHOT_STEPS - 1].bits;
    return CW_SNAPSHOT_STEPS + (wire->id_bits > most ? wire->id_bits : most);
}

bool cw_snapshot_write_id(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                          uint32_t previous, uint32_t id)
{
    const uint32_t step = id - previous;
    uint32_t code = id << CW_SNAPSHOT_STEPS;
    for (unsigned i = 0; i < CW_SNAPSHOT_STEPS; ++i)
        if ((step - cw_snapshot_steps[i].low) >> cw_snapshot_steps[i].bits == 0) {
            code = ((step - cw_snapshot_steps[i].low) << 1 | 1) << i;
            return cw_stream_bits(stream, &code, i + 1 + cw_snapshot_steps[i].bits);
        }
    return cw_stream_bits(stream, &code, CW_SNAPSHOT_STEPS + wire->id_bits);
}

/* An update is a 0 and a removal 10 when the baseline has the entity, and the rest are 1s. */
static bool serialize_change(struct cw_stream *stream, struct cw_snapshot_entry *entry)
{
    uint32_t other = entry->change != CW_SNAPSHOT_UPDATE;
    uint32_t whole = entry->change == CW_SNAPSHOT_WHOLE;
    if (entry->in_baseline) {
        if (!cw_stream_bits(stream, &other, 1))
            return false;
        if (other == 0) {
            entry->change = CW_SNAPSHOT_UPDATE;
            return true;
        }
    }
    if (!cw_stream_bits(stream, &whole, 1))
        return false;
    entry->change = whole ? CW_SNAPSHOT_WHOLE : CW_SNAPSHOT_REMOVE;
    return true;
}

bool cw_snapshot_serialize_entry(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                                 struct cw_snapshot_entry *entry)
{
    if (!serialize_change(stream, entry))
        return false;
    if (entry->change == CW_SNAPSHOT_UPDATE) {
        const struct cw_schema_steps *const steps = cw_snapshot_moving(wire, entry->type);
        return steps ? cw_snapshot_serialize_moved(stream, steps, &entry->motion, entry->baseline,
                                                   entry->state)
                     : cw_schema_changes(wire->schema, entry->type, stream, entry->baseline,
                                         entry->state);
    }
    if (entry->change == CW_SNAPSHOT_REMOVE)
        return true;
    if (!cw_stream_uint(stream, &entry->type, 0, wire->last_type) ||
        !cw_stream_bits(stream, &entry->incarnation, 8))
        return false;
    const struct cw_message_type *const of = cw_schema_type(wire->schema, entry->type);
    if (!cw_schema_comparable(wire->schema, entry->type))
        return cw_stream_fail(stream);
    if (stream->mode == CW_STREAM_READ && of->size > 0)
        memset(entry->state, 0, of->size);
    return cw_schema_serialize(wire->schema, entry->type, stream, entry->state);
}
