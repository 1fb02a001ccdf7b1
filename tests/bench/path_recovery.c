/* Measures recovery beside yojimbo's blind resending, in virtual time: one message of 64 bytes a
   tick both ways, at 60 Hz, over long paths that lose 1 to 20 % at random or five in a row on
   average. The figures are ours divided by yojimbo's, for the worst of all paths and seeds.
     bench_path_recovery [SEED [paths]]    with `paths` prints a line for each path instead */
#include "path_yojimbo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS   3
#define SECONDS 300

/* The budgets make use of the bytes that there are: yojimbo sends the more, the longer the path. */
static const struct {
    double rtt;
    uint32_t extra_bytes;
} paths[] = {{0.25, 125}, {0.4, 200}, {0.6, 300}};

static const double losses[] = {0.01, 0.02, 0.05, 0.1, 0.2};

static struct cw_simulator_path path_with(double rtt, double loss, bool bursts)
{
    struct cw_simulator_path path = path_of_rtt(rtt);
    path.loss = bursts ? 0 : loss;
    path.burst_end = 0.2;
    path.burst_start = bursts ? path.burst_end * loss / (1 - loss) : 0;
    path.burst_loss = 1;
    return path;
}

/* Adds the results of some seeds, which then stand for a single long run. */
static void add(struct traffic_result *sum, struct traffic_result one)
{
    sum->mean_ms += one.mean_ms / SEEDS;
    sum->p99_ms += one.p99_ms / SEEDS;
    sum->bytes += one.bytes / SEEDS;
}

int main(int argc, char **argv)
{
    const uint64_t first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    struct traffic_result worst = {0};
    for (size_t i = 0; i < 2 * sizeof paths / sizeof *paths; i++) {
        struct cw_connection_config config = traffic_messages();
        config.channels[0].recovery = CW_RECOVERY_CODED;
        config.channels[0].extra_bytes = paths[i / 2].extra_bytes;
        for (size_t j = 0; j < sizeof losses / sizeof *losses; j++) {
            const struct cw_simulator_path path = path_with(paths[i / 2].rtt, losses[j], i % 2);
            struct traffic_result ours = {0}, other = {0};
            for (uint64_t seed = first_seed; seed < first_seed + SEEDS; seed++) {
                add(&ours, traffic_run(seed, &path, &config, SECONDS));
                add(&other, path_yojimbo_run(seed, &path, SECONDS));
            }
            if (argc > 2)
                printf("%s %3.0f ms %2.0f %%: %5.1f/%4.0f ms %3.0f B, yojimbo %5.1f/%4.0f %3.0f\n",
                       i % 2 ? "bursts" : "random", 1000 * paths[i / 2].rtt, 100 * losses[j],
                       ours.mean_ms, ours.p99_ms, ours.bytes, other.mean_ms, other.p99_ms,
                       other.bytes);
            worst.mean_ms = fmax(worst.mean_ms, ours.mean_ms / other.mean_ms);
            worst.p99_ms = fmax(worst.p99_ms, ours.p99_ms / other.p99_ms);
            worst.bytes = fmax(worst.bytes, ours.bytes / other.bytes);
        }
    }
    if (argc > 2)
        return 0;
    printf("yojimbo_mean_ratio %.3f ratio\n", worst.mean_ms);
    printf("yojimbo_p99_ratio %.3f ratio\n", worst.p99_ms);
    printf("yojimbo_bytes_ratio %.3f ratio\n", worst.bytes);
    return 0;
}
