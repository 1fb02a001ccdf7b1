/* The inside of a schema, for the rooms that walk over the fields of a struct themselves. */
#ifndef CAUSEWAY_SCHEMA_INTERNAL_H
#define CAUSEWAY_SCHEMA_INTERNAL_H

#include "causeway/schema.h"

/* What a field comes down to. Signed and unsigned integers differ only in their limits, and a float
   is an integer that uses all of its bits. The first three are single values, and quick. */
enum cw_schema_code {
    CW_CODE_PLAIN_BOOL,
    CW_CODE_PLAIN_32,    /* all 32 bits, as they are */
    CW_CODE_PLAIN_RANGE, /* 1 to 32 bits */
    CW_CODE_BOOL,
    CW_CODE_RANGE,
    CW_CODE_RANGE_64,
    CW_CODE_COMPRESSED_FLOAT,
    CW_CODE_BYTES,
    CW_CODE_STRING
};

/* A field as the loops want it. */
struct cw_schema_step {
    uint8_t code;
    uint8_t bits; /* of a plain range */
    bool optional;
    uint32_t array;
    uint32_t offset; /* of the member */
    uint32_t value;  /* of the value or the first item */
    uint32_t stride; /* from one item to the next */
    uint64_t min;
    uint64_t range; /* of bytes and strings: the most bytes */
};

struct cw_schema_type {
    struct cw_message_type public;
    struct cw_field *fields;
    struct cw_schema_step *steps;
};

struct cw_schema {
    struct cw_allocator allocator;
    size_t memory;
    size_t message_size;
    uint32_t count;
    struct cw_schema_type *types;
};

/* Writes, reads or measures one value of the field, wherever it is. */
bool cw_schema_serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                               const struct cw_field *field, uint8_t *value);

#endif
