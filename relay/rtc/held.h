/* Datagrams of handshakes that wait until there is time for them: the oldest comes first. */
#ifndef CAUSEWAY_RELAY_RTC_HELD_H
#define CAUSEWAY_RELAY_RTC_HELD_H

#include "rtc/udp_address.h"

#include <stddef.h>

/* The most datagrams of all owners together: less than a megabyte. */
#define HELD_MAX 512
/* The most datagrams of one owner: the flight with its certificate has up to four. */
#define HELD_OF_ONE 4

struct held_datagram {
    struct held_datagram *next;
    void *owner;
    struct udp_path path;
    size_t size;
    uint8_t data[];
};

/* The datagrams that wait; all zero at first. */
struct held {
    struct held_datagram *first;
    struct held_datagram *last;
    unsigned count;
};

/* Copies a datagram. Returns false when there are too many, or no memory. */
bool held_add(struct held *held, void *owner, const struct udp_path *path, const uint8_t *data,
              size_t size);

/* Removes and returns the oldest, which the caller frees; NULL when there is none. */
struct held_datagram *held_take(struct held *held);

/* Drops the datagrams of an owner; all of them for NULL. */
void held_forget(struct held *held, const void *owner);

#endif
