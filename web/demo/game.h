/* The rules of the demo's game, which are few: what a player says goes to all, and so does where
   each of them is. */
#ifndef DEMO_GAME_H
#define DEMO_GAME_H

#include "schema.h"

#include "causeway/server.h"

/* As in schema.js. */
#define PROTOCOL_ID 0xca05e3a7de400001
#define MAX_PLAYERS 64

/* The messages of schema.js. */
enum cw_error game_schema(struct cw_schema **schema);

/* Does what an event asks for, and releases its message. */
void game_take(struct cw_server *server, const struct cw_server_event *event, double now);

/* Tells all players where they are. Call it once per tick. */
void game_tick(struct cw_server *server, double now);

#endif
