/* This header has what programs need that carry the packets of netcode 1.02 without the keys. */
#ifndef CAUSEWAY_SECURE_PACKET_H
#define CAUSEWAY_SECURE_PACKET_H

#include "causeway/base.h"
#include "causeway/token.h"

CW_BEGIN_DECLARATIONS

enum cw_secure_type {
    CW_SECURE_REQUEST =
        0,                /* client: carries a connect token; the only type that is not encrypted */
    CW_SECURE_DENIED,     /* server: the client may not connect */
    CW_SECURE_CHALLENGE,  /* server: asks the client to prove its address */
    CW_SECURE_RESPONSE,   /* client: returns the challenge as that proof */
    CW_SECURE_KEEP_ALIVE, /* both: still here; the server's first tells the client that it is
                             connected */
    CW_SECURE_PAYLOAD,    /* both: bytes for the layer above */
    CW_SECURE_DISCONNECT, /* both: the sender has gone; a server of ours may say why */
    CW_SECURE_TYPES
};

/* The direction in which a packet goes. Some types are accepted by one side only. */
enum cw_direction { CW_TO_SERVER, CW_TO_CLIENT };

#define CW_REQUEST_SIZE    1078
#define CW_PAYLOAD_MAX     1200 /* bytes in a payload packet */
#define CW_SECURE_OVERHEAD 25   /* the most that prefix, sequence and MAC add to a body */
#define CW_SECURE_MAX      (CW_PAYLOAD_MAX + CW_SECURE_OVERHEAD)

/* A connection ends for one of these reasons. The numbers are on the wire. */
enum cw_disconnect_reason {
    CW_DISCONNECT_BY_CLIENT = 1,
    CW_DISCONNECT_BY_SERVER, /* the application's doing; the code and the text are its own */
    CW_DISCONNECT_TIMED_OUT, /* the server heard nothing from the client any more */
    CW_DISCONNECT_REPLACED,  /* the same client has connected anew and taken over the slot */
    CW_DISCONNECT_STOPPING   /* the server is about to stop */
};

/* A farewell says why a server ends the connection of its client. It is the body of a disconnect
   packet, which is an extension of ours. Other clients ignore a disconnect packet with a body, so
   packets without one must follow. */
#define CW_FAREWELL_TEXT_MAX 128 /* bytes, without the NUL */
struct cw_farewell {
    enum cw_disconnect_reason reason;
    uint32_t code;                       /* a number of the application's own */
    char text[CW_FAREWELL_TEXT_MAX + 1]; /* UTF-8, ends with a NUL */
};

/* Tells programs that forward packets whether a datagram could be a packet of this direction, as
   far as anyone can tell without its key. A request of the right size and version could be one to
   the server. *type (unless NULL) is set on CW_OK. Errors: CW_ERROR_PACKET_SHORT,
   CW_ERROR_PACKET_TYPE (unknown, or not for this direction), CW_ERROR_PACKET_SEQUENCE (number of
   sequence bytes), CW_ERROR_BODY_SIZE, and those of cw_request_parse. */
enum cw_error cw_secure_shape(const uint8_t *data, size_t size, enum cw_direction direction,
                              enum cw_secure_type *type);

/* These are the parts of a request. The pointers point into the datagram. */
struct cw_request {
    uint64_t protocol_id;
    uint64_t expire_time;  /* Unix seconds */
    const uint8_t *nonce;  /* CW_LONG_NONCE_BYTES */
    const uint8_t *sealed; /* CW_TOKEN_PRIVATE_SIZE */
    const uint8_t *mac;    /* the last 16 bytes of sealed; identifies the token */
};

/* Makes a server's first checks of a request, in the order of the standard, and finds the request's
   parts. Errors: CW_ERROR_REQUEST_SIZE, CW_ERROR_PACKET_TYPE, CW_ERROR_VERSION. */
enum cw_error cw_request_parse(const uint8_t *data, size_t size, struct cw_request *request);

/* Makes a server's next checks of a request. Errors: CW_ERROR_PROTOCOL_ID,
   CW_ERROR_TOKEN_EXPIRED. */
enum cw_error cw_request_check(const struct cw_request *request, uint64_t protocol_id,
                               uint64_t unix_time);

CW_END_DECLARATIONS

#endif
