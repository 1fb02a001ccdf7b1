/* Measures what a block costs on a short path, in virtual time: the bytes of all datagrams of its
   sender from the first fragment to the last ack, divided by those of its fragments' packets, each
   sent once. Two connections tick at 60 Hz, one half a tick after the other. */
#include "causeway/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK       (1.0 / 60) /* seconds */
#define ONE_WAY    0.001      /* seconds */
#define BLOCK      100000
#define IN_TRANSIT 256
#define MOST       1100

struct datagram {
    double due;
    size_t size;
    uint8_t data[MOST];
};

struct side {
    struct cw_connection *connection;
    struct datagram inbox[IN_TRANSIT];
    uint32_t read, written;
};

static uint8_t block[BLOCK];

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

CW_SERIALIZE(serialize_nothing, struct side, stream, nothing)
{
    (void)stream, (void)nothing;
    return true;
}

static void send_block(struct cw_connection *from)
{
    struct cw_message *message;
    check(cw_connection_create_message(from, 0, &message));
    cw_message_attach(message, block, BLOCK, NULL, NULL);
    check(cw_connection_send(from, 0, message, 0));
}

static uint64_t tick(struct side *self, struct side *other, double now)
{
    for (; self->read != self->written && self->inbox[self->read % IN_TRANSIT].due <= now;
         self->read++) {
        const struct datagram *datagram = &self->inbox[self->read % IN_TRANSIT];
        check(cw_connection_receive(self->connection, datagram->data, datagram->size, now));
    }
    uint64_t bytes = 0;
    cw_connection_update(self->connection, now);
    for (;;) {
        struct datagram *datagram = &other->inbox[other->written % IN_TRANSIT];
        datagram->due = now + ONE_WAY;
        datagram->size = cw_connection_transmit(self->connection, datagram->data, MOST, now);
        if (datagram->size == 0)
            return bytes;
        bytes += datagram->size;
        other->written++;
    }
}

static bool is_delivered(const struct cw_connection *connection)
{
    struct cw_channel_stats stats;
    check(cw_connection_get_channel_stats(connection, 0, &stats));
    return stats.delivered > 0;
}

/* Returns the bytes of a block when nothing is sent again, because nothing is known of the path.
   Nothing is held back here either. */
static uint64_t bytes_sent_once(struct cw_connection_config config, uint32_t fragments)
{
    config.congestion.mode = CW_CONGESTION_NONE;
    struct cw_connection *sender;
    uint8_t datagram[MOST];
    uint64_t bytes = 0;
    check(cw_connection_create(&config, &sender));
    send_block(sender);
    while (fragments > 0) {
        cw_connection_update(sender, 0);
        for (size_t size; (size = cw_connection_transmit(sender, datagram, sizeof datagram, 0)) > 0;
             fragments--)
            bytes += size;
    }
    cw_connection_destroy(sender);
    return bytes;
}

int main(void)
{
    const struct cw_message_type type = {.name = "block",
                                         .size = sizeof(struct side),
                                         .serialize = serialize_nothing,
                                         .block = true};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    check(cw_schema_create(&schema_config, &schema));
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channels[0].blocks = true;
    const uint32_t fragment_size = config.channels[0].block_fragment_size;
    const uint64_t once = bytes_sent_once(config, (BLOCK + fragment_size - 1) / fragment_size);

    struct side *sides = calloc(2, sizeof *sides);
    for (int i = 0; i < 2; i++)
        check(cw_connection_create(&config, &sides[i].connection));
    send_block(sides[0].connection);
    uint64_t bytes = 0;
    for (int i = 0; !is_delivered(sides[0].connection); i++) {
        bytes += tick(&sides[0], &sides[1], i * TICK);
        (void)tick(&sides[1], &sides[0], (i + 0.5) * TICK);
    }
    printf("block_100k_rtt_2_wire_ratio %.3f ratio\n", (double)bytes / (double)once);
    for (int i = 0; i < 2; i++)
        cw_connection_destroy(sides[i].connection);
    free(sides);
    cw_schema_destroy(schema);
    return 0;
}
