/* A game server in small; the game itself is in game.c.
     demo_server [ADDRESS:PORT [PLAYERS]]     default 127.0.0.1:0, any free port; it says which
   The environment variable CAUSEWAY_KEY holds the key that the backend makes tokens with. */
#include "game.h"

#include "causeway/native/clock.h"
#include "causeway/native/resolve.h"
#include "causeway/native/socket.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK (1 / 60.0)

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void check(bool good, const char *message)
{
    if (good)
        return;
    fprintf(stderr, "demo_server: %s\n", message);
    exit(1);
}

/* From 64 hexadecimal digits. */
static bool read_key(uint8_t key[CW_KEY_BYTES], const char *digits)
{
    if (!digits || strlen(digits) != (size_t)2 * CW_KEY_BYTES)
        return false;
    for (size_t i = 0; i < CW_KEY_BYTES; i++) {
        if (sscanf(digits + 2 * i, "%2hhx", &key[i]) != 1)
            return false;
    }
    return true;
}

static struct cw_server *create_server(const struct cw_address *address,
                                       const struct cw_connection_config *connection,
                                       uint32_t players)
{
    struct cw_server_config config = cw_server_config_default();
    config.connection = connection;
    config.protocol_id = PROTOCOL_ID;
    config.addresses = address;
    config.address_count = 1;
    config.max_clients = players;
    config.unix_offset = (double)time(NULL) - cw_clock_now();
    config.max_token_life = 0; /* the demo's key is new at every start */
    check(read_key(config.private_key, getenv("CAUSEWAY_KEY")), "CAUSEWAY_KEY holds no key");
    struct cw_server *server;
    const enum cw_error error = cw_server_create(&server, &config);
    check(error == CW_OK, cw_error_string(error));
    return server;
}

static void receive(struct cw_server *server, struct cw_socket *socket, double now)
{
    struct cw_address from;
    struct cw_server_event event;
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_socket_receive(socket, &from, data, sizeof data)) > 0) {
        cw_server_receive(server, &from, data, size, now);
        while (cw_server_next(server, &event))
            game_take(server, &event, now);
    }
}

static void transmit(struct cw_server *server, struct cw_socket *socket, double now)
{
    struct cw_address to;
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_server_transmit(server, &to, data, sizeof data, now)) > 0)
        cw_socket_send(socket, &to, data, size);
}

/* Until a signal asks it to stop. */
static void serve(struct cw_server *server, struct cw_socket *socket)
{
    struct cw_server_event event;
    double tick = 0;
    while (!stopped) {
        cw_socket_wait(socket, tick - cw_clock_now());
        const double now = cw_clock_now();
        receive(server, socket, now);
        if (now >= tick) {
            game_tick(server, now);
            cw_server_update(server, now);
            while (cw_server_next(server, &event))
                game_take(server, &event, now);
            tick = now + TICK;
        }
        transmit(server, socket, now);
    }
    cw_server_disconnect_all(server);
    transmit(server, socket, cw_clock_now());
}

int main(int argc, char **argv)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket *socket = NULL;
    enum cw_error error = cw_resolve(&config.address, argc > 1 ? argv[1] : "127.0.0.1:0");
    if (error == CW_OK)
        error = cw_socket_open(&socket, &config);
    check(error == CW_OK, cw_error_string(error));
    struct cw_address address;
    cw_socket_address(socket, &address);

    const struct cw_message_type types[] = {say_type, said_type, move_type, world_type};
    const struct cw_schema_config schema_config = {.types = types, .count = TYPES};
    struct cw_schema *schema;
    error = cw_schema_create(&schema, &schema_config);
    check(error == CW_OK, cw_error_string(error));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_server *server = create_server(
        &address, &connection, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : MAX_PLAYERS);

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
