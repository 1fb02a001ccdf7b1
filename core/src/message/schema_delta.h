/* Sends a struct as its difference from another one of the same type, such as an earlier input or
   state of an entity that the other end has. Types with a function of their own have no fields to
   compare and cannot be sent this way. */
#ifndef CAUSEWAY_SCHEMA_DELTA_H
#define CAUSEWAY_SCHEMA_DELTA_H

#include "causeway/schema.h"

/* Returns whether there is such a type, its structs have a table of fields, and each field has a
   value that can be read without those before it. Only such structs can be compared and sent as
   differences. */
bool cw_schema_comparable(const struct cw_schema *schema, uint32_t type);

/* Returns whether all fields of two structs of the type are the same on the wire. Ignores padding,
   items beyond an array's count, and the values of absent options. */
bool cw_schema_equal(const struct cw_schema *schema, uint32_t type, const void *a, const void *b);

/* Returns the first field of the message in which two structs of a comparable type differ, or
   CW_FIELD_NONE. */
uint32_t cw_schema_differing_field(const struct cw_schema *schema, uint32_t type, const void *a,
                                   const void *b);

/* Writes, reads or measures message against baseline: one bit when they are equal, otherwise one
   bit per field and then the changed fields, integers as differences. Both ends must have the same
   baseline, whose values are in range. For reading, message may be the baseline. Returns false as
   every function of a stream does, for a message that cw_schema_check refuses, and for a type
   that is not comparable. */
bool cw_schema_delta(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                     const void *baseline, void *message);

/* Does the same without the first bit, for structs that are known to differ and to be in range. */
bool cw_schema_changes(const struct cw_schema *schema, uint32_t type, struct cw_stream *stream,
                       const void *baseline, void *message);

#endif
