/* A server faces anything that may come from four addresses. Each has a token and its keys, so that
   the input reaches every state. An input is a byte and a list of steps, each of which is a kind,
   an address, a count of bytes, and these bytes. The lowest bit of the first byte says whether
   there are connections or raw payloads, the next whether a newer token takes over. */
#include "causeway/server.h"
#include "netcode/secure_packet.h"

#include <stdlib.h>
#include <string.h>

#define CLIENTS 4
#define UNIX    1900000000

#define NOTE_FIELDS(FIELD)                                                                         \
    FIELD(number, CW_UINT(0, 100))                                                                 \
    FIELD(text, CW_STRING(20))
CW_MESSAGE(note, NOTE_FIELDS)
#define FILE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 100))
CW_BLOCK_MESSAGE(file, FILE_FIELDS)

static const struct cw_address server_address = {
    .type = CW_ADDRESS_IPV4, .port = 40000, .bytes = {127, 0, 0, 1}};
static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};

static void fill(void *context, uint8_t *out, size_t size)
{
    uint8_t *counter = context;
    memset(out, ++*counter, size);
}

/* The tokens do not depend on the input and are made once. */
static struct cw_token tokens[CLIENTS];

static void make_tokens(void)
{
    static uint8_t counter = 100;
    for (uint64_t n = 0; n < CLIENTS && tokens[n].address_count == 0; n++) {
        struct cw_token_grant grant = cw_token_grant_default();
        grant.protocol_id = 7;
        grant.timeout_seconds = 5;
        grant.client_id = n / 2;
        grant.create_time = UNIX + n % 2; /* the second of a client is newer */
        grant.addresses = &server_address;
        grant.address_count = 1;
        grant.random = (struct cw_random){fill, &counter};
        uint8_t bytes[CW_TOKEN_SIZE];
        if (cw_token_generate(&grant, private_key, bytes) != CW_OK ||
            cw_token_read(bytes, sizeof(bytes), &tokens[n]) != CW_OK)
            abort();
    }
}

struct world {
    struct cw_server *server; /* NULL: payloads */
    struct cw_netcode_server *netcode;
    double now;
    uint64_t sequences[CLIENTS], responses[CLIENTS];
    uint8_t challenges[CLIENTS][CW_CHALLENGE_BODY_SIZE];
    uint32_t connected;
};

static struct cw_address address_of(uint32_t n)
{
    return (struct cw_address){
        .type = CW_ADDRESS_IPV4, .port = (uint16_t)(1000 + n), .bytes = {10, 0, 0, 1}};
}

/* Calls a function that servers of both kinds have. */
#define CALL(world, function, ...)                                                                 \
    ((world)->server ? cw_server_##function((world)->server, __VA_ARGS__)                          \
                     : cw_netcode_server_##function((world)->netcode, __VA_ARGS__))

/* Gives a datagram from a block of exactly its size. */
static void give(struct world *world, uint32_t who, const uint8_t *bytes, size_t size)
{
    const struct cw_address from = address_of(who);
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, bytes, size);
    CALL(world, receive, &from, exact, size, world->now);
    free(exact);
}

static void transmit(struct world *world)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_address to;
    size_t size;
    while ((size = CALL(world, transmit, out, sizeof(out), world->now, &to)) > 0) {
        struct cw_secure_packet packet;
        uint32_t who = 0;
        if (to.port - 1000u >= CLIENTS)
            abort();
        while (who < CLIENTS &&
               cw_secure_read(out, size,
                              &(struct cw_secure_key){.protocol_id = 7,
                                                      .direction = CW_TO_CLIENT,
                                                      .bytes = tokens[who].server_to_client_key},
                              NULL, body, &packet) != CW_OK)
            who++;
        if (who == CLIENTS)
            abort();
        if (packet.type == CW_SECURE_CHALLENGE)
            memcpy(world->challenges[who], body, CW_CHALLENGE_BODY_SIZE);
    }
}

/* Checks that no two clients have the same address or id. */
static void check_clients(struct world *world)
{
    struct cw_server_client_info one, other;
    const uint32_t both = 3;
    if ((world->connected & both) == both && cw_netcode_server_client(world->netcode, 0, &one) &&
        cw_netcode_server_client(world->netcode, 1, &other) &&
        (one.id == other.id || cw_address_equal(&one.address, &other.address)))
        abort();
}

static void take_change(struct world *world, uint32_t client, bool comes)
{
    const uint32_t bit = 1u << client;
    if (comes == ((world->connected & bit) != 0))
        abort();
    world->connected ^= bit;
}

static void take_events(struct world *world)
{
    struct cw_server_event event;
    while (world->server && cw_server_next(world->server, &event))
        if (event.type == CW_SERVER_EVENT_CONNECTED || event.type == CW_SERVER_EVENT_DISCONNECTED)
            take_change(world, event.client, event.type == CW_SERVER_EVENT_CONNECTED);
        else if (!(world->connected & 1u << event.client))
            abort();
        else if (event.type == CW_SERVER_EVENT_MESSAGE)
            cw_message_release(event.message);
    struct cw_netcode_server_event plain;
    while (!world->server && cw_netcode_server_next(world->netcode, &plain))
        if (plain.type != CW_NETCODE_SERVER_EVENT_PAYLOAD)
            take_change(world, plain.client, plain.type == CW_NETCODE_SERVER_EVENT_CONNECTED);
        else if (!(world->connected & 1u << plain.client) || plain.size < 1 ||
                 plain.size > CW_PAYLOAD_MAX)
            abort();
}

static void send_note(struct cw_connection *connection, uint8_t number, double now)
{
    struct cw_message *message;
    if (cw_connection_create_message(connection, 0, &message) != CW_OK)
        return;
    ((struct note *)message->data)->number = number % 101;
    if (cw_connection_send(connection, number % 2, message, now) != CW_OK)
        cw_message_release(message);
}

static void step(struct world *world, uint8_t what, uint32_t who, const uint8_t *bytes, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    size_t length;
    switch (what == 8 ? what : what % 8) {
    case 0:
        give(world, who, bytes, size);
        break;
    case 1: /* a request, as it should be or with one byte changed */
        cw_request_write(&tokens[who], out);
        if (size >= 3)
            out[(size_t)(bytes[0] << 8 | bytes[1]) % CW_REQUEST_SIZE] ^= bytes[2];
        give(world, size & 1 ? (who + 1) % CLIENTS : who, out, CW_REQUEST_SIZE);
        break;
    case 2: /* any sealed packet */
        length = cw_secure_write(
            &(struct cw_secure_packet){.type = size ? (enum cw_secure_type)(bytes[0] % 7)
                                                    : CW_SECURE_DISCONNECT,
                                       .sequence = world->sequences[who]++,
                                       .body = size ? bytes + 1 : NULL,
                                       .size = size ? size - 1 : 0},
            &(struct cw_secure_key){.protocol_id = 7, .bytes = tokens[who].client_to_server_key},
            out, sizeof(out));
        give(world, who, out, length);
        break;
    case 3: /* the response that the server has asked for */
        length = cw_secure_write(
            &(struct cw_secure_packet){.type = CW_SECURE_RESPONSE,
                                       .sequence = world->sequences[who]++,
                                       .body =
                                           world->challenges[size & 1 ? (who + 1) % CLIENTS : who],
                                       .size = CW_CHALLENGE_BODY_SIZE},
            &(struct cw_secure_key){.protocol_id = 7, .bytes = tokens[who].client_to_server_key},
            out, sizeof(out));
        give(world, who, out, length);
        break;
    case 8: /* the response that moves a slot, the client's or another, to an address */
        length = cw_secure_write(
            &(struct cw_secure_packet){.type = CW_SECURE_RESPONSE,
                                       .sequence = CW_SEQUENCE_OUTSIDE_SLOT |
                                                   world->responses[who]++ << CW_MOVE_SLOT_BITS |
                                                   (size > 0 && bytes[0]),
                                       .body = world->challenges[who],
                                       .size = CW_CHALLENGE_BODY_SIZE},
            &(struct cw_secure_key){.protocol_id = 7, .bytes = tokens[who].client_to_server_key},
            out, sizeof(out));
        give(world, size > 1 ? bytes[1] % CLIENTS : who, out, length);
        break;
    case 4:
        world->now += size ? bytes[0] / 32.0 : 0;
        CALL(world, update, world->now);
        break;
    case 5:
        transmit(world);
        break;
    case 6:
        take_events(world);
        break;
    default:
        if (size == 0)
            CALL(world, disconnect, who, 0, NULL);
        else if (!world->server)
            cw_netcode_server_send(world->netcode, who, bytes, size);
        else if (size == 1 && bytes[0] % 8 == 7)
            cw_server_flush_and_disconnect(world->server, who, 0, NULL, bytes[0] / 32.0,
                                           world->now);
        else if (cw_server_connection(world->server, who))
            send_note(cw_server_connection(world->server, who), bytes[0], world->now);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_tokens();
    struct world world = {.now = 0.5};
    uint8_t counter = 0;
    struct cw_server_config config = cw_server_config_default();
    config.netcode.protocol_id = 7;
    memcpy(config.netcode.private_key, private_key, sizeof(private_key));
    config.netcode.addresses = &server_address;
    config.netcode.address_count = 1;
    config.netcode.max_clients = 2;
    config.netcode.max_pending = 2;
    config.netcode.token_history = 3;
    config.netcode.max_token_life_seconds = 0;
    config.netcode.unix_offset_seconds = UNIX;
    config.netcode.takeover = size == 0 || !(data[0] & 2);
    config.netcode.random = (struct cw_random){fill, &counter};
    static struct cw_schema *schema;
    if (!schema) {
        const struct cw_message_type types[] = {note_type, file_type};
        if (cw_schema_create(&(struct cw_schema_config){.types = types, .count = 2}, &schema) !=
            CW_OK)
            abort();
    }
    struct cw_connection_config connection = cw_connection_config_default(schema);
    connection.max_messages = 8;
    connection.channels[0].blocks = connection.channels[1].blocks = true;
    connection.channels[0].max_block_size = connection.channels[1].max_block_size = 3000;
    config.connection = &connection;
    if ((size > 0 && data[0] & 1
             ? cw_server_create(&config, &world.server)
             : cw_netcode_server_create(&config.netcode, &world.netcode)) != CW_OK)
        abort();
    if (world.server)
        world.netcode = cw_server_netcode(world.server);
    data += size > 0;
    size -= size > 0;

    while (size >= 3) {
        size_t length = (size_t)data[1] << 8 | data[2];
        const uint8_t what = data[0] & 15, who = data[0] >> 4 & 3;
        data += 3;
        size -= 3;
        if (length > size)
            length = size;
        step(&world, what, who, data, length);
        data += length;
        size -= length;
        struct cw_netcode_server_stats stats;
        cw_netcode_server_get_stats(world.netcode, &stats);
        if (stats.clients > 2 || stats.pending > 2)
            abort();
        check_clients(&world);
    }
    transmit(&world);
    take_events(&world);
    if (world.server)
        cw_server_destroy(world.server);
    else
        cw_netcode_server_destroy(world.netcode);
    return 0;
}
