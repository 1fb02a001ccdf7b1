/* Datagrams that came to a UDP socket and found its buffer full: the system drops and counts them.
 */
#ifndef CAUSEWAY_RELAY_OVERFLOW_H
#define CAUSEWAY_RELAY_OVERFLOW_H

#include <stdint.h>

/* How many there were since the last call with the same *counted, which begins as 0. It is the
   count that SO_RXQ_OVFL tells beside the next datagram, without the need of a next datagram. */
uint32_t overflow_since(int fd, uint32_t *counted);

#endif
