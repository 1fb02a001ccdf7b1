/* Copies bits into a writer, wherever in a byte they begin. */
#ifndef CAUSEWAY_BIT_COPY_H
#define CAUSEWAY_BIT_COPY_H

#include "base/little_endian.h"

#include "causeway/bits.h"

/* Writes `bits` bits, of which the first is bit `first` of from's first byte, 0 to 7. From the byte
   of the last bit on, 8 bytes may be read. Returns false when they do not fit into the buffer. */
static inline bool cw_bit_copy(struct cw_bit_writer *writer, const uint8_t *from, unsigned first,
                               size_t bits)
{
    const unsigned used = writer->used;
    const size_t all = used + bits, words = all / 32;
    if (writer->failed || all > (writer->size - writer->position) * 8)
        return cw_bit_writer_fail(writer);
    uint8_t *to = writer->data + writer->position;
    uint64_t scratch = writer->scratch | cw_little_endian_64(from) >> first << used;
    if (words > 0) {
        /* the first word begins with bits that wait in the writer; each word behind it is 32 bits
           of `from` that begin at the same bit of a byte */
        const uint8_t *const end = to + words * 4;
        from += (first + 32 - used) / 8;
        first = (first + 32 - used) % 8;
        for (;;) {
            to[0] = (uint8_t)scratch;
            to[1] = (uint8_t)(scratch >> 8);
            to[2] = (uint8_t)(scratch >> 16);
            to[3] = (uint8_t)(scratch >> 24);
            to += 4;
            scratch = cw_little_endian_64(from) >> first;
            if (to == end)
                break;
            from += 4;
        }
    }
    writer->used = all % 32;
    writer->scratch = scratch & ((1u << writer->used) - 1);
    writer->position += words * 4;
    cw_bit_writer_set_limit(writer);
    return true;
}

#endif
