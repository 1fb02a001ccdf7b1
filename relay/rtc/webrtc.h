/* The WebRTC transport: one message of an unordered, unreliable data channel is one datagram. */
#ifndef CAUSEWAY_RELAY_WEBRTC_H
#define CAUSEWAY_RELAY_WEBRTC_H

#include "http/http.h"
#include "net/loop.h"
#include "net/socket_address.h"
#include "net/stats.h"
#include "rtc/dtls.h"
#include "session/session.h"

#include <stddef.h>

#define WEBRTC_ADVERTISED_MAX 8

struct webrtc_config {
    struct socket_address local; /* where the UDP socket is bound */
    /* What browsers are told to send to; without one, the address that their offer came to. Port 0
       means the port of the socket. */
    struct socket_address advertised[WEBRTC_ADVERTISED_MAX];
    unsigned advertised_count;
    unsigned max_sessions;
    unsigned max_per_address; /* of offers that are not open channels yet; see also offer_limit.h;
                                 0 = no limit */
    double bytes_per_second;  /* to one browser; 0 = no limit */
};

struct webrtc;

/* Makes the transport and its route /rtc. identity goes over to it; the others outlive it. NULL
   after logging what failed. */
struct webrtc *webrtc_create(const struct webrtc_config *config, struct dtls_identity *identity,
                             struct loop *loop, struct sessions *sessions, struct http *http,
                             struct stats *stats);

/* Ends what is still connected and frees all. NULL is allowed. */
void webrtc_destroy(struct webrtc *webrtc);

/* Sends what has been gathered, and frees what has ended; the loop's turn. NULL is allowed. */
void webrtc_turn(struct webrtc *webrtc);

/* Brings stats up to date with what found the UDP socket full. NULL is allowed. */
void webrtc_count_overflow(struct webrtc *webrtc);

#endif
