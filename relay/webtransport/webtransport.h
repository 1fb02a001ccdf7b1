/* The WebTransport transport: one datagram of a session is one datagram, in an envelope on the way
   from the browser (parts.h). It shares the UDP port of WebRTC. */
#ifndef CAUSEWAY_RELAY_WEBTRANSPORT_H
#define CAUSEWAY_RELAY_WEBTRANSPORT_H

#include "http/http.h"
#include "limits/handshake_budget.h"
#include "os/loop.h"
#include "rtc/webrtc.h"
#include "session/session.h"
#include "stats/stats.h"

/* The path at which pages ask for the address and the certificates, and of their sessions. */
#define WEBTRANSPORT_ROUTE "/webtransport"

struct webtransport_config {
    struct webrtc *webrtc; /* has the UDP port; must outlive the transport */
    /* The addresses to which browsers are told to send, as for WebRTC. Without any, or with a
       certificate of an authority, it is the host at which the page reaches the relay. */
    struct socket_address advertised[WEBRTC_ADVERTISED_MAX];
    unsigned advertised_count;
    const char *certificate; /* PEM files; NULL = certificates of its own */
    const char *key;
    unsigned capacity; /* the highest number that limits.max_sessions may become */
    struct webrtc_limits limits;
    struct handshake_budget *handshakes; /* must outlive the transport */
    /* The origins whose pages may play now. The list must outlive the transport. */
    const struct origin_list *origins;
};

struct webtransport;

/* Returns whether the relay has WebTransport and can use the certificate; NULL for its own. Logs
   why not. */
bool webtransport_check(const char *certificate, const char *key);

/* Creates the transport and its route at /webtransport. Everything else must outlive it. Logs what
   failed and returns NULL otherwise. */
struct webtransport *webtransport_create(const struct webtransport_config *config,
                                         struct loop *loop, struct sessions *sessions,
                                         struct http *http, struct stats *stats);

/* Changes the limits. A transport that is NULL is allowed, here and in the next functions. */
void webtransport_set_limits(struct webtransport *webtransport, const struct webrtc_limits *limits);

/* Reads the operator's own certificate again, perhaps from other files; NULL when there is none.
   Returns false after logging why not, and keeps the one that it has. */
bool webtransport_reload(struct webtransport *webtransport, const char *certificate,
                         const char *key);

/* Sends what is due and frees the links that have ended. Call it in each turn of the loop, before
   webrtc_turn. */
void webtransport_turn(struct webtransport *webtransport);

/* Takes note that another process receives from now on: links end without an answer. */
void webtransport_leave(struct webtransport *webtransport);

/* Ends all connections and frees everything. */
void webtransport_destroy(struct webtransport *webtransport);

#endif
