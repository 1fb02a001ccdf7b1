/* Tests of the byte stream against a kernel's TCP: 64 bytes at 60 Hz in one direction, 100 ms round
   trip, 1, 5 and 10 % loss in either direction. Our latencies are of the same order of magnitude as
   the kernel's. */
#include "bad_paths.h"
#include "window_rig.h"

#define MESSAGE    64
#define RATE       60
#define SECONDS    10
#define COUNT      (RATE * SECONDS)
#define STREAMS    99
#define PACKET_MAX 2048

struct summary {
    double median, mean, p99; /* seconds from send to read */
};

/* The kernel is Linux 6.18 with TCP_NODELAY, CUBIC and SACK, and its defaults otherwise. The
   streams went from one network namespace to another over two TUN devices, between which a program
   carried the packets with that delay and loss. Each figure is that of the middle one of 11
   streams, and of the middle one of three runs. */
static const struct {
    double loss;
    struct summary kernel;
} recorded[] = {
    {0.01, {0.051, 0.058, 0.182}},
    {0.05, {0.063, 0.088, 0.287}},
    {0.10, {0.111, 0.178, 0.854}},
};

/* The latencies of one stream's messages. */
struct latencies {
    double values[COUNT];
    uint32_t count;
};

static void note(struct latencies *latencies, double seconds)
{
    latencies->values[latencies->count++] = seconds;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Returns for each figure that of the middle stream: a single stream that stalls for seconds would
   decide it otherwise. */
static struct summary summary_of(struct latencies *streams, size_t count)
{
    double medians[STREAMS], means[STREAMS], p99s[STREAMS];
    for (size_t i = 0; i < count; i++) {
        struct latencies *latencies = &streams[i];
        assert_int_equal(latencies->count, COUNT);
        medians[i] = median_of(latencies->values, COUNT);
        p99s[i] = latencies->values[COUNT * 99 / 100];
        means[i] = 0;
        for (uint32_t j = 0; j < COUNT; j++)
            means[i] += latencies->values[j] / COUNT;
    }
    return (struct summary){median_of(medians, count), median_of(means, count),
                            median_of(p99s, count)};
}

static void run_stream(double loss, uint64_t seed, struct latencies *latencies)
{
    const struct cw_window_config config = cw_window_config_default();
    struct window_rig rig = rig_with(&config);
    struct cw_window *ends[2] = {rig.a, rig.b};
    struct cw_simulator *paths[2];
    double sent[COUNT];
    uint32_t count = 0, arrived = 0;
    for (int i = 0; i < 2; i++) {
        struct cw_simulator_config path = cw_simulator_config_default();
        path.seed = 2 * seed + (uint64_t)i;
        path.path.latency_seconds = ONE_WAY;
        path.path.loss = loss;
        paths[i] = simulator_with(&path);
    }
    for (uint32_t millisecond = 0; arrived < COUNT; millisecond++) {
        uint8_t data[PACKET_MAX] = {0};
        size_t size;
        const double now = millisecond / 1000.0;
        if (count < COUNT && now >= (double)count / RATE) {
            assert_ok(cw_window_send(rig.a, data, MESSAGE, now, &size));
            sent[count++] = now;
        }
        for (int i = 0; i < 2; i++) {
            cw_window_update(ends[i], now);
            while ((size = cw_simulator_transmit(paths[1 - i], data, sizeof data, now)) > 0)
                cw_window_receive(ends[i], data, size, now);
            while ((size = cw_window_transmit(ends[i], data, sizeof data, now)) > 0)
                cw_simulator_receive(paths[i], data, size, now);
        }
        rig.taken += cw_window_read(rig.b, data, sizeof data);
        for (; arrived < rig.taken / MESSAGE; arrived++)
            note(latencies, now - sent[arrived]);
    }
    fixture_release(NULL); /* otherwise all streams take memory until the end */
}

static bool within_times(double own, double theirs, double times)
{
    return own < times * theirs && theirs < times * own;
}

TEST(its_latency_is_of_the_order_of_the_kernels)
{
    static struct latencies ours[STREAMS];
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        memset(ours, 0, sizeof ours);
        for (uint64_t seed = 0; seed < STREAMS; seed++)
            run_stream(recorded[i].loss, seed, &ours[seed]);
        const struct summary theirs = recorded[i].kernel, own = summary_of(ours, STREAMS);
        print_message("%2.0f %% loss: median, mean, p99 ms: kernel %.0f %.0f %.0f, ours %.0f %.0f "
                      "%.0f\n",
                      recorded[i].loss * 100, theirs.median * 1000, theirs.mean * 1000,
                      theirs.p99 * 1000, own.median * 1000, own.mean * 1000, own.p99 * 1000);
        assert_true(within_times(own.median, theirs.median, 2));
        assert_true(within_times(own.mean, theirs.mean, 2));
        assert_true(within_times(own.p99, theirs.p99, 3));
    }
}
