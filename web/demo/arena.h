/* The rules of the game. Players push and shoot loose bodies; a body takes the
   colour of whoever moved it last, and who owns most is ahead. Nothing here
   knows of a network, and all numbers are whole, so that the server's compiler
   and the page's give the same result to the last bit. */
#ifndef DEMO_ARENA_H
#define DEMO_ARENA_H

#include "entities.h"

#include <stdbool.h>
#include <stdint.h>

#define TICKS_PER_SECOND 60
/* Those of schema.js. */
#define METRE         1024 /* lengths are in these parts of it; speeds in these per tick */
#define BODY_METRE    64   /* as others see the bodies */
#define ARENA_WIDTH   (32 * METRE)
#define ARENA_HEIGHT  (18 * METRE)
#define SPEED_LIMIT   1023 /* as in schema.js */
#define PLAYER_RADIUS (METRE / 2)
#define BODY_RADIUS   (METRE / 3)
#define SHOT_RANGE    (14 * METRE)
#define RELOAD_TICKS  18
#define STUN_TICKS    40
#define BODIES        200
#define MAX_PLAYERS   32

struct place {
    int32_t x, y;
};

struct loose_body {
    struct place at, speed;
    uint32_t owner; /* 1 + the player's number; 0: nobody's */
};

struct arena {
    bool here[MAX_PLAYERS];
    struct player players[MAX_PLAYERS];
    struct loose_body bodies[BODIES];
};

/* Where everything that can be hit is, or was when the shooter saw it. */
struct targets {
    bool here[MAX_PLAYERS];
    struct place players[MAX_PLAYERS];
    struct place bodies[BODIES];
};

/* Puts the bodies in their places, without players. */
void arena_init(struct arena *arena);

/* Puts a player on one of the starting places. */
void arena_join(struct arena *arena, uint32_t player);

/* Takes a player away. What he owned is nobody's. */
void arena_leave(struct arena *arena, uint32_t player);

/* One tick of one player by himself: this is what a page predicts. True when he
 * shoots. */
bool arena_step_player(struct player *player, const struct command *command);

/* Where a shot of a player ends: the number of the player it hits, MAX_PLAYERS
   + that of a body, or -1. *distance is how far it gets. */
int32_t arena_aim(const struct player *from, uint32_t shooter, const struct targets *targets,
                  int32_t *distance);

/* What a shot does to what it hit. */
void arena_hit(struct arena *arena, uint32_t shooter, int32_t hit);

/* One tick of all that players do to one another and to the bodies. */
void arena_step(struct arena *arena);

/* What a player does whom nobody plays. */
struct command arena_bot(const struct arena *arena, uint32_t player);

/* How many bodies each player owns. */
void arena_scores(const struct arena *arena, uint32_t scores[MAX_PLAYERS]);

#endif
