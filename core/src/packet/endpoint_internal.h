/* The inside of an endpoint, which its connection reads too. */
#ifndef CAUSEWAY_ENDPOINT_INTERNAL_H
#define CAUSEWAY_ENDPOINT_INTERNAL_H

#include "base/one_thread.h"
#include "packet/measure.h"
#include "packet/reassembly.h"
#include "packet/received_packets.h"
#include "packet/sent_packets.h"

#include "causeway/endpoint.h"

struct cw_endpoint {
    struct cw_endpoint_config config;
    size_t max_datagram_size;

    struct cw_sent_packets sent;
    struct cw_received_packets received;
    bool acks_in_turn; /* headers ack the oldest numbers that no header has acked yet; the sender
                          then goes on while some are left */

    /* The packet that has begun. */
    uint8_t *begun;           /* where its first datagram goes; NULL: none has begun */
    size_t begun_size;        /* bytes that its payload may have */
    size_t begun_header_size; /* 0: the payload goes to outgoing first */

    /* The packet that is sent in fragments. */
    uint8_t *outgoing; /* its payload; NULL when no packet can be so long */
    struct cw_sent_packet *outgoing_packet;
    size_t outgoing_size;
    uint32_t outgoing_fragments;
    uint32_t outgoing_next; /* fragment to transmit next */

    /* The packet that arrived last. */
    struct cw_endpoint_event packet;
    bool packet_waits;                  /* to be taken */
    bool packet_offered;                /* and not accepted */
    struct cw_reassembly *packet_owner; /* NULL: payload is in the caller's datagram */
    struct cw_reassemblies reassemblies;

    struct cw_rate rate_sent, rate_received, rate_acked;
    double rates_refreshed;
    bool rates_started;
    struct cw_endpoint_stats stats; /* the counters; the rest is filled in when asked for */
    CW_ONE_THREAD_MEMBER;
};

/* Bytes of the longest payload that is sent. */
static inline uint32_t cw_endpoint_max_send_size(const struct cw_endpoint_config *config)
{
    return config->max_send_size == CW_AUTO ? config->max_packet_size : config->max_send_size;
}

/* The public functions for a connection, which has checked the arguments. Begin, which returns
   where the payload goes, also requires that no fragment waits to be transmitted. */
void cw_endpoint_update_checked(struct cw_endpoint *endpoint, double now);
uint8_t *cw_endpoint_begin_checked(struct cw_endpoint *endpoint, size_t size, uint8_t *out);
size_t cw_endpoint_commit_checked(struct cw_endpoint *endpoint, size_t size, double now,
                                  uint16_t *sequence);
size_t cw_endpoint_transmit_checked(struct cw_endpoint *endpoint, uint8_t *out, size_t capacity);
enum cw_error cw_endpoint_receive_checked(struct cw_endpoint *endpoint, const uint8_t *data,
                                          size_t size, double now);
void cw_endpoint_accept_checked(struct cw_endpoint *endpoint);

/* Takes the packet that arrived and is waiting: the one that next gives first. */
static inline const struct cw_endpoint_event *cw_endpoint_next_packet(struct cw_endpoint *endpoint)
{
    endpoint->packet_waits = false;
    return &endpoint->packet;
}

#endif
