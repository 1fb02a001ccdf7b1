/* Packets over datagrams: sequence numbers, acks, fragments and what the path is like.
   The wire format is reliable 1.0. Nothing is sent again: a packet is reported acked or lost, and
   what to do about it is the business of the floor above. */
#ifndef CAUSEWAY_ENDPOINT_H
#define CAUSEWAY_ENDPOINT_H

#include "causeway/allocator.h"
#include "causeway/config.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* One end of a path. Not thread-safe; any number may exist. now is always the time in seconds, by
   one clock of the caller's that may begin anywhere and does not go back. */
struct cw_endpoint;

struct cw_endpoint_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these two; nothing on the wire tells. */
    uint32_t max_packet_size; /* longest payload in bytes, at most 256 fragments; default 4096. No
                                 fragments are received unless it is above fragment_size or
                                 fragment_above */
    uint32_t fragment_size;   /* payload bytes in a fragment, 1 to 65493; default 1024 */

    /* The sender's own business: what arrives may be whole or in fragments whatever these are. */
    uint32_t max_send_size;  /* longest payload that send takes, in bytes, 1 to max_packet_size;
                                default CW_AUTO: as much */
    uint32_t fragment_above; /* longer payloads are sent in fragments, 1 to 65493; default 1024 */

    uint32_t sent_window;      /* packets remembered until acked or lost, a power of two from 32 to
                                  16384; default 256 */
    uint32_t received_window;  /* packets in which duplicates are recognised, likewise; default
                                  256 */
    uint32_t max_reassemblies; /* packets that can be incomplete at the same time, 1 to 64, each
                                  with max_packet_size bytes; default 4. One more takes the place of
                                  the oldest */

    double rtt_smoothing; /* weight of a new sample in rtt, above 0, at most 1; default 0.1 */
    double min_loss_timeout_seconds; /* seconds that a packet has at least before it is reported
                                lost, 0 to 60; default 0.1 */
};

struct cw_endpoint_config cw_endpoint_config_default(void);

/* CW_OK, or the CW_ERROR_CONFIG_* that says which part of the config cannot work. */
enum cw_error cw_endpoint_config_check(const struct cw_endpoint_config *config);

/* Bytes of the longest datagram that an endpoint of this config sends. */
size_t cw_endpoint_config_max_datagram_size(const struct cw_endpoint_config *config);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_endpoint_memory(const struct cw_endpoint_config *config);

/* *endpoint is set only on CW_OK. Errors: CW_ERROR_CONFIG_* says which part of the config cannot
   work, CW_ERROR_NO_MEMORY. */
enum cw_error cw_endpoint_create(const struct cw_endpoint_config *config,
                                 struct cw_endpoint **endpoint);

/* NULL is allowed. */
void cw_endpoint_destroy(struct cw_endpoint *endpoint);

/* Back to the state after create: sequence numbers, events, statistics and all. */
void cw_endpoint_reset(struct cw_endpoint *endpoint);

/* Bytes that transmit may need for one datagram. */
size_t cw_endpoint_max_datagram_size(const struct cw_endpoint *endpoint);

/* Makes a packet of size payload bytes (copied; 0 is allowed) and gives it the next sequence
   number, which is stored in *sequence unless that is NULL. Call transmit until it returns 0
   afterwards. Errors, with nothing changed: CW_ERROR_PACKET_TOO_LARGE; CW_ERROR_TRANSMIT_PENDING
   when datagrams of the packet before are not transmitted yet; CW_ERROR_EVENTS_PENDING when the
   application has not taken the events of earlier packets, so that the fate of this one could not
   be told. */
enum cw_error cw_endpoint_send(struct cw_endpoint *endpoint, const uint8_t *payload, size_t size,
                               double now, uint16_t *sequence);

/* Writes the next datagram of the packet sent last to out and returns its size; 0 when there is
   none or when capacity is below cw_endpoint_max_datagram_size() (nothing is lost then). The acks
   in it are those of this moment. */
size_t cw_endpoint_transmit(struct cw_endpoint *endpoint, uint8_t *out, size_t capacity,
                            double now);

/* Takes a datagram that arrived. data must stay as it is until the event of the packet in it has
   been used. Take the events with next before the following receive. CW_OK also when a fragment
   arrived whose packet is not complete yet. Else nothing is delivered: CW_ERROR_MALFORMED,
   CW_ERROR_STALE, CW_ERROR_DUPLICATE, or CW_ERROR_EVENTS_PENDING when the packet received before
   was not taken yet (then the datagram was not looked at). */
enum cw_error cw_endpoint_receive(struct cw_endpoint *endpoint, const uint8_t *data, size_t size,
                                  double now);

/* Lets time pass: reports packets lost whose time is up, and refreshes the bandwidths. Call it once
   per tick. */
void cw_endpoint_update(struct cw_endpoint *endpoint, double now);

enum cw_endpoint_event_type {
    CW_ENDPOINT_EVENT_PACKET = 1, /* a packet of the other end arrived */
    CW_ENDPOINT_EVENT_ACKED,      /* a packet of ours arrived at the other end */
    CW_ENDPOINT_EVENT_LOST /* a packet of ours has most likely not arrived: three later ones were
                        acked, or 2 * rtt + 4 * rtt_deviation passed (1 s before there is an RTT,
                        at most 10 s, but min_loss_timeout_seconds at least), or it left
                        sent_window */
};

struct cw_endpoint_event {
    enum cw_endpoint_event_type type;
    uint16_t sequence;      /* of the packet, as its sender numbered it */
    const uint8_t *payload; /* PACKET: belongs to the endpoint or to the caller's datagram; valid
                               until the next receive, reset or destroy. Else NULL */
    size_t size;            /* PACKET: bytes of payload. Else 0 */
};

/* Takes the next event; false when there is none. Every packet sent gets exactly one ACKED, or one
   LOST, or a LOST and later an ACKED when it, or the news of it, was only late. */
bool cw_endpoint_next(struct cw_endpoint *endpoint, struct cw_endpoint_event *event);

/* Takes back the receipt of the packet that next gave last, because the application could not use
   it: it will not be acked, and when it arrives again it is delivered again. Only before the
   following receive or transmit; nothing otherwise. */
void cw_endpoint_refuse(struct cw_endpoint *endpoint, uint16_t sequence);

/* Sequence number that the next packet sent will have. */
uint16_t cw_endpoint_next_sequence(const struct cw_endpoint *endpoint);

struct cw_endpoint_stats {
    /* Counted since create or reset. A packet counts once, however many fragments it has. */
    uint64_t packets_sent;
    uint64_t packets_received;  /* delivered, without those refused */
    uint64_t packets_acked;     /* ours, known to have arrived */
    uint64_t packets_lost;      /* ours, reported lost and not acked since */
    uint64_t packets_missed;    /* theirs: numbers passed by without arriving within 32 packets */
    uint64_t packets_duplicate; /* datagrams that arrived again, dropped */
    uint64_t packets_stale;     /* datagrams that arrived too late for the window, dropped */
    uint64_t packets_malformed; /* datagrams that are not of this protocol, dropped */
    uint64_t packets_abandoned; /* theirs, given up with fragments missing */
    uint64_t fragments_sent;
    uint64_t fragments_received; /* without duplicates */
    uint64_t datagrams_sent;
    uint64_t datagrams_received; /* all that receive was given */
    uint64_t bytes_sent;         /* of datagrams, without UDP and IP headers */
    uint64_t bytes_received;     /* likewise, dropped ones included */

    /* Seconds from the first transmit to the receive that brought the first ack, taken only from
       packets that were the newest of those that a header acked, in headers before which none was
       lost; where those are rare, also from every sixteenth other. The time for which the other end
       waited before it sent its next packet is part of it: over a path of its own it is exact only
       when each packet is answered at once. But of a sample after a silence that was more than
       twice as long as usual, only what that cannot explain counts. 0 before the first sample. */
    double rtt; /* exponentially smoothed by rtt_smoothing; after a whole round trip with samples
                   that were all at least 1.5 times shorter, the longest of them */
    double rtt_min;       /* smallest sample so far */
    double rtt_deviation; /* mean distance of the samples from rtt, smoothed by 1/4 */
    double jitter;        /* mean difference between one sample and the next, smoothed by 1/16 */

    /* Shares from 0 to 1 of the latest packets, each weighing 1/128 less than the one after it. The
       share since the beginning is packets_lost / (packets_lost + packets_acked), and
       packets_missed / (packets_missed + packets_received). */
    double loss_sent;     /* ours that were reported lost and not acked since */
    double loss_received; /* theirs that had not arrived when 32 later ones were sent */

    /* Of datagrams without UDP and IP headers, over about the last second. */
    double sent_bytes_per_second;
    double received_bytes_per_second;
    double acked_bytes_per_second;
};

void cw_endpoint_stats(const struct cw_endpoint *endpoint, struct cw_endpoint_stats *stats);

CW_END_DECLARATIONS

#endif
