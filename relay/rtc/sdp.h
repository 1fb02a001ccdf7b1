/* The two texts of the signalling: a browser's offer, which is read, and our answer, which is
   written (RFC 8866; RFC 8841 for data channels). The functions are pure. */
#ifndef CAUSEWAY_RELAY_RTC_SDP_H
#define CAUSEWAY_RELAY_RTC_SDP_H

#include "rtc/sctp.h"
#include "session/server.h"
#include "session/session_key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest offer that is read. Browsers send 500 to 2,000 bytes for one data channel.
 */
#define SDP_OFFER_MAX  8192
#define SDP_MID_MAX    32
#define SDP_UFRAG_MAX  256
#define SDP_CANDIDATES 8

enum sdp_error {
    SDP_OK,
    SDP_TOO_LONG,
    SDP_MALFORMED,
    SDP_NO_DATA_CHANNEL,
    SDP_OTHER_MEDIA,
    SDP_PROTOCOL,
    SDP_UFRAG,
    SDP_PASSWORD,
    SDP_FINGERPRINT,
    SDP_SETUP,
    SDP_MID,
    SDP_SCTP_PORT,
    SDP_ICE_LITE,
    SDP_SESSION_KEY,
    SDP_SERVER,
};

/* Returns one sentence for the reply to a bad offer: what is wrong, and what to offer instead. It
   is static text. */
const char *sdp_error_string(enum sdp_error error);

struct sdp_offer {
    char ufrag[SDP_UFRAG_MAX + 1];
    char mid[SDP_MID_MAX + 1];
    uint8_t fingerprint[32]; /* SHA-256 of the client's certificate */
    uint16_t sctp_port;
    uint32_t max_message_size;  /* 0 = any */
    bool bundle;                /* the offer bundles, so the answer must */
    struct sctp_init sctp_init; /* the client's INIT; it may be that of none */
    /* The value of a=x-causeway-session, which may stand anywhere; "" = none. */
    char session_key[SESSION_KEY_SIZE + 1];
    /* The value of a=x-causeway-server, which may stand anywhere too; it is not read any further.
     */
    char server[SESSION_SERVER_TEXT + 1];
};

/* Reads an offer with one data channel section. size may be anything; data need not be terminated.
 */
enum sdp_error sdp_read_offer(struct sdp_offer *offer, const char *data, size_t size);

struct sdp_answer {
    uint64_t session;  /* any number, new for every answer */
    const char *ufrag; /* 4 to 256 characters */
    const char *password;
    const uint8_t *fingerprint; /* 32 bytes */
    const char *mid;
    bool bundle;
    uint16_t sctp_port;
    uint32_t max_message_size;
    bool sctp_init;         /* the answer has our INIT, as the offer had one */
    const char *ticket;     /* a ticket and its key, see ticket.h; NULL = none */
    size_t candidate_count; /* SDP_CANDIDATES at most; the best is the first */
    struct {
        char ip[46];
        uint16_t port;
    } candidates[SDP_CANDIDATES];
};

/* Writes the answer, terminated. Returns its length; 0 when it does not fit. */
size_t sdp_write_answer(char *out, size_t capacity, const struct sdp_answer *answer);

#endif
