#include "causeway/schema.h"
#include "exports/exports.h"

/* The schema goes to the scratch area. */
CW_EXPORT(schema_create) enum cw_error schema_create(const uint8_t *bytes, size_t size)
{
    struct cw_schema *schema = NULL;
    const enum cw_error error = cw_schema_decode(bytes, size, NULL, &schema);
    cw_scratch.created = (struct cw_created){.object = cw_place(schema)};
    return error;
}

CW_EXPORT(schema_destroy) void schema_destroy(struct cw_schema *schema)
{
    cw_schema_destroy(schema);
}
