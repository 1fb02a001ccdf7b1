/* The envelope of datagrams from a browser. Browsers take datagrams of about 1,000 bytes at first,
   and a request for a connection has 1,078. So the first byte of each datagram tells what follows:
   with 0 all of it, otherwise one of two parts. Bit 0 is then set in the second part, and the other
   bits are a number, which both parts have. */
#ifndef CAUSEWAY_RELAY_WEBTRANSPORT_PARTS_H
#define CAUSEWAY_RELAY_WEBTRANSPORT_PARTS_H

#include "session/datagram.h"

#include <stdbool.h>

/* A part waits for the other one for this long, which is longer than any network delays one of two
   packets, and shorter than the time in which the numbers come again. */
#define PARTS_SECONDS 1.0

/* The part that waits. All zero at first. Free `data` at the end. */
struct parts {
    uint8_t *data; /* NULL = none waits */
    size_t size;
    uint8_t head;
    double since;
};

/* Takes a datagram out of its envelope. `joined` has room for SESSION_DATAGRAM_MAX bytes. Returns
   false when there is none yet, or the envelope is none. */
bool parts_take(struct parts *parts, const uint8_t *data, size_t size, double now, uint8_t *joined,
                struct datagram *out);

#endif
