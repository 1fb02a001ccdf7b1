/* Snapshots: the state of a world, again and again, as its differences from what the other end is
   known to have.

   A world is entities. An entity has a number (its id), a type of the schema and the struct of that
   type. The server is told what its entities are like, tick by tick, and makes snapshots for each
   client: bodies for messages on an unreliable channel. A snapshot holds what differs from the
   newest one that the client has acked, its baseline. When that does not fit, the most urgent
   entities go first. A client may be interested in a part of the world only. Nothing is ever
   resent: what was lost still differs from the baseline.

   An ack comes in one of two ways. Either send a snapshot's message with the snapshot's number as
   its receipt, and tell the server which receipts were acked. That costs no bytes, but a connection
   acks what has arrived, also when the application never takes it. Or have the client send
   cw_snapshot_client_newest along with its inputs. Then a snapshot that it could not read is never
   acked, and after `window` snapshots without an ack the server begins anew by itself. */
#ifndef CAUSEWAY_SNAPSHOT_H
#define CAUSEWAY_SNAPSHOT_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/linkage.h"
#include "causeway/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* For both ends. */
struct cw_snapshot_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these. */
    const struct cw_schema *schema; /* the types of entities, and best nothing else: every entity
                                       takes the room of the largest. Must outlive the object */
    uint32_t max_entities;          /* ids are below this; 1 to 65536; default 1024 */
    uint32_t window; /* how many ticks and snapshots back a baseline may be, a power of two
                        from 2 to 128; default 32, which is half a second at 60 per second: it has
                        to span the round trip. Both ends the same */

    /* The server's own business. */
    uint32_t max_clients; /* 1 to 1024; default 64 */
    uint32_t max_bytes; /* the most that a snapshot may have, 64 to 65535; default 1000, which goes
                           into one packet of a connection */
};

struct cw_snapshot_config cw_snapshot_config_default(const struct cw_schema *schema);

/* The server's end: a world, and what each client has of it. */
struct cw_snapshot_server;

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_snapshot_server_memory(const struct cw_snapshot_config *config);

/* *server is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT without a schema,
   CW_ERROR_CONFIG_SNAPSHOT, CW_ERROR_NO_MEMORY. */
enum cw_error cw_snapshot_server_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_server **server);

/* NULL is allowed. */
void cw_snapshot_server_destroy(struct cw_snapshot_server *server);

/* Back to the state after create. */
void cw_snapshot_server_reset(struct cw_snapshot_server *server);

/* Says what an entity is like from the next tick on; state is the struct of the type (copied). An
   entity that has another type now, or was removed before, is a new one under the same id.
   CW_ERROR_INVALID_ARGUMENT for an id that is too large, CW_ERROR_MESSAGE_TYPE for a type that the
   schema does not have or that has a function of its own, CW_ERROR_MESSAGE_VALUE when a field is
   out of range: cw_schema_check tells which. */
enum cw_error cw_snapshot_server_set(struct cw_snapshot_server *server, uint32_t entity,
                                     uint32_t type, const void *state);

/* There is no such entity from the next tick on. Nothing happens when there was none. */
void cw_snapshot_server_remove(struct cw_snapshot_server *server, uint32_t entity);

/* The world as it was set is that of the tick; transmit sends it. Ticks go up, by one or more, and
   may wrap: CW_ERROR_INVALID_ARGUMENT, with nothing changed, for one that is not later than the
   last. Call it for the ticks that are sent, not for those between. */
enum cw_error cw_snapshot_server_tick(struct cw_snapshot_server *server, uint32_t tick);

/* A client begins: it has nothing yet, and all entities have priority 1. Call it for every client
   that joins. CW_ERROR_INVALID_ARGUMENT when client is not below max_clients. */
enum cw_error cw_snapshot_server_join(struct cw_snapshot_server *server, uint32_t client);

/* Forgets what a client has acked, so that the next snapshot needs no baseline; its priorities
   stay. For a client that has told that it got CW_ERROR_SNAPSHOT_BASELINE. */
enum cw_error cw_snapshot_server_restart(struct cw_snapshot_server *server, uint32_t client);

/* How urgent an entity is for a client when not everything fits: what was left out gains this much
   urgency with each snapshot. 0: the client is not interested, and has no such entity. It holds
   until the entity is removed. CW_ERROR_INVALID_ARGUMENT when it is negative or not finite. */
enum cw_error cw_snapshot_server_set_priority(struct cw_snapshot_server *server, uint32_t client,
                                              uint32_t entity, float priority);

/* Writes a snapshot of the last tick for a client and returns its size, at most capacity, which is
   the budget of this snapshot, and max_bytes. *number, from 1 up, is what acked wants to know. 0,
   with nothing written, before the first tick, or when the capacity is below 32 bytes. */
size_t cw_snapshot_server_transmit(struct cw_snapshot_server *server, uint32_t client, uint8_t *out,
                                   size_t capacity, uint32_t *number);

/* The client has the snapshot of this number, as transmit gave it or, in its low 16 bits, as
   cw_snapshot_client_newest did. Numbers that are too old or never were are ignored. */
void cw_snapshot_server_acked(struct cw_snapshot_server *server, uint32_t client, uint32_t number);

struct cw_snapshot_server_stats {
    uint64_t snapshots;     /* made, for all clients together */
    uint64_t bytes;         /* in them */
    uint64_t shared;        /* that were copied from one made before for the same baseline */
    uint64_t whole;         /* without a baseline */
    uint64_t entities_sent; /* that had changed and were in a snapshot */
    uint64_t entities_cut;  /* that had changed and found no room */
    uint32_t entities;      /* in the world now */
};

void cw_snapshot_server_stats(const struct cw_snapshot_server *server,
                              struct cw_snapshot_server_stats *stats);

/* The client's end: the world as it is known here. */
struct cw_snapshot_client;

/* As for a server. */
size_t cw_snapshot_client_memory(const struct cw_snapshot_config *config);
enum cw_error cw_snapshot_client_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_client **client);
void cw_snapshot_client_destroy(struct cw_snapshot_client *client);
void cw_snapshot_client_reset(struct cw_snapshot_client *client);

/* Takes a snapshot. On any error it is dropped and nothing else has changed:

   CW_ERROR_MALFORMED: the bytes are no snapshot of this schema.

   CW_ERROR_DUPLICATE, CW_ERROR_STALE: it was received before, or is older than the window.

   CW_ERROR_SNAPSHOT_BASELINE: its baseline is not here, because the snapshot that would have
   brought it was acked and not received, or longer ago than the window. When acks are those of
   receipts, tell the server, which then calls cw_snapshot_server_restart. */
enum cw_error cw_snapshot_client_receive(struct cw_snapshot_client *client, const uint8_t *data,
                                         size_t size);

/* The number of the newest snapshot received, in 16 bits, for an ack that the client sends itself;
   false when there was none. */
bool cw_snapshot_client_newest(const struct cw_snapshot_client *client, uint16_t *number);

/* The tick of the newest snapshot; false when there was none. */
bool cw_snapshot_client_tick(const struct cw_snapshot_client *client, uint32_t *tick);

/* The newest that is known of an entity: its struct, which stays as it is until the next receive or
   reset, and its type unless type is NULL. NULL when there is no such entity. */
const void *cw_snapshot_client_state(const struct cw_snapshot_client *client, uint32_t entity,
                                     uint32_t *type);

enum cw_snapshot_event_kind {
    CW_SNAPSHOT_EVENT_CREATED, /* it was not there before, or was another one */
    CW_SNAPSHOT_EVENT_UPDATED,
    CW_SNAPSHOT_EVENT_REMOVED
};

struct cw_snapshot_event {
    enum cw_snapshot_event_kind kind;
    uint32_t entity;
    uint32_t type; /* of one that was created or updated */
    uint32_t tick; /* of the snapshot that told it */
};

/* The next entity that is not as it was when it was told last, by id; several changes of one are
   told as one. False when there is none. */
bool cw_snapshot_client_next(struct cw_snapshot_client *client, struct cw_snapshot_event *event);

struct cw_snapshot_client_stats {
    uint64_t snapshots;                                     /* received */
    uint64_t bytes;                                         /* in them */
    uint64_t whole;                                         /* without a baseline */
    uint64_t malformed, duplicate, stale, baseline_missing; /* dropped */
    uint32_t entities;                                      /* that are known now */
};

void cw_snapshot_client_stats(const struct cw_snapshot_client *client,
                              struct cw_snapshot_client_stats *stats);

CW_END_DECLARATIONS

#endif
