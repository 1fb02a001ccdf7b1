/* A writer puts bits into a buffer, a reader takes them out, and a measurer counts them.

   Bits fill bytes from the least significant bit up, and groups of bits are little-endian, as in
   the serialize 1.0 format. Buffers belong to the caller, and nothing is written or read past the
   size given. After a failure, nothing more is written or read.

   Everything here is inline, so that a message's serialize function compiles to a few instructions
   per field. Most programs use stream.h, which is built on this. */
#ifndef CAUSEWAY_BITS_H
#define CAUSEWAY_BITS_H

#include "causeway/base.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

CW_BEGIN_DECLARATIONS

/* Inlines a function even where the compiler would rather not. Only speed depends on it. */
#if defined(CW_INLINE)
/* the build's own choice, for example where size matters more */
#elif defined(__GNUC__)
#define CW_INLINE static inline __attribute__((always_inline))
#else
#define CW_INLINE static inline
#endif

/* Tells the compiler that the condition is usually true. */
#if defined(__GNUC__)
#define CW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define CW_LIKELY(condition) (condition)
#endif

/* Returns the number of bits that can hold every number from 0 to range: 0 to 32. */
CW_INLINE unsigned cw_bits_required(uint32_t range)
{
#if defined(__GNUC__)
    return range ? 32 - (unsigned)__builtin_clz(range) : 0;
#else
    unsigned bits = 0;
    for (; range; range >>= 1)
        ++bits;
    return bits;
#endif
}

/* Returns the same number for a range of 64 bits: 0 to 64. */
CW_INLINE unsigned cw_bits_required_64(uint64_t range)
{
    const uint32_t high = (uint32_t)(range >> 32);
    return high ? 32 + cw_bits_required(high) : cw_bits_required((uint32_t)range);
}

/* Returns the index of the lowest bit that is set, 0 to 63. bits must not be 0. */
CW_INLINE unsigned cw_lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#else
    return cw_bits_required_64(bits & ~(bits - 1)) - 1;
#endif
}

/* The members of this struct and the two below are private: use the functions. */
struct cw_bit_writer {
    uint8_t *data;
    size_t size;
    size_t position;  /* bytes stored */
    uint64_t scratch; /* bits not stored yet */
    unsigned used;    /* bits in scratch: at most 31 between calls */
    unsigned limit;   /* 32, or one more bit than the rest of the buffer holds if that is less */
    bool failed;
};

CW_INLINE void cw_bit_writer_set_limit(struct cw_bit_writer *writer)
{
    const size_t left = writer->size - writer->position;
    writer->limit = left < 4 ? (unsigned)left * 8 + 1 : 32;
}

/* Returns a writer into data, which has room for capacity bytes. */
CW_INLINE struct cw_bit_writer cw_bit_writer_begin(uint8_t *data, size_t capacity)
{
    struct cw_bit_writer writer = {data, capacity, 0, 0, 0, 0, false};
    cw_bit_writer_set_limit(&writer);
    return writer;
}

/* Makes the writer fail from here on. Always returns false. */
CW_INLINE bool cw_bit_writer_fail(struct cw_bit_writer *writer)
{
    writer->scratch = 0;
    writer->used = 0;
    writer->limit = 0;
    writer->failed = true;
    return false;
}

/* Writes the low bits of value, 1 to 32 of them. Returns false when they do not fit into the
   buffer, or when value needs more bits than that. */
CW_INLINE bool cw_bit_writer_bits(struct cw_bit_writer *writer, uint32_t value, unsigned bits)
{
    assert(bits >= 1 && bits <= 32);
    if ((uint64_t)value >> bits != 0)
        return cw_bit_writer_fail(writer);
    writer->scratch |= (uint64_t)value << writer->used;
    writer->used += bits;
    /* the first half is for the compiler: 32 constant bits always reach the limit */
    if (bits == 32 || writer->used >= writer->limit) {
        if (!CW_LIKELY(writer->limit == 32))
            return cw_bit_writer_fail(writer);
        uint8_t *const out = writer->data + writer->position;
        out[0] = (uint8_t)writer->scratch;
        out[1] = (uint8_t)(writer->scratch >> 8);
        out[2] = (uint8_t)(writer->scratch >> 16);
        out[3] = (uint8_t)(writer->scratch >> 24);
        writer->position += 4;
        writer->scratch >>= 32;
        writer->used -= 32;
        if (!CW_LIKELY(writer->position + 4 <= writer->size)) {
            cw_bit_writer_set_limit(writer);
            if (writer->used >= writer->limit)
                return cw_bit_writer_fail(writer);
        }
    }
    return true;
}

/* Writes zero bits up to the next byte. */
CW_INLINE bool cw_bit_writer_align(struct cw_bit_writer *writer)
{
    const unsigned padding = (8 - writer->used % 8) % 8;
    return padding == 0 ? !writer->failed : cw_bit_writer_bits(writer, 0, padding);
}

/* Stores the bits that do not fill a byte or a word yet, padded with zeros. Returns how many bytes
   of the buffer are used, 0 after a failure. You may go on writing afterwards. */
CW_INLINE size_t cw_bit_writer_flush(struct cw_bit_writer *writer)
{
    if (writer->failed)
        return 0;
    size_t position = writer->position;
    for (unsigned bit = 0; bit < writer->used; bit += 8)
        writer->data[position++] = (uint8_t)(writer->scratch >> bit);
    return position;
}

/* Aligns, then writes count bytes unchanged. */
CW_INLINE bool cw_bit_writer_bytes(struct cw_bit_writer *writer, const uint8_t *bytes, size_t count)
{
    if (!cw_bit_writer_align(writer))
        return false;
    writer->position = cw_bit_writer_flush(writer);
    writer->scratch = 0;
    writer->used = 0;
    if (count > writer->size - writer->position)
        return cw_bit_writer_fail(writer);
    if (count > 0)
        memcpy(writer->data + writer->position, bytes, count);
    writer->position += count;
    cw_bit_writer_set_limit(writer);
    return true;
}

/* Returns the number of bits written so far. */
CW_INLINE size_t cw_bit_writer_position(const struct cw_bit_writer *writer)
{
    return writer->position * 8 + writer->used;
}

struct cw_bit_reader {
    const uint8_t *data;
    ptrdiff_t last;     /* the place of the last whole word: size - 4 */
    ptrdiff_t position; /* bytes loaded */
    uint64_t scratch;   /* bits loaded and not read yet */
    unsigned available; /* bits in scratch: at most 31 between calls */
    bool failed;
};

/* Returns the bytes at data from position to end, at most 3 of them, as one number. */
uint64_t cw_bits_load_end(const uint8_t *data, ptrdiff_t position, ptrdiff_t end);

/* Returns a reader of the size bytes at data. */
CW_INLINE struct cw_bit_reader cw_bit_reader_begin(const uint8_t *data, size_t size)
{
    const struct cw_bit_reader reader = {data, (ptrdiff_t)size - 4, 0, 0, 0, false};
    return reader;
}

/* Makes the reader fail from here on. Always returns false. */
CW_INLINE bool cw_bit_reader_fail(struct cw_bit_reader *reader)
{
    reader->position = reader->last + 4;
    reader->scratch = 0;
    reader->available = 0;
    reader->failed = true;
    return false;
}

/* Reads the next 1 to 32 bits. Returns false when fewer are left; value is then untouched. */
CW_INLINE bool cw_bit_reader_bits(struct cw_bit_reader *reader, unsigned bits, uint32_t *value)
{
    assert(bits >= 1 && bits <= 32);
    /* the first half is for the compiler: there are never 32 bits in the scratch */
    if (bits == 32 || reader->available < bits) {
        if (CW_LIKELY(reader->position <= reader->last)) {
            const uint8_t *const in = reader->data + reader->position;
            const uint32_t word = (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
                                  (uint32_t)in[3] << 24;
            reader->scratch |= (uint64_t)word << reader->available;
            reader->available += 32;
            reader->position += 4;
        } else {
            const ptrdiff_t end = reader->last + 4;
            const uint64_t rest = cw_bits_load_end(reader->data, reader->position, end);
            reader->scratch |= rest << reader->available;
            reader->available += (unsigned)(end - reader->position) * 8;
            reader->position = end;
            if (reader->available < bits)
                return cw_bit_reader_fail(reader);
        }
    }
    *value = (uint32_t)(reader->scratch & (((uint64_t)1 << bits) - 1));
    reader->scratch >>= bits;
    reader->available -= bits;
    return true;
}

/* Skips to the next byte. Returns false when a skipped bit is not zero. */
CW_INLINE bool cw_bit_reader_align(struct cw_bit_reader *reader)
{
    const unsigned padding = reader->available % 8;
    if ((reader->scratch & ((1u << padding) - 1)) != 0)
        return cw_bit_reader_fail(reader);
    reader->scratch >>= padding;
    reader->available -= padding;
    return !reader->failed;
}

/* Aligns. Returns false when fewer than count bytes follow. */
CW_INLINE bool cw_bit_reader_bytes_ahead(struct cw_bit_reader *reader, size_t count)
{
    if (!cw_bit_reader_align(reader))
        return false;
    reader->position -= (ptrdiff_t)(reader->available / 8);
    reader->scratch = 0;
    reader->available = 0;
    if (count > (size_t)(reader->last + 4 - reader->position))
        return cw_bit_reader_fail(reader);
    return true;
}

/* Aligns, then reads count bytes unchanged. Returns false when fewer are left; bytes is then
   untouched. */
CW_INLINE bool cw_bit_reader_bytes(struct cw_bit_reader *reader, uint8_t *bytes, size_t count)
{
    if (!cw_bit_reader_bytes_ahead(reader, count))
        return false;
    if (count > 0)
        memcpy(bytes, reader->data + reader->position, count);
    reader->position += (ptrdiff_t)count;
    return true;
}

/* Does what cw_bit_reader_bytes does, but gives the address of the bytes in the buffer instead of
   copying them. */
CW_INLINE bool cw_bit_reader_borrow(struct cw_bit_reader *reader, size_t count,
                                    const uint8_t **bytes)
{
    if (!cw_bit_reader_bytes_ahead(reader, count))
        return false;
    *bytes = reader->data + reader->position;
    reader->position += (ptrdiff_t)count;
    return true;
}

/* Returns the number of bits read so far; after a failure, that of all bits of the buffer. */
CW_INLINE size_t cw_bit_reader_position(const struct cw_bit_reader *reader)
{
    return (size_t)reader->position * 8 - reader->available;
}

/* A measurer counts the bits that a writer would write. Every alignment counts as 7, so that the
   count is enough wherever in a packet the bits start. */
struct cw_bit_measurer {
    size_t bits;
    bool failed;
};

CW_INLINE bool cw_bit_measurer_bits(struct cw_bit_measurer *measurer, size_t bits)
{
    measurer->bits += bits;
    return !measurer->failed;
}

CW_INLINE bool cw_bit_measurer_align(struct cw_bit_measurer *measurer)
{
    return cw_bit_measurer_bits(measurer, 7);
}

CW_INLINE bool cw_bit_measurer_bytes(struct cw_bit_measurer *measurer, size_t count)
{
    return cw_bit_measurer_bits(measurer, 7 + count * 8);
}

CW_END_DECLARATIONS

#endif
