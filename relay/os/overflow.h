/* Datagrams that arrived at a UDP socket while its buffer was full: the system drops and counts
   them. */
#ifndef CAUSEWAY_RELAY_OVERFLOW_H
#define CAUSEWAY_RELAY_OVERFLOW_H

#include <stdint.h>

/* Returns how many there were since the last call with the same *counted, which starts at 0. It is
   the count that SO_RXQ_OVFL gives with the next datagram, but needs no next datagram. */
uint32_t overflow_since(int fd, uint32_t *counted);

#endif
