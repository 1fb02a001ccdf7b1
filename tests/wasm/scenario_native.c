/* Prints the hash of the scenario: scenario_native SEED PACKETS */
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const uint64_t hash =
        scenario_run(strtoull(argv[1], NULL, 10), (uint32_t)strtoul(argv[2], NULL, 10));
    printf("%016" PRIx64 "\n", hash);
    return hash == 0;
}
