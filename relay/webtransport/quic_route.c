#include "webtransport/quic_internal.h"

#include <openssl/rand.h>

/* A token proves an address for these seconds: a round trip, and the repeats of a lossy one. */
#define TOKEN_SECONDS 10
/* Bytes of the shortest packet that begins a connection (RFC 9000, section 14.1). */
#define INITIAL_LEAST 1200
/* Bytes of the shortest packet of ours that ends a connection of which nothing is known, and of the
   shortest packet that is answered so: the answer is always shorter. */
#define RESET_SIZE  41
#define RESET_LEAST (RESET_SIZE + 1)

static void send_out(struct quic_server *server, const struct udp_path *path, const uint8_t *data,
                     ngtcp2_ssize size)
{
    if (size > 0)
        server->config.events.send(server->config.events.context, path, data, (size_t)size);
}

/* Tells the sender of a packet of an unknown connection that it is gone. A process that has taken
   the relay over, or a worker that was started again, ends the connections of its predecessor so at
   once; without it browsers would wait until they are idle. */
static void reset(struct quic_server *server, const struct udp_path *path, const ngtcp2_cid *id,
                  size_t size)
{
    uint8_t out[RESET_SIZE];
    uint8_t token[NGTCP2_STATELESS_RESET_TOKENLEN];
    uint8_t random[RESET_SIZE - NGTCP2_STATELESS_RESET_TOKENLEN];
    if (size < RESET_LEAST || RAND_bytes(random, sizeof random) != 1 ||
        ngtcp2_crypto_generate_stateless_reset_token(token, server->config.secret, QUIC_SECRET_SIZE,
                                                     id) != 0)
        return;
    send_out(server, path, out,
             ngtcp2_pkt_write_stateless_reset(out, sizeof out, token, random, sizeof random));
}

static void negotiate_version(struct quic_server *server, const struct udp_path *path,
                              const ngtcp2_version_cid *head)
{
    static const uint32_t versions[] = {NGTCP2_PROTO_VER_V1};
    uint8_t out[QUIC_PACKET_MAX];
    uint8_t random;
    if (RAND_bytes(&random, 1) == 1)
        send_out(server, path, out,
                 ngtcp2_pkt_write_version_negotiation(out, sizeof out, random, head->scid,
                                                      head->scidlen, head->dcid, head->dcidlen,
                                                      versions, 1));
}

/* Sends a token with which the client proves its address when it comes again. */
static void ask_for_proof(struct quic_server *server, const struct udp_path *path,
                          const ngtcp2_pkt_hd *head, double now)
{
    struct quic_ends ends;
    uint8_t token[NGTCP2_CRYPTO_MAX_RETRY_TOKENLEN2];
    uint8_t out[QUIC_PACKET_MAX];
    ngtcp2_cid id = {.datalen = CONNECTION_ID_SIZE};
    quic_ends_set(&ends, path);
    if (RAND_bytes(id.data, (int)id.datalen) != 1)
        return;
    const ngtcp2_ssize size = ngtcp2_crypto_generate_retry_token2(
        token, server->config.secret, QUIC_SECRET_SIZE, head->version, ends.path.remote.addr,
        ends.path.remote.addrlen, &id, &head->dcid, quic_time(now));
    if (size > 0)
        send_out(server, path, out,
                 ngtcp2_crypto_write_retry(out, sizeof out, head->version, &head->scid, &id,
                                           &head->dcid, token, (size_t)size));
}

bool quic_token_proves(struct quic_server *server, const struct udp_path *path,
                       const ngtcp2_pkt_hd *head, double now, ngtcp2_cid *first_id)
{
    struct quic_ends ends;
    quic_ends_set(&ends, path);
    return head->tokenlen > 0 &&
           ngtcp2_crypto_verify_retry_token2(
               first_id, head->token, head->tokenlen, server->config.secret, QUIC_SECRET_SIZE,
               head->version, ends.path.remote.addr, ends.path.remote.addrlen, &head->dcid,
               (ngtcp2_duration)TOKEN_SECONDS * NGTCP2_SECONDS, quic_time(now)) == 0;
}

struct quic_route quic_route(struct quic_server *server, const struct udp_path *path,
                             const uint8_t *data, size_t size, bool proof, double now)
{
    const struct quic_route nothing = {QUIC_NOTHING, NULL};
    ngtcp2_version_cid head;
    ngtcp2_pkt_hd initial;
    ngtcp2_cid first_id;
    const int error = ngtcp2_pkt_decode_version_cid(&head, data, size, CONNECTION_ID_SIZE);
    if (error == NGTCP2_ERR_VERSION_NEGOTIATION && size >= INITIAL_LEAST)
        negotiate_version(server, path, &head);
    if (error != 0 || head.dcidlen > CONNECTION_ID_MAX)
        return nothing;
    void *owner = connection_ids_find(server->ids, head.dcid, head.dcidlen);
    if (owner)
        return (struct quic_route){QUIC_KNOWN, owner};
    if (head.version == 0) { /* a short head */
        ngtcp2_cid id;
        ngtcp2_cid_init(&id, head.dcid, head.dcidlen);
        reset(server, path, &id, size);
        return nothing;
    }
    if (size < INITIAL_LEAST || ngtcp2_accept(&initial, data, size) != 0)
        return nothing;
    if (!proof || quic_token_proves(server, path, &initial, now, &first_id))
        return (struct quic_route){QUIC_NEW, NULL};
    ask_for_proof(server, path, &initial, now);
    return nothing;
}
