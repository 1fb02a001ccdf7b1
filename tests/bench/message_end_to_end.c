/* Measures what one reliable message costs: two connections with one 64-byte message from each to
   the other per tick, created, sent, packed, received, delivered and acked.
     bench_message_end_to_end [rounds N | recorded N]    recorded: by a flight recorder at each end
   Without arguments the program says what tests/bench/run shall count. */
#include "causeway/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK (1.0 / 60) /* seconds */
#ifndef ARCHIVE
#define ARCHIVE false /* message_end_to_end_archive.c measures the library as its users link it */
#endif

struct payload {
    uint8_t bytes[64];
};

CW_SERIALIZE(serialize_payload, struct payload, stream, payload)
{
    return cw_stream_bytes(stream, payload->bytes, sizeof payload->bytes);
}

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

static void record(struct cw_connection *connection)
{
    const struct cw_record_config config = cw_record_config_default();
    struct cw_record *record; /* kept until the program ends */
    check(cw_record_create(&config, &record));
    cw_connection_set_record(connection, record);
}

static void pass(struct cw_connection *from, struct cw_connection *to, double now)
{
    uint8_t datagram[1100];
    struct cw_message *message;
    check(cw_connection_create_message(from, 0, &message));
    memset(message->data, 7, sizeof(struct payload));
    check(cw_connection_send(from, 0, message, now));
    cw_connection_update(from, now);
    size_t size;
    while ((size = cw_connection_transmit(from, datagram, sizeof datagram, now)) > 0)
        check(cw_connection_receive(to, datagram, size, now));
    struct cw_connection_event event;
    while (cw_connection_next(to, &event))
        cw_message_release(event.message);
}

int main(int argc, char **argv)
{
    const struct cw_message_type type = {
        .name = "payload", .size = sizeof(struct payload), .serialize = serialize_payload};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    check(cw_schema_create(&schema_config, &schema));
    struct cw_connection_config config = cw_connection_config_default(schema);
    if (argc == 1 && ARCHIVE) {
        puts("count end_to_end_64_archive_instructions 2000: rounds 2000 - rounds 1000");
        return 0;
    }
    if (argc == 1) {
        puts("count end_to_end_64_instructions 2000: rounds 2000 - rounds 1000");
        puts("count end_to_end_64_recorded_instructions 2000: recorded 2000 - recorded 1000");
        printf("connection_bytes %zu bytes\n", cw_connection_memory(&config));
        return 0;
    }
    const bool recorded = argc == 3 && strcmp(argv[1], "recorded") == 0;
    if (argc != 3 || (!recorded && strcmp(argv[1], "rounds") != 0)) {
        fprintf(stderr, "usage: bench_message_end_to_end [rounds N | recorded N]\n");
        return 2;
    }
    config.channel_count = 1;
    struct cw_connection *a, *b;
    check(cw_connection_create(&config, &a));
    check(cw_connection_create(&config, &b));
    if (recorded) {
        record(a);
        record(b);
    }
    const long rounds = atol(argv[2]);
    for (long i = 0; i < rounds; i++) {
        pass(a, b, (double)i * TICK);
        pass(b, a, ((double)i + 0.5) * TICK);
    }
    cw_connection_destroy(a);
    cw_connection_destroy(b);
    cw_schema_destroy(schema);
    return 0;
}
