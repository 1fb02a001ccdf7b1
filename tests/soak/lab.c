/* Columns of the lab run under random bad conditions, with 0 to 90 % loss, for as many simulated
   hours as asked, one protocol after the other. At no time does an item come twice, out of order,
   changed, or without having been sent. In the end every message and block has been delivered. Only
   the request-based protocol and three copies of each message may give some up, and then they say
   so. */
#include "base/prng.h"
#include "lab/column.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND          CW_LAB_TICKS_PER_SECOND
#define COLUMNS_AN_HOUR 6
#define PHASE_SECONDS   20
#define PHASES          (3600 / COLUMNS_AN_HOUR / PHASE_SECONDS)
#define CALM_SECONDS    3600 /* the most, until all that waits has come */
#define LATE_SECONDS    5    /* more than the age of any message on a good path */

struct world {
    uint64_t seed; /* the seed of the column */
    uint32_t protocol;
    struct cw_prng random;
    struct cw_lab_column *column;
};

static void check(const struct world *world, bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "%s, seed %" PRIu64 ", second %.0f: %s\n",
            cw_lab_protocol_name(world->protocol), world->seed, cw_lab_column_time(world->column),
            what);
    exit(1);
}

static struct cw_lab_game_stats stats_of(const struct world *world, uint32_t sender, int traffic)
{
    struct cw_lab_game_stats stats;
    cw_lab_column_item_stats(world->column, sender, (enum cw_lab_traffic)traffic, &stats);
    return stats;
}

static double some(struct cw_prng *random, double limit)
{
    return limit * cw_prng_share(random);
}

static struct cw_lab_settings bad_settings(struct cw_prng *random)
{
    static const uint32_t every[] = {0, 1, 2, 6, 20};
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.rtt_seconds = some(random, cw_prng_chance(random, 0.2) ? 1 : 0.2);
    settings.jitter_seconds = some(random, cw_prng_chance(random, 0.2) ? 0.5 : 0.05);
    settings.loss = some(random, cw_prng_chance(random, 0.4) ? 0.9 : 0.1);
    settings.burst_length = cw_prng_chance(random, 0.3) ? 1 + some(random, 20) : 1;
    settings.bytes_per_second = cw_prng_chance(random, 0.2) ? 2000 + some(random, 50000) : 0;
    settings.queue_bytes = 2000 + some(random, 60000);
    settings.states = cw_prng_chance(random, 0.8);
    settings.message_every = every[cw_prng_below(random, 5)];
    settings.blocks = cw_prng_chance(random, 0.3);
    return settings;
}

static void pass(struct world *world, const struct cw_lab_settings *settings, uint32_t seconds)
{
    check(world, cw_lab_column_change(world->column, settings) == CW_OK, "settings refused");
    cw_lab_column_step(world->column, seconds * SECOND);
    for (uint32_t sender = 0; sender < 2; sender++)
        for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_BLOCK; traffic++)
            check(world, stats_of(world, sender, traffic).faults == 0, "twice, or out of order");
}

/* Returns whether all is delivered that was sent some time ago. */
static bool is_settled(const struct world *world)
{
    for (uint32_t sender = 0; sender < 2; sender++)
        if (stats_of(world, sender, CW_LAB_MESSAGE).oldest_seconds > LATE_SECONDS ||
            stats_of(world, sender, CW_LAB_BLOCK).oldest_seconds > 0)
            return false;
    return true;
}

/* Brings a good path, on which a few new messages show which ones before them were given up. */
static void settle(struct world *world)
{
    struct cw_lab_settings calm = cw_lab_settings_default();
    calm.message_every = 20;
    for (int seconds = 0; seconds < CALM_SECONDS; seconds += PHASE_SECONDS) {
        pass(world, &calm, PHASE_SECONDS);
        if (is_settled(world))
            return;
    }
    check(world, false, "something never comes");
}

static uint32_t given_up(const struct world *world)
{
    uint32_t lost = 0;
    for (uint32_t sender = 0; sender < 2; sender++)
        for (int traffic = CW_LAB_STATE; traffic <= CW_LAB_BLOCK; traffic++)
            lost += stats_of(world, sender, traffic).lost;
    return lost;
}

static void run_column(uint64_t seed, uint32_t protocol)
{
    struct world world = {.seed = seed, .protocol = protocol, .random = {seed}};
    struct cw_lab_column_config config = cw_lab_column_config_default();
    config.protocol = protocol;
    config.seed = seed;
    config.max_events = 0;
    if (cw_lab_column_create(&config, &world.column) != CW_OK)
        exit(1);
    for (int phase = 0; phase < PHASES; phase++) {
        const struct cw_lab_settings settings = bad_settings(&world.random);
        pass(&world, &settings, PHASE_SECONDS);
    }
    settle(&world);
    const uint32_t lost = given_up(&world);
    const char *name = cw_lab_protocol_name(protocol);
    const bool may = strcmp(name, "rudp") == 0 || strcmp(name, "thrice") == 0;
    check(&world, may || lost == 0, "gave something up");
    printf("%s, seed %" PRIu64 ": %" PRIu32 " and %" PRIu32 " messages, %" PRIu32
           " blocks, %" PRIu32 " given up\n",
           name, seed, stats_of(&world, 0, CW_LAB_MESSAGE).delivered,
           stats_of(&world, 1, CW_LAB_MESSAGE).delivered,
           stats_of(&world, 0, CW_LAB_BLOCK).delivered, lost);
    cw_lab_column_destroy(world.column);
}

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
    for (uint32_t i = 0; i < hours * COLUMNS_AN_HOUR; i++)
        run_column(seed + i, i % cw_lab_protocol_count());
    return 0;
}
