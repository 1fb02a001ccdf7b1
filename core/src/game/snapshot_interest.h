/* One client of a large world: the entities in which it is interested, and those that it has. These
   are lists by id, so that a snapshot costs what its client may see, and not what the world has. */
#ifndef CAUSEWAY_SNAPSHOT_INTEREST_H
#define CAUSEWAY_SNAPSHOT_INTEREST_H

#include "game/snapshot_body.h"

#include "causeway/interest.h"

/* An entity of interest. */
struct cw_snapshot_wish {
    uint32_t entity;
    uint32_t since; /* the first snapshot for which it is one, or no longer is one */
    float priority; /* 0: it no longer is one, but the client may have it */
    float waited;   /* the urgency that it has gained since it was sent last */
    bool sent;      /* a snapshot has had it */
};

/* An entity as a client has it. With CW_CHANGE_HIDDEN it may be hidden, although the client's
   snapshot has it, or, without CW_CHANGE_PRESENT, the client was told that it is gone. */
struct cw_snapshot_had {
    uint32_t entity;
    uint32_t change;
};

struct cw_snapshot_interest {
    uint32_t most; /* wishes with a priority. Each list has room for twice as many */
    uint32_t window;
    uint32_t count;
    struct cw_snapshot_wish *wishes;
    struct cw_snapshot_had *had; /* a list for each of the last window snapshots */
    uint32_t *had_counts;
};

/* The numbers of a snapshot, of its baseline and of that one's own; 0: none. */
struct cw_snapshot_numbers {
    uint32_t number, baseline, before;
};

/* The memory in which lists are sorted and merged; all clients share it. */
struct cw_snapshot_interest_scratch {
    struct cw_priority *sorted, *other;
    struct cw_snapshot_wish *wishes;
};

/* Take the parts from the arena, whose memory is zero. The first pointer is NULL while measuring.
 */
void cw_snapshot_interest_layout(struct cw_snapshot_interest *interest, struct cw_arena *arena,
                                 uint32_t most, uint32_t window);
void cw_snapshot_interest_scratch_layout(struct cw_snapshot_interest_scratch *scratch,
                                         struct cw_arena *arena, uint32_t most);

/* Sorts priorities by entity; of an entity that comes twice the highest stays, and those of 0 go.
   Returns their number. ids are below max_entities. */
uint32_t cw_snapshot_interest_sort(const struct cw_snapshot_interest_scratch *scratch,
                                   const struct cw_priority *priorities, uint32_t count,
                                   uint32_t max_entities);

/* Makes these the wishes, from the snapshot `next` on. Returns false when there are too many
   entities that the client has yet to lose: these are forgotten, so the client must start over. */
bool cw_snapshot_interest_set(struct cw_snapshot_interest *interest,
                              const struct cw_snapshot_interest_scratch *scratch, uint32_t count,
                              uint32_t next);

/* Copies the wishes to `other` of the scratch memory, except the one for this entity. Returns their
   number. */
uint32_t cw_snapshot_interest_copy(const struct cw_snapshot_interest *interest,
                                   const struct cw_snapshot_interest_scratch *scratch,
                                   uint32_t except);

/* Lists the entities that differ, and chooses them all. Begins the list of what the client has with
   the new snapshot. Returns false when that list has no room for all. */
bool cw_snapshot_interest_list(struct cw_snapshot_interest *interest,
                               const struct cw_snapshot_numbers *numbers,
                               struct cw_snapshot_body *body);

/* Notes that the snapshot has the chosen entities. */
void cw_snapshot_interest_note(struct cw_snapshot_interest *interest, uint32_t number,
                               const struct cw_snapshot_body *body);

#endif
