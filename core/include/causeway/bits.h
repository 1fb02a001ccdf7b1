/* Single bits in a buffer: a writer, a reader and a measurer.

   Bits fill bytes from the least significant bit up, and groups of bits are little-endian, as in
   the serialize 1.0 format. Buffers belong to the caller and have exactly the size that he says:
   nothing is written or read past it. A failure stays: after it, nothing more is written or read.

   Everything here is inline, so that a function that serializes a message compiles down to a few
   instructions per field. Most programs use stream.h, which is built on this. */
#ifndef CAUSEWAY_BITS_H
#define CAUSEWAY_BITS_H

#include "causeway/linkage.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

CW_BEGIN_DECLARATIONS

/* Inlined even where the compiler would rather not. Only speed depends on it. */
#if defined(CW_INLINE)
/* the build's own choice, as where size matters more */
#elif defined(__GNUC__)
#define CW_INLINE static inline __attribute__((always_inline))
#else
#define CW_INLINE static inline
#endif

/* True in the case for which the code is laid out. */
#if defined(__GNUC__)
#define CW_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define CW_LIKELY(condition) (condition)
#endif

/* How many bits hold every number from 0 to range: 0 to 32. */
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

/* The same for 64 bits: 0 to 64. */
CW_INLINE unsigned cw_bits_required_64(uint64_t range)
{
    const uint32_t high = (uint32_t)(range >> 32);
    return high ? 32 + cw_bits_required(high) : cw_bits_required((uint32_t)range);
}

/* The number of the lowest bit that is set, 0 to 63. bits is not 0. */
CW_INLINE unsigned cw_lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#else
    return cw_bits_required_64(bits & ~(bits - 1)) - 1;
#endif
}

/* Private members, as in all three structs below: use the functions. */
struct cw_bit_writer {
    uint8_t *data;
    size_t size;
    size_t position;  /* bytes stored */
    uint64_t scratch; /* bits not stored yet */
    unsigned used;    /* how many: at most 31 between calls */
    unsigned limit;   /* 32, or one more bit than the rest of the buffer holds if that is less */
    bool failed;
};

CW_INLINE void cw_bit_writer_set_limit(struct cw_bit_writer *writer)
{
    const size_t left = writer->size - writer->position;
    writer->limit = left < 4 ? (unsigned)left * 8 + 1 : 32;
}

/* Starts to write into data, which holds capacity bytes. */
CW_INLINE struct cw_bit_writer cw_bit_writer(uint8_t *data, size_t capacity)
{
    struct cw_bit_writer writer = {data, capacity, 0, 0, 0, 0, false};
    cw_bit_writer_set_limit(&writer);
    return writer;
}

/* Makes the writer fail from here on. Always false. */
CW_INLINE bool cw_bit_writer_fail(struct cw_bit_writer *writer)
{
    writer->scratch = 0;
    writer->used = 0;
    writer->limit = 0;
    writer->failed = true;
    return false;
}

/* Writes the low bits of value, 1 to 32 of them. False when they do not fit into the buffer or
   value has more bits than that. */
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

/* Stores the bits that do not fill a byte or a word yet, with zeros after them, and tells how many
   bytes of the buffer are used. 0 after a failure. Writing may go on afterwards. */
CW_INLINE size_t cw_bit_writer_flush(struct cw_bit_writer *writer)
{
    if (writer->failed)
        return 0;
    size_t position = writer->position;
    for (unsigned bit = 0; bit < writer->used; bit += 8)
        writer->data[position++] = (uint8_t)(writer->scratch >> bit);
    return position;
}

/* Aligns, then writes count bytes as they are. */
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

/* The bits written so far. */
CW_INLINE size_t cw_bit_writer_position(const struct cw_bit_writer *writer)
{
    return writer->position * 8 + writer->used;
}

struct cw_bit_reader {
    const uint8_t *data;
    ptrdiff_t last;     /* where the last whole word starts: size - 4 */
    ptrdiff_t position; /* bytes loaded */
    uint64_t scratch;   /* bits loaded and not read yet */
    unsigned available; /* how many: at most 31 between calls */
    bool failed;
};

/* The bytes at data from position to end, at most 3 of them, as one number. */
uint64_t cw_bits_load_end(const uint8_t *data, ptrdiff_t position, ptrdiff_t end);

/* Starts to read the size bytes at data. */
CW_INLINE struct cw_bit_reader cw_bit_reader(const uint8_t *data, size_t size)
{
    const struct cw_bit_reader reader = {data, (ptrdiff_t)size - 4, 0, 0, 0, false};
    return reader;
}

/* Makes the reader fail from here on. Always false. */
CW_INLINE bool cw_bit_reader_fail(struct cw_bit_reader *reader)
{
    reader->position = reader->last + 4;
    reader->scratch = 0;
    reader->available = 0;
    reader->failed = true;
    return false;
}

/* Reads the next 1 to 32 bits. False when the buffer has fewer left; value is then untouched. */
CW_INLINE bool cw_bit_reader_bits(struct cw_bit_reader *reader, uint32_t *value, unsigned bits)
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

/* Loads bits ahead of reading them, so that at least 32 are in scratch unless the buffer ends
   before, and what is behind them is 0. Between this and cw_bit_reader_settle only these functions
   are called. */
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

/* Takes the next 0 to 32 bits of scratch. False when there are fewer. */
CW_INLINE bool cw_bit_reader_skip(struct cw_bit_reader *reader, unsigned bits)
{
    if (reader->available < bits)
        return cw_bit_reader_fail(reader);
    reader->scratch >>= bits;
    reader->available -= bits;
    return true;
}

/* Gives back what was loaded ahead. */
CW_INLINE void cw_bit_reader_settle(struct cw_bit_reader *reader)
{
    if (reader->available >= 32) {
        reader->available -= 32;
        reader->position -= 4;
        reader->scratch &= ((uint64_t)1 << reader->available) - 1;
    }
}

/* Skips to the next byte. False when a bit that is skipped is not zero. */
CW_INLINE bool cw_bit_reader_align(struct cw_bit_reader *reader)
{
    const unsigned padding = reader->available % 8;
    if ((reader->scratch & ((1u << padding) - 1)) != 0)
        return cw_bit_reader_fail(reader);
    reader->scratch >>= padding;
    reader->available -= padding;
    return !reader->failed;
}

/* Aligns; false when fewer than count bytes follow. */
CW_INLINE bool cw_bit_reader_bytes_ahead(struct cw_bit_reader *reader, size_t count)
{
    if (!cw_bit_reader_align(reader))
        return false;
    reader->position -= reader->available / 8;
    reader->scratch = 0;
    reader->available = 0;
    if (count > (size_t)(reader->last + 4 - reader->position))
        return cw_bit_reader_fail(reader);
    return true;
}

/* Aligns, then reads count bytes as they are. False when there are fewer; bytes is then
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

/* As cw_bit_reader_bytes, but gives the address of the bytes where they are: in the buffer that is
   being read. */
CW_INLINE bool cw_bit_reader_borrow(struct cw_bit_reader *reader, const uint8_t **bytes,
                                    size_t count)
{
    if (!cw_bit_reader_bytes_ahead(reader, count))
        return false;
    *bytes = reader->data + reader->position;
    reader->position += (ptrdiff_t)count;
    return true;
}

/* The bits read so far; after a failure, all there are. */
CW_INLINE size_t cw_bit_reader_position(const struct cw_bit_reader *reader)
{
    return (size_t)reader->position * 8 - reader->available;
}

/* Counts what a writer would write: the exact number of bits, but 7 for every alignment, so that
   the count holds wherever in a packet the bits will start. */
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
