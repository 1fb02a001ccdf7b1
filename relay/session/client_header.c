#include "session/client_header.h"

#include "causeway/secure_packet.h"

#include <netinet/in.h>
#include <string.h>

static const uint8_t spp_magic[2] = {0x56, 0xEC};
static const uint8_t ppv2_signature[12] = "\r\n\r\n\0\r\nQUIT\n";

bool client_header_parse(const char *text, enum client_header_format *out)
{
    static const char *const names[] = {
        [CLIENT_HEADER_NONE] = "none", [CLIENT_HEADER_SPP] = "spp", [CLIENT_HEADER_PPV2] = "ppv2"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum client_header_format)i;
            return true;
        }
    }
    return false;
}

/* An address on the wire: IPv6, with IPv4 inside, and a port in network byte order. */
struct wire_address {
    uint8_t address[16];
    uint8_t port[2];
};

static bool is_ipv4(const struct wire_address *wire)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(wire->address, mapped, sizeof mapped) == 0;
}

static struct wire_address to_wire(const struct socket_address *socket_address)
{
    struct wire_address wire = {.address = {[10] = 0xff, [11] = 0xff}};
    const struct sockaddr_in *v4 = &socket_address->address.v4;
    const struct sockaddr_in6 *v6 = &socket_address->address.v6;
    if (socket_address->address.any.sa_family == AF_INET) {
        memcpy(wire.address + 12, &v4->sin_addr, 4);
        memcpy(wire.port, &v4->sin_port, 2);
    } else {
        memcpy(wire.address, &v6->sin6_addr, 16);
        memcpy(wire.port, &v6->sin6_port, 2);
    }
    return wire;
}

static uint8_t *append(uint8_t *at, const void *data, size_t size)
{
    memcpy(at, data, size);
    return at + size;
}

void client_header_write(enum client_header_format format, const struct socket_address *client,
                         const struct socket_address *proxy, struct client_header *out)
{
    const struct wire_address from = to_wire(client);
    const struct wire_address to = to_wire(proxy);
    const bool ipv4 = is_ipv4(&from) && is_ipv4(&to);
    const size_t skip = format == CLIENT_HEADER_PPV2 && ipv4 ? 12 : 0;
    *out = (struct client_header){.format = (uint8_t)format};
    if (format == CLIENT_HEADER_NONE)
        return;
    uint8_t *at = out->bytes;
    if (format == CLIENT_HEADER_SPP) {
        at = append(at, spp_magic, sizeof spp_magic);
    } else {
        const uint8_t rest[] = {0x21, ipv4 ? 0x12 : 0x22, 0, ipv4 ? 12 : 36};
        at = append(at, ppv2_signature, sizeof ppv2_signature);
        at = append(at, rest, sizeof rest);
    }
    at = append(at, from.address + skip, 16 - skip);
    at = append(at, to.address + skip, 16 - skip);
    at = append(at, from.port, sizeof from.port);
    at = append(at, to.port, sizeof to.port);
    out->size = (uint8_t)(at - out->bytes);
}

static bool begins(const uint8_t *data, size_t size, const uint8_t *with, size_t with_size)
{
    return size >= with_size && memcmp(data, with, with_size) == 0;
}

bool client_header_belongs(const struct client_header *header, const uint8_t *data, size_t size,
                           bool answered)
{
    if (header->format != CLIENT_HEADER_PPV2)
        return header->format == CLIENT_HEADER_SPP;
    struct cw_request request;
    return !answered || begins(data, size, spp_magic, sizeof spp_magic) ||
           begins(data, size, ppv2_signature, sizeof ppv2_signature) ||
           cw_request_parse(data, size, &request) == CW_OK;
}

size_t client_header_of_answer(const struct client_header *header, const uint8_t *data, size_t size)
{
    return header->format == CLIENT_HEADER_SPP && begins(data, size, header->bytes, header->size)
               ? header->size
               : 0;
}
