/* Tests of the programs in core/examples: the server echoes what a player says, and after it was
   held up it goes on with the next tick, without making up for those that it missed. It tells its
   players when it is stopped. The client says hello to that server, also to the next one after a
   crash. */
#define _XOPEN_SOURCE 700

#include "causeway/client.h"
#include "causeway/native/clock.h"
#include "causeway/native/socket.h"
#include "causeway/token.h"

#include "owned_native.h"
#include "program.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most seconds to wait, far more than anything here takes; only failing tests reach it. */
#define PATIENCE 20.0
/* The most seconds that a token may live, so that a server that has just begun takes it. */
#define LIFE 50
#define KEY  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)

struct world {
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_address address; /* the server's address */
    pid_t server;
    struct cw_client *client;
    struct cw_socket *socket;
    uint32_t datagrams; /* datagrams that came */
};

/* Starts the server, whose first line tells where it listens. */
static void start_server(struct world *world, const char *listen)
{
    setenv("CAUSEWAY_KEY", KEY, 1);
    FILE *output = program_start(ECHO_SERVER, listen, NULL, &world->server);
    const char *line = program_says(output, " on ");
    assert_ok(cw_address_parse(strstr(line, " on ") + 4, &world->address));
    fclose(output);
    /* The server takes no token that may be older than it is. */
    sleep(2);
}

static void make_token(const struct world *world, int32_t timeout_seconds,
                       uint8_t token[CW_TOKEN_SIZE])
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = 0x1122334455667788;
    grant.life_seconds = LIFE;
    grant.timeout_seconds = timeout_seconds;
    grant.client_id = 5;
    grant.create_time = (uint64_t)cw_clock_unix();
    grant.addresses = &world->address;
    grant.address_count = 1;
    grant.fingerprint = cw_connection_fingerprint(&world->connection);
    uint8_t key[CW_KEY_BYTES];
    assert_ok(cw_key_parse(KEY, key));
    assert_ok(cw_token_generate(&grant, key, token));
}

static void start_client(struct world *world)
{
    uint8_t token[CW_TOKEN_SIZE];
    make_token(world, (int32_t)PATIENCE,
               token); /* the connection outlives a stall of the machine */
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
    cw_socket_wait(world->socket, 0.005);
    const double now = cw_clock_now();
    while ((size = cw_socket_receive(world->socket, data, sizeof data, &address)) > 0) {
        cw_client_receive(world->client, &address, data, size, now);
        world->datagrams++;
    }
    cw_client_update(world->client, now);
    while ((size = cw_client_transmit(world->client, data, sizeof data, now, &address)) > 0)
        cw_socket_send(world->socket, &address, data, size);
}

static struct cw_client_event await_event(struct world *world)
{
    struct cw_client_event event;
    const double end = cw_clock_now() + PATIENCE;
    while (!cw_client_next(world->client, &event)) {
        assert_true(cw_clock_now() < end);
        step_client(world);
    }
    return event;
}

static void hold_up(const struct world *world, unsigned seconds)
{
    int status;
    assert_int_equal(kill(world->server, SIGSTOP), 0);
    assert_int_equal(waitpid(world->server, &status, WUNTRACED), world->server);
    assert_true(WIFSTOPPED(status));
    sleep(seconds);
}

/* Starts the server and a client of it, which has connected then. */
static struct world start_both(void)
{
    struct world world = {0};
    const struct cw_schema_config schema = {.types = &say_type, .count = 1};
    world.schema = schema_with(&schema);
    world.connection = cw_connection_config_default(world.schema);
    start_server(&world, "127.0.0.1:0");
    start_client(&world);
    assert_int_equal(await_event(&world).type, CW_CLIENT_EVENT_CONNECTED);
    return world;
}

TEST(the_server_echoes)
{
    struct world world = start_both();
    struct cw_message *message;
    struct cw_connection *connection = cw_client_connection(world.client);
    assert_ok(cw_connection_create_message(connection, 0, &message));
    strcpy(((struct say *)message->data)->text, "hello");
    assert_ok(cw_connection_send(connection, 0, message, cw_clock_now()));
    const struct cw_client_event echo = await_event(&world);
    assert_int_equal(echo.type, CW_CLIENT_EVENT_MESSAGE);
    assert_string_equal(((struct say *)echo.message->data)->text, "hello");
    cw_message_release(echo.message);

    hold_up(&world, 2);
    step_client(&world);
    world.datagrams = 0;
    const double start = cw_clock_now();
    kill(world.server, SIGCONT);
    while (cw_clock_now() < start + (world.datagrams > 0 ? 0.3 : PATIENCE))
        step_client(&world);
    /* The server missed 120 ticks. */
    const double due = (cw_clock_now() - start) * 60;
    print_message("%u datagrams where %.0f ticks were due\n", world.datagrams, due);
    assert_in_range(world.datagrams, 1, (uint32_t)due + 60);

    program_stop(world.server);
}

TEST(the_server_tells_that_it_stops)
{
    struct world world = start_both();
    kill(world.server, SIGTERM);
    const struct cw_client_event event = await_event(&world);
    assert_int_equal(event.type, CW_CLIENT_EVENT_DISCONNECTED);
    assert_int_equal(event.state, CW_CLIENT_STOPPING);
    program_ends(world.server);
}

/* Waits until the client asks for a token, and gives it one. The client removes the file. */
static void give_token(const struct world *world, const char *path)
{
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm((unsigned)(3 * PATIENCE)); /* ends a client that does not ask */
    FILE *file = fopen(path, "wb");
    alarm(0);
    assert_non_null(file);
    make_token(world, 5, token); /* after so long the client asks for the next */
    assert_int_equal(fwrite(token, 1, sizeof token, file), sizeof token);
    fclose(file);
}

TEST(the_client_says_hello)
{
    struct world world = {0};
    char folder[] = "/tmp/causeway-examples-XXXXXX", path[64], text[CW_ADDRESS_TEXT_SIZE];
    const struct cw_schema_config schema = {.types = &say_type, .count = 1};
    world.schema = schema_with(&schema);
    world.connection = cw_connection_config_default(world.schema);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/token", folder);

    start_server(&world, "127.0.0.1:0");
    pid_t client;
    FILE *output = program_start(ECHO_CLIENT, path, NULL, &client);
    for (int life = 0; life < 2; life++) {
        give_token(&world, path);
        assert_string_equal(program_says(output, "the server says"), "the server says hello");
        program_stop(world.server);
        if (life == 0)
            start_server(&world, cw_address_format(&world.address, text));
    }

    program_stop(client);
    fclose(output);
    assert_int_equal(rmdir(folder), 0);
}

TEST(a_tick_follows_another)
{
    const double now = cw_clock_now();
    assert_true(cw_clock_next_tick(now + 5, 0.25) == now + 5 + 0.25);
    const double late = cw_clock_next_tick(now - 5, 0.25);
    assert_true(late >= now && late <= cw_clock_now());
    const double none = cw_clock_next_tick((double)NAN, 0.25);
    assert_true(none >= now && none <= cw_clock_now());
}
