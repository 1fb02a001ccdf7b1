/* A game server in small: it passes on what players say, and tells all where everybody is.
     demo_server [ADDRESS:PORT [PLAYERS]]     default 127.0.0.1:0, any free port; it says which
   The environment variable CAUSEWAY_KEY holds the key that the backend makes tokens with. */
#include "schema.h"

#include "causeway/native/clock.h"
#include "causeway/native/resolve.h"
#include "causeway/native/socket.h"
#include "causeway/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK (1 / 60.0)

static struct move positions[MAX_PLAYERS];

static void send_to_all(struct cw_server *server, uint32_t channel, uint32_t type, const void *data,
                        size_t size, double now)
{
    for (uint32_t player = 0; player < MAX_PLAYERS; player++) {
        struct cw_connection *connection = cw_server_connection(server, player);
        struct cw_message *message;
        if (!connection || cw_connection_create_message(connection, type, &message) != CW_OK)
            continue;
        memcpy(message->data, data, size);
        if (cw_connection_send(connection, channel, message, now) != CW_OK)
            cw_message_release(message);
    }
}

static void take(struct cw_server *server, const struct cw_server_event *event, double now)
{
    if (event->type == CW_SERVER_EVENT_CONNECTED)
        positions[event->client] = (struct move){0.5f, 0.5f};
    if (event->type != CW_SERVER_EVENT_MESSAGE)
        return;
    if (event->message->type == SAY) {
        struct said said = {.player = event->client};
        memcpy(said.text, ((struct say *)event->message->data)->text, sizeof said.text);
        send_to_all(server, 0, SAID, &said, sizeof said, now);
    } else if (event->message->type == MOVE) {
        positions[event->client] = *(struct move *)event->message->data;
    }
    cw_message_release(event->message);
}

static void tell_positions(struct cw_server *server, double now)
{
    static struct world world;
    uint32_t count = 0;
    for (uint32_t player = 0; player < MAX_PLAYERS; player++) {
        if (!cw_server_connection(server, player))
            continue;
        world.players.items[count] = player;
        world.xs.items[count] = positions[player].x;
        world.ys.items[count++] = positions[player].y;
    }
    world.players.count = world.xs.count = world.ys.count = count;
    send_to_all(server, 1, WORLD, &world, sizeof world, now);
}

static void transmit(struct cw_server *server, struct cw_socket *socket, double now)
{
    struct cw_address to;
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_server_transmit(server, &to, data, sizeof data, now)) > 0)
        cw_socket_send(socket, &to, data, size);
}

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

/* Serves until a signal asks it to stop, and then takes leave of its players. */
static void serve(struct cw_server *server, struct cw_socket *socket)
{
    struct cw_address from;
    uint8_t data[CW_SECURE_MAX];
    struct cw_server_event event;
    size_t size;
    double tick = 0;
    while (!stopped) {
        double now = cw_clock_now();
        cw_socket_wait(socket, tick > now ? tick - now : 0);
        now = cw_clock_now();
        while ((size = cw_socket_receive(socket, &from, data, sizeof data)) > 0) {
            cw_server_receive(server, &from, data, size, now);
            while (cw_server_next(server, &event))
                take(server, &event, now);
        }
        if (now >= tick) {
            tell_positions(server, now);
            cw_server_update(server, now);
            while (cw_server_next(server, &event))
                take(server, &event, now);
            tick = now + TICK;
        }
        transmit(server, socket, now);
    }
    cw_server_disconnect_all(server);
    transmit(server, socket, cw_clock_now());
}

/* The key from 64 hexadecimal digits. */
static bool read_key(uint8_t key[CW_KEY_BYTES], const char *digits)
{
    for (size_t i = 0; i < CW_KEY_BYTES; i++) {
        if (!digits || sscanf(digits + 2 * i, "%2hhx", &key[i]) != 1)
            return false;
    }
    return true;
}

static void check(bool good, const char *message)
{
    if (good)
        return;
    fprintf(stderr, "demo_server: %s\n", message);
    exit(1);
}

int main(int argc, char **argv)
{
    struct cw_socket_config socket_config = cw_socket_config_default();
    struct cw_socket *socket = NULL;
    enum cw_error error = cw_resolve(&socket_config.address, argc > 1 ? argv[1] : "127.0.0.1:0");
    if (!error)
        error = cw_socket_open(&socket, &socket_config);
    check(!error, cw_error_string(error));
    struct cw_address address;
    cw_socket_address(socket, &address);

    const struct cw_message_type types[] = {say_type, said_type, move_type, world_type};
    const struct cw_schema_config schema_config = {.types = types, .count = TYPES};
    struct cw_schema *schema;
    error = cw_schema_create(&schema, &schema_config);
    check(!error, cw_error_string(error));

    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_server_config config = cw_server_config_default();
    config.connection = &connection;
    config.protocol_id = PROTOCOL_ID;
    config.addresses = &address;
    config.address_count = 1;
    config.max_clients = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : MAX_PLAYERS;
    config.unix_offset = (double)time(NULL) - cw_clock_now();
    config.max_token_life = 0; /* the demo's key is new at every start */
    check(read_key(config.private_key, getenv("CAUSEWAY_KEY")), "CAUSEWAY_KEY holds no key");
    struct cw_server *server;
    error = cw_server_create(&server, &config);
    check(!error, cw_error_string(error));

    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    char text[CW_ADDRESS_TEXT_SIZE];
    printf("game server on %s\n", cw_address_format(&address, text));
    fflush(stdout);
    serve(server, socket);
    cw_server_destroy(server);
    cw_schema_destroy(schema);
    cw_socket_close(socket);
    return 0;
}
