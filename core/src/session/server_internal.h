/* The sources of a server share this header: server.c has the connections of its slots, and
   server_broadcast.c sends to many of them. */
#ifndef CAUSEWAY_SERVER_INTERNAL_H
#define CAUSEWAY_SERVER_INTERNAL_H

#include "base/bit_set.h"
#include "base/one_thread.h"
#include "message/broadcast.h"

#include "causeway/server.h"

#define CW_SERVER_WORDS (CW_SERVER_MAX_CLIENTS / 64) /* a bit for each slot */

/* The connection of a slot, in the state that the slot had when it was looked at last. */
struct cw_session {
    struct cw_connection *connection;
    bool used;     /* it is to be reset before another client has it */
    bool flushing; /* its client is disconnected when what was sent is done, or at flush_deadline */
    double flush_deadline;
    struct cw_farewell farewell; /* flushing: what the client is told */
};

struct cw_server {
    struct cw_allocator allocator;
    size_t memory;
    uint32_t max_clients;
    struct cw_netcode_server *netcode;
    struct cw_session *sessions;          /* one for each slot */
    uint64_t connected[CW_SERVER_WORDS];  /* bits: slots with a client */
    uint64_t round_open[CW_SERVER_WORDS]; /* slots whose connection may have datagrams */
    uint64_t readable[CW_SERVER_WORDS];   /* slots whose connection may have events */
    uint64_t refused[CW_SERVER_WORDS];    /* slots that had no room for the last broadcast */
    uint64_t broadcasts_refused;
    uint32_t round_cursor;
    struct cw_broadcasts broadcasts;
    CW_ONE_THREAD_MEMBER;
};

#endif
