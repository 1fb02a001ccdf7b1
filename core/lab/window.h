/* A byte stream like TCP's, for comparison: cumulative acks with or without selective ones, a
   retransmission timeout from the measured round trip, fast retransmit after three duplicate acks,
   slow start, and a congestion window in segments. All bytes arrive in order, however long that
   takes. Small writes go out at once (as with TCP_NODELAY) while the window has room; after that
   they go out together. With Nagle's algorithm they also wait while anything is unacked.

   It has no handshake or close, urgent data, timestamps or tail loss probes, and does not undo its
   reaction to a loss that was none. */
#ifndef CAUSEWAY_LAB_WINDOW_H
#define CAUSEWAY_LAB_WINDOW_H

#include "causeway/base.h"
#include "causeway/protocols/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* A datagram is a header and up to max_segment_size bytes. This is the longest header. */
#define CW_WINDOW_OVERHEAD 37

/* One end of a stream in both directions. It is not thread-safe; any number may exist. now is
   always the time in seconds from one clock of the caller's. The clock may start anywhere and must
   not go back. */
struct cw_window;

/* The ways in which the congestion window grows and shrinks. */
enum cw_window_control {
    CW_WINDOW_RENO = 1, /* a loss halves it, then it grows by one segment per round trip */
    CW_WINDOW_CUBIC /* a loss leaves 0.7 of it, then it grows along a cubic function of time (RFC
                       9438) */
};

struct cw_window_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* There is no handshake: both ends must agree on these three. */
    uint32_t first_sequence;       /* the number of the first byte in either direction; default 0 */
    uint32_t receive_buffer_bytes; /* the largest receive window, 1 to 2^30; default 262144 */
    bool selective_acks; /* acks name up to three ranges that arrived early; default true */

    uint32_t max_segment_size;  /* payload bytes of a datagram, 1 to 65000; default 1160 */
    uint32_t send_buffer_bytes; /* bytes that may wait, those in flight included, 1 to 2^30; default
                                   262144 */
    uint32_t max_segments; /* segments in flight, and ranges with gaps between them that are kept, 1
                              to 65536; default 1024 */

    bool nagle; /* less than a full segment waits until all that was sent is acked; default false */

    enum cw_window_control control; /* default CW_WINDOW_CUBIC */
    uint32_t initial_window;        /* segments, 1 to max_segments; default 10 */

    double initial_rto_seconds;  /* the first RTO, before any sample, above 0, at most 3600; default
                                    1 */
    double min_variance_seconds; /* The RTO is the RTT plus four mean deviations, but at least plus
                                    this; above 0, at most 3600; default 0.2, as in Linux */
    double max_rto_seconds;      /* backoff ends here; from initial_rto_seconds to 3600; default
                                    120, as in Linux */
    double ack_delay_seconds;    /* the longest that the ack of a segment in order waits for data of
                                    ours or for a second full segment; 0 to 0.5; default 0.04, as in
                                    Linux once its first acks are out. 0: no delay */
};

struct cw_window_config cw_window_config_default(void);

/* The name of the first field of the config that is out of range; NULL when there is none, and when
   there is no config. */
const char *cw_window_config_error_field(const struct cw_window_config *config);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_window_memory(const struct cw_window_config *config);

/* *window is set only on CW_PROTOCOL_OK. Errors: CW_PROTOCOL_ERROR_CONFIG,
   CW_PROTOCOL_ERROR_NO_MEMORY. */
enum cw_protocol_error cw_window_create(const struct cw_window_config *config,
                                        struct cw_window **window);

/* NULL is allowed. */
void cw_window_destroy(struct cw_window *window);

/* Goes back to the state after create. Both ends must do so together. */
void cw_window_reset(struct cw_window *window);

/* Gives bytes to the stream (copied). *taken is the number of bytes for which there was room, at
   least 1. Returns CW_PROTOCOL_ERROR_QUEUE_FULL when there was room for none. */
enum cw_protocol_error cw_window_send(struct cw_window *window, const uint8_t *data, size_t size,
                                      double now, size_t *taken);

/* The number of bytes that send would take now. */
size_t cw_window_room(const struct cw_window *window);

/* Takes a datagram that arrived. Errors: CW_PROTOCOL_ERROR_MALFORMED (nothing changed); and, for a
   datagram whose acks were taken but whose bytes were not, CW_PROTOCOL_ERROR_DUPLICATE when all of
   them had arrived before, CW_PROTOCOL_ERROR_QUEUE_FULL when they are beyond the receive window. */
enum cw_protocol_error cw_window_receive(struct cw_window *window, const uint8_t *data, size_t size,
                                         double now);

/* Lets time pass. Call it once per tick. */
void cw_window_update(struct cw_window *window, double now);

/* Writes the next datagram to out and returns its size. Returns 0 when there is none, or when
   capacity is below CW_WINDOW_OVERHEAD + max_segment_size. Call it until it returns 0, after each
   receive and update. */
size_t cw_window_transmit(struct cw_window *window, uint8_t *out, size_t capacity, double now);

/* Moves up to capacity bytes that arrived in order to out and returns their number. */
size_t cw_window_read(struct cw_window *window, uint8_t *out, size_t capacity);

struct cw_window_stats {
    /* These are counted since create or reset. */
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t datagrams_malformed;
    uint64_t bytes_sent;     /* bytes of datagrams, without UDP and IP headers */
    uint64_t bytes_received; /* bytes of datagrams likewise */
    uint64_t segments_sent;  /* segments sent, those sent again included */
    uint64_t segments_resent;
    uint64_t recoveries; /* losses found by acks, counted once per window */
    uint64_t timeouts;
    uint64_t window_probes;

    /* These are the values of now. */
    double rtt;       /* smoothed, seconds; 0 before the first sample */
    double rto;       /* seconds, with backoff */
    double timer_due; /* when update will send again or probe, on the caller's clock; infinity when
                         there is no reason to */
    double cwnd;      /* congestion window, segments */
    double ssthresh;  /* slow start ends at this many segments; infinity at first */
    uint32_t segments_in_flight; /* segments sent and not acked, lost ones included */
    uint32_t bytes_queued;       /* bytes given to send and not acked */
    uint32_t bytes_unsent;       /* bytes of those that were never sent */
    uint32_t send_window_bytes;  /* bytes for which the other end has room, beyond those sent */
    uint32_t bytes_missing_at;   /* the number of the first byte that has not arrived */
    uint32_t ranges_early;       /* ranges that have arrived and wait for that byte */
    uint32_t bytes_readable;
    bool window_full; /* bytes wait for one of the two windows */
    bool timed_out;   /* the segments in flight at a timeout are being sent again */
};

void cw_window_get_stats(const struct cw_window *window, struct cw_window_stats *stats);

CW_END_DECLARATIONS

#endif
