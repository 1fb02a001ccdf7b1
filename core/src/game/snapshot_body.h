/* The body of a snapshot at the sender: which entities have changed, which of them fit, and the
   bytes. */
#ifndef CAUSEWAY_SNAPSHOT_BODY_H
#define CAUSEWAY_SNAPSHOT_BODY_H

#include "game/snapshot_coder.h"
#include "game/snapshot_wire.h"
#include "game/snapshot_world.h"

/* An entity that differs between what a client has and what it should have; see
   snapshot_world.h for the changes. */
struct cw_snapshot_difference {
    uint32_t id;
    uint32_t had, has; /* the change that the client has, and the one that it should have */
    uint32_t before;   /* the change that it had in the baseline's own baseline; 0: not known */
    float urgency;
    bool chosen;
};

/* The memory for the lists of one body. Every body uses it again. */
struct cw_snapshot_scratch {
    struct cw_snapshot_difference *differences; /* the differences by id */
    uint32_t *queue;                            /* a heap of indices of differences */

    /* These are for the range coder; NULL without it. */
    struct cw_snapshot_coder *coder;
    uint8_t *coded; /* max_bytes bytes */
    uint32_t extra; /* eighths by which a body holds more than without the coder */
};

void cw_snapshot_scratch_layout(struct cw_snapshot_scratch *scratch, struct cw_arena *arena,
                                const struct cw_snapshot_config *config);

/* A body is the difference between two versions of the world: the one that the client has, and the
   one that it should have. */
struct cw_snapshot_body {
    const struct cw_snapshot_world *world;
    const struct cw_snapshot_wire *wire;
    struct cw_snapshot_scratch *scratch;
    /* These have one change per entity. They are NULL when the differences came from lists; then
       the body does without the range coder, which needs to know of every entity. */
    const uint32_t *had, *has;
    const uint32_t
        *before;          /* the client's version of the baseline's own baseline; NULL: not known */
    uint32_t took, ahead; /* see cw_snapshot_motion */
    struct cw_snapshot_head head; /* complete and count are filled in */
    uint32_t differing;           /* the number of differences in the scratch memory */
};

/* Lists the entities that differ, and chooses them all. */
void cw_snapshot_body_list(struct cw_snapshot_body *body);

/* Writes the chosen entities and returns the size, 0 when it is above capacity. */
size_t cw_snapshot_body_write(struct cw_snapshot_body *body, uint8_t *out, size_t capacity);

/* Chooses and writes the entities that fit into capacity bytes, the most urgent first. Removals
   come before everything else. */
size_t cw_snapshot_body_write_some(struct cw_snapshot_body *body, uint8_t *out, size_t capacity);

#endif
