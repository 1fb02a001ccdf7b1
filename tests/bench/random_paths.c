/* Measures congestion control on paths drawn at random, in virtual time, and prints quantiles over
   them, for all and for each class.
     bench_random_paths [--seed SEED] [--paths PATHS] [--each] [--only NUMBER] */
#include "random_path.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PATHS_MOST 100000

struct results {
    struct random_result *all;
    uint32_t count;
    uint64_t seed;
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double goodput(const struct random_result *result)
{
    return result->goodput;
}

static double drops(const struct random_result *result)
{
    return result->drops;
}

/* The queue as a part of the longest that congestion control should allow. */
static double queue(const struct random_result *result)
{
    return result->queue / (3 * result->allowed);
}

static double quantile(const struct results *results, int class, double share,
                       double (*of)(const struct random_result *))
{
    double *values = calloc(results->count, sizeof *values);
    uint32_t count = 0;
    for (uint32_t i = 0; i < results->count; i++) {
        if (class < 0 || (int)(i % RANDOM_CLASSES) == class)
            values[count++] = of(&results->all[i]);
    }
    qsort(values, count, sizeof *values, compare);
    const double value = values[(uint32_t)(share * (count - 1))];
    free(values);
    return value;
}

static void print(const struct results *results, int class, const char *prefix)
{
    printf("%sgoodput_p5 %.3f share\n", prefix, quantile(results, class, 0.05, goodput));
    printf("%sgoodput_p50 %.3f share\n", prefix, quantile(results, class, 0.5, goodput));
    printf("%sdrops_p95_percent %.2f percent\n", prefix, quantile(results, class, 0.95, drops));
    printf("%squeue_p95_ratio %.2f ratio\n", prefix, quantile(results, class, 0.95, queue));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"paths", required_argument, NULL, 'p'},
                                            {"only", required_argument, NULL, 'o'},
                                            {"each", no_argument, NULL, 'e'},
                                            {0}};
    struct results results = {.count = 200, .seed = 1};
    bool each = false;
    uint32_t first = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            results.seed = strtoull(optarg, NULL, 10);
        else if (option == 'p')
            results.count = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'o')
            first = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'e')
            each = true;
        else
            return 2;
    }
    results.all = calloc(results.count, sizeof *results.all);
    for (uint32_t i = 0; i < results.count; i++) {
        const struct random_path path = random_path_draw(results.seed, i + first);
        results.all[i] = random_path_run(&path, results.seed + i + first);
        if (!each)
            continue;
        const struct random_result *r = &results.all[i];
        printf("%3u goodput %.2f drops %5.1f queue %5.0f of %4.0f window %.2f%s ", i + first,
               r->goodput, r->drops, 1000 * r->queue, 3000 * r->allowed, r->window,
               r->competed ? " COMPETED" : "");
        random_path_print(&path);
        printf("\n");
        fflush(stdout);
    }
    for (int class = 0; class < RANDOM_CLASSES && results.count >= RANDOM_CLASSES; class ++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%s_", random_class_name(class));
        print(&results, class, prefix);
    }
    print(&results, -1, "");
    free(results.all);
    return 0;
}
