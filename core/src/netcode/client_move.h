/* A connected client moves to another address like this: it repeats its request from there, answers
   the challenge, and is done when the server says so. The connection goes on meanwhile. */
#ifndef CAUSEWAY_CLIENT_MOVE_H
#define CAUSEWAY_CLIENT_MOVE_H

#include "netcode/secure_packet.h"

enum cw_move_step { CW_MOVE_NONE = 0, CW_MOVE_REQUEST, CW_MOVE_RESPONSE };

/* A move is all zero for new keys. */
struct cw_move {
    enum cw_move_step step;
    bool due;
    bool received; /* a packet from the slot has arrived since the move began */
    double started;
    double last_sent;
    double challenged;
    uint64_t newest_challenge;   /* the highest sequence of a challenge packet so far */
    uint64_t responses;          /* sent with these keys, in all moves */
    uint64_t first_challenge;    /* the number of the first of this move; 0: none has come */
    uint64_t challenge_sequence; /* the number of the latest */
    uint8_t challenge_token[CW_CHALLENGE_TOKEN_SIZE];
};

void cw_move_start(struct cw_move *move, double now);

/* Takes a challenge and its body. Returns false when none is expected, when it is for a new
   connection, or when it is older than the newest. */
bool cw_move_challenge(struct cw_move *move, const struct cw_secure_packet *challenge, double now);

/* Notes a keep-alive or payload that has arrived, which may confirm the move. */
void cw_move_received(struct cw_move *move, const struct cw_secure_packet *packet);

/* Returns whether the server takes nothing yet but the request. */
bool cw_move_holds(const struct cw_move *move);

/* Lets time pass. timeout_seconds is that of the token. */
void cw_move_update(struct cw_move *move, double resend_seconds, int32_t timeout_seconds,
                    double now);

/* Returns whether a packet of the move is to be written. */
bool cw_move_is_due(const struct cw_move *move);

/* Writes that packet, for the client in this slot. Returns its size. */
size_t cw_move_write(struct cw_move *move, const struct cw_token *token, uint32_t index,
                     uint8_t *out, size_t capacity, double now);

#endif
