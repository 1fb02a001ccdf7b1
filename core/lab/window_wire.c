#include "causeway/lab/window_wire.h"

#include "base/little_endian.h"

#define COUNT_BITS 0x03
#define PROBE_BIT  0x80
#define MAX_WINDOW (UINT32_C(1) << 30)

size_t cw_window_header_write(const struct cw_window_header *header, uint8_t *out)
{
    uint8_t *at = out;
    *at++ = (uint8_t)(header->range_count | (header->probe ? PROBE_BIT : 0));
    cw_little_endian_put(&at, header->sequence, 4);
    cw_little_endian_put(&at, header->ack, 4);
    cw_little_endian_put(&at, header->window, 4);
    for (uint32_t i = 0; i < header->range_count; i++) {
        cw_little_endian_put(&at, header->ranges[i].begin, 4);
        cw_little_endian_put(&at, header->ranges[i].end, 4);
    }
    return (size_t)(at - out);
}

static bool read_range(const uint8_t **at, uint32_t ack, struct cw_window_range *range)
{
    range->begin = (uint32_t)cw_little_endian_get(at, 4);
    range->end = (uint32_t)cw_little_endian_get(at, 4);
    return cw_window_ahead(range->begin, ack) > 0 && cw_window_ahead(range->end, ack) > 0 &&
           cw_window_ahead(range->end, range->begin) > 0;
}

size_t cw_window_header_read(const uint8_t *data, size_t size, struct cw_window_header *header)
{
    const uint8_t *at = data;
    if (size < CW_WINDOW_HEADER_SIZE || *at & ~(COUNT_BITS | PROBE_BIT))
        return 0;
    header->range_count = *at & COUNT_BITS;
    header->probe = *at & PROBE_BIT;
    const size_t header_size = CW_WINDOW_HEADER_SIZE + 8 * (size_t)header->range_count;
    at++;
    header->sequence = (uint32_t)cw_little_endian_get(&at, 4);
    header->ack = (uint32_t)cw_little_endian_get(&at, 4);
    header->window = (uint32_t)cw_little_endian_get(&at, 4);
    if (size < header_size || header->window > MAX_WINDOW)
        return 0;
    for (uint32_t i = 0; i < header->range_count; i++)
        if (!read_range(&at, header->ack, &header->ranges[i]))
            return 0;
    return header_size;
}
