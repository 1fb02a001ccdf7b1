/* Declarations that the parts of QUIC share: quic_route.c answers packets that need no connection,
   quic_create.c begins connections, and quic.c runs them. */
#ifndef CAUSEWAY_RELAY_QUIC_INTERNAL_H
#define CAUSEWAY_RELAY_QUIC_INTERNAL_H

#include "webtransport/connection_ids.h"
#include "webtransport/quic.h"

#include <netinet/in.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <string.h>

struct quic_server {
    struct quic_server_config config;
    struct connection_ids *ids;
    gnutls_priority_t priority;
};

/* The bytes that are sent on a stream. ngtcp2 does not copy them: they stay to the end. */
struct quic_out {
    int64_t stream; /* -1 = there is none yet */
    const uint8_t *data;
    size_t size;
    size_t sent;
    bool end;      /* nothing follows `size` bytes */
    bool end_sent; /* or nothing can be sent any more */
};

struct quic {
    struct quic_server *server;
    void *owner;
    ngtcp2_conn *conn;
    gnutls_session_t tls;
    ngtcp2_crypto_conn_ref ref;
    ngtcp2_cid first_id; /* the one that the client chose for the server */
    bool up;
    bool ended;
    struct quic_out greeting;
    struct quic_out reply;
    uint8_t reply_bytes[QUIC_REPLY_MAX];
};

static inline ngtcp2_tstamp quic_time(double now)
{
    return (ngtcp2_tstamp)(now * 1e9);
}

/* The two ends of a path in the form that ngtcp2 takes. IPv4 stands inside IPv6. */
struct quic_ends {
    struct sockaddr_in6 local;
    struct sockaddr_in6 remote;
    ngtcp2_path path;
};

static inline void quic_ends_set(struct quic_ends *ends, const struct udp_path *path)
{
    *ends = (struct quic_ends){
        .local = {.sin6_family = AF_INET6, .sin6_scope_id = path->interface},
        .remote = {.sin6_family = AF_INET6, .sin6_port = path->remote.port},
        .path = {.local = {.addr = (ngtcp2_sockaddr *)&ends->local, .addrlen = sizeof ends->local},
                 .remote = {.addr = (ngtcp2_sockaddr *)&ends->remote,
                            .addrlen = sizeof ends->remote}},
    };
    memcpy(&ends->local.sin6_addr, path->local, 16);
    memcpy(&ends->remote.sin6_addr, path->remote.ip, 16);
}

static inline void quic_ends_get(const ngtcp2_path *path, struct udp_path *out)
{
    struct sockaddr_in6 local;
    struct sockaddr_in6 remote;
    memcpy(&local, path->local.addr, sizeof local);
    memcpy(&remote, path->remote.addr, sizeof remote);
    memset(out, 0, sizeof *out);
    out->interface = local.sin6_scope_id;
    memcpy(out->local, &local.sin6_addr, 16);
    memcpy(out->remote.ip, &remote.sin6_addr, 16);
    out->remote.port = remote.sin6_port;
}

/* Sets the functions by which a connection tells what its packets brought. */
void quic_set_receivers(ngtcp2_callbacks *callbacks);

/* Returns whether the token of a packet proves its sender's address. *first_id is then the id that
   the client chose at first. */
bool quic_token_proves(struct quic_server *server, const struct udp_path *path,
                       const ngtcp2_pkt_hd *head, double now, ngtcp2_cid *first_id);

#endif
