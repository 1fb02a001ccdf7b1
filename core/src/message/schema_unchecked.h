/* Functions of a schema for callers that have checked the type. */
#ifndef CAUSEWAY_SCHEMA_UNCHECKED_H
#define CAUSEWAY_SCHEMA_UNCHECKED_H

#include "causeway/schema.h"

/* Does the work of cw_schema_type without its checks. */
const struct cw_message_type *cw_schema_type_unchecked(const struct cw_schema *schema,
                                                       uint32_t type);

/* Returns whether the bits of a message of the type may depend on the bit at which it begins. */
bool cw_schema_aligns(const struct cw_schema *schema, uint32_t type);

/* Returns the bytes of the longest type and body, as far as fields tell. known, unless it is NULL,
   says whether they tell of all: a type with a function of its own does not. */
size_t cw_schema_longest(const struct cw_schema *schema, bool *known);

/* Does the work of cw_schema_serialize without its checks; message is not NULL. */
bool cw_schema_serialize_unchecked(const struct cw_schema *schema, uint32_t type,
                                   struct cw_stream *stream, void *message);

#endif
