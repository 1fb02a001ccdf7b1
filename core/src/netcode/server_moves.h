/* This module lets connected clients move to another address. A request from there leaves nothing
   behind but a challenge to send: everything that the response must prove is in the challenge
   token. So no number of replayed requests can keep a client from moving. */
#ifndef CAUSEWAY_SERVER_MOVES_H
#define CAUSEWAY_SERVER_MOVES_H

#include "netcode/server_challenges.h"
#include "netcode/server_slots.h"

struct cw_moves {
    const struct cw_netcode_server_config *config; /* the server's, complete */
    struct cw_slots *slots;
    struct cw_challenges *challenges;
    struct cw_move_request *requests; /* a ring of those without a challenge yet */
    uint32_t capacity, first, count;
};

/* Lays the ring of requests out in the arena. config, slots and challenges must be set. */
void cw_moves_layout(struct cw_moves *moves, struct cw_arena *arena);

/* Takes a request with the token of a connected slot from an address. Errors: CW_ERROR_CONNECTED
   when a client, be it the same, is connected there; CW_ERROR_TOO_MANY_REQUESTS. */
enum cw_error cw_moves_request(struct cw_moves *moves, const struct cw_slot *slot,
                               const struct cw_address *from);

/* Returns whether a datagram looks like a response to the challenge of a move. */
bool cw_moves_is_response(const uint8_t *data, size_t size);

/* Returns the slot that such a response names, or NULL. */
struct cw_slot *cw_moves_slot(const struct cw_moves *moves, const uint8_t *response);

/* Takes a response that names the slot. Errors: those of cw_secure_read; CW_ERROR_NOT_AUTHENTIC for
   a challenge that is not for this client and address; CW_ERROR_STALE for one that is too old, or
   older than the one that has moved the slot last; CW_ERROR_CONNECTED. */
enum cw_error cw_moves_response(struct cw_moves *moves, struct cw_slot *slot,
                                const struct cw_address *from, const uint8_t *data, size_t size,
                                double now);

/* Writes the next challenge and returns its size, or 0 when there is none. */
size_t cw_moves_transmit(struct cw_moves *moves, uint8_t *out, size_t capacity, double now,
                         struct cw_address *to);

#endif
