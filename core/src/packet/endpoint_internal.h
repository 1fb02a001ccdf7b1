/* The inside of an endpoint, and the functions that a connection uses of it beyond the public ones.
   Their bodies stand here, so that they cost the connection no calls. */
#ifndef CAUSEWAY_ENDPOINT_INTERNAL_H
#define CAUSEWAY_ENDPOINT_INTERNAL_H

#include "base/one_thread.h"
#include "base/outline.h"
#include "base/shared.h"
#include "packet/measure.h"
#include "packet/packet_header.h"
#include "packet/reassembly.h"
#include "packet/received_packets.h"
#include "packet/sent_packets.h"

#include "causeway/endpoint.h"

struct cw_record;

/* The calls that a record keeps, by their numbers in the format of record.h. */
enum cw_endpoint_call {
    CW_ENDPOINT_UPDATE = 1,
    CW_ENDPOINT_COMMIT,
    CW_ENDPOINT_TRANSMIT,
    CW_ENDPOINT_RECEIVE,
    CW_ENDPOINT_RECEIVE_NEXT,
    CW_ENDPOINT_ACCEPT,
    CW_ENDPOINT_PASS_BY,
    CW_ENDPOINT_IDLE,
    CW_ENDPOINT_ANSWER,
    CW_ENDPOINT_RESET,
    CW_ENDPOINT_CALL_COUNT
};

struct cw_endpoint {
    struct cw_endpoint_config config;
    struct cw_record *record; /* NULL: none */
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
    struct cw_endpoint_stats
        stats; /* the counters; cw_endpoint_get_stats fills in the other members */
    CW_ONE_THREAD_MEMBER;
};

/* Bytes of the longest payload that is sent. */
CW_SHARED uint32_t cw_endpoint_max_send_size(const struct cw_endpoint_config *config)
{
    return config->max_send_size == CW_AUTO ? config->max_packet_size : config->max_send_size;
}

/* Returns whether a record is set. A module of WebAssembly that never sets one links a function
   that always says no (wasm/no_record.c). */
CW_SHARED bool cw_endpoint_is_recorded(const struct cw_endpoint *endpoint)
{
    return endpoint->record;
}

/* Writes a call down before it changes anything, with its bytes and their number if it has such.
   Returns the time with which the endpoint goes on, because a record rounds it. */
CW_COLD double cw_endpoint_record(struct cw_endpoint *endpoint, enum cw_endpoint_call call,
                                  const uint8_t *data, size_t size, double now);

/* Does what cw_endpoint_update does, when now is a time. */
void cw_endpoint_advance(struct cw_endpoint *endpoint, double now);

/* Makes headers ack the oldest numbers that no header has acked yet, and reports no packet lost
   before a header could tell of it. Both ends of a connection do so, once after create. */
CW_SHARED void cw_endpoint_ack_in_turn(struct cw_endpoint *endpoint)
{
    endpoint->acks_in_turn = endpoint->sent.patient = true;
}

/* Takes the packet that arrived, which is the event that next gives first; NULL when there is none.
 */
CW_SHARED const struct cw_endpoint_event *cw_endpoint_next_packet(struct cw_endpoint *endpoint)
{
    const bool waits = endpoint->packet_waits;
    endpoint->packet_waits = false;
    return waits ? &endpoint->packet : NULL;
}

/* Takes one of the other events that next gives: a packet of ours was acked or lost. Returns false
   when there is none. */
CW_SHARED bool cw_endpoint_next_fate(struct cw_endpoint *endpoint, uint16_t *sequence, bool *acked)
{
    uint32_t fate;
    if (!cw_sent_packets_next(&endpoint->sent, &fate))
        return false;
    *sequence = (uint16_t)fate;
    *acked = !(fate & CW_SENT_EVENT_LOST);
    return true;
}

/* The record of the packets sent, and of the path by their acks. */
CW_SHARED const struct cw_sent_packets *cw_endpoint_sent(const struct cw_endpoint *endpoint)
{
    return &endpoint->sent;
}

/* The record of the packets that have arrived. */
CW_SHARED const struct cw_received_packets *cw_endpoint_received(const struct cw_endpoint *endpoint)
{
    return &endpoint->received;
}

/* Tells the endpoint for how long the other end may have nothing to say in this silence: so much of
   it is no measure of how often it sends. */
CW_SHARED void cw_endpoint_expect_idle(struct cw_endpoint *endpoint, double seconds)
{
    endpoint->sent.silence.idle = seconds;
    endpoint->sent.silence.due = false;
}

/* Does the same, but the other end owes an answer to this packet then. */
CW_SHARED void cw_endpoint_expect_answer(struct cw_endpoint *endpoint, uint16_t packet,
                                         double seconds)
{
    endpoint->sent.silence.idle = seconds > 0 ? seconds : 0;
    endpoint->sent.silence.asked = packet;
    endpoint->sent.silence.due = true;
}

/* Gives up acking the numbers that the next header has no room for. */
CW_SHARED void cw_endpoint_pass_by(struct cw_endpoint *endpoint)
{
    if (cw_endpoint_is_recorded(endpoint))
        cw_endpoint_record(endpoint, CW_ENDPOINT_PASS_BY, NULL, 0, -INFINITY);
    cw_received_packets_pass_by(&endpoint->received);
}

/* Writes the header of our next datagram, which acks what has arrived. Returns its bytes. */
CW_SHARED size_t cw_endpoint_write_header(struct cw_endpoint *e, uint8_t *out, uint16_t sequence)
{
    uint32_t ack_bits;
    const uint16_t ack = cw_received_packets_tell(&e->received, e->acks_in_turn, &ack_bits);
    const struct cw_packet_header header = {sequence, ack, ack_bits};
    return cw_packet_header_write(out, &header);
}

/* The parts for packets in fragments, which are in endpoint_fragments.c. */

/* Writes the next fragment of the packet in outgoing. Returns its bytes. */
size_t cw_endpoint_write_fragment(struct cw_endpoint *endpoint, uint8_t *out, uint16_t sequence);

/* Does what cw_endpoint_receive does with a fragment. */
enum cw_error cw_endpoint_receive_fragment(struct cw_endpoint *endpoint, const uint8_t *data,
                                           size_t size, double now);

/* Releases the reassembly that has the payload of the packet that arrived last. */
void cw_endpoint_release_packet(struct cw_endpoint *endpoint);

/* Gives up the packets that are still incomplete although many later ones have arrived. */
void cw_endpoint_expire_fragments(struct cw_endpoint *endpoint);

CW_SHARED void cw_endpoint_count_datagram(struct cw_endpoint *e, struct cw_sent_packet *packet,
                                          size_t size)
{
    packet->bytes += (uint32_t)size;
    e->stats.datagrams_sent++;
    e->stats.bytes_sent += size;
}

CW_SHARED bool cw_endpoint_fragments_wait(const struct cw_endpoint *e)
{
    return e->outgoing_next < e->outgoing_fragments;
}

/* Does what cw_endpoint_begin does, when size fits, no fragments wait and the record of sent
   packets has room. Returns the place for the payload. A payload that may be too long for one
   datagram is cut up at commit. */
CW_SHARED uint8_t *cw_endpoint_begin_inline(struct cw_endpoint *e, size_t size, uint8_t *out)
{
    const bool is_long = size > e->config.fragment_above;
    e->begun = out;
    e->begun_size = size;
    e->begun_header_size = is_long ? 0 : cw_endpoint_write_header(e, out, e->sent.window.next);
    return is_long ? e->outgoing : out + e->begun_header_size;
}

/* Writes and counts the first datagram of a packet whose payload is in outgoing. */
size_t cw_endpoint_commit_outgoing(struct cw_endpoint *endpoint, struct cw_sent_packet *packet,
                                   size_t size, uint16_t sequence);

/* Does what cw_endpoint_commit does, when a packet has begun and size fits. */
CW_SHARED size_t cw_endpoint_commit_inline(struct cw_endpoint *e, size_t size, double now)
{
    if (cw_endpoint_is_recorded(e))
        now = cw_endpoint_record(e, CW_ENDPOINT_COMMIT, NULL, size, now);
    const uint16_t number = e->sent.window.next;
    struct cw_sent_packet *packet = cw_sent_packets_add(&e->sent);
    packet->time = now;
    e->outgoing_packet = packet;
    e->stats.packets_sent++;
    if (e->begun_header_size == 0)
        return cw_endpoint_commit_outgoing(e, packet, size, number);
    e->begun = NULL;
    cw_endpoint_count_datagram(e, packet, e->begun_header_size + size);
    return e->begun_header_size + size;
}

/* Counts a datagram that is refused with this error, and returns the error. */
enum cw_error cw_endpoint_count_refused(struct cw_endpoint *endpoint, enum cw_error error);

/* Notes that the other end was heard. A header that does not ack what the other end was to answer
   is no answer: it may have been idle all the time. */
CW_SHARED void cw_endpoint_end_silence(struct cw_endpoint *e, const struct cw_packet_header *header,
                                       bool prompt, double now)
{
    struct cw_silence *silence = &e->sent.silence;
    const uint16_t behind = (uint16_t)(header->ack - silence->asked);
    if (silence->due && (behind >= CW_ACKS_PER_HEADER || !(header->ack_bits >> behind & 1))) {
        silence->idle = (double)INFINITY;
        silence->due = false;
    }
    cw_silence_end(silence, prompt, now);
}

/* Takes the header of a packet that is whole, and offers the payload, which e->packet has. */
CW_SHARED void cw_endpoint_offer(struct cw_endpoint *e, const struct cw_packet_header *header,
                                 double now)
{
    /* The first fragment of a packet has made it the newest already. */
    const uint16_t previous = cw_received_packets_newest(&e->received);
    const bool prompt = header->sequence == (uint16_t)(previous + 1) ||
                        (e->packet_owner && header->sequence == previous);
    cw_received_packets_advance(&e->received, header->sequence);
    if (e->reassemblies.active)
        cw_endpoint_expire_fragments(e);
    if (prompt || cw_sequence_newer(header->sequence, previous))
        cw_endpoint_end_silence(e, header, prompt, now);
    cw_sent_packets_take_acks(&e->sent, header->ack, header->ack_bits, prompt, now);
    e->packet.sequence = header->sequence;
    e->packet_waits = e->packet_offered = true;
}

#endif
