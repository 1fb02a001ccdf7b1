/* This queue has datagrams of handshakes that wait until there is time for them. The oldest comes
   first. */
#ifndef CAUSEWAY_RELAY_RTC_DEFERRED_H
#define CAUSEWAY_RELAY_RTC_DEFERRED_H

#include "rtc/udp_address.h"

#include <stddef.h>

/* The most datagrams of all owners together: less than a megabyte. */
#define DEFERRED_MAX 512
/* The most datagrams of one owner: the flight with its certificate has up to four. */
#define DEFERRED_OF_ONE 4

struct deferred_datagram {
    struct deferred_datagram *next;
    void *owner;
    struct udp_path path;
    size_t size;
    uint8_t data[];
};

/* The datagrams that wait; all zero at first. */
struct deferred {
    struct deferred_datagram *first;
    struct deferred_datagram *last;
    unsigned count;
};

/* Copies a datagram. Returns false when there are too many, or no memory. */
bool deferred_add(struct deferred *deferred, void *owner, const struct udp_path *path,
                  const uint8_t *data, size_t size);

/* Removes and returns the oldest, which the caller frees; NULL when there is none. */
struct deferred_datagram *deferred_take(struct deferred *deferred);

/* Drops the datagrams of an owner; all of them for NULL. */
void deferred_forget(struct deferred *deferred, const void *owner);

#endif
