/* Tests of the request-based protocol on bad paths, both ways at once, in virtual time: every
   package comes once, whole and in order, or is told as missing when it has expired. */
#include "bad_paths.h"
#include "rudp_rig.h"

#define TICK       (1.0 / 60) /* seconds */
#define BUSY_TICKS 2400       /* the time in which both ends send */
#define CALM_TICKS                                                                                 \
    200000 /* the most, until all has come: each of the last takes 1000 at 90 % loss */
#define LONGEST 120
#define MOST    8192 /* the most packages of one end */
#define NEVER   (BUSY_TICKS + CALM_TICKS)

struct end {
    struct cw_rudp *rudp;
    struct cw_simulator *path; /* the path that leads away from here */
    uint64_t sent;
    uint64_t taken; /* the packages that the application here took */
    uint64_t missing;
    uint32_t sent_tick[MOST];
};

struct world {
    struct cw_prng random;
    uint32_t tick;
    uint32_t expiry_ticks;
    uint64_t hash; /* a hash of all that was told, and when */
    struct end ends[2];
};

/* Makes a package of an end, whose bytes follow from its number. */
static size_t make_package(int end, uint64_t id, uint8_t out[LONGEST])
{
    struct cw_prng random = {.state = id * 2 + (uint64_t)end};
    const size_t size = cw_prng_below(&random, LONGEST + 1);
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)cw_prng_bits(&random);
    return size;
}

static void start(struct world *world, uint64_t seed, uint32_t expiry_ticks,
                  const struct cw_simulator_path *path)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    struct cw_simulator_config simulator = cw_simulator_config_default();
    *world = (struct world){.random.state = seed, .expiry_ticks = expiry_ticks};
    config.expiry_ticks = expiry_ticks;
    config.send_window = MOST;
    config.receive_window = 1024;
    config.max_package_size = LONGEST;
    config.send_delay_ticks = 1 + cw_prng_below(&world->random, 2);
    simulator.path = *path;
    simulator.max_datagrams = 4096;
    for (int i = 0; i < 2; i++) {
        simulator.seed = 2 * seed + (uint64_t)i;
        world->ends[i].rudp = rudp_make(&config);
        world->ends[i].path = simulator_with(&simulator);
    }
}

static void send_some(struct world *world, int i)
{
    struct end *end = &world->ends[i];
    uint8_t data[LONGEST];
    for (uint32_t count = cw_prng_below(&world->random, 4); count > 1; count--) {
        const size_t size = make_package(i, end->sent, data);
        assert_ok(cw_rudp_send(end->rudp, data, size));
        end->sent_tick[end->sent++] = world->tick;
    }
}

/* Checks that the next event is the next package of the other end, or that it has expired. */
static void take_events(struct world *world, int i)
{
    struct end *end = &world->ends[i];
    const struct end *other = &world->ends[1 - i];
    struct cw_rudp_event event;
    uint8_t expected[LONGEST];
    for (; cw_rudp_next(end->rudp, &event); end->taken++) {
        assert_int_equal(event.id, end->taken);
        assert_true(event.id < other->sent);
        world->hash = (world->hash ^ (event.type + 4 * event.id + world->tick)) * 0x100000001b3u;
        if (event.type == CW_RUDP_EVENT_MISSING) {
            assert_true(world->tick >= other->sent_tick[event.id] + world->expiry_ticks);
            end->missing++;
            continue;
        }
        assert_int_equal(event.type, CW_RUDP_EVENT_PACKAGE);
        assert_int_equal(event.size, make_package(1 - i, event.id, expected));
        assert_memory_equal(event.data, expected, event.size);
    }
}

static void step(struct world *world)
{
    uint8_t data[512];
    size_t size;
    const double now = ++world->tick * TICK;
    for (int i = 0; i < 2; i++) {
        struct end *end = &world->ends[i];
        if (world->tick <= BUSY_TICKS)
            send_some(world, i);
        cw_rudp_update(end->rudp, 1);
        while ((size = cw_rudp_transmit(end->rudp, data, sizeof data)) > 0)
            assert_ok(cw_simulator_receive(end->path, data, size, now));
    }
    for (int i = 0; i < 2; i++) {
        while ((size = cw_simulator_transmit(world->ends[1 - i].path, data, sizeof data, now)) > 0)
            assert_ok(rudp_give_bytes(world->ends[i].rudp, data, size));
        take_events(world, i);
    }
}

static bool is_done(const struct world *world)
{
    return world->tick > BUSY_TICKS && world->ends[0].taken == world->ends[1].sent &&
           world->ends[1].taken == world->ends[0].sent;
}

/* Runs until all has come; the path stays as bad as it is. */
static struct world run(uint64_t seed, uint32_t expiry_ticks, const struct cw_simulator_path *path)
{
    struct world world;
    start(&world, seed, expiry_ticks, path);
    while (!is_done(&world)) {
        if (world.tick >= BUSY_TICKS + CALM_TICKS)
            fail_msg("seed %u, loss %g: %u and %u packages of %u and %u", (unsigned)seed,
                     path->loss, (unsigned)world.ends[1].taken, (unsigned)world.ends[0].taken,
                     (unsigned)world.ends[0].sent, (unsigned)world.ends[1].sent);
        step(&world);
    }
    assert_true(world.ends[0].sent > BUSY_TICKS / 2 && world.ends[1].sent > BUSY_TICKS / 2);
    fixture_release(NULL);
    return world;
}

static struct cw_simulator_path bad_path(double loss)
{
    return (struct cw_simulator_path){.latency_seconds = 0.04,
                                      .jitter_seconds = 0.03,
                                      .loss = loss,
                                      .duplicate = 0.05,
                                      .reorder = 0.1,
                                      .reorder_delay_seconds = 0.1};
}

static const double losses[] = {0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
#define LOSSES (sizeof losses / sizeof *losses)

TEST(nothing_is_lost_while_it_is_kept)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t i = 0; i < LOSSES; i++) {
            const struct cw_simulator_path path = bad_path(losses[i]);
            const struct world world = run(seed, NEVER, &path);
            assert_int_equal(world.ends[0].missing + world.ends[1].missing, 0);
        }
}

TEST(what_expires_is_told)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (size_t i = 0; i < LOSSES; i++) {
            const struct cw_simulator_path path = bad_path(losses[i]);
            const struct world world = run(seed, 40, &path);
            const uint64_t missing = world.ends[0].missing + world.ends[1].missing;
            const uint64_t sent = world.ends[0].sent + world.ends[1].sent;
            if (losses[i] < 0.1)
                assert_int_equal(missing, 0);
            if (losses[i] >= 0.7)
                assert_true(missing > sent / 100 && missing < sent);
        }
}

TEST(outages_are_survived)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct cw_simulator_path path = bad_path(0.05);
        path.burst_start = 0.01;
        path.burst_end = 0.01;
        path.burst_loss = 1;
        assert_int_equal(run(seed, NEVER, &path).ends[0].missing, 0);
        run(seed, 40, &path);
    }
}

TEST(the_same_seed_gives_the_same_run)
{
    const struct cw_simulator_path path = bad_path(0.3);
    const uint64_t hash = run(5, 40, &path).hash;
    assert_true(run(5, 40, &path).hash == hash);
    assert_true(run(6, 40, &path).hash != hash);
}
