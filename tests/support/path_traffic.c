#include "path_traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 5 /* seconds */

struct message {
    uint8_t bytes[TRAFFIC_MESSAGE];
};

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

CW_SERIALIZE(serialize_message, struct message, stream, message)
{
    return cw_stream_bytes(stream, message->bytes, TRAFFIC_MESSAGE);
}

CW_SERIALIZE(serialize_block, struct message, stream, message)
{
    (void)stream, (void)message;
    return true;
}

const struct cw_schema *traffic_schema(bool blocks)
{
    static const struct cw_message_type types[] = {
        {.name = "message", .size = sizeof(struct message), .serialize = serialize_message},
        {.name = "block",
         .size = sizeof(struct message),
         .serialize = serialize_block,
         .block = true},
    };
    static struct cw_schema *schemas[2];
    const struct cw_schema_config config = {.types = types, .count = blocks ? 2 : 1};
    if (!schemas[blocks])
        check(cw_schema_create(&config, &schemas[blocks]));
    return schemas[blocks];
}

struct cw_connection_config traffic_messages(void)
{
    struct cw_connection_config config = cw_connection_config_default(traffic_schema(false));
    config.channel_count = 1;
    config.max_messages = 4096;
    config.channels[0].send_queue_size = 1024;
    config.channels[0].receive_queue_size = 1024;
    return config;
}

struct cw_connection_config traffic_blocks(uint32_t max_block_size)
{
    struct cw_connection_config config = cw_connection_config_default(traffic_schema(true));
    config.max_messages = 4096;
    config.channels[1] = config.channels[0];
    config.channels[1].send_queue_size = 1024;
    config.channels[1].receive_queue_size = 1024;
    config.channels[0].blocks = true;
    config.channels[0].max_block_size = max_block_size;
    return config;
}

static void add_latency(struct traffic_latencies *latencies, double value)
{
    if (latencies->count == latencies->capacity) {
        latencies->capacity = latencies->capacity * 2 + 4096;
        latencies->values =
            realloc(latencies->values, latencies->capacity * sizeof *latencies->values);
        if (!latencies->values)
            exit(1);
    }
    latencies->values[latencies->count++] = value;
}

/* The content of all blocks, which is of no interest: all zero, and as long as a block may be. */
static uint8_t content[64 << 20];

static void send_message(struct path_world *world, struct path_end *end, struct traffic *traffic,
                         uint32_t type)
{
    struct cw_message *message;
    const uint32_t channel = type ? traffic->block_channel : traffic->message_channel;
    check(cw_connection_create_message(end->connection, type, &message));
    if (type)
        cw_message_attach(message, content, traffic->block_size, NULL, NULL);
    else
        memcpy(((struct message *)message->data)->bytes, &world->now, sizeof world->now);
    check(cw_connection_send(end->connection, channel, message, world->now));
}

static void send_blocks(struct path_world *world, struct path_end *end, struct traffic *traffic)
{
    struct cw_channel_stats stats;
    check(cw_connection_get_channel_stats(end->connection, traffic->block_channel, &stats));
    uint32_t waiting = stats.queued;
    while (traffic->blocks_sent < traffic->blocks && waiting < traffic->blocks_waiting) {
        send_message(world, end, traffic, 1);
        traffic->blocks_sent++;
        waiting++;
    }
}

static void take(struct path_world *world, struct path_end *end)
{
    struct traffic *traffic = end->context;
    for (struct cw_connection_event event; cw_connection_next(end->connection, &event);) {
        double sent;
        memcpy(&sent, event.message->data, sizeof sent);
        if (event.message->block) {
            traffic->blocks_arrived++;
            traffic->block_arrived = world->now;
        } else {
            traffic->messages_arrived++;
            add_latency(&traffic->latencies, world->now - sent);
        }
        cw_message_release(event.message);
    }
}

static void use(struct path_world *world, struct path_end *end)
{
    struct traffic *traffic = end->context;
    if (traffic->stop > 0 && world->now >= traffic->stop)
        return;
    const bool rests = traffic->ticks_between > 0 && end->ticks % traffic->ticks_between > 0;
    for (uint32_t i = rests ? traffic->messages_per_tick : 0; i < traffic->messages_per_tick;
         i++, traffic->messages_sent++)
        send_message(world, end, traffic, 0);
    if (traffic->block_size > 0)
        send_blocks(world, end, traffic);
}

void traffic_set(struct path_flow *flow, struct traffic *first, struct traffic *second)
{
    for (int i = 0; i < 2; i++) {
        flow->ends[i].context = i == 0 ? first : second;
        flow->ends[i].take = take;
        flow->ends[i].use = use;
    }
}

void traffic_measure(struct traffic *traffic)
{
    traffic->messages_sent = traffic->messages_arrived = 0;
    traffic->latencies.count = 0;
}

void traffic_free(struct traffic *traffic)
{
    free(traffic->latencies.values);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double traffic_mean_ms(const struct traffic *first, const struct traffic *second)
{
    double sum = 0;
    for (size_t i = 0; i < first->latencies.count; i++)
        sum += first->latencies.values[i];
    for (size_t i = 0; i < second->latencies.count; i++)
        sum += second->latencies.values[i];
    return 1000 * sum / (double)(first->latencies.count + second->latencies.count);
}

double traffic_percentile_ms(const struct traffic *first, const struct traffic *second,
                             double share)
{
    struct traffic_latencies all = {0};
    for (size_t i = 0; i < first->latencies.count; i++)
        add_latency(&all, first->latencies.values[i]);
    for (size_t i = 0; i < second->latencies.count; i++)
        add_latency(&all, second->latencies.values[i]);
    qsort(all.values, all.count, sizeof *all.values, compare);
    const double value = 1000 * all.values[(size_t)(share * (double)all.count)];
    free(all.values);
    return value;
}

struct traffic_result traffic_run(uint64_t seed, const struct cw_simulator_path *path,
                                  const struct cw_connection_config *config, double seconds)
{
    struct traffic traffic[2] = {{.messages_per_tick = 1}, {.messages_per_tick = 1}};
    struct path_world *world = path_world_create(seed, path, path);
    struct path_flow *flow = path_world_add(world, config);
    traffic_set(flow, &traffic[0], &traffic[1]);
    path_world_run(world, WARM_UP);
    path_world_measure(world);
    for (int i = 0; i < 2; i++)
        traffic_measure(&traffic[i]);
    path_world_run(world, WARM_UP + seconds);
    const double bytes = (double)(flow->ends[0].bytes_sent + flow->ends[1].bytes_sent);
    const double sent = (double)(traffic[0].messages_sent + traffic[1].messages_sent);
    const struct traffic_result result = {
        .mean_ms = traffic_mean_ms(&traffic[0], &traffic[1]),
        .p99_ms = traffic_percentile_ms(&traffic[0], &traffic[1], 0.99),
        .bytes = bytes / sent,
    };
    path_world_destroy(world);
    for (int i = 0; i < 2; i++)
        traffic_free(&traffic[i]);
    return result;
}
