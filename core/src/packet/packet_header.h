/* The bytes in front of a packet and of a fragment (reliable 1.0). */
#ifndef CAUSEWAY_PACKET_HEADER_H
#define CAUSEWAY_PACKET_HEADER_H

#include "base/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CW_PACKET_HEADER_MIN_SIZE 4
#define CW_PACKET_HEADER_MAX_SIZE 9
#define CW_FRAGMENT_HEADER_SIZE   5

/* The bits of a header's first byte. */
#define CW_PACKET_PREFIX_FRAGMENT  0x01
#define CW_PACKET_PREFIX_ACK_BYTE  0x02 /* the first of four: byte n of ack_bits is present */
#define CW_PACKET_PREFIX_ACK_BYTES 0x1E
#define CW_PACKET_PREFIX_SHORT_ACK 0x20

struct cw_packet_header {
    uint16_t sequence;
    uint16_t ack;      /* the newest packet that the sender of the header has received */
    uint32_t ack_bits; /* bit n: the sender has received packet ack - n */
};

struct cw_fragment_header {
    uint16_t sequence;
    uint32_t id;
    uint32_t count;
};

/* Writes the shortest form to out, which has room for CW_PACKET_HEADER_MAX_SIZE bytes. Returns the
   bytes written. */
CW_SHARED size_t cw_packet_header_write(uint8_t *out, const struct cw_packet_header *header)
{
    const uint16_t behind = (uint16_t)(header->sequence - header->ack);
    uint8_t prefix = 0;
    uint8_t *p = out + 1;
    *p++ = (uint8_t)header->sequence;
    *p++ = (uint8_t)(header->sequence >> 8);
    if (behind <= 0xFF) {
        prefix |= CW_PACKET_PREFIX_SHORT_ACK;
        *p++ = (uint8_t)behind;
    } else {
        *p++ = (uint8_t)header->ack;
        *p++ = (uint8_t)(header->ack >> 8);
    }
    if (header->ack_bits != 0xFFFFFFFFu) {
        for (unsigned n = 0; n < 4; n++) {
            const uint8_t byte = (uint8_t)(header->ack_bits >> (8 * n));
            if (byte != 0xFF) {
                prefix |= (uint8_t)(CW_PACKET_PREFIX_ACK_BYTE << n);
                *p++ = byte;
            }
        }
    }
    out[0] = prefix;
    return (size_t)(p - out);
}

/* Returns the bytes read, 0 when data does not begin with a packet header. Forms that are longer
   than needed are accepted: the reference's endpoints take them. */
CW_SHARED size_t cw_packet_header_read(struct cw_packet_header *header, const uint8_t *data,
                                       size_t size)
{
    if (size < CW_PACKET_HEADER_MIN_SIZE)
        return 0;
    const uint8_t prefix = data[0];
    if (prefix & CW_PACKET_PREFIX_FRAGMENT)
        return 0;
    header->sequence = (uint16_t)(data[1] | data[2] << 8);
    const uint8_t *p = data + 3;
    const uint8_t *end = data + size;
    if (prefix & CW_PACKET_PREFIX_SHORT_ACK) {
        header->ack = (uint16_t)(header->sequence - *p++);
    } else {
        if (end - p < 2)
            return 0;
        header->ack = (uint16_t)(p[0] | p[1] << 8);
        p += 2;
    }
    header->ack_bits = 0xFFFFFFFFu;
    if (prefix & CW_PACKET_PREFIX_ACK_BYTES) {
        for (unsigned n = 0; n < 4; n++) {
            if (!(prefix & (CW_PACKET_PREFIX_ACK_BYTE << n)))
                continue;
            if (p == end)
                return 0;
            header->ack_bits ^= (uint32_t)(0xFF ^ *p++) << (8 * n);
        }
    }
    return (size_t)(p - data);
}

/* Does the same, but accepts only the shortest form: that is the rule for the header in a first
   fragment. */
size_t cw_packet_header_read_canonical(struct cw_packet_header *header, const uint8_t *data,
                                       size_t size);

void cw_fragment_header_write(uint8_t *out, const struct cw_fragment_header *header);

/* Reads the header of a fragment. Returns false when data does not begin with one. */
bool cw_fragment_header_read(struct cw_fragment_header *header, const uint8_t *data, size_t size);

#endif
