/* The schema of notes, made before each test and gone after it. */
#ifndef CAUSEWAY_TESTS_NOTES_SCHEMA_H
#define CAUSEWAY_TESTS_NOTES_SCHEMA_H

#include "connections.h"
#include "fixture.h"

static struct cw_schema *schema;

static inline void end_schema(void *made)
{
    cw_schema_destroy(made);
}

static inline int set_up(void **state)
{
    (void)state;
    schema = own(notes_schema(), end_schema);
    parcels_released = 0;
    return 0;
}

#endif
