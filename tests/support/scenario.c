#include "scenario.h"

#include "copy_packet.h"

#include "causeway/endpoint.h"
#include "causeway/simulator.h"

#include <stdbool.h>

#define TICK (1.0 / 64)

struct scenario {
    struct cw_endpoint *ends[2];
    struct cw_simulator *paths[2]; /* paths[i] begins at ends[i] */
    uint64_t random;
    uint64_t hash;
    uint8_t payload[4096];
    uint8_t datagram[2048];
};

/* Adds bytes to the FNV-1a hash. */
static void hash_bytes(struct scenario *s, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        s->hash = (s->hash ^ bytes[i]) * 0x100000001b3;
}

static void hash_number(struct scenario *s, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    hash_bytes(s, bytes, sizeof bytes);
}

/* Returns the next random number of a xorshift64. */
static uint64_t next_random(struct scenario *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random;
}

static bool create(struct scenario *s, uint64_t seed)
{
    const struct cw_endpoint_config endpoint = cw_endpoint_config_default();
    struct cw_simulator_config simulator = cw_simulator_config_default();
    simulator.path.latency_seconds = 0.04;
    simulator.path.jitter_seconds = 0.03;
    simulator.path.loss = 0.05;
    simulator.path.burst_start = 0.01;
    simulator.path.burst_end = 0.2;
    simulator.path.burst_loss = 0.7;
    simulator.path.duplicate = 0.05;
    simulator.path.reorder = 0.05;
    simulator.path.reorder_delay_seconds = 0.1;
    for (int i = 0; i < 2; i++) {
        simulator.seed = seed * 2 + (uint64_t)i;
        if (cw_endpoint_create(&endpoint, &s->ends[i]) != CW_OK ||
            cw_simulator_create(&simulator, &s->paths[i]) != CW_OK)
            return false;
    }
    return true;
}

static void take_events(struct scenario *s, int side)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(s->ends[side], &event)) {
        hash_number(s, (uint64_t)side << 32 | (uint64_t)event.type << 16 | event.sequence);
        hash_number(s, event.size);
        if (event.type == CW_ENDPOINT_EVENT_PACKET)
            hash_bytes(s, event.payload, event.size);
        /* Now and then the application cannot use a packet. */
        if (event.type == CW_ENDPOINT_EVENT_PACKET && next_random(s) % 64 != 0)
            cw_endpoint_accept(s->ends[side], event.sequence);
    }
}

static void send_packet(struct scenario *s, int side, double now)
{
    const uint64_t random = next_random(s);
    const size_t size = random % 16 == 0 ? (random >> 8) % (sizeof s->payload + 1) : random >> 56;
    for (size_t i = 0; i < size; i++)
        s->payload[i] = (uint8_t)next_random(s);
    size_t length;
    hash_number(s, cw_endpoint_next_sequence(s->ends[side]));
    hash_number(s,
                (uint64_t)copy_packet(s->ends[side], s->payload, size, s->datagram, now, &length));
    while (length > 0) {
        hash_bytes(s, s->datagram, length);
        cw_simulator_receive(s->paths[side], s->datagram, length, now);
        length = cw_endpoint_transmit(s->ends[side], s->datagram, sizeof s->datagram, now);
    }
}

static void receive_packets(struct scenario *s, int side, double now)
{
    size_t length;
    while ((length = cw_simulator_transmit(s->paths[!side], s->datagram, sizeof s->datagram, now)) >
           0) {
        /* Now and then a path is worse than lossy. */
        if (next_random(s) % 256 == 0)
            s->datagram[next_random(s) % length] ^= 1;
        hash_number(s, (uint64_t)cw_endpoint_receive(s->ends[side], s->datagram, length, now));
        take_events(s, side);
    }
}

static void hash_stats(struct scenario *s, int side)
{
    struct cw_endpoint_stats endpoint;
    cw_endpoint_get_stats(s->ends[side], &endpoint);
    hash_bytes(s, &endpoint, sizeof endpoint);
    struct cw_simulator_stats simulator;
    cw_simulator_get_stats(s->paths[side], &simulator);
    hash_bytes(s, &simulator, sizeof simulator);
}

uint64_t scenario_run(uint64_t seed, uint32_t packets)
{
    static struct scenario s;
    s = (struct scenario){.random = seed * 2 + 1, .hash = 0xcbf29ce484222325};
    const bool ready = create(&s, seed);
    for (uint32_t tick = 0; ready && tick < packets; tick++) {
        const double now = tick * TICK;
        for (int side = 0; side < 2; side++) {
            receive_packets(&s, side, now);
            cw_endpoint_update(s.ends[side], now);
            take_events(&s, side);
            send_packet(&s, side, now);
        }
    }
    for (int side = 0; side < 2; side++) {
        if (ready)
            hash_stats(&s, side);
        cw_endpoint_destroy(s.ends[side]);
        cw_simulator_destroy(s.paths[side]);
    }
    return ready ? s.hash : 0;
}
