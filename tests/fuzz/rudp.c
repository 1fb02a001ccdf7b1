/* Two ends of the request-based protocol talk to each other, with datagrams of the input's own and
   damaged ones in between, all for ours. Nothing crashes, nothing beyond a datagram is read, no
   more is kept than agreed, and packages come in order. The other end, which only gets what ours
   sends, still gets each of our packages whole and in order, or is told that it has expired. */
#include "causeway/protocols/rudp.h"
#include "target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW       32
#define MAX_PACKAGE  300
#define EXPIRY       20
#define MAX_DATAGRAM 512

enum { RECEIVE, SEND, PASS, ANSWER, DAMAGE, WAIT, TAKE, RESET, ACTIONS };

struct world {
    struct cw_rudp *ours;
    struct cw_rudp *theirs;
    uint64_t sent;       /* the packages that ours sent */
    uint64_t ours_taken; /* the events of packages that ours gave */
    uint64_t theirs_taken;
};

/* Makes package `id` of ours: its size and all its bytes follow from the id. */
static size_t make_package(uint64_t id, uint8_t out[MAX_PACKAGE])
{
    const size_t size = id * 7 % (MAX_PACKAGE + 1);
    memset(out, (int)(id % 251), size);
    return size;
}

static void take_ours(struct world *world)
{
    struct cw_rudp_event event;
    while (cw_rudp_next(world->ours, &event)) {
        volatile uint8_t sum = 0;
        for (size_t i = 0; i < event.size; i++)
            sum = (uint8_t)(sum + event.data[i]);
        expect(event.size <= MAX_PACKAGE);
        if (event.type != CW_RUDP_EVENT_CORRUPT)
            expect(event.id == world->ours_taken++);
    }
}

static void take_theirs(struct world *world)
{
    struct cw_rudp_event event;
    uint8_t expected[MAX_PACKAGE];
    while (cw_rudp_next(world->theirs, &event)) {
        if (event.type == CW_RUDP_EVENT_CORRUPT)
            continue;
        expect(event.id == world->theirs_taken++ && event.id < world->sent);
        if (event.type == CW_RUDP_EVENT_PACKAGE)
            expect(event.size == make_package(event.id, expected) &&
                   memcmp(event.data, expected, event.size) == 0);
    }
}

static void check(const struct world *world)
{
    struct cw_rudp_stats stats;
    uint64_t id = 0;
    cw_rudp_get_stats(world->ours, &stats);
    expect(stats.packages_kept + stats.packages_queued <= WINDOW);
    expect(stats.packages_sent + stats.packages_queued == world->sent);
    expect(stats.packages_received + stats.packages_missing <= world->ours_taken + WINDOW);
    if (cw_rudp_waiting(world->ours, &id))
        expect(id == world->ours_taken);
    cw_rudp_get_stats(world->theirs, &stats);
    expect(stats.datagrams_malformed == 0);
}

static enum cw_protocol_error receive(struct cw_rudp *rudp, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    const enum cw_protocol_error error = cw_rudp_receive(rudp, exact + 1, size);
    free(exact);
    return error;
}

static void send_package(struct world *world)
{
    uint8_t data[MAX_PACKAGE];
    const size_t size = make_package(world->sent, data);
    if (cw_rudp_send(world->ours, data, size) == CW_PROTOCOL_OK)
        world->sent++;
}

/* Passes a round of ours or theirs. Datagrams whose bit is set in lost do not arrive, and one byte
   is changed in each that arrives at ours. */
static void pass(struct world *world, bool theirs, unsigned lost, unsigned place, unsigned damage)
{
    struct cw_rudp *from = theirs ? world->theirs : world->ours;
    uint8_t out[MAX_DATAGRAM];
    size_t size;
    cw_rudp_update(from, 1);
    for (int datagrams = 0; (size = cw_rudp_transmit(from, out, sizeof out)) > 0; lost >>= 1) {
        expect(++datagrams <= 3 * WINDOW);
        if (lost & 1)
            continue;
        if (theirs)
            out[place % size] ^= (uint8_t)damage;
        const enum cw_protocol_error error =
            receive(theirs ? world->ours : world->theirs, out, size);
        expect(error == CW_PROTOCOL_OK || damage);
    }
    take_theirs(world);
}

static void act(struct world *world, struct input *input)
{
    const uint8_t *data;
    unsigned size, lost, place;
    switch (take(input, 1) % ACTIONS) {
    case RECEIVE:
        size = take_bytes(input, take(input, 2) % (MAX_DATAGRAM + 1), &data);
        receive(world->ours, data, size);
        break;
    case SEND:
        send_package(world);
        break;
    case PASS:
        pass(world, false, take(input, 1), 0, 0);
        break;
    case ANSWER:
        cw_rudp_send(world->theirs, (const uint8_t *)"hello", take(input, 1) % 6);
        pass(world, true, take(input, 1), 0, 0);
        break;
    case DAMAGE:
        lost = take(input, 1);
        place = take(input, 2);
        pass(world, true, lost, place, take(input, 1));
        break;
    case WAIT:
        cw_rudp_update(world->ours, take(input, 1) % (2 * EXPIRY));
        break;
    case TAKE:
        take_ours(world);
        break;
    case RESET:
        cw_rudp_reset(world->ours);
        cw_rudp_reset(world->theirs);
        world->sent = world->ours_taken = world->theirs_taken = 0;
        break;
    }
}

/* Sends one more package, so that the other end gets to know of all before it. */
static void finish(struct world *world)
{
    pass(world, false, 0, 0, 0);
    cw_rudp_update(world->ours, EXPIRY);
    const uint64_t sent = world->sent;
    send_package(world);
    expect(world->sent == sent + 1);
    for (int round = 0; round < 10 + (int)(sent / WINDOW); round++) {
        pass(world, false, 0, 0, 0);
        pass(world, true, 0, 0, 0);
        take_ours(world);
    }
    expect(world->theirs_taken == world->sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {0};
    struct input input = {data, size};
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_window = config.receive_window = WINDOW;
    config.max_package_size = MAX_PACKAGE;
    config.expiry_ticks = EXPIRY;
    expect(cw_rudp_create(&config, &world.ours) == CW_PROTOCOL_OK);
    expect(cw_rudp_create(&config, &world.theirs) == CW_PROTOCOL_OK);
    while (input.size) {
        act(&world, &input);
        check(&world);
    }
    finish(&world);
    check(&world);
    cw_rudp_destroy(world.ours);
    cw_rudp_destroy(world.theirs);
    return 0;
}
