/* The rules of the game. Players push and shoot loose bodies; a body takes the colour of the player
   who moved it last, and the player with the most bodies is ahead. These rules know nothing of a
   network, and all numbers are integers, so that the server's compiler and the page's give the same
   result to the last bit. */
#ifndef DEMO_ARENA_H
#define DEMO_ARENA_H

#include "entities.h"

#include <stdbool.h>
#include <stdint.h>

#define TICKS_PER_SECOND 60
/* The sizes, BODIES and MAX_PLAYERS stand in schema.js too. */
#define METRE         1024 /* units of length in a metre; speeds are in units per tick */
#define BODY_METRE    64   /* the same for the bodies that other players see */
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
#define ROUND_TICKS   (90 * TICKS_PER_SECOND)

struct place {
    int32_t x, y;
};

struct loose_body {
    struct place at, speed;
    uint32_t owner; /* 1 + the player's number; 0 without an owner */
};

struct arena {
    bool here[MAX_PLAYERS];
    struct player players[MAX_PLAYERS];
    struct loose_body bodies[BODIES];
    uint32_t tick;
    struct round round;
};

/* The places of everything that can be hit, now or when the shooter saw it. */
struct targets {
    bool here[MAX_PLAYERS];
    struct place players[MAX_PLAYERS];
    struct place bodies[BODIES];
};

/* Puts the bodies in their places, without players. */
void arena_init(struct arena *arena);

/* Puts a player on one of the starting places. */
void arena_join(struct arena *arena, uint32_t player);

/* Takes a player away. His bodies have no owner then. */
void arena_leave(struct arena *arena, uint32_t player);

/* Runs one tick of one player, without the others: this is what a page predicts. Returns whether he
   shoots. */
bool arena_step_player(struct player *player, const struct command *command);

/* Returns what a shot of a player hits: the number of a player, MAX_PLAYERS + the number of a body,
   or -1. *end is how far it gets, within the arena. */
int32_t arena_aim(const struct player *from, uint32_t shooter, const struct targets *targets,
                  struct place *end);

/* Applies a shot to what it has hit. */
void arena_hit(struct arena *arena, uint32_t shooter, int32_t hit);

/* Runs one tick of all that players do to one another and to the bodies. When the time of the round
   is over, this notes who has won it, and puts the bodies back without owners. */
void arena_step(struct arena *arena);

/* Returns the command of a player that no person plays. */
struct command arena_bot(const struct arena *arena, uint32_t player);

/* Counts the bodies that each player owns. */
void arena_scores(const struct arena *arena, uint32_t scores[MAX_PLAYERS]);

#endif
