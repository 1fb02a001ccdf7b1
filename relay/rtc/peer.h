/* One browser: its offer, the path to it, DTLS, SCTP and its data channel. There are no sockets and
   no clock here: datagrams and the time come from the caller; datagrams to send leave through a
   callback. */
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
/* The size of the longest password that we give. */
#define PEER_PASSWORD_SIZE 33

/* Seconds from the offer to the first verified check. */
#define PEER_CHECK_SECONDS 10.0
/* Seconds from the first check to an open data channel. */
#define PEER_SETUP_SECONDS 20.0
/* Seconds for which a verified check counts as consent (RFC 7675). */
#define PEER_CONSENT_SECONDS 30.0

/* All peers share these. */
struct peer_common {
    struct dtls_identity *identity;
    double bytes_per_second;           /* the rate to one browser; 0 = no limit */
    uint8_t record[2048];              /* room for the record that is being read */
    uint8_t message[SCTP_MESSAGE_MAX]; /* room for its message, when that came in parts */
    void (*send)(void *context, const struct udp_path *path, const uint8_t *data, size_t size);
    void *context;
};

enum peer_state {
    PEER_OFFERED, /* waiting for a verified check */
    PEER_CONNECTING,
    PEER_OPEN,  /* datagrams go both ways */
    PEER_ENDED, /* it waits to be destroyed */
};

/* This is a datagram from the browser. Its data are valid until the next call for any peer that
   shares peer_common. */
struct peer_datagram {
    const uint8_t *data;
    size_t size; /* 0 = an empty message */
    bool text;
};

enum peer_send {
    PEER_SENT,
    PEER_NOT_OPEN,
    PEER_OVER_RATE, /* it exceeds common->bytes_per_second */
    PEER_CONGESTED, /* the browser does not acknowledge the messages that are on their way */
    PEER_UNPROVEN,  /* the browser has not proven yet where it is */
    PEER_TOO_LONG,
};

struct peer;

/* Creates the peer for an offer that was read from SDP, or made of a ticket. ufrag and password are
   ours, of at most SDP_UFRAG_MAX characters, and shorter than PEER_PASSWORD_SIZE. common must
   outlive the peer. Returns NULL when there is no memory. */
struct peer *peer_create(struct peer_common *common, const struct sdp_offer *offer,
                         const char *ufrag, const char *password, double now);

/* Frees a peer without telling the browser. NULL is allowed. */
void peer_destroy(struct peer *peer);

/* Takes a connectivity check that carries our ufrag. Returns false when it is not from this
   browser; then nothing changes and nothing is answered. Otherwise it has been answered, and
   peer_path_at may have changed; call peer_next as after peer_receive, because it may have carried
   DTLS. */
bool peer_check(struct peer *peer, const struct stun_request *request, const uint8_t *data,
                size_t size, const struct udp_path *path, double now);

/* Returns whether a check has the names of both ends. It is then the browser's own, or that of a
   stranger who knows them. */
bool peer_is_named(const struct peer *peer, const struct stun_request *request);

/* Returns whether a DTLS datagram has a number that is due. It may still be forged. */
bool peer_expects(const struct peer *peer, const uint8_t *data, size_t size);

/* Takes a DTLS datagram, which must stay in place until peer_next has returned false. Returns false
   when it is ignored: this browser was not heard on the path and has no keys yet. Otherwise, if the
   datagram is the browser's own, peer_next adds the path to those in peer_path_at. */
bool peer_receive(struct peer *peer, const struct udp_path *path, const uint8_t *data, size_t size,
                  double now);

/* Returns true when a DTLS datagram of unknown origin with this number may be the browser's,
   because the browser has fallen silent and the number could be its next. A NAT may have given it
   another port without its knowledge. */
bool peer_misses(const struct peer *peer, uint64_t number, double now);

/* Returns the next datagram from the browser, if there is one. The state may have changed, whatever
   is returned. */
bool peer_next(struct peer *peer, struct peer_datagram *datagram, double now);

/* Sends a datagram of 1 to SCTP_MESSAGE_MAX bytes now, or not at all. */
enum peer_send peer_send(struct peer *peer, const uint8_t *data, size_t size, double now);

/* Ends the peer and tells the browser why. The state is then PEER_ENDED. */
void peer_end(struct peer *peer, const char *reason, double now);

/* Does the same, but before that the browser is told over an open channel, in a text message "CODE
   REASON": not every browser tells its page the reason in an ABORT. */
void peer_dismiss(struct peer *peer, unsigned code, const char *reason, double now);

/* Returns when peer_update has something to do, in seconds. */
double peer_deadline(const struct peer *peer);

/* Returns the seconds of a round trip to the browser; NAN when they are not known. */
double peer_rtt(const struct peer *peer);

/* Lets time pass. */
void peer_update(struct peer *peer, double now);

enum peer_state peer_state(const struct peer *peer);

/* Returns the path on which we send. Do not call it before the first check. */
const struct udp_path *peer_path(const struct peer *peer);

/* Returns one of the PATHS_MAX paths on which the browser was heard; NULL when there is none at
   this index. */
const struct udp_path *peer_path_at(const struct peer *peer, size_t index);

/* Returns true when the last DTLS datagram came on one of these paths, which it may just have
   added. */
bool peer_took(const struct peer *peer);

/* Returns true while the peer is open and has proven that it is at the end of the path on which we
   send. */
bool peer_is_proven(const struct peer *peer);

/* Returns true when the browser has proven that it is at an address and was heard from there
   recently. */
bool peer_is_at(const struct peer *peer, const struct udp_address *address, double now);
const char *peer_ufrag(const struct peer *peer);

/* Returns true once the browser has started DTLS, which takes much memory. */
bool peer_shakes_hands(const struct peer *peer);

/* Returns true when the browser has ended the peer on purpose: it closed the channel or the
   connection. */
bool peer_left(const struct peer *peer);

/* Returns true once the handshake of DTLS is done. */
bool peer_is_secured(const struct peer *peer);

/* Returns why the peer has ended: constant text for log lines. */
const char *peer_reason(const struct peer *peer);

#endif
