/* Prints the hash of a scenario: scenario_native packets | prediction SEED COUNT, of packets or of
   ticks. */
#include "prediction_scenario.h"
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const uint64_t seed = strtoull(argv[2], NULL, 10);
    const uint32_t count = (uint32_t)strtoul(argv[3], NULL, 10);
    const uint64_t hash = strcmp(argv[1], "prediction") == 0
                              ? prediction_scenario_run(seed, count).hash
                              : scenario_run(seed, count);
    printf("%016" PRIx64 "\n", hash);
    return hash == 0;
}
