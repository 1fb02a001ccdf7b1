/* The inside of a schema, for modules that walk over the fields of a struct themselves. */
#ifndef CAUSEWAY_SCHEMA_INTERNAL_H
#define CAUSEWAY_SCHEMA_INTERNAL_H

#include "message/schema_expression.h"

/* The ways in which a field is written. Signed and unsigned integers differ only in their limits,
   and a float is an integer that uses all of its bits. The first three are for single values, and
   quick. */
enum cw_schema_code {
    CW_CODE_PLAIN_BOOL,
    CW_CODE_PLAIN_RANGE, /* 1 to 32 bits */
    CW_CODE_PLAIN_32,    /* all 32 bits, as they are */
    CW_CODE_BOOL,
    CW_CODE_RANGE,
    CW_CODE_RANGE_64,
    CW_CODE_COMPRESSED_FLOAT,
    CW_CODE_BYTES,
    CW_CODE_STRING,
    CW_CODE_STRUCT, /* one that is optional or an array */
    CW_CODE_ALIGN,
    CW_CODE_RELATIVE,
    CW_CODE_CONSTANT
};

/* The fields of a struct, for loops over them. The fields of a nested struct that is neither
   optional nor an array are among them. */
struct cw_schema_steps {
    struct cw_schema_step *at;
    uint32_t count;
};

struct cw_schema_step {
    uint8_t code;
    uint8_t bits; /* the width of a range of at most 32 bits */
    bool optional;
    uint32_t array;
    uint32_t offset; /* the offset of the member */
    uint32_t value;  /* the offset of the value or of the first item */
    uint32_t stride; /* bytes from one item to the next */
    uint32_t index;  /* the index of the message's field that this is a part of */
    uint64_t min;
    uint64_t range; /* for bytes and strings the most bytes */
    const struct cw_field *field;
    struct cw_schema_steps nested; /* the fields of a struct's item, with offsets within it */
};

struct cw_compiled_type {
    struct cw_message_type public;
    bool comparable; /* see cw_schema_comparable */
    struct cw_schema_steps steps;
};

struct cw_schema {
    struct cw_allocator allocator;
    size_t memory;
    size_t message_size;
    uint32_t count;
    struct cw_compiled_type *types;
};

/* Returns the number of values that the field has in the struct at message, by the struct's own
   count or flag. */
CW_INLINE uint32_t cw_schema_value_count(const struct cw_schema_step *step, const uint8_t *message)
{
    uint32_t count = 1;
    if (step->optional)
        count = message[step->offset] != 0;
    else if (step->array > 0)
        memcpy(&count, message + step->offset, sizeof count);
    return count;
}

/* Writes an outline of the schema, as far as it fits, and returns its size: each message in order
   has an entry, which those of its fields follow. An entry is 16 bits of a hash of all up to there,
   so the first entry in which two outlines differ is where the schemas do, but for one time in
   65536. */
size_t cw_schema_outline(const struct cw_schema *schema, uint8_t *out, size_t capacity);

/* Finds the message and field of an entry; both are NULL behind the last one. */
void cw_schema_entry(const struct cw_schema *schema, size_t entry,
                     struct cw_schema_difference *difference);

/* Writes, reads or measures one value of the field, wherever it is. */
bool cw_schema_serialize_value(struct cw_stream *stream, const struct cw_schema_step *step,
                               uint8_t *value);

#endif
