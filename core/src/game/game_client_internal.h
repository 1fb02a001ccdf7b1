/* The inside of a game's client. */
#ifndef CAUSEWAY_GAME_CLIENT_INTERNAL_H
#define CAUSEWAY_GAME_CLIENT_INTERNAL_H

#include "game/game_config_internal.h"
#include "game/game_events.h"
#include "game/game_group.h"

#include "causeway/game_client.h"

/* The work of the application between two calls of next_turn. */
enum cw_game_open {
    CW_GAME_OPEN_NOTHING,
    CW_GAME_OPEN_INPUT,  /* it fills in the input of the tick that is due */
    CW_GAME_OPEN_DUE,    /* it plays that tick */
    CW_GAME_OPEN_MISSED, /* it plays a tick before, which the clock has left out */
    CW_GAME_OPEN_AGAIN   /* it plays a tick again */
};

/* The latest times of something that matters only when it happens again and again. */
struct cw_game_often {
    double times[4];
    uint32_t next;
};

struct cw_game_client {
    struct cw_game_config config;
    size_t memory;
    const struct cw_schema *carried;
    struct cw_clock_sync *clock;
    struct cw_input_sender *inputs;
    struct cw_prediction *prediction;
    struct cw_snapshot_client *snapshots;
    struct cw_interpolation *interpolation;
    struct cw_history *seen; /* the snapshots that came in order */
    uint8_t *kept;           /* room for an entity of the history */

    /* The server's time runs at its rate. The parts that measure it get the time of this clock,
       which runs at the same one. */
    bool timed;
    double rate, timed_at, timed_from;

    bool told; /* the server has told the entity that this client plays */
    uint32_t own;
    uint8_t starved_low;
    bool playing; /* there is a predicted state, after `tick` */
    uint32_t tick;
    struct cw_game_group group;
    struct cw_game_events events;
    uint8_t *state, *before; /* the newest predicted state of its own entity, and the one a tick
                                before */
    uint8_t *shown[2];       /* room to smooth both */

    enum cw_game_open open;
    uint32_t open_tick; /* the tick that is played */
    bool due;           /* the input for due_tick is needed */
    bool filled;        /* it is there, and the tick is to be played */
    uint32_t due_tick;
    uint8_t *input;  /* the player's newest input */
    uint8_t *again;  /* the input of a tick that is played again or was missed */
    uint32_t missed; /* ticks in a row without an input of their own */

    bool stamped; /* a body was sent, at stamped_at, with inputs up to stamped_tick */
    double stamped_at;
    uint32_t stamped_tick, input_tick;

    bool viewed;
    struct cw_view view;
    uint32_t next_member, next_place;
    double view_time; /* the application's time of the view */

    /* For the verdict: inputs and views that were late, and states that were wrong although all
       inputs were in time. */
    struct cw_game_often late, wrong;
    uint64_t judged_starved, judged_guesses; /* the counts up to which `late` has them */
    bool guessing;                           /* the last view was beyond the newest snapshot */
    uint64_t compared_starved; /* ticks without an input up to the last state compared */
    bool correcting;           /* a correction is not played to its end */
    uint32_t wrong_tick, wrong_field;

    uint64_t malformed, starved;
    struct cw_game_fault fault;
};

/* The time of the clock that runs at the server's rate. */
double cw_game_client_time(const struct cw_game_client *client, double now);

/* Takes a state of the own entity that the server has sent; NULL when there is no such entity. */
void cw_game_client_correct(struct cw_game_client *client, uint32_t tick, const void *state);

/* Notes what the verdict needs: after a state of the server was compared, and after a view. */
void cw_game_client_note_state(struct cw_game_client *client, uint64_t corrections, double now);
void cw_game_client_note_view(struct cw_game_client *client, double now);
void cw_game_client_forget_notes(struct cw_game_client *client);

/* Takes over what the application has done since the last call. */
void cw_game_client_close(struct cw_game_client *client);

/* The number of predicted ticks that are kept. Longer gaps are not filled in either. */
uint32_t cw_game_kept_ticks(const struct cw_game_config *config);

#endif
