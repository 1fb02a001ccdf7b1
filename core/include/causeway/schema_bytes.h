/* A schema as bytes: what the browser hands to the core, and what a fingerprint is made of.

   Integers are little-endian. u8 1 (the version of this form), u32 number of types; per type its
   name and a NUL, u8 whether it is a block type (0 or 1), u32 number of fields (2^32 - 1: none, the
   type has a function of its own); per field its name and a NUL, u8 kind as in enum cw_kind, u8
   optional (0 or 1), u32 array, and the limits: u64 min and u64 max of integers, u32 max of bytes
   and strings, three u32 with the bits of float_min, float_max and resolution of compressed floats,
   u32 number of fields and the fields themselves of structs, nothing for the others. */
#ifndef CAUSEWAY_SCHEMA_BYTES_H
#define CAUSEWAY_SCHEMA_BYTES_H

#include "causeway/linkage.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

/* Encodes the schema and gives the size of the result; out holds the first capacity bytes of it
   and may be NULL when capacity is 0. */
size_t cw_schema_encode(const struct cw_schema *schema, uint8_t *out, size_t capacity);

/* A schema from size bytes. Errors: CW_ERROR_SCHEMA_BYTES when they are not in the form above, have
   a type with a function of its own or structs deeper than CW_STRUCT_MAX_DEPTH, and those of
   cw_schema_create. This is the one function that allocates twice: the second block is released
   before it returns. A NULL allocator means malloc and free. */
enum cw_error cw_schema_decode(const uint8_t *data, size_t size,
                               const struct cw_allocator *allocator, struct cw_schema **schema);

/* A number that two peers have in common when names, kinds, limits and order of everything are the
   same, and practically never else. Of a type with a function of its own only the name is known.
   The size bytes at extra are included: whatever else both sides must have alike. */
uint64_t cw_schema_fingerprint(const struct cw_schema *schema, const uint8_t *extra, size_t size);

CW_END_DECLARATIONS

#endif
