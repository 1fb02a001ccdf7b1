#include "load/sctp_client.h"

#include <string.h>

#define PORT        5000
#define COOKIE_BYTE 0xc0

static void put16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value & 0xffff);
}

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint32_t crc32c(const uint8_t *data, size_t size)
{
    static uint32_t table[256];
    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            table[i] = i;
            for (int bit = 0; bit < 8; bit++)
                table[i] = (table[i] & 1) ? table[i] >> 1 ^ 0x82f63b78u : table[i] >> 1;
        }
    }
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    return ~crc;
}

void sctp_packet_begin(struct sctp_packet *packet, uint32_t tag)
{
    put16(packet->data, PORT);
    put16(packet->data + 2, PORT);
    put32(packet->data + 4, tag);
    put32(packet->data + 8, 0);
    packet->size = 12;
}

void sctp_packet_chunk(struct sctp_packet *packet, uint8_t type, uint8_t flags, const void *value,
                       size_t size)
{
    uint8_t *out = packet->data + packet->size;
    const size_t padded = (size + 3) & ~(size_t)3;
    out[0] = type;
    out[1] = flags;
    put16(out + 2, (unsigned)(4 + size));
    if (size > 0)
        memcpy(out + 4, value, size);
    memset(out + 4 + size, 0, padded - size);
    packet->size += 4 + padded;
}

void sctp_packet_data(struct sctp_packet *packet, struct sctp_part part, const void *data,
                      size_t size)
{
    uint8_t value[SCTP_CLIENT_PACKET_MAX];
    put32(value, part.tsn);
    put16(value + 4, part.stream);
    put16(value + 6, part.order);
    put32(value + 8, part.ppid);
    memcpy(value + 12, data, size);
    sctp_packet_chunk(packet, 0, part.flags, value, 12 + size);
}

void sctp_packet_sack(struct sctp_packet *packet, uint32_t cumulative, const uint16_t *gaps,
                      size_t gap_count)
{
    uint8_t value[12 + 4 * 64];
    put32(value, cumulative);
    put32(value + 4, 1u << 20);
    put16(value + 8, (unsigned)gap_count);
    put16(value + 10, 0);
    for (size_t i = 0; i < gap_count * 2; i++)
        put16(value + 12 + i * 2, gaps[i]);
    sctp_packet_chunk(packet, 3, 0, value, 12 + gap_count * 4);
}

void sctp_packet_end(struct sctp_packet *packet)
{
    const uint32_t crc = crc32c(packet->data, packet->size);
    for (int i = 0; i < 4; i++)
        packet->data[8 + i] = (uint8_t)(crc >> 8 * i);
}

void sctp_client_init(struct sctp_client *client, uint32_t tag, uint32_t tsn)
{
    *client = (struct sctp_client){.tag = tag, .tsn = tsn, .acknowledged = tsn - 1};
}

#define INIT_SIZE (16 + 4 + 8)

static void put_init(const struct sctp_client *client, uint8_t init[INIT_SIZE])
{
    put32(init, client->tag);
    put32(init + 4, 1u << 20);
    put16(init + 8, 1024);
    put16(init + 10, 1024);
    put32(init + 12, client->tsn);
    put32(init + 16, 0xc0000004);
    put32(init + 20, 0x80080006);
    put32(init + 24, 0x82c00000);
}

void sctp_client_write_init(struct sctp_client *client, struct sctp_packet *packet)
{
    uint8_t init[INIT_SIZE];
    put_init(client, init);
    sctp_packet_begin(packet, 0);
    sctp_packet_chunk(packet, 1, 0, init, sizeof init);
    packet->data[15] = 16 + 4 + 4 + 6; /* the last parameter's padding is not counted */
    sctp_packet_end(packet);
}

void sctp_client_write_init_ack(struct sctp_client *client, struct sctp_packet *packet,
                                size_t cookie)
{
    uint8_t init[INIT_SIZE + SCTP_CLIENT_PACKET_MAX];
    put_init(client, init);
    put16(init + INIT_SIZE, 7);
    put16(init + INIT_SIZE + 2, (unsigned)(4 + cookie));
    memset(init + INIT_SIZE + 4, COOKIE_BYTE, cookie);
    sctp_packet_begin(packet, client->remote_tag);
    sctp_packet_chunk(packet, 2, 0, init, INIT_SIZE + 4 + cookie);
    sctp_packet_end(packet);
}

void sctp_client_write_cookie_ack(struct sctp_client *client, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, client->remote_tag);
    sctp_packet_chunk(packet, 11, 0, NULL, 0);
    sctp_packet_end(packet);
}

void sctp_client_write_cookie(struct sctp_client *client, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, client->remote_tag);
    sctp_packet_chunk(packet, 10, 0, client->cookie, client->cookie_size);
    sctp_packet_end(packet);
}

void sctp_client_write_heartbeat_ack(struct sctp_client *client, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, client->remote_tag);
    sctp_packet_chunk(packet, 5, 0, client->heartbeat, client->heartbeat_size);
    sctp_packet_end(packet);
    client->heartbeat_size = 0;
}

void sctp_client_write_message(struct sctp_client *client, struct sctp_packet *packet,
                               uint16_t stream, uint32_t ppid, const void *data, size_t size)
{
    sctp_packet_begin(packet, client->remote_tag);
    if (client->acknowledge)
        sctp_packet_sack(packet, client->cumulative, NULL, 0);
    client->acknowledge = false;
    sctp_packet_data(packet,
                     (struct sctp_part){.tsn = client->tsn++,
                                        .flags = SCTP_WHOLE | SCTP_UNORDERED,
                                        .ppid = ppid,
                                        .stream = stream},
                     data, size);
    sctp_packet_end(packet);
}

static void read_init(struct sctp_client *client, const uint8_t *value)
{
    client->asked = true;
    client->remote_tag = get32(value);
    client->cumulative = get32(value + 12) - 1;
}

static bool is_our_cookie(const uint8_t *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (value[i] != COOKIE_BYTE)
            return false;
    return size > 0;
}

static void read_init_ack(struct sctp_client *client, const uint8_t *value, size_t size)
{
    client->remote_tag = get32(value);
    client->cumulative = get32(value + 12) - 1;
    for (size_t at = 16; at + 4 <= size;) {
        const size_t length = get16(value + at + 2);
        if (length < 4 || length > size - at)
            return;
        if (get16(value + at) == 7 && length - 4 <= sizeof client->cookie) {
            client->cookie_size = length - 4;
            memcpy(client->cookie, value + at + 4, length - 4);
        }
        at += (length + 3) & ~(size_t)3;
    }
}

static void read_data(struct sctp_client *client, uint8_t flags, const uint8_t *value, size_t size)
{
    client->cumulative = get32(value);
    client->acknowledge = true;
    if (flags & SCTP_BEGIN)
        client->part_size = 0;
    if (client->part_size + size - 12 > sizeof client->part)
        return;
    memcpy(client->part + client->part_size, value + 12, size - 12);
    client->part_size += size - 12;
    if ((flags & SCTP_END) && client->message)
        client->message(client->context, get16(value + 4), get32(value + 8), client->part,
                        client->part_size);
}

bool sctp_client_read(struct sctp_client *client, const uint8_t *data, size_t size)
{
    uint8_t copy[SCTP_CLIENT_PACKET_MAX];
    if (size < 16 || size > sizeof copy || get32(data + 4) != (data[12] == 1 ? 0 : client->tag))
        return false;
    memcpy(copy, data, size);
    memset(copy + 8, 0, 4);
    const uint32_t crc = crc32c(copy, size);
    for (int i = 0; i < 4; i++)
        if (data[8 + i] != (uint8_t)(crc >> 8 * i))
            return false;

    for (size_t at = 12; at < size;) {
        const uint8_t *chunk = data + at;
        if (size - at < 4)
            return false;
        const size_t length = get16(chunk + 2);
        if (length < 4 || length > size - at)
            return false;
        if (chunk[0] == 0 && length > 16)
            read_data(client, chunk[1], chunk + 4, length - 4);
        else if (chunk[0] == 1 && length >= 20)
            read_init(client, chunk + 4);
        else if (chunk[0] == 10)
            client->echoed = is_our_cookie(chunk + 4, length - 4);
        else if (chunk[0] == 2 && length >= 20)
            read_init_ack(client, chunk + 4, length - 4);
        else if (chunk[0] == 3 && length >= 16)
            client->acknowledged = get32(chunk + 4);
        else if (chunk[0] == 4 && length - 4 <= sizeof client->heartbeat) {
            client->heartbeat_size = length - 4;
            memcpy(client->heartbeat, chunk + 4, length - 4);
        } else if (chunk[0] == 6 || chunk[0] == 8)
            client->ended = true;
        else if (chunk[0] == 11)
            client->established = true;
        else if (chunk[0] == 192 && length >= 8) {
            client->forwarded = client->cumulative = get32(chunk + 4);
            client->acknowledge = true;
        }
        at += (length + 3) & ~(size_t)3;
    }
    return true;
}
