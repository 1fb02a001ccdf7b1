/* Sends an integer as its difference from an old one that both ends have. The two must differ.

       1 and a quarter of its bits, for a small difference
       01 and half of its bits, for a larger one
       00 and the new one itself

   Integers of few bits go as they are. Differences wrap, and are numbered from the small ones up:
   -1, 1, -2, 2 and so on. */
#ifndef CAUSEWAY_DIFFERENCE_H
#define CAUSEWAY_DIFFERENCE_H

#include "base/bits_ahead.h"
#include "causeway/bits.h"

/* An integer with at most this many bits goes as it is. */
#define CW_DIFFERENCE_WHOLE_BITS 4

CW_INLINE unsigned cw_difference_small_bits(unsigned bits)
{
    return bits / 4 + 1;
}

CW_INLINE unsigned cw_difference_large_bits(unsigned bits)
{
    return bits / 2 + 1;
}

/* Returns the code of an offset of 1 to 32 bits, and sets *count to the number of its bits. */
CW_INLINE uint64_t cw_difference_code(unsigned bits, uint32_t old, uint32_t offset, unsigned *count)
{
    *count = bits;
    if (bits <= CW_DIFFERENCE_WHOLE_BITS)
        return offset;
    const unsigned small = cw_difference_small_bits(bits);
    const uint32_t difference = offset - old;
    uint32_t code = (difference << 1 ^ (0 - (difference >> 31))) - 1;
    *count = 1 + small;
    if (CW_LIKELY(code >> small == 0))
        return (uint64_t)code << 1 | 1;
    const unsigned large = cw_difference_large_bits(bits);
    code -= (uint32_t)1 << small;
    *count = 2 + large;
    if (code >> large == 0)
        return (uint64_t)code << 2 | 2;
    *count = 2 + bits;
    return (uint64_t)offset << 2;
}

CW_INLINE bool cw_difference_write(struct cw_bit_writer *writer, unsigned bits, uint32_t old,
                                   uint32_t offset)
{
    unsigned count;
    const uint64_t code = cw_difference_code(bits, old, offset, &count);
    if (CW_LIKELY(count <= 32))
        return cw_bit_writer_bits(writer, (uint32_t)code, count);
    return cw_bit_writer_bits(writer, (uint32_t)code & 3, 2) &&
           cw_bit_writer_bits(writer, offset, bits);
}

CW_INLINE uint32_t cw_difference_low(uint64_t ahead, unsigned bits)
{
    return (uint32_t)(ahead & (((uint64_t)1 << bits) - 1));
}

/* Reads an offset, and leaves bits loaded ahead: see cw_bit_reader_settle. */
CW_INLINE bool cw_difference_read(struct cw_bit_reader *reader, unsigned bits, uint32_t old,
                                  uint32_t *offset)
{
    cw_bit_reader_fill(reader);
    const uint64_t ahead = reader->scratch;
    uint32_t code;
    unsigned count;
    if (bits <= CW_DIFFERENCE_WHOLE_BITS) {
        *offset = cw_difference_low(ahead, bits);
        return cw_bit_reader_skip(reader, bits);
    }
    const unsigned small = cw_difference_small_bits(bits);
    if (CW_LIKELY(ahead & 1)) {
        count = 1 + small;
        code = cw_difference_low(ahead >> 1, small);
    } else if (ahead & 2) {
        const unsigned large = cw_difference_large_bits(bits);
        count = 2 + large;
        code = cw_difference_low(ahead >> 2, large) + ((uint32_t)1 << small);
    } else {
        if (!cw_bit_reader_skip(reader, 2))
            return false;
        cw_bit_reader_fill(reader);
        *offset = cw_difference_low(reader->scratch, bits);
        return cw_bit_reader_skip(reader, bits);
    }
    ++code;
    *offset = old + (code >> 1 ^ (0 - (code & 1)));
    return cw_bit_reader_skip(reader, count);
}

#endif
