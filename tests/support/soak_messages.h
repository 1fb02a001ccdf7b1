/* Messages for long runs, whose content can be made again to compare. */
#ifndef CAUSEWAY_TESTS_LETTERS_H
#define CAUSEWAY_TESTS_LETTERS_H

#include "base/prng.h"
#include "causeway/message.h"

#include <string.h>

#define MAX_BODY 1000

enum { LETTER, FLAG, PARCEL };

/* Text that tells what it should be: number is the message's on its channel. */
struct letter {
    uint32_t number;
    uint32_t size;
    uint8_t bytes[MAX_BODY];
};

CW_SERIALIZE(serialize_letter, struct letter, stream, letter)
{
    return cw_stream_bits(stream, &letter->number, 32) &&
           cw_stream_uint(stream, &letter->size, 0, MAX_BODY) &&
           cw_stream_bytes(stream, letter->bytes, letter->size);
}

/* As small as can be, so that ids wrap soon. */
CW_SERIALIZE(serialize_flag, struct letter, stream, letter)
{
    return cw_stream_bits(stream, &letter->number, 3);
}

static const struct cw_message_type letter_types[] = {
    {.name = "letter", .size = sizeof(struct letter), .serialize = serialize_letter},
    {.name = "flag", .size = sizeof(struct letter), .serialize = serialize_flag},
    {.name = "parcel", .size = sizeof(struct letter), .serialize = serialize_letter, .block = true},
};

static inline void fill(struct cw_prng *random, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t bits = cw_prng_bits(random);
        memcpy(bytes + i, &bits, size - i < 8 ? size - i : 8);
    }
}

#endif
