/* Measures a server with 1,000 clients at 20 Hz in a world of 10,000 entities, and in one of ten
   times as many. Everybody moves, 200 entities are within the radius of a client on average, a
   round trip takes two ticks, and 2 % of the snapshots are lost. The age of an entity is that of
   the state that a client has just before its next snapshot, which is the worst moment, without the
   time on the path.

     game_world ENTITIES CLIENTS ROUNDS    counts instructions of ROUNDS ticks
     game_world                            measures, and says what tests/bench/run shall count */
#include "causeway/interest.h"
#include "causeway/snapshot.h"

#include "base/prng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTITIES 10000u
#define CLIENTS  1000u
#define WATCHED  20u /* clients that read what they get */
#define HZ       20u
#define ROUNDS   200u
#define WARM_UP  40u
#define RADIUS   10000 /* centimetres */
#define NEAR     5000
#define SEEN     200 /* entities within the radius */
#define MOST     256
#define LOOK     4 /* ticks from one list of what is near to the next */
#define BYTES    1100
#define HEADERS  60    /* bytes of UDP, IPv4, encryption, packet and message around a snapshot */
#define LOSS     0.02f /* the share of snapshots that get lost */
#define PACE     25    /* centimetres in a tick: 5 m/s */

/* A core is taken to execute this many instructions in a second. Counted is half of it all: 500
   clients and 5,000 entities, for two ticks. A percent of a core is then this many instructions. */
#define INSTRUCTIONS_PER_SECOND 4000000000u
#define PERCENT                 (INSTRUCTIONS_PER_SECOND / 100 / HZ * 2 / 2)

#define WALKER_FIELDS(FIELD)                                                                       \
    FIELD(x, CW_BITS(19))                                                                          \
    FIELD(y, CW_BITS(19))                                                                          \
    FIELD(heading, CW_BITS(8))                                                                     \
    FIELD(health, CW_INT(0, 100))                                                                  \
    FIELD(action, CW_BITS(4))                                                                      \
    FIELD(armed, CW_BOOL)
CW_MESSAGE(walker, WALKER_FIELDS)

struct watcher {
    struct cw_snapshot_client *client;
    uint32_t *seen; /* for each entity the tick of its newest state, 0 before there is one */
};

static struct cw_prng prng;
static uint32_t entities, clients, side;
static struct walker *walkers;
static struct cw_schema *schema;
static struct cw_interest *grid;
static struct cw_snapshot_server *server;
static uint32_t (*sent)[2]; /* for each client the last snapshots; 0 when it was lost */
static struct watcher watchers[WATCHED];
static uint64_t bytes_sent, snapshots;
static float steps[256]; /* the part of a step along an axis, for each heading */

static uint32_t some(uint32_t end)
{
    return (uint32_t)(cw_prng_share(&prng) * end);
}

static void check(bool done)
{
    if (!done)
        exit(1);
}

static void set(uint32_t i)
{
    check(cw_snapshot_server_set(server, i, 0, &walkers[i]) == CW_OK);
    check(cw_interest_set(grid, i, (float)walkers[i].x, (float)walkers[i].y, 1) == CW_OK);
}

static void start(uint32_t of_entities, uint32_t of_clients)
{
    const struct cw_schema_config types = {.types = &walker_type, .count = 1};
    entities = of_entities;
    clients = of_clients;
    prng.state = 1;
    for (uint32_t i = 0; i < 256; i++)
        steps[i] = PACE * sinf((float)i * 0.0245437f);
    bytes_sent = snapshots = 0;
    side = (uint32_t)(RADIUS * sqrt(3.14159265 * entities / SEEN));
    walkers = calloc(entities, sizeof *walkers);
    sent = calloc(clients, sizeof *sent);
    check(walkers && sent && cw_schema_create(&types, &schema) == CW_OK);
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.max_entities = entities;
    config.max_clients = clients;
    config.max_bytes = BYTES;
    config.max_interest = MOST;
    config.window = 16;
    check(cw_snapshot_server_create(&config, &server) == CW_OK);
    struct cw_interest_config interest = cw_interest_config_default();
    interest.max_entities = entities;
    interest.radius = RADIUS;
    interest.full_radius = NEAR;
    check(cw_interest_create(&interest, &grid) == CW_OK);
    for (uint32_t i = 0; i < entities; i++) {
        walkers[i] = (struct walker){some(side), some(side), some(256), 100, 0, false};
        set(i);
    }
}

static void stop(void)
{
    for (uint32_t i = 0; i < WATCHED; i++) {
        cw_snapshot_client_destroy(watchers[i].client);
        free(watchers[i].seen);
    }
    memset(watchers, 0, sizeof watchers);
    cw_interest_destroy(grid);
    cw_snapshot_server_destroy(server);
    cw_schema_destroy(schema);
    free(walkers);
    free(sent);
}

static uint32_t walk(uint32_t from, float by)
{
    const float to = (float)from + by;
    return to < 0 ? 0 : to > (float)side ? side : (uint32_t)to;
}

/* Everybody walks on, and some turn, or lose health. Little is spent on who does. */
static void move(uint32_t tick)
{
    for (uint32_t i = 0; i < entities; i++) {
        struct walker *const walker = &walkers[i];
        const uint32_t luck = (i + 1) * 2654435761u ^ tick * 2246822519u;
        walker->x = walk(walker->x, steps[walker->heading]);
        walker->y = walk(walker->y, steps[(walker->heading + 64) % 256]);
        if (luck >> 29 == 0)
            walker->heading = (walker->heading + (luck >> 20 & 63) + 224) % 256;
        if ((luck >> 10 & 127) == 0) {
            walker->health = (int32_t)(luck % 101);
            walker->action = luck % 16;
        }
        set(i);
    }
}

static uint8_t snapshot[BYTES];

static void look_around(uint32_t i)
{
    struct cw_priority found[MOST];
    const size_t count =
        cw_interest_find(grid, (float)walkers[i].x, (float)walkers[i].y, found, MOST);
    check(cw_snapshot_server_set_interest(server, i, found, count) == CW_OK);
}

/* Makes the snapshot of a client, who is the walker of that number, and returns its size; *lost
   tells whether it gets there. */
static size_t transmit(uint32_t i, uint32_t tick, bool *lost)
{
    if (tick <= 1 || (tick + i) % LOOK == 0)
        look_around(i);
    uint32_t *const slot = &sent[i][tick % 2];
    cw_snapshot_server_acked(server, i, *slot);
    const size_t size = cw_snapshot_server_transmit(server, i, snapshot, BYTES, slot);
    check(size > 0);
    *lost = cw_prng_share(&prng) < LOSS;
    if (*lost)
        *slot = 0;
    bytes_sent += size + HEADERS;
    snapshots++;
    return size;
}

static void play(uint32_t first, uint32_t last)
{
    bool lost;
    for (uint32_t tick = first; tick <= last; tick++) {
        move(tick);
        check(cw_snapshot_server_tick(server, tick) == CW_OK);
        for (uint32_t i = 0; i < clients; i++)
            transmit(i, tick, &lost);
    }
}

/* Numbers of ages, in ticks. */
struct ages {
    uint32_t counts[64];
    uint32_t count;
};

static void add_age(struct ages *ages, uint32_t age)
{
    ages->counts[age < 63 ? age : 63]++;
    ages->count++;
}

/* Returns the age below or at which a share of all are, in milliseconds. */
static uint32_t share_of(const struct ages *ages, double share)
{
    uint32_t age = 0, below = ages->counts[0];
    while (below < share * ages->count)
        below += ages->counts[++age];
    return age * 1000 / HZ;
}

/* Adds the ages that a watcher's entities have at a tick, those within NEAR, and those from there
   to nine tenths of the radius. */
static void look(uint32_t i, uint32_t tick, struct ages *near, struct ages *far)
{
    for (uint32_t j = 0; j < entities; j++) {
        const float x = (float)walkers[j].x - (float)walkers[i].x;
        const float y = (float)walkers[j].y - (float)walkers[i].y;
        const float square = x * x + y * y;
        if (square <= NEAR * NEAR)
            add_age(near, tick - watchers[i].seen[j]);
        else if (square <= 0.81f * RADIUS * RADIUS)
            add_age(far, tick - watchers[i].seen[j]);
    }
}

static void receive(struct watcher *watcher, size_t size)
{
    struct cw_snapshot_event event;
    check(cw_snapshot_client_receive(watcher->client, snapshot, size) == CW_OK);
    while (cw_snapshot_client_next(watcher->client, &event))
        watcher->seen[event.entity] = event.type == CW_SNAPSHOT_EVENT_REMOVED ? 0 : event.tick;
}

static void measure_ages(void)
{
    struct ages near = {0}, far = {0};
    start(ENTITIES, WATCHED);
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.max_entities = entities;
    config.window = 16;
    for (uint32_t i = 0; i < WATCHED; i++) {
        watchers[i].seen = calloc(entities, sizeof(uint32_t));
        check(watchers[i].seen && cw_snapshot_client_create(&config, &watchers[i].client) == CW_OK);
    }
    for (uint32_t tick = 1; tick <= ROUNDS; tick++) {
        move(tick);
        check(cw_snapshot_server_tick(server, tick) == CW_OK);
        for (uint32_t i = 0; i < WATCHED; i++) {
            bool lost;
            const size_t size = transmit(i, tick, &lost);
            if (tick > WARM_UP)
                look(i, tick, &near, &far);
            if (!lost)
                receive(&watchers[i], size);
        }
    }
    printf("world_client_kb_s %.1f KB/s\n", (double)bytes_sent / (double)snapshots * HZ / 1000);
    printf("world_near_age_p99_ms %u ms\n", share_of(&near, 0.99));
    printf("world_far_age_p50_ms %u ms\n", share_of(&far, 0.5));
    printf("world_far_age_p99_ms %u ms\n", share_of(&far, 0.99));
    stop();
}

/* Returns the CPU seconds of a tick after the first ones. */
static double tick_seconds(uint32_t of_entities)
{
    start(of_entities, CLIENTS);
    play(1, 6);
    const clock_t before = clock();
    play(7, 16);
    const double spent = (double)(clock() - before) / CLOCKS_PER_SEC;
    stop();
    return spent / 10;
}

static void measure(void)
{
    measure_ages();
    printf("count world_core_percent %u: 5000 500 7 - 5000 500 5\n", PERCENT);
    printf("ratio world_tenfold_ratio: 50000 500 7 - 50000 500 5 : 5000 500 7 - 5000 500 5\n");
    printf("count world_client_instructions 800: 5000 200 8 - 5000 100 8\n");
    printf("ratio world_client_ratio: 50000 200 8 - 50000 100 8 : 5000 200 8 - 5000 100 8\n");
    const double small = tick_seconds(ENTITIES), large = tick_seconds(10 * ENTITIES);
    printf("world_cpu_percent %.1f of a core here\n", small * HZ * 100);
    printf("world_cpu_ratio %.2f times that for ten times the entities\n", large / small);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        start((uint32_t)strtoul(argv[1], NULL, 10), (uint32_t)strtoul(argv[2], NULL, 10));
        play(1, (uint32_t)strtoul(argv[3], NULL, 10));
        stop();
    } else {
        measure();
    }
    return 0;
}
