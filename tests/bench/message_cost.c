/* Measures what one reliable message costs on paths of several lengths, alone and in batches: two
   connections at 60 Hz send each other as many messages per tick, each created, sent, packed,
   received, delivered and acked.
     bench_message_cost SIZE BATCH DELAY ROUNDS IDLE
   A message has SIZE bytes, and each tick sends BATCH of them; a datagram arrives DELAY ticks and a
   half after it was sent. ROUNDS ticks are followed by IDLE ticks of this program alone, so that
   two runs with the same sum of both differ by the library's work only. Without arguments the
   program says what tests/bench/run shall count. */
#include "causeway/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK       (1.0 / 60) /* seconds */
#define IN_TRANSIT 64         /* ticks */
#define PER_TICK   4          /* datagrams */
#define MOST       1100
#define WARM_UP    1000
#define COUNTED    2000

struct note {
    uint8_t bytes[64];
};

struct tiny {
    uint8_t bytes[8];
};

CW_SERIALIZE(serialize_note, struct note, stream, note)
{
    return cw_stream_bytes(stream, note->bytes, sizeof note->bytes);
}

CW_SERIALIZE(serialize_tiny, struct tiny, stream, tiny)
{
    return cw_stream_bytes(stream, tiny->bytes, sizeof tiny->bytes);
}

/* The datagrams that one end sends in one tick. */
struct flight {
    uint32_t count;
    size_t sizes[PER_TICK];
    uint8_t datagrams[PER_TICK][MOST];
};

struct end {
    struct cw_connection *connection; /* NULL when only this program's own work is done */
    struct flight sent[IN_TRANSIT];
};

static uint32_t message_size, batch;

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

static void receive(struct end *end, const struct flight *flight, double now)
{
    struct cw_connection_event event;
    for (uint32_t i = 0; i < flight->count; i++)
        if (end->connection)
            check(cw_connection_receive(end->connection, flight->datagrams[i], flight->sizes[i],
                                        now));
    for (uint32_t i = 0; end->connection && cw_connection_next(end->connection, &event); i++)
        cw_message_release(event.message);
}

static void send(struct end *end, double now)
{
    static uint8_t place[sizeof(struct note)];
    for (uint32_t i = 0; i < batch; i++) {
        struct cw_message *message = NULL;
        if (end->connection)
            check(cw_connection_create_message(end->connection, 0, &message));
        memset(message ? message->data : place, 7, message_size);
        if (message)
            check(cw_connection_send(end->connection, 0, message, now));
    }
}

static void transmit(struct end *end, struct flight *flight, double now)
{
    flight->count = 0;
    if (!end->connection)
        return;
    cw_connection_update(end->connection, now);
    size_t size;
    while (flight->count < PER_TICK &&
           (size = cw_connection_transmit(end->connection, flight->datagrams[flight->count], MOST,
                                          now)) > 0)
        flight->sizes[flight->count++] = size;
}

static void run(struct end *a, struct end *b, uint32_t delay, long from, long to)
{
    static const struct flight nothing;
    for (long i = from; i < to; i++) {
        const double now = (double)i * TICK;
        const long due = i - (long)delay;
        receive(a, due > 0 ? &b->sent[(due - 1) % IN_TRANSIT] : &nothing, now);
        send(a, now);
        transmit(a, &a->sent[i % IN_TRANSIT], now);
        receive(b, due >= 0 ? &a->sent[due % IN_TRANSIT] : &nothing, now + TICK / 2);
        send(b, now + TICK / 2);
        transmit(b, &b->sent[i % IN_TRANSIT], now + TICK / 2);
    }
}

/* Prints the key of a figure, and the arguments of its two runs. */
static void count(const char *name, int size, int messages, int delay)
{
    printf("count %s_instructions %d: %d %d %d %d 0 - %d %d %d %d %d\n", name,
           COUNTED * 2 * messages, size, messages, delay, WARM_UP + COUNTED, size, messages, delay,
           WARM_UP, COUNTED);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        count("rtt_17", 64, 1, 0);
        count("rtt_217", 64, 1, 6);
        count("rtt_683", 64, 1, 20);
        count("batch_4", 64, 4, 6);
        count("batch_30", 64, 30, 6);
        count("batch_30x8", 8, 30, 6);
        return 0;
    }
    if (argc != 6) {
        fprintf(stderr, "usage: bench_message_cost [SIZE BATCH DELAY ROUNDS IDLE]\n");
        return 2;
    }
    message_size = (uint32_t)atol(argv[1]);
    batch = (uint32_t)atol(argv[2]);
    const uint32_t delay = (uint32_t)atol(argv[3]);
    const long rounds = atol(argv[4]), idle = atol(argv[5]);
    const struct cw_message_type type = message_size == sizeof(struct tiny)
                                            ? (struct cw_message_type){.name = "tiny",
                                                                       .size = sizeof(struct tiny),
                                                                       .serialize = serialize_tiny}
                                            : (struct cw_message_type){.name = "note",
                                                                       .size = sizeof(struct note),
                                                                       .serialize = serialize_note};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    check(cw_schema_create(&schema_config, &schema));
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channel_count = 1;
    config.max_messages = 1024; /* 30 per tick at 217 ms are 400 in flight */
    config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 1024;
    static struct end a, b;
    check(cw_connection_create(&config, &a.connection));
    check(cw_connection_create(&config, &b.connection));
    struct cw_connection *const connections[] = {a.connection, b.connection};
    run(&a, &b, delay, 0, rounds);
    a.connection = b.connection = NULL;
    run(&a, &b, delay, rounds, rounds + idle);
    cw_connection_destroy(connections[0]);
    cw_connection_destroy(connections[1]);
    cw_schema_destroy(schema);
    return 0;
}
