/* Connecting without a backend: only to a server that was told to let everybody in. */
#include "causeway/native/client_host.h"
#include "causeway/native/clock.h"
#include "causeway/native/host.h"

#include "kept_log.h"
#include "secure_rig.h"

/* Far more than anything here takes; a test that passes never waits so long. */
#define PATIENCE 20.0

static enum cw_error give_insecure_token(struct rig *rig, const struct cw_address *from)
{
    const struct cw_token_grant grant = rig_grant(rig, 1);
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(cw_token_insecure(&grant, token), CW_OK);
    return rig_give_token(rig, from, token);
}

static void other_servers_refuse_such_tokens(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig);
    const struct cw_address at = rig_client_address(1);
    assert_int_equal(give_insecure_token(&rig, &at), CW_ERROR_NOT_AUTHENTIC);
    assert_true(rig_silent(&rig));
    rig_stop(&rig);
}

/* Whatever private key it has been given as well. */
static void an_insecure_server_takes_them_and_no_others(void **state)
{
    (void)state;
    for (int with_key = 0; with_key < 2; with_key++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.insecure = true;
        if (!with_key)
            memset(rig.config.private_key, 0, CW_KEY_BYTES);
        rig_start(&rig);
        const struct cw_address at = rig_client_address(1), other = rig_client_address(2);
        const struct cw_token_grant grant = rig_grant(&rig, 2);
        assert_int_equal(rig_give_grant(&rig, &other, &grant, rig_key), CW_ERROR_NOT_AUTHENTIC);
        assert_int_equal(give_insecure_token(&rig, &at), CW_OK);
        rig_stop(&rig);
    }
}

/* A secure server would not take one that may be older than itself. */
static void it_takes_them_as_soon_as_it_is_there(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.config.insecure = true;
    rig.config.addresses = &rig.address;
    const struct cw_address at = rig_client_address(1);
    assert_int_equal(cw_server_create(&rig.config, &rig.server), CW_OK);
    assert_int_equal(give_insecure_token(&rig, &at), CW_OK);
    rig_stop(&rig);
}

#define NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_MESSAGE(note, NOTE_FIELDS)

struct world {
    struct kept_log log; /* the client's */
    struct cw_host *server;
    struct cw_client_host *client;
};

static struct cw_schema *open_world(struct world *world)
{
    struct cw_schema *schema;
    *world = (struct world){0};
    const struct cw_schema_config types = {.types = &note_type, .count = 1};
    assert_int_equal(cw_schema_create(&types, &schema), CW_OK);
    struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_host_config server = cw_host_config_default();
    server.server.insecure = true;
    server.server.protocol_id = RIG_PROTOCOL;
    server.server.connection = &connection;
    assert_int_equal(cw_host_open("127.0.0.1:0", &server, &world->server), CW_OK);
    struct cw_client_host_config client = cw_client_host_config_default();
    client.client.connection = &connection;
    client.log = kept_log_at(&world->log, CW_LOG_INFO);
    assert_int_equal(cw_client_host_open(&client, &world->client), CW_OK);
    return schema;
}

static void close_world(struct world *world, struct cw_schema *schema)
{
    cw_client_host_close(world->client);
    cw_host_close(world->server);
    cw_schema_destroy(schema);
}

static void a_client_host_needs_only_the_address(void **state)
{
    (void)state;
    struct world world;
    struct cw_schema *schema = open_world(&world);
    char address[CW_ADDRESS_TEXT_SIZE];
    cw_address_format(cw_host_address(world.server), address);
    assert_int_equal(cw_client_host_connect_insecure(world.client, "127.0.0.1:x", RIG_PROTOCOL, 77),
                     CW_ERROR_ADDRESS);
    assert_int_equal(cw_client_host_connect_insecure(world.client, address, RIG_PROTOCOL, 77),
                     CW_OK);
    assert_int_equal(cw_client_host_connect_insecure(world.client, address, RIG_PROTOCOL, 77),
                     CW_ERROR_CONNECTED);
    struct cw_server_event event = {0};
    struct cw_client_event own;
    const double end = cw_clock_now() + PATIENCE;
    while (event.type != CW_SERVER_EVENT_CONNECTED && cw_clock_now() < end) {
        cw_client_host_next(world.client, cw_clock_now(), &own);
        cw_client_host_update(world.client);
        cw_host_update(world.server);
        cw_host_next(world.server, cw_clock_now() + 0.005, &event);
    }
    struct cw_server_client about;
    assert_true(cw_server_client(cw_host_server(world.server), event.client, &about));
    assert_int_equal(about.id, 77);
    close_world(&world, schema);
}

/* Takes the client's events until one of this type has come. */
static void await_client(struct world *world, enum cw_client_event_type type)
{
    struct cw_client_event event = {0};
    struct cw_server_event none;
    const double end = cw_clock_now() + PATIENCE;
    while (event.type != type && cw_clock_now() < end) {
        cw_client_host_update(world->client);
        cw_host_next(world->server, cw_clock_now() + 0.005, &none);
        cw_host_update(world->server);
        cw_client_host_next(world->client, cw_clock_now() + 0.005, &event);
    }
    assert_int_equal(event.type, type);
}

static void a_client_host_logs_what_it_does(void **state)
{
    (void)state;
    struct world world;
    struct cw_schema *schema = open_world(&world);
    char address[CW_ADDRESS_TEXT_SIZE], expected[256];
    size_t at = 0;
    cw_address_format(cw_host_address(world.server), address);
    assert_int_equal(cw_client_host_connect_insecure(world.client, address, RIG_PROTOCOL, 77),
                     CW_OK);
    snprintf(expected, sizeof expected, "2 connecting to %s", address);
    kept_log_expect(&world.log, &at, expected);
    await_client(&world, CW_CLIENT_EVENT_CONNECTED);
    snprintf(expected, sizeof expected, "2 connected to %s", address);
    kept_log_expect(&world.log, &at, expected);
    cw_server_disconnect(cw_host_server(world.server), 0, 7, "no such map");
    await_client(&world, CW_CLIENT_EVENT_DISCONNECTED);
    kept_log_expect(&world.log, &at,
                    "1 disconnected: the server has disconnected this client, code 7: no such map");
    assert_int_equal(world.log.count, at);
    close_world(&world, schema);
}

/* As with a backend's token. */
static void another_schema_is_refused(void **state)
{
    (void)state;
    struct world world;
    struct cw_schema *schema = open_world(&world);
    struct cw_client_host_config client = cw_client_host_config_default();
    client.client.fingerprint = 5;
    cw_client_host_close(world.client);
    assert_int_equal(cw_client_host_open(&client, &world.client), CW_OK);
    char address[CW_ADDRESS_TEXT_SIZE];
    cw_address_format(cw_host_address(world.server), address);
    assert_int_equal(cw_client_host_connect_insecure(world.client, address, RIG_PROTOCOL, 77),
                     CW_OK);
    await_client(&world, CW_CLIENT_EVENT_DISCONNECTED);
    assert_int_equal(cw_client_state(cw_client_host_client(world.client)), CW_CLIENT_SCHEMA);
    close_world(&world, schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_servers_refuse_such_tokens),
        cmocka_unit_test(an_insecure_server_takes_them_and_no_others),
        cmocka_unit_test(it_takes_them_as_soon_as_it_is_there),
        cmocka_unit_test(a_client_host_needs_only_the_address),
        cmocka_unit_test(a_client_host_logs_what_it_does),
        cmocka_unit_test(another_schema_is_refused),
    };
    return cmocka_run_group_tests_name("insecure", tests, NULL, NULL);
}
