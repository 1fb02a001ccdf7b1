/* Copies bits into a writer, wherever in a byte they begin. */
#ifndef CAUSEWAY_BIT_COPY_H
#define CAUSEWAY_BIT_COPY_H

#include "base/little_endian.h"

#include "causeway/bits.h"

/* Writes `bits` bits, of which the first is bit `first` of from's first byte, 0 to 7. From the byte
   of the last one on, 8 bytes may be read. False when they do not fit into the buffer. */
static inline bool cw_bit_copy(struct cw_bit_writer *writer, const uint8_t *from, unsigned first,
                               size_t bits)
{
    uint64_t scratch = writer->scratch;
    const size_t words = bits / 32;
    if (writer->failed || words * 4 > writer->size - writer->position)
        return cw_bit_writer_fail(writer);
    uint8_t *to = writer->data + writer->position;
    for (const uint8_t *end = from + words * 4; from < end; from += 4, to += 4) {
        scratch |= (cw_little_endian_64(from) >> first & UINT32_MAX) << writer->used;
        const uint32_t word = (uint32_t)scratch;
        to[0] = (uint8_t)word;
        to[1] = (uint8_t)(word >> 8);
        to[2] = (uint8_t)(word >> 16);
        to[3] = (uint8_t)(word >> 24);
        scratch >>= 32;
    }
    writer->scratch = scratch;
    writer->position += words * 4;
    cw_bit_writer_set_limit(writer);
    if (writer->used >= writer->limit)
        return cw_bit_writer_fail(writer);
    const unsigned rest = bits % 32;
    const uint32_t last = (uint32_t)(cw_little_endian_64(from) >> first) & ((1u << rest) - 1);
    return rest == 0 || cw_bit_writer_bits(writer, last, rest);
}

#endif
