/* Prints the name of every protocol of the lab and the hash of a run of it:
   lab_hashes TICKS SEED RTT JITTER LOSS BURST BYTES_PER_SECOND QUEUE MESSAGE_EVERY BLOCKS */
#include "lab/column.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t run(uint32_t protocol, uint32_t ticks, uint64_t seed,
                    const struct cw_lab_settings *settings)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_column *column;
    config.protocol = protocol;
    config.seed = seed;
    if (cw_lab_column_create(&config, &column) != CW_OK ||
        cw_lab_column_change(column, settings) != CW_OK)
        exit(1);
    cw_lab_column_step(column, ticks);
    const uint64_t hash = cw_lab_column_hash(column);
    cw_lab_column_destroy(column);
    return hash;
}

int main(int argc, char **argv)
{
    double numbers[10];
    if (argc != 11)
        return 2;
    for (int i = 0; i < 10; i++)
        numbers[i] = strtod(argv[i + 1], NULL);
    const struct cw_lab_settings settings = {.rtt_seconds = numbers[2],
                                             .jitter_seconds = numbers[3],
                                             .loss = numbers[4],
                                             .burst_length = numbers[5],
                                             .bytes_per_second = numbers[6],
                                             .queue_bytes = numbers[7],
                                             .states = true,
                                             .message_every = (uint32_t)numbers[8],
                                             .blocks = numbers[9] > 0};
    for (uint32_t i = 0; i < cw_lab_protocol_count(); i++)
        printf("%s %016" PRIx64 "\n", cw_lab_protocol_name(i),
               run(i, (uint32_t)numbers[0], (uint64_t)numbers[1], &settings));
    return 0;
}
