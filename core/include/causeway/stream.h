/* One function per message writes it, reads it and measures it: this is called unified serialize.

       struct move {
           int32_t direction;
           bool jump;
       };

       CW_SERIALIZE(serialize_move, struct move, stream, move)
       {
           return cw_stream_int(stream, &move->direction, 0, 7) &&
                  cw_stream_bool(stream, &move->jump);
       }

   Every function here takes a pointer to a value. A writing or measuring stream takes the value
   from there, and a reading stream puts it there. A function returns false when the value is out of
   range, on either side, or when the buffer has ended. After a failure the stream does nothing
   more; discard what it was reading into. Limits (ranges, sizes, counts) are not on the wire: both
   sides must give the same ones.

   The wire format is serialize 1.0. */
#ifndef CAUSEWAY_STREAM_H
#define CAUSEWAY_STREAM_H

#include "causeway/base.h"
#include "causeway/bits.h"

CW_BEGIN_DECLARATIONS

enum cw_stream_mode { CW_STREAM_WRITE, CW_STREAM_READ, CW_STREAM_MEASURE };

/* The mode may be read; the rest is private. */
struct cw_stream {
    enum cw_stream_mode mode;
    union {
        struct cw_bit_writer writer;
        struct cw_bit_reader reader;
        struct cw_bit_measurer measurer;
    };
};

/* Such a function serializes one kind of message in every mode. */
typedef bool cw_serialize(struct cw_stream *stream, void *message);

/* Defines the function `bool name(struct cw_stream *, void *)`, a cw_serialize. The body that
   follows sees `struct cw_stream *stream` and `type *message` under the names given. The compiler
   makes one copy of the body per mode, each with the stream in registers; where size matters more
   than speed, one does for all modes. Put a part that several messages share into a CW_INLINE
   function, and call it from their bodies. */
#if defined(__OPTIMIZE_SIZE__)
#define CW_SERIALIZE(name, type, stream, message)                                                  \
    CW_INLINE bool name##_in_mode(struct cw_stream *stream, type *message);                        \
    static bool name(struct cw_stream *cw_outer, void *cw_message)                                 \
    {                                                                                              \
        return name##_in_mode(cw_outer, (type *)cw_message);                                       \
    }                                                                                              \
    CW_INLINE bool name##_in_mode(struct cw_stream *stream, type *message)
#else
#define CW_SERIALIZE(name, type, stream, message)                                                  \
    CW_INLINE bool name##_in_mode(struct cw_stream *stream, type *message);                        \
    static bool name(struct cw_stream *cw_outer, void *cw_message)                                 \
    {                                                                                              \
        struct cw_stream cw_inner;                                                                 \
        bool cw_done;                                                                              \
        if (cw_outer->mode == CW_STREAM_WRITE) {                                                   \
            cw_inner.mode = CW_STREAM_WRITE;                                                       \
            cw_inner.writer = cw_outer->writer;                                                    \
            cw_done = name##_in_mode(&cw_inner, (type *)cw_message);                               \
            cw_outer->writer = cw_inner.writer;                                                    \
        } else if (cw_outer->mode == CW_STREAM_READ) {                                             \
            cw_inner.mode = CW_STREAM_READ;                                                        \
            cw_inner.reader = cw_outer->reader;                                                    \
            cw_done = name##_in_mode(&cw_inner, (type *)cw_message);                               \
            cw_outer->reader = cw_inner.reader;                                                    \
        } else {                                                                                   \
            cw_inner.mode = CW_STREAM_MEASURE;                                                     \
            cw_inner.measurer = cw_outer->measurer;                                                \
            cw_done = name##_in_mode(&cw_inner, (type *)cw_message);                               \
            cw_outer->measurer = cw_inner.measurer;                                                \
        }                                                                                          \
        return cw_done;                                                                            \
    }                                                                                              \
    CW_INLINE bool name##_in_mode(struct cw_stream *stream, type *message)
#endif

/* Returns a stream that writes into data, a buffer of capacity bytes that belongs to the caller. */
CW_INLINE struct cw_stream cw_stream_writer(uint8_t *data, size_t capacity)
{
    struct cw_stream stream;
    stream.mode = CW_STREAM_WRITE;
    stream.writer = cw_bit_writer_begin(data, capacity);
    return stream;
}

/* Returns a stream that reads the size bytes at data, and not one byte more. */
CW_INLINE struct cw_stream cw_stream_reader(const uint8_t *data, size_t size)
{
    struct cw_stream stream;
    stream.mode = CW_STREAM_READ;
    stream.reader = cw_bit_reader_begin(data, size);
    return stream;
}

/* Returns a stream that counts the bits that a writer would need; see cw_bit_measurer. Like a
   writer, it refuses values that are out of range. */
CW_INLINE struct cw_stream cw_stream_measurer(void)
{
    struct cw_stream stream;
    stream.mode = CW_STREAM_MEASURE;
    stream.measurer.bits = 0;
    stream.measurer.failed = false;
    return stream;
}

/* Makes the stream fail from here on, for a body that finds a value it cannot accept. Always
   returns false. */
CW_INLINE bool cw_stream_fail(struct cw_stream *stream)
{
    if (stream->mode == CW_STREAM_WRITE)
        return cw_bit_writer_fail(&stream->writer);
    if (stream->mode == CW_STREAM_READ)
        return cw_bit_reader_fail(&stream->reader);
    stream->measurer.failed = true;
    return false;
}

/* Returns true when something has failed. */
CW_INLINE bool cw_stream_failed(const struct cw_stream *stream)
{
    if (stream->mode == CW_STREAM_WRITE)
        return stream->writer.failed;
    return stream->mode == CW_STREAM_READ ? stream->reader.failed : stream->measurer.failed;
}

/* Returns the number of bits written, read or measured so far. */
CW_INLINE size_t cw_stream_position(const struct cw_stream *stream)
{
    if (stream->mode == CW_STREAM_WRITE)
        return cw_bit_writer_position(&stream->writer);
    return stream->mode == CW_STREAM_READ ? cw_bit_reader_position(&stream->reader)
                                          : stream->measurer.bits;
}

/* For a writing stream: stores the last bits and returns the size of the result in bytes, 0 after a
   failure. You may go on writing; flush again at the end. */
CW_INLINE size_t cw_stream_flush(struct cw_stream *stream)
{
    assert(stream->mode == CW_STREAM_WRITE);
    return stream->mode == CW_STREAM_WRITE ? cw_bit_writer_flush(&stream->writer) : 0;
}

/* Serializes 1 to 32 bits. */
CW_INLINE bool cw_stream_bits(struct cw_stream *stream, uint32_t *value, unsigned bits)
{
    if (stream->mode == CW_STREAM_READ)
        return cw_bit_reader_bits(&stream->reader, bits, value);
    if (stream->mode == CW_STREAM_WRITE)
        return cw_bit_writer_bits(&stream->writer, *value, bits);
    if ((uint64_t)*value >> bits != 0)
        return cw_stream_fail(stream);
    return cw_bit_measurer_bits(&stream->measurer, bits);
}

/* Serializes 1 to 64 bits. */
CW_INLINE bool cw_stream_bits_64(struct cw_stream *stream, uint64_t *value, unsigned bits)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t low = reading ? 0 : (uint32_t)*value;
    uint32_t high = reading ? 0 : (uint32_t)(*value >> 32);
    if (bits <= 32 && high != 0)
        return cw_stream_fail(stream);
    if (!cw_stream_bits(stream, &low, bits < 32 ? bits : 32))
        return false;
    if (bits > 32 && !cw_stream_bits(stream, &high, bits - 32))
        return false;
    if (reading)
        *value = (uint64_t)high << 32 | low;
    return true;
}

/* Serializes one bit. */
CW_INLINE bool cw_stream_bool(struct cw_stream *stream, bool *value)
{
    uint32_t bit = stream->mode != CW_STREAM_READ && *value;
    if (!cw_stream_bits(stream, &bit, 1))
        return false;
    if (stream->mode == CW_STREAM_READ)
        *value = bit != 0;
    return true;
}

/* Serializes a number from min to max, in as few bits as can hold max - min; none when they are
   equal. */
CW_INLINE bool cw_stream_uint(struct cw_stream *stream, uint32_t *value, uint32_t min, uint32_t max)
{
    assert(min <= max);
    const bool reading = stream->mode == CW_STREAM_READ;
    const uint32_t range = max - min;
    const unsigned bits = cw_bits_required(range);
    uint32_t offset = reading ? 0 : *value - min;
    if (min > max || (!reading && offset > range))
        return cw_stream_fail(stream);
    if (bits == 0 ? cw_stream_failed(stream) : !cw_stream_bits(stream, &offset, bits))
        return false;
    if (!reading)
        return true;
    if (offset > range)
        return cw_stream_fail(stream);
    *value = offset + min;
    return true;
}

CW_INLINE bool cw_stream_int(struct cw_stream *stream, int32_t *value, int32_t min, int32_t max)
{
    assert(min <= max);
    uint32_t offset = stream->mode == CW_STREAM_READ ? 0 : (uint32_t)*value - (uint32_t)min;
    if (min > max || !cw_stream_uint(stream, &offset, 0, (uint32_t)max - (uint32_t)min))
        return cw_stream_fail(stream);
    if (stream->mode == CW_STREAM_READ)
        *value = (int32_t)(offset + (uint32_t)min);
    return true;
}

CW_INLINE bool cw_stream_uint_64(struct cw_stream *stream, uint64_t *value, uint64_t min,
                                 uint64_t max)
{
    assert(min <= max);
    const bool reading = stream->mode == CW_STREAM_READ;
    const uint64_t range = max - min;
    const unsigned bits = cw_bits_required_64(range);
    uint64_t offset = reading ? 0 : *value - min;
    if (min > max || (!reading && offset > range))
        return cw_stream_fail(stream);
    if (bits == 0 ? cw_stream_failed(stream) : !cw_stream_bits_64(stream, &offset, bits))
        return false;
    if (!reading)
        return true;
    if (offset > range)
        return cw_stream_fail(stream);
    *value = offset + min;
    return true;
}

CW_INLINE bool cw_stream_int_64(struct cw_stream *stream, int64_t *value, int64_t min, int64_t max)
{
    assert(min <= max);
    uint64_t offset = stream->mode == CW_STREAM_READ ? 0 : (uint64_t)*value - (uint64_t)min;
    if (min > max || !cw_stream_uint_64(stream, &offset, 0, (uint64_t)max - (uint64_t)min))
        return cw_stream_fail(stream);
    if (stream->mode == CW_STREAM_READ)
        *value = (int64_t)(offset + (uint64_t)min);
    return true;
}

/* Serializes the 32 bits of an IEEE float. Infinities and NaN are allowed. */
CW_INLINE bool cw_stream_float(struct cw_stream *stream, float *value)
{
    uint32_t bits = 0;
    if (stream->mode != CW_STREAM_READ)
        memcpy(&bits, value, sizeof bits);
    if (!cw_stream_bits(stream, &bits, 32))
        return false;
    if (stream->mode == CW_STREAM_READ)
        memcpy(value, &bits, sizeof bits);
    return true;
}

/* Serializes the 64 bits of an IEEE double. Infinities and NaN are allowed. */
CW_INLINE bool cw_stream_double(struct cw_stream *stream, double *value)
{
    uint64_t bits = 0;
    if (stream->mode != CW_STREAM_READ)
        memcpy(&bits, value, sizeof bits);
    if (!cw_stream_bits_64(stream, &bits, 64))
        return false;
    if (stream->mode == CW_STREAM_READ)
        memcpy(value, &bits, sizeof bits);
    return true;
}

/* Serializes the number of elements in an array, 0 to max, like cw_stream_uint. The caller then
   serializes the elements one by one in a loop. An optional field is a bool, followed by the field
   when it is true. */
CW_INLINE bool cw_stream_count(struct cw_stream *stream, uint32_t *count, uint32_t max)
{
    return cw_stream_uint(stream, count, 0, max);
}

/* Serializes zero bits up to the next byte of the stream. */
CW_INLINE bool cw_stream_align(struct cw_stream *stream)
{
    if (stream->mode == CW_STREAM_WRITE)
        return cw_bit_writer_align(&stream->writer);
    return stream->mode == CW_STREAM_READ ? cw_bit_reader_align(&stream->reader)
                                          : cw_bit_measurer_align(&stream->measurer);
}

/* Returns true when the length bytes at text are valid UTF-8 and hold no NUL. */
bool cw_text_valid(const char *text, size_t length);

/* Aligns, then serializes count bytes unchanged. The count is not on the wire. */
CW_INLINE bool cw_stream_bytes(struct cw_stream *stream, uint8_t *bytes, size_t count)
{
    if (stream->mode == CW_STREAM_WRITE)
        return cw_bit_writer_bytes(&stream->writer, bytes, count);
    return stream->mode == CW_STREAM_READ ? cw_bit_reader_bytes(&stream->reader, bytes, count)
                                          : cw_bit_measurer_bytes(&stream->measurer, count);
}

/* These functions are not inlined. Most do so much work that a call does not matter. The two
   functions for ranges and the one for bytes repeat inline ones, for builds where size matters more
   than speed. */
bool cw_stream_outlined_uint(struct cw_stream *stream, uint32_t *value, uint32_t min, uint32_t max);
bool cw_stream_outlined_uint_64(struct cw_stream *stream, uint64_t *value, uint64_t min,
                                uint64_t max);
bool cw_stream_outlined_bytes(struct cw_stream *stream, uint8_t *bytes, size_t count);
bool cw_stream_outlined_string(struct cw_stream *stream, char *string, size_t size);
bool cw_stream_outlined_compressed_float(struct cw_stream *stream, float *value, float min,
                                         float max, float resolution);
bool cw_stream_outlined_relative(struct cw_stream *stream, uint32_t previous, uint32_t *current);

/* Serializes the rest of cw_stream_relative_sequence after its first bit, for a number that is not
   the next. */
bool cw_stream_outlined_relative_sequence(struct cw_stream *stream, uint16_t previous,
                                          uint16_t *current);

/* The functions below pass a copy of the stream to those above, because a stream whose address is
   known elsewhere cannot stay in registers. */

/* Serializes UTF-8 text that ends with a NUL, in a buffer of size bytes, 1 to 2^32 - 1. On the
   wire: the length in bytes, from 0 to size - 1, then aligned bytes without the NUL. Fails when the
   text is not valid UTF-8 or holds a NUL. A writer also fails when no NUL ends the text within the
   buffer. */
CW_INLINE bool cw_stream_string(struct cw_stream *stream, char *string, size_t size)
{
    struct cw_stream copy = *stream;
    const bool done = cw_stream_outlined_string(&copy, string, size);
    *stream = copy;
    return done;
}

/* Serializes a float from min to max in steps of about resolution, in as few bits as can number the
   steps. A value outside is sent as the nearest limit, and NaN as min. The reader gets the nearest
   step. min < max and resolution > 0; max - min and resolution must be finite. */
CW_INLINE bool cw_stream_compressed_float(struct cw_stream *stream, float *value, float min,
                                          float max, float resolution)
{
    struct cw_stream copy = *stream;
    const bool done = cw_stream_outlined_compressed_float(&copy, value, min, max, resolution);
    *stream = copy;
    return done;
}

/* Serializes a number greater than previous, which both sides know. It takes 1 bit when it is the
   next number, at most 38. */
CW_INLINE bool cw_stream_relative(struct cw_stream *stream, uint32_t previous, uint32_t *current)
{
    struct cw_stream copy = *stream;
    const bool done = cw_stream_outlined_relative(&copy, previous, current);
    *stream = copy;
    return done;
}

/* Does the same for sequence numbers, which wrap. Any number except previous itself is allowed. */
CW_INLINE bool cw_stream_relative_sequence(struct cw_stream *stream, uint16_t previous,
                                           uint16_t *current)
{
    const uint16_t next = (uint16_t)(previous + 1);
    uint32_t is_next = stream->mode != CW_STREAM_READ && *current == next;
    if (!cw_stream_bits(stream, &is_next, 1))
        return false;
    if (is_next) {
        *current = next;
        return true;
    }
    struct cw_stream copy = *stream;
    const bool done = cw_stream_outlined_relative_sequence(&copy, previous, current);
    *stream = copy;
    return done;
}

CW_END_DECLARATIONS

#endif
