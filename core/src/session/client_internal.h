/* The parts of a client share this: client.c has its states, client_transmit.c what it sends, and
   client_about.c what others ask about it. */
#ifndef CAUSEWAY_CLIENT_INTERNAL_H
#define CAUSEWAY_CLIENT_INTERNAL_H

#include "base/one_thread.h"
#include "causeway/client.h"
#include "session/client_move.h"

struct cw_client {
    struct cw_client_config config;
    size_t memory;
    struct cw_connection *connection; /* NULL: payloads are the application's own */

    enum cw_client_state state;
    bool connected_waits; /* events */
    bool disconnected_waits;
    bool payload_waits;
    size_t payload_size;

    struct cw_token token;
    uint8_t used_mac[CW_MAC_BYTES]; /* the MAC of the token before */
    bool used_any;
    uint32_t address; /* the index of the token's address that is being tried */
    double connect_time;
    double last_received;
    double last_sent;
    bool send_due;

    uint64_t sequence; /* the next packet's number; never goes back while the keys are the same */
    struct cw_replay replay;
    uint64_t challenge_sequence;
    uint8_t challenge_token[CW_CHALLENGE_TOKEN_SIZE];
    uint32_t index;
    uint32_t max_clients;
    uint32_t disconnects_left;
    struct cw_farewell farewell; /* the last words of the server */
    struct cw_client_move move;

    size_t outgoing_size; /* 0: none waits */
    uint8_t outgoing[CW_PAYLOAD_MAX];
    uint8_t body[CW_PAYLOAD_MAX];

    struct cw_client_stats stats;
    uint64_t dropped[CW_ERROR_COUNT]; /* the same datagrams, by error */
    CW_ONE_THREAD_MEMBER;
};

/* Returns whether a call can be carried out at all: there is a client, and now is a time. */
bool cw_client_can_run(const struct cw_client *client, double now);

/* No packet can be written or read any more. */
void cw_client_forget_keys(struct cw_client *client);

#endif
