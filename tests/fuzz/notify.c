/* Packet notification talks to an end that sends anything. Nothing crashes, nothing beyond a
   datagram is read, each packet gets exactly one fate, in order, and a packet that was not sent
   gets none.

   An input is a list of calls, each of which is a byte for the function and, for a datagram, a byte
   for its size and its bytes. In half of the calls the first four bytes are read as the numbers of
   a packet, relative to what can be valid. */
#include "causeway/protocols/notify.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PAYLOAD 64

struct world {
    struct cw_notify *notify;
    uint32_t sent;
    uint32_t settled;
    uint16_t last;       /* the packet that was delivered last */
    uint64_t overflowed; /* the packets that had overflowed by then */
};

/* Returns whether a packet can be newer than the last one. After an overflow every packet can be,
   since which packets overflowed is not known here. */
static bool is_newer(struct world *world, uint16_t sequence)
{
    const uint32_t ahead = (uint32_t)(sequence - world->last) % CW_NOTIFY_SEQUENCES;
    const uint64_t before = world->overflowed;
    struct cw_notify_stats stats;
    cw_notify_get_stats(world->notify, &stats);
    world->overflowed = stats.packets_overflowed;
    return stats.packets_overflowed > before || (ahead > 0 && ahead < CW_NOTIFY_SEQUENCES / 2);
}

static void take_events(struct world *world)
{
    struct cw_notify_event event;
    while (cw_notify_next(world->notify, &event)) {
        if (event.type == CW_NOTIFY_EVENT_PACKET) {
            volatile uint8_t sum = 0;
            for (size_t i = 0; i < event.size; i++)
                sum = (uint8_t)(sum + event.payload[i]);
            expect(event.size <= MAX_PAYLOAD && is_newer(world, event.sequence));
            world->last = event.sequence;
            if (event.size == 1)
                cw_notify_refuse(world->notify);
            continue;
        }
        expect(world->settled < world->sent);
        expect(event.sequence == world->settled % CW_NOTIFY_SEQUENCES);
        world->settled++;
    }
}

static void send(struct world *world)
{
    uint8_t out[CW_NOTIFY_HEADER_SIZE + MAX_PAYLOAD];
    struct cw_notify_stats stats;
    if (cw_notify_send(world->notify, NULL, 0, NULL) == CW_PROTOCOL_OK)
        world->sent++;
    const size_t size = cw_notify_transmit(world->notify, out, sizeof out);
    expect(size == 0 || (size >= 8 && size <= CW_NOTIFY_HEADER_SIZE));
    cw_notify_get_stats(world->notify, &stats);
    expect(stats.history_size <= CW_NOTIFY_HISTORY);
    expect(stats.packets_acked + stats.packets_nakked == world->settled);
}

/* Turns the two numbers into distances from the last packet delivered and from the last fate. */
static void make_likely(const struct world *world, uint8_t *data)
{
    const uint32_t sequence = world->last + 1u + data[0];
    const uint32_t acked = world->settled - 1u + data[1];
    const uint32_t numbers = (sequence % CW_NOTIFY_SEQUENCES) << 18 |
                             (acked % CW_NOTIFY_SEQUENCES) << 4 | (data[2] & 7u);
    for (int i = 0; i < 4; i++)
        data[i] = (uint8_t)(numbers >> (8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_notify_config config = cw_notify_config_default();
    config.max_packet_size = MAX_PAYLOAD;
    struct world world = {.last = CW_NOTIFY_SEQUENCES - 1};
    expect(cw_notify_create(&config, &world.notify) == CW_PROTOCOL_OK);
    while (size >= 2) {
        const uint8_t what = data[0];
        const size_t next = what % 4 < 2 && data[1] < size - 2 ? data[1] : 0;
        if (what % 4 < 2) {
            uint8_t *exact = malloc(next + 1);
            memcpy(exact + 1, data + 2, next);
            if (what % 4 == 1 && next >= 4)
                make_likely(&world, exact + 1);
            cw_notify_receive(world.notify, exact + 1, next);
            free(exact);
        } else if (what % 4 == 2) {
            for (int i = 0; i < data[1]; i++)
                send(&world);
        } else if (data[1] % 2) {
            cw_notify_update(world.notify);
        }
        if (what & 128)
            take_events(&world);
        data += 2 + next;
        size -= 2 + next;
    }
    cw_notify_destroy(world.notify);
    return 0;
}
