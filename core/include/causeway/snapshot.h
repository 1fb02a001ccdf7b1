/* A snapshot is the state of a world. Snapshots are sent again and again, each as its differences
   from what the other end is known to have.

   A world is entities. An entity has a number (its id), a type of the schema and the struct of that
   type. The application sets the server's entities, tick by tick, and the server makes snapshots
   for each client: bodies for messages on an unreliable channel. A snapshot holds all that differs
   from the newest one that the client has acked, its baseline. When not everything fits, the most
   urgent entities go first. A client may be interested in only a part of the world. Nothing is ever
   resent: a change that was lost still differs from the baseline, so the next snapshot holds it
   again.

   An ack comes in one of two ways. Either send a snapshot's message with the snapshot's number as
   its receipt, and tell the server which receipts were acked. This way costs no bytes, but a
   connection acks what has arrived, even if the application never takes it. Or have the client send
   cw_snapshot_client_newest along with its inputs. In this case a snapshot that the client could
   not read is never acked, and after `window` snapshots without an ack the server starts over by
   itself. */
#ifndef CAUSEWAY_SNAPSHOT_H
#define CAUSEWAY_SNAPSHOT_H

#include "causeway/base.h"
#include "causeway/interest.h"
#include "causeway/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* This is an error of this module; see base.h. */
#define CW_ERROR_SNAPSHOT_BASELINE ((enum cw_error)0x801)

/* The ways to encode changes, each in fewer bytes than the one before, with more work. core/GAME.md
   has figures. The last two apply to types of at most 31 fields, each a single bool, integer of at
   most 32 bits, float or compressed float. All other types are encoded as differences. */
enum cw_snapshot_coding {
    CW_SNAPSHOT_DIFFERENCES, /* as differences from the baseline */
    CW_SNAPSHOT_PREDICTED,   /* as differences from the values that the fields would have now, had
                                they gone on from the baseline as before it; the window must span
                                twice the round trip */
    CW_SNAPSHOT_RANGE_CODED, /* like PREDICTED, through a range coder that learns which changes are
                                likely */
    CW_SNAPSHOT_CODING_COUNT
};

/* Either end has such a config. */
struct cw_snapshot_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these. */
    const struct cw_schema *schema; /* types of entities, preferably no others: every entity takes
                                       the room of the largest type. Must outlive the object */
    uint32_t max_entities;          /* all ids are below this; 1 to 1048576; default 1024 */
    uint32_t window; /* the number of ticks and snapshots back that a baseline may be, a power of
                        two from 2 to 128; default 32, half a second at 60 per second. It must span
                        the round trip */
    enum cw_snapshot_coding coding; /* the way to encode changes; default CW_SNAPSHOT_DIFFERENCES */

    /* Only a server uses these. */
    uint32_t max_clients;  /* the most clients of a server, 1 to 1024; default 64 */
    uint32_t max_bytes;    /* the largest snapshot that a server makes, 64 to 65535; default 1000,
                              which fits into one packet of a connection */
    uint32_t max_interest; /* the most entities in which a client is interested at a time. Then a
                              client costs memory and time for these, and not for the world, and
                              nothing of it goes through the range coder. At most 65536; default 0:
                              a client is interested in the world */
};

struct cw_snapshot_config cw_snapshot_config_default(const struct cw_schema *schema);

/* The server's end: a world, and the part of it that each client knows. */
struct cw_snapshot_server;

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_snapshot_server_memory(const struct cw_snapshot_config *config);

/* *server is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_snapshot_server_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_server **server);

/* NULL is allowed. */
void cw_snapshot_server_destroy(struct cw_snapshot_server *server);

/* Goes back to the state after create. */
void cw_snapshot_server_reset(struct cw_snapshot_server *server);

/* Sets an entity's state from the next tick on. state is the struct of the type (copied). An entity
   with another type, or one that was removed before, is a new one under the same id. Errors:
   CW_ERROR_INVALID_ARGUMENT for an id that is too large; CW_ERROR_MESSAGE_TYPE for a type that the
   schema does not have or that has a function of its own; CW_ERROR_MESSAGE_VALUE when a field is
   out of range, and cw_schema_check tells which. */
enum cw_error cw_snapshot_server_set(struct cw_snapshot_server *server, uint32_t entity,
                                     uint32_t type, const void *state);

/* Removes an entity from the next tick on. Does nothing when there is no such entity. */
void cw_snapshot_server_remove(struct cw_snapshot_server *server, uint32_t entity);

/* Takes the entities as they are now set as the world of this tick, which transmit then sends. Call
   it only for ticks that are sent. Ticks must go up, by one or more, and may wrap. Returns
   CW_ERROR_INVALID_ARGUMENT, with nothing changed, for a tick that is not later than the last. */
enum cw_error cw_snapshot_server_tick(struct cw_snapshot_server *server, uint32_t tick);

/* Adds a client, which knows nothing yet. All entities have priority 1 for it, or, with
   max_interest, 0. Call it for every client that joins. Returns CW_ERROR_INVALID_ARGUMENT when
   client is max_clients or more. */
enum cw_error cw_snapshot_server_join(struct cw_snapshot_server *server, uint32_t client);

/* Forgets what a client has acked, so that the next snapshot needs no baseline. Its priorities
   stay. Call it when a client reports CW_ERROR_SNAPSHOT_BASELINE. */
enum cw_error cw_snapshot_server_restart(struct cw_snapshot_server *server, uint32_t client);

/* Sets how urgent an entity is for a client when not everything fits. An entity that is left out of
   a snapshot gains this much urgency. 0: the client is not interested and does not get the entity.
   The priority holds until the entity is removed. Returns CW_ERROR_INVALID_ARGUMENT when it is
   negative or not finite, or the client is interested in max_interest other entities. */
enum cw_error cw_snapshot_server_set_priority(struct cw_snapshot_server *server, uint32_t client,
                                              uint32_t entity, float priority);

/* Sets the priorities of all entities for a client at once: that of the listed ones, which may come
   in any order, and 0 for all others. With max_interest a priority also is a rate: the changes of
   an entity come with every snapshot from 1 on, and with every fourth for 0.25, even if there is
   room. When an entity is listed twice, the higher one counts. The
   list may be what cw_interest_find found, and the client's own entity. Returns
   CW_ERROR_INVALID_ARGUMENT, with nothing changed, for an id that is too large, a priority that is
   negative or not finite, or more than max_interest entities. */
enum cw_error cw_snapshot_server_set_interest(struct cw_snapshot_server *server, uint32_t client,
                                              const struct cw_priority *entities, size_t count);

/* Writes a snapshot of the last tick for a client and returns its size, which is at most capacity
   and at most max_bytes. So capacity is the budget for this snapshot. Sets *number, from 1 up, for
   cw_snapshot_server_acked. Returns 0, with nothing written, before the first tick or when capacity
   is below 32 bytes. */
size_t cw_snapshot_server_transmit(struct cw_snapshot_server *server, uint32_t client, uint8_t *out,
                                   size_t capacity, uint32_t *number);

/* Tells the server that the client has the snapshot with this number. It is the number from
   transmit, or its low 16 bits from cw_snapshot_client_newest. Numbers that are too old or were
   never used are ignored. */
void cw_snapshot_server_acked(struct cw_snapshot_server *server, uint32_t client, uint32_t number);

struct cw_snapshot_server_stats {
    uint64_t snapshots;     /* snapshots made, for all clients together */
    uint64_t bytes;         /* bytes in all snapshots */
    uint64_t shared;        /* snapshots copied from one that was made for the same baseline */
    uint64_t whole;         /* snapshots without a baseline */
    uint64_t entities_sent; /* changed entities that went into a snapshot */
    uint64_t entities_cut;  /* changed entities that found no room in one */
    uint32_t entities;      /* entities in the world now */
};

void cw_snapshot_server_get_stats(const struct cw_snapshot_server *server,
                                  struct cw_snapshot_server_stats *stats);

/* The client's end: the world as the client knows it. */
struct cw_snapshot_client;

/* These do the same as for a server. */
size_t cw_snapshot_client_memory(const struct cw_snapshot_config *config);
enum cw_error cw_snapshot_client_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_client **client);
void cw_snapshot_client_destroy(struct cw_snapshot_client *client);
void cw_snapshot_client_reset(struct cw_snapshot_client *client);

/* Takes a snapshot. On any error the snapshot is dropped and nothing else changes:

   CW_ERROR_MALFORMED: the bytes are not a snapshot of this schema.

   CW_ERROR_DUPLICATE, CW_ERROR_STALE: it was received before, or is older than the window.

   CW_ERROR_SNAPSHOT_BASELINE: its baseline is not here. The baseline was acked but never received
   here, or it is older than the window. If you use receipts as acks, tell the server, which must
   then call cw_snapshot_server_restart. */
enum cw_error cw_snapshot_client_receive(struct cw_snapshot_client *client, const uint8_t *data,
                                         size_t size);

/* Gives the number of the newest snapshot received, in 16 bits, for an ack that the client sends
   itself. Returns false when there was none. */
bool cw_snapshot_client_newest(const struct cw_snapshot_client *client, uint16_t *number);

/* Gives the tick of the newest snapshot. Returns false when there was none. */
bool cw_snapshot_client_tick(const struct cw_snapshot_client *client, uint32_t *tick);

/* Returns the newest known state of an entity: its struct, valid until the next receive or reset.
   Sets *type unless type is NULL. Returns NULL when there is no such entity. */
const void *cw_snapshot_client_state(const struct cw_snapshot_client *client, uint32_t entity,
                                     uint32_t *type);

enum cw_snapshot_event_type {
    CW_SNAPSHOT_EVENT_CREATED, /* the entity is new, or replaced another one */
    CW_SNAPSHOT_EVENT_UPDATED,
    CW_SNAPSHOT_EVENT_REMOVED
};

struct cw_snapshot_event {
    enum cw_snapshot_event_type type;
    uint32_t entity;
    uint32_t entity_type; /* CREATED, UPDATED: its type in the schema. Otherwise 0 */
    uint32_t tick;        /* the tick of the snapshot that changed it */
};

/* Takes the next entity that has changed since its last event, by id. Several changes of one entity
   give one event. Returns false when there is none. */
bool cw_snapshot_client_next(struct cw_snapshot_client *client, struct cw_snapshot_event *event);

struct cw_snapshot_client_stats {
    uint64_t snapshots; /* snapshots received */
    uint64_t bytes;     /* bytes in all snapshots */
    uint64_t whole;     /* snapshots without a baseline */
    /* These count messages that were dropped: they were no snapshots, came a second time, were
       overtaken, or had a baseline that is not here. */
    uint64_t malformed, duplicate, stale, baseline_missing;
    uint32_t entities; /* entities that are known now */
    uint32_t newest;   /* the number of the newest snapshot, 0 before the first. A server numbers a
                          client's snapshots in turn, so a gap is what was lost or comes late */
};

void cw_snapshot_client_get_stats(const struct cw_snapshot_client *client,
                                  struct cw_snapshot_client_stats *stats);

CW_END_DECLARATIONS

#endif
