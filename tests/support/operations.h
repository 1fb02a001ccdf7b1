/* A stream as data: a list of operations, as the vectors and the golden file have them. */
#ifndef CAUSEWAY_TESTS_OPERATIONS_H
#define CAUSEWAY_TESTS_OPERATIONS_H

#include "causeway/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operation_kind {
    OPERATION_BITS,
    OPERATION_BOOL,
    OPERATION_INT,
    OPERATION_UINT,
    OPERATION_INT_64,
    OPERATION_UINT_64,
    OPERATION_FLOAT,
    OPERATION_DOUBLE,
    OPERATION_COMPRESSED_FLOAT,
    OPERATION_BYTES,
    OPERATION_STRING,
    OPERATION_ALIGN,
    OPERATION_RELATIVE,
    OPERATION_RELATIVE_SEQUENCE,
    OPERATION_COUNT
};

static const char *const operation_names[OPERATION_COUNT] = {"bits",
                                                             "bool",
                                                             "int",
                                                             "uint",
                                                             "int64",
                                                             "uint64",
                                                             "float",
                                                             "double",
                                                             "compressed_float",
                                                             "bytes",
                                                             "string",
                                                             "align",
                                                             "int_relative",
                                                             "sequence_relative"};

/* An operation. Numbers are kept as the low bits of 64, floats as their bit patterns. */
struct operation {
    enum operation_kind kind;
    uint64_t value;
    uint64_t min; /* or the bits, the count, the size of the buffer, the previous number */
    uint64_t max;
    uint64_t resolution;
    uint8_t data[512]; /* the bytes of bytes and strings; value is their number */
};

static inline float operation_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline uint64_t operation_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Writes, reads or measures one operation; a reading stream puts the value into it. A stream only
   copies the bytes of floats; in a variable of their type the x87 would change some NaNs. */
static inline bool operation_run(struct cw_stream *stream, struct operation *operation)
{
    struct operation *const o = operation;
    bool done = false;
    switch (o->kind) {
    case OPERATION_BITS:
        return cw_stream_bits_64(stream, &o->value, (unsigned)o->min);
    case OPERATION_BOOL: {
        bool value = o->value != 0;
        done = cw_stream_bool(stream, &value);
        o->value = value;
        return done;
    }
    case OPERATION_INT: {
        int32_t value = (int32_t)o->value;
        done = cw_stream_int(stream, &value, (int32_t)o->min, (int32_t)o->max);
        o->value = (uint64_t)(int64_t)value;
        return done;
    }
    case OPERATION_UINT: {
        uint32_t value = (uint32_t)o->value;
        done = cw_stream_uint(stream, &value, (uint32_t)o->min, (uint32_t)o->max);
        o->value = value;
        return done;
    }
    case OPERATION_INT_64: {
        int64_t value = (int64_t)o->value;
        done = cw_stream_int_64(stream, &value, (int64_t)o->min, (int64_t)o->max);
        o->value = (uint64_t)value;
        return done;
    }
    case OPERATION_UINT_64:
        return cw_stream_uint_64(stream, &o->value, o->min, o->max);
    case OPERATION_FLOAT: {
        uint32_t bits = (uint32_t)o->value;
        done = cw_stream_float(stream, (void *)&bits);
        o->value = bits;
        return done;
    }
    case OPERATION_DOUBLE:
        return cw_stream_double(stream, (void *)&o->value);
    case OPERATION_COMPRESSED_FLOAT: {
        float value = operation_float(o->value);
        done = cw_stream_compressed_float(stream, &value, operation_float(o->min),
                                          operation_float(o->max), operation_float(o->resolution));
        o->value = operation_float_bits(value);
        return done;
    }
    case OPERATION_BYTES:
        o->value = o->min;
        return cw_stream_bytes(stream, o->data, o->min);
    case OPERATION_STRING:
        done = cw_stream_string(stream, (char *)o->data, o->min);
        o->value = done ? strlen((char *)o->data) : 0;
        return done;
    case OPERATION_ALIGN:
        return cw_stream_align(stream);
    case OPERATION_RELATIVE: {
        uint32_t value = (uint32_t)o->value;
        done = cw_stream_relative(stream, (uint32_t)o->min, &value);
        o->value = value;
        return done;
    }
    case OPERATION_RELATIVE_SEQUENCE: {
        uint16_t value = (uint16_t)o->value;
        done = cw_stream_relative_sequence(stream, (uint16_t)o->min, &value);
        o->value = value;
        return done;
    }
    case OPERATION_COUNT:
        break;
    }
    abort();
}

/* Returns the same operation with its limits but without its value, to read into. */
static inline struct operation operation_without_value(const struct operation *operation)
{
    struct operation empty = *operation;
    empty.value = 0;
    memset(empty.data, 0, sizeof empty.data);
    return empty;
}

/* Returns what a reader gets for the operation: only a compressed float differs from what was
   written. */
static inline struct operation operation_decoded(const struct operation *operation)
{
    struct operation decoded = *operation;
    if (operation->kind == OPERATION_COMPRESSED_FLOAT) {
        uint8_t buffer[8];
        struct cw_stream writer = cw_stream_writer(buffer, sizeof buffer);
        operation_run(&writer, &decoded);
        struct cw_stream reader = cw_stream_reader(buffer, cw_stream_flush(&writer));
        operation_run(&reader, &decoded);
    }
    return decoded;
}

static inline bool operation_same_value(const struct operation *a, const struct operation *b)
{
    if (a->kind == OPERATION_BYTES || a->kind == OPERATION_STRING)
        return a->value == b->value && memcmp(a->data, b->data, a->value) == 0;
    return a->kind == OPERATION_ALIGN || a->value == b->value;
}

/* Writes the operation as text, such as "int 3 0 7;": name, value in hex, limits in hex. */
static inline size_t operation_print(char *out, size_t size, const struct operation *operation)
{
    size_t used = (size_t)snprintf(out, size, "%s ", operation_names[operation->kind]);
    if (operation->kind == OPERATION_BYTES || operation->kind == OPERATION_STRING)
        for (size_t i = 0; i < operation->value; i++)
            used += (size_t)snprintf(out + used, size - used, "%02x", operation->data[i]);
    else
        used += (size_t)snprintf(out + used, size - used, "%" PRIx64, operation->value);
    return used + (size_t)snprintf(out + used, size - used,
                                   " %" PRIx64 " %" PRIx64 " %" PRIx64 "; ", operation->min,
                                   operation->max, operation->resolution);
}

#endif
