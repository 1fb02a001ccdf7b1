/* The schema of notes, made before each test and gone after it. */
#ifndef CAUSEWAY_TESTS_NOTES_SCHEMA_H
#define CAUSEWAY_TESTS_NOTES_SCHEMA_H

#include "connections.h"

static struct cw_schema *schema;

static inline int set_up(void **state)
{
    (void)state;
    schema = notes_schema();
    parcels_released = 0;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    cw_schema_destroy(schema);
    return 0;
}

#endif
