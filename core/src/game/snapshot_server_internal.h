/* The server of snapshots: what it knows of its clients. */
#ifndef CAUSEWAY_SNAPSHOT_SERVER_INTERNAL_H
#define CAUSEWAY_SNAPSHOT_SERVER_INTERNAL_H

#include "game/snapshot_interest.h"
#include "game/snapshot_internal.h"

/* A snapshot that was sent. */
struct cw_snapshot_record {
    uint32_t number;
    uint32_t version;
    uint32_t baseline; /* the number of its baseline, 0: none */
    bool complete; /* the client then has exactly the world of that version; otherwise the client's
                      array says what it has */
};

struct cw_snapshot_peer {
    uint32_t number;                    /* the number of the last snapshot, 0 before the first */
    uint32_t acked;                     /* the newest that was acked, 0 when there is none */
    struct cw_snapshot_record *records; /* window records, by number */
    uint32_t first; /* the first snapshot since the client joined; 0: there was a restart since */
    bool all_sent;  /* the last snapshot left nothing out */

    struct cw_snapshot_interest interest; /* with max_interest; all below is without it */
    uint32_t *had;                        /* for each record, each entity's change */
    float *priority;                      /* the priority of each entity */
    float *waited;         /* the urgency that each entity has gained since it was sent last */
    uint32_t *hidden;      /* for each entity of priority 0, the value in place of its change */
    uint32_t hidden_count; /* entities of priority 0 */
    uint32_t times_hidden; /* the number of times that a priority became 0 */
};

/* A body for all clients that have the worlds of the versions `from` and `before`, 0 for nothing.
 */
struct cw_snapshot_shared {
    uint32_t from, before, to;
    uint32_t size;  /* 0 when it is too long */
    uint32_t count; /* the number of its entities */
};

struct cw_snapshot_server {
    struct cw_snapshot_config config;
    size_t memory;
    struct cw_snapshot_world world;
    struct cw_snapshot_wire wire;
    struct cw_snapshot_scratch scratch;
    struct cw_snapshot_interest_scratch interest_scratch;
    struct cw_snapshot_peer *clients;
    struct cw_snapshot_shared *shared; /* indexed by from, and one for no baseline */
    uint8_t *shared_bytes;             /* max_bytes for each */
    uint32_t *nothing;                 /* a 0 for each entity */
    uint32_t *wanted;                  /* room for the changes that a client is to have */
    struct cw_snapshot_server_stats stats;
};

static inline struct cw_snapshot_peer *cw_snapshot_peer_of(const struct cw_snapshot_server *server,
                                                           uint32_t client)
{
    return server && client < server->config.max_clients ? &server->clients[client] : NULL;
}

static inline uint32_t *cw_snapshot_had_of(const struct cw_snapshot_server *server,
                                           const struct cw_snapshot_peer *client, uint32_t number)
{
    const size_t slot = number % server->config.window;
    return client->had + slot * server->config.max_entities;
}

/* Returns the baseline for the next snapshot; NULL when the client has nothing that is still known.
 */
static inline const struct cw_snapshot_record *
cw_snapshot_baseline_of(const struct cw_snapshot_server *server,
                        const struct cw_snapshot_peer *client)
{
    const struct cw_snapshot_record *const record =
        &client->records[client->acked % server->config.window];
    if (client->acked == 0 || client->number + 1 - client->acked >= server->config.window ||
        !cw_snapshot_world_knows(&server->world, record->version))
        return NULL;
    return record;
}

/* Forgets what the client has acked. */
static inline void cw_snapshot_forget(const struct cw_snapshot_server *server,
                                      struct cw_snapshot_peer *client)
{
    client->acked = 0;
    client->first = 0;
    memset(client->records, 0, server->config.window * sizeof *client->records);
}

#endif
