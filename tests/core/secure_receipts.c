/* The events of client and server that tell what became of a message sent with a receipt. */
#include "secure_rig.h"

#define NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_MESSAGE(note, NOTE_FIELDS)

enum { RELIABLE, UNRELIABLE };

struct world {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_client *client;
    struct cw_address at;
};

static void open_world(struct world *world)
{
    const struct cw_schema_config schema = {.types = &note_type, .count = 1};
    assert_int_equal(cw_schema_create(&world->schema, &schema), CW_OK);
    world->connection = cw_connection_config_default(world->schema);
    rig_init(&world->rig);
    world->rig.config.connection = &world->connection;
    rig_start(&world->rig);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world->connection;
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&world->rig, token, 1);
    assert_int_equal(cw_client_create(&world->client, &config), CW_OK);
    assert_int_equal(cw_client_connect(world->client, token, sizeof(token), world->rig.now), CW_OK);
    world->at = rig_client_address(0);
    assert_int_equal(rig_connect(&world->rig, world->client, &world->at), 0);
}

static void close_world(struct world *world)
{
    cw_client_destroy(world->client);
    rig_stop(&world->rig);
    cw_schema_destroy(world->schema);
}

static void ask(struct cw_connection *from, uint32_t channel, uint32_t receipt, double now)
{
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(from, 0, &message), CW_OK);
    message->receipt = receipt;
    assert_int_equal(cw_connection_send(from, channel, message, now), CW_OK);
}

/* A tick whose datagrams all are lost. */
static void tick_in_the_dark(struct world *world)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    struct rig *rig = &world->rig;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    cw_client_update(world->client, rig->now);
    while (cw_client_transmit(world->client, NULL, datagram, sizeof(datagram), rig->now) > 0)
        ;
    while (cw_server_transmit(rig->server, &to, datagram, sizeof(datagram), rig->now) > 0)
        ;
}

struct told {
    uint32_t messages, acked, lost; /* bits of the receipts */
};

static struct told told_by_client(struct world *world)
{
    struct told told = {0};
    struct cw_client_event event;
    while (cw_client_next(world->client, &event)) {
        assert_int_not_equal(event.type, CW_CLIENT_EVENT_DISCONNECTED);
        if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            told.messages++;
            cw_message_release(event.message);
            continue;
        }
        assert_null(event.message);
        *(event.type == CW_CLIENT_EVENT_ACKED ? &told.acked : &told.lost) |= 1u << event.receipt;
    }
    return told;
}

static struct told told_by_server(struct world *world)
{
    struct told told = {0};
    struct cw_server_event event;
    while (cw_server_next(world->rig.server, &event)) {
        assert_int_equal(event.client, 0);
        if (event.type == CW_SERVER_EVENT_MESSAGE) {
            told.messages++;
            cw_message_release(event.message);
            continue;
        }
        assert_null(event.message);
        *(event.type == CW_SERVER_EVENT_ACKED ? &told.acked : &told.lost) |= 1u << event.receipt;
    }
    return told;
}

static void both_ends_are_told_what_arrived(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    struct rig *rig = &world.rig;
    ask(cw_client_connection(world.client), RELIABLE, 1, rig->now);
    ask(cw_client_connection(world.client), UNRELIABLE, 2, rig->now);
    ask(cw_server_connection(rig->server, 0), RELIABLE, 3, rig->now);
    ask(cw_server_connection(rig->server, 0), UNRELIABLE, 4, rig->now);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, world.client, &world.at);
    const struct told client = told_by_client(&world), server = told_by_server(&world);
    assert_int_equal(client.messages, 2);
    assert_int_equal(client.acked, 1u << 1 | 1u << 2);
    assert_int_equal(client.lost, 0);
    assert_int_equal(server.messages, 2);
    assert_int_equal(server.acked, 1u << 3 | 1u << 4);
    assert_int_equal(server.lost, 0);
    close_world(&world);
}

/* Without a datagram of the other end: by the time that passed. */
static void both_ends_are_told_what_was_lost(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    rig_no_event(&world.rig);
    ask(cw_client_connection(world.client), UNRELIABLE, 1, world.rig.now);
    ask(cw_server_connection(world.rig.server, 0), UNRELIABLE, 2, world.rig.now);
    for (int i = 0; i < 90; i++)
        tick_in_the_dark(&world);
    const struct told client = told_by_client(&world), server = told_by_server(&world);
    assert_int_equal(client.lost, 1u << 1);
    assert_int_equal(server.lost, 1u << 2);
    assert_int_equal(client.acked | server.acked, 0);
    close_world(&world);
}

static void news_comes_before_the_end(void **state)
{
    (void)state;
    struct world world;
    open_world(&world);
    struct rig *rig = &world.rig;
    ask(cw_server_connection(rig->server, 0), RELIABLE, 5, rig->now);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, world.client, &world.at);
    cw_client_disconnect(world.client);
    rig_up(rig, world.client, &world.at);
    struct cw_server_event event;
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_ACKED);
    assert_int_equal(event.receipt, 5);
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    struct cw_client_event own;
    assert_true(cw_client_next(world.client, &own));
    assert_int_equal(own.type, CW_CLIENT_EVENT_MESSAGE);
    cw_message_release(own.message);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_are_told_what_arrived),
        cmocka_unit_test(both_ends_are_told_what_was_lost),
        cmocka_unit_test(news_comes_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
