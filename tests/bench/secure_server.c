/* Measures what a player costs a server per tick: a reliable message of 64 bytes from each to the
   other, encrypted. A client plays with a server for ROUNDS ticks; then a second server, which
   begins like the first, gets again what the client sent in the first REPLAYED of them. So
   additional replayed ticks cost the server's work alone.
     bench_secure_server ROUNDS REPLAYED
   Without arguments the program says what tests/bench/run shall count. */
#include "causeway/client.h"
#include "causeway/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX      1900000000
#define SLOTS     64
#define HANDSHAKE 3 /* the ticks of the handshake */
#define ROUNDS    1100
#define WARM_UP   100

static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};
static const struct cw_address server_address = {
    .type = CW_ADDRESS_IPV4, .port = 40000, .bytes = {127, 0, 0, 1}};
static const struct cw_address client_address = {
    .type = CW_ADDRESS_IPV4, .port = 1000, .bytes = {10, 0, 0, 1}};

struct note {
    uint8_t bytes[64];
};

CW_SERIALIZE(serialize_note, struct note, stream, note)
{
    return cw_stream_bytes(stream, note->bytes, sizeof note->bytes);
}

struct datagram {
    size_t size;
    uint8_t data[CW_SECURE_MAX];
};

static void check(bool good)
{
    if (!good) {
        fprintf(stderr, "something that must work failed\n");
        exit(1);
    }
}

static double time_of(long tick)
{
    return 1 + (double)tick / 60;
}

/* Gives the same bytes to each server instead of random ones. */
static void fill(void *context, uint8_t *out, size_t size)
{
    (void)context;
    memset(out, 5, size);
}

static struct cw_server *make_server(const struct cw_connection_config *connection)
{
    struct cw_server_config config = cw_server_config_default();
    struct cw_server *server;
    config.netcode.protocol_id = 7;
    memcpy(config.netcode.private_key, private_key, sizeof private_key);
    config.netcode.addresses = &server_address;
    config.netcode.address_count = 1;
    config.netcode.max_clients = SLOTS;
    config.netcode.max_token_life_seconds = 0;
    config.netcode.unix_offset_seconds = UNIX;
    config.netcode.random = (struct cw_random){fill, NULL};
    config.connection = connection;
    check(cw_server_create(&config, &server) == CW_OK);
    return server;
}

static struct cw_client *make_client(const struct cw_connection_config *connection)
{
    struct cw_client_config config = cw_client_config_default();
    struct cw_token_grant grant = cw_token_grant_default();
    struct cw_client *client;
    uint8_t token[CW_TOKEN_SIZE];
    grant.protocol_id = 7;
    grant.create_time = UNIX;
    grant.addresses = &server_address;
    grant.address_count = 1;
    grant.fingerprint = cw_connection_fingerprint(connection);
    config.connection = connection;
    check(cw_token_generate(&grant, private_key, token) == CW_OK);
    check(cw_client_create(&config, &client) == CW_OK);
    check(cw_client_connect(client, token, sizeof token, time_of(0)) == CW_OK);
    return client;
}

static void send_note(struct cw_connection *connection, double now)
{
    struct cw_message *message;
    check(cw_connection_create_message(connection, 0, &message) == CW_OK);
    memset(message->data, 7, sizeof(struct note));
    check(cw_connection_send(connection, 0, message, now) == CW_OK);
}

/* Plays one tick of the server, which gets a datagram and answers with at most one. */
static void serve(struct cw_server *server, const struct datagram *given, struct datagram *answer,
                  long tick)
{
    const double now = time_of(tick);
    struct cw_server_event event;
    struct cw_address to;
    check(cw_server_receive(server, &client_address, given->data, given->size, now) == CW_OK);
    while (cw_server_next(server, &event))
        cw_message_release(event.message);
    if (tick >= HANDSHAKE)
        send_note(cw_server_connection(server, 0), now);
    cw_server_update(server, now);
    answer->size = cw_server_transmit(server, answer->data, sizeof answer->data, now, &to);
    check(answer->size > 0);
}

static void play(struct cw_client *client, const struct datagram *given, struct datagram *answer,
                 long tick)
{
    const double now = time_of(tick);
    struct cw_client_event event;
    if (given->size > 0)
        check(cw_client_receive(client, &server_address, given->data, given->size, now) == CW_OK);
    while (cw_client_next(client, &event))
        cw_message_release(event.message);
    if (tick >= HANDSHAKE)
        send_note(cw_client_connection(client), now);
    cw_client_update(client, now);
    answer->size = cw_client_transmit(client, answer->data, sizeof answer->data, now, NULL);
    check(answer->size > 0);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        printf("count server_message_instructions %d: %d %d - %d %d\n", ROUNDS - WARM_UP, ROUNDS,
               ROUNDS, ROUNDS, WARM_UP);
        return 0;
    }
    const long rounds = argc == 3 ? atol(argv[1]) : 0, replayed = argc == 3 ? atol(argv[2]) : 0;
    if (rounds < 1 || replayed < 1 || replayed > rounds || rounds > ROUNDS) {
        fprintf(stderr, "usage: bench_secure_server [ROUNDS REPLAYED]\n");
        return 2;
    }
    const struct cw_message_type type = {
        .name = "note", .size = sizeof(struct note), .serialize = serialize_note};
    const struct cw_schema_config types = {.types = &type, .count = 1};
    struct cw_schema *schema = NULL;
    check(cw_schema_create(&types, &schema) == CW_OK);
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_server *const first = make_server(&connection);
    struct cw_server *const second = make_server(&connection);
    struct cw_client *const client = make_client(&connection);
    static struct datagram sent[ROUNDS];
    struct datagram answer = {0};
    for (long tick = 0; tick < rounds; tick++) {
        play(client, &answer, &sent[tick], tick);
        serve(first, &sent[tick], &answer, tick);
    }
    for (long tick = 0; tick < replayed; tick++)
        serve(second, &sent[tick], &answer, tick);
    cw_client_destroy(client);
    cw_server_destroy(first);
    cw_server_destroy(second);
    cw_schema_destroy(schema);
    return 0;
}
