/* A schema for those who have checked that the type is one of its own. */
#ifndef CAUSEWAY_SCHEMA_CHECKED_H
#define CAUSEWAY_SCHEMA_CHECKED_H

#include "causeway/schema.h"

/* See cw_schema_type. */
const struct cw_message_type *cw_schema_type_checked(const struct cw_schema *schema, uint32_t type);

/* See cw_schema_serialize; message is there. */
bool cw_schema_serialize_checked(const struct cw_schema *schema, uint32_t type,
                                 struct cw_stream *stream, void *message);

#endif
