/* A server faces a player who has a token and knows the protocol: each of his packets is sealed,
   has the number that is due and acks what the server has sent, unless the input says otherwise. So
   the input reaches the states of channels, blocks, fragments, acks and broadcasts. An input is a
   list of steps, each of which is a kind, a variant, a count of bytes, and these bytes. */
#include "causeway/server.h"
#include "netcode/secure_packet.h"
#include "packet/packet_header.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define UNIX 1900000000

#define NOTE_FIELDS(FIELD)                                                                         \
    FIELD(number, CW_UINT(0, 100))                                                                 \
    FIELD(text, CW_STRING(20))                                                                     \
    FIELD(list, CW_ARRAY(CW_INT(-3, 3), 5))                                                        \
    FIELD(maybe, CW_OPTIONAL(CW_FLOAT))
CW_MESSAGE(note, NOTE_FIELDS)
#define FILE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 100))
CW_BLOCK_MESSAGE(file, FILE_FIELDS)

enum { NOTE, FILE_TYPE, CHANNELS = 5 };

static const struct cw_address server_address = {
    .type = CW_ADDRESS_IPV4, .port = 40000, .bytes = {127, 0, 0, 1}};
static const struct cw_address player_address = {
    .type = CW_ADDRESS_IPV4, .port = 1000, .bytes = {10, 0, 0, 1}};
static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};
static struct cw_token token;
static uint8_t token_bytes[CW_TOKEN_SIZE];
static struct cw_schema *schema;

static void fill(void *context, uint8_t *out, size_t size)
{
    uint8_t *counter = context;
    memset(out, ++*counter, size);
}

static void make_token(void)
{
    static uint8_t counter = 100;
    const struct cw_message_type types[] = {note_type, file_type};
    const struct cw_schema_config config = {.types = types, .count = 2};
    struct cw_token_grant grant = cw_token_grant_default();
    if (schema)
        return;
    grant.protocol_id = 7;
    grant.timeout_seconds = 5;
    grant.create_time = UNIX;
    grant.addresses = &server_address;
    grant.address_count = 1;
    grant.random = (struct cw_random){fill, &counter};
    expect(cw_schema_create(&config, &schema) == CW_OK);
    expect(cw_token_generate(&grant, private_key, token_bytes) == CW_OK);
    expect(cw_token_read(token_bytes, sizeof token_bytes, &token) == CW_OK);
}

struct world {
    struct cw_server *server;
    double now;
    uint64_t sequence; /* the number of the next secure packet */
    uint16_t packet;   /* the number of the next packet */
    uint16_t seen;     /* the newest of the server's packets */
    uint32_t seen_bits;
    uint8_t challenge[CW_CHALLENGE_BODY_SIZE];
    uint8_t block[500];
};

static void give(struct world *world, enum cw_secure_type type, const uint8_t *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    const size_t length = cw_secure_write(
        &(struct cw_secure_packet){
            .type = type, .sequence = world->sequence++, .body = body, .size = size},
        &(struct cw_secure_key){.protocol_id = 7, .bytes = token.client_to_server_key}, out,
        sizeof out);
    if (length > 0)
        (void)cw_server_receive(world->server, &player_address, out, length, world->now);
}

static void see(struct world *world, const uint8_t *data, size_t size)
{
    struct cw_packet_header header;
    const bool first = size > CW_FRAGMENT_HEADER_SIZE && data[0] == CW_PACKET_PREFIX_FRAGMENT;
    const size_t skip = first ? CW_FRAGMENT_HEADER_SIZE : 0;
    if (cw_packet_header_read(&header, data + skip, size - skip) == 0)
        return;
    const uint16_t ahead = (uint16_t)(header.sequence - world->seen);
    world->seen_bits = ahead < 32 ? world->seen_bits << ahead | 1 : 1;
    world->seen = header.sequence;
}

static void transmit(struct world *world)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_secure_packet packet;
    struct cw_address to;
    size_t size;
    while ((size = cw_server_transmit(world->server, out, sizeof out, world->now, &to)) > 0) {
        expect(cw_secure_read(out, size,
                              &(struct cw_secure_key){.protocol_id = 7,
                                                      .direction = CW_TO_CLIENT,
                                                      .bytes = token.server_to_client_key},
                              NULL, body, &packet) == CW_OK);
        if (packet.type == CW_SECURE_CHALLENGE)
            memcpy(world->challenge, body, sizeof world->challenge);
        else if (packet.type == CW_SECURE_PAYLOAD)
            see(world, body, packet.size);
    }
}

static void take_events(struct world *world)
{
    struct cw_server_event event;
    while (cw_server_next(world->server, &event))
        if (event.type == CW_SERVER_EVENT_MESSAGE)
            expect(cw_message_check(event.message) == CW_FIELD_NONE &&
                   cw_message_release(event.message) == CW_OK);
}

/* Writes a header with the number that is due and honest acks; `how` falsifies one of them. */
static size_t put_header(struct world *world, uint8_t how, uint8_t *out)
{
    struct cw_packet_header header = {
        .sequence = world->packet, .ack = world->seen, .ack_bits = world->seen_bits};
    switch (how >> 5) {
    case 1:
        header.ack = (uint16_t)(header.ack - (how & 31) * 8);
        header.ack_bits = UINT32_MAX;
        break;
    case 2:
        header.ack = (uint16_t)(header.ack + (how & 31));
        break;
    case 3:
        header.ack_bits = 0x01010101u * how;
        break;
    case 4:
        header.sequence = (uint16_t)(header.sequence + (how & 31) * 1000);
        break;
    case 5:
        header.sequence = (uint16_t)(header.sequence - (how & 31));
        break;
    default:
        break;
    }
    world->packet = (uint16_t)(header.sequence + 1);
    return cw_packet_header_write(out, &header);
}

static void send_payload(struct world *world, uint8_t how, const uint8_t *bytes, size_t size)
{
    uint8_t out[CW_PAYLOAD_MAX];
    const size_t written = put_header(world, how, out);
    if (size > sizeof out - written)
        size = sizeof out - written;
    memcpy(out + written, bytes, size);
    give(world, CW_SECURE_PAYLOAD, out, written + size);
}

/* Sends a payload in fragments of 64 bytes; bits of `how` say which of them are left out. */
static void send_fragments(struct world *world, uint8_t how, const uint8_t *bytes, size_t size)
{
    const uint32_t count = (uint32_t)(size / 64 + 1);
    uint8_t out[CW_PAYLOAD_MAX], header[CW_PACKET_HEADER_MAX_SIZE];
    const uint16_t packet = world->packet;
    const size_t header_size = put_header(world, 0, header);
    for (uint32_t id = 0; id < count && id < 8; id++) {
        const size_t length = id + 1 < count ? 64 : size % 64;
        size_t written = CW_FRAGMENT_HEADER_SIZE;
        if (how >> id & 1)
            continue;
        cw_fragment_header_write(
            out, &(struct cw_fragment_header){.sequence = packet, .id = id, .count = count});
        if (id == 0) {
            memcpy(out + written, header, header_size);
            written += header_size;
        }
        memcpy(out + written, bytes + (size_t)id * 64, length);
        give(world, CW_SECURE_PAYLOAD, out, written + length);
    }
}

/* Lets the application send to the player, or to all. */
static void send_to(struct world *world, uint8_t how)
{
    struct cw_connection *connection = cw_server_connection(world->server, 0);
    const uint32_t channel = how % CHANNELS, type = how & 16 ? FILE_TYPE : NOTE;
    struct cw_message *message;
    if (!connection ||
        (how & 32 ? cw_server_create_message(world->server, type, &message)
                  : cw_connection_create_message(connection, type, &message)) != CW_OK)
        return;
    if (type == FILE_TYPE)
        (void)cw_message_attach(message, world->block, 1 + how * 1u, NULL, NULL);
    message->receipt = how & 64;
    if ((how & 32
             ? cw_server_broadcast(world->server, channel, message, CW_SERVER_NOBODY, world->now)
             : cw_connection_send(connection, channel, message, world->now)) != CW_OK)
        (void)cw_message_release(message);
}

static void step(struct world *world, uint8_t what, uint8_t how, const uint8_t *bytes, size_t size)
{
    switch (what % 7) {
    case 0:
        send_payload(world, how, bytes, size);
        break;
    case 1:
        send_fragments(world, how, bytes, size);
        break;
    case 2:
        world->now += how / 512.0;
        cw_server_update(world->server, world->now);
        transmit(world);
        break;
    case 3:
        take_events(world);
        break;
    case 4:
        for (uint8_t i = 0; i < how >> 3; i++)
            send_to(world, (uint8_t)(how + (size > 0 ? bytes[0] : 0)));
        break;
    case 5: /* the same payload again and again, each with the next number */
        for (uint8_t i = 0; i < how; i++)
            send_payload(world, 0, bytes, size);
        break;
    default: /* a packet of any type but a request */
        give(world,
             how % 6 == CW_SECURE_REQUEST ? CW_SECURE_PAYLOAD : (enum cw_secure_type)(how % 6),
             bytes, size);
    }
}

static struct cw_connection_config config_of_all_kinds(void)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    const enum cw_channel_kind kinds[CHANNELS] = {
        CW_CHANNEL_RELIABLE_ORDERED, CW_CHANNEL_UNRELIABLE, CW_CHANNEL_UNRELIABLE_SEQUENCED,
        CW_CHANNEL_RELIABLE_UNORDERED, CW_CHANNEL_RELIABLE_ORDERED};
    config.channel_count = CHANNELS;
    config.max_messages = 24;
    config.endpoint.fragment_size = 64;
    config.endpoint.max_packet_size = 512;
    config.endpoint.fragment_above = 512;
    for (uint32_t i = 0; i < CHANNELS; i++) {
        config.channels[i] = cw_channel_config_default(kinds[i]);
        config.channels[i].receive_queue_size = 8;
        config.channels[i].send_queue_size = 8;
        config.channels[i].blocks = i != 4;
        config.channels[i].recovery = i == 4 ? CW_RECOVERY_CODED : CW_RECOVERY_RESEND;
        config.channels[i].max_block_size = 300;
        config.channels[i].block_fragment_size = 40;
    }
    return config;
}

static void open_world(struct world *world)
{
    static uint8_t counter;
    uint8_t request[CW_REQUEST_SIZE];
    const struct cw_connection_config connection = config_of_all_kinds();
    struct cw_server_config config = cw_server_config_default();
    counter = 0;
    config.netcode.protocol_id = 7;
    memcpy(config.netcode.private_key, private_key, sizeof private_key);
    config.netcode.addresses = &server_address;
    config.netcode.address_count = 1;
    config.netcode.max_clients = 1;
    config.max_broadcasts = 4;
    config.netcode.max_token_life_seconds = 0;
    config.netcode.unix_offset_seconds = UNIX;
    config.netcode.random = (struct cw_random){fill, &counter};
    config.connection = &connection;
    expect(cw_server_create(&config, &world->server) == CW_OK);
    cw_request_write(&token, request);
    expect(cw_server_receive(world->server, &player_address, request, sizeof request, world->now) ==
           CW_OK);
    transmit(world);
    give(world, CW_SECURE_RESPONSE, world->challenge, sizeof world->challenge);
    expect(cw_server_connection(world->server, 0) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_token();
    struct world world = {.now = 0.5, .seen = UINT16_MAX};
    open_world(&world);
    while (size >= 4) {
        size_t length = (size_t)data[2] << 8 | data[3];
        const uint8_t what = data[0], how = data[1];
        data += 4;
        size -= 4;
        if (length > size)
            length = size;
        step(&world, what, how, data, length);
        data += length;
        size -= length;
    }
    world.now += 1;
    cw_server_update(world.server, world.now);
    transmit(&world);
    take_events(&world);
    cw_server_destroy(world.server);
    return 0;
}
