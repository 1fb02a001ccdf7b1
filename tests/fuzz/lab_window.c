/* Two ends of a byte stream talk to each other, with datagrams of the input's own and damaged ones
   in between. Nothing crashes, nothing beyond a datagram is read, and the buffers never hold more
   bytes than fit. An end that gets only what the other one sent reads exactly that. */
#include "lab/window.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER       2000
#define SEGMENT      100
#define MAX_DATAGRAM (CW_WINDOW_OVERHEAD + SEGMENT)

enum { RECEIVE, SEND, PASS, DAMAGE, WAIT, READ, RESET, ACTIONS };

struct world {
    struct cw_window *ends[2];
    double now;
    uint32_t given[2], taken[2]; /* the bytes that each end sent, and that came out at the other */
    bool damaged;                /* something arrived that no end sent */
};

static void receive(struct world *world, unsigned to, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, data, size);
    if (cw_window_receive(world->ends[to], exact, size, world->now) ==
            CW_PROTOCOL_ERROR_MALFORMED &&
        !world->damaged)
        abort();
    free(exact);
}

/* Passes datagrams on, except those whose bit is set in lost, and changes one byte in each. */
static void pass(struct world *world, unsigned from, unsigned lost, unsigned place, unsigned bits)
{
    uint8_t data[MAX_DATAGRAM];
    for (size_t size;
         (size = cw_window_transmit(world->ends[from], data, sizeof data, world->now)) > 0;
         lost = lost >> 1 | (lost & 1) << 15) {
        if (lost & 1)
            continue;
        data[place % size] ^= (uint8_t)bits;
        receive(world, !from, data, size);
    }
}

static void read_bytes(struct world *world, unsigned at, unsigned most)
{
    uint8_t bytes[BUFFER];
    const size_t size = cw_window_read(world->ends[at], bytes, most % (BUFFER + 1));
    if (world->damaged)
        return;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (uint8_t)(world->taken[!at] + i))
            abort();
    world->taken[!at] += (uint32_t)size;
    if (world->taken[!at] > world->given[!at])
        abort();
}

static void send_bytes(struct world *world, unsigned at, unsigned size)
{
    uint8_t bytes[BUFFER];
    size_t taken;
    size = size % BUFFER + 1;
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(world->given[at] + i);
    if (cw_window_send(world->ends[at], bytes, size, world->now, &taken) == CW_PROTOCOL_OK)
        world->given[at] += (uint32_t)taken;
}

static void check(const struct world *world)
{
    for (int i = 0; i < 2; i++) {
        struct cw_window_stats stats;
        cw_window_get_stats(world->ends[i], &stats);
        if (stats.bytes_queued > BUFFER || stats.bytes_readable > BUFFER ||
            stats.bytes_unsent > stats.bytes_queued || !(stats.cwnd >= 1) || !(stats.rto > 0))
            abort();
    }
}

static void act(struct world *world, struct input *input)
{
    const unsigned action = take(input, 1), end = action / ACTIONS % 2;
    const uint8_t *data;
    unsigned size, place;
    switch (action % ACTIONS) {
    case RECEIVE:
        size = take_bytes(input, take(input, 1), &data);
        world->damaged = true;
        receive(world, end, data, size);
        break;
    case SEND:
        send_bytes(world, end, take(input, 2));
        break;
    case PASS:
        pass(world, end, take(input, 2), 0, 0);
        break;
    case DAMAGE:
        world->damaged = true;
        size = take(input, 2);
        place = take(input, 1);
        pass(world, end, size, place, take(input, 1));
        break;
    case WAIT:
        world->now += take(input, 1) / 64.0;
        cw_window_update(world->ends[end], world->now);
        break;
    case READ:
        read_bytes(world, end, take(input, 2));
        break;
    case RESET:
        for (int i = 0; i < 2; i++) {
            cw_window_reset(world->ends[i]);
            world->given[i] = world->taken[i] = 0;
        }
        world->damaged = false;
        break;
    }
    check(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct world world = {.now = 1};
    struct cw_window_config config = cw_window_config_default();
    const unsigned kind = take(&input, 1);
    config.selective_acks = kind & 1;
    config.control = kind & 2 ? CW_WINDOW_RENO : CW_WINDOW_CUBIC;
    config.first_sequence = kind & 4 ? 0u - 1000 : 0;
    config.ack_delay_seconds = kind & 8 ? 0.04 : 0;
    config.max_segment_size = SEGMENT;
    config.send_buffer_bytes = config.receive_buffer_bytes = kind & 16 ? BUFFER : 150;
    config.max_segments = 16;
    for (int i = 0; i < 2; i++)
        if (cw_window_create(&config, &world.ends[i]) != CW_PROTOCOL_OK)
            abort();
    while (input.size)
        act(&world, &input);
    for (int i = 0; i < 2; i++)
        cw_window_destroy(world.ends[i]);
    return 0;
}
