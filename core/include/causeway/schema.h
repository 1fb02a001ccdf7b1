/* A schema has the types of messages that two ends exchange, each a table of fields.

   In C one declaration makes a struct and its table:

       #define MOVE_FIELDS(FIELD)                            \
           FIELD(direction, CW_INT(0, 7))                    \
           FIELD(jump, CW_BOOL)                              \
           FIELD(name, CW_STRING(32))                        \
           FIELD(path, CW_ARRAY(CW_INT(-100, 100), 16))      \
           FIELD(target, CW_OPTIONAL(CW_BITS(12)))
       CW_MESSAGE(move, MOVE_FIELDS)

   This gives `struct move` and `static const struct cw_message_type move_type`. A program may also
   fill in tables at run time, or give a function made with CW_SERIALIZE in place of a table. All
   types together are a schema; a type's index in it is its number on the wire.

   An expression over earlier fields may be what decides about a field:

       #define SHOT_FIELDS(FIELD)                            \
           FIELD(weapon, CW_BITS(4))                         \
           FIELD(hits, CW_INT(1, 4))                         \
           FIELD(charge, CW_WHEN(weapon == 3, CW_BITS(7)))   \
           FIELD(targets, CW_REPEAT(hits, CW_BITS(12), 4))
       CW_MESSAGE(shot, SHOT_FIELDS)

   An expression has decimal numbers and names, and || && & == != <= >= < > << >> + - * / % ! and
   parentheses, which bind as in C. A name is that of an earlier field of the same struct that is a
   bool or an integer, relative or not, and neither optional nor an array. Numbers have 64 bits with
   a sign and wrap; dividing by 0 gives 0. About 50 names, numbers and operators can be in one.

   The struct has the member of an option or an array all the same, with its flag or count. When it
   is not as the expression says, the message is refused.

   A struct may be part of others, also as an option or an array. On the wire it is its fields:

       CW_MESSAGE(point, POINT_FIELDS)
       #define ROUTE_FIELDS(FIELD)                           \
           FIELD(start, CW_STRUCT(point))                    \
           FIELD(stops, CW_ARRAY(CW_STRUCT(point), 10))
       CW_MESSAGE(route, ROUTE_FIELDS) */
#ifndef CAUSEWAY_SCHEMA_H
#define CAUSEWAY_SCHEMA_H

#include "causeway/base.h"
#include "causeway/stream.h"

CW_BEGIN_DECLARATIONS

/* The kinds of values, and the member that holds each. */
enum cw_kind {
    CW_KIND_BOOL,             /* bool */
    CW_KIND_INT,              /* int32_t */
    CW_KIND_UINT,             /* uint32_t */
    CW_KIND_INT_64,           /* int64_t */
    CW_KIND_UINT_64,          /* uint64_t */
    CW_KIND_FLOAT,            /* float */
    CW_KIND_DOUBLE,           /* double */
    CW_KIND_COMPRESSED_FLOAT, /* float */
    CW_KIND_BYTES,            /* struct { uint32_t size; uint8_t data[max]; } */
    CW_KIND_STRING,           /* char[max + 1], UTF-8 and a NUL */
    CW_KIND_STRUCT,           /* the struct of another type */
    CW_KIND_ALIGN,            /* no member: zero bits up to the next byte */
    CW_KIND_RELATIVE,         /* uint32_t, see cw_stream_relative */
    CW_KIND_CONSTANT,         /* no member: a number that is always the same */
    CW_KIND_COUNT
};

struct cw_message_type;

struct cw_field {
    const char *name;
    enum cw_kind kind;
    /* The member is struct { bool present; value; }, and value is on the wire only when present. */
    bool optional;
    /* If not 0, the member is struct { uint32_t count; items[array]; }, with at most that many
       items on the wire. A field cannot be both optional and an array. */
    uint32_t array;
    /* The limits of the four integer kinds. Limits of signed integers are stored as
       (uint64_t)(int64_t)limit. For CW_KIND_BYTES and CW_KIND_STRING, max is the most bytes. For
       CW_KIND_CONSTANT, min is the number, and max the largest one in as many bits. */
    uint64_t min, max;
    /* The limits of CW_KIND_COMPRESSED_FLOAT; see cw_stream_compressed_float. */
    float float_min, float_max, resolution;
    /* The member's offset in the struct. cw_schema_create ignores it here and fills it in in its
       copy. */
    uint32_t offset;
    /* For CW_KIND_STRUCT the type of the struct, otherwise NULL. It must have at least one field,
       no function of its own and no block. It need not be in the schema, and its name is not
       used. */
    const struct cw_message_type *type;
    /* The expression whose value is 0 for an option that is not present, or
       the count of an array, which is then not on the wire. With >= before it, it is the least
       count. NULL for none. */
    const char *count;
    /* The same for the number of bytes of CW_KIND_BYTES, which may have none, and for
       CW_KIND_RELATIVE the number before this one. */
    const char *operand;
};

struct cw_message_type {
    const char *name;
    const struct cw_field *fields; /* NULL when there are none */
    uint32_t field_count;
    /* sizeof the struct; 0 lets the fields decide. */
    uint32_t size;
    cw_serialize *serialize; /* instead of fields, or NULL */
    bool block;              /* every message of this type carries a block, see cw_message_attach */
};

/* A schema is a set of types that does not change. */
struct cw_schema;

struct cw_schema_config {
    const struct cw_message_type *types; /* copied, with fields and names */
    uint32_t count;                      /* 1 to 65536 */
    struct cw_allocator allocator;       /* zero: malloc */
};

/* This is the number of levels that structs may be nested in one another. A struct that is a field
   of a message is the first level. */
#define CW_STRUCT_MAX_DEPTH 8

/* Takes the place of a field's index and means no field. */
#define CW_FIELD_NONE UINT32_MAX

/* This is the largest size of a message's struct, in bytes. */
#define CW_MESSAGE_MAX_SIZE (1 << 20)

/* Errors: CW_ERROR_SCHEMA_TYPES, CW_ERROR_SCHEMA_FIELD, CW_ERROR_SCHEMA_SIZE, CW_ERROR_NO_MEMORY.
 */
enum cw_error cw_schema_create(const struct cw_schema_config *config, struct cw_schema **schema);
void cw_schema_destroy(struct cw_schema *schema);

/* Returns the bytes that cw_schema_create allocates, or 0 when it would refuse the config. */
size_t cw_schema_memory(const struct cw_schema_config *config);

/* Returns the number of types. */
uint32_t cw_schema_count(const struct cw_schema *schema);

/* Returns a type, with its struct's size and its fields' offsets filled in. It lives as long as the
   schema. Returns NULL when there is no such type. */
const struct cw_message_type *cw_schema_type(const struct cw_schema *schema, uint32_t type);

/* Returns the size of the largest struct, in bytes. */
size_t cw_schema_message_size(const struct cw_schema *schema);

/* Writes, reads or measures the body of a message. message is the type's struct; for reading it
   must be all zero. Returns false as every stream function does, and when there is no such type. */
bool cw_schema_serialize(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                         void *message);

/* Returns the index of the first field whose value cannot be sent: out of range, NaN in a
   compressed float, too long or not UTF-8. Returns CW_FIELD_NONE when every field can be sent. For
   a type with a function of its own, the index is 0 when the function refuses to measure the
   message. */
uint32_t cw_schema_check(const struct cw_schema *schema, uint32_t type, const void *message);

/* The kinds for CW_MESSAGE. Each is a list: the member's shape, type and extent, optional, array,
   then kind, limits and type as in struct cw_field. */
#define CW_PLAIN(type, kind, min, max) CW_PLAIN_BY(type, kind, min, max, NULL)
#define CW_PLAIN_BY(type, kind, min, max, operand)                                                 \
    value, type, 0, false, 0, kind, (uint64_t)(min), (uint64_t)(max), 0, 0, 0, NULL, NULL, operand
#define CW_BOOL              CW_PLAIN(bool, CW_KIND_BOOL, 0, 1)
#define CW_INT(min, max)     CW_PLAIN(int32_t, CW_KIND_INT, (int64_t)(min), (int64_t)(max))
#define CW_UINT(min, max)    CW_PLAIN(uint32_t, CW_KIND_UINT, min, max)
#define CW_INT_64(min, max)  CW_PLAIN(int64_t, CW_KIND_INT_64, (int64_t)(min), (int64_t)(max))
#define CW_UINT_64(min, max) CW_PLAIN(uint64_t, CW_KIND_UINT_64, min, max)
#define CW_BITS(bits)        CW_PLAIN(uint32_t, CW_KIND_UINT, 0, UINT32_MAX >> (32 - (bits)))
#define CW_BITS_64(bits)     CW_PLAIN(uint64_t, CW_KIND_UINT_64, 0, UINT64_MAX >> (64 - (bits)))
#define CW_FLOAT             CW_PLAIN(float, CW_KIND_FLOAT, 0, 0)
#define CW_DOUBLE            CW_PLAIN(double, CW_KIND_DOUBLE, 0, 0)
#define CW_COMPRESSED_FLOAT(min, max, resolution)                                                  \
    value, float, 0, false, 0, CW_KIND_COMPRESSED_FLOAT, 0, 0, min, max, resolution, NULL, NULL,   \
        NULL
#define CW_BYTES(most) CW_BYTES_BY(most, NULL)
#define CW_STRING(most)                                                                            \
    string, char, most, false, 0, CW_KIND_STRING, 0, most, 0, 0, 0, NULL, NULL, NULL
/* The struct of a type that CW_MESSAGE made before. */
#define CW_STRUCT(name)                                                                            \
    value, struct name, 0, false, 0, CW_KIND_STRUCT, 0, 0, 0, 0, 0, &name##_type, NULL, NULL
/* CW_ARRAY(kind, most), CW_ARRAY_FROM(kind, least, most) and CW_OPTIONAL(kind) */
#define CW_ARRAY(...)      CW_ARRAY_OF(__VA_ARGS__)
#define CW_ARRAY_FROM(...) CW_ARRAY_FROM_OF(__VA_ARGS__)
#define CW_OPTIONAL(...)   CW_OPTIONAL_BY(NULL, __VA_ARGS__)

/* Bytes of which there are at least so many; as many as the expression says; exactly so many. */
#define CW_BYTES_FROM(least, most) CW_BYTES_BY(most, CW_EXPRESSION(>= least))
#define CW_BYTES_OF(size, most)    CW_BYTES_BY(most, CW_EXPRESSION(size))
#define CW_FIXED_BYTES(size)       CW_BYTES_OF(size, size)
/* No member, and on the wire zeros up to the next byte. */
#define CW_ALIGN nothing, char, 0, false, 0, CW_KIND_ALIGN, 0, 0, 0, 0, 0, NULL, NULL, NULL
/* No member, and on the wire always this number, in 1 to 64 bits. Another one is refused. */
#define CW_CONSTANT(number, bits)                                                                  \
    nothing, char, 0, false, 0, CW_KIND_CONSTANT, number, UINT64_MAX >> (64 - (bits)), 0, 0, 0,    \
        NULL, NULL, NULL
/* One of so many values, which are numbered from 0, as those of an enum are. */
#define CW_ENUMERATION(count) CW_UINT(0, (count)-1)
/* A bit for each of so many flags, 1 to 32 or 1 to 64; the lowest is the first. */
#define CW_FLAGS(count)    CW_BITS(count)
#define CW_FLAGS_64(count) CW_BITS_64(count)
/* A number from min to max, both whole, in steps of 2^-fraction_bits: the member is the number of
   steps. integer_bits, which include the sign, are at least as many as the limits need. The two
   are 8, 16 or 32 bits together, or up to 64. */
#define CW_FIXED(integer_bits, fraction_bits, min, max)                                            \
    CW_INT((min) * ((int64_t)1 << (fraction_bits)), (max) * ((int64_t)1 << (fraction_bits)))
#define CW_FIXED_64(integer_bits, fraction_bits, min, max)                                         \
    CW_INT_64((min) * ((int64_t)1 << (fraction_bits)), (max) * ((int64_t)1 << (fraction_bits)))
/* An array of UTF-16 units, as serialize sends wide strings. Their sequence is not checked. */
#define CW_WIDE_STRING(most) CW_ARRAY(CW_BITS(32), most)
/* The struct cw_uint_128 or cw_int_128, all values of which can be sent. */
#define CW_UINT_128 CW_STRUCT(cw_uint_128)
#define CW_INT_128  CW_STRUCT(cw_int_128)
/* A number greater than the value of the expression, and a sequence number that is not equal to it.
   In an array, each is relative to the one before it, and the first to the expression. */
#define CW_RELATIVE(previous)                                                                      \
    CW_PLAIN_BY(uint32_t, CW_KIND_RELATIVE, 0, UINT32_MAX, CW_EXPRESSION(previous))
#define CW_SEQUENCE_RELATIVE(previous)                                                             \
    CW_PLAIN_BY(uint32_t, CW_KIND_RELATIVE, 0, UINT16_MAX, CW_EXPRESSION(previous))
/* CW_WHEN(condition, kind): an option that is there when the condition is not 0.
   CW_REPEAT(count, kind, most): an array of as many items as the expression says.
   CW_FIXED_ARRAY(kind, count): an array of always so many. */
#define CW_WHEN(condition, ...)        CW_OPTIONAL_BY(CW_EXPRESSION(condition), __VA_ARGS__)
#define CW_REPEAT(count, ...)          CW_REPEAT_OF(CW_EXPRESSION(count), __VA_ARGS__)
#define CW_FIXED_ARRAY(...)            CW_FIXED_ARRAY_OF(__VA_ARGS__)
#define CW_EXPRESSION(expression)      CW_EXPRESSION_TEXT(expression)
#define CW_EXPRESSION_TEXT(expression) #expression

#define CW_BYTES_BY(most, size)                                                                    \
    bytes, uint8_t, most, false, 0, CW_KIND_BYTES, 0, most, 0, 0, 0, NULL, NULL, size
#define CW_ARRAY_OF(shape, type, extent, optional, array, kind, min, max, low, high, step, of,     \
                    count, operand, most)                                                          \
    array_of_##shape, type, extent, optional, most, kind, min, max, low, high, step, of, count,    \
        operand
#define CW_ARRAY_FROM_OF(shape, type, extent, optional, array, kind, min, max, low, high, step,    \
                         of, count, operand, least, most)                                          \
    array_of_##shape, type, extent, optional, most, kind, min, max, low, high, step, of,           \
        CW_EXPRESSION(>= least), operand
#define CW_REPEAT_OF(expression, shape, type, extent, optional, array, kind, min, max, low, high,  \
                     step, of, count, operand, most)                                               \
    array_of_##shape, type, extent, optional, most, kind, min, max, low, high, step, of,           \
        expression, operand
#define CW_FIXED_ARRAY_OF(shape, type, extent, optional, array, kind, min, max, low, high, step,   \
                          of, count, operand, most)                                                \
    array_of_##shape, type, extent, optional, most, kind, min, max, low, high, step, of,           \
        CW_EXPRESSION(most), operand
#define CW_OPTIONAL_BY(condition, ...) CW_OPTIONAL_OF(condition, __VA_ARGS__)
#define CW_OPTIONAL_OF(condition, shape, type, extent, optional, array, kind, min, max, low, high, \
                       step, of, count, operand)                                                   \
    optional_##shape, type, extent, true, array, kind, min, max, low, high, step, of, condition,   \
        operand

#define CW_DECLARE_value(name, type, extent, most) type name;
#define CW_DECLARE_nothing(name, type, extent, most)
#define CW_DECLARE_string(name, type, extent, most) type name[(extent) + 1];
#define CW_DECLARE_bytes(name, type, extent, most)                                                 \
    struct {                                                                                       \
        uint32_t size;                                                                             \
        type data[extent];                                                                         \
    } name;
#define CW_DECLARE_LIST(member, most)                                                              \
    struct {                                                                                       \
        uint32_t count;                                                                            \
        member                                                                                     \
    }
#define CW_DECLARE_array_of_value(name, type, extent, most)                                        \
    CW_DECLARE_LIST(CW_DECLARE_value(items[most], type, extent, most), most) name;
#define CW_DECLARE_array_of_string(name, type, extent, most)                                       \
    CW_DECLARE_LIST(CW_DECLARE_string(items[most], type, extent, most), most) name;
#define CW_DECLARE_array_of_bytes(name, type, extent, most)                                        \
    CW_DECLARE_LIST(CW_DECLARE_bytes(items[most], type, extent, most), most) name;
#define CW_DECLARE_MAYBE(member)                                                                   \
    struct {                                                                                       \
        bool present;                                                                              \
        member                                                                                     \
    }
#define CW_DECLARE_optional_value(name, type, extent, most)                                        \
    CW_DECLARE_MAYBE(CW_DECLARE_value(value, type, extent, most)) name;
#define CW_DECLARE_optional_string(name, type, extent, most)                                       \
    CW_DECLARE_MAYBE(CW_DECLARE_string(value, type, extent, most)) name;
#define CW_DECLARE_optional_bytes(name, type, extent, most)                                        \
    CW_DECLARE_MAYBE(CW_DECLARE_bytes(value, type, extent, most)) name;

#define CW_FIELD_MEMBER(name, ...) CW_FIELD_MEMBER_OF(name, __VA_ARGS__)
#define CW_FIELD_MEMBER_OF(name, shape, type, extent, optional, array, ...)                        \
    CW_DECLARE_##shape(name, type, extent, array)
#define CW_FIELD_ENTRY(name, ...) CW_FIELD_ENTRY_OF(name, __VA_ARGS__)
#define CW_FIELD_ENTRY_OF(name, shape, type, extent, optional, array, kind, min, max, low, high,   \
                          step, of, count, operand)                                                \
    {#name, kind, optional, array, min, max, low, high, step, 0, of, count, operand},

/* See the top of this file. FIELDS must have at least one field; a type without any is
   `{.name = "ping"}`, in C++ before 2020 `{"ping", NULL, 0, 0, NULL, false}`. */
#define CW_MESSAGE(message, FIELDS) CW_MESSAGE_OF(message, FIELDS, false)
/* Does the same for a type whose messages carry a block. */
#define CW_BLOCK_MESSAGE(message, FIELDS) CW_MESSAGE_OF(message, FIELDS, true)

#define CW_MESSAGE_OF(message, FIELDS, block)                                                      \
    struct message {                                                                               \
        FIELDS(CW_FIELD_MEMBER)                                                                    \
    };                                                                                             \
    static const struct cw_field message##_fields[] = {FIELDS(CW_FIELD_ENTRY)};                    \
    static const struct cw_message_type message##_type = {#message,                                \
                                                          message##_fields,                        \
                                                          sizeof message##_fields /                \
                                                              sizeof message##_fields[0],          \
                                                          sizeof(struct message),                  \
                                                          NULL,                                    \
                                                          block};

/* The halves of numbers of 128 bits, as serialize sends them: a number without a sign as it is,
   the other one as its distance from the least one. */
#define CW_UINT_128_FIELDS(FIELD)                                                                  \
    FIELD(low, CW_BITS_64(64))                                                                     \
    FIELD(high, CW_BITS_64(64))
CW_MESSAGE(cw_uint_128, CW_UINT_128_FIELDS)
#define CW_INT_128_FIELDS(FIELD)                                                                   \
    FIELD(low, CW_BITS_64(64))                                                                     \
    FIELD(high, CW_INT_64(INT64_MIN, INT64_MAX))
CW_MESSAGE(cw_int_128, CW_INT_128_FIELDS)

/* A schema as bytes: the browser hands these bytes to the core, and a fingerprint is computed from
   them.

   Integers are little-endian. The bytes are, in order:

   u8 1, the version of this format; u32 number of types.

   Per type: its name and a NUL; u8 whether it is a block type (0 or 1); u32 number of fields, or
   2^32 - 1 for a type with a function of its own.

   Per field: its name and a NUL; u8 kind as in enum cw_kind; u8 with 1 for optional, 2 for a count
   and 4 for an operand; u32 array; then the limits: u64 min and u64 max for integers and constants,
   u32 max for bytes, strings and relative numbers, the bits of float_min, float_max and resolution
   as three u32 for compressed floats, u32 number of fields and then the fields themselves for
   structs, nothing for other kinds; then count and operand with a NUL each, as far as there are
   any.

   An expression is at most 128 bytes for a stack of at most 8 numbers. 1 pushes the value of the
   field that is as many fields back as the next byte says. 2 replaces a number by whether it is 0.
   The others take the upper number b and the lower one a, and push: 3 a == b, 4 a < b, 5 a <= b,
   6 a & b, 7 a << b, 8 a >> b, 9 a + b, 10 a - b, 11 a * b, 12 a / b, 13 a % b. From 128 on, a byte
   pushes its low 6 bits; from 192 on, it puts them behind the upper number, and as the first byte
   it stands for >=. */

/* Encodes the schema and returns the size of the whole result. Writes its first capacity bytes to
   out, which may be NULL when capacity is 0. */
size_t cw_schema_encode(const struct cw_schema *schema, uint8_t *out, size_t capacity);

/* Makes a schema from size bytes. Errors: CW_ERROR_SCHEMA_BYTES when they are not in the format
   above, have a type with a function of its own or nest structs deeper than CW_STRUCT_MAX_DEPTH,
   and those of cw_schema_create. This is the only function that allocates twice; it releases the
   second block before it returns. A NULL allocator means malloc and free. */
enum cw_error cw_schema_decode(const uint8_t *data, size_t size,
                               const struct cw_allocator *allocator, struct cw_schema **schema);

/* Returns a number that is equal on two ends when the names, kinds, limits and order of everything
   are the same, and practically never otherwise. For a type with a function of its own only the
   name counts. The size bytes at extra are included, for anything else that both sides must have in
   common. */
uint64_t cw_schema_fingerprint(const struct cw_schema *schema, const uint8_t *extra, size_t size);

/* This is the first place where two schemas differ, by the names that it has in one of them. */
struct cw_schema_difference {
    const char *message; /* NULL: the other one has more messages, or only the channels differ */
    const char *field; /* the name of a field of that message. NULL: the message itself differs, or
                          the other one lacks it */
};

CW_END_DECLARATIONS

#endif
