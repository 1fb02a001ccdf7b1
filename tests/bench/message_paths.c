/* Measures reliable-ordered messages over a path with delay and loss, in virtual time. Two
   connections tick at 60 Hz, one half a tick after the other, and each sends messages every tick
   for 300 seconds. The program prints the mean and the 99th percentile of the time from send to
   delivery, and the bytes of all datagrams per message.
     bench_message_paths [--seed N] [--check]
   With --check it prints nothing but the figures that are above their bars, and fails when there
   are any. */
#include "causeway/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK       (1.0 / 60) /* seconds */
#define WARM_UP    5          /* seconds */
#define SECONDS    300
#define IN_TRANSIT 256
#define MOST       1100

struct payload {
    uint8_t bytes[MOST];
};

struct scene {
    const char *name;
    double rtt;
    double loss;
    uint32_t size;
    uint32_t per_tick;
    enum cw_recovery_kind recovery;
    double most_mean_ms, most_p99_ms, most_wire_bytes; /* the most that is allowed */
};

struct datagram {
    double due;
    size_t size;
    uint8_t data[MOST];
};

struct side {
    struct cw_connection *connection;
    struct datagram inbox[IN_TRANSIT];
    uint32_t read, written;
    uint64_t delivered;
};

struct latencies {
    double *values;
    size_t count;
};

static uint64_t random_state;

static double next_random(void)
{
    random_state += 0x9E3779B97F4A7C15u;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

/* Queues a message, which begins with the time of its sending. */
static void queue_message(struct side *side, double now)
{
    struct cw_message *message;
    check(cw_connection_create_message(side->connection, 0, &message));
    memcpy(((struct payload *)message->data)->bytes, &now, sizeof now);
    check(cw_connection_send(side->connection, 0, message, now));
}

static uint64_t tick(const struct scene *scene, struct side *self, struct side *other, double now,
                     struct latencies *latencies)
{
    while (self->read != self->written && self->inbox[self->read % IN_TRANSIT].due <= now + 1e-9) {
        const struct datagram *datagram = &self->inbox[self->read++ % IN_TRANSIT];
        cw_connection_receive(self->connection, datagram->data, datagram->size, now);
    }
    struct cw_connection_event event;
    while (cw_connection_next(self->connection, &event)) {
        double sent;
        memcpy(&sent, ((struct payload *)event.message->data)->bytes, sizeof sent);
        latencies->values[latencies->count++] = now - sent;
        cw_message_release(event.message);
    }
    for (uint32_t i = 0; i < scene->per_tick; i++)
        queue_message(self, now);

    uint64_t bytes = 0;
    cw_connection_update(self->connection, now);
    for (;;) {
        struct datagram *datagram = &other->inbox[other->written % IN_TRANSIT];
        datagram->size =
            cw_connection_transmit(self->connection, datagram->data, sizeof datagram->data, now);
        if (datagram->size == 0)
            return bytes;
        bytes += datagram->size;
        datagram->due = now + scene->rtt / 2;
        if (next_random() >= scene->loss)
            other->written++;
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint32_t payload_size;

/* Serializes a fixed number of bytes, the same on both sides, so that no length is on the wire. */
CW_SERIALIZE(serialize_payload, struct payload, stream, payload)
{
    return cw_stream_bytes(stream, payload->bytes, payload_size);
}

static bool report(const char *scene, const char *figure, double value, double bar, int digits,
                   bool only_above)
{
    const bool above = value > bar;
    const char *unit = strrchr(figure, '_') + 1;
    if (!only_above || above)
        printf("%s_%s %.*f %s\n", scene, figure, digits, value, unit);
    if (only_above && above)
        printf("  is above its bar of %g\n", bar);
    return !above;
}

/* Returns false when a figure is above its bar. */
static bool run(const struct scene *scene, uint64_t seed, bool check_only)
{
    random_state = seed;
    payload_size = scene->size;
    const struct cw_message_type type = {
        .name = "payload", .size = sizeof(struct payload), .serialize = serialize_payload};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    check(cw_schema_create(&schema_config, &schema));
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channel_count = 1;
    config.max_messages = 4096;
    config.channels[0].send_queue_size = 1024;
    config.channels[0].receive_queue_size = 1024;
    config.channels[0].recovery = scene->recovery;
    struct side *sides = calloc(2, sizeof *sides);
    for (int i = 0; i < 2; i++)
        check(cw_connection_create(&config, &sides[i].connection));
    const long warm_up = WARM_UP * 60, ticks = warm_up + SECONDS * 60;
    struct latencies latencies = {.values =
                                      malloc(sizeof(double) * 2 * (size_t)ticks * scene->per_tick)};
    uint64_t bytes = 0;
    for (long i = 0; i < ticks; i++) {
        if (i == warm_up) {
            latencies.count = 0;
            bytes = 0;
        }
        bytes += tick(scene, &sides[0], &sides[1], (double)i * TICK, &latencies);
        bytes += tick(scene, &sides[1], &sides[0], ((double)i + 0.5) * TICK, &latencies);
    }
    qsort(latencies.values, latencies.count, sizeof(double), compare);
    double sum = 0;
    for (size_t i = 0; i < latencies.count; i++)
        sum += latencies.values[i];
    bool good = report(scene->name, "mean_ms", 1000 * sum / (double)latencies.count,
                       scene->most_mean_ms, 1, check_only);
    good &= report(scene->name, "p99_ms", 1000 * latencies.values[latencies.count * 99 / 100],
                   scene->most_p99_ms, 1, check_only);
    good &= report(scene->name, "wire_bytes", (double)bytes / (double)latencies.count,
                   scene->most_wire_bytes, 2, check_only);
    for (int i = 0; i < 2; i++)
        cw_connection_destroy(sides[i].connection);
    free(sides);
    free(latencies.values);
    cw_schema_destroy(schema);
    return good;
}

int main(int argc, char **argv)
{
    /* Without loss the bar is the least possible: one way, and the wait for the receiver's next
       tick. */
    static const struct scene scenes[] = {
        {"loss_0_rtt_20", 0.02, 0, 64, 1, CW_RECOVERY_RESEND, 25.1, 25.1, 72.5},
        {"loss_0_rtt_100", 0.1, 0, 64, 1, CW_RECOVERY_RESEND, 58.4, 58.4, 72.5},
        {"loss_0_rtt_150", 0.15, 0, 64, 1, CW_RECOVERY_RESEND, 75.1, 75.1, 72.5},
        {"loss_0_rtt_200", 0.2, 0, 64, 1, CW_RECOVERY_RESEND, 108.4, 108.4, 72.5},
        {"loss_0_rtt_300", 0.3, 0, 64, 1, CW_RECOVERY_RESEND, 158.4, 158.4, 72.5},
        {"loss_5_rtt_100", 0.1, 0.05, 64, 1, CW_RECOVERY_RESEND, 82, 242, 80},
        {"loss_20_rtt_100", 0.1, 0.2, 64, 1, CW_RECOVERY_RESEND, 150, 440, 105},
        {"loss_20_rtt_100_redundancy", 0.1, 0.2, 64, 1, CW_RECOVERY_COPIES, 90, 440, 158},
        {"loss_50_rtt_100", 0.1, 0.5, 64, 1, CW_RECOVERY_RESEND, 380, 1100, 173},
        {"size_1000_loss_20_rtt_100", 0.1, 0.2, 1000, 1, CW_RECOVERY_RESEND, 180, 475, 1490},
        {"bulk_4_loss_0_rtt_100", 0.1, 0, 64, 4, CW_RECOVERY_RESEND, 58.4, 58.4, 66.05},
    };
    uint64_t seed = 1;
    bool check_only = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            check_only = true;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: bench_message_paths [--seed N] [--check]\n");
            return 2;
        }
    }
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    bool good = true;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        good &= run(&scenes[i], seed, check_only);
    return check_only && !good;
}
