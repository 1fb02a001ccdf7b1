/* Measures a client and a server with one payload packet from each to the other per tick, sealed,
   sent, received and opened; and what a datagram costs a server that is from none of its clients.
     bench_secure_packet packets SIZE ROUNDS    sends payloads of SIZE bytes
     bench_secure_packet KIND ROUNDS            gives the server one datagram of the kind per
                                                round: random, protocol, expired, forged or
                                                spoofed */
#include "netcode/secure_packet.h"
#include "causeway/client.h"
#include "causeway/server.h"
#include "netcode/crypto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX  1900000000
#define SLOTS 64

static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};
static const struct cw_address server_address = {
    .type = CW_ADDRESS_IPV4, .port = 40000, .bytes = {127, 0, 0, 1}};
static const struct cw_address client_address = {
    .type = CW_ADDRESS_IPV4, .port = 1000, .bytes = {10, 0, 0, 1}};

static void check(bool good)
{
    if (!good) {
        fprintf(stderr, "something that must work failed\n");
        exit(1);
    }
}

static struct cw_netcode_server_config server_config(void)
{
    struct cw_netcode_server_config config = cw_netcode_server_config_default();
    config.protocol_id = 7;
    memcpy(config.private_key, private_key, sizeof private_key);
    config.addresses = &server_address;
    config.address_count = 1;
    config.max_clients = SLOTS;
    config.max_token_life_seconds = 0;
    config.unix_offset_seconds = UNIX;
    return config;
}

/* A note has 64 bytes in memory, as in the other benchmarks. */
#define NOTE_FIELDS(FIELD) FIELD(text, CW_STRING(63))
CW_MESSAGE(note, NOTE_FIELDS)

static size_t memory_of(const struct cw_server_config *config)
{
    return config->connection ? cw_server_memory(config)
                              : cw_netcode_server_memory(&config->netcode);
}

/* Returns the bytes per slot, without those that a server has once. */
static size_t slot_bytes(const struct cw_connection_config *connection)
{
    struct cw_server_config config = cw_server_config_default();
    config.netcode = server_config();
    config.connection = connection;
    config.netcode.token_history = 1024;
    const size_t many = memory_of(&config);
    config.netcode.max_clients = 1;
    return (many - memory_of(&config)) / (SLOTS - 1);
}

static void print_memory(void)
{
    const struct cw_schema_config types = {.types = &note_type, .count = 1};
    struct cw_schema *schema = NULL;
    check(cw_schema_create(&types, &schema) == CW_OK);
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    printf("slot_payload_bytes %zu bytes\n", slot_bytes(NULL));
    printf("slot_two_channels_bytes %zu bytes\n", slot_bytes(&connection));
    cw_schema_destroy(schema);
}

static void make_token(uint8_t out[CW_TOKEN_SIZE], uint64_t protocol_id, uint64_t create_time)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = protocol_id;
    grant.create_time = create_time;
    grant.addresses = &server_address;
    grant.address_count = 1;
    check(cw_token_generate(&grant, private_key, out) == CW_OK);
}

static void up(struct cw_netcode_client *client, struct cw_netcode_server *server, double now)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_netcode_server_event event;
    size_t size;
    while ((size = cw_netcode_client_transmit(client, datagram, sizeof datagram, now, NULL)) > 0) {
        cw_netcode_server_receive(server, &client_address, datagram, size, now);
        while (cw_netcode_server_next(server, &event))
            ;
    }
}

static void down(struct cw_netcode_client *client, struct cw_netcode_server *server, double now)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    struct cw_netcode_client_event event;
    size_t size;
    while ((size = cw_netcode_server_transmit(server, datagram, sizeof datagram, now, &to)) > 0) {
        cw_netcode_client_receive(client, &server_address, datagram, size, now);
        while (cw_netcode_client_next(client, &event))
            ;
    }
}

/* Plays ticks of two packets each. */
static void packets(struct cw_netcode_client *client, struct cw_netcode_server *server, size_t size,
                    long rounds)
{
    static const uint8_t payload[CW_PAYLOAD_MAX] = {1, 2, 3};
    for (long i = 0; i < rounds; i++) {
        const double now = 1 + (double)i / 60;
        check(cw_netcode_client_send(client, payload, size) == CW_OK);
        up(client, server, now);
        check(cw_netcode_server_send(server, 0, payload, size) == CW_OK);
        down(client, server, now);
    }
}

static void junk(struct cw_netcode_server *server, const char *kind, long rounds)
{
    uint8_t token[CW_TOKEN_SIZE], datagram[CW_REQUEST_SIZE];
    struct cw_token read;
    struct cw_address from = client_address, to;
    size_t size = sizeof datagram;
    make_token(token, strcmp(kind, "protocol") == 0 ? 8 : 7,
               strcmp(kind, "expired") == 0 ? UNIX - 100 : UNIX);
    check(cw_token_read(token, sizeof token, &read) == CW_OK);
    cw_request_write(&read, datagram);
    if (strcmp(kind, "forged") == 0) {
        datagram[100] ^= 1;
    } else if (strcmp(kind, "random") == 0 || strcmp(kind, "spoofed") == 0) {
        memset(datagram, 0x85, sizeof datagram);
        size = 1 + 8 + 64 + CW_MAC_BYTES;
    }
    if (strcmp(kind, "spoofed") != 0)
        from.port = 5;
    for (long i = 0; i < rounds; i++) {
        const double now = 1 + (double)i / 1000;
        check(cw_netcode_server_receive(server, &from, datagram, size, now) != CW_OK);
        check(cw_netcode_server_transmit(server, datagram, sizeof datagram, now, &to) == 0);
    }
}

/* Sends a request of the connected client from another address, again and again. Each gets a
   challenge and no more. */
static void replays(struct cw_netcode_server *server, const uint8_t token[CW_TOKEN_SIZE],
                    long rounds)
{
    uint8_t request[CW_REQUEST_SIZE], answer[CW_SECURE_MAX];
    struct cw_token read;
    struct cw_address from = client_address, to;
    from.port = 5;
    check(cw_token_read(token, CW_TOKEN_SIZE, &read) == CW_OK);
    cw_request_write(&read, request);
    for (long i = 0; i < rounds; i++) {
        const double now = 1 + (double)i / 1000;
        cw_netcode_server_receive(server, &from, request, sizeof request, now);
        cw_netcode_server_transmit(server, answer, sizeof answer, now, &to);
    }
}

int main(int argc, char **argv)
{
    const struct cw_netcode_server_config config = server_config();
    if (argc == 1) {
        printf("count packet_64_instructions 2000: packets 64 1100 - packets 64 100\n"
               "count packet_1000_instructions 2000: packets 1000 1100 - packets 1000 100\n"
               "count junk_random_instructions 1000: random 1100 - random 100\n"
               "count junk_wrong_protocol_instructions 1000: protocol 1100 - protocol 100\n"
               "count junk_expired_instructions 1000: expired 1100 - expired 100\n"
               "count junk_forged_request_instructions 1000: forged 1100 - forged 100\n"
               "count junk_spoofed_payload_instructions 1000: spoofed 1100 - spoofed 100\n"
               "count replayed_request_instructions 1000: replayed 1100 - replayed 100\n");
        print_memory();
        return 0;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: bench_secure_packet [packets SIZE ROUNDS | KIND ROUNDS]\n");
        return 2;
    }
    const struct cw_netcode_client_config client_config = cw_netcode_client_config_default();
    struct cw_netcode_server *server;
    struct cw_netcode_client *client;
    uint8_t token[CW_TOKEN_SIZE];
    make_token(token, 7, UNIX);
    check(cw_netcode_server_create(&config, &server) == CW_OK);
    check(cw_netcode_client_create(&client_config, &client) == CW_OK);
    check(cw_netcode_client_connect(client, token, sizeof token, 0) == CW_OK);
    for (int i = 0; i < 3; i++) {
        up(client, server, 0);
        down(client, server, 0);
    }
    check(cw_netcode_client_state(client) == CW_CLIENT_CONNECTED);
    if (strcmp(argv[1], "packets") == 0)
        packets(client, server, (size_t)atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
    else if (strcmp(argv[1], "replayed") == 0)
        replays(server, token, atol(argv[2]));
    else
        junk(server, argv[1], atol(argv[2]));
    cw_netcode_client_destroy(client);
    cw_netcode_server_destroy(server);
    return 0;
}
