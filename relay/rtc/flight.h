/* The datagrams of a handshake that may not go out before more has come from the browser. */
#ifndef CAUSEWAY_RELAY_RTC_FLIGHT_H
#define CAUSEWAY_RELAY_RTC_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that are held back. With any certificate that browsers take a flight is shorter. */
#define FLIGHT_MAX 8192

/* Zeroed before use. */
struct flight {
    uint8_t *data; /* each datagram behind its size, in two bytes */
    size_t size;
};

/* Holds back one more datagram, which is copied. One that finds no room is lost, as on the way it
   might be. */
void flight_add(struct flight *flight, const uint8_t *data, size_t size);

/* The first datagram, with its size; NULL when there is none. */
const uint8_t *flight_first(const struct flight *flight, size_t *size);
void flight_remove_first(struct flight *flight);

/* Forgets them all and frees their memory. */
void flight_clear(struct flight *flight);

#endif
