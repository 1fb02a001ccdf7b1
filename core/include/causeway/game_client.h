/* The client of a fast game, as one object. Each frame:

       cw_game_client_receive(game, body, size, now);        for each body that came
       cw_game_client_update(game, now);
       while (cw_game_client_next_turn(game, &turn)) {
           if (turn.type == CW_GAME_TURN_INPUT)
               read_keys(turn.input);
           else
               step(turn.state, turn.input);
       }
       size = cw_game_client_transmit(game, body, sizeof body, now);     send it, unless size is 0
       cw_game_client_view(game, now);
       while (cw_game_client_next_entity(game, &entity))
           draw(&entity);

   The same loop plays the ticks that are due and, when the server disagreed, those that are to be
   played again. The object rounds inputs and states to what the wire carries, so both ends play the
   same. Call cw_game_client_reset with every new connection. */
#ifndef CAUSEWAY_GAME_CLIENT_H
#define CAUSEWAY_GAME_CLIENT_H

#include "causeway/base.h"
#include "causeway/clock_sync.h"
#include "causeway/game_config.h"
#include "causeway/interpolation.h"
#include "causeway/prediction.h"
#include "causeway/snapshot.h"

CW_BEGIN_DECLARATIONS

struct cw_game_client;

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_game_client_memory(const struct cw_game_config *config);

/* *client is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_game_client_create(const struct cw_game_config *config,
                                    struct cw_game_client **client);

/* NULL is allowed. */
void cw_game_client_destroy(struct cw_game_client *client);

/* Goes back to the state after create, for a new connection. */
void cw_game_client_reset(struct cw_game_client *client);

/* Takes a body from cw_game_server_transmit. Errors, with nothing changed: CW_ERROR_MALFORMED for
   any other bytes. CW_ERROR_DUPLICATE, CW_ERROR_STALE and CW_ERROR_SNAPSHOT_BASELINE are about the
   snapshot alone and need no answer. */
enum cw_error cw_game_client_receive(struct cw_game_client *client, const uint8_t *data,
                                     size_t size, double now);

/* Lets time pass. Call it once per frame, then take the turns with next_turn. */
void cw_game_client_update(struct cw_game_client *client, double now);

enum cw_game_turn_type {
    CW_GAME_TURN_INPUT, /* fill in the input of this tick, which holds the last one; state is NULL
                         */
    CW_GAME_TURN_STEP   /* play this tick: change the state by the input, as the rules say */
};

struct cw_game_turn {
    enum cw_game_turn_type type;
    uint32_t tick;
    bool again;      /* a STEP of a tick that was played before, or whose input comes too late */
    uint32_t entity; /* the client's own, or another one of its group */
    uint32_t entity_type;
    void *input; /* struct of the input's type. A STEP of another entity: NULL, the client can only
                    guess that the entity goes on as before, by what its state says of that */
    void *state; /* struct of the entity's type */
};

/* Takes the next turn. The pointers in it are valid until the next call for this object, other than
   cw_game_client_state and cw_game_client_emit, which takes over what was written. Returns false
   when there is no turn. Before the server has told the state of this client's entity, and while
   there is no such entity, there are no STEPs. */
bool cw_game_client_next_turn(struct cw_game_client *client, struct cw_game_turn *turn);

/* Sets the group: the entities that are predicted together with the own one, because it may touch
   them. Every tick steps all of them in the order of their ids, from the same snapshot, as the
   server should. A step changes its own entity alone, and looks at others by cw_game_client_state.
   An entity is predicted from the next snapshot on, and shown as far ahead as the own one. Call it
   whenever this changes. Returns CW_ERROR_INVALID_ARGUMENT, with nothing changed, for ids that are
   too large and for more than max_group. */
enum cw_error cw_game_client_set_group(struct cw_game_client *client, const uint32_t *entities,
                                       size_t count);

/* Returns an entity's state, valid until the next call for this object other than this one: where
   it is predicted, that of the tick that is played, and otherwise that of the newest snapshot. Sets
   *type unless type is NULL. Returns NULL when there is no such entity. */
const void *cw_game_client_state(const struct cw_game_client *client, uint32_t entity,
                                 uint32_t *type);

enum cw_game_event_type {
    CW_GAME_EVENT_HAPPENED,  /* play it: the client has predicted it, or the server tells it */
    CW_GAME_EVENT_CONFIRMED, /* the server says that what was predicted has happened */
    CW_GAME_EVENT_TAKEN_BACK /* the server says that it has not */
};

struct cw_game_event {
    enum cw_game_event_type type;
    uint32_t tick;
    uint32_t entity;
    uint8_t kind; /* as the game has numbered them */
};

/* Tells that something happens in the STEP that was given: something to play once, as a sound. A
   STEP of the own entity is believed at once, also when the tick is played again, but each kind
   happens once in a tick. The server tells what happens to others. Does nothing outside a STEP. */
void cw_game_client_emit(struct cw_game_client *client, uint8_t kind);

/* Takes the next event. Returns false when there are no more. The newest 64 wait. */
bool cw_game_client_next_event(struct cw_game_client *client, struct cw_game_event *event);

/* Writes a body for cw_game_server_receive and returns its size. Returns 0 when there is nothing to
   send yet, or when capacity is too small: CW_GAME_BODY_SIZE is always enough for inputs that fit
   into a packet. */
size_t cw_game_client_transmit(struct cw_game_client *client, uint8_t *out, size_t capacity,
                               double now);

/* Sets the moment that the next calls of next_entity show. Returns false while there is nothing to
   show. */
bool cw_game_client_view(struct cw_game_client *client, double now);

/* Does the same, but shows the others as the newest snapshot has them: without delay, and in jumps.
   The server judges shots by what was shown here too. */
bool cw_game_client_view_newest(struct cw_game_client *client, double now);

/* Gives the next entity to show. Returns false when there are no more. The predicted ones come
   first, and are between their states of the newest tick and the one before, with corrections
   smoothed. */
bool cw_game_client_next_entity(struct cw_game_client *client, struct cw_game_entity *entity);

/* Gives the entity that this client plays. Returns false before the server has told it. */
bool cw_game_client_own(const struct cw_game_client *client, uint32_t *entity);

/* Returns the state of an entity in the newest snapshot, the own one included: a struct of its
   type, valid until the next receive or reset. Sets *type unless type is NULL. Returns NULL when
   there is no such entity. */
const void *cw_game_client_newest(const struct cw_game_client *client, uint32_t entity,
                                  uint32_t *type);

/* A client can tell why its own entity or the others jerk. */
enum cw_game_verdict_type {
    CW_GAME_VERDICT_GOOD,
    CW_GAME_VERDICT_NETWORK,  /* inputs come too late, or snapshots */
    CW_GAME_VERDICT_DIVERGING /* the server gets other states from the same inputs: a step depends
                                 on something that is not in state or input, the two ends have
                                 different rules, or others change what this client predicts */
};

struct cw_game_verdict {
    enum cw_game_verdict_type type;
    double jitter_seconds; /* NETWORK: the path's jitter */
    /* DIVERGING: the latest wrong state: the tick, the entity, and the first field of the player's
       type that was wrong. */
    uint32_t tick, entity, field;
};

/* Judges the last two seconds. */
void cw_game_client_judge(const struct cw_game_client *client, double now,
                          struct cw_game_verdict *verdict);

struct cw_game_client_stats {
    double server_rate;  /* the server's real ticks per second, divided by ticks_per_second */
    double server_tick;  /* the tick that the server runs now, and the part of it that has passed; 0
                            before the clock is synced */
    uint64_t malformed;  /* bodies that were refused */
    uint64_t starved;    /* ticks that the server played without this client's input */
    uint32_t tick;       /* the newest predicted tick of the own entity; 0: none */
    struct cw_view view; /* the latest moment at which the others were shown */
    struct cw_game_fault fault;
    struct cw_clock_sync_stats clock;
    struct cw_prediction_stats prediction;
    struct cw_snapshot_client_stats snapshots;
    struct cw_interpolation_stats interpolation;
};

void cw_game_client_get_stats(const struct cw_game_client *client, double now,
                              struct cw_game_client_stats *stats);

CW_END_DECLARATIONS

#endif
