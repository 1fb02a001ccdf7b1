#include "base/error_texts.h"

#include "causeway/history.h"
#include "causeway/input.h"
#include "causeway/snapshot.h"

#define GAME_ERRORS(ERROR)                                                                         \
    ERROR(TOO_EARLY, "the input is for a tick further ahead than max_early_ticks; the client "     \
                     "must pass the server's reports to cw_clock_sync_adjust")                     \
    ERROR(SNAPSHOT_BASELINE, "the snapshot's baseline is not here; tell the server, so that it "   \
                             "starts over with cw_snapshot_server_restart")                        \
    ERROR(ENTITIES_FULL, "there are max_entities entities already; raise max_entities")
CW_ERROR_LIST(cw_game_errors, CW_ERROR_TOO_EARLY, GAME_ERRORS)
