/* One browser: its offer, the path to it, DTLS, SCTP and its data channel. No sockets and no clock:
   datagrams and the time come from the caller; datagrams to send leave through a callback. */
#ifndef CAUSEWAY_RELAY_RTC_PEER_H
#define CAUSEWAY_RELAY_RTC_PEER_H

#include "rtc/dtls.h"
#include "rtc/paths.h"
#include "rtc/sctp.h"
#include "rtc/sdp.h"
#include "rtc/stun.h"
#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The port number that browsers use inside SCTP. It has nothing to do with UDP. */
#define PEER_SCTP_PORT 5000
/* Our ufrag and password: 24 characters each, made from random bytes. */
#define PEER_NAME_SIZE 25

/* Seconds from the offer to the first verified check. */
#define PEER_CHECK_SECONDS 10.0
/* Seconds from the first check to an open data channel. */
#define PEER_SETUP_SECONDS 20.0
/* Seconds for which a verified check counts as consent (RFC 7675). */
#define PEER_CONSENT_SECONDS 30.0

/* The members that all peers share. */
struct peer_common {
    struct dtls_identity *identity;
    double bytes_per_second;           /* to one browser; 0 = no limit */
    uint8_t record[2048];              /* for the record that is being read */
    uint8_t message[SCTP_MESSAGE_MAX]; /* for its message, when that came in parts */
    void (*send)(void *context, const struct udp_path *path, const uint8_t *data, size_t size);
    void *context;
};

enum peer_state {
    PEER_OFFERED, /* waiting for a verified check */
    PEER_CONNECTING,
    PEER_OPEN,  /* datagrams go both ways */
    PEER_ENDED, /* to be destroyed */
};

/* A datagram from the browser; valid until the next call for any that shares peer_common. */
struct peer_datagram {
    const uint8_t *data;
    size_t size; /* 0: an empty message */
    bool text;
};

enum peer_send {
    PEER_SENT,
    PEER_NOT_OPEN,
    PEER_OVER_RATE, /* more than common->bytes_per_second */
    PEER_CONGESTED, /* the browser does not acknowledge what is on its way */
    PEER_UNPROVEN,  /* the browser has not proven yet where it is */
    PEER_TOO_LONG,
};

struct peer;

/* Creates the peer for an offer that was read from SDP. ufrag and password are those of our answer,
   shorter than PEER_NAME_SIZE. common must outlive it. NULL when there is no memory. */
struct peer *peer_create(struct peer_common *common, const struct sdp_offer *offer,
                         const char *ufrag, const char *password, double now);

/* Frees it without telling the browser. NULL is allowed. */
void peer_destroy(struct peer *peer);

/* Takes a connectivity check that carries our ufrag. False when it is not from this browser; then
   nothing changes and nothing is answered. Otherwise it has been answered, and peer_path_at may
   have changed; call peer_next as after peer_receive, because it may have carried DTLS. */
bool peer_check(struct peer *peer, const struct stun_request *request, const uint8_t *data,
                size_t size, const struct udp_path *path, double now);

/* Returns whether a check has the names of both ends: the browser's own, or a stranger's who knows
 * them. */
bool peer_is_named(const struct peer *peer, const struct stun_request *request);

/* Returns whether a DTLS datagram has a number that is due. It may still be forged. */
bool peer_expects(const struct peer *peer, const uint8_t *data, size_t size);

/* Takes a DTLS datagram. It must stay in place until peer_next has returned false. False when it is
   ignored: this browser was not heard on the path and has no keys yet. Otherwise, if the datagram
   is its own, peer_next adds the path to those in peer_path_at. */
bool peer_receive(struct peer *peer, const struct udp_path *path, const uint8_t *data, size_t size,
                  double now);

/* True when a DTLS datagram of unknown origin with this number may be the browser's, because the
   browser has fallen silent and the number could be its next. A NAT may have given it another port
   without its knowledge. */
bool peer_misses(const struct peer *peer, uint64_t number, double now);

/* The next datagram from the browser. The state may have changed, whatever is returned. */
bool peer_next(struct peer *peer, struct peer_datagram *datagram, double now);

/* Sends a datagram of 1 to SCTP_MESSAGE_MAX bytes now, or not at all. */
enum peer_send peer_send(struct peer *peer, const uint8_t *data, size_t size, double now);

/* Ends it and tells the browser why. The state is then PEER_ENDED. */
void peer_end(struct peer *peer, const char *reason, double now);

/* The same, but over an open channel the browser is told before, in a text message "CODE REASON":
   not every browser tells its page what an ABORT says. */
void peer_dismiss(struct peer *peer, unsigned code, const char *reason, double now);

/* When peer_update has something to do, in seconds. */
double peer_deadline(const struct peer *peer);

/* Seconds of a round trip to the browser; NAN when it is not known. */
double peer_rtt(const struct peer *peer);

/* Lets time pass. */
void peer_update(struct peer *peer, double now);

enum peer_state peer_state(const struct peer *peer);

/* The path on which we send. Not before the first check. */
const struct udp_path *peer_path(const struct peer *peer);

/* One of the PATHS_MAX paths on which it was heard; NULL when there is none at this index. */
const struct udp_path *peer_path_at(const struct peer *peer, size_t index);

/* True when the last DTLS datagram came on one of these paths, which it may just have added. */
bool peer_took(const struct peer *peer);

/* True while it is open and has proven that it is at the end of the path on which we send. */
bool peer_is_proven(const struct peer *peer);

/* True when it has proven that it is at an address and was heard from there recently. */
bool peer_is_at(const struct peer *peer, const struct udp_address *address, double now);
const char *peer_ufrag(const struct peer *peer);

/* True once it has started DTLS, which takes much memory. */
bool peer_shakes_hands(const struct peer *peer);

/* True when the browser has ended it on purpose: it closed the channel or the connection. */
bool peer_left(const struct peer *peer);

/* True once the handshake of DTLS is done. */
bool peer_is_secured(const struct peer *peer);

/* Why it has ended: constant text for log lines. */
const char *peer_reason(const struct peer *peer);

#endif
