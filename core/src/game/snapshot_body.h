/* The body of a snapshot at the sender: which entities have changed, which of them fit, and the
   bytes. */
#ifndef CAUSEWAY_SNAPSHOT_BODY_H
#define CAUSEWAY_SNAPSHOT_BODY_H

#include "game/snapshot_wire.h"
#include "game/snapshot_world.h"

/* Room for the lists of one body. Every body uses it again. */
struct cw_snapshot_room {
    uint32_t *ids;   /* of the entities that differ, in order */
    uint32_t *queue; /* a heap of indices into ids */
    float *urgency;  /* per index */
    bool *chosen;    /* per index */
};

void cw_snapshot_room_layout(struct cw_snapshot_room *room, struct cw_arena *arena,
                             uint32_t max_entities);

/* A body is the difference between two arrays with one change per entity: what the client has, and
   what it should have. */
struct cw_snapshot_body {
    const struct cw_snapshot_world *world;
    const struct cw_snapshot_wire *wire;
    struct cw_snapshot_room *room;
    const uint32_t *had, *has;
    struct cw_snapshot_head head; /* complete and count are filled in */
    uint32_t differing;           /* ids in the room */
};

/* Lists the entities that differ, and chooses them all. */
void cw_snapshot_body_list(struct cw_snapshot_body *body);

/* Chooses the entities that fit into capacity bytes, the most urgent first. Removals come before
   everything else. Each entity that differs gains its priority in waited. Both arrays are per
   entity. */
void cw_snapshot_body_choose(struct cw_snapshot_body *body, size_t capacity, const float *priority,
                             float *waited);

/* Writes the chosen entities and returns the size, 0 when it is above capacity. */
size_t cw_snapshot_body_write(struct cw_snapshot_body *body, uint8_t *out, size_t capacity);

#endif
