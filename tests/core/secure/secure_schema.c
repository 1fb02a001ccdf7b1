/* The schema of client and server, and what their connections are made with. */
#include "counted.h"
#include "secure_world.h"

/* A fingerprint that the config names stands before that of its messages. */
static void own_fingerprint(void **state)
{
    (void)state;
    struct world world;
    world.schema = make_schema(&note_type);
    world.connection = cw_connection_config_default(world.schema);
    rig_init(&world.rig);
    world.rig.config.connection = &world.connection;
    world.rig.config.fingerprint = 5;
    rig_start(&world.rig);
    const struct cw_address at = rig_client_address(0);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world.connection;
    config.fingerprint = 5;
    struct cw_token_grant grant = rig_grant(&world.rig, 1);
    grant.fingerprint = 5;
    struct cw_client *client = rig_client_of(&world.rig, &config, &grant);
    rig_connect(&world.rig, client, &at);
    cw_client_destroy(client);
    close_world(&world);
}

static void other_schema_is_denied(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 2);
    const struct cw_address at = rig_client_address(0);
    struct cw_schema *schema = make_schema(&other_type);
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client *client = open_client(&world, 1, &connection);
    for (int i = 0; i < 3; i++)
        rig_tick(&world.rig, client, &at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_SCHEMA);
    struct cw_server_event event;
    assert_false(cw_server_next(world.rig.server, &event));

    /* And a token that is for the server's schema is refused by the client itself. */
    struct cw_token_grant grant = rig_grant(&world.rig, 2);
    grant.fingerprint = cw_connection_fingerprint(&world.connection);
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), world.rig.now),
                     CW_ERROR_SCHEMA);
    cw_client_destroy(client);
    cw_schema_destroy(schema);
    close_world(&world);
}

static void one_allocation(void **state)
{
    (void)state;
    struct world world;
    world.schema = make_schema(&note_type);
    world.connection = cw_connection_config_default(world.schema);
    rig_init(&world.rig);
    world.rig.config.connection = &world.connection;
    struct counted counted = {0}, unused = {0};
    world.rig.config.allocator = counted_allocator(&counted);
    world.connection.allocator = counted_allocator(&unused);
    rig_start(&world.rig);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world.connection;
    config.allocator = world.rig.config.allocator;
    struct cw_client *client;
    assert_int_equal(cw_client_create(&client, &config), CW_OK);
    assert_int_equal(counted.allocations, 2);
    cw_client_destroy(client);
    close_world(&world);
    assert_int_equal(counted.allocations, 2);
    assert_int_equal(counted.releases, 2);
    assert_int_equal(unused.allocations, 0);
}

static void memory_of_a_slot(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 1);
    struct cw_server_config config = world.rig.config;
    const size_t one = cw_server_memory(&config);
    config.max_clients = 65;
    config.token_history = 1024;
    const size_t slot = (cw_server_memory(&config) - one) / 64;
    printf("%zu bytes per slot with two channels\n", slot);
    assert_true(slot > 1000 && slot <= 128 * 1024);
    close_world(&world);
}

static void configs_refused(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, 1);
    struct cw_connection_config connection = world.connection;
    struct cw_server_config config = world.rig.config;
    struct cw_client_config client_config = cw_client_config_default();
    struct cw_server *server;
    struct cw_client *client;
    config.connection = client_config.connection = &connection;
    connection.endpoint.max_packet_size = connection.endpoint.fragment_above = 1191;
    assert_true(cw_server_memory(&config) > 0);
    assert_true(cw_client_memory(&client_config) > 0);
    connection.endpoint.max_packet_size = connection.endpoint.fragment_above = 1192;
    assert_int_equal(cw_server_create(&server, &config), CW_ERROR_CONFIG_PACKET_SIZE);
    assert_int_equal(cw_server_memory(&config), 0);
    assert_int_equal(cw_client_create(&client, &client_config), CW_ERROR_CONFIG_PACKET_SIZE);
    assert_int_equal(cw_client_memory(&client_config), 0);
    connection = world.connection;
    connection.channel_count = 0;
    assert_int_equal(cw_server_create(&server, &config), CW_ERROR_CONFIG_CONNECTION);
    assert_int_equal(cw_client_create(&client, &client_config), CW_ERROR_CONFIG_CONNECTION);

    /* Raw payloads and messages do not mix. */
    const struct cw_address at = rig_client_address(0);
    client = open_client(&world, 1, &world.connection);
    const uint32_t slot = rig_connect(&world.rig, client, &at);
    assert_int_equal(cw_client_send(client, "x", 1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_server_send(world.rig.server, slot, "x", 1), CW_ERROR_INVALID_ARGUMENT);
    assert_null(cw_server_connection(world.rig.server, 99));
    cw_client_destroy(client);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_fingerprint), cmocka_unit_test(other_schema_is_denied),
        cmocka_unit_test(one_allocation),  cmocka_unit_test(memory_of_a_slot),
        cmocka_unit_test(configs_refused),
    };
    return cmocka_run_group_tests_name("secure_schema", tests, NULL, NULL);
}
