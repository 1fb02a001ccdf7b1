/* Prediction: a client plays its own inputs at once, and is corrected when the server's state of
   the same tick differs.

       step(&state, &input);                                      each tick of the client
       cw_prediction_add(prediction, tick, &input, &state);

       cw_prediction_correct(prediction, tick, &server_state);    what came from the server
       while (cw_prediction_replay(prediction, &state, &tick, &input))
           step(&state, &input);

       shown = state;                                             each frame
       cw_prediction_smooth(prediction, &shown, now);

   The module keeps the inputs and states of the last ticks. When the server disagrees, replay
   returns the server's state and then the inputs that came after it. Playing these gives the state
   that the client should have had. The visible error fades away instead of jumping.

   Input and state are structs of the schema. States are compared field by field: compressed floats
   by their value on the wire, numbers with a tolerance if you set one. */
#ifndef CAUSEWAY_PREDICTION_H
#define CAUSEWAY_PREDICTION_H

#include "causeway/base.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

struct cw_prediction;

struct cw_prediction_config {
    struct cw_allocator allocator;  /* zero: malloc */
    const struct cw_schema *schema; /* must outlive the prediction */
    uint32_t input_type;            /* the type of inputs; default 0 */
    uint32_t state_type;            /* the type of states, with a table of fields; default 1 */
    uint32_t max_ticks; /* ticks to keep, 2 to 4096, more than pass until the server's answer;
                           default 128; all inputs and states together have at most 2^30 bytes */

    /* One tolerance for each field of the state, copied; NULL: all 0. Each number in the field may
       be off by this much. Numbers are floats, doubles and 32-bit integers, also in nested structs
       and arrays. Use 0 for other fields. */
    const float *tolerances;
    /* One limit for each field, for smooth: a number that a correction moves by at most this much
       moves smoothly; by more, it jumps. 0: it always jumps. */
    const float *smooth_limits;
    double smooth_seconds; /* time in which an error fades to 37 %, above 0 to 60; default 0.1 */

    /* For testing a game: replay plays every tick a second time, and the stats count the ticks that
       give a different state. Call replay after add too. */
    bool stress;
};

struct cw_prediction_config cw_prediction_config_default(const struct cw_schema *schema);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_prediction_memory(const struct cw_prediction_config *config);

/* Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_prediction_create(const struct cw_prediction_config *config,
                                   struct cw_prediction **prediction);

/* NULL is allowed. */
void cw_prediction_destroy(struct cw_prediction *prediction);

/* Forgets all ticks, errors and counters. */
void cw_prediction_reset(struct cw_prediction *prediction);

/* Keeps copies of a tick's input and of the state after it. Discards the oldest when there are
   max_ticks already. A tick that does not follow the newest one discards all others. */
enum cw_error cw_prediction_add(struct cw_prediction *prediction, uint32_t tick, const void *input,
                                const void *state);

/* Compares the server's state after a tick with the predicted one. Returns true when they differ,
   or when the tick is newer than all that were added: call replay then. Returns false also when the
   tick was compared before or is no longer kept. */
bool cw_prediction_correct(struct cw_prediction *prediction, uint32_t tick, const void *state);

/* Has replay play all ticks after the server's last state again, although that state was right: for
   steps that also depend on what else the server has told, as on other entities. It counts as a
   correction when the newest state changes. Returns false when there is no such tick. */
bool cw_prediction_again(struct cw_prediction *prediction);

/* Gives the ticks to play again, one per call. The first call sets state to the server's. Each call
   that returns true gives a tick and its input; play them on state before the next call. The last
   call returns false, and state is then the newest. Without a correction nothing is written. */
bool cw_prediction_replay(struct cw_prediction *prediction, void *state, uint32_t *tick,
                          void *input);

/* Adds the rest of the fading errors to a state that will be shown. Integers are rounded. */
void cw_prediction_smooth(struct cw_prediction *prediction, void *state, double now);

struct cw_prediction_stats {
    uint64_t compared;    /* states from the server that had a prediction */
    uint64_t corrections; /* compared states that differed, and what cw_prediction_again changed */
    uint64_t stale;       /* states from the server that came twice or too late */
    uint64_t replayed;    /* ticks played again */
    uint32_t depth;       /* ticks played again by the last correction */
    uint32_t max_depth;   /* the most ticks played again by one correction */
    double error;         /* the largest difference of a number in the last correction */
    double max_error;     /* the largest such difference in any correction */
    uint32_t error_field; /* the field of `error`, CW_FIELD_NONE when it was not in a number */
    uint32_t wrong_field; /* the first field that was wrong in the last correction, not only in a
                             number; CW_FIELD_NONE before the first */
    uint32_t wrong_tick;  /* the tick whose state was wrong */
    uint64_t desyncs;     /* with stress: ticks that gave a different state when played again */
    uint32_t desync_tick; /* the last such tick */
};

void cw_prediction_get_stats(const struct cw_prediction *prediction,
                             struct cw_prediction_stats *stats);

CW_END_DECLARATIONS

#endif
