/* STUN binding requests (RFC 8489) as an ICE-lite agent gets them (RFC 8445). The functions are
   pure: bytes in, bytes out. */
#ifndef CAUSEWAY_RELAY_RTC_STUN_H
#define CAUSEWAY_RELAY_RTC_STUN_H

#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest request that is read. Browsers that put DTLS into requests keep below it. */
#define STUN_REQUEST_MAX 1200
/* Bytes that suffice for any response written here. */
#define STUN_RESPONSE_MAX 128

/* A request of the right form. Trust nothing in it before stun_verify(). The pointers point into
   the datagram. */
struct stun_request {
    const uint8_t *transaction; /* 12 bytes */
    const char *username;       /* "ours:theirs", not terminated */
    size_t username_size;
    size_t integrity;          /* the offset of MESSAGE-INTEGRITY in the datagram */
    bool nominates;            /* USE-CANDIDATE: the sender wants this path */
    bool controlled;           /* the sender claims the controlled role, which is ours */
    uint16_t unknown_required; /* a required attribute that is unknown; 0 = none */
    /* The browser offers to put the DTLS handshake into its checks, which saves it a round trip
       (the draft "Embedding DTLS in STUN"). Unless the response says that the other side knows the
       draft, the browser waits in vain and loses time. */
    bool embeds_dtls;
    const uint8_t *dtls; /* a DTLS datagram; NULL = none */
    size_t dtls_size;
};

/* Returns true when the datagram may be STUN: its first byte is 0 to 3 (RFC 7983). */
static inline bool stun_is(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] <= 3;
}

/* Reads a binding request with USERNAME, MESSAGE-INTEGRITY and a FINGERPRINT that matches. Returns
   false for anything else; do not use *request then. */
bool stun_parse(struct stun_request *request, const uint8_t *data, size_t size);

/* Returns true when the request was signed with our password. data must be those that stun_parse()
   read. */
bool stun_verify(const struct stun_request *request, const uint8_t *data, const char *password);

/* Writes the response to a verified request: success with the address from which it came and an
   acknowledgement of the DTLS in it, or error 420 or 487 when it asks for something that we do not
   do. Returns the response's size; 0 when capacity is below STUN_RESPONSE_MAX. *accepted tells
   whether it is a success. */
size_t stun_respond(uint8_t *out, size_t capacity, const struct stun_request *request,
                    const struct udp_address *from, const char *password, bool *accepted);

#endif
