#include "rtc/flight.h"

#include "rtc/big_endian.h"

#include <stdlib.h>
#include <string.h>

void flight_add(struct flight *flight, const uint8_t *data, size_t size)
{
    const size_t all = flight->size + 2 + size;
    uint8_t *longer = all <= FLIGHT_MAX ? realloc(flight->data, all) : NULL;
    if (!longer)
        return;
    store16(longer + flight->size, (uint16_t)size);
    memcpy(longer + flight->size + 2, data, size);
    flight->data = longer;
    flight->size = all;
}

const uint8_t *flight_first(const struct flight *flight, size_t *size)
{
    if (!flight->data)
        return NULL;
    *size = load16(flight->data);
    return flight->data + 2;
}

void flight_remove_first(struct flight *flight)
{
    const size_t first = 2 + (size_t)load16(flight->data);
    flight->size -= first;
    memmove(flight->data, flight->data + first, flight->size);
    if (flight->size == 0)
        flight_clear(flight);
}

void flight_clear(struct flight *flight)
{
    free(flight->data);
    *flight = (struct flight){0};
}
