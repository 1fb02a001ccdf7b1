/* The body of a snapshot at the sender: which entities have changed, which of them fit, and the
   bytes. */
#ifndef CAUSEWAY_SNAPSHOT_BODY_H
#define CAUSEWAY_SNAPSHOT_BODY_H

#include "game/snapshot_coder.h"
#include "game/snapshot_wire.h"
#include "game/snapshot_world.h"

/* The memory for the lists of one body. Every body uses it again. */
struct cw_snapshot_scratch {
    uint32_t *ids;   /* the ids of the entities that differ, in order */
    uint32_t *queue; /* a heap of indices into ids */
    float *urgency;  /* the urgency of each index */
    bool *chosen;    /* each index: whether it is chosen */

    /* These are for the range coder; NULL without it. */
    struct cw_snapshot_coder *coder;
    uint8_t *coded; /* max_bytes bytes */
    uint32_t extra; /* eighths by which a body holds more than without the coder */
};

void cw_snapshot_scratch_layout(struct cw_snapshot_scratch *scratch, struct cw_arena *arena,
                                const struct cw_snapshot_config *config);

/* A body is the difference between two arrays with one change per entity: the changes that the
   client has, and those that it should have. */
struct cw_snapshot_body {
    const struct cw_snapshot_world *world;
    const struct cw_snapshot_wire *wire;
    struct cw_snapshot_scratch *scratch;
    const uint32_t *had, *has;
    const uint32_t
        *before;          /* the client's version of the baseline's own baseline; NULL: not known */
    uint32_t took, ahead; /* see cw_snapshot_motion */
    struct cw_snapshot_head head; /* complete and count are filled in */
    uint32_t differing;           /* the number of ids in the scratch memory */
};

/* Lists the entities that differ, and chooses them all. */
void cw_snapshot_body_list(struct cw_snapshot_body *body);

/* Writes the chosen entities and returns the size, 0 when it is above capacity. */
size_t cw_snapshot_body_write(struct cw_snapshot_body *body, uint8_t *out, size_t capacity);

/* Chooses and writes the entities that fit into capacity bytes, the most urgent first. Removals
   come before everything else. Each entity that differs gains its priority in waited. Both arrays
   have an item for each entity. */
size_t cw_snapshot_body_write_some(struct cw_snapshot_body *body, uint8_t *out, size_t capacity,
                                   const float *priority, float *waited);

#endif
