/* Prediction: a client plays its own inputs at once, and is corrected when the
   server's state of the same tick is another.

       step(&state, &input);                                      each tick of the client
       cw_prediction_add(prediction, tick, &input, &state);

       cw_prediction_correct(prediction, tick, &server_state);    what came from the server
       while (cw_prediction_replay(prediction, &state, &tick, &input))
           step(&state, &input);

       shown = state;                                             each frame
       cw_prediction_smooth(prediction, &shown, now);

   The room keeps input and state of the last ticks. When the server disagrees, replay gives back
   the server's state, then the inputs that came after it, so that state ends up where the client
   would be if it had known. What this moves on the screen fades away instead of jumping.

   Input and state are structs of the schema. They are compared field by field, a compressed float
   by what it is on the wire, and numbers by a tolerance if you like. */
#ifndef CAUSEWAY_PREDICTION_H
#define CAUSEWAY_PREDICTION_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/linkage.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

struct cw_prediction;

struct cw_prediction_config {
    struct cw_allocator allocator;  /* zero: malloc */
    const struct cw_schema *schema; /* outlives the prediction */
    uint32_t input_type;            /* what a tick takes; default 0 */
    uint32_t state_type;            /* what a tick makes, with a table of fields; default 1 */
    uint32_t max_ticks; /* kept, 2 to 4096, more than the server's answer takes; default 128; all
                           inputs and states together have at most 2^30 bytes */

    /* One for each field of the state, copied; NULL: all 0. A number in the field (float, double or
       integer of 32 bits, in nested structs and arrays too) may be off by this much; other fields
       have 0. */
    const float *tolerances;
    /* The same for what smooth does: a number moves smoothly when a correction moves it by at most
       this much, and jumps when by more. 0: it always jumps. */
    const float *smooth_limits;
    double smooth_seconds; /* in which an error falls to 37 %, above 0 to 60; default 0.1 */

    /* For tests of a game: every tick is played twice, by way of replay, and has to give the same
       state; stats count when it did not. Call replay after add too. */
    bool stress;
};

struct cw_prediction_config cw_prediction_config_default(const struct cw_schema *schema);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_prediction_memory(const struct cw_prediction_config *config);

/* Errors: CW_ERROR_CONFIG_PREDICTION, CW_ERROR_NO_MEMORY. */
enum cw_error cw_prediction_create(const struct cw_prediction_config *config,
                                   struct cw_prediction **prediction);

/* NULL is allowed. */
void cw_prediction_destroy(struct cw_prediction *prediction);

/* Forgets all ticks, errors and counters. */
void cw_prediction_reset(struct cw_prediction *prediction);

/* Keeps (copies) the input of a tick, and the state after it; the oldest goes when max_ticks are
   kept. A tick that is not the one after the newest forgets all others. */
enum cw_error cw_prediction_add(struct cw_prediction *prediction, uint32_t tick, const void *input,
                                const void *state);

/* Compares the server's state after a tick with the one that was predicted. True when they
   disagree, or when there is none to compare because the tick is newer than all that were added:
   then replay. False too when the tick was compared before or is not kept any more. */
bool cw_prediction_correct(struct cw_prediction *prediction, uint32_t tick, const void *state);

/* Polls what is to be played again. The first call sets state to the server's; each one that
   returns true gives a tick and its input, to be played on state before the next call. The last
   call returns false, and state is the newest. Without a correction nothing is written. */
bool cw_prediction_replay(struct cw_prediction *prediction, void *state, uint32_t *tick,
                          void *input);

/* Adds to a state that will be shown what is left of the errors, which fade with time. Integers are
   rounded. */
void cw_prediction_smooth(struct cw_prediction *prediction, void *state, double now);

struct cw_prediction_stats {
    uint64_t compared;    /* states of the server that were predicted */
    uint64_t corrections; /* of them: with which it disagreed */
    uint64_t stale;       /* states of the server that came twice or too late */
    uint64_t replayed;    /* ticks played again because of corrections */
    uint32_t depth;       /* of them: for the last correction */
    uint32_t max_depth;   /* and the most for one */
    double error;         /* the largest difference of a number in the last correction */
    double max_error;     /* and in any */
    uint32_t error_field; /* where the last one was, CW_FIELD_NONE when not in a number */
    uint64_t desyncs;     /* ticks that gave another state when played again, with stress */
    uint32_t desync_tick; /* the last of them */
};

void cw_prediction_stats(const struct cw_prediction *prediction, struct cw_prediction_stats *stats);

CW_END_DECLARATIONS

#endif
