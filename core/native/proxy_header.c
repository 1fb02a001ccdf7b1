#include "native/proxy_header.h"

#include "base/unmapped.h"

#include <stdbool.h>
#include <string.h>

/* The two are in network byte order, as everything in the headers. */
static const uint8_t simple_magic[2] = {0x56, 0xEC};
static const uint8_t v2_signature[12] = "\r\n\r\n\0\r\nQUIT\n";

#define V2_HEAD     16
#define V2_LOCAL    0x20
#define V2_PROXY    0x21
#define V2_UNKNOWN  0x00
#define V2_UDP_IPV4 0x12
#define V2_UDP_IPV6 0x22

static uint16_t read_port(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void read_ipv4(const uint8_t *bytes, const uint8_t *port, struct cw_address *address)
{
    *address = (struct cw_address){.type = CW_ADDRESS_IPV4, .port = read_port(port)};
    memcpy(address->bytes, bytes, 4);
}

/* Reads an IPv6 address, which may have an IPv4 address inside. */
static void read_ipv6(const uint8_t *bytes, const uint8_t *port, struct cw_address *address)
{
    *address = (struct cw_address){.type = CW_ADDRESS_IPV6, .port = read_port(port)};
    memcpy(address->bytes, bytes, 16);
    *address = cw_address_unmapped(address);
}

static bool begins(const uint8_t *data, size_t size, const uint8_t *with, size_t with_size)
{
    return size >= with_size && memcmp(data, with, with_size) == 0;
}

static enum cw_proxy_header read_v2(const uint8_t *data, size_t size, struct cw_address *client,
                                    size_t *header_size)
{
    if (size < V2_HEAD)
        return CW_PROXY_HEADER_BAD;
    const size_t length = (size_t)data[14] << 8 | data[15];
    const uint8_t *body = data + V2_HEAD;
    if (V2_HEAD + length > size || V2_HEAD + length > CW_PROXY_HEADER_MAX)
        return CW_PROXY_HEADER_BAD;
    *header_size = V2_HEAD + length;
    if (data[12] == V2_LOCAL || (data[12] == V2_PROXY && data[13] == V2_UNKNOWN))
        return CW_PROXY_HEADER_LOCAL;
    if (data[12] == V2_PROXY && data[13] == V2_UDP_IPV4 && length >= 12) {
        read_ipv4(body, body + 8, client);
        return CW_PROXY_HEADER_V2;
    }
    if (data[12] == V2_PROXY && data[13] == V2_UDP_IPV6 && length >= 36) {
        read_ipv6(body, body + 32, client);
        return CW_PROXY_HEADER_V2;
    }
    return CW_PROXY_HEADER_BAD;
}

enum cw_proxy_header cw_proxy_header_read(const uint8_t *data, size_t size,
                                          struct cw_address *client, size_t *header_size)
{
    if (begins(data, size, v2_signature, sizeof v2_signature))
        return read_v2(data, size, client, header_size);
    if (!begins(data, size, simple_magic, sizeof simple_magic))
        return CW_PROXY_HEADER_NONE;
    if (size < CW_SIMPLE_HEADER_SIZE)
        return CW_PROXY_HEADER_BAD;
    *header_size = CW_SIMPLE_HEADER_SIZE;
    read_ipv6(data + 2, data + 34, client);
    return CW_PROXY_HEADER_SIMPLE;
}
