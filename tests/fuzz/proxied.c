/* Any bytes come from a proxy. The reader of its header neither reads too far nor gives more than
   there was, and the map of players stays whole. The input is a row of datagrams, each of which is
   a byte with the source and what the server makes of it, a byte with the size, and the bytes. */
#include "native/proxied.h"

#include <stdlib.h>
#include <string.h>

static void fuzz_datagram(struct cw_proxied *map, uint8_t about, const uint8_t *bytes, size_t size,
                          double now)
{
    uint8_t *data = malloc(size); /* exactly the size, so that sanitizers see a read beyond */
    uint8_t answer[CW_SIMPLE_HEADER_SIZE + 1];
    memcpy(data, bytes, size);
    const struct cw_socket_datagram in = {
        .address = {CW_ADDRESS_IPV4, about % 16, {10}}, .data = data, .size = size};
    struct cw_proxied_packet packet;
    cw_proxied_receive(map, &in, now, &packet);
    if (packet.data < data || packet.data + packet.size != data + size)
        abort();
    if (about & 0x80)
        cw_proxied_accept(map, &packet, now);
    struct cw_socket_datagram out = {
        .address = packet.player, .data = answer + CW_SIMPLE_HEADER_SIZE, .size = 1};
    cw_proxied_readdress(map, &out, now);
    if (out.data + out.size != answer + sizeof answer)
        abort();
    /* The answer to a datagram that was accepted goes back to where the datagram came from. */
    if ((about & 0x80) && !cw_address_equal(&out.address, &in.address))
        abort();
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const trusted[] = {"10.0.0.0/8"};
    const struct cw_proxied_config config = {.trusted = trusted, .trusted_count = 1, .places = 4};
    struct cw_proxied *map;
    if (cw_proxied_create(&config, &map) != CW_OK)
        abort();
    double now = 0;
    while (size >= 2) {
        const size_t length = data[1] < size - 2 ? data[1] : size - 2;
        fuzz_datagram(map, data[0], data + 2, length, now);
        now += data[0] & 0x40 ? 40 : 1;
        data += 2 + length;
        size -= 2 + length;
    }
    cw_proxied_destroy(map);
    return 0;
}
