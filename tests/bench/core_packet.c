/* Measures two endpoints at a steady 60 Hz each way with 64-byte payloads: ROUNDS ticks of one
   packet from each to the other. The difference of two counts under callgrind is the cost of a
   tick.
     core_packet packets ROUNDS    begin, commit, receive, next, acks and one update per packet
     core_packet updates ROUNDS    the same with ten more updates per tick and endpoint
     core_packet lossy ROUNDS      like packets, but one datagram in ten is lost
     core_packet                   says what tests/bench/run shall count */
#include "causeway/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK (1.0 / 60) /* seconds */
#ifndef ARCHIVE
#define ARCHIVE false /* core_packet_archive.c measures the library as its users link it */
#endif

static uint32_t loss_percent;

static bool is_lost(void)
{
    static uint32_t random = 1;
    if (loss_percent == 0)
        return false;
    random = random * 1664525u + 1013904223u;
    return (random >> 16) % 100 < loss_percent;
}

static void pass(struct cw_endpoint *from, struct cw_endpoint *to, double now)
{
    static const uint8_t payload[64] = {1, 2, 3};
    uint8_t datagram[2048], *place;
    struct cw_endpoint_event event;
    if (cw_endpoint_begin(from, sizeof payload, datagram, sizeof datagram, &place) != CW_OK)
        abort();
    memcpy(place, payload, sizeof payload);
    const size_t size = cw_endpoint_commit(from, sizeof payload, now, NULL);
    if (is_lost())
        return;
    if (cw_endpoint_receive(to, datagram, size, now) != CW_OK)
        abort();
    while (cw_endpoint_next(to, &event))
        if (event.type == CW_ENDPOINT_EVENT_PACKET)
            cw_endpoint_accept(to, event.sequence);
}

int main(int argc, char **argv)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    if (argc != 3 && ARCHIVE) {
        printf("count packet_64_archive_instructions 10000: packets 10000 - packets 5000\n");
        return 0;
    }
    if (argc != 3) {
        /* A round is two packets; ten more updates at each of two endpoints are twenty. */
        printf("count packet_64_instructions 10000: packets 10000 - packets 5000\n");
        printf("count packet_64_loss_10_instructions 10000: lossy 10000 - lossy 5000\n");
        printf("count update_instructions 100000: updates 5000 - packets 5000\n");
        printf("endpoint_bytes %zu bytes\n", cw_endpoint_memory(&config));
        return 0;
    }
    const int updates = strcmp(argv[1], "updates") == 0 ? 11 : 1;
    loss_percent = strcmp(argv[1], "lossy") == 0 ? 10 : 0;
    const long rounds = atol(argv[2]);
    struct cw_endpoint *a, *b;
    if (cw_endpoint_create(&config, &a) != CW_OK || cw_endpoint_create(&config, &b) != CW_OK)
        abort();
    double now = 0;
    for (long i = 0; i < rounds; i++, now += TICK) {
        for (int j = 0; j < updates; j++) {
            cw_endpoint_update(a, now);
            cw_endpoint_update(b, now);
        }
        pass(a, b, now);
        pass(b, a, now + TICK / 2);
    }
    cw_endpoint_destroy(a);
    cw_endpoint_destroy(b);
    return 0;
}
