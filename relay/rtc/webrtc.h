/* The WebRTC transport: one message of an unordered, unreliable data channel is one datagram. */
#ifndef CAUSEWAY_RELAY_WEBRTC_H
#define CAUSEWAY_RELAY_WEBRTC_H

#include "http/http.h"
#include "limits/handshake_budget.h"
#include "os/loop.h"
#include "os/socket_address.h"
#include "rtc/dtls.h"
#include "rtc/udp_address.h"
#include "session/session.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>

#define WEBRTC_ADVERTISED_MAX 8

struct webrtc_limits {
    unsigned max_sessions;
    /* the most offers of an address that are not open channels yet, see also offer_limit.h; 0 = no
       limit */
    unsigned max_per_address;
    double bytes_per_second; /* the rate to one browser; 0 = no limit */
    /* the rate from one browser to the game server, see policing.h; 0 = no limit */
    double packets_per_second;
};

struct webrtc_config {
    struct socket_address local;         /* the address at which the UDP socket is bound */
    struct inherited_sockets *inherited; /* sockets, among which it may be open already */
    /* The addresses to which browsers are told to send. Without any, they are told the address to
       which their offer came. Port 0 means the port of the socket. */
    struct socket_address advertised[WEBRTC_ADVERTISED_MAX];
    unsigned advertised_count;
    unsigned capacity; /* the highest number that limits.max_sessions may become */
    struct webrtc_limits limits;
    struct handshake_budget *handshakes; /* must outlive the transport */
    /* The origins whose pages may play now. The list must outlive the transport. */
    const struct origin_list *origins;
    /* the number of this process among several, from 1 on; 0 = there is one process */
    unsigned worker;
    /* Lets another worker end a connection of its own, see webrtc_end. */
    void (*end_other)(void *context, unsigned worker, const char *name);
    void *context;
};

struct webrtc;

/* Does the same as dtls_identity_load, but logs why it returns NULL. */
struct dtls_identity *webrtc_load_identity(const char *certificate, const char *key);

/* Creates the transport and its routes at /rtc. It takes over identity; the others must outlive it.
   Logs what failed and returns NULL otherwise. */
struct webrtc *webrtc_create(const struct webrtc_config *config, struct dtls_identity *identity,
                             struct loop *loop, struct sessions *sessions, struct http *http,
                             struct stats *stats);

/* Ends the connection with this name, as its page asks by DELETE. Returns false when there is none,
   and with NULL for the transport. */
bool webrtc_end(struct webrtc *webrtc, const char *name);

/* Changes the limits. NULL is allowed. */
void webrtc_set_limits(struct webrtc *webrtc, const struct webrtc_limits *limits);

/* Ends all connections and frees everything. NULL is allowed. */
void webrtc_destroy(struct webrtc *webrtc);

/* Sends the datagrams that have been gathered and frees the links that have ended. Call it in each
   turn of the loop. NULL is allowed. */
void webrtc_turn(struct webrtc *webrtc);

/* Lets another protocol share the UDP port: it gets the packets that are of neither STUN nor DTLS.
 */
void webrtc_share(struct webrtc *webrtc,
                  void (*take)(void *context, const struct udp_path *path, const uint8_t *data,
                               size_t size),
                  void *context);

/* Sends a packet of that protocol, at webrtc_turn at the latest. */
void webrtc_send(struct webrtc *webrtc, const struct udp_path *path, const uint8_t *data,
                 size_t size);

/* Returns the number of the UDP port. */
uint16_t webrtc_port(const struct webrtc *webrtc);

/* Returns the UDP socket, for another process; -1 for NULL. */
int webrtc_socket(const struct webrtc *webrtc);

/* Stops receiving: another process does it from now on. NULL is allowed. */
void webrtc_leave(struct webrtc *webrtc);

/* Adds the datagrams that found the UDP socket full to stats. NULL is allowed. */
void webrtc_count_overflow(struct webrtc *webrtc);

#endif
