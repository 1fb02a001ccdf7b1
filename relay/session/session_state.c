#include "session/session_state.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct session_state) == 280, "another layout needs another MESSAGE_VERSION");

bool session_state_read(const void *data, size_t size, struct session_state *out)
{
    struct session_state state;
    if (size != sizeof state)
        return false;
    memcpy(&state, data, sizeof state);
    /* The level of a full bucket is infinite, and so is the time at which a session with a link
       lost its last one. */
    if (!isfinite(state.opened) || !isfinite(state.active) || !isfinite(state.last_answer) ||
        isnan(state.unlinked) || state.server.size > sizeof state.server.address ||
        state.client.size > sizeof state.client.address ||
        state.header.size > sizeof state.header.bytes || isnan(state.packets.level) ||
        !isfinite(state.packets.at) || isnan(state.bytes.level) || !isfinite(state.bytes.at))
        return false;
    *out = state;
    return true;
}
