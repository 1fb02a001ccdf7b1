/* A grid finds the entities near a place, so that in a large world each client gets the snapshots
   of what is near to it, and the nearest most often.

       cw_interest_set(grid, id, x, y, 1);                              for each entity that moved
       count = cw_interest_find(grid, x, y, found, MAX_INTEREST);       for each client
       cw_snapshot_server_set_interest(server, client, found, count);   see snapshot.h

   The world needs no bounds. It is flat: give the two coordinates along the ground. The cost of a
   search depends on the entities near the place, and not on the world. */
#ifndef CAUSEWAY_INTEREST_H
#define CAUSEWAY_INTEREST_H

#include "causeway/base.h"

#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* An entity, and how urgent it is for a client. */
struct cw_priority {
    uint32_t entity;
    float priority;
};

struct cw_interest_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t max_entities;         /* all ids are below this; 1 to 1048576; default 1024 */
    double radius; /* entities that are further away are not found; above 0, at most 1000000000;
                      default 100 */
    double full_radius; /* up to this distance, an entity has its whole importance as priority, and
                           a quarter of it at twice the distance; above 0, at most 1000000000;
                           default 25 */
};

struct cw_interest_config cw_interest_config_default(void);

struct cw_interest;

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_interest_memory(const struct cw_interest_config *config);

/* *interest is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_interest_create(const struct cw_interest_config *config,
                                 struct cw_interest **interest);

/* NULL is allowed. */
void cw_interest_destroy(struct cw_interest *interest);

/* Goes back to the state after create. */
void cw_interest_reset(struct cw_interest *interest);

/* Sets where an entity is and how important, usually 1. Nobody finds one of importance 0. Returns
   CW_ERROR_INVALID_ARGUMENT, with nothing changed, for an id that is too large, coordinates that
   are not finite, or an importance that is negative or not finite. */
enum cw_error cw_interest_set(struct cw_interest *interest, uint32_t entity, float x, float y,
                              float importance);

/* Removes an entity. Does nothing when there is no such entity. */
void cw_interest_remove(struct cw_interest *interest, uint32_t entity);

/* Finds the entities within the radius of a place, in no order, and returns their number, at most
   capacity. When there are more, it finds those with the highest priorities. The first search after
   entities were set costs some instructions for each entity of the world. Returns 0 when a
   coordinate is not finite. */
size_t cw_interest_find(struct cw_interest *interest, float x, float y, struct cw_priority *found,
                        size_t capacity);

CW_END_DECLARATIONS

#endif
