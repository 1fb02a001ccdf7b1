/* Request-based resending: the sender keeps packages, and the receiver asks for missing ones. This
   is one end of a stream of packages each way.

   The sender numbers its packages, sends each one once, and keeps it for a time. There are no acks.
   A receiver that sees a gap in the numbers asks for the missing packages in every round, until
   they come. If a package is no longer kept, the sender says so, the application is told, and the
   stream goes on behind it. An end with nothing to say of its own sends a heartbeat. The other end
   answers it by asking for the package after the newest that it knows of. So a lost package is
   found even when none follows it.

       cw_rudp_send(rudp, data, size);                        whenever there is something to send
       cw_rudp_receive(rudp, data, size);                     each datagram that arrived
       while (cw_rudp_next(rudp, &event)) ...                 what the application gets
       cw_rudp_update(rudp, 1);                               each tick
       while ((size = cw_rudp_transmit(rudp, out, sizeof out)) > 0) ...

   Numbers have 16 bits on the wire. An end that has missed 32768 packages in a row can no longer
   tell new from old; reset both ends then. Nothing is encrypted or authenticated: a request of
   three bytes gets a whole package, and one package from far ahead makes an end ask for a window of
   them in every round. So datagrams must come from where they say that they come from. */
#ifndef CAUSEWAY_PROTOCOLS_RUDP_H
#define CAUSEWAY_PROTOCOLS_RUDP_H

#include "causeway/base.h"
#include "causeway/protocols/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* Bytes of a datagram by default, of the longest package that fits into such a datagram, and of the
   longest that the wire can express. */
#define CW_RUDP_DATAGRAM_SIZE 512
#define CW_RUDP_FITTING_SIZE  508
#define CW_RUDP_MAX_SIZE      32763

#define CW_RUDP_MIN_DATAGRAM_SIZE 32
#define CW_RUDP_MAX_DATAGRAM_SIZE 65507 /* UDP over IPv4 carries no more */

struct cw_rudp;

struct cw_rudp_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Ticks from one round of sending to the next. Packages that are sent in between go out
       together. 0: a round at each update, even one of 0 ticks. Default 1. */
    uint32_t send_delay_ticks;
    /* Ticks that a package is kept after it went out; at least 1; default 600. */
    uint32_t expiry_ticks;

    /* Packages that are queued or kept at once, and requests that are remembered; a power of two
       from 32 to 16384; default 1024. */
    uint32_t send_window;
    /* Packages that can wait for an earlier one, or for the application; a power of two from 32 to
       16384; default 1024. */
    uint32_t receive_window;
    /* Bytes of the longest package, either way; at most CW_RUDP_MAX_SIZE; 0: all are empty; default
       CW_RUDP_FITTING_SIZE. Each place in both windows takes that much memory. */
    uint32_t max_package_size;
    /* Bytes up to which packages share a datagram, CW_RUDP_MIN_DATAGRAM_SIZE to
       CW_RUDP_MAX_DATAGRAM_SIZE; default CW_RUDP_DATAGRAM_SIZE. A package is never split; a longer
       one gets a datagram of its own. Both ends may choose as they like. */
    uint32_t datagram_size;
};

struct cw_rudp_config cw_rudp_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_rudp_memory(const struct cw_rudp_config *config);

/* The name of the first field of the config that is out of range; NULL when there is none, and when
   there is no config. */
const char *cw_rudp_config_error_field(const struct cw_rudp_config *config);

/* *rudp is set only on CW_PROTOCOL_OK. Errors: CW_PROTOCOL_ERROR_CONFIG,
   CW_PROTOCOL_ERROR_NO_MEMORY. */
enum cw_protocol_error cw_rudp_create(const struct cw_rudp_config *config, struct cw_rudp **rudp);

/* NULL is allowed. */
void cw_rudp_destroy(struct cw_rudp *rudp);

/* Goes back to the state after create. The other end must do the same. */
void cw_rudp_reset(struct cw_rudp *rudp);

/* Queues a package of size bytes (copied; 0 is allowed) for the next round. Errors, with nothing
   changed: CW_PROTOCOL_ERROR_TOO_LARGE above max_package_size; CW_PROTOCOL_ERROR_QUEUE_FULL when
   send_window packages are queued or kept: without acks, only expiry makes room. */
enum cw_protocol_error cw_rudp_send(struct cw_rudp *rudp, const uint8_t *data, size_t size);

/* Lets ticks pass; 0 adds nothing to the time. Begins a round when one is due, for transmit to
   write. */
void cw_rudp_update(struct cw_rudp *rudp, uint32_t ticks);

/* Writes the next datagram of the round to out and returns its size. Returns 0 when there is none,
   or when capacity is below datagram_size or max_package_size + 4; nothing is lost then. Call it
   until it returns 0. */
size_t cw_rudp_transmit(struct cw_rudp *rudp, uint8_t *out, size_t capacity);

/* Takes a datagram that arrived. An empty one holds nothing. Returns CW_PROTOCOL_ERROR_MALFORMED
   when it breaks the protocol, or holds a package above max_package_size. No part of it is used
   then, and the next round tells the other end. */
enum cw_protocol_error cw_rudp_receive(struct cw_rudp *rudp, const uint8_t *data, size_t size);

enum cw_rudp_event_type {
    CW_RUDP_EVENT_PACKAGE = 1, /* the next package */
    CW_RUDP_EVENT_MISSING, /* an error: the next package expired before it was asked for, and will
                              never come */
    CW_RUDP_EVENT_CORRUPT  /* an error: the other end got a datagram from here that made no sense
                              to it. The stream goes on */
};

struct cw_rudp_event {
    enum cw_rudp_event_type type;
    uint64_t id; /* PACKAGE, MISSING: the number of packages before it, with no gap. Otherwise 0 */
    const uint8_t
        *data;   /* PACKAGE: valid until the next receive, reset or destroy. Otherwise NULL */
    size_t size; /* PACKAGE: bytes of data. Otherwise 0 */
};

/* Takes the next event; false when there is none. Packages and missing ones come in order, each
   once. Events that are not taken fill receive_window. */
bool cw_rudp_next(struct cw_rudp *rudp, struct cw_rudp_event *event);

/* Returns true when later packages wait for one that has not come, and stores its id in *id. */
bool cw_rudp_waiting(const struct cw_rudp *rudp, uint64_t *id);

struct cw_rudp_stats {
    /* These count our packages. */
    uint64_t packages_sent;    /* packages sent, each counted once */
    uint64_t packages_resent;  /* answers to requests */
    uint64_t packages_expired; /* packages that are no longer kept */
    uint64_t requests_received;
    uint64_t missing_sent; /* requests that came after expiry */
    uint32_t packages_kept;
    uint32_t packages_queued;
    /* These count the other end's packages. */
    uint64_t packages_received; /* packages received, each counted once */
    uint64_t packages_missing;  /* packages reported as missing */
    uint64_t packages_dropped;  /* packages that came again, or too far ahead for receive_window */
    uint64_t requests_sent;

    uint64_t heartbeats_sent;
    uint64_t datagrams_malformed;
};

void cw_rudp_get_stats(const struct cw_rudp *rudp, struct cw_rudp_stats *stats);

CW_END_DECLARATIONS

#endif
