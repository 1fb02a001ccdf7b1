/* Tickets, with which a page connects again without signalling. An answer brings a ticket. The next
   time, the page writes the relay's answer itself: the last one, with another ufrag. This ufrag has
   the ticket and all that an offer would have said. The password stays the same, and shows that the
   page is the one that got the ticket. So the first check brings everything, and the relay keeps
   nothing before that. The functions are pure: webrtc_offers.c makes links of claims.

   A ufrag is base64 without padding, of these bytes:

       ticket   1  TICKET_VERSION
                4  the second at which it expires, from 1970 on, big-endian
               16  the address of the client that got it
                8  a random number
                1  the size of its page's origin
                *  the origin
               16  the proof: the first bytes of H
               32  the SHA-256 of the client's certificate, which is new for each attempt
               16  the session's key, xor the next 16 bytes of H, the mask
               16  what the INIT of the client's offer says (RFC 9260, 3.3.2), or zeros
                *  the name of the game server, see session/server.h

   H is HMAC-SHA-512(secret, all before it). The 24 bytes behind the mask, in base64, are the
   password. Only the page knows the mask. Somebody who sees several ufrags of one ticket learns by
   which bits the keys of its sessions differ. The keys are random numbers, so their differences say
   nothing of any. */
#ifndef CAUSEWAY_RELAY_RTC_TICKET_H
#define CAUSEWAY_RELAY_RTC_TICKET_H

#include "rtc/sdp.h"
#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TICKET_VERSION     1
#define TICKET_SECRET_SIZE 32
/* A page of a longer origin gets no ticket: the ufrag would have no room for the game server. */
#define TICKET_ORIGIN_MAX 64
/* A ticket lives for a day, since pages keep it only while they are open. TLS lets tickets live for
   up to seven days (RFC 8446). */
#define TICKET_SECONDS 86400

/* The sizes of texts, with their terminators: "TICKET MASK" in base64 without padding, and the
   password. */
#define TICKET_TEXT_SIZE     176
#define TICKET_PASSWORD_SIZE 33

struct ticket {
    uint32_t expires;          /* seconds since 1970 */
    struct udp_address client; /* its port does not matter */
    uint8_t number[8];         /* random */
    const char *origin;        /* "" for none */
};

/* Writes a ticket and its mask, and its password. Returns false, and writes nothing, when the
   origin is too long. */
bool ticket_write(const struct ticket *ticket, const uint8_t secret[TICKET_SECRET_SIZE],
                  char out[TICKET_TEXT_SIZE], char password[TICKET_PASSWORD_SIZE]);

/* A claim is what the username of a check says. Trust only the ufrags before ticket_verify. */
struct ticket_claim {
    uint32_t expires;
    struct udp_address client; /* port 0 */
    char origin[TICKET_ORIGIN_MAX + 1];
    uint8_t fingerprint[32];
    struct udp_address
        name; /* the beginning of the fingerprint, in the form that rtc_table lists */
    char ufrag[SDP_UFRAG_MAX + 1];
    char remote_ufrag[SDP_UFRAG_MAX + 1];
    char server[SESSION_SERVER_TEXT + 1]; /* "" = none */
    char session_key[SESSION_KEY_SIZE + 1];
    char password[TICKET_PASSWORD_SIZE];
    struct sctp_init sctp_init;
    uint8_t bytes[SDP_UFRAG_MAX]; /* the bytes of the ufrag */
    size_t signed_size;           /* the number of bytes before the proof */
};

/* Reads a username, "ours:theirs". Returns false when ours has no ticket. */
bool ticket_read(struct ticket_claim *claim, const char *username, size_t size);

/* Returns whether the ticket is of this relay and has not expired. If so, the members session_key
   and password are filled in. Check the password before anything is done for the claim. `now` is in
   seconds since 1970. */
bool ticket_verify(struct ticket_claim *claim, const uint8_t secret[TICKET_SECRET_SIZE],
                   uint32_t now);

#endif
