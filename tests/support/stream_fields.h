/* A message of a table is written, read or measured by hand here: each field by the stream's
   function for its kind, as in a program without tables. */
#ifndef CAUSEWAY_TESTS_STREAM_FIELDS_H
#define CAUSEWAY_TESTS_STREAM_FIELDS_H

#include "random_schema.h"

static inline bool stream_fields(struct cw_stream *stream, const struct cw_message_type *type,
                                 uint8_t *message);

static inline bool stream_value(struct cw_stream *stream, const struct cw_field *field, void *value)
{
    switch (field->kind) {
    case CW_KIND_BOOL:
        return cw_stream_bool(stream, value);
    case CW_KIND_INT:
        return cw_stream_int(stream, value, (int32_t)field->min, (int32_t)field->max);
    case CW_KIND_UINT:
        return cw_stream_uint(stream, value, (uint32_t)field->min, (uint32_t)field->max);
    case CW_KIND_INT_64:
        return cw_stream_int_64(stream, value, (int64_t)field->min, (int64_t)field->max);
    case CW_KIND_UINT_64:
        return cw_stream_uint_64(stream, value, field->min, field->max);
    case CW_KIND_FLOAT:
        return cw_stream_float(stream, value);
    case CW_KIND_DOUBLE:
        return cw_stream_double(stream, value);
    case CW_KIND_COMPRESSED_FLOAT:
        return cw_stream_compressed_float(stream, value, field->float_min, field->float_max,
                                          field->resolution);
    case CW_KIND_BYTES: {
        uint32_t *size = value;
        return cw_stream_count(stream, size, (uint32_t)field->max) &&
               cw_stream_bytes(stream, (uint8_t *)(size + 1), *size);
    }
    case CW_KIND_STRING:
        return cw_stream_string(stream, value, field->max + 1);
    case CW_KIND_STRUCT:
        return stream_fields(stream, field->type, value);
    case CW_KIND_ALIGN:
    case CW_KIND_RELATIVE:
    case CW_KIND_CONSTANT:
    case CW_KIND_COUNT:
        break;
    }
    abort();
}

/* Writes, reads or measures message, the struct of the type, which is zero where a reading stream
   is to put something. */
static inline bool stream_fields(struct cw_stream *stream, const struct cw_message_type *type,
                                 uint8_t *message)
{
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct cw_field *field = &type->fields[i];
        uint8_t *member = message + field->offset;
        uint32_t first, count = 1;
        const uint32_t stride = random_stride(field, &first);
        if (field->optional) {
            bool present = *member != 0;
            if (!cw_stream_bool(stream, &present))
                return false;
            *member = present;
            count = present;
        } else if (field->array > 0) {
            if (!cw_stream_count(stream, (uint32_t *)(void *)member, field->array))
                return false;
            memcpy(&count, member, sizeof count);
        }
        for (uint32_t j = 0; j < count; j++)
            if (!stream_value(stream, field, member + first + j * stride))
                return false;
    }
    return true;
}

#endif
