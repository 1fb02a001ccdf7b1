/* Reading bits that were loaded ahead, where the next few bits tell how many belong together. */
#ifndef CAUSEWAY_BITS_AHEAD_H
#define CAUSEWAY_BITS_AHEAD_H

#include "causeway/bits.h"

/* Loads bits ahead of reading them, so that scratch holds at least 32, or all that are left, with
   zeros after them. Until cw_bit_reader_settle, call only this function and the next. */
CW_INLINE void cw_bit_reader_fill(struct cw_bit_reader *reader)
{
    if (reader->available >= 32)
        return;
    if (CW_LIKELY(reader->position <= reader->last)) {
        const uint8_t *const in = reader->data + reader->position;
        const uint32_t word =
            (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
        reader->scratch |= (uint64_t)word << reader->available;
        reader->available += 32;
        reader->position += 4;
    } else {
        const ptrdiff_t end = reader->last + 4;
        const uint64_t rest = cw_bits_load_end(reader->data, reader->position, end);
        reader->scratch |= rest << reader->available;
        reader->available += (unsigned)(end - reader->position) * 8;
        reader->position = end;
    }
}

/* Skips the next 0 to 32 bits of scratch. Returns false when fewer are left. */
CW_INLINE bool cw_bit_reader_skip(struct cw_bit_reader *reader, unsigned bits)
{
    if (reader->available < bits)
        return cw_bit_reader_fail(reader);
    reader->scratch >>= bits;
    reader->available -= bits;
    return true;
}

/* Gives back the bits that were loaded ahead. */
CW_INLINE void cw_bit_reader_settle(struct cw_bit_reader *reader)
{
    if (reader->available >= 32) {
        reader->available -= 32;
        reader->position -= 4;
        reader->scratch &= ((uint64_t)1 << reader->available) - 1;
    }
}

#endif
