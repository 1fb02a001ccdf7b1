/* Two ends of a connection of bunches talk to each other, with datagrams of the input's own and
   damaged ones in between. Nothing crashes, nothing beyond a datagram is read, and no bunch or
   value is too long. Until the first datagram that is not the other end's, every bunch arrives as
   it was sent. */
#include "causeway/protocols/bunch.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUNCH 60
#define MAX_PART  20
#define MAX_SIZE  (CW_NOTIFY_HEADER_SIZE + 64)

enum { RECEIVE, SEND, SET, TICK, DAMAGE, FORGE, LOSE, BUSY, RESET, ACTIONS };

struct world {
    struct cw_bunch *ends[2];
    double now;
    bool honest; /* nothing has been forged yet */
    bool busy;   /* the application takes no events */
    uint8_t sent[2], arrived[2];
};

static void take_events(struct world *world, int at)
{
    struct cw_bunch_event event;
    while (!world->busy && cw_bunch_next(world->ends[at], &event)) {
        volatile uint8_t sum = 0;
        for (size_t i = 0; i < event.size; i++)
            sum = (uint8_t)(sum + event.data[i]);
        if (event.type == CW_BUNCH_EVENT_PROPERTY) {
            expect(event.number < 3 && event.size <= 8);
            continue;
        }
        if (event.type == CW_BUNCH_EVENT_UNRELIABLE) {
            expect(event.number < 2 && event.size <= MAX_PART);
            continue;
        }
        expect(event.number < 2 && event.size <= MAX_BUNCH);
        if (world->honest && event.number == 0)
            expect(event.size > 0 && event.data[0] == world->arrived[!at]++);
    }
}

static void receive(struct world *world, int at, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    cw_bunch_receive(world->ends[at], exact + 1, size);
    free(exact);
    take_events(world, at);
}

/* Changes a datagram: flips one of its bits, or replaces what it carries behind its header. Returns
   its size. */
static size_t change(uint8_t *out, size_t size, int how, const uint8_t *data, size_t data_size)
{
    if (how == DAMAGE && data_size)
        out[data[0] % size] ^= (uint8_t)(1u << data[0] % 8);
    if (how != FORGE)
        return size;
    const size_t header_size = 4 + 4 * (size_t)(out[0] % 16 + 1);
    memcpy(out + header_size, data, data_size);
    return header_size + data_size;
}

/* Lets time pass, and carries what is due, except what gets lost or changed. */
static void tick(struct world *world, int from, int how, const uint8_t *data, size_t data_size)
{
    uint8_t out[MAX_SIZE];
    world->now += 1.0 / 60;
    world->honest = world->honest && how != DAMAGE && how != FORGE;
    cw_bunch_update(world->ends[from], world->now);
    take_events(world, from);
    for (size_t size; (size = cw_bunch_transmit(world->ends[from], out, sizeof out)) > 0;) {
        size = change(out, size, how, data, data_size);
        if (how != LOSE)
            receive(world, !from, out, size);
    }
}

static void act(struct world *world, uint8_t what, const uint8_t *data, size_t size)
{
    const int at = what >> 7;
    uint8_t bunch[MAX_BUNCH] = {world->sent[at]};
    switch (what % ACTIONS) {
    case RECEIVE:
        world->honest = false;
        receive(world, at, data, size);
        break;
    case SEND:
        if (cw_bunch_send(world->ends[at], 0, bunch, 1 + size % (MAX_BUNCH - 1)) == CW_PROTOCOL_OK)
            world->sent[at]++;
        cw_bunch_send(world->ends[at], 1, data, size);
        cw_bunch_send_unreliable(world->ends[at], 1, data, size);
        break;
    case SET:
        cw_bunch_set(world->ends[at], what >> 4 & 3, data, size);
        break;
    case BUSY:
        world->busy = !world->busy;
        break;
    case RESET:
        cw_bunch_reset(world->ends[0]);
        cw_bunch_reset(world->ends[1]);
        memset(world->sent, 0, sizeof world->sent);
        memset(world->arrived, 0, sizeof world->arrived);
        world->honest = true;
        break;
    default:
        tick(world, at, what % ACTIONS, data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_bunch_config config = cw_bunch_config_default();
    config.notify.max_packet_size = 64;
    config.queue_parts = 8;
    config.max_part_size = MAX_PART;
    config.unreliable_bunches = 2;
    config.max_bunch_size = MAX_BUNCH;
    config.properties = 3;
    config.max_property_size = 8;
    struct world world = {.now = 100, .honest = true};
    for (int i = 0; i < 2; i++)
        expect(cw_bunch_create(&config, &world.ends[i]) == CW_PROTOCOL_OK);
    while (size >= 2) {
        const size_t next = data[1] % 64u < size - 2 ? data[1] % 64u : size - 2;
        act(&world, data[0], data + 2, next);
        data += 2 + next;
        size -= 2 + next;
    }
    for (int i = 0; i < 2; i++)
        cw_bunch_destroy(world.ends[i]);
    return 0;
}
