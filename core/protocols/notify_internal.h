/* A packet with notification has this header, with numbers of 14 bits and a history. notify.h says
   what stands where. This header is private to the library. */
#ifndef CAUSEWAY_PROTOCOLS_NOTIFY_INTERNAL_H
#define CAUSEWAY_PROTOCOLS_NOTIFY_INTERNAL_H

#include "causeway/protocols/notify.h"

#define CW_NOTIFY_WORDS (CW_NOTIFY_HISTORY / 32)

/* Bit n % 32 of word n / 32 is the fate of the n-th packet before the newest: set if delivered. */
struct cw_notify_history {
    uint32_t words[CW_NOTIFY_WORDS];
};

struct cw_notify_header {
    uint16_t sequence;
    uint16_t acked;
    uint32_t words; /* 1 to CW_NOTIFY_WORDS; the others of the history are 0 */
    struct cw_notify_history history;
};

/* Returns how many numbers a is ahead of b, from 0 to CW_NOTIFY_SEQUENCES - 1. */
static inline uint32_t cw_notify_ahead(uint32_t a, uint32_t b)
{
    return (a - b) % CW_NOTIFY_SEQUENCES;
}

/* Returns whether a is newer than b; false at half of all numbers ahead, which is ambiguous. */
static inline bool cw_notify_newer(uint32_t a, uint32_t b)
{
    const uint32_t ahead = cw_notify_ahead(a, b);
    return ahead > 0 && ahead < CW_NOTIFY_SEQUENCES / 2;
}

/* Returns the number that comes count after sequence; a negative count goes back. */
static inline uint16_t cw_notify_after(uint16_t sequence, int count)
{
    return (uint16_t)((uint32_t)(sequence + count) % CW_NOTIFY_SEQUENCES);
}

/* Makes room for the fates of count newer packets, all lost. */
void cw_notify_history_advance(struct cw_notify_history *history, uint32_t count);

/* Returns whether the packet that is age packets older than the newest was delivered. */
bool cw_notify_history_has(const struct cw_notify_history *history, uint32_t age);

/* Writes a header, at most CW_NOTIFY_HEADER_SIZE bytes, and returns its size. */
size_t cw_notify_header_write(const struct cw_notify_header *header, uint8_t *out);

/* Reads the header at the start of a datagram and returns its size; 0 when there is none. */
size_t cw_notify_header_read(const uint8_t *data, size_t size, struct cw_notify_header *header);

#endif
