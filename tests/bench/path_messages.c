/* Measures small messages over all sorts of paths, in virtual time: one of 64 bytes a tick, at 60
   Hz unless a scene says otherwise. Figures in bytes are of all datagrams of the sender, per
   message.
     bench_path_messages [SCENE [SEED]]    prints all scenes, or only one */
#include "path_traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT         0.1 /* seconds */
#define SEEDS       3
#define UDP_HEADERS 28    /* bytes, with those of IPv4 */
#define DRIFT       0.002 /* the share by which one clock is faster than the other */

static uint64_t only_seed;

static void print(const char *figure, double value, int digits)
{
    printf("%s %.*f %s\n", figure, digits, value, strrchr(figure, '_') + 1);
}

struct run {
    struct path_world *world;
    struct path_flow *flow;
    struct traffic traffic[2];
};

static struct run *begin(uint64_t seed, const struct cw_simulator_path *path,
                         const struct cw_connection_config *config)
{
    struct run *run = calloc(1, sizeof *run);
    run->world = path_world_create(only_seed ? only_seed : seed, path, path);
    run->flow = path_world_add(run->world, config);
    traffic_set(run->flow, &run->traffic[0], &run->traffic[1]);
    return run;
}

static void end(struct run *run)
{
    path_world_destroy(run->world);
    for (int i = 0; i < 2; i++)
        traffic_free(&run->traffic[i]);
    free(run);
}

/* Runs for the seconds given after a warm-up of five seconds, and measures only them. */
static void measure(struct run *run, double seconds)
{
    path_world_run(run->world, 5);
    path_world_measure(run->world);
    for (int i = 0; i < 2; i++)
        traffic_measure(&run->traffic[i]);
    path_world_run(run->world, 5 + seconds);
}

static double bytes_each(const struct run *run)
{
    uint64_t bytes = 0, messages = 0;
    for (int i = 0; i < 2; i++) {
        bytes += run->traffic[i].messages_sent ? run->flow->ends[i].bytes_sent : 0;
        messages += run->traffic[i].messages_sent;
    }
    return (double)bytes / (double)messages;
}

/* The receiver ticks rarely but takes what arrives at once, as a hidden tab does, and sends one
   packet a tick, as the reference library does. It has no messages of its own. */
static double slow_receiver(double hz, double loss, double *p99)
{
    struct cw_simulator_path path = path_of_rtt(RTT);
    const struct cw_connection_config config = traffic_messages();
    double most = 0;
    path.loss = loss;
    *p99 = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run *run = begin(seed, &path, &config);
        run->flow->ends[1].interval = 1 / hz;
        run->flow->ends[1].reads_at_once = true;
        run->flow->ends[1].most_datagrams = 1;
        run->traffic[0].messages_per_tick = 1;
        measure(run, 300);
        most = fmax(most, bytes_each(run));
        *p99 = fmax(*p99, traffic_percentile_ms(&run->traffic[1], &run->traffic[0], 0.99));
        end(run);
    }
    return most;
}

static void slow_receivers(void)
{
    double p99;
    print("receiver_5hz_bytes", slow_receiver(5, 0, &p99), 1);
    print("receiver_1hz_bytes", slow_receiver(1, 0, &p99), 1);
    print("receiver_5hz_loss_5_bytes", slow_receiver(5, 0.05, &p99), 1);
    print("receiver_5hz_loss_5_p99_ms", p99, 0);
}

static void idle(void)
{
    const struct cw_simulator_path path = path_of_rtt(RTT);
    const struct cw_connection_config config = traffic_messages();
    struct run *run = begin(1, &path, &config);
    measure(run, 60);
    const double a = (double)run->flow->ends[0].datagrams_sent / 60;
    const double b = (double)run->flow->ends[1].datagrams_sent / 60;
    print("idle_packets_per_s", fmax(a, b), 1);
    end(run);
}

/* Sends one message a second over a path that loses this share, from one end. Sets the packets and
   bytes, with headers of UDP and IP, that both ends send for one. */
static double rare_p99(double loss, double *packets, double *bytes)
{
    struct cw_simulator_path path = path_of_rtt(RTT);
    const struct cw_connection_config config = traffic_messages();
    double most = 0;
    path.loss = loss;
    *packets = *bytes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run *run = begin(seed, &path, &config);
        const struct path_end *ends = run->flow->ends;
        run->traffic[0].messages_per_tick = 1;
        run->traffic[0].ticks_between = 60;
        measure(run, 600);
        const double sent = (double)(ends[0].datagrams_sent + ends[1].datagrams_sent);
        const double size = (double)(ends[0].bytes_sent + ends[1].bytes_sent) + sent * UDP_HEADERS;
        *packets = fmax(*packets, sent / (double)run->traffic[0].messages_sent);
        *bytes = fmax(*bytes, size / (double)run->traffic[0].messages_sent);
        most = fmax(most, traffic_percentile_ms(&run->traffic[1], &run->traffic[0], 0.99));
        end(run);
    }
    return most;
}

static void rare(void)
{
    double packets, bytes, unused;
    (void)rare_p99(0, &packets, &bytes);
    print("rare_packets", packets, 2);
    print("rare_bytes", bytes, 1);
    print("rare_loss_5_p99_ms", rare_p99(0.05, &unused, &unused), 0);
    print("rare_loss_20_p99_ms", rare_p99(0.2, &unused, &unused), 0);
}

/* Prints the mean and the 99th percentile of both directions, and the bytes of both. */
static void lossy(const char *name, const struct cw_simulator_path *path,
                  enum cw_recovery_kind recovery, uint32_t extra_bytes, double seconds)
{
    struct cw_connection_config config = traffic_messages();
    double mean = 0, p99 = 0, bytes = 0;
    char figure[64];
    config.channels[0].recovery = recovery;
    config.channels[0].extra_bytes = extra_bytes;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run *run = begin(seed, path, &config);
        for (int i = 0; i < 2; i++)
            run->traffic[i].messages_per_tick = 1;
        measure(run, seconds);
        mean = fmax(mean, traffic_mean_ms(&run->traffic[0], &run->traffic[1]));
        p99 = fmax(p99, traffic_percentile_ms(&run->traffic[0], &run->traffic[1], 0.99));
        bytes = fmax(bytes, bytes_each(run));
        end(run);
    }
    (void)snprintf(figure, sizeof figure, "%s_mean_ms", name);
    print(figure, mean, 1);
    (void)snprintf(figure, sizeof figure, "%s_p99_ms", name);
    print(figure, p99, 1);
    (void)snprintf(figure, sizeof figure, "%s_bytes", name);
    print(figure, bytes, 1);
}

/* Measures a path that loses a fifth of all packets, four in a row on average. */
static void bursts(void)
{
    struct cw_simulator_path path = path_of_rtt(0.2);
    path.burst_end = 0.25;
    path.burst_start = path.burst_end * 0.2 / 0.8;
    path.burst_loss = 1;
    lossy("rtt_200_burst_20", &path, CW_RECOVERY_COPIES, 300, 600);
}

static void rare_losses(void)
{
    struct cw_simulator_path path = path_of_rtt(RTT);
    path.loss = 0.01;
    lossy("loss_1_redundancy", &path, CW_RECOVERY_COPIES, 100, 600);
}

/* Returns by how much the 99th percentile falls at most from one share of losses to a higher one,
   over a long path, in percent. */
static double fall_of(enum cw_recovery_kind recovery)
{
    static const double losses[] = {0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.03};
    struct cw_simulator_path path = path_of_rtt(0.15);
    double most = 0, fall = 0;
    struct cw_connection_config config = traffic_messages();
    config.channels[0].recovery = recovery;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        double p99 = 0;
        path.loss = losses[i];
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct run *run = begin(seed, &path, &config);
            run->traffic[0].messages_per_tick = run->traffic[1].messages_per_tick = 1;
            measure(run, 600);
            p99 = fmax(p99, traffic_percentile_ms(&run->traffic[0], &run->traffic[1], 0.99));
            end(run);
        }
        most = fmax(most, p99);
        fall = fmax(fall, 100 * (1 - p99 / most));
    }
    return fall;
}

static void rising_loss(void)
{
    const double fall = fmax(fall_of(CW_RECOVERY_COPIES), fall_of(CW_RECOVERY_CODED));
    print("rising_loss_p99_fall_percent", fall, 1);
}

static void repair(void)
{
    struct cw_simulator_path path = path_of_rtt(RTT);
    path.loss = 0.05;
    lossy("repair_5", &path, CW_RECOVERY_CODED, 100, 600);
    path.loss = 0.2;
    lossy("repair_20", &path, CW_RECOVERY_CODED, 100, 600);
    path.loss = 0.5;
    lossy("repair_50", &path, CW_RECOVERY_CODED, 250, 600);
}

/* Returns how many times more bytes two ends of nearly the same rate send on a short path without
   losses than when each message goes once. The clocks drift, so that the ticks of one pass those of
   the other. */
static double short_path(double rtt, double hz, double wobble, uint64_t seed)
{
    const struct cw_simulator_path path = path_of_rtt(rtt);
    const struct cw_connection_config config = traffic_messages();
    struct run *run = begin(seed, &path, &config);
    for (int i = 0; i < 2; i++) {
        run->flow->ends[i].interval = (1 + DRIFT * i) / hz;
        run->flow->ends[i].wobble = wobble;
        run->traffic[i].messages_per_tick = 1;
    }
    measure(run, 1.5 / (DRIFT * hz));
    const double least = TRAFFIC_MESSAGE + 8; /* with headers, as in message.loss_0 */
    const double ratio = bytes_each(run) / least;
    end(run);
    return ratio;
}

static void short_paths(void)
{
    static const double rtts[] = {0.0005, 0.001, 0.002, 0.004, 0.007, 0.01, 0.015};
    static const double rates[] = {20, 30, 60, 75, 90, 120, 144};
    static const double wobbles[] = {0, 0.02, 0.1, 0.5};
    double worst = 0;
    for (size_t i = 0; i < sizeof rtts / sizeof *rtts; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            for (size_t k = 0; k < sizeof wobbles / sizeof *wobbles; k++)
                worst = fmax(worst, short_path(rtts[i], rates[j], wobbles[k], 1 + i + j + k));
        }
    }
    print("short_path_bytes_ratio", worst, 3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {
        {"slow_receivers", slow_receivers},
        {"idle", idle},
        {"rare", rare},
        {"bursts", bursts},
        {"rare_losses", rare_losses},
        {"rising_loss", rising_loss},
        {"repair", repair},
        {"short_paths", short_paths},
    };
    if (argc > 2)
        only_seed = strtoull(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].run();
    }
    return 0;
}
