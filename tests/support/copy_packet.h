/* Packets whose payload is copied from elsewhere. */
#ifndef CAUSEWAY_TESTS_COPY_PACKET_H
#define CAUSEWAY_TESTS_COPY_PACKET_H

#include "causeway/endpoint.h"

#include <string.h>

/* Sends a packet, whose first datagram goes to out, with room for the longest. *length is its size.
   When begin fails, *length is 0 and its error is returned. */
static inline enum cw_error copy_packet(struct cw_endpoint *from, const void *payload, size_t size,
                                        uint8_t *out, double now, size_t *length)
{
    uint8_t *place;
    *length = 0;
    const enum cw_error error =
        cw_endpoint_begin(from, size, out, cw_endpoint_max_datagram_size(from), &place);
    if (error != CW_OK)
        return error;
    if (size > 0)
        memcpy(place, payload, size);
    *length = cw_endpoint_commit(from, size, now, NULL);
    return CW_OK;
}

#endif
