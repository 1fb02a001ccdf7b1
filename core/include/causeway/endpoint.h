/* An endpoint sends packets over datagrams: it adds sequence numbers, acks and fragments, and
   measures the path. The wire format is reliable 1.0. An endpoint never resends. It reports each
   packet as acked or lost, and the layer above decides what to do.

   Nothing here is encrypted, has a checksum or proves who has sent it: integrity and identity come
   only with the secure layer (client.h and server.h, or netcode_client.h and netcode_server.h). */
#ifndef CAUSEWAY_ENDPOINT_H
#define CAUSEWAY_ENDPOINT_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* An endpoint is one end of a path. It is not thread-safe, but any number may exist. now is always
   the time in seconds from one clock of the caller's. The clock may start anywhere and must not go
   back. */
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

/* Returns CW_OK, or the error of the field that cannot work; see cw_error_field. */
enum cw_error cw_endpoint_config_check(const struct cw_endpoint_config *config);

/* Returns the bytes of the longest datagram that an endpoint of this config sends. */
size_t cw_endpoint_config_max_datagram_size(const struct cw_endpoint_config *config);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_endpoint_memory(const struct cw_endpoint_config *config);

/* *endpoint is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_endpoint_create(const struct cw_endpoint_config *config,
                                 struct cw_endpoint **endpoint);

/* NULL is allowed. */
void cw_endpoint_destroy(struct cw_endpoint *endpoint);

/* Goes back to the state after create, including sequence numbers, events and statistics. */
void cw_endpoint_reset(struct cw_endpoint *endpoint);

/* Returns the bytes of the longest datagram, which begin and transmit need in their buffers. */
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

/* Takes the next event. Returns false when there is none. Every packet sent gets either ACKED or
   LOST. A LOST is followed by an ACKED when the packet, or its ack, was only late. */
bool cw_endpoint_next(struct cw_endpoint *endpoint, struct cw_endpoint_event *event);

/* Accepts the packet that arrived last: from now on our packets ack it, and it is not delivered
   again. A packet that the application cannot use, because it is malformed or there is no room for
   it, is not accepted and may arrive again. Works only before the following receive; after that, or
   for any other packet, it does nothing. */
void cw_endpoint_accept(struct cw_endpoint *endpoint, uint16_t sequence);

/* Returns the sequence number of the next packet to be sent. */
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

/* Congestion control decides how much a connection may send on a path. An endpoint alone sends
   whatever it is given. There are three modes.

   CW_CONGESTION_DELAY keeps the queue of the slowest link short. It allows as many bytes of bulk
   data in flight as a window holds. The window grows while packets come back about as fast as on an
   empty path, and shrinks when they take longer. It is never much longer than what arrives in a
   round trip. Losses make it smaller, unless a trial shows that sending less does not end them,
   because many paths lose packets without being full. Blocks and large messages are bulk data.
   Small messages are not: they are always allowed.

   CW_CONGESTION_BINARY sends at one of two rates, good and bad, chosen by the round trip time
   (RTT). It begins in the bad state. It goes to the good state when the RTT has stayed at or below
   the threshold for the penalty time. It goes back to the bad state as soon as the RTT is above the
   threshold. The penalty time doubles when the good state ends early, and halves again while it
   lasts.

   CW_CONGESTION_NONE allows everything. */
enum cw_congestion_mode { CW_CONGESTION_NONE, CW_CONGESTION_DELAY, CW_CONGESTION_BINARY };

struct cw_congestion_config {
    enum cw_congestion_mode mode; /* default CW_CONGESTION_DELAY */

    /* DELAY */
    double target_seconds; /* the longest that the queue may be, above 0; default 0.03. Where the
                              ends tick so rarely that they cannot tell a queue of that length, it
                              may be longer */

    /* BINARY */
    double rtt_threshold_seconds;   /* a longer RTT is bad, above 0; default 0.25 */
    double good_packets_per_second; /* allowed in the good state, at most 1,000,000; default 30 */
    double bad_packets_per_second;  /* allowed in the bad state, above 0, at most
                                       good_packets_per_second; default 10 */
    double penalty_seconds;         /* the first penalty time, from min_penalty_seconds to
                                       max_penalty_seconds; default 4 */
    double min_penalty_seconds;     /* the shortest penalty time, 0 or more; default 1 */
    double max_penalty_seconds;     /* the longest penalty time, not below penalty_seconds; default
                                       60 */
    double good_period_seconds;     /* if the good state ends sooner than this, the penalty time
                                       doubles; each time it lasts this long, the penalty time halves;
                                       above 0; default 10 */
    double burst_seconds; /* unused allowance of up to this time, plus one packet, may be used
                             later, 0 to 60; a caller that sends less often than this gets less than
                             the rate; default 0.1 */
};

struct cw_congestion_config cw_congestion_config_default(void);

/* One of these limits holds packets back. */
enum cw_congestion_limit {
    CW_CONGESTION_LIMIT_NONE = 0, /* everything that was due has been sent */
    CW_CONGESTION_LIMIT_WINDOW,   /* DELAY: the window is full */
    CW_CONGESTION_LIMIT_PACING,   /* DELAY: the next tick may send more; bursts fill queues */
    CW_CONGESTION_LIMIT_RATE      /* BINARY: the rate of the state */
};

enum cw_congestion_state { CW_CONGESTION_BAD, CW_CONGESTION_GOOD };

enum cw_congestion_reason {
    CW_CONGESTION_NO_RTT = 0, /* bad: there is no RTT yet */
    CW_CONGESTION_HIGH_RTT,   /* bad: the RTT is above the threshold */
    CW_CONGESTION_PENALTY,    /* bad: the RTT is good, but not yet for the penalty time */
    CW_CONGESTION_RECOVERED   /* good: the RTT has been good for the penalty time and since */
};

CW_END_DECLARATIONS

#endif
