/* Datagrams of handshakes that wait until there is time for them: the oldest comes first. */
#ifndef CAUSEWAY_RELAY_RTC_HELD_H
#define CAUSEWAY_RELAY_RTC_HELD_H

#include "rtc/udp_address.h"

#include <stddef.h>

/* Altogether: less than a megabyte. */
#define HELD_MAX 512
/* One owner may have so many: the flight with its certificate has up to four. */
#define HELD_OF_ONE 4

struct held_datagram {
    struct held_datagram *next;
    void *owner;
    struct udp_path path;
    size_t size;
    uint8_t data[];
};

/* All zero at first. */
struct held {
    struct held_datagram *first;
    struct held_datagram *last;
    unsigned count;
};

/* Copies a datagram. False when there are too many, or no memory. */
bool held_add(struct held *held, void *owner, const struct udp_path *path, const uint8_t *data,
              size_t size);

/* Removes the oldest, which the caller frees; NULL when there is none. */
struct held_datagram *held_take(struct held *held);

/* Forgets those of an owner; of all for NULL. */
void held_forget(struct held *held, const void *owner);

#endif
