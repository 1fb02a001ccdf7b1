/* The server's world: the states of its entities now, and after the last window changes of each.

   An entity's changes are numbered. Creation and removal are changes too, and the numbers go on
   when another entity gets the id. So comparing two numbers shows whether an entity is the same in
   two places. A client's version of the world is an array with one number per entity. */
#ifndef CAUSEWAY_SNAPSHOT_WORLD_H
#define CAUSEWAY_SNAPSHOT_WORLD_H

#include "base/memory.h"

#include "causeway/schema.h"

#include <stdbool.h>

/* The number of a change. From bit 2 on it counts changes, and may wrap. The bits below say whether
   the entity exists after it. 0 is an id that was never set. */
#define CW_CHANGE_PRESENT 1u
/* This is no change of the world: from here on the entity was hidden from a client. */
#define CW_CHANGE_HIDDEN 2u
#define CW_CHANGE_STEP   4u

static inline bool cw_change_is_present(uint32_t change)
{
    return (change & CW_CHANGE_PRESENT) != 0;
}

/* Returns the number of changes from the earlier one to the later. */
static inline uint32_t cw_change_distance(uint32_t later, uint32_t earlier)
{
    const uint32_t mask = CW_CHANGE_STEP - 1;
    return ((later & ~mask) - (earlier & ~mask)) / CW_CHANGE_STEP;
}

/* One state of an entity; its struct, quantized, follows. */
struct cw_snapshot_state {
    uint32_t type;
    uint32_t created; /* the change that created this entity */
};

struct cw_snapshot_world {
    const struct cw_schema *schema;
    struct cw_schema *quantized;
    bool *plain; /* for each type, whether its structs have only plain fields, and no floats that
                    would have to be quantized */
    uint32_t max_entities;
    uint32_t window;
    size_t stride; /* bytes of a state with its struct */

    uint32_t version; /* the world at the last tick: counts ticks, 0 before the first */
    uint32_t used;    /* one more than the highest id that was ever set */
    uint32_t alive;   /* entities that are set now */

    uint32_t *last;     /* each entity's last change */
    uint32_t *changed;  /* for each entity the version to which its last change belongs */
    uint8_t *states;    /* window states for each entity */
    uint8_t *scratch;   /* room for a state */
    uint32_t *versions; /* the last window worlds: each entity's change */
    uint32_t *ticks;    /* their ticks */
};

/* Takes the parts of a world from the arena, whose memory is zero. world is NULL while measuring.
 */
void cw_snapshot_world_layout(struct cw_snapshot_world *world, struct cw_arena *arena,
                              const struct cw_schema *schema, uint32_t max_entities,
                              uint32_t window);
void cw_snapshot_world_reset(struct cw_snapshot_world *world);

/* These do the work of cw_snapshot_server_set and so on. */
enum cw_error cw_snapshot_world_set(struct cw_snapshot_world *world, uint32_t entity, uint32_t type,
                                    const void *state);
bool cw_snapshot_world_remove(struct cw_snapshot_world *world, uint32_t entity);
enum cw_error cw_snapshot_world_tick(struct cw_snapshot_world *world, uint32_t tick);

/* Returns whether the version is one of the last window. */
static inline bool cw_snapshot_world_knows(const struct cw_snapshot_world *world, uint32_t version)
{
    return version > 0 && world->version - version < world->window;
}

/* Returns the changes of a version that the world knows, and its tick. */
static inline const uint32_t *cw_snapshot_world_changes(const struct cw_snapshot_world *world,
                                                        uint32_t version)
{
    return world->versions + (size_t)(version % world->window) * world->max_entities;
}

static inline uint32_t cw_snapshot_world_tick_of(const struct cw_snapshot_world *world,
                                                 uint32_t version)
{
    return world->ticks[version % world->window];
}

/* Returns the state after a change that leaves the entity in place; NULL when it is too old. */
static inline struct cw_snapshot_state *
cw_snapshot_world_state(const struct cw_snapshot_world *world, uint32_t entity, uint32_t change)
{
    if (cw_change_distance(world->last[entity], change) >= world->window)
        return NULL;
    /* the window is a power of two */
    const uint32_t slot = change / CW_CHANGE_STEP & (world->window - 1);
    const size_t index = (size_t)entity * world->window + slot;
    return (struct cw_snapshot_state *)(void *)(world->states + index * world->stride);
}

static inline void *cw_snapshot_state_struct(struct cw_snapshot_state *state)
{
    return state + 1;
}

#endif
