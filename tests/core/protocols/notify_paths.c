/* Tests of packet notification over bad networks, in virtual time: 60 packets per second each way.
   Every packet gets exactly one ack or nak, in order, and an ack only when it was delivered. */
#include "bad_paths.h"
#include "notify_rig.h"

#ifndef SEEDS
#define SEEDS 20
#endif
#define TICKS       6000 /* 100 seconds */
#define CALM        300  /* the last ticks, without loss */
#define MAX_PAYLOAD 100
#define MAX_SIZE    (CW_NOTIFY_HEADER_SIZE + MAX_PAYLOAD)

struct side {
    struct cw_notify *notify;
    uint32_t sent;
    uint32_t settled; /* packets whose fate was told */
    uint32_t acked;
    uint32_t falsely_nakked; /* packets with a nak although they were delivered */
    int64_t newest;          /* the newest that the other side delivered */
    bool delivered[TICKS];   /* the packets that arrived, by their number */
};

struct world {
    struct bad_paths paths;
    struct side sides[2];
};

/* Makes a packet, which has a content and a size of its own. */
static size_t content(uint32_t number, int side, uint8_t payload[MAX_PAYLOAD])
{
    struct cw_prng bits = {number * 2u + (uint32_t)side};
    const size_t size = 4 + cw_prng_below(&bits, MAX_PAYLOAD - 3);
    for (size_t i = 0; i < size; i++)
        payload[i] = (uint8_t)cw_prng_bits(&bits);
    memcpy(payload, &number, 4);
    return size;
}

static void take(struct world *world, int at)
{
    struct side *side = &world->sides[at], *other = &world->sides[!at];
    struct cw_notify_event event;
    while (cw_notify_next(side->notify, &event)) {
        if (event.type == CW_NOTIFY_EVENT_PACKET) {
            uint8_t expected[MAX_PAYLOAD];
            uint32_t number;
            assert_true(event.size >= 4);
            memcpy(&number, event.payload, 4);
            assert_true(number < other->sent && (int64_t)number > other->newest);
            assert_int_equal(event.size, content(number, !at, expected));
            assert_memory_equal(event.payload, expected, event.size);
            other->newest = number;
            if (cw_prng_chance(&world->paths.random, 0.02))
                cw_notify_refuse(side->notify);
            else
                other->delivered[number] = true;
            continue;
        }
        assert_true(side->settled < side->sent);
        assert_int_equal(event.sequence, (16000 + side->settled) % CW_NOTIFY_SEQUENCES);
        const bool acked = event.type == CW_NOTIFY_EVENT_ACK;
        assert_true(!acked || side->delivered[side->settled]);
        side->falsely_nakked += !acked && side->delivered[side->settled];
        side->acked += acked;
        side->settled++;
    }
}

static void receive(struct world *world, int at)
{
    uint8_t *exact;
    size_t size;
    while ((exact = bad_paths_next(&world->paths, !at, &size)) != NULL) {
        assert_int_not_equal(cw_notify_receive(world->sides[at].notify, exact, size),
                             CW_PROTOCOL_ERROR_MALFORMED);
        free(exact);
        if (cw_prng_chance(&world->paths.random, 0.5))
            take(world, at);
    }
    cw_notify_update(world->sides[at].notify);
    take(world, at);
}

static void send(struct world *world, int at)
{
    struct side *side = &world->sides[at];
    uint8_t payload[MAX_PAYLOAD], data[MAX_SIZE];
    const size_t payload_size = content(side->sent++, at, payload);
    assert_ok(cw_notify_send(side->notify, payload, payload_size, NULL));
    const size_t size = cw_notify_transmit(side->notify, data, sizeof data);
    assert_ok(cw_simulator_receive(world->paths.from[at], data, size, world->paths.now));
}

static void start(struct world *world, uint64_t seed)
{
    *world = (struct world){.paths = bad_paths(seed)};
    struct cw_notify_config config = cw_notify_config_default();
    config.first_sequence = config.first_peer_sequence = 16000;
    config.max_packet_size = MAX_PAYLOAD;
    for (int i = 0; i < 2; i++) {
        world->sides[i].newest = -1;
        assert_ok(cw_notify_create(&config, &world->sides[i].notify));
        own(world->sides[i].notify, notify_release);
    }
}

static void tick(void *context)
{
    struct world *world = context;
    world->paths.now += 1.0 / 60;
    for (int i = 0; i < 2; i++) {
        receive(world, i);
        send(world, i);
    }
}

/* Ends on a calm network, where all that was sent gets its fate. */
static void finish(struct world *world)
{
    bad_paths_calm(&world->paths);
    for (int i = 0; i < CALM; i++)
        tick(world);
    for (int i = 0; i < 2; i++) {
        const struct side *side = &world->sides[i];
        struct cw_notify_stats stats;
        cw_notify_get_stats(side->notify, &stats);
        assert_true(side->settled + 10 >= side->sent);
        assert_true(side->acked >= CALM * 9 / 10);
        assert_int_equal(stats.packets_acked, side->acked);
        assert_int_equal(stats.packets_acked + stats.packets_nakked, side->settled);
    }
}

TEST(test_loss)
{
    static struct world world;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        for (int loss = 0; loss <= 90; loss += 15) {
            start(&world, seed);
            bad_paths_lose(&world.paths, loss / 100.0);
            for (int i = 0; i < TICKS - CALM; i++)
                tick(&world);
            finish(&world);
            fixture_release(NULL);
            for (int i = 0; i < 2; i++) /* no packet that was delivered is told as lost */
                if (world.sides[i].falsely_nakked)
                    fail_msg("seed %d, loss %d: %u wrong naks", (int)seed, loss,
                             world.sides[i].falsely_nakked);
        }
    }
}

/* Nothing arrives for seconds, in one direction or in both, so that histories become full. */
TEST(test_outages)
{
    static struct world world;
    uint64_t overflowed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        start(&world, seed);
        bad_paths_fail(&world.paths, TICKS - CALM, tick, &world);
        for (int i = 0; i < 2; i++) {
            struct cw_notify_stats stats;
            cw_notify_get_stats(world.sides[i].notify, &stats);
            overflowed += stats.packets_overflowed;
        }
        finish(&world);
        fixture_release(NULL);
    }
    assert_true(overflowed > 0);
}
