/* The states of entities at the last ticks, to look at a world between two of them.

   On a server this is lag compensation. A client shows the past: what it sees has travelled, and
   waited for its interpolation. A player who aims at it aims at the past. So a client sends the
   view (interpolation.h) along with its input, and the server looks up the same two states and the
   same fraction before it decides what was hit:

       cw_history_begin(history, tick);                      each tick, when the world has moved
       for (each entity)
           cw_history_add(history, id, &state);

       if (cw_history_rewind(history, &seen, &view))         for each shot
           for (i = 0; i < cw_history_count(history, view.from); i++)
               if (cw_history_find(history, &view, cw_history_entity(history, view.from, i),
                                   &from, &to))
                   ... cw_lerp(from->x, to->x, view.fraction) ...

   How far back a client can reach is bounded by max_ticks, whatever it says.

   On a client it keeps the snapshots that arrive in order, for the views of its interpolation. */
#ifndef CAUSEWAY_HISTORY_H
#define CAUSEWAY_HISTORY_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/interpolation.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_history;

struct cw_history_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t state_size;           /* bytes of an entity's state, 1 to 65536; no default */
    uint32_t max_entities;         /* in one tick, 1 to 65536; default 256 */
    uint32_t max_ticks;            /* kept, 2 to 4096; default 64: a second at 60 per second; all
                                      states together have at most 2^30 bytes */
};

struct cw_history_config cw_history_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_history_memory(const struct cw_history_config *config);

/* Errors: CW_ERROR_CONFIG_HISTORY, CW_ERROR_NO_MEMORY. */
enum cw_error cw_history_create(const struct cw_history_config *config,
                                struct cw_history **history);

/* NULL is allowed. */
void cw_history_destroy(struct cw_history *history);

/* Forgets all ticks. */
void cw_history_reset(struct cw_history *history);

/* Begins a tick, without entities; the oldest goes when max_ticks are kept. Ticks go up, by one or
   more; one that is not later than the newest forgets all others. */
enum cw_error cw_history_begin(struct cw_history *history, uint32_t tick);

/* Adds an entity and its state_size bytes of state (copied) to the newest tick. It is quickest in
   ascending order of entities. Errors: CW_ERROR_DUPLICATE when the tick has the entity already,
   CW_ERROR_ENTITIES_FULL, and CW_ERROR_INVALID_ARGUMENT before the first tick. */
enum cw_error cw_history_add(struct cw_history *history, uint32_t entity, const void *state);

/* Makes of what a client says it saw a view of ticks that are kept. It is what the client says
   where that can be, else the same moment between two ticks that are kept, or the oldest or newest
   of them. What the client had to guess, beyond seen->to, is known here. False when no tick is
   kept. */
bool cw_history_rewind(const struct cw_history *history, const struct cw_view *seen,
                       struct cw_view *view);

/* How many entities a tick has; 0 when it is not kept. */
uint32_t cw_history_count(const struct cw_history *history, uint32_t tick);

/* The entity of that index in a tick, in ascending order; 0 when there is none. */
uint32_t cw_history_entity(const struct cw_history *history, uint32_t tick, uint32_t index);

/* The two states of an entity in a view whose ticks are kept. One that came after view->from is not
   there yet: false. For one that is gone in view->to, both are that of view->from. The states stay
   until the tick is forgotten. */
bool cw_history_find(const struct cw_history *history, const struct cw_view *view, uint32_t entity,
                     const void **from, const void **to);

CW_END_DECLARATIONS

#endif
