/* What both kinds of channels have. */
#ifndef CAUSEWAY_CHANNEL_PARTS_H
#define CAUSEWAY_CHANNEL_PARTS_H

#include "causeway/channel.h"
#include "causeway/message.h"

struct cw_channel_parts {
    struct cw_channel_config config;
    const struct cw_schema *schema;
    struct cw_message_pool *pool;
    uint8_t *scratch; /* room for the largest message; shared by the channels of a connection */
    uint32_t type_bits;
    uint32_t entry_bits; /* of an entry before its first message */

    uint16_t *picked; /* max_messages_per_packet ids that go into the packet being made */
    uint32_t picked_count;

    struct cw_channel_stats stats;
};

/* Type and body of a message. */
static inline bool cw_channel_write_message(struct cw_stream *stream,
                                            const struct cw_channel_parts *parts,
                                            struct cw_message *message)
{
    return (parts->type_bits == 0 || cw_stream_bits(stream, &message->type, parts->type_bits)) &&
           cw_message_serialize(stream, message);
}

/* Reads a type; false when the schema has no such type. */
bool cw_channel_read_type(struct cw_stream *stream, const struct cw_channel_parts *parts,
                          uint32_t *type);

/* Reads the body of a message of the type to nowhere. */
bool cw_channel_skip_body(struct cw_stream *stream, const struct cw_channel_parts *parts,
                          uint32_t type);

/* Reads it into a new message from the pool, which has one; NULL when that fails after all. */
struct cw_message *cw_channel_read_body(struct cw_stream *stream,
                                        const struct cw_channel_parts *parts, uint32_t type);

#endif
