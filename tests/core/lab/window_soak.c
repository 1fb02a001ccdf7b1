/* Tests of a byte stream in both directions under 0 to 90 % loss, with jitter, duplicates and small
   buffers: every byte arrives, once and in order, and it always goes on. */
#include "bad_paths.h"
#include "window_rig.h"

#include <inttypes.h>

#define STEP    0.01 /* seconds */
#define HOURS   24   /* hours of virtual time, after which a stream counts as stuck */
#define SEEDS   3
#define AT_ONCE 700 /* the longest write and read */

struct side {
    struct cw_window *window;
    struct cw_simulator *path; /* the path that leads away from this side */
    uint64_t given, taken;     /* bytes of this side's stream, at its ends */
};

struct soak {
    struct side sides[2];
    struct cw_prng random;
    double now;
    uint64_t bytes; /* the bytes in each direction */
};

static void write_some(struct soak *soak, struct side *side)
{
    uint8_t bytes[AT_ONCE];
    uint64_t size = 1 + cw_prng_below(&soak->random, AT_ONCE);
    size_t taken;
    if (size > soak->bytes - side->given)
        size = soak->bytes - side->given;
    for (size_t i = 0; i < size; i++)
        bytes[i] = stream_byte(side->given + i);
    if (size > 0 &&
        cw_window_send(side->window, bytes, (size_t)size, soak->now, &taken) == CW_PROTOCOL_OK)
        side->given += taken;
}

static void read_some(struct soak *soak, struct side *to, struct side *from)
{
    uint8_t bytes[AT_ONCE];
    const size_t size =
        cw_window_read(to->window, bytes, cw_prng_below(&soak->random, AT_ONCE + 1));
    assert_true(from->taken + size <= from->given);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], stream_byte(from->taken + i));
    from->taken += size;
}

static void run_step(struct soak *soak)
{
    uint8_t data[2048];
    soak->now += STEP;
    for (int i = 0; i < 2; i++) {
        struct side *side = &soak->sides[i], *other = &soak->sides[1 - i];
        for (size_t size;
             (size = cw_simulator_transmit(other->path, data, sizeof data, soak->now)) > 0;)
            assert_true(cw_window_receive(side->window, data, size, soak->now) !=
                        CW_PROTOCOL_ERROR_MALFORMED);
        read_some(soak, side, other);
        write_some(soak, side);
        cw_window_update(side->window, soak->now);
        for (size_t size;
             (size = cw_window_transmit(side->window, data, sizeof data, soak->now)) > 0;)
            assert_ok(cw_simulator_receive(side->path, data, size, soak->now));
    }
}

/* The backoff is limited, since one up to two minutes would make heavy loss last for weeks. */
static struct cw_window_config config_of(struct cw_prng *random, double loss)
{
    struct cw_window_config config = cw_window_config_default();
    config.selective_acks = cw_prng_chance(random, 0.5);
    config.control = cw_prng_chance(random, 0.5) ? CW_WINDOW_RENO : CW_WINDOW_CUBIC;
    config.first_sequence = 0u - cw_prng_below(random, 100000);
    config.max_segment_size = 100 + cw_prng_below(random, 1100);
    config.send_buffer_bytes = 500 + cw_prng_below(random, 50000);
    config.receive_buffer_bytes = 500 + cw_prng_below(random, 50000);
    config.max_segments = 10 + cw_prng_below(random, 300);
    if (loss > 0.4)
        config.max_rto_seconds = 2;
    return config;
}

static void run(uint64_t seed, double loss)
{
    struct soak soak = {.random = {seed}, .bytes = loss > 0.6 ? 30000 : 300000};
    const struct cw_window_config config = config_of(&soak.random, loss);
    uint64_t resent = 0;
    for (int i = 0; i < 2; i++) {
        struct cw_simulator_config path = cw_simulator_config_default();
        path.seed = cw_prng_bits(&soak.random);
        path.path.loss = loss;
        path.path.latency_seconds = 0.1 * cw_prng_share(&soak.random);
        path.path.jitter_seconds = 0.1 * cw_prng_share(&soak.random);
        path.path.duplicate = 0.05 * cw_prng_share(&soak.random);
        soak.sides[i].path = simulator_with(&path);
        soak.sides[i].window = window_with(&config);
    }
    while (soak.sides[0].taken < soak.bytes || soak.sides[1].taken < soak.bytes) {
        if (soak.now > HOURS * 3600.0)
            fail_msg("seed %" PRIu64 ", loss %.2f: stuck after %" PRIu64 " and %" PRIu64 " bytes",
                     seed, loss, soak.sides[0].taken, soak.sides[1].taken);
        run_step(&soak);
    }
    for (int i = 0; i < 2; i++)
        resent += window_stats(soak.sides[i].window).segments_resent;
    fixture_release(NULL);
    print_message("seed %" PRIu64 ", loss %.2f: %.0f s, %" PRIu64 " sent again\n", seed, loss,
                  soak.now, resent);
    assert_true(loss <= 0 || resent > 0);
}

TEST(every_byte_arrives_in_order)
{
    const double losses[] = {0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            run(seed, losses[i]);
}
