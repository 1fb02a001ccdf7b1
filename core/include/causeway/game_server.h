/* The server of a fast game, as one object: the world and a seat for each client. Each turn of its
   loop:

       cw_game_server_receive(game, client, body, size, now);           for each body that came
       cw_game_server_update(game, now);
       while (cw_game_server_next_tick(game, &tick))
           for (client = 0; client < MAX_CLIENTS; client++)
               if (cw_game_server_input(game, client, &input)) {
                   step(&players[client], &input);
                   cw_game_server_set(game, client, PLAYER, &players[client]);
               }
       for (client = 0; client < MAX_CLIENTS; client++)
           if ((size = cw_game_server_transmit(game, client, body, sizeof body, now)) > 0)
               ... send it ...

   Take what has arrived first: the inputs in it are needed by the ticks that follow. A loop that is
   late plays the ticks that it has missed, 0.15 seconds of them in one turn at most. A server that
   cannot keep up leaves ticks out of its time, not out of its numbers, and tells its real rate to
   its clients, which follow. */
#ifndef CAUSEWAY_GAME_SERVER_H
#define CAUSEWAY_GAME_SERVER_H

#include "causeway/base.h"
#include "causeway/game_config.h"
#include "causeway/input.h"
#include "causeway/interest.h"
#include "causeway/snapshot.h"

CW_BEGIN_DECLARATIONS

struct cw_game_server;

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_game_server_memory(const struct cw_game_config *config);

/* *server is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_game_server_create(const struct cw_game_config *config,
                                    struct cw_game_server **server);

/* NULL is allowed. */
void cw_game_server_destroy(struct cw_game_server *server);

/* Goes back to the state after create. */
void cw_game_server_reset(struct cw_game_server *server);

/* Gives a seat to a client, which will play this entity. The entity may be set later, and another
   client's body for the seat is forgotten. Call it for every client that connects, and again to
   give a client another entity. Returns CW_ERROR_INVALID_ARGUMENT for numbers that are too
   large. */
enum cw_error cw_game_server_join(struct cw_game_server *server, uint32_t client, uint32_t entity);

/* Frees a seat. The entity stays until it is removed. */
void cw_game_server_leave(struct cw_game_server *server, uint32_t client);

/* Takes a body from cw_game_client_transmit. Errors, with nothing changed: CW_ERROR_MALFORMED for
   any other bytes, and CW_ERROR_INVALID_ARGUMENT when nobody has this seat. CW_ERROR_DUPLICATE,
   CW_ERROR_STALE and CW_ERROR_TOO_EARLY are about the inputs alone and need no answer. */
enum cw_error cw_game_server_receive(struct cw_game_server *server, uint32_t client,
                                     const uint8_t *data, size_t size, double now);

/* Lets time pass. The first call starts the time. */
void cw_game_server_update(struct cw_game_server *server, double now);

/* Begins the next tick that is due, and ends the one before. Returns false when there is none. */
bool cw_game_server_next_tick(struct cw_game_server *server, uint32_t *tick);

/* Gets a client's input for this tick, a struct of the type. When it has not come, it is the last
   one, and zeros after a second. Call it once per client and tick. Returns false when nobody
   has this seat, or outside a tick. */
bool cw_game_server_input(struct cw_game_server *server, uint32_t client, void *input);

/* Sets an entity's state and rounds *state to what the clients will get. An entity with another
   type, or one that was removed before, is a new one under the same id. Errors:
   CW_ERROR_INVALID_ARGUMENT for an id that is too large; CW_ERROR_MESSAGE_TYPE for a type that
   cannot be an entity's; CW_ERROR_MESSAGE_VALUE when a value cannot be sent. The stats name its
   field. A number that is out of range was moved into its range and set; all other values leave the
   entity as it was. */
enum cw_error cw_game_server_set(struct cw_game_server *server, uint32_t entity, uint32_t type,
                                 void *state);

/* Tells all clients that something happens to an entity in this tick, once, as a sound; see
   cw_game_client_emit. A client that lacks more than 256 events gets the newest ones. Does nothing
   outside a tick, and for an id that is too large. */
void cw_game_server_emit(struct cw_game_server *server, uint32_t entity, uint8_t kind);

/* Removes an entity. Does nothing when there is no such entity. */
void cw_game_server_remove(struct cw_game_server *server, uint32_t entity);

/* Returns an entity's state, valid until it is set or removed, and sets *type unless type is NULL.
   Returns NULL when there is no such entity. */
const void *cw_game_server_state(const struct cw_game_server *server, uint32_t entity,
                                 uint32_t *type);

/* Sets how urgent an entity is for a client; see cw_snapshot_server_set_priority. A client's own
   entity has priority 100. */
enum cw_error cw_game_server_set_priority(struct cw_game_server *server, uint32_t client,
                                          uint32_t entity, float priority);

/* Sets which entities a client gets beside its own, and how urgent each is; see
   cw_snapshot_server_set_interest. Call it before each body, with what cw_interest_find found round
   the client's own entity, which should be in the list. Needs max_interest. Returns
   CW_ERROR_INVALID_ARGUMENT, with nothing changed, when nobody has this seat, and for more than
   max_interest entities. */
enum cw_error cw_game_server_set_interest(struct cw_game_server *server, uint32_t client,
                                          const struct cw_priority *entities, size_t count);

/* Gets an entity as a client saw it when it made its input of this tick, for judging a shot. Blend
   the two states as the client does. Returns false when it did not see the entity. */
bool cw_game_server_seen(const struct cw_game_server *server, uint32_t client, uint32_t entity,
                         struct cw_game_entity *seen);

/* Writes a body for a client and returns its size, at most capacity and max_bytes. Returns 0 when
   none is due, when nobody has this seat, or when capacity is below 64 bytes. */
size_t cw_game_server_transmit(struct cw_game_server *server, uint32_t client, uint8_t *out,
                               size_t capacity, double now);

struct cw_game_server_stats {
    uint32_t tick;      /* the newest tick */
    double rate;        /* the real ticks per second, divided by ticks_per_second */
    uint64_t ticks;     /* ticks played */
    uint64_t skipped;   /* ticks left out because too many were due */
    uint64_t malformed; /* bodies that were refused */
    struct cw_game_fault fault;
    struct cw_snapshot_server_stats snapshots;
};

void cw_game_server_get_stats(const struct cw_game_server *server,
                              struct cw_game_server_stats *stats);

/* Gets the stats of a client's inputs. Writes nothing when nobody has this seat. */
void cw_game_server_get_inputs(const struct cw_game_server *server, uint32_t client,
                               struct cw_input_receiver_stats *stats);

CW_END_DECLARATIONS

#endif
