/* A byte stream like TCP's, for comparison: cumulative acks with or without selective ones, a
   retransmission timeout from the measured round trip, fast retransmit after three duplicate acks,
   slow start, and a congestion window in segments. What is sent arrives whole and in order, however
   long that takes. Small writes are sent at once (as with TCP_NODELAY) while the window has room;
   after that they are sent together.

   Not in it: a handshake and a close, urgent data, timestamps, tail loss probes, and undoing a
   reaction to a loss that was none. */
#ifndef CAUSEWAY_LAB_WINDOW_H
#define CAUSEWAY_LAB_WINDOW_H

#include "causeway/lab/window_config.h"

#include <stddef.h>

CW_BEGIN_DECLARATIONS

/* A datagram is a header and up to max_segment_size bytes. This is the longest header. */
#define CW_WINDOW_OVERHEAD 37

/* One end of a stream in both directions. Not thread-safe; any number may exist. now is always the
   time in seconds from one clock of the caller's. That clock may start anywhere and must not go
   back. */
struct cw_window;

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_window_memory(const struct cw_window_config *config);

/* *window is set only on CW_OK. Errors: those of cw_window_config_check, CW_ERROR_NO_MEMORY. */
enum cw_error cw_window_create(const struct cw_window_config *config, struct cw_window **window);

/* NULL is allowed. */
void cw_window_destroy(struct cw_window *window);

/* Goes back to the state after create. Both ends must do so together. */
void cw_window_reset(struct cw_window *window);

/* Gives bytes to the stream (copied). *taken is how many of them there was room for, at least 1.
   CW_ERROR_QUEUE_FULL: for none. */
enum cw_error cw_window_send(struct cw_window *window, const uint8_t *data, size_t size, double now,
                             size_t *taken);

/* How many bytes send would take now. */
size_t cw_window_room(const struct cw_window *window);

/* Takes a datagram that arrived. Errors: CW_ERROR_MALFORMED (nothing changed); of a datagram whose
   acks were taken but whose bytes were not: CW_ERROR_DUPLICATE when all of them had arrived before,
   CW_ERROR_RECEIVER_FULL when they are beyond the receive window. */
enum cw_error cw_window_receive(struct cw_window *window, const uint8_t *data, size_t size,
                                double now);

/* Lets time pass. Call it once per tick. */
void cw_window_update(struct cw_window *window, double now);

/* Writes the next datagram to out and returns its size. Returns 0 when there is none, or when
   capacity is below CW_WINDOW_OVERHEAD + max_segment_size. Call it until it returns 0, after each
   receive and update. */
size_t cw_window_transmit(struct cw_window *window, uint8_t *out, size_t capacity, double now);

/* Moves up to capacity bytes that arrived in order to out and returns how many. */
size_t cw_window_read(struct cw_window *window, uint8_t *out, size_t capacity);

struct cw_window_stats {
    /* Counted since create or reset. */
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t datagrams_malformed;
    uint64_t bytes_sent;     /* of datagrams, without UDP and IP headers */
    uint64_t bytes_received; /* the same */
    uint64_t segments_sent;  /* those sent again included */
    uint64_t segments_resent;
    uint64_t recoveries; /* losses told by acks, each of one window */
    uint64_t timeouts;
    uint64_t window_probes;

    /* As they are now. */
    double rtt;       /* smoothed, seconds; 0 before the first sample */
    double rto;       /* seconds, with backoff */
    double timer_due; /* when update will send again or probe, on the caller's clock; infinity when
                         there is no reason to */
    double cwnd;      /* congestion window, segments */
    double ssthresh;  /* slow start ends here, segments; infinity at first */
    uint32_t segments_in_flight; /* sent and not acked, lost ones included */
    uint32_t bytes_queued;       /* given to send and not acked */
    uint32_t bytes_unsent;       /* those of them that were never sent */
    uint32_t send_window_bytes;  /* that the other end has room for, beyond what was sent */
    uint32_t bytes_missing_at;   /* number of the first byte that has not arrived */
    uint32_t ranges_early;       /* that have arrived and wait for it */
    uint32_t bytes_readable;
    bool window_full; /* bytes wait for one of the two windows */
    bool timed_out;   /* what was in flight at a timeout is being sent again */
};

void cw_window_stats(const struct cw_window *window, struct cw_window_stats *stats);

CW_END_DECLARATIONS

#endif
