/* Two endpoints talk to each other, with datagrams of the input's own and damaged ones in between.
   Nothing crashes, nothing beyond a datagram is read, there is no event for a packet that was not
   sent, and no packet is longer than agreed. */
#include "copy_packet.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PACKET   1200
#define MAX_DATAGRAM 512

enum { RECEIVE, SEND, ANSWER, DAMAGE, WAIT, TAKE, ACCEPT, RESET, ACTIONS };

struct world {
    struct cw_endpoint *ours;
    struct cw_endpoint *theirs;
    double now;
    uint8_t *latest;      /* the datagram that ours was given last */
    uint8_t fates[65536]; /* bits for each of our packets, or 0 */
    uint16_t newest;      /* the newest packet that ours delivered */
    bool refuses;         /* ours accepts packets later only */
};

enum { SENT = 1, ACKED = 2, LOST = 4 };

static void take_events(struct world *world)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(world->ours, &event)) {
        if (event.type == CW_ENDPOINT_EVENT_PACKET) {
            volatile uint8_t sum = 0;
            for (size_t i = 0; i < event.size; i++)
                sum = (uint8_t)(sum + event.payload[i]);
            if (event.size > MAX_PACKET)
                abort();
            world->newest = event.sequence;
            if (!world->refuses)
                cw_endpoint_accept(world->ours, event.sequence);
            continue;
        }
        uint8_t *fate = &world->fates[event.sequence];
        const uint8_t fate_bit = event.type == CW_ENDPOINT_EVENT_ACKED ? ACKED : LOST;
        if (!(*fate & SENT) || *fate & ACKED || *fate & fate_bit)
            abort();
        *fate |= fate_bit;
    }
}

static void receive(struct world *world, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, data, size);
    if (cw_endpoint_receive(world->ours, exact, size, world->now) == CW_OK) {
        free(world->latest);
        world->latest = exact;
    } else {
        free(exact);
    }
}

/* Sends a packet, of which the datagrams whose bit is set in lost do not arrive. Unless damage is
   0, one byte is changed in each datagram that arrives at ours. */
static void send_packet(struct world *world, bool theirs, unsigned size, unsigned lost,
                        unsigned place, unsigned damage)
{
    static const uint8_t payload[MAX_PACKET + 16] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t datagram[MAX_DATAGRAM];
    struct cw_endpoint *from = theirs ? world->theirs : world->ours;
    const uint16_t sequence = cw_endpoint_next_sequence(from);
    size_t length;
    if (copy_packet(from, payload, size % sizeof payload, datagram, world->now, &length) != CW_OK)
        return;
    if (!theirs)
        world->fates[sequence] = SENT;
    for (; length > 0;
         lost >>= 1, length = cw_endpoint_transmit(from, datagram, sizeof datagram, world->now)) {
        struct cw_endpoint_event event;
        if (lost & 1)
            continue;
        if (theirs) {
            datagram[place % length] ^= (uint8_t)damage;
            receive(world, datagram, length);
        } else if (cw_endpoint_receive(world->theirs, datagram, length, world->now) ==
                   CW_ERROR_MALFORMED) {
            abort();
        } else {
            while (cw_endpoint_next(world->theirs, &event))
                cw_endpoint_accept(world->theirs, event.sequence);
        }
    }
}

static void act(struct world *world, struct input *input)
{
    const uint8_t *data;
    unsigned size, lost, place;
    switch (take(input, 1) % ACTIONS) {
    case RECEIVE:
        size = take_bytes(input, take(input, 2) % (MAX_DATAGRAM + 1), &data);
        receive(world, data, size);
        break;
    case SEND:
        size = take(input, 2);
        lost = take(input, 1);
        send_packet(world, false, size, lost, 0, 0);
        break;
    case ANSWER:
        size = take(input, 2);
        lost = take(input, 1);
        send_packet(world, true, size, lost, 0, 0);
        break;
    case DAMAGE:
        size = take(input, 2);
        lost = take(input, 1);
        place = take(input, 1);
        send_packet(world, true, size, lost, place, take(input, 1));
        break;
    case WAIT:
        world->now += take(input, 1) / 64.0;
        cw_endpoint_update(world->ours, world->now);
        cw_endpoint_update(world->theirs, world->now);
        break;
    case TAKE:
        take_events(world);
        break;
    case ACCEPT:
        world->refuses = !world->refuses;
        cw_endpoint_accept(world->ours, world->newest);
        break;
    case RESET:
        cw_endpoint_reset(world->ours);
        cw_endpoint_reset(world->theirs);
        memset(world->fates, 0, sizeof world->fates);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    struct input input = {data, size};
    struct cw_endpoint_config config = cw_endpoint_config_default();
    world = (struct world){.now = 1};
    config.max_packet_size = MAX_PACKET;
    config.fragment_size = 300;
    config.fragment_above = 400;
    config.sent_window = config.received_window = 64;
    config.max_reassemblies = 2;
    if (cw_endpoint_create(&config, &world.ours) != CW_OK ||
        cw_endpoint_create(&config, &world.theirs) != CW_OK)
        abort();
    while (input.size)
        act(&world, &input);
    take_events(&world);
    cw_endpoint_destroy(world.ours);
    cw_endpoint_destroy(world.theirs);
    free(world.latest);
    return 0;
}
