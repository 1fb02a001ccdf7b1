/* The players behind proxies: a server knows each by the player's own address, while the datagrams
   to the player go to the proxy's socket from which they come. This header is not installed. */
#ifndef CAUSEWAY_NATIVE_PROXIED_H
#define CAUSEWAY_NATIVE_PROXIED_H

#include "causeway/base.h"
#include "causeway/native/socket.h"
#include "native/proxy_header.h"

struct cw_proxied;

struct cw_proxied_config {
    struct cw_allocator allocator;
    const char *const *trusted; /* see cw_host_config */
    uint32_t trusted_count;
    uint32_t places; /* players that are remembered, at least 1 */
    uint64_t seed;   /* secret */
};

/* *proxied is set only on CW_OK. Errors: that of trusted_proxies, CW_ERROR_NO_MEMORY. */
enum cw_error cw_proxied_create(const struct cw_proxied_config *config,
                                struct cw_proxied **proxied);

/* NULL is allowed. */
void cw_proxied_destroy(struct cw_proxied *proxied);

/* A datagram without its header. */
struct cw_proxied_packet {
    struct cw_address player;
    const uint8_t *data; /* points into the datagram */
    size_t size;
    enum cw_proxy_header kind; /* NONE: the player is no proxy's */
    struct cw_address source;  /* the proxy's socket */
    const uint8_t *header;     /* SIMPLE: points into the datagram */
};

/* Finds the player who sent a datagram. A datagram whose header is malformed, or does not come from
   a trusted address, stays as it is: no server takes it for a packet. */
void cw_proxied_receive(struct cw_proxied *proxied, const struct cw_socket_datagram *datagram,
                        double now, struct cw_proxied_packet *packet);

/* Notes that the server has taken the packet for one of the player's. Players of whom it never did
   make room for others first, and only such packets change where a player's datagrams go. */
void cw_proxied_accept(struct cw_proxied *proxied, const struct cw_proxied_packet *packet,
                       double now);

/* Readdresses a datagram for a player to the player's proxy. There must be CW_SIMPLE_HEADER_SIZE
   bytes of room before its data, where the header goes if the proxy wants one. */
void cw_proxied_readdress(struct cw_proxied *proxied, struct cw_socket_datagram *datagram,
                          double now);

#endif
