#include "message/channel_common.h"

#include <string.h>

void cw_channel_set_widths(struct cw_channel_common *parts, uint32_t channel_count)
{
    parts->type_bits = cw_bits_required(cw_schema_count(parts->schema) - 1);
    parts->index_bits = cw_bits_required(channel_count - 1);
    parts->count_bits = cw_bits_required(parts->config.max_messages_per_packet - 1);
    parts->entry_bits = parts->index_bits + 2 + parts->count_bits;
}

bool cw_channel_read_type(struct cw_stream *stream, const struct cw_channel_common *parts,
                          uint32_t *type)
{
    *type = 0;
    if (parts->type_bits > 0 && !cw_stream_bits(stream, type, parts->type_bits))
        return false;
    return *type < cw_schema_count(parts->schema);
}

bool cw_channel_read_body(struct cw_stream *stream, const struct cw_channel_common *parts,
                          struct cw_parsed_entry *parsed, uint32_t type, bool keep,
                          struct cw_message **message)
{
    *message = NULL;
    if (keep && cw_message_pool_used(parts->pool) < parsed->pool_limit &&
        cw_message_create_held(parts->pool, type, message) == CW_OK) {
        if (cw_message_serialize(stream, *message))
            return true;
        cw_message_drop(*message);
        return false;
    }
    parsed->missing += keep;
    memset(parts->scratch, 0, cw_schema_type_checked(parts->schema, type)->size);
    return cw_schema_serialize_checked(parts->schema, type, stream, parts->scratch);
}
