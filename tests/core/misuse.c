/* Tests of what newcomers do wrong: each line is a mistake and the error that names it. Nothing
   crashes, no error is the one for arguments that are NULL, and afterwards the same objects still
   work. core.arguments tries each field of a config by itself; those here depend on each other. */
#include "config_error.h"
#include "secure_message_rig.h"

#include "causeway/causeway.h"
#include "causeway/native/client_host.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"

#define ALL_FIELDS(FIELD)                                                                          \
    FIELD(number, CW_UINT(0, 100))                                                                 \
    FIELD(text, CW_BYTES(1100))
CW_MESSAGE(all, ALL_FIELDS)
CW_BLOCK_MESSAGE(level, NOTE_FIELDS)

enum { ALL, LEVEL, OWN };

static bool serialize_own(struct cw_stream *stream, void *message)
{
    return cw_stream_bits(stream, message, 8);
}

static int mistakes;

static void says(enum cw_error expected, enum cw_error got, const char *mistake)
{
    const char *sentence = cw_error_string(got);
    mistakes++;
    if (got != expected)
        fail_msg("%s: \"%s\" instead of \"%s\"", mistake, sentence, cw_error_string(expected));
    assert_int_not_equal(got, CW_ERROR_INVALID_ARGUMENT);
    assert_int_not_equal(got, CW_OK);
    assert_true(strlen(sentence) > 15);
}

#define MISTAKE(error, call) says(error, call, #call)

/* Makes a call that a field of a config makes impossible. */
#define BAD_FIELD(field, call)                                                                     \
    do {                                                                                           \
        mistakes++;                                                                                \
        assert_error_names(call, field);                                                           \
    } while (0)

/* Makes a call with one change of a config. `config` and `good` are variables of its type. */
#define CHANGE(error, call, change)                                                                \
    do {                                                                                           \
        config = good;                                                                             \
        config.change;                                                                             \
        says(error, call, #change);                                                                \
    } while (0)

/* Makes a call with one change of a config, after which the error names the field that was changed.
 */
#define BAD_CHANGE(call, change)                                                                   \
    do {                                                                                           \
        config = good;                                                                             \
        config.change;                                                                             \
        BAD_FIELD(#change, call);                                                                  \
    } while (0)

static struct cw_schema *make_types(void)
{
    const struct cw_message_type own = {.name = "own", .size = 4, .serialize = serialize_own};
    const struct cw_message_type types[] = {all_type, level_type, own};
    struct cw_schema *schema;
    assert_int_equal(
        cw_schema_create(&(struct cw_schema_config){.types = types, .count = 3}, &schema), CW_OK);
    return schema;
}

static enum cw_error schema_of(const struct cw_message_type *type)
{
    struct cw_schema *schema = NULL;
    const struct cw_schema_config config = {.types = type, .count = 1};
    const enum cw_error error = cw_schema_create(&config, &schema);
    cw_schema_destroy(schema);
    return error;
}

static enum cw_error schema_with(struct cw_field field)
{
    return schema_of(&(struct cw_message_type){.name = "one", .fields = &field, .field_count = 1});
}

static void schemas(void **state)
{
    (void)state;
    struct cw_schema *schema = NULL;
    const struct cw_schema_config none = {.count = 0};
    uint8_t bytes[64] = {9};
    MISTAKE(CW_ERROR_SCHEMA_TYPES, cw_schema_create(&none, &schema));
    MISTAKE(CW_ERROR_SCHEMA_TYPES, schema_of(&(struct cw_message_type){.size = 4}));
    MISTAKE(CW_ERROR_SCHEMA_SIZE, schema_of(&(struct cw_message_type){
                                      .name = "no", .size = 2000000, .serialize = serialize_own}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD, schema_with((struct cw_field){.kind = CW_KIND_BOOL}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD,
            schema_with((struct cw_field){.name = "x", .kind = CW_KIND_COUNT}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD,
            schema_with((struct cw_field){.name = "x", .kind = CW_KIND_UINT, .min = 2, .max = 1}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD,
            schema_with((struct cw_field){.name = "x", .kind = CW_KIND_COMPRESSED_FLOAT}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD,
            schema_with((struct cw_field){.name = "x", .kind = CW_KIND_STRUCT}));
    MISTAKE(CW_ERROR_SCHEMA_FIELD,
            schema_with((struct cw_field){.name = "x", .kind = CW_KIND_STRING}));
    MISTAKE(CW_ERROR_SCHEMA_BYTES, cw_schema_decode(bytes, sizeof bytes, NULL, &schema));
    MISTAKE(CW_ERROR_SCHEMA_BYTES, cw_schema_decode(bytes, 0, NULL, &schema));
    assert_null(schema);
}

static void configs_of_connections(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    struct cw_connection_config config, good = cw_connection_config_default(schema);
    good.channels[0].blocks = true;
    BAD_CHANGE(cw_connection_config_check(&config), channels[1].repair = true);
    BAD_CHANGE(cw_connection_config_check(&config), channels[0].block_fragment_size = 9000);
    BAD_CHANGE(cw_connection_config_check(&config), channels[0].max_message_size = 262145);
    config = good;
    config.congestion.mode = CW_CONGESTION_BINARY;
    config.congestion.bad_packets_per_second = 0;
    BAD_FIELD("bad_packets_per_second", cw_connection_config_check(&config));
    config = good;
    config.endpoint.fragment_size = 1;
    BAD_FIELD("max_packet_size", cw_connection_config_check(&config));
    cw_schema_destroy(schema);
}

static struct cw_message *make(struct cw_connection *connection, uint32_t type)
{
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(connection, type, &message), CW_OK);
    return message;
}

/* Tries to send a message, and releases it. */
static enum cw_error sent(struct cw_connection *connection, uint32_t channel,
                          struct cw_message *message)
{
    const enum cw_error error = cw_connection_send(connection, channel, message, 0);
    assert_int_equal(cw_message_release(message), CW_OK);
    return error;
}

static struct cw_message *with_block(struct cw_message *message, uint32_t size)
{
    static uint8_t block[300000];
    assert_int_equal(cw_message_attach(message, block, size, NULL, NULL), CW_OK);
    return message;
}

static struct cw_message *all_of(struct cw_connection *connection, uint32_t number, uint32_t size)
{
    struct cw_message *message = make(connection, ALL);
    struct all *value = message->data;
    value->number = number;
    value->text.size = size;
    return message;
}

static void messages(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *connection, *other;
    struct cw_channel_stats stats;
    struct all value = {.number = 1};
    uint8_t datagram[2000] = {0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    config.channels[0].blocks = true;
    config.channels[0].max_message_size = 1000;
    config.channels[1].max_message_size = 0;
    config.endpoint.max_packet_size = config.endpoint.fragment_above;
    config.channels[0].send_queue_size = 2;
    config.max_messages = 4;
    config.max_receipts = 1;
    assert_int_equal(cw_connection_create(&config, &connection), CW_OK);
    assert_int_equal(cw_connection_create(&config, &other), CW_OK);
    struct cw_message *message = NULL;
    MISTAKE(CW_ERROR_MESSAGE_TYPE, cw_connection_create_message(connection, 3, &message));
    MISTAKE(CW_ERROR_MESSAGE_TYPE, cw_connection_send_value(connection, 0, 3, &value, 0));
    MISTAKE(CW_ERROR_CHANNEL, cw_connection_send_value(connection, 2, ALL, &value, 0));
    MISTAKE(CW_ERROR_CHANNEL, cw_connection_get_channel_stats(connection, 2, &stats));
    MISTAKE(CW_ERROR_OTHER_CONNECTION, sent(connection, 0, make(other, ALL)));
    MISTAKE(CW_ERROR_MESSAGE_VALUE, sent(connection, 0, all_of(connection, 101, 0)));
    MISTAKE(CW_ERROR_MESSAGE_VALUE, sent(connection, 0, all_of(connection, 1, 1101)));
    MISTAKE(CW_ERROR_MESSAGE_TOO_LARGE, sent(connection, 0, all_of(connection, 1, 1100)));
    MISTAKE(CW_ERROR_BLOCK_MISSING, sent(connection, 0, make(connection, LEVEL)));
    MISTAKE(CW_ERROR_BLOCK_NOT_ALLOWED, sent(connection, 0, with_block(make(connection, ALL), 9)));
    MISTAKE(CW_ERROR_BLOCK_NOT_ALLOWED,
            sent(connection, 1, with_block(make(connection, LEVEL), 9)));
    MISTAKE(CW_ERROR_BLOCK_TOO_LARGE,
            sent(connection, 0, with_block(make(connection, LEVEL), 300000)));
    message = make(connection, OWN);
    struct cw_message *copy = make(other, ALL);
    MISTAKE(CW_ERROR_MESSAGE_TYPE, cw_message_copy(message, copy));
    cw_message_release(copy);
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_message_release(copy));
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_message_copy(copy, message));
    message->receipt = 1;
    assert_int_equal(cw_connection_send(connection, 0, message, 0), CW_OK);
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_connection_send(connection, 0, message, 0));
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_message_acquire(message));
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_message_release(message));
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED, cw_message_attach(message, datagram, 1, NULL, NULL));
    message = make(connection, OWN);
    message->receipt = 2;
    MISTAKE(CW_ERROR_RECEIPTS_FULL, cw_connection_send(connection, 0, message, 0));
    message->receipt = 0;
    assert_int_equal(cw_connection_send(connection, 0, message, 0), CW_OK);
    message = make(connection, OWN);
    MISTAKE(CW_ERROR_QUEUE_FULL, cw_connection_send(connection, 0, message, 0));
    copy = make(connection, OWN);
    MISTAKE(CW_ERROR_POOL_EMPTY, cw_connection_send_value(connection, 1, ALL, &value, 0));
    MISTAKE(CW_ERROR_MALFORMED, cw_connection_receive(connection, datagram, 10, 0));
    MISTAKE(CW_ERROR_MALFORMED, cw_connection_receive(connection, datagram, 0, 0));
    assert_int_equal(cw_connection_send(connection, 1, message, 0), CW_OK);
    assert_int_equal(cw_message_release(copy), CW_OK);
    cw_connection_update(connection, 0);
#ifdef NDEBUG /* a build without NDEBUG stops at an assertion */
    assert_int_equal(cw_connection_transmit(connection, datagram, 20, 0), 0);
#endif
    assert_true(cw_connection_transmit(connection, datagram, sizeof datagram, 0) > 0);
    cw_connection_destroy(connection);
    cw_connection_destroy(other);
    cw_schema_destroy(schema);
}

static void endpoints_and_simulators(void **state)
{
    (void)state;
    struct cw_endpoint *endpoint;
    struct cw_simulator *simulator = NULL;
    uint8_t bytes[5000], *payload;
    const struct cw_endpoint_config defaults = cw_endpoint_config_default();
    assert_int_equal(cw_endpoint_create(&defaults, &endpoint), CW_OK);
    MISTAKE(CW_ERROR_PACKET_TOO_LARGE,
            cw_endpoint_begin(endpoint, 5000, bytes, sizeof bytes, &payload));
    MISTAKE(CW_ERROR_BUFFER_TOO_SMALL, cw_endpoint_begin(endpoint, 500, bytes, 500, &payload));
    assert_int_equal(cw_endpoint_begin(endpoint, 3000, bytes, sizeof bytes, &payload), CW_OK);
    memset(payload, 0, 3000);
    assert_true(cw_endpoint_commit(endpoint, 3000, 0, NULL) > 0);
    MISTAKE(CW_ERROR_TRANSMIT_PENDING,
            cw_endpoint_begin(endpoint, 5, bytes, sizeof bytes, &payload));
    cw_endpoint_destroy(endpoint);
    struct cw_simulator_config config = cw_simulator_config_default();
    config.path.loss = 1.5;
    BAD_FIELD("loss", cw_simulator_create(&config, &simulator));
    assert_null(simulator);
}

static enum cw_error granted(struct cw_token_grant grant, const uint8_t key[CW_KEY_BYTES])
{
    uint8_t token[CW_TOKEN_SIZE];
    return cw_token_generate(&grant, key, token);
}

static void tokens(void **state)
{
    (void)state;
    struct message_rig messages;
    message_rig_start(&messages, 4);
    struct rig *rig = &messages.rig;
    static const uint8_t zeros[CW_KEY_BYTES];
    uint8_t key[CW_KEY_BYTES], token[CW_TOKEN_SIZE];
    struct cw_token read;
    struct cw_token_grant config, good = rig_grant(rig, 1);
    rig_token(rig, token, 1);
    MISTAKE(CW_ERROR_KEY, cw_key_parse("0123", key));
    MISTAKE(CW_ERROR_KEY, granted(good, zeros));
    CHANGE(CW_ERROR_TOKEN_TIMES, granted(config, rig_key), life_seconds = 0);
    CHANGE(CW_ERROR_TOKEN_ADDRESSES, granted(config, rig_key), address_count = 0);
    CHANGE(CW_ERROR_TOKEN_ADDRESSES, granted(config, rig_key), address_count = 33);
    config = good;
    config.fingerprint = 5;
    config.user_data[CW_USER_DATA_SIZE - 1] = 1;
    MISTAKE(CW_ERROR_USER_DATA, granted(config, rig_key));
    MISTAKE(CW_ERROR_TOKEN_SIZE, cw_token_read(token, CW_TOKEN_SIZE - 1, &read));
    token[0] = 'n';
    MISTAKE(CW_ERROR_VERSION, cw_token_read(token, CW_TOKEN_SIZE, &read));
    message_rig_stop(&messages);
}

static void servers_and_clients(void **state)
{
    (void)state;
    struct message_rig messages;
    message_rig_start(&messages, 4);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(1), stranger = rig_client_address(2);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &messages.connection;
    struct cw_client *client;
    uint8_t token[CW_TOKEN_SIZE], bytes[CW_TOKEN_SIZE] = {0};
    rig_token(rig, token, 1);
    assert_int_equal(cw_client_create(&config, &client), CW_OK);
    MISTAKE(CW_ERROR_NOT_CONNECTED, cw_netcode_client_move(cw_client_netcode(client), rig->now));
    MISTAKE(CW_ERROR_TOKEN_SIZE, cw_client_connect(client, bytes, 9, rig->now));
    MISTAKE(CW_ERROR_VERSION, cw_client_connect(client, bytes, CW_TOKEN_SIZE, rig->now));
    assert_int_equal(cw_client_connect(client, token, CW_TOKEN_SIZE, rig->now), CW_OK);
    MISTAKE(CW_ERROR_CONNECTED, cw_client_connect(client, token, CW_TOKEN_SIZE, rig->now));
    MISTAKE(CW_ERROR_WRONG_SENDER, cw_client_receive(client, &stranger, bytes, 40, rig->now));
    MISTAKE(CW_ERROR_PACKET_SHORT, cw_client_receive(client, &rig->address, bytes, 0, rig->now));
    rig_connect(rig, client, &at);
    MISTAKE(CW_ERROR_NOT_CONNECTED,
            cw_server_receive(rig->server, &stranger, (const uint8_t *)"hello", 5, rig->now));
    MISTAKE(CW_ERROR_PACKET_SHORT, cw_server_receive(rig->server, &stranger, bytes, 0, rig->now));
    MISTAKE(CW_ERROR_REQUEST_SIZE, cw_server_receive(rig->server, &stranger, bytes, 40, rig->now));
    MISTAKE(CW_ERROR_VERSION,
            cw_server_receive(rig->server, &stranger, bytes, CW_REQUEST_SIZE, rig->now));
    cw_server_disconnect(rig->server, 99, 0, NULL);
    cw_client_destroy(client);
    message_rig_stop(&messages);
}

/* A backend has made the tokens with other numbers than the server's. */
static void backends(void **state)
{
    (void)state;
    struct message_rig messages;
    message_rig_start(&messages, 4);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(1);
    const struct cw_address other = rig_address("127.0.0.1:40001");
    const uint8_t key[CW_KEY_BYTES] = {9};
    struct cw_token_grant config, good = rig_grant(rig, 1);
    MISTAKE(CW_ERROR_NOT_AUTHENTIC, rig_give_grant(rig, &at, &good, key));
#define GRANT(error, change) CHANGE(error, rig_give_grant(rig, &at, &config, rig_key), change)
    GRANT(CW_ERROR_PROTOCOL_ID, protocol_id = 5);
    GRANT(CW_ERROR_TOKEN_SERVER, addresses = &other);
    GRANT(CW_ERROR_TOKEN_EXPIRED, create_time -= 60);
    GRANT(CW_ERROR_TOKEN_LIFE, life_seconds = 3600);
    GRANT(CW_ERROR_TOKEN_LIFE, create_time += 600);
    message_rig_stop(&messages);
}

static void broadcasts(void **state)
{
    (void)state;
    struct message_rig rig;
    message_rig_start(&rig, 2);
    struct cw_server *server = rig.rig.server;
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&rig, 1, &rig.connection);
    struct cw_message *message, *own;
    rig_connect(&rig.rig, client, &at);
    assert_int_equal(cw_server_create_message(server, 0, &message), CW_OK);
    own = make(cw_server_connection(server, 0), 0);
    MISTAKE(CW_ERROR_MESSAGE_TYPE, cw_server_create_message(server, 9, &message));
    MISTAKE(CW_ERROR_CHANNEL, cw_server_broadcast(server, 2, message, CW_SERVER_NOBODY, 0));
    MISTAKE(CW_ERROR_OTHER_CONNECTION, cw_server_broadcast(server, 0, own, CW_SERVER_NOBODY, 0));
    MISTAKE(CW_ERROR_OTHER_CONNECTION, sent(cw_client_connection(client), 0, own));
    assert_int_equal(cw_server_broadcast(server, 0, message, CW_SERVER_NOBODY, rig.rig.now), CW_OK);
    MISTAKE(CW_ERROR_MESSAGE_NOT_OWNED,
            cw_server_broadcast(server, 0, message, CW_SERVER_NOBODY, 0));
    cw_client_disconnect(client);
    MISTAKE(CW_ERROR_NOT_CONNECTED,
            cw_connection_send_value(cw_client_connection(client), 0, 0, &(struct note){0}, 0));
    cw_client_destroy(client);
    message_rig_stop(&rig);
}

static void hosts(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_host *host = NULL, *open;
    struct cw_host_config config, good = cw_host_config_default();
    good.server.netcode.private_key[0] = 1;
    good.server.connection = &connection;
    config = good;
    assert_int_equal(cw_host_open("127.0.0.1:0", &config, &open), CW_OK);
    char taken[CW_ADDRESS_TEXT_SIZE];
    cw_address_format(cw_host_address(open), taken);
    MISTAKE(CW_ERROR_PORT, cw_host_open("127.0.0.1", &config, &host));
    MISTAKE(CW_ERROR_ADDRESS, cw_host_open("127.0.0.1:port", &config, &host));
    MISTAKE(CW_ERROR_ADDRESS, cw_host_open("127.0.0.1:65536", &config, &host));
    MISTAKE(CW_ERROR_ADDRESS, cw_host_open("", &config, &host));
    MISTAKE(CW_ERROR_ADDRESS, cw_host_open("udp://127.0.0.1:0", &config, &host));
    MISTAKE(CW_ERROR_ADDRESS_IN_USE, cw_host_open(taken, &config, &host));
#ifndef _WIN32 /* Wine gives everyone any address of IPv4 */
    MISTAKE(CW_ERROR_ADDRESS_NOT_HERE, cw_host_open("203.0.113.9:0", &config, &host));
#endif
    BAD_FIELD("addresses", cw_host_open("0.0.0.0:0", &config, &host));
    CHANGE(CW_ERROR_KEY, cw_host_open("127.0.0.1:0", &config, &host),
           server.netcode.private_key[0] = 0);
    const char *const proxy = "10.0.0.0/33";
    config = good;
    config.trusted_proxies = &proxy;
    config.trusted_proxy_count = 1;
    BAD_FIELD("trusted_proxies", cw_host_open("127.0.0.1:0", &config, &host));
    assert_null(host);
    cw_host_close(open);
    cw_schema_destroy(schema);
}

static void client_hosts(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client_host *host = NULL;
    struct cw_client_host_config config, good = cw_client_host_config_default();
    struct cw_address address;
    uint8_t bytes[CW_TOKEN_SIZE] = {0};
    good.client.connection = &connection;
    BAD_CHANGE(cw_client_host_open(&config, &host), silence_seconds = -1);
    BAD_CHANGE(cw_client_host_open(&config, &host), client.netcode.resend_seconds = 0);
    assert_null(host);
    assert_int_equal(cw_client_host_open(&good, &host), CW_OK);
    MISTAKE(CW_ERROR_TOKEN_SIZE, cw_client_host_connect(host, bytes, 100));
    MISTAKE(CW_ERROR_VERSION, cw_client_host_connect(host, bytes, sizeof bytes));
    MISTAKE(CW_ERROR_PORT, cw_client_host_connect_insecure(host, "127.0.0.1", 1, 1));
    MISTAKE(CW_ERROR_ADDRESS, cw_client_host_connect_insecure(host, "127.0.0.1:-1", 1, 1));
    MISTAKE(CW_ERROR_ADDRESS, cw_resolve("[127.0.0.1]:5", &address));
    MISTAKE(CW_ERROR_ADDRESS, cw_address_parse("localhost:5", &address));
    assert_int_equal(cw_client_host_connect_insecure(host, "127.0.0.1:9", 1, 1), CW_OK);
    MISTAKE(CW_ERROR_CONNECTED, cw_client_host_connect_insecure(host, "127.0.0.1:9", 1, 1));
    cw_client_host_close(host);
    cw_schema_destroy(schema);
}

static void configs_of_the_game_kit(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    struct cw_input_sender *sender;
    struct cw_input_config input = cw_input_config_default(schema);
    input.type = OWN;
    BAD_FIELD("type", cw_input_sender_create(&input, &sender));
    struct cw_interpolation *interpolation;
    struct cw_interpolation_config view = cw_interpolation_config_default();
    view.min_delay_seconds = 1;
    view.max_delay_seconds = 0.5;
    BAD_FIELD("min_delay_seconds", cw_interpolation_create(&view, &interpolation));
    struct cw_prediction *prediction;
    struct cw_prediction_config predicted = cw_prediction_config_default(schema);
    predicted.state_type = 99;
    BAD_FIELD("state_type", cw_prediction_create(&predicted, &prediction));
    cw_schema_destroy(schema);
}

static void the_game_kit(void **state)
{
    (void)state;
    struct cw_schema *schema = make_types();
    struct cw_input_sender *sender;
    struct cw_input_report report;
    struct cw_clock_echo echo = {0};
    uint8_t bytes[64] = {0};
    struct cw_input_config input = cw_input_config_default(schema);
    input.type = LEVEL;
    assert_int_equal(cw_input_sender_create(&input, &sender), CW_OK);
    struct level value = {.number = 1000001};
    MISTAKE(CW_ERROR_MESSAGE_VALUE, cw_input_sender_add(sender, 1, &value));
    MISTAKE(CW_ERROR_MALFORMED, cw_input_sender_receive(sender, bytes, 5, &report));
    MISTAKE(CW_ERROR_STALE, cw_input_sender_receive(sender, bytes, CW_INPUT_REPORT_SIZE, &report));
    MISTAKE(CW_ERROR_MALFORMED, cw_clock_echo_receive(&echo, bytes, 1, 0));
    cw_input_sender_destroy(sender);
    struct cw_snapshot_server *snapshots;
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.max_entities = 1;
    assert_int_equal(cw_snapshot_server_create(&config, &snapshots), CW_OK);
    MISTAKE(CW_ERROR_MESSAGE_VALUE, cw_snapshot_server_set(snapshots, 0, LEVEL, &value));
    MISTAKE(CW_ERROR_MESSAGE_TYPE, cw_snapshot_server_set(snapshots, 0, 99, &value));
    cw_snapshot_server_destroy(snapshots);
    struct cw_history *history;
    struct cw_history_config past = cw_history_config_default();
    past.state_size = 4;
    past.max_entities = 1;
    assert_int_equal(cw_history_create(&past, &history), CW_OK);
    assert_int_equal(cw_history_begin(history, 1), CW_OK);
    assert_int_equal(cw_history_add(history, 1, &value), CW_OK);
    MISTAKE(CW_ERROR_DUPLICATE, cw_history_add(history, 1, &value));
    MISTAKE(CW_ERROR_ENTITIES_FULL, cw_history_add(history, 2, &value));
    cw_history_destroy(history);
    cw_schema_destroy(schema);
}

static void the_list_is_long(void **state)
{
    (void)state;
    printf("%d mistakes\n", mistakes);
    assert_true(mistakes >= 67);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas),
        cmocka_unit_test(configs_of_connections),
        cmocka_unit_test(messages),
        cmocka_unit_test(endpoints_and_simulators),
        cmocka_unit_test(tokens),
        cmocka_unit_test(servers_and_clients),
        cmocka_unit_test(backends),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(hosts),
        cmocka_unit_test(client_hosts),
        cmocka_unit_test(configs_of_the_game_kit),
        cmocka_unit_test(the_game_kit),
        cmocka_unit_test(the_list_is_long),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
