/* Tickets, with which a page connects again without signalling. An answer carries a ticket and its
   key. The next time, the page writes the relay's answer itself. The ufrag that it gives the relay
   there has the ticket and what its offer would have said; the password shows that it has the key.
   So the first check brings everything, and the relay keeps nothing before that. The functions are
   pure: relay/rtc/webrtc_offers.c makes links of them.

   A ufrag is base64 without padding, of these bytes:

       ticket   1  TICKET_VERSION
                4  the second at which it expires, from 1970 on, big-endian
               16  the address of the client that got it
                1  the size of its page's origin
                *  the origin
               16  the proof: the first half of HMAC-SHA-256(secret, all the above)
               16  a random number, new for each attempt
               32  the SHA-256 of the client's certificate
               22  the session's key, xor the first bytes of H
                *  the name of the game server, see session/server.h

   The key of a ticket is the second half of the HMAC that has its proof. H is HMAC-SHA-512(key, all
   before the session's key). Its next 24 bytes, in base64, are the password. */
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
/* A ticket lives for a day. Within that time, players who were here yesterday come back, and TLS
   lets tickets live for up to seven days (RFC 8446). */
#define TICKET_SECONDS 86400

#define TICKET_BYTES_MAX (SDP_UFRAG_MAX / 4 * 3)
/* The size of a ticket and its key as text: "TICKET KEY" and a terminator. */
#define TICKET_TEXT_SIZE 164
#define TICKET_PASSWORD  32

/* Writes a ticket for this client, a page of this origin ("" for none), and its key, in base64
   without padding; the ticket expires then, in seconds since 1970. Returns false when the origin is
   too long. */
bool ticket_write(const uint8_t secret[TICKET_SECRET_SIZE], const struct udp_address *client,
                  const char *origin, uint32_t expires, char out[TICKET_TEXT_SIZE]);

/* What the username of a check says. Trust only `number` and the ufrags before ticket_verify. */
struct ticket_claim {
    uint32_t expires;
    struct udp_address client; /* port 0 */
    char origin[TICKET_ORIGIN_MAX + 1];
    struct udp_address number; /* the random number, in the form in which rtc_table lists it */
    uint8_t fingerprint[32];
    char ufrag[SDP_UFRAG_MAX + 1];
    char remote_ufrag[SDP_UFRAG_MAX + 1];
    char server[SESSION_SERVER_TEXT + 1]; /* "" = none */
    char session_key[SESSION_KEY_SIZE + 1];
    char password[TICKET_PASSWORD + 1];
    uint8_t bytes[TICKET_BYTES_MAX + 3]; /* all of the ufrag */
    size_t ticket_size;                  /* the size of the ticket with its proof */
};

/* Reads a username, "ours:theirs". Returns false when ours has no ticket. */
bool ticket_read(struct ticket_claim *claim, const char *username, size_t size);

/* Returns whether the ticket is of this relay and has not expired. If so, the members session_key
   and password are filled in. Check the password before anything is done for the claim. `now` is in
   seconds since 1970. */
bool ticket_verify(struct ticket_claim *claim, const uint8_t secret[TICKET_SECRET_SIZE],
                   uint32_t now);

#endif
