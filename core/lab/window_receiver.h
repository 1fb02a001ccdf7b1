/* The receiving half of a byte stream: puts segments in order, and knows which acks are due.
   Internal to the lab. */
#ifndef CAUSEWAY_LAB_WINDOW_RECEIVER_H
#define CAUSEWAY_LAB_WINDOW_RECEIVER_H

#include "base/memory.h"
#include "causeway/lab/window_config.h"
#include "causeway/lab/window_wire.h"

/* Bytes that arrived early. */
struct cw_window_early {
    struct cw_window_range range;
    uint64_t changed; /* the higher the later */
};

struct cw_window_receiver {
    const struct cw_window_config *config;
    uint8_t *buffer;               /* a ring */
    uint32_t head;                 /* the place in it of the byte at read */
    uint32_t read;                 /* the next byte that the application gets */
    uint32_t next;                 /* the first byte that is missing */
    uint32_t told;                 /* the end of the window that the other end was told */
    struct cw_window_early *early; /* in order, with gaps between them */
    uint32_t early_count;
    uint64_t changes;

    uint32_t acks_owed; /* each in a datagram of its own, at once: for what came out of order */
    uint32_t unacked;   /* bytes that arrived in order since the last ack */
    double ack_due;     /* of those; infinity when there are none */
};

/* Takes the buffers from the arena. */
void cw_window_receiver_layout(struct cw_window_receiver *receiver, struct cw_arena *arena,
                               const struct cw_window_config *config);

/* Begins, or begins again. */
void cw_window_receiver_init(struct cw_window_receiver *receiver,
                             const struct cw_window_config *config);

/* Takes a segment of at least one byte. CW_ERROR_DUPLICATE: all of it had arrived;
   CW_ERROR_RECEIVER_FULL: it ends beyond the window, or too many others are early. An ack is due in
   each case. */
enum cw_error cw_window_receiver_take(struct cw_window_receiver *receiver, uint32_t sequence,
                                      const uint8_t *data, uint32_t size, double now);

/* An answer is owed at once. */
void cw_window_receiver_answer(struct cw_window_receiver *receiver);

/* Moves up to capacity bytes in order to out and returns how many. */
size_t cw_window_receiver_read(struct cw_window_receiver *receiver, uint8_t *out, size_t capacity);

/* Whether an ack should be sent now even without data. */
bool cw_window_receiver_due(const struct cw_window_receiver *receiver, double now);

/* Fills in all that acks tell; none is due afterwards but those owed. */
void cw_window_receiver_ack(struct cw_window_receiver *receiver, struct cw_window_header *header);

#endif
