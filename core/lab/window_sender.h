/* The sending half of a byte stream: what is in flight, what is lost, and what may be sent.
   Internal to the lab. */
#ifndef CAUSEWAY_LAB_WINDOW_SENDER_H
#define CAUSEWAY_LAB_WINDOW_SENDER_H

#include "base/memory.h"
#include "causeway/lab/window_config.h"
#include "causeway/lab/window_congestion.h"
#include "causeway/lab/window_rto.h"
#include "causeway/lab/window_wire.h"

#define CW_WINDOW_DUPLICATE_ACKS 3 /* so many tell of a loss */

enum cw_window_fate {
    CW_WINDOW_IN_FLIGHT,
    CW_WINDOW_SACKED, /* has arrived; bytes before it are missing */
    CW_WINDOW_LOST    /* to be sent again */
};

/* Bytes that were sent together and are not acked. */
struct cw_window_segment {
    uint32_t sequence;
    uint32_t size;
    uint64_t order; /* how many segments were sent before it, those sent again included */
    double sent;    /* when, the last time */
    enum cw_window_fate fate;
    bool resent;
};

enum cw_window_state {
    CW_WINDOW_OPEN,
    CW_WINDOW_RECOVERY, /* acks told of a loss */
    CW_WINDOW_TIMED_OUT /* all that was in flight is sent again */
};

struct cw_window_sender {
    const struct cw_window_config *config;
    uint8_t *buffer; /* a ring */
    uint32_t head;   /* the place in it of the byte at acked */
    uint32_t acked;  /* the first byte that is not */
    uint32_t next;   /* the next byte to be sent for the first time */
    uint32_t end;    /* after the last byte that the application gave */
    uint32_t limit;  /* the end of the other end's window */

    struct cw_window_segment *segments; /* a ring, in the order of their bytes */
    uint32_t first, count;
    uint32_t sacked, lost; /* of them */
    uint32_t duplicate_acks;
    uint64_t order;
    uint64_t newest[CW_WINDOW_DUPLICATE_ACKS]; /* orders of the latest that were sacked */

    enum cw_window_state state;
    uint32_t recover; /* the state is left when all before this is acked. Duplicate acks of just
                         that may be answers to what was sent again and tell of no loss */
    bool at_once;     /* one lost segment may be sent whatever the window */
    bool probe;       /* a window probe is to be sent */
    double timer;     /* when to send again or to probe; infinity when there is no reason to */
    struct cw_window_rto rto;
    struct cw_window_congestion congestion;

    uint64_t segments_sent; /* those sent again included */
    uint64_t segments_resent;
    uint64_t recoveries;
    uint64_t timeouts;
    uint64_t probes;
};

/* Takes the buffers from the arena. */
void cw_window_sender_layout(struct cw_window_sender *sender, struct cw_arena *arena,
                             const struct cw_window_config *config);

/* Begins, or begins again. */
void cw_window_sender_init(struct cw_window_sender *sender, const struct cw_window_config *config);

/* Takes as many bytes as there is room for and returns how many. */
size_t cw_window_sender_add(struct cw_window_sender *sender, const uint8_t *data, size_t size,
                            double now);

/* Whether a header acks only what was sent. */
bool cw_window_sender_knows(const struct cw_window_sender *sender,
                            const struct cw_window_header *header);

/* Takes the acks of a header that it knows. pure: the datagram had nothing but the ack. */
void cw_window_sender_acked(struct cw_window_sender *sender, const struct cw_window_header *header,
                            bool pure, double now);

void cw_window_sender_update(struct cw_window_sender *sender, double now);

/* The bytes that should be sent now. They count as sent then. False when there are none. */
bool cw_window_sender_pick(struct cw_window_sender *sender, double now, uint32_t *sequence,
                           uint32_t *size);

/* Copies bytes that are not acked yet. */
void cw_window_sender_copy(const struct cw_window_sender *sender, uint32_t sequence, uint32_t size,
                           uint8_t *out);

/* Whether a window probe should be sent now. It counts as sent then. */
bool cw_window_sender_probe(struct cw_window_sender *sender);

/* Whether the congestion window has room for one segment more. */
bool cw_window_sender_has_room(const struct cw_window_sender *sender);

#endif
