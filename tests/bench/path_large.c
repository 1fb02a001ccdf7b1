/* Measures large messages, and what bulk data costs and reaches on paths of many sorts, in virtual
   time at 60 Hz. The ticks of the two ends drift past each other.
     bench_path_large [SCENE [SEED]]    prints all scenes, or only one */
#include "path_traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RTT     0.08 /* seconds */
#define QUEUE   0.2  /* seconds that the full queue takes */
#define DRIFT   0.0007
#define WARM_UP 5 /* seconds */
#define MOST    16384

struct body {
    double sent;
    uint32_t size;
};

CW_SERIALIZE(serialize_body, struct body, stream, body)
{
    static uint8_t bytes[MOST];
    return cw_stream_double(stream, &body->sent) && cw_stream_uint(stream, &body->size, 0, MOST) &&
           cw_stream_bytes(stream, bytes, body->size);
}

static const struct cw_schema *schema(void)
{
    static const struct cw_message_type type = {
        .name = "body", .size = sizeof(struct body), .serialize = serialize_body};
    static struct cw_schema *made;
    const struct cw_schema_config config = {.types = &type, .count = 1};
    if (!made && cw_schema_create(&config, &made) != CW_OK)
        exit(1);
    return made;
}

static void print(const char *figure, double value, int digits)
{
    printf("%s %.*f %s\n", figure, digits, value, strrchr(figure, '_') + 1);
}

/* Large messages at a rate, from one end to the other, and what became of them. */
struct stream {
    uint32_t size; /* bytes of a message */
    double rate;   /* messages in a second */
    double next;   /* when the next one is sent */
    uint64_t sent;
    double *latencies; /* milliseconds */
    size_t count, capacity;
    double mean, p99, ratio; /* the ratio of bytes on the wire to those of messages */
};

static void take(struct path_world *world, struct path_end *end)
{
    struct stream *stream = end->context;
    for (struct cw_connection_event event; cw_connection_next(end->connection, &event);) {
        const double sent = ((const struct body *)event.message->data)->sent;
        if (sent >= WARM_UP && stream->count < stream->capacity)
            stream->latencies[stream->count++] = 1000 * (world->now - sent);
        cw_message_release(event.message);
    }
}

static void use(struct path_world *world, struct path_end *end)
{
    struct stream *stream = end->context;
    for (; world->now >= stream->next; stream->next += 1 / stream->rate) {
        const struct body body = {world->now, stream->size};
        if (cw_connection_send_value(end->connection, 0, 0, &body, world->now) == CW_OK &&
            world->now >= WARM_UP)
            stream->sent++;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sends messages over a path for some seconds, and measures them. */
static struct stream run(const struct cw_simulator_path *there, enum cw_channel_kind kind,
                         uint32_t size, double rate, double seconds)
{
    struct cw_simulator_path back = path_of_rtt(2 * there->latency_seconds);
    struct cw_connection_config config = cw_connection_config_default(schema());
    struct stream stream = {
        .size = size, .rate = rate, .capacity = (size_t)(rate * (seconds + WARM_UP) + 2)};
    back.loss = there->loss;
    config.channel_count = 1;
    config.channels[0] = cw_channel_config_default(kind);
    config.channels[0].max_message_size = 256 * 1024;
    stream.latencies = malloc(stream.capacity * sizeof *stream.latencies);
    struct path_world *world = path_world_create(1, there, &back);
    struct path_flow *flow = path_world_add(world, &config);
    flow->ends[0].use = use;
    flow->ends[1].take = take;
    flow->ends[0].context = flow->ends[1].context = &stream;
    flow->ends[1].interval *= 1 + DRIFT;
    path_world_run(world, WARM_UP);
    path_world_measure(world);
    path_world_run(world, WARM_UP + seconds);
    qsort(stream.latencies, stream.count, sizeof *stream.latencies, compare);
    for (size_t i = 0; i < stream.count; i++)
        stream.mean += stream.latencies[i] / (double)stream.count;
    stream.p99 = stream.latencies[(size_t)(0.99 * (double)stream.count)];
    stream.ratio = (double)flow->ends[0].bytes_sent / ((double)stream.sent * size);
    path_world_destroy(world);
    free(stream.latencies);
    return stream;
}

static void sizes(void)
{
    static const uint32_t bytes[] = {2048, 4096};
    static const int rates[] = {20, 60};
    const struct cw_simulator_path free_path = path_of_rtt(RTT);
    const struct cw_simulator_path narrow = path_of_kbit(RTT, 3000, QUEUE);
    double most = 0, most_p99 = 0;
    char figure[64];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const struct stream plain =
                run(&free_path, CW_CHANNEL_RELIABLE_ORDERED, bytes[i], rates[j], 60);
            (void)snprintf(figure, sizeof figure, "size_%u_rate_%d_mean_ms", bytes[i], rates[j]);
            print(figure, plain.mean, 1);
            (void)snprintf(figure, sizeof figure, "size_%u_rate_%d_p99_ms", bytes[i], rates[j]);
            print(figure, plain.p99, 1);
            const struct stream narrowed =
                run(&narrow, CW_CHANNEL_RELIABLE_ORDERED, bytes[i], rates[j], 60);
            most = fmax(most, narrowed.mean);
            most_p99 = fmax(most_p99, narrowed.p99);
        }
    }
    const struct stream narrowed = run(&narrow, CW_CHANNEL_RELIABLE_ORDERED, 8192, 20, 60);
    print("sizes_mbit_3_mean_ms", fmax(most, narrowed.mean), 1);
    print("sizes_mbit_3_p99_ms", fmax(most_p99, narrowed.p99), 1);
}

static void snapshots(void)
{
    const struct cw_simulator_path path = path_of_rtt(RTT);
    const struct stream reliable = run(&path, CW_CHANNEL_RELIABLE_ORDERED, 8192, 20, 60);
    const struct stream newest = run(&path, CW_CHANNEL_UNRELIABLE_SEQUENCED, 8192, 20, 60);
    print("snapshots_8k_20hz_mean_ms", fmax(reliable.mean, newest.mean), 1);
    print("snapshots_8k_20hz_p99_ms", fmax(reliable.p99, newest.p99), 1);
}

static void loss(void)
{
    struct cw_simulator_path path = path_of_rtt(0.1);
    path.loss = 0.05;
    const struct stream ordered = run(&path, CW_CHANNEL_RELIABLE_ORDERED, 4096, 20, 300);
    const struct stream unordered = run(&path, CW_CHANNEL_RELIABLE_UNORDERED, 4096, 20, 300);
    print("size_4096_loss_5_mean_ms", ordered.mean, 1);
    print("size_4096_loss_5_p99_ms", ordered.p99, 1);
    print("size_4096_loss_5_wire_ratio", ordered.ratio, 3);
    print("size_4096_loss_5_unordered_mean_ms", unordered.mean, 1);
    print("size_4096_loss_5_unordered_p99_ms", unordered.p99, 1);
}

/* Sends blocks of a size one after the other, and returns the bytes on the wire for one of theirs,
   and the share of the link that the blocks had. */
static double blocks(const struct cw_simulator_path *there, uint32_t size, double seconds,
                     double *share)
{
    const struct cw_simulator_path back = path_of_rtt(2 * there->latency_seconds);
    const struct cw_connection_config config = traffic_blocks(size);
    struct traffic first = {.block_size = size, .blocks = UINT32_MAX, .blocks_waiting = 2};
    struct traffic second = {0};
    struct path_world *world = path_world_create(1, there, &back);
    struct path_flow *flow = path_world_add(world, &config);
    traffic_set(flow, &first, &second);
    flow->ends[1].interval *= 1 + DRIFT;
    path_world_run(world, seconds / 3);
    const uint32_t before = second.blocks_arrived;
    const double since = second.block_arrived;
    path_world_measure(world);
    path_world_run(world, seconds);
    const double payload = (double)size * (second.blocks_arrived - before);
    const double ratio = (double)flow->ends[0].bytes_sent / payload;
    *share = payload / (second.block_arrived - since) /
             (there->bytes_per_second > 0 ? there->bytes_per_second : 1);
    path_world_destroy(world);
    return ratio;
}

/* The six cases in which fragments went twice although nothing was lost. */
static void spurious(void)
{
    struct cw_simulator_path path = path_of_rtt(0.1);
    double share, worst = 0;
    path.loss = 0.02;
    const struct cw_simulator_path near = path_of_kbit(0.005, 20000, QUEUE);
    const struct cw_simulator_path plain = path_of_rtt(RTT);
    const struct cw_simulator_path slow = path_of_kbit(RTT, 256, 1);
    const double ratios[] = {
        blocks(&near, 250000, 30, &share),
        run(&near, CW_CHANNEL_RELIABLE_ORDERED, 8192, 20, 30).ratio,
        run(&plain, CW_CHANNEL_RELIABLE_ORDERED, 8192, 20, 30).ratio,
        blocks(&path, 100000, 60, &share),
        blocks(&slow, 10000, 60, &share),
        run(&slow, CW_CHANNEL_RELIABLE_ORDERED, 10000, 2, 60).ratio,
    };
    static const char *const names[] = {
        "spurious_rtt_5_blocks", "spurious_rtt_5_8k", "spurious_8k_20hz",
        "spurious_100k_loss_2",  "spurious_kbit_256", "spurious_kbit_256_10k",
    };
    char figure[64];
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        (void)snprintf(figure, sizeof figure, "%s_ratio", names[i]);
        print(figure, ratios[i], 3);
        worst = fmax(worst, ratios[i]);
    }
    print("spurious_wire_ratio", worst, 3);
}

static void long_paths(void)
{
    static const struct {
        const char *figure;
        double kbit, rtt;
    } paths[] = {{"mbit_8_rtt_600_percent", 8000, 0.6},
                 {"mbit_20_rtt_300_percent", 20000, 0.3},
                 {"mbit_50_rtt_40_percent", 50000, 0.04}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct cw_simulator_path there = path_of_kbit(paths[i].rtt, paths[i].kbit, QUEUE);
        double share;
        (void)blocks(&there, 2000000, 60, &share);
        print(paths[i].figure, 100 * share, 1);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {
        {"sizes", sizes},       {"snapshots", snapshots},   {"loss", loss},
        {"spurious", spurious}, {"long_paths", long_paths},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (argc < 2 || strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].run();
    }
    return 0;
}
