/* A match: the same players make the same moves in the same game on the same network, either as
   deterministic lockstep or with a server and prediction, in virtual time. The same config and the
   same calls give the same match, natively and in WebAssembly.

   Each player has a line of its own to the place where all lines meet. There the server is, and
   there the datagrams go from one player's line to the others' in lockstep.

   Lockstep: everybody has the whole game, and takes turn N when the moves of all players for it are
   here. A datagram has all moves that somebody does not have yet.
   Prediction: the server takes a turn in each tick, whatever is missing, and tells the state. A
   player's own moves are seen at once, and are put right when the server saw other ones. */
#ifndef CAUSEWAY_LAB_MATCH_H
#define CAUSEWAY_LAB_MATCH_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The players are numbered from 0; the last one may have a slow line. Where this number stands for
   a player it means the server, or the ball. */
#define CW_LAB_PLAYERS 3

/* The game's field, in units of its own. */
#define CW_LAB_PITCH_WIDTH  1600
#define CW_LAB_PITCH_HEIGHT 900

struct cw_lab_match;

struct cw_lab_match_config {
    struct cw_allocator allocator; /* zero: malloc */
    bool prediction;         /* with a server and prediction, not in lockstep; default false */
    uint64_t seed;           /* any number: the seed of the network and of the moves; default 1 */
    double rtt_seconds;      /* the round trip over a line, 0 to 1; default 0.05 */
    double slow_rtt_seconds; /* the same over the last player's line, 0 to 1; default 0.3 */
    double loss;             /* the share of datagrams lost each way on a line, 0 to 1; default 0 */
};

struct cw_lab_match_config cw_lab_match_config_default(void);

/* *match is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT when a value is out of range,
   CW_ERROR_NO_MEMORY. */
enum cw_error cw_lab_match_create(const struct cw_lab_match_config *config,
                                  struct cw_lab_match **match);

/* NULL is allowed. */
void cw_lab_match_destroy(struct cw_lab_match *match);

/* Cuts the last player's line, so that nothing goes through, or repairs it. */
void cw_lab_match_cut(struct cw_lab_match *match, bool cut);

/* Lets ticks pass, 60 of which are a second. */
void cw_lab_match_step(struct cw_lab_match *match, uint32_t ticks);

struct cw_lab_spot {
    int32_t x, y;
};

/* Tells where a player or the ball is on a player's screen; (0, 0) when there is no such one. */
void cw_lab_match_look(const struct cw_lab_match *match, uint32_t viewer, uint32_t player,
                       struct cw_lab_spot *spot);

/* The figures of a player since create. The time of a move is that from the tick in which it is
   made to the one in which its effect is on the player's screen. */
struct cw_lab_match_stats {
    uint32_t turns;         /* turns of the whole game that the player has seen */
    uint32_t late;          /* moves of the player that came too late for the server */
    uint32_t corrections;   /* predictions that the server has put right */
    double own_seconds;     /* the mean time of the player's own moves */
    double own_p99_seconds; /* 99 of 100 took no longer */
    double others_seconds;  /* the mean time of the moves of others */
    double stalled_seconds; /* the time in which the player could not move, although the game had
                               begun */
    double longest_stall_seconds; /* the longest such time in a row */
};

/* Fills in zeros when there is no such player. */
void cw_lab_match_get_stats(const struct cw_lab_match *match, uint32_t player,
                            struct cw_lab_match_stats *stats);

/* Returns the hash of the game's state after so many turns as a player, or the server, has it; 0
   when it has none, or has forgotten it: each keeps the last 1024. */
uint64_t cw_lab_match_hash(const struct cw_lab_match *match, uint32_t player, uint32_t turns);

CW_END_DECLARATIONS

#endif
