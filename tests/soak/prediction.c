/* A client that predicts its own moves for as many simulated hours as asked, over a path with 20 %
   loss, jitter and duplicates: after every state of the server it is where that state and its own
   inputs since lead to. */
#include "prediction_scenario.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TICKS_PER_HOUR (3600 * 60)

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'}, {"hours", required_argument, NULL, 'h'}, {0}};
    uint64_t seed = 1;
    uint32_t hours = 1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'h')
            hours = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    printf("seed %" PRIu64 ", %" PRIu32 " simulated hours\n", seed, hours);
    fflush(stdout);
    const struct prediction_result result = prediction_scenario_run(seed, hours * TICKS_PER_HOUR);
    printf("%" PRIu64 " states of the server, %" PRIu64 " corrections, %" PRIu64
           " ticks played again, at most %" PRIu32 " at once, %" PRIu64 " times elsewhere, %" PRIu64
           " desyncs, hash %016" PRIx64 "\n",
           result.acked, result.corrections, result.replayed, result.max_depth, result.failed,
           result.desyncs, result.hash);
    return result.hash == 0 || result.corrections < hours * 100;
}
