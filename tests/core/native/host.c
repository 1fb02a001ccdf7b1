/* A server on a real socket, and clients on theirs. */
#include "causeway/native/clock.h"

#include "config_error.h"
#include "owned_native.h"

#include <stdlib.h>
#include <string.h>

/* Far more than anything here takes; a test that passes never waits so long. */
#define PATIENCE 10.0
#define PROTOCOL 7

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};

#define NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_MESSAGE(note, NOTE_FIELDS)

struct world {
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_host_config config;
    struct cw_host *host;
    struct cw_client *client;
    struct cw_socket *socket; /* the client's */
};

static void open_world(struct world *world)
{
    *world = (struct world){.config = cw_host_config_default()};
    const struct cw_schema_config schema = {.types = &note_type, .count = 1};
    world->schema = schema_with(&schema);
    world->connection = cw_connection_config_default(world->schema);
    world->config.server.connection = &world->connection;
    world->config.server.netcode.protocol_id = PROTOCOL;
    world->config.server.netcode.max_token_life_seconds = 0;
    memcpy(world->config.server.netcode.private_key, key, sizeof key);
    world->host = host_at("127.0.0.1:0", &world->config);
}

static void start_client(struct world *world, const struct cw_address *server)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = PROTOCOL;
    grant.client_id = 5;
    grant.timeout_seconds = 5;
    grant.create_time = (uint64_t)cw_clock_unix();
    grant.addresses = server;
    grant.address_count = 1;
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, key, token));
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world->connection;
    world->client = client_with(&config);
    assert_ok(cw_client_connect(world->client, token, sizeof token, cw_clock_now()));
    const struct cw_socket_config socket = cw_socket_config_default();
    world->socket = socket_with(&socket);
}

static void step_client(struct world *world)
{
    uint8_t data[CW_SECURE_MAX];
    struct cw_address address;
    size_t size;
    const double now = cw_clock_now();
    while ((size = cw_socket_receive(world->socket, data, sizeof data, &address)) > 0)
        cw_client_receive(world->client, &address, data, size, now);
    cw_client_update(world->client, now);
    while ((size = cw_client_transmit(world->client, data, sizeof data, now, &address)) > 0)
        cw_socket_send(world->socket, &address, data, size);
}

/* The next event of the server, however many ticks it takes. */
static struct cw_server_event await_event(struct world *world)
{
    struct cw_server_event event;
    const double end = cw_clock_now() + PATIENCE;
    while (cw_clock_now() < end) {
        if (world->client)
            step_client(world);
        if (cw_host_next(world->host, cw_clock_now() + 0.005, &event))
            return event;
        cw_host_update(world->host);
    }
    fail_msg("no event came");
    return event;
}

static void send_note(struct cw_connection *connection, uint32_t number)
{
    struct cw_message *message;
    assert_ok(cw_connection_create_message(connection, 0, &message));
    ((struct note *)message->data)->number = number;
    assert_ok(cw_connection_send(connection, 0, message, cw_clock_now()));
}

TEST(a_client_connects_talks_and_is_told_of_the_end)
{
    struct world world;
    open_world(&world);
    start_client(&world, cw_host_address(world.host));
    struct cw_server_event event = await_event(&world);
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    struct cw_server_client_info about;
    assert_true(cw_server_client(cw_host_server(world.host), event.client, &about));
    assert_int_equal(about.id, 5);
    const double end = cw_clock_now() + PATIENCE;
    while (cw_client_state(world.client) != CW_CLIENT_CONNECTED && cw_clock_now() < end) {
        cw_host_update(world.host);
        cw_socket_wait(world.socket, 0.005);
        step_client(&world);
    }
    send_note(cw_client_connection(world.client), 77);
    event = await_event(&world);
    assert_int_equal(event.type, CW_SERVER_EVENT_MESSAGE);
    assert_int_equal(((struct note *)event.message->data)->number, 77);
    cw_message_release(event.message);

    end_owned(world.host);
    world.host = NULL;
    while (cw_client_state(world.client) == CW_CLIENT_CONNECTED && cw_clock_now() < end) {
        cw_socket_wait(world.socket, 0.005);
        step_client(&world);
    }
    assert_int_equal(cw_client_state(world.client), CW_CLIENT_STOPPING);
}

TEST(it_waits_for_the_tick_and_no_longer)
{
    struct world world;
    open_world(&world);
    struct cw_server_event event;
    const double tick = cw_clock_now() + 0.02;
    assert_false(cw_host_next(world.host, tick, &event));
    assert_true(cw_clock_now() >= tick);
    assert_false(cw_host_next(world.host, tick, &event));
}

static uint64_t received(struct world *world)
{
    struct cw_netcode_server_stats stats;
    cw_netcode_server_get_stats(cw_server_netcode(cw_host_server(world->host)), &stats);
    return stats.datagrams_received;
}

TEST(a_flood_cannot_keep_the_game_from_its_tick)
{
    enum { FLOOD = 6000, MOST = 4096 };
    struct world world;
    open_world(&world);
    const struct cw_socket_config config = cw_socket_config_default();
    world.socket = socket_with(&config);
    const uint8_t junk[1] = {0xFF};
    for (int i = 0; i < FLOOD; i++)
        assert_ok(cw_socket_send(world.socket, cw_host_address(world.host), junk, 1));
    struct cw_server_event event;
    /* The tick is over already: even so it takes what has arrived, but not all of it. */
    assert_false(cw_host_next(world.host, 0, &event));
    const uint64_t first = received(&world);
    assert_in_range(first, 1, MOST);
    if (first < MOST) /* the system's buffer is too small for a flood */
        skip();
    assert_false(cw_host_next(world.host, 0, &event));
    assert_int_equal(received(&world), MOST);
    cw_host_update(world.host);
    assert_false(cw_host_next(world.host, 0, &event));
    assert_in_range(received(&world), MOST + 1, FLOOD);
}

TEST(the_address_that_tokens_name)
{
    struct world world;
    open_world(&world);
    assert_int_not_equal(cw_host_address(world.host)->port, 0);
    struct cw_host *other = NULL;
    assert_error_names(cw_host_open("0.0.0.0:0", &world.config, &other), "addresses");
    struct cw_address public;
    assert_ok(cw_address_parse("203.0.113.7:4000", &public));
    world.config.server.netcode.addresses = &public;
    world.config.server.netcode.address_count = 1;
    other = host_at("0.0.0.0:0", &world.config);
    /* A token for the machine's own address is none of a server that is known by another. */
    end_owned(world.host);
    world.host = other;
    struct cw_address own = *cw_host_address(other);
    const uint16_t port = own.port;
    assert_ok(cw_address_parse("127.0.0.1:1", &own));
    own.port = port;
    start_client(&world, &own);
    struct cw_server_event event;
    const double end = cw_clock_now() + PATIENCE;
    struct cw_server *server = cw_host_server(other);
    while (cw_server_dropped(server, CW_ERROR_TOKEN_SERVER) == 0 && cw_clock_now() < end) {
        step_client(&world);
        assert_false(cw_host_next(world.host, cw_clock_now() + 0.005, &event));
    }
    assert_true(cw_server_dropped(server, CW_ERROR_TOKEN_SERVER) > 0);
}

TEST(what_cannot_be_opened_is_an_error)
{
    struct world world;
    open_world(&world);
    struct cw_host *other = NULL;
    char taken[CW_ADDRESS_TEXT_SIZE];
    cw_address_format(cw_host_address(world.host), taken);
    assert_int_equal(cw_host_open(taken, &world.config, &other), CW_ERROR_ADDRESS_IN_USE);
    assert_int_equal(cw_host_open("127.0.0.1:x", &world.config, &other), CW_ERROR_ADDRESS);
    world.config.server.netcode.max_clients = 0;
    assert_error_names(cw_host_open("127.0.0.1:0", &world.config, &other), "max_clients");
    assert_null(other);
    cw_host_close(NULL);
}

/* Nobody would find a server at a port that nobody has asked for. */
TEST(a_port_is_asked_for)
{
    struct world world;
    open_world(&world);
    struct cw_host *other = NULL;
    static const char *const without[] = {"127.0.0.1", "0.0.0.0", "::1",   "::",       "::0",
                                          "::1:0",     "[::1]",   "[::0]", "localhost"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_int_equal(cw_host_open(without[i], &world.config, &other), CW_ERROR_PORT);
    assert_null(other);
    other = host_at("localhost:0", &world.config);
    assert_int_not_equal(cw_host_address(other)->port, 0);
    assert_int_not_equal(cw_host_open("[::1]:0", &world.config, &other), CW_ERROR_PORT);
    if (other)
        cw_host_close(other);
}

/* A host without a connection in its config would drop every message. */
TEST(messages_are_asked_for)
{
    struct world world;
    open_world(&world);
    struct cw_host *other = NULL;
    world.config.server.connection = NULL;
    assert_error_names(cw_host_open("127.0.0.1:0", &world.config, &other), "connection");
    assert_null(other);
}
