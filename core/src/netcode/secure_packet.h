/* This header reads and writes the packets of netcode 1.02, and has the window that keeps replays
   out. */
#ifndef CAUSEWAY_NETCODE_SECURE_PACKET_H
#define CAUSEWAY_NETCODE_SECURE_PACKET_H

#include "causeway/secure_packet.h"
#include "netcode/token.h"

#define CW_CHALLENGE_BODY_SIZE (8 + CW_CHALLENGE_TOKEN_SIZE)
#define CW_KEEP_ALIVE_SIZE     8

/* This bit is set in the sequence of a packet that a server sends outside a slot (a challenge or a
   denial). It keeps the nonce different from that of every packet in a slot. */
#define CW_SEQUENCE_OUTSIDE_SLOT ((uint64_t)1 << 63)

/* This bit is also set in the sequence of a denial when client and server have different schemas.
   It is an extension of ours. Other clients see an ordinary denial, and other servers never set
   it. */
#define CW_SEQUENCE_OTHER_SCHEMA ((uint64_t)1 << 62)

/* The most bytes of an outline of the schema, in a denial for another one. With the plain denial
   that follows it, for clients of another make, that is less than the request that a stranger with
   a token pays. */
#define CW_OUTLINE_MAX 1000

/* This bit is set in the sequence of a denial when a client with the same id is connected and the
   server does not replace it. It is an extension of ours too. */
#define CW_SEQUENCE_ID_CONNECTED ((uint64_t)1 << 61)

/* This bit is set in the sequence of a denial when the token may have been used before the server
   was started. A new token helps. It is an extension of ours too. */
#define CW_SEQUENCE_NOT_YET ((uint64_t)1 << 60)

#define CW_FAREWELL_SIZE_MIN 5
#define CW_FAREWELL_SIZE_MAX (CW_FAREWELL_SIZE_MIN + CW_FAREWELL_TEXT_MAX)

/* With these numbers a connected client moves to another address, which is an extension of ours.
   The client repeats its request from there. The server's challenge has CW_CHALLENGE_MOVE in its
   number, which tells it from one for a connection: they prove different things. The client numbers
   each response to it CW_SEQUENCE_OUTSIDE_SLOT, plus a count of these responses in the bits above
   CW_MOVE_SLOT_BITS, plus its slot, by which the server finds the keys. The server confirms the
   move with a keep-alive that has CW_KEEP_ALIVE_MOVED for a slot and the low 32 bits of the
   challenge's number for the number of slots. */
#define CW_CHALLENGE_MOVE   ((uint64_t)1 << 63)
#define CW_MOVE_SLOT_BITS   10
#define CW_KEEP_ALIVE_MOVED UINT32_MAX

/* A replay window knows the packets that have been received, so that none is accepted twice. It is
   all zero before the first. */
#define CW_REPLAY_WINDOW 256
struct cw_replay {
    uint64_t newest;
    uint64_t
        received[CW_REPLAY_WINDOW / 64]; /* one bit per packet in the window, at sequence mod 256 */
};

/* Tells whether a packet with this number can still be accepted: returns CW_OK, CW_ERROR_DUPLICATE,
   or CW_ERROR_STALE when it is 256 or more behind the newest one. */
enum cw_error cw_replay_check(const struct cw_replay *replay, uint64_t sequence);

/* Marks a number as received, after check has returned CW_OK for it. Call it only for packets that
   are authentic. */
void cw_replay_advance(struct cw_replay *replay, uint64_t sequence);

/* This is the key of one direction of a connection, with the other values that its packets are
   authenticated with. */
struct cw_secure_key {
    uint64_t protocol_id;
    enum cw_direction direction; /* read refuses types that do not go this way */
    const uint8_t *bytes;        /* CW_KEY_BYTES */
};

struct cw_secure_packet {
    enum cw_secure_type type;
    uint64_t sequence;   /* must never be used twice with one key */
    const uint8_t *body; /* may be NULL when size is 0 */
    size_t size;         /* bytes of body */
};

/* Writes an encrypted packet of any type except CW_SECURE_REQUEST. Returns its size, which is the
   body size plus 18 to 25 bytes. Returns 0 when capacity is too small or the body has the wrong
   size for its type. The body may lie in out, but only at exactly cw_secure_body_offset(sequence);
   it is then encrypted in place. */
size_t cw_secure_write(const struct cw_secure_packet *packet, const struct cw_secure_key *key,
                       uint8_t *out, size_t capacity);

/* Returns the number of bytes of a packet before its body: 2 to 9. */
size_t cw_secure_body_offset(uint64_t sequence);

/* Reads an encrypted packet, checking it in the order of the standard. Decrypts its body into body
   and points packet->body there. replay may be NULL where there is no connection yet. Errors, in
   the order of the checks: CW_ERROR_PACKET_SHORT, CW_ERROR_PACKET_TYPE (unknown, or not for this
   direction), CW_ERROR_PACKET_SEQUENCE (number of sequence bytes), CW_ERROR_PACKET_SHORT again,
   CW_ERROR_STALE and CW_ERROR_DUPLICATE (only keep-alive, payload and disconnect),
   CW_ERROR_NOT_AUTHENTIC, and CW_ERROR_BODY_SIZE, by which time the window has moved. Use the
   content of body only after CW_OK. */
enum cw_error cw_secure_read(const uint8_t *data, size_t size, const struct cw_secure_key *key,
                             struct cw_replay *replay, uint8_t body[CW_PAYLOAD_MAX],
                             struct cw_secure_packet *packet);

/* Writes the request that a client with this token sends. */
void cw_request_write(const struct cw_token *token, uint8_t out[CW_REQUEST_SIZE]);

/* Decrypts the private part of the request's token; see cw_token_open. */
enum cw_error cw_request_open(const struct cw_request *request,
                              const uint8_t private_key[CW_KEY_BYTES],
                              struct cw_token_private *token);

/* Returns whether the token names one of a server's addresses. */
bool cw_token_names(const struct cw_token_private *token, const struct cw_address *addresses,
                    size_t count);

/* These write and read the bodies of packets. */
void cw_keep_alive_put(uint32_t client_index, uint32_t max_clients,
                       uint8_t body[CW_KEEP_ALIVE_SIZE]);
void cw_keep_alive_get(const uint8_t body[CW_KEEP_ALIVE_SIZE], uint32_t *client_index,
                       uint32_t *max_clients);

/* Makes a farewell. text may be NULL; if it is too long, its end is cut off. */
struct cw_farewell cw_farewell_make(enum cw_disconnect_reason reason, uint32_t code,
                                    const char *text);

/* Writes the body of a disconnect packet and returns its size. */
size_t cw_farewell_put(const struct cw_farewell *farewell, uint8_t body[CW_FAREWELL_SIZE_MAX]);

/* Reads the body of a disconnect packet. Returns false for a body of another size. A reason that
   this version does not know counts as CW_DISCONNECT_BY_SERVER, and a text that is not valid UTF-8
   counts as none. */
bool cw_farewell_get(const uint8_t *body, size_t size, struct cw_farewell *farewell);

/* These write and read the body of a challenge or a response: the number of the challenge token,
   then the token. */
void cw_challenge_put(uint64_t sequence, const uint8_t token[CW_CHALLENGE_TOKEN_SIZE],
                      uint8_t body[CW_CHALLENGE_BODY_SIZE]);
const uint8_t *cw_challenge_get(const uint8_t body[CW_CHALLENGE_BODY_SIZE], uint64_t *sequence);

#endif
