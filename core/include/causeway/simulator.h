/* A simulator is one direction of a bad network, in virtual time. A datagram given to receive comes
   out of transmit later, twice or never. The same seed and the same calls give the same result on
   every machine, natively and in WebAssembly. */
#ifndef CAUSEWAY_SIMULATOR_H
#define CAUSEWAY_SIMULATOR_H

#include "causeway/base.h"

#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_simulator;

/* These are the things that a path does to datagrams. All zero is a perfect path. Chances are from
   0 to 1; no value may be negative. */
struct cw_simulator_path {
    double latency_seconds; /* every datagram takes at least this long */
    double jitter_seconds;  /* it takes up to this much more, drawn for each datagram, so that some
                               overtake others */

    /* The path is in one of two states, good or bad (Gilbert-Elliott). When burst_start is 0 the
       state is always good, and every datagram has the same chance of being lost. */
    double loss;        /* chance of being lost in the good state */
    double burst_start; /* chance per datagram that the good state ends before it */
    double burst_end;   /* chance per datagram that the bad state ends before it */
    double burst_loss;  /* chance of being lost in the bad state */

    double duplicate;             /* chance of arriving twice; the copy gets a jitter of its own */
    double reorder;               /* chance of being delayed */
    double reorder_delay_seconds; /* the extra delay of such a datagram */

    double bytes_per_second; /* bandwidth of the path; 0: no limit */
    double queue_bytes; /* the bytes that may wait for bandwidth; a datagram that would exceed them
                           is dropped */
};

struct cw_simulator_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint64_t seed;                 /* any number; default 0 */
    uint32_t max_datagram_size;    /* in bytes, 1 to 65535; default 1400 */
    uint32_t max_datagrams; /* datagrams in transit at once, 1 to 65536; further ones are dropped;
                               default 256 */
    struct cw_simulator_path path; /* default: perfect, with a queue of 65536 bytes */
};

struct cw_simulator_config cw_simulator_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_simulator_memory(const struct cw_simulator_config *config);

/* *simulator is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_simulator_create(const struct cw_simulator_config *config,
                                  struct cw_simulator **simulator);

/* NULL is allowed. */
void cw_simulator_destroy(struct cw_simulator *simulator);

/* Changes the path for datagrams received from now on. Datagrams in transit are not affected.
   Error, with nothing changed: that of a field. */
enum cw_error cw_simulator_change(struct cw_simulator *simulator,
                                  const struct cw_simulator_path *path);

/* Takes a datagram of size bytes (copied) at the near end. Returns CW_OK whether or not it will
   arrive, like a real network. Errors: CW_ERROR_PACKET_TOO_LARGE above max_datagram_size,
   CW_ERROR_MALFORMED for an empty one. */
enum cw_error cw_simulator_receive(struct cw_simulator *simulator, const uint8_t *data, size_t size,
                                   double now);

/* Writes the next datagram that is due at the far end to out and returns its size. Returns 0 when
   none is due, or when the next one is longer than capacity; it then stays the next one. Call it
   until it returns 0. */
size_t cw_simulator_transmit(struct cw_simulator *simulator, uint8_t *out, size_t capacity,
                             double now);

/* Returns the time when the next datagram is due, in seconds on the caller's clock; infinity when
   none is in transit. */
double cw_simulator_due(const struct cw_simulator *simulator);

/* Returns the time when the datagram that receive took last is due, or the earlier one of its two
   copies; infinity when it will never arrive, and before the first. */
double cw_simulator_newest_due(const struct cw_simulator *simulator);

/* These are the real events on the path, counted since create. */
struct cw_simulator_stats {
    uint64_t datagrams_received;    /* all datagrams that receive accepted */
    uint64_t datagrams_lost;        /* lost by loss and burst_loss */
    uint64_t datagrams_overflowed;  /* dropped because queue_bytes or max_datagrams was reached */
    uint64_t datagrams_duplicated;  /* copies made */
    uint64_t datagrams_reordered;   /* transmitted after one that was received later */
    uint64_t datagrams_transmitted; /* transmitted, copies included */
    uint64_t datagrams_under_way;   /* datagrams not due yet, or due and not yet taken */
    uint64_t bytes_received;
    uint64_t bytes_transmitted;
};

void cw_simulator_get_stats(const struct cw_simulator *simulator, struct cw_simulator_stats *stats);

CW_END_DECLARATIONS

#endif
