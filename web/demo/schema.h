/* What the demo's page and server say to each other. schema.js is the same for JavaScript; the
   fingerprint in the tokens tells when the two differ. */
#ifndef DEMO_SCHEMA_H
#define DEMO_SCHEMA_H

#include "causeway/schema.h"

#define PROTOCOL_ID 0xca05e3a7de400001
#define MAX_PLAYERS 64

/* Channel 0 is reliable. */
#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)

#define SAID_FIELDS(FIELD)                                                                         \
    FIELD(player, CW_UINT(0, MAX_PLAYERS - 1))                                                     \
    FIELD(text, CW_STRING(200))
CW_MESSAGE(said, SAID_FIELDS)

/* Channel 1 is not. */
#define COORDINATE CW_COMPRESSED_FLOAT(0, 1, 0.001f)
#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(x, COORDINATE)                                                                           \
    FIELD(y, COORDINATE)
CW_MESSAGE(move, MOVE_FIELDS)

#define WORLD_FIELDS(FIELD)                                                                        \
    FIELD(players, CW_ARRAY(CW_UINT(0, MAX_PLAYERS - 1), MAX_PLAYERS))                             \
    FIELD(xs, CW_ARRAY(COORDINATE, MAX_PLAYERS))                                                   \
    FIELD(ys, CW_ARRAY(COORDINATE, MAX_PLAYERS))
CW_MESSAGE(world, WORLD_FIELDS)

enum { SAY, SAID, MOVE, WORLD, TYPES };

#endif
