/* The reassembly of SCTP messages that were split, within a fixed amount of memory. */
#ifndef CAUSEWAY_RELAY_RTC_SCTP_REASSEMBLY_H
#define CAUSEWAY_RELAY_RTC_SCTP_REASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most fragments that wait for others, and the most bytes in them. */
#define REASSEMBLY_FRAGMENTS 32
#define REASSEMBLY_BYTES     16384

/* One DATA chunk of a message that has several. */
struct fragment {
    uint32_t tsn;
    uint32_t ppid;
    uint16_t stream;
    uint16_t size;
    bool begins;
    bool ends;
    bool unordered;
    uint8_t *data;
};

/* The fragments of messages, in the order of their TSNs. An empty reassembly is all zero. When
   there is no room, the oldest fragment is dropped: the messages are unreliable, and a lost part
   never comes again. */
struct reassembly {
    struct fragment fragments[REASSEMBLY_FRAGMENTS];
    size_t count;
    size_t bytes;
    uint64_t evicted; /* the fragments that made room for others */
};

/* Copies a fragment whose TSN is new. When that completes a message which fits into capacity,
   writes the message to out and returns its size. Otherwise returns 0: the message is not complete,
   or *too_long is true and the message is gone. */
size_t reassembly_add(struct reassembly *reassembly, const struct fragment *fragment, uint8_t *out,
                      size_t capacity, bool *too_long);

/* Drops the fragments up to tsn, which the other side has given up. */
void reassembly_forward(struct reassembly *reassembly, uint32_t tsn);

/* Drops all fragments. */
void reassembly_clear(struct reassembly *reassembly);

#endif
