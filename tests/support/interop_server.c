/* A game server without encryption that sends every message back: the C side of the interop test.
   It prints its port, and the fingerprint that client and server must have in common. */
#include "causeway/connection.h"
#include "causeway/native/clock.h"
#include "causeway/native/socket.h"
#include "interop_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "interop_server: %s\n", cw_error_string(error));
    exit(1);
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

static void send_back(struct cw_connection *connection, uint32_t channel,
                      const struct cw_message *message, size_t size, double now)
{
    struct cw_message *copy;
    check(cw_connection_create_message(connection, message->type, &copy));
    memcpy(copy->data, message->data, size);
    if (message->block) {
        uint8_t *block = malloc(message->block_size);
        memcpy(block, message->block, message->block_size);
        cw_message_attach(copy, block, message->block_size, release_block, NULL);
    }
    check(cw_connection_send(connection, channel, copy, now));
}

/* The names of the declaration are in the header. */
_Static_assert(TEAM_BLUE == 2 && ABILITIES_DIG == 4, "an enumeration and flags have their names");

int main(void)
{
    const struct cw_message_type types[] = INTEROP_TYPES;
    const struct cw_schema_config schema_config = {.types = types, .count = INTEROP_TYPE_COUNT};
    struct cw_schema *schema;
    check(cw_schema_create(&schema_config, &schema));
    struct cw_connection_config config = cw_connection_config_default(schema);
    if (cw_connection_fingerprint(&config) != INTEROP_FINGERPRINT) {
        fprintf(stderr, "interop_server: the header has another fingerprint\n");
        return 1;
    }
    config.channels[0].blocks = true;
    struct cw_connection *connection;
    check(cw_connection_create(&config, &connection));

    struct cw_socket_config socket_config = cw_socket_config_default();
    check(cw_address_parse("127.0.0.1:0", &socket_config.address));
    struct cw_socket *socket;
    check(cw_socket_open(&socket_config, &socket));
    struct cw_address from, client = {0};
    cw_socket_address(socket, &from);
    printf("%u %016" PRIx64 "\n", from.port, cw_connection_fingerprint(&config));
    fflush(stdout);

    uint8_t data[1400];
    for (;;) {
        size_t size;
        cw_socket_wait(socket, 1.0 / 60);
        const double now = cw_clock_now();
        while ((size = cw_socket_receive(socket, data, sizeof data, &from)) > 0) {
            client = from;
            cw_connection_receive(connection, data, size, now);
        }
        if (client.type == CW_ADDRESS_NONE)
            continue;
        struct cw_connection_event event;
        while (cw_connection_next(connection, &event)) {
            send_back(connection, event.channel, event.message,
                      cw_schema_type(schema, event.message->type)->size, now);
            cw_message_release(event.message);
        }
        cw_connection_update(connection, now);
        while ((size = cw_connection_transmit(connection, data, sizeof data, now)) > 0)
            cw_socket_send(socket, &client, data, size);
    }
}
