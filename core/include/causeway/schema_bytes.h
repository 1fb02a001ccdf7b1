/* A schema as bytes. The browser hands these bytes to the core, and a fingerprint is computed from
   them.

   Integers are little-endian. The bytes are, in order:

   u8 1, the version of this format; u32 number of types.

   Per type: its name and a NUL; u8 whether it is a block type (0 or 1); u32 number of fields, or
   2^32 - 1 for a type with a function of its own.

   Per field: its name and a NUL; u8 kind as in enum cw_kind; u8 optional (0 or 1); u32 array; then
   the limits: u64 min and u64 max for integers, u32 max for bytes and strings, the bits of
   float_min, float_max and resolution as three u32 for compressed floats, u32 number of fields and
   then the fields themselves for structs, nothing for other kinds. */
#ifndef CAUSEWAY_SCHEMA_BYTES_H
#define CAUSEWAY_SCHEMA_BYTES_H

#include "causeway/linkage.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

/* Encodes the schema and returns the size of the whole result. Writes its first capacity bytes to
   out, which may be NULL when capacity is 0. */
size_t cw_schema_encode(const struct cw_schema *schema, uint8_t *out, size_t capacity);

/* Makes a schema from size bytes. Errors: CW_ERROR_SCHEMA_BYTES when they are not in the format
   above, have a type with a function of its own or nest structs deeper than CW_STRUCT_MAX_DEPTH,
   and those of cw_schema_create. This is the only function that allocates twice; it releases the
   second block before it returns. A NULL allocator means malloc and free. */
enum cw_error cw_schema_decode(const uint8_t *data, size_t size,
                               const struct cw_allocator *allocator, struct cw_schema **schema);

/* A number that is equal on two peers when the names, kinds, limits and order of everything are the
   same, and practically never otherwise. For a type with a function of its own only the name
   counts. The size bytes at extra are included, for anything else that both sides must have in
   common. */
uint64_t cw_schema_fingerprint(const struct cw_schema *schema, const uint8_t *extra, size_t size);

CW_END_DECLARATIONS

#endif
