/* An integer told by its difference from an old one that both ends have, from which it differs:

       1 and a quarter of its bits, for a small difference
       01 and half of its bits, for a larger one
       00 and the new one itself

   Integers of few bits go as they are. Differences wrap, and are numbered from the small ones up:
   -1, 1, -2, 2 and so on. */
#ifndef CAUSEWAY_DIFFERENCE_H
#define CAUSEWAY_DIFFERENCE_H

#include "causeway/stream.h"

/* An integer with at most so many bits goes as it is. */
#define CW_DIFFERENCE_WHOLE_BITS 4

CW_INLINE unsigned cw_difference_small_bits(unsigned bits)
{
    return bits / 4 + 1;
}

CW_INLINE unsigned cw_difference_large_bits(unsigned bits)
{
    return bits / 2 + 1;
}

/* Writes or measures an offset of so many bits, 1 to 32. */
CW_INLINE bool cw_difference_write(struct cw_stream *stream, unsigned bits, uint32_t old,
                                   uint32_t offset)
{
    if (bits <= CW_DIFFERENCE_WHOLE_BITS)
        return cw_stream_bits(stream, &offset, bits);
    const unsigned small = cw_difference_small_bits(bits);
    const uint32_t difference = offset - old;
    uint32_t code = (difference << 1 ^ (0 - (difference >> 31))) - 1;
    if (CW_LIKELY(code >> small == 0)) {
        code = code << 1 | 1;
        return cw_stream_bits(stream, &code, 1 + small);
    }
    const unsigned large = cw_difference_large_bits(bits);
    code -= (uint32_t)1 << small;
    if (code >> large == 0) {
        code = code << 2 | 2;
        return cw_stream_bits(stream, &code, 2 + large);
    }
    code = 0;
    return cw_stream_bits(stream, &code, 2) && cw_stream_bits(stream, &offset, bits);
}

CW_INLINE bool cw_difference_read(struct cw_stream *stream, unsigned bits, uint32_t old,
                                  uint32_t *offset)
{
    uint32_t code = 0, rest = 0;
    if (bits <= CW_DIFFERENCE_WHOLE_BITS)
        return cw_stream_bits(stream, offset, bits);
    /* no form is shorter than that of a small difference */
    const unsigned small = cw_difference_small_bits(bits);
    if (!cw_stream_bits(stream, &code, 1 + small))
        return false;
    if (CW_LIKELY(code & 1)) {
        code >>= 1;
    } else {
        const bool large = (code & 2) != 0;
        const unsigned all = large ? cw_difference_large_bits(bits) : bits;
        if (!cw_stream_bits(stream, &rest, all - (small - 1)))
            return false;
        code = code >> 2 | rest << (small - 1);
        if (!large) {
            *offset = code;
            return true;
        }
        code += (uint32_t)1 << small;
    }
    ++code;
    *offset = old + (code >> 1 ^ (0 - (code & 1)));
    return true;
}

#endif
