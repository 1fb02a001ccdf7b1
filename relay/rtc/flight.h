/* Datagrams of a handshake that may not go out until more bytes have come from the browser. */
#ifndef CAUSEWAY_RELAY_RTC_FLIGHT_H
#define CAUSEWAY_RELAY_RTC_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes that are held back. A flight is shorter with any certificate that browsers accept.
 */
#define FLIGHT_MAX 8192

/* The datagrams that are held back. Zero it before use. */
struct flight {
    uint8_t *data; /* each datagram follows its size, two bytes */
    size_t size;
};

/* Holds back one more datagram, which is copied. If there is no place for it, it is lost, as it
   might be on the network. */
void flight_add(struct flight *flight, const uint8_t *data, size_t size);

/* Returns the first datagram and its size; NULL when there is none. */
const uint8_t *flight_first(const struct flight *flight, size_t *size);
void flight_remove_first(struct flight *flight);

/* Drops all datagrams and frees their memory. */
void flight_clear(struct flight *flight);

#endif
