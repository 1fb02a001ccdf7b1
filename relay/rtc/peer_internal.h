/* Declarations that the parts of a peer share: peer.c has its path, DTLS and times, peer_channel.c
   its data channel. */
#ifndef CAUSEWAY_RELAY_RTC_PEER_INTERNAL_H
#define CAUSEWAY_RELAY_RTC_PEER_INTERNAL_H

#include "limits/bucket.h"
#include "rtc/flight.h"
#include "rtc/peer.h"

#define PEER_NO_CHANNEL UINT32_MAX

struct peer {
    struct peer_common *common;
    enum peer_state state;
    char ufrag[PEER_NAME_SIZE];
    char password[PEER_NAME_SIZE];
    char remote_ufrag[SDP_UFRAG_MAX + 1];
    uint8_t fingerprint[32];
    uint16_t remote_sctp_port;
    struct paths paths;
    struct udp_path ends; /* where the datagram came from that is worked off */
    struct path *from;    /* the same; NULL while nothing of the browser came from there */
    size_t size;
    uint64_t number;
    uint64_t last_number; /* the highest of the browser's own */
    struct path *to;      /* where a probe goes to; NULL: to the current path */
    struct flight flight; /* datagrams of the handshake, held back */
    double consented;     /* when the last check was verified */
    double expires;       /* when it must be open at the latest; INFINITY once it is */
    struct dtls *dtls;
    double dtls_at; /* when a handshake message is to be repeated */
    struct sctp *sctp;
    uint32_t channel;      /* the stream of the data channel */
    struct bucket allowed; /* bytes that may go out */
    const char *reason;
    bool left; /* the browser has ended it on purpose */
};

/* Takes what SCTP has received. True when that is a datagram from the browser. */
bool peer_take_event(struct peer *peer, const struct sctp_event *event,
                     struct peer_datagram *datagram, double now);

/* Sends all that SCTP has to say. */
void peer_flush(struct peer *peer, double now);

/* It has ended, because the browser wanted it to. */
void peer_has_left(struct peer *peer, const char *reason);

#endif
