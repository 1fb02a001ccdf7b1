/* Values of a game as the wire can carry them. */
#ifndef CAUSEWAY_GAME_FIT_H
#define CAUSEWAY_GAME_FIT_H

#include "causeway/game_config.h"

/* Moves the numbers of a struct that are out of range to the nearest ones that are in range, and
   rounds compressed floats to their values on the wire. Returns CW_OK when nothing was out of
   range. Otherwise it returns CW_ERROR_MESSAGE_VALUE and tells the first field that was, and
   whether the struct can be sent now: a value that is no number cannot be mended. */
enum cw_error cw_game_fit(const struct cw_schema *schema, uint32_t type, void *value,
                          uint32_t *field, bool *mended);

static inline void cw_game_blame(struct cw_game_fault *fault, uint32_t tick, uint32_t entity,
                                 uint32_t type, uint32_t field)
{
    *fault = (struct cw_game_fault){fault->count + 1, tick, entity, type, field};
}

#endif
