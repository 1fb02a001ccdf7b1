/* Links carry the datagrams of players. Each kind of link is one of the transports. */
#ifndef CAUSEWAY_RELAY_LOAD_LINK_H
#define CAUSEWAY_RELAY_LOAD_LINK_H

#include "os/loop.h"
#include "os/socket_address.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest datagram. */
#define LINK_DATAGRAM_MAX 1300

struct rtc_identity;

/* The place that links go to. */
struct link_target {
    struct loop *loop;
    struct lws_vhost *fetch; /* the vhost of requests */
    struct rtc_identity *identity;
    bool secure;      /* the relay has TLS */
    const char *host; /* the relay's name or address, and below with its port */
    char authority[300];
    char address[INET6_ADDRSTRLEN]; /* the relay's address */
    int port;
    const char *path;
    struct socket_address server; /* the game server, for UDP; its size is 0 when it is not known */
    char server_name[80];         /* the game server as relays know it; "" = not told */
};

/* The player that has a link. It must not close the link from these calls. */
struct link_owner {
    void (*opened)(void *context);
    void (*received)(void *context, const uint8_t *data, size_t size);
    void (*closed)(void *context, const char *why);
    void *context;
};

struct link_kind {
    const char *name;
    /* Begins to open a link. Returns NULL when the system refuses. */
    void *(*open)(const struct link_target *target, const struct link_owner *owner);
    /* Returns false when the link does not take the datagram, which is lost then. */
    bool (*send)(void *link, const uint8_t *data, size_t size);
    void (*tick)(void *link, double now); /* lets time pass; NULL = need not be called */
    void (*close)(void *link);            /* frees the link; also after `closed` */
};

extern const struct link_kind link_udp, link_websocket, link_webrtc, link_webtransport;

/* The protocol of link_websocket, which the loop's vhost needs. */
extern const struct lws_protocols link_websocket_protocol;

#endif
