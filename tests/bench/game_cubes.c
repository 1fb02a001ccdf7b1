/* Measures what 901 cubes cost at 60 snapshots per second, over 100 ms of round trip and 5 % loss
   each way, step by step as in the articles. Each figure is in kilobits per second of the bytes of
   the snapshots alone, the mean of all runs.

   cubes_float_kbit       three floats of position, four of orientation, three of velocity and a bit
   cubes_quantized_kbit   all cubes, as cubes.h says
   cubes_bits_kbit        a bit per cube, and those that differ from the newest snapshot acked
   cubes_index_kbit       these by their relative indices
   cubes_differences_kbit snapshot.h: fields that differ, by how much they do
   cubes_kbit             by how much they differ from cubes that went on as before
   cubes_coded_kbit       the same through the range coder

   cubes_..._instructions a snapshot of the last three, at both ends together

   The last three are sent, received and compared with the world, cube by cube.

     game_cubes CODING STEPS    counts instructions of STEPS steps of the world, with snapshots
                                unless the coding is `none`
     game_cubes                 says what tests/bench/run shall count */
#include "causeway/simulator.h"
#include "causeway/snapshot.h"

#include "lab/cubes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Figures are taken over the worlds of the seeds 1 to CUBES_SEEDS, each from its beginning. */
#ifndef CUBES_SEEDS
#define CUBES_SEEDS   4
#define CUBES_SECONDS 40
#endif

#define FLOAT_BITS     (10 * 32 + 1)
#define QUANTIZED_BITS (18 + 18 + 14 + 2 + 3 * 9 + 1)
#define ONE_WAY        0.05 /* seconds */
#define LOSS           0.05 /* share of the packets each way */
#define STEPS          (CUBES_SECONDS * CW_LAB_CUBES_RATE)
#define KEPT           64 /* worlds that are kept to compare snapshots with */
#define COUNTED        300

/* A server and a client that look at a world through one coding. */
struct view {
    struct cw_snapshot_server *server;
    struct cw_snapshot_client *client;
    struct cw_simulator *down, *up;
    uint32_t acked; /* the tick of the newest snapshot acked, or 0 */
    uint64_t received;
};

struct scene {
    struct cw_lab_cubes *cubes;
    struct cw_schema *schema;
    struct view views[CW_SNAPSHOT_CODING_COUNT];
    struct cw_lab_cube worlds[KEPT][CW_LAB_CUBES_COUNT]; /* the worlds of the last ticks, by tick */
};

/* The sums of bits of all snapshots. */
struct sums {
    double bits, index, codings[CW_SNAPSHOT_CODING_COUNT];
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

static void open_view(struct scene *scene, enum cw_snapshot_coding coding, uint64_t seed)
{
    struct view *const view = &scene->views[coding];
    struct cw_snapshot_config config = cw_snapshot_config_default(scene->schema);
    config.max_entities = CW_LAB_CUBES_COUNT;
    config.max_clients = 1;
    config.max_bytes = 65535;
    config.coding = coding;
    *view = (struct view){0};
    check(cw_snapshot_server_create(&config, &view->server) == CW_OK, "no server");
    check(cw_snapshot_client_create(&config, &view->client) == CW_OK, "no client");
    view->down = make_path(2 * seed);
    view->up = make_path(2 * seed + 1);
}

static void start(struct scene *scene, uint64_t seed)
{
    const struct cw_schema_config types = {.types = &cw_lab_cube_type, .count = 1};
    check(cw_schema_create(&types, &scene->schema) == CW_OK, "no schema");
    scene->cubes = cw_lab_cubes_create(seed);
    check(scene->cubes != NULL, "no cubes");
    for (int i = 0; i < CW_SNAPSHOT_CODING_COUNT; i++)
        open_view(scene, (enum cw_snapshot_coding)i, seed);
}

static void stop(struct scene *scene)
{
    for (int i = 0; i < CW_SNAPSHOT_CODING_COUNT; i++) {
        cw_simulator_destroy(scene->views[i].up);
        cw_simulator_destroy(scene->views[i].down);
        cw_snapshot_client_destroy(scene->views[i].client);
        cw_snapshot_server_destroy(scene->views[i].server);
    }
    cw_lab_cubes_destroy(scene->cubes);
    cw_schema_destroy(scene->schema);
}

static bool same(const struct cw_lab_cube *a, const struct cw_lab_cube *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->largest == b->largest &&
           a->a == b->a && a->b == b->b && a->c == b->c && a->touched == b->touched;
}

/* Steps the world. Ticks are numbered from 1, as snapshots are: one is sent in each. */
static void step_world(struct scene *scene, uint32_t tick)
{
    struct cw_lab_cube *const world = scene->worlds[tick % KEPT];
    cw_lab_cubes_step(scene->cubes);
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        struct cw_lab_cubes_body body;
        cw_lab_cubes_look(scene->cubes, i, &body);
        cw_lab_cubes_quantize(&body, &world[i]);
    }
}

static void show_world(const struct scene *scene, const struct view *view, uint32_t tick)
{
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++)
        check(cw_snapshot_server_set(view->server, i, 0, &scene->worlds[tick % KEPT][i]) == CW_OK,
              "a cube refused");
    check(cw_snapshot_server_tick(view->server, tick) == CW_OK, "a tick refused");
}

/* Takes acks, sends a snapshot, and returns its bytes. */
static size_t serve(struct view *view, uint32_t tick, double now)
{
    static uint8_t bytes[65535];
    uint8_t ack[2];
    uint32_t number;
    while (cw_simulator_transmit(view->up, ack, sizeof ack, now) > 0) {
        const uint32_t acked = ack[0] | (uint32_t)ack[1] << 8;
        cw_snapshot_server_acked(view->server, 0, acked);
        if (acked > view->acked)
            view->acked = acked;
    }
    const size_t size = cw_snapshot_server_transmit(view->server, 0, bytes, sizeof bytes, &number);
    check(size > 0 && number == tick, "no snapshot");
    check(cw_simulator_receive(view->down, bytes, size, now) == CW_OK, "a snapshot too large");
    return size;
}

/* Takes snapshots, each of which must be the world as it was, and acks the newest. */
static void play(const struct scene *scene, struct view *view, double now)
{
    static uint8_t bytes[65535];
    uint16_t newest;
    size_t size;
    while ((size = cw_simulator_transmit(view->down, bytes, sizeof bytes, now)) > 0) {
        uint32_t tick = 0;
        check(cw_snapshot_client_receive(view->client, bytes, size) == CW_OK, "not received");
        check(cw_snapshot_client_tick(view->client, &tick), "no tick");
        for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
            const struct cw_lab_cube *const cube = cw_snapshot_client_state(view->client, i, NULL);
            check(cube && same(cube, &scene->worlds[tick % KEPT][i]),
                  "not the world that was sent");
        }
        view->received++;
    }
    if (!cw_snapshot_client_newest(view->client, &newest))
        return;
    const uint8_t ack[2] = {(uint8_t)newest, (uint8_t)(newest >> 8)};
    check(cw_simulator_receive(view->up, ack, sizeof ack, now) == CW_OK, "an ack too large");
}

/* Measures what the simpler forms would take for the same snapshot. */
static void measure(const struct scene *scene, uint32_t tick, uint32_t acked, struct sums *sums)
{
    const struct cw_lab_cube *const now = scene->worlds[tick % KEPT];
    const struct cw_lab_cube *const then = scene->worlds[acked % KEPT];
    struct cw_stream indices = cw_stream_measurer();
    uint32_t changed = 0, previous = 0;
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        uint32_t index = i + 1;
        if (acked > 0 && same(&now[i], &then[i]))
            continue;
        check(cw_stream_relative(&indices, previous, &index), "no index");
        previous = index;
        changed++;
    }
    sums->bits += CW_LAB_CUBES_COUNT + (double)changed * QUANTIZED_BITS;
    sums->index += 10 + (double)cw_stream_position(&indices) + (double)changed * QUANTIZED_BITS;
}

static void step(struct scene *scene, uint32_t tick, struct sums *sums)
{
    const double now = (double)tick / CW_LAB_CUBES_RATE;
    step_world(scene, tick);
    for (int i = 0; i < CW_SNAPSHOT_CODING_COUNT; i++) {
        struct view *const view = &scene->views[i];
        show_world(scene, view, tick);
        sums->codings[i] += 8 * (double)serve(view, tick, now);
        if (i == 0)
            measure(scene, tick, view->acked, sums);
        play(scene, view, now);
    }
}

static void run(struct sums *sums)
{
    struct scene *const scene = malloc(sizeof *scene);
    check(scene != NULL, "no memory");
    for (uint64_t seed = 1; seed <= CUBES_SEEDS; seed++) {
        start(scene, seed);
        for (uint32_t tick = 1; tick <= STEPS; tick++)
            step(scene, tick, sums);
        for (int i = 0; i < CW_SNAPSHOT_CODING_COUNT; i++)
            check(scene->views[i].received * 10 > STEPS * 9, "too little arrived");
        stop(scene);
    }
    free(scene);
}

static const char *const codings[] = {"differences", "predicted", "coded"};

/* Plays a world, and its snapshots by a coding, without a path in between. */
static void count(const char *name, uint32_t steps)
{
    static uint8_t bytes[65535];
    struct scene *const scene = malloc(sizeof *scene);
    uint32_t number;
    int coding = 0;
    check(scene != NULL, "no memory");
    while (coding < CW_SNAPSHOT_CODING_COUNT && strcmp(name, codings[coding]) != 0)
        coding++;
    const bool none = coding == CW_SNAPSHOT_CODING_COUNT;
    start(scene, 1);
    const struct view *const view = &scene->views[none ? 0 : coding];
    for (uint32_t tick = 1; tick <= steps; tick++) {
        step_world(scene, tick);
        show_world(scene, view, tick);
        if (none)
            continue;
        const size_t size =
            cw_snapshot_server_transmit(view->server, 0, bytes, sizeof bytes, &number);
        check(cw_snapshot_client_receive(view->client, bytes, size) == CW_OK, "not received");
        if (number > 6)
            cw_snapshot_server_acked(view->server, 0, number - 6);
    }
    stop(scene);
    free(scene);
}

static void print(const char *figure, double bits, double snapshots)
{
    printf("%s %.1f kbit/s\n", figure, bits / snapshots * CW_LAB_CUBES_RATE / 1000);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        count(argv[1], (uint32_t)strtoul(argv[2], NULL, 10));
        return 0;
    }
    struct sums sums = {0};
    const double all = CUBES_SEEDS * STEPS;
    run(&sums);
    const double *const coded = sums.codings;
    print("cubes_float_kbit", CW_LAB_CUBES_COUNT * FLOAT_BITS, 1);
    print("cubes_quantized_kbit", CW_LAB_CUBES_COUNT * QUANTIZED_BITS, 1);
    print("cubes_bits_kbit", sums.bits, all);
    print("cubes_index_kbit", sums.index, all);
    print("cubes_differences_kbit", coded[CW_SNAPSHOT_DIFFERENCES], all);
    print("cubes_kbit", coded[CW_SNAPSHOT_PREDICTED], all);
    print("cubes_coded_kbit", coded[CW_SNAPSHOT_RANGE_CODED], all);
    printf("cubes_coded_ratio %.3f of the bits without the range coder\n",
           coded[CW_SNAPSHOT_RANGE_CODED] / coded[CW_SNAPSHOT_PREDICTED]);
    for (int i = 0; i < CW_SNAPSHOT_CODING_COUNT; i++)
        printf("count cubes_%s_instructions %u: %s %u - none %u\n", codings[i], COUNTED, codings[i],
               COUNTED, COUNTED);
    return 0;
}
