/* A small game server for tests: what a player says goes to all, and so does where each of them is.
     chat_server [ADDRESS:PORT [PLAYERS [keep]]]
   The default address is 127.0.0.1:0, any free port; it says which. With "keep" nobody takes over
   the slot of a client with the same id. The environment variable CAUSEWAY_KEY holds the key of the
   tokens. */
#include "chat_schema.h"

#include "causeway/native/clock.h"
#include "causeway/native/host.h"
#include "causeway/token.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same number as in chat_schema.mjs. */
#define PROTOCOL_ID 0xca05e3a7de400001
#define MAX_PLAYERS (sizeof(struct world){0}.players.items / sizeof(uint32_t))

static struct move positions[MAX_PLAYERS];
static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void check(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "chat_server: %s\n", cw_error_string(error));
    exit(1);
}

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

static void write_address(const struct cw_server *server, uint32_t client, char *out,
                          size_t capacity)
{
    struct cw_server_client_info about;
    char text[CW_ADDRESS_TEXT_SIZE];
    if (cw_server_client(server, client, &about))
        snprintf(out, capacity, "%s", cw_address_format(&about.address, text));
}

static void take(struct cw_server *server, const struct cw_server_event *event, double now)
{
    if (event->type == CW_SERVER_EVENT_CONNECTED)
        positions[event->client] = (struct move){0.5f, 0.5f};
    if (event->type != CW_SERVER_EVENT_MESSAGE)
        return;
    if (event->message->type == MESSAGES_SAY) {
        struct said said = {.player = event->client};
        memcpy(said.text, ((struct say *)event->message->data)->text, sizeof said.text);
        if (strcmp(said.text, "/who") == 0) /* the player asks for its own address */
            write_address(server, event->client, said.text, sizeof said.text);
        send_to_all(server, 0, MESSAGES_SAID, &said, sizeof said, now);
        if (strncmp(said.text, "/kick ", 6) == 0) /* the player asks to be kicked */
            cw_server_flush_and_disconnect(server, event->client, 7, said.text + 6, 5, now);
    } else if (event->message->type == MESSAGES_MOVE) {
        positions[event->client] = *(struct move *)event->message->data;
    }
    cw_message_release(event->message);
}

static void send_world(struct cw_server *server, double now)
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
    send_to_all(server, 1, MESSAGES_WORLD, &world, sizeof world, now);
}

int main(int argc, char **argv)
{
    struct cw_schema *schema;
    const struct cw_message_type types[] = MESSAGES_TYPES;
    check(cw_schema_create(&(struct cw_schema_config){.types = types, .count = MESSAGES_TYPE_COUNT},
                           &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_host_config config = cw_host_config_default();
    config.server.connection = &connection;
    config.server.netcode.protocol_id = PROTOCOL_ID;
    config.server.netcode.max_clients =
        argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : MAX_PLAYERS;
    config.server.netcode.takeover = argc <= 3 || strcmp(argv[3], "keep") != 0;
    config.server.netcode.max_token_life_seconds = 0; /* the key is new at every start */
    if (config.server.netcode.max_clients > MAX_PLAYERS)
        return 1;
    check(cw_key_parse(getenv("CAUSEWAY_KEY"), config.server.netcode.private_key));
    const char *const trusted = getenv("CAUSEWAY_TRUSTED_PROXY");
    config.trusted_proxies = &trusted;
    config.trusted_proxy_count = trusted != NULL;

    struct cw_host *host;
    check(cw_host_open(argc > 1 ? argv[1] : "127.0.0.1:0", &config, &host));
    char text[CW_ADDRESS_TEXT_SIZE];
    printf("game server on %s\n", cw_address_format(cw_host_address(host), text));
    fflush(stdout);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);

    struct cw_server_event event;
    for (double tick = cw_clock_now(); !stopped; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
        while (cw_host_next(host, tick, &event))
            take(cw_host_server(host), &event, cw_clock_now());
        send_world(cw_host_server(host), cw_clock_now());
        cw_host_update(host);
    }
    cw_host_close(host);
    cw_schema_destroy(schema);
    return 0;
}
