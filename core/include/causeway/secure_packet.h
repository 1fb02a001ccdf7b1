/* The seven packets of netcode 1.02: read, write and the window that keeps replays out. */
#ifndef CAUSEWAY_SECURE_PACKET_H
#define CAUSEWAY_SECURE_PACKET_H

#include "causeway/linkage.h"
#include "causeway/token.h"

CW_BEGIN_DECLARATIONS

enum cw_secure_type {
    CW_SECURE_REQUEST = 0, /* client: a connect token; the only one that is not encrypted */
    CW_SECURE_DENIED,      /* server: no */
    CW_SECURE_CHALLENGE,   /* server: show that you can be reached */
    CW_SECURE_RESPONSE,    /* client: so I can */
    CW_SECURE_KEEP_ALIVE,  /* both: still here; the server's first one says that it is connected */
    CW_SECURE_PAYLOAD,     /* both: bytes of the floor above */
    CW_SECURE_DISCONNECT,  /* both: gone */
    CW_SECURE_TYPES
};

/* Which way a packet goes: some types are taken by one side only. */
enum cw_direction { CW_TO_SERVER, CW_TO_CLIENT };

#define CW_REQUEST_SIZE        1078
#define CW_CHALLENGE_BODY_SIZE (8 + CW_CHALLENGE_TOKEN_SIZE)
#define CW_KEEP_ALIVE_SIZE     8
#define CW_PAYLOAD_MAX         1200 /* bytes in a payload packet */
#define CW_SECURE_OVERHEAD     25   /* at most: prefix, sequence and MAC around a body */
#define CW_SECURE_MAX          (CW_PAYLOAD_MAX + CW_SECURE_OVERHEAD)

/* In the sequence of a packet that a server sends outside a slot (a challenge, a denial), so that
   its nonce is not that of a packet in a slot. */
#define CW_SEQUENCE_OUTSIDE_SLOT ((uint64_t)1 << 63)

/* Also in the sequence of a denial whose reason is that client and server have different schemas.
   This is an extension of ours: other clients see a denial, other servers never set it. */
#define CW_SEQUENCE_OTHER_SCHEMA ((uint64_t)1 << 62)

/* Packets that have come, so that none is taken twice. All zero is the state before the first. */
#define CW_REPLAY_WINDOW 256
struct cw_replay {
    uint64_t newest;
    uint64_t received[CW_REPLAY_WINDOW / 64]; /* bit sequence mod 256, of those in the window */
};

/* Whether a packet of this number can still be taken: CW_OK, CW_ERROR_DUPLICATE, or CW_ERROR_STALE
   when it is 256 or more behind the newest one. */
enum cw_error cw_replay_check(const struct cw_replay *replay, uint64_t sequence);

/* Counts a number as taken that check found to be CW_OK. Only for packets that are authentic. */
void cw_replay_advance(struct cw_replay *replay, uint64_t sequence);

/* The key of one direction of a connection, and what else its packets are bound to. */
struct cw_secure_key {
    uint64_t protocol_id;
    enum cw_direction direction; /* read refuses the types that do not go this way */
    const uint8_t *bytes;        /* CW_KEY_BYTES */
};

struct cw_secure_packet {
    enum cw_secure_type type;
    uint64_t sequence;   /* never used twice with a key */
    const uint8_t *body; /* may be NULL when size is 0 */
    size_t size;         /* bytes of body */
};

/* Writes an encrypted packet (any type but CW_SECURE_REQUEST) and returns its size, body size plus
   18 to 25 bytes; 0 when capacity does not suffice or the body has not the size that its type asks
   for. The body may lie in out, if exactly at cw_secure_body_offset(sequence), and is then
   encrypted in place. */
size_t cw_secure_write(const struct cw_secure_packet *packet, const struct cw_secure_key *key,
                       uint8_t *out, size_t capacity);

/* Bytes of a packet that stand before its body: 2 to 9. */
size_t cw_secure_body_offset(uint64_t sequence);

/* Reads an encrypted packet, checking in the order of the standard, and decrypts its body into
   body, where packet->body points then. replay may be NULL where there is no connection yet.
   Errors, in the order of the checks: CW_ERROR_PACKET_SHORT, CW_ERROR_PACKET_TYPE (unknown, or not
   for this direction), CW_ERROR_PACKET_SEQUENCE (number of sequence bytes), CW_ERROR_PACKET_SHORT,
   CW_ERROR_STALE and CW_ERROR_DUPLICATE (keep-alive, payload and disconnect only),
   CW_ERROR_NOT_AUTHENTIC, and CW_ERROR_BODY_SIZE, with which the window has moved already. The
   content of body is of use only with CW_OK. */
enum cw_error cw_secure_read(const uint8_t *data, size_t size, const struct cw_secure_key *key,
                             struct cw_replay *replay, uint8_t body[CW_PAYLOAD_MAX],
                             struct cw_secure_packet *packet);

/* Whether a datagram could be a packet of this direction, as far as can be told without its key:
   for those who forward. Takes requests too (to the server, of the right size and version). *type
   (unless NULL) is set with CW_OK. The errors are those of cw_secure_read and cw_request_parse. */
enum cw_error cw_secure_shape(const uint8_t *data, size_t size, enum cw_direction direction,
                              enum cw_secure_type *type);

/* The request that a client with this token sends. */
void cw_request_write(const struct cw_token *token, uint8_t out[CW_REQUEST_SIZE]);

/* A request's parts; the pointers point into the datagram. */
struct cw_request {
    uint64_t protocol_id;
    uint64_t expire_time;  /* Unix seconds */
    const uint8_t *nonce;  /* CW_LONG_NONCE_BYTES */
    const uint8_t *sealed; /* CW_TOKEN_PRIVATE_SIZE */
    const uint8_t *mac;    /* the last CW_MAC_BYTES of sealed: names this token and no other */
};

/* The first checks of a server, in the order of the standard; the next are cw_token_open and
   cw_token_names. Errors: CW_ERROR_REQUEST_SIZE, CW_ERROR_PACKET_TYPE, CW_ERROR_VERSION. */
enum cw_error cw_request_parse(const uint8_t *data, size_t size, struct cw_request *request);

/* Errors: CW_ERROR_PROTOCOL_ID, CW_ERROR_TOKEN_EXPIRED. */
enum cw_error cw_request_check(const struct cw_request *request, uint64_t protocol_id,
                               uint64_t unix_time);

/* Decrypts the private part of the request's token; see cw_token_open. */
enum cw_error cw_request_open(const struct cw_request *request,
                              const uint8_t private_key[CW_KEY_BYTES],
                              struct cw_token_private *token);

/* Whether one of a server's addresses is one of those that the token is for. */
bool cw_token_names(const struct cw_token_private *token, const struct cw_address *addresses,
                    size_t count);

/* Bodies. */
void cw_keep_alive_put(uint32_t client_index, uint32_t max_clients,
                       uint8_t body[CW_KEEP_ALIVE_SIZE]);
void cw_keep_alive_get(const uint8_t body[CW_KEEP_ALIVE_SIZE], uint32_t *client_index,
                       uint32_t *max_clients);

/* Of a challenge and of a response: the number of the challenge token, then the token. */
void cw_challenge_put(uint64_t sequence, const uint8_t token[CW_CHALLENGE_TOKEN_SIZE],
                      uint8_t body[CW_CHALLENGE_BODY_SIZE]);
const uint8_t *cw_challenge_get(const uint8_t body[CW_CHALLENGE_BODY_SIZE], uint64_t *sequence);

CW_END_DECLARATIONS

#endif
