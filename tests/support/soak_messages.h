/* Messages for long runs, whose content can be made again to compare. */
#ifndef CAUSEWAY_TESTS_SOAK_MESSAGES_H
#define CAUSEWAY_TESTS_SOAK_MESSAGES_H

#include "base/prng.h"
#include "causeway/message.h"

#include <string.h>

#define MAX_BODY 1000

enum { TEXT, SMALL, BLOCK };

/* A message whose content follows from these numbers, so that it can be checked; number is that of
   the message on its channel. */
struct soak_message {
    uint32_t number;
    uint32_t size;
    uint8_t bytes[MAX_BODY];
};

CW_SERIALIZE(serialize_text, struct soak_message, stream, message)
{
    return cw_stream_bits(stream, &message->number, 32) &&
           cw_stream_uint(stream, &message->size, 0, MAX_BODY) &&
           cw_stream_bytes(stream, message->bytes, message->size);
}

/* The message is as small as can be, so that ids wrap soon. */
CW_SERIALIZE(serialize_small, struct soak_message, stream, message)
{
    return cw_stream_bits(stream, &message->number, 3);
}

static const struct cw_message_type soak_types[] = {
    {.name = "text", .size = sizeof(struct soak_message), .serialize = serialize_text},
    {.name = "small", .size = sizeof(struct soak_message), .serialize = serialize_small},
    {.name = "block",
     .size = sizeof(struct soak_message),
     .serialize = serialize_text,
     .block = true},
};

static inline void fill(struct cw_prng *random, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t bits = cw_prng_bits(random);
        memcpy(bytes + i, &bits, size - i < 8 ? size - i : 8);
    }
}

#endif
