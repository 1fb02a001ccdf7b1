/* The schema of client and server, and what their connections are made with. */
#include "config_error.h"
#include "counted.h"
#include "secure_message_rig.h"

/* A fingerprint that the config names stands before that of its messages. */
TEST(own_fingerprint)
{
    struct message_rig messages;
    messages.schema = make_schema(&note_type);
    messages.connection = cw_connection_config_default(messages.schema);
    rig_init(&messages.rig);
    messages.rig.connection = &messages.connection;
    messages.rig.config.fingerprint = 5;
    rig_start(&messages.rig);
    const struct cw_address at = rig_client_address(0);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &messages.connection;
    config.netcode.fingerprint = 5;
    struct cw_token_grant grant = rig_grant(&messages.rig, 1);
    grant.fingerprint = 5;
    struct cw_client *client = rig_client_of(&messages.rig, &config, &grant);
    rig_connect(&messages.rig, client, &at);
}

TEST(other_schema_is_denied)
{
    struct message_rig messages;
    message_rig_start(&messages, 2);
    const struct cw_address at = rig_client_address(0);
    struct cw_schema *schema = make_schema(&other_type);
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client *client = message_rig_client(&messages, 1, &connection);
    for (int i = 0; i < 3; i++)
        rig_tick(&messages.rig, client, &at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_SCHEMA);
    struct cw_server_event event;
    assert_false(cw_server_next(messages.rig.server, &event));

    /* And a token that is for the server's schema is refused by the client itself. */
    struct cw_token_grant grant = rig_grant(&messages.rig, 2);
    grant.fingerprint = cw_connection_fingerprint(&messages.connection);
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, rig_key, token));
    assert_int_equal(cw_client_connect(client, token, sizeof(token), messages.rig.now),
                     CW_ERROR_SCHEMA);
}

/* The server has the messages note and other. A client has other ones, or other channels. */
enum change { LIMIT, FIELD_NAME, MESSAGE_NAME, BLOCK, FIRST_ONLY, ONE_MORE, CHANNELS, CHANGES };

static const char *const first_difference[CHANGES][2] = {
    [LIMIT] = {"note", "from"}, [FIELD_NAME] = {"note", "sender"}, [MESSAGE_NAME] = {"last", NULL},
    [BLOCK] = {"other", NULL},  [FIRST_ONLY] = {NULL, NULL},       [ONE_MORE] = {"last", NULL},
    [CHANNELS] = {NULL, NULL},
};

static struct cw_schema *changed_schema(enum change change)
{
    struct cw_field fields[2] = {note_type.fields[0], note_type.fields[1]};
    struct cw_message_type types[3] = {note_type, other_type, other_type};
    types[0].fields = fields;
    types[2].name = "last";
    if (change == LIMIT)
        fields[1].max++;
    if (change == FIELD_NAME)
        fields[1].name = "sender";
    if (change == MESSAGE_NAME)
        types[1].name = "last";
    types[1].block = change == BLOCK;
    const struct cw_schema_config config = {.types = types,
                                            .count = change == FIRST_ONLY ? 1
                                                     : change == ONE_MORE ? 3
                                                                          : 2};
    return schema_with(&config);
}

TEST(the_first_difference_is_told)
{
    for (enum change change = 0; change < CHANGES; change++) {
        const struct cw_message_type types[] = {note_type, other_type};
        struct message_rig messages;
        messages.schema = schema_with(&(struct cw_schema_config){.types = types, .count = 2});
        messages.connection = cw_connection_config_default(messages.schema);
        rig_init(&messages.rig);
        messages.rig.connection = &messages.connection;
        rig_start(&messages.rig);
        const struct cw_address at = rig_client_address(0);
        struct cw_connection_config connection =
            cw_connection_config_default(changed_schema(change));
        connection.channel_count += change == CHANNELS;
        struct cw_client *client = message_rig_client(&messages, 1, &connection);
        struct cw_schema_difference difference;
        assert_false(cw_client_schema_difference(client, &difference));
        for (int i = 0; i < 3; i++)
            rig_tick(&messages.rig, client, &at);
        assert_int_equal(cw_client_state(client), CW_CLIENT_SCHEMA);
        assert_true(cw_client_schema_difference(client, &difference));
        for (int i = 0; i < 2; i++) {
            const char *name = i ? difference.field : difference.message;
            const char *expected = first_difference[change][i];
            assert_true(!name == !expected && (!name || strcmp(name, expected) == 0));
        }
    }
}

TEST(one_allocation)
{
    struct message_rig messages;
    messages.schema = make_schema(&note_type);
    messages.connection = cw_connection_config_default(messages.schema);
    rig_init(&messages.rig);
    messages.rig.connection = &messages.connection;
    static struct counted counted, unused;
    messages.rig.config.allocator = counted_allocator(&counted);
    messages.connection.allocator = counted_allocator(&unused);
    rig_start(&messages.rig);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &messages.connection;
    config.netcode.allocator = messages.rig.config.allocator;
    struct cw_client *client = client_with(&config);
    assert_int_equal(counted.allocations, 2);
    end_owned(client);
    end_owned(messages.rig.server);
    assert_int_equal(counted.allocations, 2);
    assert_int_equal(counted.releases, 2);
    assert_int_equal(unused.allocations, 0);
}

TEST(memory_of_a_slot)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    struct cw_server_config config = cw_server_config_default();
    config.netcode = messages.rig.config;
    config.connection = &messages.connection;
    const size_t one = cw_server_memory(&config);
    config.netcode.max_clients = 65;
    config.netcode.token_history = 1024;
    const size_t slot = (cw_server_memory(&config) - one) / 64;
    printf("%zu bytes per slot with two channels\n", slot);
    assert_true(slot > 1000 && slot <= 128 * 1024);
}

TEST(configs_refused)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    struct cw_connection_config connection = messages.connection;
    struct cw_server_config config = cw_server_config_default();
    config.netcode = messages.rig.config;
    config.connection = &messages.connection;
    struct cw_client_config client_config = cw_client_config_default();
    struct cw_server *server;
    struct cw_client *client;
    config.connection = client_config.connection = &connection;
    connection.endpoint.max_packet_size = connection.endpoint.fragment_above = 1191;
    assert_true(cw_server_memory(&config) > 0);
    assert_true(cw_client_memory(&client_config) > 0);
    connection.endpoint.max_packet_size = connection.endpoint.fragment_above = 1192;
    assert_error_names(cw_server_create(&config, &server), "fragment_above");
    assert_int_equal(cw_server_memory(&config), 0);
    assert_error_names(cw_client_create(&client_config, &client), "fragment_above");
    assert_int_equal(cw_client_memory(&client_config), 0);
    connection = messages.connection;
    connection.channel_count = 0;
    assert_error_names(cw_server_create(&config, &server), "channel_count");
    assert_error_names(cw_client_create(&client_config, &client), "channel_count");

    assert_null(cw_server_connection(messages.rig.server, 99));
}
