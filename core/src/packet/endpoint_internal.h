/* The inside of an endpoint, and the functions that a connection uses of it beyond the public ones.
   Their bodies stand here, so that they cost the connection no calls. */
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
    uint8_t *begun;           /* the place of its first datagram; NULL: none has begun */
    size_t begun_size;        /* bytes that its payload may have */
    size_t begun_header_size; /* 0: the payload goes to outgoing first */

    /* The packet that is sent in fragments. */
    uint8_t *outgoing; /* its payload; NULL when no packet can be so long */
    struct cw_sent_packet *outgoing_packet;
    size_t outgoing_size;
    uint32_t outgoing_fragments;
    uint32_t outgoing_next; /* the fragment to transmit next */

    /* The packet that arrived last. */
    struct cw_endpoint_event packet;
    bool packet_waits;                  /* the packet is to be taken */
    bool packet_offered;                /* the packet is offered, and not accepted yet */
    struct cw_reassembly *packet_owner; /* NULL: payload is in the caller's datagram */
    struct cw_reassemblies reassemblies;

    struct cw_rate rate_sent, rate_received, rate_acked;
    double rates_refreshed;
    bool rates_started;
    struct cw_endpoint_stats stats; /* the counters; cw_endpoint_stats fills in the other members */
    CW_ONE_THREAD_MEMBER;
};

/* Bytes of the longest payload that is sent. */
static inline uint32_t cw_endpoint_max_send_size(const struct cw_endpoint_config *config)
{
    return config->max_send_size == CW_AUTO ? config->max_packet_size : config->max_send_size;
}

/* Makes headers ack the oldest numbers that no header has acked yet, and reports no packet lost
   before a header could tell of it. Both ends of a connection do so, once after create. */
static inline void cw_endpoint_ack_in_turn(struct cw_endpoint *endpoint)
{
    endpoint->acks_in_turn = endpoint->sent.patient = true;
}

/* Takes the packet that arrived, which is the event that next gives first; NULL when there is none.
 */
static inline const struct cw_endpoint_event *cw_endpoint_next_packet(struct cw_endpoint *endpoint)
{
    const bool waits = endpoint->packet_waits;
    endpoint->packet_waits = false;
    return waits ? &endpoint->packet : NULL;
}

/* Takes one of the other events that next gives: a packet of ours was acked or lost. Returns false
   when there is none. */
static inline bool cw_endpoint_next_fate(struct cw_endpoint *endpoint, uint16_t *sequence,
                                         bool *acked)
{
    uint32_t fate;
    if (!cw_sent_packets_next(&endpoint->sent, &fate))
        return false;
    *sequence = (uint16_t)fate;
    *acked = !(fate & CW_SENT_EVENT_LOST);
    return true;
}

/* The record of the packets sent, and of the path by their acks. */
static inline const struct cw_sent_packets *cw_endpoint_sent(const struct cw_endpoint *endpoint)
{
    return &endpoint->sent;
}

/* The record of the packets that have arrived. */
static inline const struct cw_received_packets *
cw_endpoint_received(const struct cw_endpoint *endpoint)
{
    return &endpoint->received;
}

/* Tells the endpoint for how long the other end may have nothing to say in this silence: so much of
   it is no measure of how often it sends. */
static inline void cw_endpoint_expect_idle(struct cw_endpoint *endpoint, double seconds)
{
    endpoint->sent.silence.idle = seconds;
    endpoint->sent.silence.due = false;
}

/* Does the same, but the other end owes an answer to this packet then. */
static inline void cw_endpoint_expect_answer(struct cw_endpoint *endpoint, uint16_t packet,
                                             double seconds)
{
    endpoint->sent.silence.idle = seconds > 0 ? seconds : 0;
    endpoint->sent.silence.asked = packet;
    endpoint->sent.silence.due = true;
}

/* Gives up acking the numbers that the next header has no room for. */
static inline void cw_endpoint_pass_by(struct cw_endpoint *endpoint)
{
    cw_received_packets_pass_by(&endpoint->received);
}

#endif
