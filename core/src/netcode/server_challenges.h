/* This module makes and opens the challenges of a server, and numbers all packets that it sends
   outside a slot. */
#ifndef CAUSEWAY_SERVER_CHALLENGES_H
#define CAUSEWAY_SERVER_CHALLENGES_H

#include "causeway/netcode_server.h"
#include "netcode/secure_packet.h"

struct cw_challenges {
    const struct cw_netcode_server_config *config;
    uint8_t key[CW_KEY_BYTES]; /* the challenge tokens' */
    uint64_t number;           /* the next challenge token's */
    uint64_t sequence;         /* the next packet's outside a slot */
    uint64_t sent;
};

/* Returns the seconds in which a client whose token has this timeout may answer a challenge. */
static inline double cw_challenge_seconds(int32_t timeout_seconds)
{
    return timeout_seconds > 0 && timeout_seconds < 10 ? timeout_seconds : 10;
}

/* Begins with new keys and numbers. config must be set. */
void cw_challenges_start(struct cw_challenges *challenges);

/* Writes a challenge packet for the client with this key. mark is CW_CHALLENGE_MOVE or 0. */
size_t cw_challenges_write(struct cw_challenges *challenges, const struct cw_challenge_token *token,
                           uint64_t mark, const uint8_t key[CW_KEY_BYTES], uint8_t *out,
                           size_t capacity);

/* Opens the challenge in the body of a response and sets its number, mark included. */
bool cw_challenges_open(const struct cw_challenges *challenges,
                        const uint8_t body[CW_CHALLENGE_BODY_SIZE], uint64_t *number,
                        struct cw_challenge_token *token);

#endif
