/* What a byte stream of window.h is made with. */
#ifndef CAUSEWAY_LAB_WINDOW_CONFIG_H
#define CAUSEWAY_LAB_WINDOW_CONFIG_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* How the congestion window grows and shrinks. */
enum cw_window_control {
    CW_WINDOW_RENO = 1, /* halved by a loss, then one segment more per round trip */
    CW_WINDOW_CUBIC     /* times 0.7 by a loss, then along a cubic function of time (RFC 9438) */
};

struct cw_window_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* There is no handshake: both ends must agree on these three. */
    uint32_t first_sequence;       /* number of the first byte in either direction; default 0 */
    uint32_t receive_buffer_bytes; /* the largest receive window, 1 to 2^30; default 262144 */
    bool selective_acks; /* acks name up to three ranges that arrived early; default true */

    uint32_t max_segment_size;  /* payload bytes of a datagram, 1 to 65000; default 1160 */
    uint32_t send_buffer_bytes; /* bytes that may wait, those in flight included, 1 to 2^30; default
                                   262144 */
    uint32_t max_segments;      /* in flight, and ranges with gaps between them that are kept, 1 to
                                   65536; default 1024 */

    enum cw_window_control control; /* default CW_WINDOW_CUBIC */
    uint32_t initial_window;        /* segments, 1 to max_segments; default 10 */

    double initial_rto_seconds;  /* before the first sample, above 0, at most 3600; default 1 */
    double min_variance_seconds; /* The RTO is the RTT plus four mean deviations, but at least plus
                                    this; above 0, at most 3600; default 0.2, as in Linux */
    double max_rto_seconds;      /* backoff ends here; from initial_rto_seconds to 3600; default
                                    120, as in Linux */
    double ack_delay_seconds;    /* how long the ack of a segment in order may wait for data of ours
                                    or for a second full segment; 0 to 0.5; default 0.04, as in
                                    Linux once its first acks are out. 0: no delay */
};

struct cw_window_config cw_window_config_default(void);

/* CW_OK, CW_ERROR_INVALID_ARGUMENT, or what cannot work: CW_ERROR_CONFIG_PACKET_SIZE
   (max_segment_size), CW_ERROR_CONFIG_WINDOW (buffers, segments, control), CW_ERROR_CONFIG_TIME. */
enum cw_error cw_window_config_check(const struct cw_window_config *config);

CW_END_DECLARATIONS

#endif
