/* A client host that comes back: with another token, through a NAT that forgets it, and from
   another address. Real sockets on the loopback device. */
#define _GNU_SOURCE /* unshare */

#include "causeway/native/clock.h"

#include "config_error.h"
#include "owned_native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#endif

/* Far more than anything here takes; a test that passes never waits so long. */
#define PATIENCE 20.0
#define PROTOCOL 7

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};

#define NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_MESSAGE(note, NOTE_FIELDS)

struct world {
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_host *server;
    struct cw_client_host *client;

    /* A NAT between the two, unless the client is given the server's own address. */
    struct cw_socket *near, *far;
    struct cw_address near_address; /* the address that tokens name */
    struct cw_address inside;       /* the client's */

    enum cw_client_state state; /* the client's, as its events tell */
    int client_ends, server_ends;
    uint32_t heard_by_client, heard_by_server; /* the last note */
    uint32_t code;
    char text[CW_FAREWELL_TEXT_MAX + 1];
    int asked; /* for tokens */
};

static struct cw_token_grant make_grant(const struct world *world, uint64_t id,
                                        int32_t timeout_seconds)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = PROTOCOL;
    grant.client_id = id;
    grant.create_time = (uint64_t)cw_clock_unix();
    grant.timeout_seconds = timeout_seconds;
    grant.addresses = world->near ? &world->near_address : cw_host_address(world->server);
    grant.address_count = 1;
    return grant;
}

static void make_token(const struct world *world, uint64_t id, int32_t timeout_seconds,
                       uint8_t token[CW_TOKEN_SIZE])
{
    const struct cw_token_grant grant = make_grant(world, id, timeout_seconds);
    assert_ok(cw_token_generate(&grant, key, token));
}

static void connect_client(struct world *world, uint64_t id, int32_t timeout_seconds)
{
    uint8_t token[CW_TOKEN_SIZE];
    make_token(world, id, timeout_seconds, token);
    assert_ok(cw_client_host_connect(world->client, token, sizeof token));
}

static void open_server(struct world *world, const char *listen, bool nat)
{
    struct cw_host_config config = cw_host_config_default();
    config.server.connection = &world->connection;
    config.server.netcode.protocol_id = PROTOCOL;
    config.server.netcode.max_token_life_seconds = 0;
    memcpy(config.server.netcode.private_key, key, sizeof key);
    if (nat) {
        world->near = socket_on_loopback();
        world->far = socket_on_loopback();
        cw_socket_address(world->near, &world->near_address);
        config.server.netcode.addresses = &world->near_address;
        config.server.netcode.address_count = 1;
    }
    world->server = host_at(listen, &config);
}

static void open_world(struct world *world, const char *listen, bool nat, double silence_seconds)
{
    *world = (struct world){0};
    const struct cw_schema_config schema = {.types = &note_type, .count = 1};
    world->schema = schema_with(&schema);
    world->connection = cw_connection_config_default(world->schema);
    open_server(world, listen, nat);
    struct cw_client_host_config client = cw_client_host_config_default();
    client.client.connection = &world->connection;
    client.silence_seconds = silence_seconds;
    world->client = client_host_with(&client);
}

static void translate(struct world *world)
{
    uint8_t data[CW_SECURE_MAX];
    struct cw_address from;
    size_t size;
    while ((size = cw_socket_receive(world->near, data, sizeof data, &from)) > 0) {
        world->inside = from;
        cw_socket_send(world->far, cw_host_address(world->server), data, size);
    }
    while ((size = cw_socket_receive(world->far, data, sizeof data, &from)) > 0)
        cw_socket_send(world->near, &world->inside, data, size);
}

static void take(struct world *world, const struct cw_client_event *event)
{
    world->state = event->state;
    if (event->type == CW_CLIENT_EVENT_MESSAGE) {
        world->heard_by_client = ((struct note *)event->message->data)->number;
        cw_message_release(event->message);
    } else if (event->type == CW_CLIENT_EVENT_DISCONNECTED) {
        world->client_ends++;
        world->code = event->code;
        strcpy(world->text, event->text);
    }
}

/* A tick of everybody. */
static void step(struct world *world)
{
    struct cw_client_event down;
    struct cw_server_event up;
    if (world->near)
        translate(world);
    while (cw_host_next(world->server, cw_clock_now() + 0.002, &up)) {
        world->server_ends += up.type == CW_SERVER_EVENT_DISCONNECTED;
        if (up.type == CW_SERVER_EVENT_MESSAGE) {
            world->heard_by_server = ((struct note *)up.message->data)->number;
            cw_message_release(up.message);
        }
    }
    cw_host_update(world->server);
    if (world->near)
        translate(world);
    while (cw_client_host_next(world->client, cw_clock_now() + 0.002, &down))
        take(world, &down);
    cw_client_host_update(world->client);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        const double end = cw_clock_now() + PATIENCE;                                              \
        while (!(condition)) {                                                                     \
            assert_true(cw_clock_now() < end);                                                     \
            step(&world);                                                                          \
        }                                                                                          \
    } while (0)

static void send_note(struct cw_connection *connection, uint32_t number)
{
    struct cw_message *message;
    assert_non_null(connection);
    assert_ok(cw_connection_create_message(connection, 0, &message));
    ((struct note *)message->data)->number = number;
    assert_ok(cw_connection_send(connection, 0, message, cw_clock_now()));
}

static void send_notes(struct world *world, uint32_t number)
{
    send_note(cw_client_connection(cw_client_host_client(world->client)), number);
    send_note(cw_server_connection(cw_host_server(world->server), 0), number);
}

static struct cw_netcode_server_stats stats_of(const struct world *world)
{
    struct cw_netcode_server_stats stats;
    cw_netcode_server_get_stats(cw_server_netcode(cw_host_server(world->server)), &stats);
    return stats;
}

TEST(it_learns_why_and_connects_again)
{
    struct world world;
    open_world(&world, "127.0.0.1:0", false, 1);
    connect_client(&world, 5, 5);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    send_notes(&world, 1);
    AWAIT(world.heard_by_client == 1 && world.heard_by_server == 1);
    cw_server_disconnect(cw_host_server(world.server), 0, 77, "enough");
    AWAIT(world.state != CW_CLIENT_CONNECTED);
    assert_int_equal(world.state, CW_CLIENT_KICKED);
    assert_int_equal(world.code, 77);
    assert_string_equal(world.text, "enough");

    connect_client(&world, 5, 5);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    send_notes(&world, 2);
    AWAIT(world.heard_by_client == 2 && world.heard_by_server == 2);
    assert_int_equal(world.client_ends, 1);

    /* Closing it tells the server. */
    world.server_ends = 0;
    end_owned(world.client);
    struct cw_server_event event;
    assert_true(cw_host_next(world.server, cw_clock_now() + PATIENCE, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_BY_CLIENT);
}

/* The backend is slow, then gives the same token for two connections, then one that is none. */
static size_t next_token(void *context, uint8_t *out, size_t capacity)
{
    static uint8_t token[CW_TOKEN_SIZE];
    struct world *world = context;
    assert_int_equal(capacity, CW_TOKEN_SIZE);
    const int turn = ++world->asked;
    if (turn < 5)
        return 0;
    if (turn != 6)
        make_token(world, 5, 5, token);
    memcpy(out, token, sizeof token);
    return turn < 8 ? sizeof token : 9;
}

/* Its client has been given so many. */
static void open_world_with_tokens(struct world *world, int asked)
{
    open_world(world, "127.0.0.1:0", false, 1);
    end_owned(world->client);
    world->asked = asked;
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &world->connection;
    config.token = next_token;
    config.token_context = world;
    world->client = client_host_with(&config);
}

TEST(it_asks_for_tokens)
{
    struct world world;
    char listen[CW_ADDRESS_TEXT_SIZE];
    open_world_with_tokens(&world, 0);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    assert_int_equal(world.asked, 5);
    assert_false(cw_client_host_reconnects(world.client));

    cw_address_format(cw_host_address(world.server), listen);
    end_owned(world.server);
    open_server(&world, listen, false);
    AWAIT(world.state == CW_CLIENT_STOPPING);
    assert_true(cw_client_host_reconnects(world.client));
    assert_int_equal(world.asked, 5);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    assert_int_equal(world.asked, 7);
    send_notes(&world, 1);
    AWAIT(world.heard_by_client == 1 && world.heard_by_server == 1);

    cw_server_disconnect_all(cw_host_server(world.server));
    AWAIT(world.state == CW_CLIENT_STOPPING);
    AWAIT(world.state == CW_CLIENT_INVALID_TOKEN);
    assert_int_equal(world.client_ends, 3);
    assert_false(cw_client_host_reconnects(world.client));
    const double start = cw_clock_now();
    AWAIT(cw_clock_now() > start + 0.6);
    assert_int_equal(world.asked, 8);
}

/* A client that the server does not want stays away, and so does one that does not want it. */
TEST(it_does_not_always_come_back)
{
    for (int own = 0; own < 2; own++) {
        struct world world;
        open_world_with_tokens(&world, 6);
        AWAIT(world.state == CW_CLIENT_CONNECTED);
        if (own)
            cw_client_disconnect(cw_client_host_client(world.client));
        else
            cw_server_disconnect(cw_host_server(world.server), 0, 1, "");
        AWAIT(world.client_ends > 0);
        assert_int_equal(world.state, own ? CW_CLIENT_DISCONNECTED : CW_CLIENT_KICKED);
        assert_false(cw_client_host_reconnects(world.client));
    }
}

/* The machine's clock tells a token that has expired from a server that is not there. */
TEST(an_expired_token_is_told)
{
    for (int expired = 0; expired < 2; expired++) {
        struct world world;
        open_world(&world, "127.0.0.1:0", false, 1);
        struct cw_token_grant grant = make_grant(&world, 5, 1);
        const struct cw_address nobody = {
            .type = CW_ADDRESS_IPV4, .port = 9, .bytes = {127, 0, 0, 1}};
        grant.create_time -= expired ? 100 : 0;
        grant.addresses = expired ? grant.addresses : &nobody;
        uint8_t token[CW_TOKEN_SIZE];
        assert_ok(cw_token_generate(&grant, key, token));
        assert_ok(cw_client_host_connect(world.client, token, sizeof token));
        AWAIT(world.client_ends > 0);
        assert_int_equal(world.state,
                         expired ? CW_CLIENT_TOKEN_EXPIRED : CW_CLIENT_REQUEST_TIMED_OUT);
    }
}

/* The NAT gives the client another port, and what goes to the old one is lost. */
TEST(silence_lets_it_move)
{
    for (int watches = 0; watches < 2; watches++) {
        struct world world;
        open_world(&world, "127.0.0.1:0", true, watches ? 0.5 : 0);
        connect_client(&world, 5, watches ? 60 : 2);
        AWAIT(world.state == CW_CLIENT_CONNECTED);
        struct cw_socket *other = socket_on_loopback();
        end_owned(world.far);
        world.far = other;
        if (watches) {
            send_notes(&world, 3);
            AWAIT(world.heard_by_client == 3 && world.heard_by_server == 3);
            assert_int_equal(stats_of(&world).moves, 1);
            assert_int_equal(world.client_ends + world.server_ends, 0);
        } else {
            AWAIT(world.client_ends > 0);
            assert_int_equal(world.state, CW_CLIENT_TIMED_OUT);
            assert_int_equal(stats_of(&world).moves, 0);
        }
    }
}

#ifdef __linux__
static bool run(const char *command)
{
    return system(command) == 0;
}

/* A network of our own, in which datagrams to 10.9.9.9 leave from 10.1.0.1. */
static bool enter_network(void)
{
    static bool entered;
    const unsigned user = getuid();
    FILE *map;
    if (!entered && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
        (map = fopen("/proc/self/uid_map", "w")) != NULL) {
        fprintf(map, "0 %u 1\n", user); /* else programs that it runs have no rights */
        fclose(map);
        entered = run("ip link set lo up 2>/dev/null && ip addr add 10.9.9.9/32 dev lo && "
                      "ip addr add 10.1.0.1/32 dev lo && ip addr add 10.1.0.2/32 dev lo");
    }
    return entered && run("ip route replace local 10.9.9.9 dev lo table local src 10.1.0.1");
}

TEST(another_address_lets_it_move)
{
    if (!enter_network())
        skip();
    struct world world;
    open_world(&world, "10.9.9.9:0", false, 0);
    connect_client(&world, 5, 60);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    send_notes(&world, 4);
    AWAIT(world.heard_by_client == 4 && world.heard_by_server == 4);
    assert_int_equal(stats_of(&world).moves, 0);
    assert_true(run("ip route replace local 10.9.9.9 dev lo table local src 10.1.0.2"));
    send_notes(&world, 5);
    AWAIT(world.heard_by_client == 5 && world.heard_by_server == 5);
    assert_int_equal(stats_of(&world).moves, 1);
    struct cw_server_client_info about;
    assert_true(cw_server_client(cw_host_server(world.server), 0, &about));
    assert_memory_equal(about.address.bytes, "\x0a\x01\x00\x02", 4);
    assert_int_equal(world.client_ends + world.server_ends, 0);
}

/* A client that had no way may come back behind another NAT, also with the same address. */
TEST(it_asks_again_when_there_was_no_way)
{
    if (!enter_network())
        skip();
    struct world world;
    open_world(&world, "10.9.9.9:0", false, 0);
    connect_client(&world, 5, 60);
    AWAIT(world.state == CW_CLIENT_CONNECTED);
    struct cw_server *server = cw_host_server(world.server);
    assert_int_equal(cw_server_dropped(server, CW_ERROR_CONNECTED), 0);
    assert_true(run("ip route del local 10.9.9.9 dev lo table local"));
    const double start = cw_clock_now();
    AWAIT(cw_clock_now() > start + 0.5);
    assert_true(run("ip route add local 10.9.9.9 dev lo table local src 10.1.0.1"));
    AWAIT(cw_server_dropped(server, CW_ERROR_CONNECTED) > 0); /* it is where it was */
    send_notes(&world, 6);
    AWAIT(world.heard_by_client == 6 && world.heard_by_server == 6);
    assert_int_equal(world.client_ends + world.server_ends, 0);
}

TEST(the_source_is_told)
{
    if (!enter_network())
        skip();
    struct cw_address to, source, expected;
    assert_ok(cw_address_parse("10.9.9.9:5", &to));
    assert_ok(cw_address_parse("10.1.0.1:0", &expected));
    assert_ok(cw_socket_source(&to, &source));
    assert_true(cw_address_equal(&source, &expected));
    assert_ok(cw_address_parse("[::1]:5", &to));
    assert_ok(cw_socket_source(&to, &source));
    to.port = 0;
    assert_true(cw_address_equal(&source, &to));
    assert_ok(cw_address_parse("192.0.2.1:5", &to));
    assert_int_equal(cw_socket_source(&to, &source), CW_ERROR_SEND);
    to.type = CW_ADDRESS_NONE;
    assert_int_equal(cw_socket_source(&to, &source), CW_ERROR_SEND);
}
#endif

TEST(it_checks_its_config)
{
    struct cw_client_host *host = NULL;
    struct cw_client_host_config config = cw_client_host_config_default();
    static const double refused[] = {-1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        config.silence_seconds = refused[i];
        assert_error_names(cw_client_host_open(&config, &host), "silence_seconds");
    }
    config = cw_client_host_config_default();
    assert_error_names(cw_client_host_open(&config, &host), "connection");
    config.client.netcode.resend_seconds = 0;
    assert_error_names(cw_client_host_open(&config, &host), "resend_seconds");
    assert_null(host);
}
