/* Datagrams of a byte stream have this header, and an end has two halves. This header is private to
   window.

   A datagram is this header and a payload. Numbers are little-endian.

       1 byte   bits 0 and 1: the number of ranges that follow; bit 7: a window probe, to be
                answered at once; the others 0
       4 bytes  the sequence number of the first payload byte, or of the next byte when there is no
                payload
       4 bytes  ack: the next byte that is expected; all before it have arrived
       4 bytes  the number of bytes from there on that may be sent, at most 2^30
       8 bytes  for each range of bytes beyond the ack that have arrived: the first byte, and the
                one after the last; the range that changed last comes first */
#ifndef CAUSEWAY_LAB_WINDOW_INTERNAL_H
#define CAUSEWAY_LAB_WINDOW_INTERNAL_H

#include "base/memory.h"
#include "lab/window.h"

#define CW_WINDOW_RANGES      3
#define CW_WINDOW_HEADER_SIZE 13
#define CW_WINDOW_HEADER_MAX  (CW_WINDOW_HEADER_SIZE + 8 * CW_WINDOW_RANGES)

/* A range has the bytes from begin up to, not including, end. */
struct cw_window_range {
    uint32_t begin, end;
};

struct cw_window_header {
    uint32_t sequence;
    uint32_t ack;
    uint32_t window;
    bool probe;
    uint32_t range_count;
    struct cw_window_range ranges[CW_WINDOW_RANGES];
};

/* Returns the distance from sequence number b to a, the shorter way round; negative when a is
   behind. */
static inline int32_t cw_window_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/* Writes up to CW_WINDOW_HEADER_MAX bytes and returns their number. */
size_t cw_window_header_write(const struct cw_window_header *header, uint8_t *out);

/* Returns the size of the header, or 0 when no header looks like that. Each range that it reads is
   not empty, and beyond the ack. */
size_t cw_window_header_read(const uint8_t *data, size_t size, struct cw_window_header *header);

/* The round trip time and the retransmission timeout say when to send again (RFC 6298, with the
   variance of Linux). */
struct cw_window_rto {
    const struct cw_window_config *config;
    double rtt;       /* smoothed, seconds; 0 before the first sample */
    double deviation; /* the mean deviation of samples from rtt */
    double timeout;   /* seconds, without backoff */
    uint32_t doublings;
};

/* Returns the timeout as it is now, in seconds. */
double cw_window_rto_seconds(const struct cw_window_rto *rto);

/* The congestion window limits the segments in flight. */
struct cw_window_congestion {
    enum cw_window_control control;
    double cwnd;     /* segments */
    double ssthresh; /* below it the window grows by a segment for each segment acked */

    /* These are for CUBIC. An epoch is a time of growth between two losses. */
    bool growing;    /* an epoch has begun */
    double epoch;    /* when it began */
    double plateau;  /* the window where the function is flat: the window at the last loss */
    double reach;    /* seconds from the epoch to the plateau */
    double highest;  /* the window at the last loss */
    double friendly; /* the window that Reno would have */
};

/* The sending half of a byte stream knows which segments are in flight, lost, or to be sent. */
#define CW_WINDOW_DUPLICATE_ACKS 3 /* this many mean a loss */

enum cw_window_fate {
    CW_WINDOW_IN_FLIGHT,
    CW_WINDOW_SACKED, /* the segment has arrived; bytes before it are missing */
    CW_WINDOW_LOST    /* the segment is to be sent again */
};

/* A segment has bytes that were sent together and are not acked. */
struct cw_window_segment {
    uint32_t sequence;
    uint32_t size;
    uint64_t order; /* the number of segments sent before it, those sent again included */
    double sent;    /* when it was sent the last time */
    enum cw_window_fate fate;
    bool resent;
};

enum cw_window_state {
    CW_WINDOW_OPEN,
    CW_WINDOW_RECOVERY, /* acks have shown a loss */
    CW_WINDOW_TIMED_OUT /* all segments that were in flight are sent again */
};

struct cw_window_sender {
    const struct cw_window_config *config;
    uint8_t *buffer; /* a ring */
    uint32_t head;   /* the place in it of the byte at acked */
    uint32_t acked;  /* the first byte that is not acked */
    uint32_t next;   /* the next byte to be sent for the first time */
    uint32_t end;    /* the byte after the last one that the application gave */
    uint32_t limit;  /* the end of the other side's window */

    struct cw_window_segment *segments; /* a ring, in the order of their bytes */
    uint32_t first, count;
    uint32_t sacked, lost; /* the segments in these states */
    uint32_t duplicate_acks;
    uint64_t order;
    uint64_t newest[CW_WINDOW_DUPLICATE_ACKS]; /* the orders of the latest segments sacked */

    enum cw_window_state state;
    uint32_t recover; /* the state ends when all bytes before this one are acked. Duplicate acks of
                         just those may answer segments that were sent again, and show no loss */
    bool at_once;     /* one lost segment may be sent even beyond the window */
    bool probe;       /* a window probe is to be sent */
    double timer;     /* when to send again or to probe; infinity when there is no reason to */
    struct cw_window_rto rto;
    struct cw_window_congestion congestion;

    uint64_t segments_sent; /* segments sent, those sent again included */
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

/* Takes as many bytes as there is room for and returns their number. */
size_t cw_window_sender_add(struct cw_window_sender *sender, const uint8_t *data, size_t size,
                            double now);

/* Returns whether a header acks only bytes that were sent. */
bool cw_window_sender_knows(const struct cw_window_sender *sender,
                            const struct cw_window_header *header);

/* Takes the acks of a header that it knows. pure says that the datagram had nothing but the ack. */
void cw_window_sender_acked(struct cw_window_sender *sender, const struct cw_window_header *header,
                            bool pure, double now);

void cw_window_sender_update(struct cw_window_sender *sender, double now);

/* Gives the bytes that should be sent now, which count as sent then. Returns false when there are
   none. */
bool cw_window_sender_pick(struct cw_window_sender *sender, double now, uint32_t *sequence,
                           uint32_t *size);

/* Copies bytes that are not acked yet. */
void cw_window_sender_copy(const struct cw_window_sender *sender, uint32_t sequence, uint32_t size,
                           uint8_t *out);

/* Returns whether a window probe should be sent now. It counts as sent then. */
bool cw_window_sender_probe(struct cw_window_sender *sender);

/* Returns whether the congestion window has room for one segment more. */
bool cw_window_sender_has_room(const struct cw_window_sender *sender);

/* The receiving half of a byte stream puts segments in order, and knows which acks are due. */
/* Bytes that arrived early wait in such a range. */
struct cw_window_early {
    struct cw_window_range range;
    uint64_t changed; /* the higher, the later */
};

struct cw_window_receiver {
    const struct cw_window_config *config;
    uint8_t *buffer;               /* a ring */
    uint32_t head;                 /* the place in it of the byte at read */
    uint32_t read;                 /* the next byte that the application gets */
    uint32_t next;                 /* the first byte that is missing */
    uint32_t advertised_end;       /* the end of the window in the last ack */
    struct cw_window_early *early; /* early ranges in order, with gaps between them */
    uint32_t early_count;
    uint64_t changes;

    uint32_t acks_owed; /* acks due at once, each in its own datagram, for segments out of order */
    uint32_t unacked;   /* bytes that arrived in order since the last ack */
    double ack_due;     /* when their ack is due; infinity when there are none */
};

/* Takes the buffers from the arena. */
void cw_window_receiver_layout(struct cw_window_receiver *receiver, struct cw_arena *arena,
                               const struct cw_window_config *config);

/* Begins, or begins again. */
void cw_window_receiver_init(struct cw_window_receiver *receiver,
                             const struct cw_window_config *config);

/* Takes a segment of at least one byte. Errors: CW_PROTOCOL_ERROR_DUPLICATE: all of it had arrived;
   CW_PROTOCOL_ERROR_QUEUE_FULL: it ends beyond the window, or too many others came early. An ack is
   due in each case. */
enum cw_protocol_error cw_window_receiver_take(struct cw_window_receiver *receiver,
                                               uint32_t sequence, const uint8_t *data,
                                               uint32_t size, double now);

/* Makes an ack due at once. */
void cw_window_receiver_answer(struct cw_window_receiver *receiver);

/* Moves up to capacity bytes in order to out and returns their number. */
size_t cw_window_receiver_read(struct cw_window_receiver *receiver, uint8_t *out, size_t capacity);

/* Returns whether an ack should be sent now even without data. */
bool cw_window_receiver_due(const struct cw_window_receiver *receiver, double now);

/* Fills in all fields of an ack. Afterwards no ack is due but those owed. */
void cw_window_receiver_ack(struct cw_window_receiver *receiver, struct cw_window_header *header);

#endif
