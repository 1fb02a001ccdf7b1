/* The game's side of the network: what players send becomes commands of the
   arena, and the arena goes out to them as snapshots. */
#ifndef DEMO_GAME_H
#define DEMO_GAME_H

#include "arena.h"

#include "causeway/server.h"

/* This number stands in schema.js too. */
#define PROTOCOL_ID 0xca05e3a7de400001
#define BOTS        3 /* the bots that play beside a single player */
#define MAX_HUMANS  (MAX_PLAYERS - BOTS)

struct game;

/* Creates the game. The errors are those of the kit's create function. */
enum cw_error game_create(struct game **game);
void game_destroy(struct game *game);

/* Returns the messages of schema.js, which are valid as long as the game. */
const struct cw_schema *game_messages(const struct game *game);

/* Does what an event asks for, and releases its message. */
void game_take(struct game *game, struct cw_server *server, const struct cw_server_event *event,
               double now);

/* Plays the ticks that are due and sends their outcome to all players. */
void game_play(struct game *game, struct cw_server *server, double now);

#endif
