#include "packet/packet_header.h"

#include <string.h>

size_t cw_packet_header_read_canonical(struct cw_packet_header *header, const uint8_t *data,
                                       size_t size)
{
    uint8_t shortest[CW_PACKET_HEADER_MAX_SIZE];
    const size_t read = cw_packet_header_read(header, data, size);
    if (read == 0 || cw_packet_header_write(shortest, header) != read ||
        memcmp(shortest, data, read) != 0)
        return 0;
    return read;
}

void cw_fragment_header_write(uint8_t *out, const struct cw_fragment_header *header)
{
    out[0] = CW_PACKET_PREFIX_FRAGMENT;
    out[1] = (uint8_t)header->sequence;
    out[2] = (uint8_t)(header->sequence >> 8);
    out[3] = (uint8_t)header->id;
    out[4] = (uint8_t)(header->count - 1);
}

bool cw_fragment_header_read(struct cw_fragment_header *header, const uint8_t *data, size_t size)
{
    if (size < CW_FRAGMENT_HEADER_SIZE || data[0] != CW_PACKET_PREFIX_FRAGMENT)
        return false;
    header->sequence = (uint16_t)(data[1] | data[2] << 8);
    header->id = data[3];
    header->count = data[4] + 1u;
    return header->id < header->count;
}
