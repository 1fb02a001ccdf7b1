/* A schema with a field of every kind, a type with a function of its own and a block, in a
   connection with a channel of every sort. */
#ifndef CAUSEWAY_TESTS_RICH_SCHEMA_H
#define CAUSEWAY_TESTS_RICH_SCHEMA_H

#include "causeway/connection.h"

#include <stdlib.h>

#define RICH_STATE_FIELDS(FIELD)                                                                   \
    FIELD(alive, CW_BOOL)                                                                          \
    FIELD(health, CW_INT(-100, 100))                                                               \
    FIELD(score, CW_UINT(0, 1000000))                                                              \
    FIELD(far, CW_INT_64(-5000000000, 5000000000))                                                 \
    FIELD(id, CW_BITS_64(48))                                                                      \
    FIELD(x, CW_FLOAT)                                                                             \
    FIELD(y, CW_DOUBLE)                                                                            \
    FIELD(angle, CW_COMPRESSED_FLOAT(-180, 180, 0.1f))                                             \
    FIELD(target, CW_OPTIONAL(CW_BITS(12)))                                                        \
    FIELD(path, CW_ARRAY(CW_INT(-100, 100), 16))
CW_MESSAGE(rich_state, RICH_STATE_FIELDS)

#define RICH_CHAT_FIELDS(FIELD)                                                                    \
    FIELD(text, CW_STRING(100))                                                                    \
    FIELD(voice, CW_BYTES(200))                                                                    \
    FIELD(names, CW_ARRAY(CW_STRING(8), 4))
CW_MESSAGE(rich_chat, RICH_CHAT_FIELDS)

#define RICH_FILE_FIELDS(FIELD) FIELD(name, CW_STRING(20))
CW_BLOCK_MESSAGE(rich_file, RICH_FILE_FIELDS)

struct rich_steps {
    uint32_t count;
    uint32_t steps[8];
};

CW_SERIALIZE(serialize_rich_steps, struct rich_steps, stream, message)
{
    uint32_t previous = 0;
    if (!cw_stream_count(stream, &message->count, 8))
        return false;
    for (uint32_t i = 0; i < message->count; i++) {
        if (!cw_stream_relative(stream, previous, &message->steps[i]))
            return false;
        previous = message->steps[i];
    }
    return cw_stream_align(stream);
}

enum { RICH_STATE, RICH_CHAT, RICH_FILE, RICH_STEPS, RICH_PING, RICH_TYPES };

static inline struct cw_schema *rich_schema(void)
{
    const struct cw_message_type types[] = {
        rich_state_type,
        rich_chat_type,
        rich_file_type,
        {.name = "steps", .size = sizeof(struct rich_steps), .serialize = serialize_rich_steps},
        {.name = "ping"},
    };
    const struct cw_schema_config config = {.types = types, .count = RICH_TYPES};
    struct cw_schema *schema;
    if (cw_schema_create(&config, &schema) != CW_OK)
        abort();
    return schema;
}

/* Channel 0: reliable; 1: unreliable; 2: reliable with blocks; 3: unreliable with blocks. */
static inline struct cw_connection_config rich_config(const struct cw_schema *schema)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.max_packets_per_update = 4;
    config.congestion.mode = CW_CONGESTION_NONE;
    config.channel_count = 4;
    config.max_messages = 64;
    config.channels[2] = config.channels[0];
    for (int i = 0; i < 4; i++) {
        config.channels[i].send_queue_size = config.channels[i].receive_queue_size = 32;
        config.channels[i].max_messages_per_packet = 10;
    }
    for (int i = 2; i < 4; i++) {
        config.channels[i].blocks = true;
        config.channels[i].block_fragment_size = 100;
        config.channels[i].max_block_size = 950;
    }
    return config;
}

#endif
