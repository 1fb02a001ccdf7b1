/* The state of a session, which another process of the relay needs, beside the socket towards the
   game server, to carry the session on. It travels between processes of one machine, whose clock
   they share. */
#ifndef CAUSEWAY_RELAY_SESSION_STATE_H
#define CAUSEWAY_RELAY_SESSION_STATE_H

#include "os/socket_address.h"
#include "session/allowance.h"
#include "session/client_header.h"
#include "session/session_index.h"
#include "session/traffic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_state {
    uint32_t offences; /* datagrams that the gate has not let pass */
    uint32_t away;     /* true when not 0, see struct session */
    uint8_t hash[SESSION_HASH_SIZE];
    uint8_t owner[16]; /* the owner of the address of its newest or last link */
    double opened;     /* see struct session */
    double active;
    double unlinked;
    double last_answer;
    uint64_t token_id;
    struct bucket packets; /* the buckets of its allowance, since the game server has answered it */
    struct bucket bytes;
    struct traffic traffic;
    struct socket_address server;
    struct socket_address client;
    struct client_header header; /* the header before its datagrams to the game server */
};

/* Reads a state. Returns false when it is broken. */
bool session_state_read(const void *data, size_t size, struct session_state *out);

#endif
