/* Packets over datagrams: sequence numbers, acks, fragments and measurements of the path. The wire
   format is reliable 1.0. An endpoint never resends. It reports each packet as acked or lost, and
   the layer above decides what to do.

   Nothing here is encrypted, has a checksum or proves who has sent it: integrity and identity come
   only with the secure layer (client.h and server.h, or netcode_client.h and netcode_server.h). */
#ifndef CAUSEWAY_ENDPOINT_H
#define CAUSEWAY_ENDPOINT_H

#include "causeway/base.h"
#include "causeway/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* One end of a path. It is not thread-safe; any number may exist. now is always the time in seconds
   from one clock of the caller's. The clock may start anywhere and must not go back. */
struct cw_endpoint;

struct cw_endpoint_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these two; packets do not say. */
    uint32_t max_packet_size; /* longest payload in bytes, at most 256 fragments; default 4096.
                                 Fragments are received only when it is above fragment_size or
                                 fragment_above */
    uint32_t fragment_size;   /* payload bytes in a fragment, 1 to 65493; default 1024 */

    /* These concern only the sender: packets may arrive whole or in fragments in any case. */
    uint32_t max_send_size;  /* longest payload that send takes, in bytes, 1 to max_packet_size;
                                default CW_AUTO: max_packet_size */
    uint32_t fragment_above; /* longer payloads are sent in fragments, 1 to 65493; default 1024 */

    uint32_t sent_window;      /* packets remembered until acked or lost, a power of two from 32 to
                                  16384; default 256. So is CW_AUTO, except in a connection */
    uint32_t received_window;  /* the number of packets back to which a duplicate is recognised, a
                                  power of two from 32 to 16384; default 256 */
    uint32_t max_reassemblies; /* packets that can be incomplete at the same time, 1 to 64, each
                                  using max_packet_size bytes; default 4. One more replaces the
                                  oldest */

    double rtt_smoothing; /* weight of a new sample in rtt, above 0, at most 1; default 0.1 */
    double min_loss_timeout_seconds; /* the least time before a packet is reported lost, 0 to 60;
                                        default 0.1 */
};

struct cw_endpoint_config cw_endpoint_config_default(void);

/* CW_OK, or the error of the field that cannot work; see cw_error_field. */
enum cw_error cw_endpoint_config_check(const struct cw_endpoint_config *config);

/* Bytes of the longest datagram that an endpoint of this config sends. */
size_t cw_endpoint_config_max_datagram_size(const struct cw_endpoint_config *config);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_endpoint_memory(const struct cw_endpoint_config *config);

/* *endpoint is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_endpoint_create(const struct cw_endpoint_config *config,
                                 struct cw_endpoint **endpoint);

/* NULL is allowed. */
void cw_endpoint_destroy(struct cw_endpoint *endpoint);

/* Goes back to the state after create, including sequence numbers, events and statistics. */
void cw_endpoint_reset(struct cw_endpoint *endpoint);

/* Bytes of the longest datagram: the room that begin and transmit need. */
size_t cw_endpoint_max_datagram_size(const struct cw_endpoint *endpoint);

/* Begins a packet of at most size payload bytes (0 is allowed). Its first datagram will be in out,
   which the endpoint holds on to until commit. Write the payload to *payload, where it needs no
   more copying, then call commit. The packet carries the acks as they are now. A packet that has
   begun is forgotten when another begins. Errors: CW_ERROR_PACKET_TOO_LARGE;
   CW_ERROR_BUFFER_TOO_SMALL when capacity is below cw_endpoint_max_datagram_size();
   CW_ERROR_TRANSMIT_PENDING when the previous packet has datagrams that have not been transmitted
   yet; CW_ERROR_EVENTS_PENDING when events of earlier packets wait to be taken and leave no room to
   report the fate of this one. */
enum cw_error cw_endpoint_begin(struct cw_endpoint *endpoint, size_t size, uint8_t *out,
                                size_t capacity, uint8_t **payload);

/* Sends the packet that has begun, with size payload bytes, no more than begin was told. Returns
   the size of its first datagram, which is in begin's out, and stores its sequence number in
   *sequence unless sequence is NULL. If the packet is sent in fragments, transmit gives the others.
   Returns 0 when no packet has begun, or not one of that size; nothing is sent then. */
size_t cw_endpoint_commit(struct cw_endpoint *endpoint, size_t size, double now,
                          uint16_t *sequence);

/* Writes the next fragment of the latest packet to out and returns its size. Returns 0 when there
   is none, or when capacity is below cw_endpoint_max_datagram_size(); nothing is lost then. */
size_t cw_endpoint_transmit(struct cw_endpoint *endpoint, uint8_t *out, size_t capacity,
                            double now);

/* Takes a datagram that arrived. data must not change until the event of its packet has been used.
   Take the events with next before the following receive, and accept the packet. It returns CW_OK
   also when the datagram is a fragment of a packet that is not complete yet. On an error nothing is
   delivered: CW_ERROR_MALFORMED, CW_ERROR_STALE, CW_ERROR_DUPLICATE, or CW_ERROR_EVENTS_PENDING
   when the previous packet has not been taken yet (the datagram is then ignored). */
enum cw_error cw_endpoint_receive(struct cw_endpoint *endpoint, const uint8_t *data, size_t size,
                                  double now);

/* Lets time pass: reports overdue packets as lost, and refreshes the bandwidths. Call it once per
   tick. */
void cw_endpoint_update(struct cw_endpoint *endpoint, double now);

enum cw_endpoint_event_type {
    CW_ENDPOINT_EVENT_PACKET = 1, /* a packet from the other end arrived, to be accepted */
    CW_ENDPOINT_EVENT_ACKED,      /* a packet of ours arrived at the other end */
    CW_ENDPOINT_EVENT_LOST /* a packet of ours has most likely not arrived. Either three later ones
                              were acked, or it left sent_window, or 2 * rtt + 4 * rtt_deviation
                              passed. This time is 1 s before there is an RTT, at most 10 s, and at
                              least min_loss_timeout_seconds */
};

struct cw_endpoint_event {
    enum cw_endpoint_event_type type;
    uint16_t sequence;      /* the packet's number, which its sender gave it */
    const uint8_t *payload; /* PACKET: in the endpoint or in the caller's datagram; valid until the
                               next receive, reset or destroy. Otherwise NULL */
    size_t size;            /* PACKET: bytes of payload. Otherwise 0 */
};

/* Takes the next event; false when there is none. Every packet sent gets either ACKED or LOST. A
   LOST is followed by an ACKED when the packet, or its ack, was only late. */
bool cw_endpoint_next(struct cw_endpoint *endpoint, struct cw_endpoint_event *event);

/* Accepts the packet that arrived last: from now on our packets ack it, and it is not delivered
   again. A packet that the application cannot use, because it is malformed or there is no room for
   it, is not accepted and may arrive again. Works only before the following receive; after that, or
   for any other packet, it does nothing. */
void cw_endpoint_accept(struct cw_endpoint *endpoint, uint16_t sequence);

/* The sequence number of the next packet to be sent. */
uint16_t cw_endpoint_next_sequence(const struct cw_endpoint *endpoint);

struct cw_endpoint_stats {
    /* Counters since create or reset. A packet counts once, however many fragments it has. */
    uint64_t packets_sent;
    uint64_t packets_received; /* packets from the other end that were accepted */
    uint64_t packets_acked;    /* our packets that are known to have arrived */
    uint64_t packets_lost;     /* our packets reported lost and not acked since */
    uint64_t packets_missed; /* the other end's packets that had not arrived when 32 later ones were
                                sent */
    uint64_t packets_duplicate; /* datagrams that arrived again, dropped */
    uint64_t packets_stale;     /* datagrams that arrived too late for the window, dropped */
    uint64_t packets_malformed; /* datagrams that break the protocol, dropped */
    uint64_t packets_abandoned; /* the other end's packets given up with fragments missing */
    uint64_t fragments_sent;
    uint64_t fragments_received; /* without duplicates */
    uint64_t datagrams_sent;
    uint64_t datagrams_received; /* all datagrams that were given to receive */
    uint64_t bytes_sent;         /* bytes of datagrams, without UDP and IP headers */
    uint64_t bytes_received;     /* the same, including dropped datagrams */

    /* Round trip time: seconds from the commit of a packet to the receive that brought its first
       ack. It is 0 before the first sample.

       A sample is taken from a packet that was the newest one that a header acked, when no header
       before that one was lost. Where such samples are rare, every sixteenth other packet gives one
       too.

       The time that the other end waits before it sends its next packet is included. So the value
       is the exact path time only when each packet is answered at once. After a silence more than
       twice as long as usual, a sample counts only for the part that the silence cannot explain. */
    double rtt; /* exponentially smoothed by rtt_smoothing; when all samples of a whole round trip
                   are at least 1.5 times shorter, it drops to the longest of them */
    double rtt_min;       /* the smallest sample so far */
    double rtt_deviation; /* the mean distance of samples from rtt, smoothed by 1/4 */
    double jitter; /* the mean difference between one sample and the next, smoothed by 1/16 */

    /* Shares from 0 to 1 of the latest packets. Each packet weighs 1/128 less than the one after
       it. The shares since the beginning are packets_lost / (packets_lost + packets_acked) and
       packets_missed / (packets_missed + packets_received). */
    double loss_sent;     /* our packets reported lost and not acked since */
    double loss_received; /* the other end's packets that had not arrived when 32 later ones were
                             sent */

    /* Rates of datagrams without UDP and IP headers, over about the last second. */
    double sent_bytes_per_second;
    double received_bytes_per_second;
    double acked_bytes_per_second;
};

void cw_endpoint_get_stats(const struct cw_endpoint *endpoint, struct cw_endpoint_stats *stats);

CW_END_DECLARATIONS

#endif
