/* A client faces anything that may come from its server, whose keys the input has. An input is a
   byte and a list of steps, each of which is a kind, a count of bytes, and these bytes. The lowest
   bit of the first byte says whether there is a connection or raw payloads. */
#include "causeway/client.h"
#include "causeway/stream.h"
#include "netcode/secure_packet.h"
#include "rich_schema.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};

static void fill(void *context, uint8_t *out, size_t size)
{
    (void)context;
    memset(out, 9, size);
}

struct world {
    struct cw_client *client; /* NULL: payloads */
    struct cw_netcode_client *netcode;
    struct cw_token token;
    double now;
    uint64_t sequence;
};

/* Calls a function that clients of both kinds have. */
#define CALL(world, function, ...)                                                                 \
    ((world)->client ? cw_client_##function((world)->client, __VA_ARGS__)                          \
                     : cw_netcode_client_##function((world)->netcode, __VA_ARGS__))

/* Gives a datagram from a block of exactly its size. */
static void give(struct world *world, const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, bytes, size);
    CALL(world, receive, NULL, exact, size, world->now);
    free(exact);
}

/* Gives a sealed packet of any type, whose body is the data unless it is made up. */
static void give_sealed(struct world *world, bool made_up, const uint8_t *data, size_t size)
{
    static const uint8_t zeros[CW_PAYLOAD_MAX];
    static const size_t sizes[] = {0,
                                   0,
                                   CW_CHALLENGE_BODY_SIZE,
                                   CW_CHALLENGE_BODY_SIZE,
                                   CW_KEEP_ALIVE_SIZE,
                                   9,
                                   CW_FAREWELL_SIZE_MIN};
    const uint8_t type = size ? data[0] % 7 : CW_SECURE_KEEP_ALIVE;
    uint8_t out[CW_SECURE_MAX];
    made_up = made_up || size == 0;
    const size_t written =
        cw_secure_write(&(struct cw_secure_packet){.type = (enum cw_secure_type)type,
                                                   .sequence = world->sequence++,
                                                   .body = made_up ? zeros : data + 1,
                                                   .size = made_up ? sizes[type] : size - 1},
                        &(struct cw_secure_key){.protocol_id = 7,
                                                .direction = CW_TO_CLIENT,
                                                .bytes = world->token.server_to_client_key},
                        out, sizeof(out));
    give(world, out, written);
}

static void check_end(const char *text)
{
    if (!memchr(text, '\0', CW_FAREWELL_TEXT_MAX + 1) || !cw_text_valid(text, strlen(text)))
        abort();
}

static void take_events(struct world *world)
{
    struct cw_client_event event;
    while (world->client && cw_client_next(world->client, &event)) {
        if ((event.type == CW_CLIENT_EVENT_MESSAGE) != (event.message != NULL))
            abort();
        cw_message_release(event.message);
        if (event.type == CW_CLIENT_EVENT_DISCONNECTED)
            check_end(event.text);
    }
    struct cw_netcode_client_event plain;
    while (!world->client && cw_netcode_client_next(world->netcode, &plain)) {
        if (plain.type == CW_NETCODE_CLIENT_EVENT_PAYLOAD &&
            (plain.size < 1 || plain.size > CW_PAYLOAD_MAX))
            abort();
        if (plain.type == CW_NETCODE_CLIENT_EVENT_DISCONNECTED)
            check_end(plain.text);
    }
}

static void transmit(struct world *world)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    size_t size;
    while ((size = CALL(world, transmit, out, sizeof(out), world->now, NULL)) > 0) {
        struct cw_secure_packet packet;
        if (out[0] != CW_SECURE_REQUEST &&
            cw_secure_read(out, size,
                           &(struct cw_secure_key){.protocol_id = 7,
                                                   .direction = CW_TO_SERVER,
                                                   .bytes = world->token.client_to_server_key},
                           NULL, body, &packet) != CW_OK)
            abort();
    }
}

static void send_message(struct world *world, uint8_t what)
{
    struct cw_connection *connection = cw_client_connection(world->client);
    struct cw_message *message;
    if (cw_connection_create_message(connection, what % RICH_TYPES, &message) != CW_OK)
        return;
    message->receipt = what & 3; /* 0 asks for no receipt */
    if (cw_connection_send(connection, what % 4, message, world->now) != CW_OK)
        cw_message_release(message);
}

static void step(struct world *world, uint8_t what, const uint8_t *data, size_t size)
{
    switch (what % 7) {
    case 0:
        give(world, data, size);
        break;
    case 1:
    case 2: /* a step of 2 makes up the body */
        give_sealed(world, what % 7 == 2, data, size);
        break;
    case 3:
        world->now += size ? data[0] / 32.0 : 0;
        CALL(world, update, world->now);
        break;
    case 4:
        transmit(world);
        break;
    case 5:
        take_events(world);
        break;
    default:
        if (size == 0 && world->client)
            cw_client_disconnect(world->client);
        else if (size == 0)
            cw_netcode_client_disconnect(world->netcode);
        else if (size == 1)
            cw_netcode_client_move(world->netcode, world->now);
        else if (world->client)
            send_message(world, data[0]);
        else
            cw_netcode_client_send(world->netcode, data, size);
    }
}

static void begin(struct world *world, bool with_connection)
{
    const struct cw_address addresses[2] = {
        {.type = CW_ADDRESS_IPV4, .port = 1, .bytes = {127, 0, 0, 1}},
        {.type = CW_ADDRESS_IPV6, .port = 2, .bytes = {1}}};
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = 7;
    grant.timeout_seconds = 5;
    grant.addresses = addresses;
    grant.address_count = 2;
    grant.random = (struct cw_random){.fill = fill};
    static struct cw_schema *schema;
    if (!schema)
        schema = rich_schema();
    const struct cw_connection_config connection = rich_config(schema);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &connection;
    config.netcode.fingerprint = 0;
    uint8_t bytes[CW_TOKEN_SIZE];
    if (cw_token_generate(&grant, private_key, bytes) != CW_OK ||
        cw_token_read(bytes, sizeof(bytes), &world->token) != CW_OK ||
        (with_connection ? cw_client_create(&config, &world->client)
                         : cw_netcode_client_create(&config.netcode, &world->netcode)) != CW_OK)
        abort();
    if (world->client)
        world->netcode = cw_client_netcode(world->client);
    if (CALL(world, connect, bytes, sizeof(bytes), world->now) != CW_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {0};
    begin(&world, size > 0 && data[0] & 1);
    data += size > 0;
    size -= size > 0;
    while (size >= 3) {
        size_t length = (size_t)data[1] << 8 | data[2];
        const uint8_t what = data[0];
        data += 3;
        size -= 3;
        if (length > size)
            length = size;
        step(&world, what, data, length);
        data += length;
        size -= length;
    }
    transmit(&world);
    take_events(&world);
    if (world.client)
        cw_client_destroy(world.client);
    else
        cw_netcode_client_destroy(world.netcode);
    return 0;
}
