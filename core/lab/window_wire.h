/* The header of a byte stream's datagrams; the payload follows it. Numbers are little-endian.

   | bytes | what |
   |---|---|
   | 1 | bits 0 and 1: how many ranges follow; bit 7: a window probe, to be answered at once; the
         others 0 |
   | 4 | sequence number of the first payload byte, or of the next byte when there is no payload |
   | 4 | ack: the next byte that is expected; all before it have arrived |
   | 4 | how many bytes from there on may be sent, at most 2^30 |
   | 8 each | a range of bytes beyond the ack that have arrived: the first one, and the one after
         the last; the range that changed last comes first |

   Internal to the lab. */
#ifndef CAUSEWAY_LAB_WINDOW_WIRE_H
#define CAUSEWAY_LAB_WINDOW_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CW_WINDOW_RANGES      3
#define CW_WINDOW_HEADER_SIZE 13
#define CW_WINDOW_HEADER_MAX  (CW_WINDOW_HEADER_SIZE + 8 * CW_WINDOW_RANGES)

/* Bytes from begin up to, not including, end. */
struct cw_window_range {
    uint32_t begin, end;
};

struct cw_window_header {
    uint32_t sequence;
    uint32_t ack;
    uint32_t window;
    bool probe;
    uint32_t range_count;
    struct cw_window_range ranges[CW_WINDOW_RANGES];
};

/* How far sequence number a is ahead of b, the shorter way round; negative when it is behind. */
static inline int32_t cw_window_ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/* Writes up to CW_WINDOW_HEADER_MAX bytes and returns how many. */
size_t cw_window_header_write(const struct cw_window_header *header, uint8_t *out);

/* Returns the size of the header, or 0 when no header looks like that. Each range is then not
   empty and beyond the ack. */
size_t cw_window_header_read(const uint8_t *data, size_t size, struct cw_window_header *header);

#endif
