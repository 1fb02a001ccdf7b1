/* A handshake has the clients that are connecting to a server, from their request to their slot. */
#ifndef CAUSEWAY_NETCODE_SERVER_HANDSHAKE_H
#define CAUSEWAY_NETCODE_SERVER_HANDSHAKE_H

#include "netcode/server_moves.h"
#include "netcode/token_history.h"

#define CW_DENIALS 32

/* A client whose request was valid and whose response has not arrived yet. There is at most one
   such client for each id, so that no account takes the places of others. */
struct cw_pending {
    bool active;
    bool queued; /* its number is in the challenge queue */
    struct cw_client_identity identity;
    bool heir;                /* it has responded and waits for the slot of its old session */
    uint32_t slot;            /* an heir's */
    uint64_t first_challenge; /* its number; no earlier challenge is this client's */
    double deadline;
    uint32_t place; /* in the list of active ones; if not active, the next free one */
};

struct cw_denial {
    struct cw_address address;
    uint8_t key[CW_KEY_BYTES];
    uint64_t reason; /* a bit of the denial's sequence; 0: the server is full */
    bool outlined;   /* the packet with the outline is written, the plain one follows */
};

struct cw_handshake {
    const struct cw_netcode_server_config *config; /* the server's, complete */
    struct cw_slots *slots;
    bool started;
    double start_time; /* the time of the server's first call */

    struct cw_pending *pending;
    uint32_t *active; /* numbers of the active ones, in no order */
    uint32_t active_count;
    uint32_t heirs;
    uint32_t first_free;
    uint64_t hash_seed;
    struct cw_hash_index by_address;
    struct cw_hash_index by_id; /* without heirs: these have proven who they are */
    struct cw_token_history history;
    double allowance; /* requests that may be decrypted now */
    double allowance_time;

    uint32_t *challenge_queue; /* a ring of max_pending numbers */
    uint32_t challenge_first, challenge_count;
    struct cw_denial denials[CW_DENIALS]; /* a ring */
    uint32_t denial_first, denial_count;
    uint64_t denied_sent;
    uint8_t outline[CW_OUTLINE_MAX]; /* tells a client with another schema of this one */
    size_t outline_size;
    uint64_t takeovers;
    struct cw_challenges challenges;
    struct cw_moves moves;
};

/* Lays the handshake's tables out in the arena. config and slots must be set. */
void cw_handshake_layout(struct cw_handshake *handshake, struct cw_arena *arena);
/* Prepares the tables. Call it after layout has given them memory. */
void cw_handshake_start(struct cw_handshake *handshake);

/* Tells the handshake the time. The server's first call does this, before any of the following. */
void cw_handshake_set_time(struct cw_handshake *handshake, double now);
enum cw_error cw_handshake_request(struct cw_handshake *handshake, const struct cw_address *from,
                                   const uint8_t *data, size_t size, double now);
/* Takes a response, and what comes from an address without a slot. */
enum cw_error cw_handshake_response(struct cw_handshake *handshake, const struct cw_address *from,
                                    const uint8_t *data, size_t size, double now);
size_t cw_handshake_transmit(struct cw_handshake *handshake, uint8_t *out, size_t capacity,
                             double now, struct cw_address *to);
/* Connects the heirs whose slots are free by now. Returns whether there was one. */
bool cw_handshake_settle(struct cw_handshake *handshake, double now);
void cw_handshake_update(struct cw_handshake *handshake, double now);

#endif
