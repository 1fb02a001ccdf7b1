/* Measures what snapshots of 200 entities of 8 fields cost a server and its clients.
     game_snapshot STEP WORLD ROUNDS    counts instructions of ROUNDS ticks up to the step (set,
                                        encode, decode, share) with a world that is still, or of
                                        which everything changes
     game_snapshot                      says what tests/bench/run shall count */
#include "causeway/snapshot.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTITIES 200
#define ROUNDS   200
#define PLAYERS  64
#define GROUPS   8 /* groups of players with the same baseline */

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_BITS(18))                                                                          \
    FIELD(y, CW_BITS(18))                                                                          \
    FIELD(z, CW_BITS(14))                                                                          \
    FIELD(largest, CW_BITS(2))                                                                     \
    FIELD(a, CW_BITS(9))                                                                           \
    FIELD(b, CW_BITS(9))                                                                           \
    FIELD(c, CW_BITS(9))                                                                           \
    FIELD(touched, CW_BOOL)
CW_MESSAGE(body, BODY_FIELDS)

static struct cw_prng prng;
static struct body bodies[ENTITIES];
static struct cw_schema *schema;
static struct cw_snapshot_server *server;
static struct cw_snapshot_client *client;

static uint32_t some(uint32_t end)
{
    return (uint32_t)(cw_prng_share(&prng) * end);
}

static void check(bool done)
{
    if (!done)
        exit(1);
}

static void start(void)
{
    const struct cw_schema_config types = {.types = &body_type, .count = 1};
    check(cw_schema_create(&types, &schema) == CW_OK);
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.max_entities = ENTITIES;
    config.max_bytes = 4000;
    check(cw_snapshot_server_create(&config, &server) == CW_OK);
    check(cw_snapshot_client_create(&config, &client) == CW_OK);
    prng.state = 1;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        bodies[i] = (struct body){some(1 << 17) + (1 << 16), some(1 << 17) + (1 << 16),
                                  some(1 << 13) + (1 << 12), some(4),
                                  some(256) + 128,           some(256) + 128,
                                  some(256) + 128,           false};
        check(cw_snapshot_server_set(server, i, 0, &bodies[i]) == CW_OK);
    }
}

static void stop(void)
{
    cw_snapshot_client_destroy(client);
    cw_snapshot_server_destroy(server);
    cw_schema_destroy(schema);
}

static uint32_t step_from(uint32_t value, uint32_t most)
{
    return value + some(2 * most + 1) - most;
}

/* Moves bodies a little, which is 3 of their 8 fields. */
static void change(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct body *const body = &bodies[i];
        body->x = step_from(body->x, 20);
        body->y = step_from(body->y, 20);
        body->z = step_from(body->z, 5);
        check(cw_snapshot_server_set(server, i, 0, body) == CW_OK);
    }
}

/* Plays one client with a baseline of its own, as one of many clients that share nothing. */
static void count(const char *step, const char *world, uint32_t rounds)
{
    static uint8_t first[4000], bytes[4000];
    uint32_t number;
    start();
    check(cw_snapshot_server_tick(server, 1) == CW_OK);
    check(cw_snapshot_server_set_priority(server, 0, ENTITIES - 1, 0) == CW_OK);
    const size_t first_size = cw_snapshot_server_transmit(server, 0, first, sizeof first, &number);
    check(cw_snapshot_client_receive(client, first, first_size) == CW_OK);
    cw_snapshot_server_acked(server, 0, number);
    for (uint32_t round = 0; round < rounds; round++) {
        if (strcmp(world, "changes") == 0)
            change(ENTITIES - 1);
        if (strcmp(step, "set") == 0)
            continue;
        check(cw_snapshot_server_tick(server, round + 2) == CW_OK);
        const size_t size = cw_snapshot_server_transmit(server, 0, bytes, sizeof bytes, &number);
        check(size > 0);
        cw_snapshot_server_acked(server, 0, number);
        if (strcmp(step, "decode") == 0)
            check(cw_snapshot_client_receive(client, bytes, size) == CW_OK);
    }
    stop();
}

/* Plays a tick for the players, who ack some ticks later, in as many ways as there are groups. */
static void tick_for(uint32_t players, uint32_t tick)
{
    static uint8_t bytes[4000];
    static uint32_t sent[PLAYERS][GROUPS];
    check(cw_snapshot_server_tick(server, tick) == CW_OK);
    for (uint32_t i = 0; i < players; i++) {
        uint32_t *const slot = &sent[i][tick % (1 + i % GROUPS)];
        cw_snapshot_server_acked(server, i, tick > GROUPS ? *slot : 0);
        check(cw_snapshot_server_transmit(server, i, bytes, sizeof bytes, slot) > 0);
    }
}

/* Plays clients that share baselines, to count what one of many costs. */
static void share(uint32_t rounds)
{
    start();
    for (uint32_t tick = 1; tick <= rounds; tick++) {
        change(ENTITIES);
        tick_for(PLAYERS, tick);
    }
    stop();
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Returns the CPU seconds of a server's tick when half of the world changes. */
static double tick_seconds(uint32_t players)
{
    double spent = 0;
    start();
    for (uint32_t tick = 1; tick <= ROUNDS; tick++) {
        change(ENTITIES / 2);
        const double before = seconds();
        tick_for(players, tick);
        spent += seconds() - before;
    }
    stop();
    return spent / ROUNDS;
}

static void measure(void)
{
    const unsigned times = ROUNDS * ENTITIES;
    printf("count encode_unchanged_instructions %u: encode still %u - set still %u\n", times,
           ROUNDS, ROUNDS);
    printf("count decode_unchanged_instructions %u: decode still %u - encode still %u\n", times,
           ROUNDS, ROUNDS);
    printf("count encode_changed_instructions %u: share changes %u - set changes %u\n",
           times * PLAYERS, ROUNDS, ROUNDS);
    printf("count encode_changed_alone_instructions %u: encode changes %u - set changes %u\n",
           times, ROUNDS, ROUNDS);
    printf("count decode_changed_instructions %u: decode changes %u - encode changes %u\n", times,
           ROUNDS, ROUNDS);
    double all = 1, groups = 1;
    for (int i = 0; i < 20; i++) {
        const double with_all = tick_seconds(PLAYERS), with_groups = tick_seconds(GROUPS);
        all = with_all < all ? with_all : all;
        groups = with_groups < groups ? with_groups : groups;
    }
    printf("snapshot_tick_us %.1f us of CPU for %u players and %u entities\n", all * 1e6, PLAYERS,
           ENTITIES);
    printf("snapshot_shared_ratio %.2f times that of one player for each baseline\n", all / groups);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "share") == 0)
        share((uint32_t)strtoul(argv[3], NULL, 10));
    else if (argc == 4)
        count(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    else
        measure();
    return 0;
}
