/* A history keeps the states of entities at the last ticks, for looking at the world between two of
   them.

   On a server this is lag compensation. A client shows the past, because snapshots take time to
   travel and then wait for interpolation. So its player aims at the past. The client sends its view
   (interpolation.h) along with its input. The server looks up the same two states and the same
   fraction before it decides what was hit:

       cw_history_begin(history, tick);                      each tick, when the world has moved
       for (each entity)
           cw_history_add(history, id, &state);

       if (cw_history_rewind(history, &seen, &view))         for each shot
           for (i = 0; i < cw_history_count(history, view.from); i++)
               if (cw_history_find(history, &view, cw_history_entity(history, view.from, i),
                                   &from, &to))
                   ... cw_lerp(from->x, to->x, view.fraction) ...

   max_ticks limits how far back a client can reach, whatever view it sends.

   On a client the history keeps the snapshots that arrive in order, for the views of
   interpolation. */
#ifndef CAUSEWAY_HISTORY_H
#define CAUSEWAY_HISTORY_H

#include "causeway/base.h"
#include "causeway/interpolation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* This is an error of this module; see base.h. */
#define CW_ERROR_ENTITIES_FULL ((enum cw_error)0x802)

struct cw_history;

struct cw_history_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t state_size;           /* bytes of an entity's state, 1 to 65536; no default */
    uint32_t max_entities;         /* entities in one tick, 1 to 65536; default 256 */
    uint32_t max_ticks; /* ticks to keep, 2 to 4096; default 64, a second at 60 per second; all
                           states together, each rounded up to 16 bytes, have at most 2^30 */
};

struct cw_history_config cw_history_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_history_memory(const struct cw_history_config *config);

/* Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_history_create(const struct cw_history_config *config,
                                struct cw_history **history);

/* NULL is allowed. */
void cw_history_destroy(struct cw_history *history);

/* Forgets all ticks. */
void cw_history_reset(struct cw_history *history);

/* Begins a tick without entities. Discards the oldest when there are max_ticks already. Ticks go
   up, by one or more; a tick that is not later than the newest discards all others. */
enum cw_error cw_history_begin(struct cw_history *history, uint32_t tick);

/* Adds an entity and its state_size bytes of state (copied) to the newest tick. Adding entities in
   ascending order is fastest. Errors: CW_ERROR_DUPLICATE when the tick has the entity already,
   CW_ERROR_ENTITIES_FULL, and CW_ERROR_INVALID_ARGUMENT before the first tick. */
enum cw_error cw_history_add(struct cw_history *history, uint32_t entity, const void *state);

/* Turns the view that a client says it saw into a view of ticks that are kept. If the history has
   those ticks, it is the same view. Otherwise it is the same moment between two ticks that are
   kept, or the oldest or newest tick. A moment beyond seen->to, which the client extrapolated, is
   looked up here. Returns false when no tick is kept. */
bool cw_history_rewind(const struct cw_history *history, const struct cw_view *seen,
                       struct cw_view *view);

/* Returns the number of entities of a tick, or 0 when the tick is not kept. */
uint32_t cw_history_count(const struct cw_history *history, uint32_t tick);

/* Returns the entity at an index of a tick, in ascending order, or 0 when there is none. */
uint32_t cw_history_entity(const struct cw_history *history, uint32_t tick, uint32_t index);

/* Gets the two states of an entity in a view whose ticks are kept. Returns false for an entity that
   is not in view->from. For one that is gone in view->to, both states are the one of view->from.
   The states are valid until their tick is discarded. */
bool cw_history_find(const struct cw_history *history, const struct cw_view *view, uint32_t entity,
                     const void **from, const void **to);

CW_END_DECLARATIONS

#endif
