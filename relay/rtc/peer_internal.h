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
    char ufrag[SDP_UFRAG_MAX + 1];
    char password[PEER_PASSWORD_SIZE];
    char remote_ufrag[SDP_UFRAG_MAX + 1];
    uint8_t fingerprint[32];
    uint16_t remote_sctp_port;
    struct sctp_init remote_init;
    struct paths paths;
    struct udp_path ends; /* the ends of the datagram that is being read */
    /* the path of that datagram; NULL while nothing of the browser came along it */
    struct path *from;
    size_t size;
    uint64_t number;
    uint64_t last_number; /* the highest number of the browser's own datagrams */
    struct path *to;      /* the path on which a probe is sent; NULL = the current one */
    struct flight flight; /* the datagrams of the handshake that are held back */
    double consented;     /* when the last check was verified */
    double expires;       /* when it must be open at the latest; INFINITY once it is */
    struct dtls *dtls;
    double dtls_at; /* when a handshake message is to be repeated */
    struct sctp *sctp;
    uint32_t channel;      /* the stream of the data channel */
    struct bucket allowed; /* the bytes that may go out */
    const char *reason;
    bool left; /* the browser has ended it on purpose */
};

/* Takes an event of SCTP. Returns true when it is a datagram from the browser. */
bool peer_take_event(struct peer *peer, const struct sctp_event *event,
                     struct peer_datagram *datagram, double now);

/* Sends all packets that SCTP has to send. */
void peer_flush(struct peer *peer, double now);

/* Ends a peer whose browser wanted it to end. */
void peer_has_left(struct peer *peer, const char *reason);

#endif
