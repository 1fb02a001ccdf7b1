/* The articles' ladder: what 901 cubes cost at 60 snapshots per second, over 100 ms of round trip
   and 5 % loss each way, step by step. Kilobits per second of the bytes of the snapshots alone, the
   mean of all runs.

   cubes_float_kbit       three floats of position, four of orientation, three of velocity and a bit
   cubes_quantized_kbit   all cubes, as cubes.h says
   cubes_bits_kbit        a bit per cube, and those that differ from the newest snapshot acked
   cubes_index_kbit       these by their relative indices
   cubes_differences_kbit snapshot.h: fields that differ, by how much they do
   cubes_kbit             by how much they differ from where the cubes would be that went on as
   before cubes_coded_kbit       the same through the range coder

   The last three are sent, received and compared with the world, cube by cube. */
#include "causeway/simulator.h"
#include "causeway/snapshot.h"

#include "cubes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOAT_BITS     (10 * 32 + 1)
#define QUANTIZED_BITS (18 + 18 + 14 + 2 + 3 * 9 + 1)
#define ONE_WAY        0.05
#define LOSS           0.05
#define STEPS          (CUBES_SECONDS * CUBES_RATE)
#define KEPT           64 /* worlds */

/* One world, and a server and a client that look at it. */
struct scene {
    struct cubes *cubes;
    struct cw_schema *schema;
    struct cw_snapshot_server *server;
    struct cw_snapshot_client *client;
    struct cw_simulator *down, *up;
    struct cube worlds[KEPT][CUBES_COUNT]; /* by tick */
    uint32_t acked;                        /* the tick of the newest snapshot acked, 0: none */
    uint64_t received;
};

/* Bits of all snapshots. */
struct sums {
    double bits, index, snapshots;
};

static void check(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "game_cubes: %s\n", what);
    exit(1);
}

static struct cw_simulator *make_path(uint64_t seed)
{
    struct cw_simulator *path = NULL;
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = seed;
    config.path.latency_seconds = ONE_WAY;
    config.path.loss = LOSS;
    config.max_datagram_size = 65535;
    check(cw_simulator_create(&config, &path) == CW_OK, "no path");
    return path;
}

static void start(struct scene *scene, uint64_t seed, enum cw_snapshot_coding coding)
{
    const struct cw_schema_config types = {.types = &cube_type, .count = 1};
    check(cw_schema_create(&types, &scene->schema) == CW_OK, "no schema");
    struct cw_snapshot_config config = cw_snapshot_config_default(scene->schema);
    config.max_entities = CUBES_COUNT;
    config.max_clients = 1;
    config.max_bytes = 65535;
    config.coding = coding;
    check(cw_snapshot_server_create(&config, &scene->server) == CW_OK, "no server");
    check(cw_snapshot_client_create(&config, &scene->client) == CW_OK, "no client");
    scene->cubes = cubes_create(seed);
    check(scene->cubes != NULL, "no cubes");
    scene->down = make_path(2 * seed);
    scene->up = make_path(2 * seed + 1);
    scene->acked = 0;
    scene->received = 0;
}

static void stop(struct scene *scene)
{
    cw_simulator_destroy(scene->up);
    cw_simulator_destroy(scene->down);
    cubes_destroy(scene->cubes);
    cw_snapshot_client_destroy(scene->client);
    cw_snapshot_server_destroy(scene->server);
    cw_schema_destroy(scene->schema);
}

static bool same(const struct cube *a, const struct cube *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->largest == b->largest &&
           a->a == b->a && a->b == b->b && a->c == b->c && a->touched == b->touched;
}

/* Ticks are numbered from 1, as snapshots are: one is sent in each. */
static void step_world(struct scene *scene, uint32_t tick)
{
    struct cube *const world = scene->worlds[tick % KEPT];
    cubes_step(scene->cubes);
    for (uint32_t i = 0; i < CUBES_COUNT; i++) {
        struct cubes_body body;
        cubes_body(scene->cubes, i, &body);
        cubes_quantize(&body, &world[i]);
        check(cw_snapshot_server_set(scene->server, i, 0, &world[i]) == CW_OK, "a cube refused");
    }
    check(cw_snapshot_server_tick(scene->server, tick) == CW_OK, "a tick refused");
}

/* Takes acks, sends a snapshot, and returns its bytes. */
static size_t serve(struct scene *scene, uint32_t tick, double now)
{
    static uint8_t bytes[65535];
    uint8_t ack[2];
    uint32_t number;
    while (cw_simulator_transmit(scene->up, ack, sizeof ack, now) > 0) {
        const uint32_t acked = ack[0] | (uint32_t)ack[1] << 8;
        cw_snapshot_server_acked(scene->server, 0, acked);
        if (acked > scene->acked)
            scene->acked = acked;
    }
    const size_t size = cw_snapshot_server_transmit(scene->server, 0, bytes, sizeof bytes, &number);
    check(size > 0 && number == tick, "no snapshot");
    check(cw_simulator_receive(scene->down, bytes, size, now) == CW_OK, "a snapshot too large");
    return size;
}

/* Takes snapshots, each of which must be the world as it was, and acks the newest. */
static void play(struct scene *scene, double now)
{
    static uint8_t bytes[65535];
    uint16_t newest;
    size_t size;
    while ((size = cw_simulator_transmit(scene->down, bytes, sizeof bytes, now)) > 0) {
        uint32_t tick = 0;
        check(cw_snapshot_client_receive(scene->client, bytes, size) == CW_OK, "not received");
        check(cw_snapshot_client_tick(scene->client, &tick), "no tick");
        for (uint32_t i = 0; i < CUBES_COUNT; i++) {
            const struct cube *const cube = cw_snapshot_client_state(scene->client, i, NULL);
            check(cube && same(cube, &scene->worlds[tick % KEPT][i]),
                  "not the world that was sent");
        }
        scene->received++;
    }
    if (!cw_snapshot_client_newest(scene->client, &newest))
        return;
    const uint8_t ack[2] = {(uint8_t)newest, (uint8_t)(newest >> 8)};
    check(cw_simulator_receive(scene->up, ack, sizeof ack, now) == CW_OK, "an ack too large");
}

/* What the simpler forms would take for the same snapshot. */
static void measure(const struct scene *scene, uint32_t tick, struct sums *sums)
{
    const struct cube *const now = scene->worlds[tick % KEPT];
    const struct cube *const then = scene->worlds[scene->acked % KEPT];
    struct cw_stream indices = cw_stream_measurer();
    uint32_t changed = 0, previous = 0;
    for (uint32_t i = 0; i < CUBES_COUNT; i++) {
        uint32_t index = i + 1;
        if (scene->acked > 0 && same(&now[i], &then[i]))
            continue;
        check(cw_stream_relative(&indices, previous, &index), "no index");
        previous = index;
        changed++;
    }
    sums->bits += CUBES_COUNT + (double)changed * QUANTIZED_BITS;
    sums->index += 10 + (double)cw_stream_position(&indices) + (double)changed * QUANTIZED_BITS;
    sums->snapshots++;
}

/* All runs; the mean kilobits per second of the snapshots. */
static double run(enum cw_snapshot_coding coding, struct sums *sums)
{
    struct scene *const scene = malloc(sizeof *scene);
    double bytes = 0;
    check(scene != NULL, "no memory");
    for (uint64_t seed = 1; seed <= CUBES_SEEDS; seed++) {
        start(scene, seed, coding);
        for (uint32_t tick = 1; tick <= STEPS; tick++) {
            const double now = (double)tick / CUBES_RATE;
            step_world(scene, tick);
            bytes += (double)serve(scene, tick, now);
            play(scene, now);
            if (sums)
                measure(scene, tick, sums);
        }
        check(scene->received > STEPS * 0.9, "too little arrived");
        stop(scene);
    }
    free(scene);
    return bytes * 8 * CUBES_RATE / 1000 / (CUBES_SEEDS * STEPS);
}

static void print(const char *figure, double bits_per_snapshot)
{
    printf("%s %.1f kbit/s\n", figure, bits_per_snapshot * CUBES_RATE / 1000);
}

int main(void)
{
    struct sums sums = {0};
    const double differences = run(CW_SNAPSHOT_DIFFERENCES, &sums);
    const double predicted = run(CW_SNAPSHOT_PREDICTED, NULL);
    const double coded = run(CW_SNAPSHOT_RANGE_CODED, NULL);
    print("cubes_float_kbit", CUBES_COUNT * FLOAT_BITS);
    print("cubes_quantized_kbit", CUBES_COUNT * QUANTIZED_BITS);
    print("cubes_bits_kbit", sums.bits / sums.snapshots);
    print("cubes_index_kbit", sums.index / sums.snapshots);
    printf("cubes_differences_kbit %.1f kbit/s\n", differences);
    printf("cubes_kbit %.1f kbit/s\n", predicted);
    printf("cubes_coded_kbit %.1f kbit/s\n", coded);
    printf("cubes_coded_ratio %.3f of the bits without the range coder\n", coded / predicted);
    return 0;
}
