/* The parts of a match share this: the game, the lines, and what is counted. */
#ifndef CAUSEWAY_LAB_MATCH_INTERNAL_H
#define CAUSEWAY_LAB_MATCH_INTERNAL_H

#include "lab/match.h"

#include "causeway/input.h"
#include "causeway/prediction.h"
#include "causeway/simulator.h"
#include "lab/latencies.h"

#include <stddef.h>

CW_BEGIN_DECLARATIONS

/* The number of the server, and of the ball. */
#define CW_LAB_SERVER CW_LAB_PLAYERS

#define CW_LAB_MATCH_TICKS_PER_SECOND 60

/* Turns of which the hashes and the times of moves are kept. */
#define CW_LAB_MATCH_KEPT 1024

/* Lockstep: the moves that a player may make before another one has them, and the most in a
   datagram. Then the player has to wait. */
#define CW_LAB_LOCKSTEP_WINDOW 250

/* The direction of a player's move, -1 to 1 each way. */
struct cw_lab_push {
    int32_t x, y;
};

/* The state of the game. It has integers only, so that it is the same on every machine. */
struct cw_lab_pitch {
    struct cw_lab_spot players[CW_LAB_PLAYERS];
    struct cw_lab_spot ball, ball_speed;
};

/* The state before the first turn. */
struct cw_lab_pitch cw_lab_pitch_begin(void);

/* The move of a player in a turn. It does not depend on what the player sees, so that it is the
   same in both designs. */
struct cw_lab_push cw_lab_pitch_push(uint64_t seed, uint32_t player, uint32_t turn);

/* The part of a turn that a client predicts: the player moves. */
void cw_lab_pitch_move(struct cw_lab_spot *player, struct cw_lab_push push);

/* Takes a turn: all players move, and kick the ball. */
void cw_lab_pitch_step(struct cw_lab_pitch *pitch, const struct cw_lab_push *pushes);

uint64_t cw_lab_pitch_hash(const struct cw_lab_pitch *pitch);

/* A player of lockstep. */
struct cw_lab_lockstep {
    struct cw_lab_pitch pitch;
    struct cw_lab_push pushes[CW_LAB_PLAYERS][CW_LAB_LOCKSTEP_WINDOW];
    uint32_t have[CW_LAB_PLAYERS]; /* moves that have come of each player, from turn 0 on */
    uint32_t told[CW_LAB_PLAYERS]; /* the player's own moves that others are known to have */
};

/* A player of prediction. */
struct cw_lab_predictor {
    struct cw_input_sender *sender;
    struct cw_prediction *prediction;
    struct cw_lab_spot own;    /* the predicted place */
    struct cw_lab_pitch pitch; /* the newest state of the server */
    uint32_t lead;             /* the ticks by which the player's turns run ahead of the server's */
};

/* The things that a player has seen. */
struct cw_lab_seen {
    uint32_t turns; /* turns of the whole game */
    uint32_t moves; /* the player's own moves */
    uint32_t late;
    uint32_t stalled_ticks, stall, longest_stall; /* stall is the one that lasts */
    struct cw_lab_latencies own, others;
};

struct cw_lab_kept_hash {
    uint32_t turns; /* 0: none yet */
    uint64_t hash;
};

struct cw_lab_match {
    struct cw_lab_match_config config;
    uint32_t ticks;
    struct cw_simulator *up[CW_LAB_PLAYERS], *down[CW_LAB_PLAYERS];
    struct cw_lab_seen seen[CW_LAB_PLAYERS];
    uint32_t pressed[CW_LAB_PLAYERS][CW_LAB_MATCH_KEPT]; /* the tick in which each move was made */
    struct cw_lab_kept_hash hashes[CW_LAB_PLAYERS + 1][CW_LAB_MATCH_KEPT];
    struct cw_lab_lockstep lockstep[CW_LAB_PLAYERS];
    struct cw_schema *schema;
    struct cw_lab_predictor predictors[CW_LAB_PLAYERS];
    struct cw_input_receiver *receivers[CW_LAB_PLAYERS];
    struct cw_lab_pitch server;
    uint32_t server_begins; /* the tick of the server's first turn */
};

/* Notes that a player makes the move of a turn in this tick, and returns it. */
struct cw_lab_push cw_lab_match_press(struct cw_lab_match *match, uint32_t player, uint32_t turn);

/* Notes that a player sees the effect of a player's move from this tick on. */
void cw_lab_match_see(struct cw_lab_match *match, uint32_t viewer, uint32_t player, uint32_t turn);

/* Keeps the hash of the state that a player or the server has after so many turns. */
void cw_lab_match_keep(struct cw_lab_match *match, uint32_t player, uint32_t turns,
                       const struct cw_lab_pitch *pitch);

/* Lockstep: a player takes the datagram of another one, and takes part in a tick. */
void cw_lab_lockstep_begin(struct cw_lab_match *match);
void cw_lab_lockstep_receive(struct cw_lab_match *match, uint32_t player, const uint8_t *data);
void cw_lab_lockstep_tick(struct cw_lab_match *match, uint32_t player, double now);

/* Prediction: these make the objects of the game kit, and end them. */
enum cw_error cw_lab_prediction_begin(struct cw_lab_match *match);
void cw_lab_prediction_end(struct cw_lab_match *match);

/* The server takes a player's datagram, and takes a turn. */
void cw_lab_prediction_serve(struct cw_lab_match *match, uint32_t player, const uint8_t *data,
                             size_t size, double now);
void cw_lab_prediction_turn(struct cw_lab_match *match, double now);

/* A player takes a datagram of the server, and makes the moves of a tick. */
void cw_lab_prediction_receive(struct cw_lab_match *match, uint32_t player, const uint8_t *data);
void cw_lab_prediction_tick(struct cw_lab_match *match, uint32_t player, double now);

CW_END_DECLARATIONS

#endif
