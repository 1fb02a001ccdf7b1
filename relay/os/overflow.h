/* Datagrams that arrived at a UDP socket while its buffer was full: the system drops and counts
   them. */
#ifndef CAUSEWAY_RELAY_OVERFLOW_H
#define CAUSEWAY_RELAY_OVERFLOW_H

#include <stdint.h>

/* Returns how many datagrams were dropped since the last call with the same *counted, which starts
   at 0. The system gives the same count (SO_RXQ_OVFL) with the next datagram, but here no next
   datagram is needed. */
uint32_t overflow_since(int fd, uint32_t *counted);

#endif
