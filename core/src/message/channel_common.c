#include "message/channel_common.h"
#include "message/message_pool.h"

#include <string.h>

void cw_channel_set_widths(struct cw_channel_common *common, uint32_t channel_count)
{
    common->type_bits = cw_bits_required(cw_schema_count(common->schema) - 1);
    common->index_bits = cw_bits_required(channel_count - 1);
    common->count_bits = cw_bits_required(common->config.max_messages_per_packet - 1);
    common->entry_bits = common->index_bits + 2 + common->count_bits;
}

bool cw_channel_read_body(struct cw_stream *stream, const struct cw_channel_common *common,
                          struct cw_parsed_entry *parsed, uint32_t type, bool keep,
                          struct cw_message **message)
{
    *message = NULL;
    parsed->messages++;
    if (keep && cw_message_pool_used(common->pool) < parsed->pool_limit &&
        cw_message_create_owned(common->pool, type, message) == CW_OK) {
        if (cw_schema_serialize_unchecked(common->schema, type, stream, (*message)->data))
            return true;
        cw_message_drop(*message);
        return false;
    }
    parsed->missing += keep;
    /* Fields are read without a look at the memory; a function may look. */
    const struct cw_message_type *of = cw_schema_type_unchecked(common->schema, type);
    if (of->serialize)
        memset(common->scratch, 0, of->size);
    return cw_schema_serialize_unchecked(common->schema, type, stream, common->scratch);
}
