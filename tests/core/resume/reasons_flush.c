/* A server that ends a connection only when its last words have arrived. */
#include "secure_message_rig.h"

struct pair {
    struct message_rig messages;
    struct cw_client *client;
    struct cw_address at;
};

static void begin(struct pair *pair)
{
    message_rig_start(&pair->messages, 2);
    pair->at = rig_client_address(1);
    pair->client = message_rig_client(&pair->messages, 1, &pair->messages.connection);
    assert_int_equal(rig_connect(&pair->messages.rig, pair->client, &pair->at), 0);
}

static struct cw_connection *at_server(struct pair *pair)
{
    return cw_server_connection(pair->messages.rig.server, 0);
}

/* A tick in which every other datagram from the server is lost. */
static void lossy_tick(struct pair *pair)
{
    struct rig *rig = &pair->messages.rig;
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    cw_client_update(pair->client, rig->now);
    rig_up(rig, pair->client, &pair->at);
    for (int i = (int)(rig->now * 60);
         (size = cw_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to)) > 0;
         i++)
        if (i % 2 == 0)
            cw_client_receive(pair->client, &rig->address, datagram, size, rig->now);
}

/* Takes notes up to the end, which must have come by then. Returns how many. */
static uint32_t take_all(struct cw_client *client, enum cw_client_state state)
{
    struct cw_client_event event;
    uint32_t notes = 0;
    while (cw_client_next(client, &event) && event.type == CW_CLIENT_EVENT_MESSAGE)
        assert_int_equal(take_note(event.message).number, notes++);
    assert_int_equal(event.type, CW_CLIENT_EVENT_DISCONNECTED);
    assert_int_equal(event.state, state);
    return notes;
}

TEST(the_last_words_arrive_before_the_end)
{
    for (int flush = 0; flush < 2; flush++) {
        struct pair pair;
        begin(&pair);
        struct rig *rig = &pair.messages.rig;
        for (uint32_t i = 0; i < 100; i++)
            send_note(at_server(&pair), RELIABLE, i, 0, rig->now);
        if (flush)
            cw_server_flush_and_disconnect(rig->server, 0, 7, "that was it", 60, rig->now);
        else
            cw_server_disconnect(rig->server, 0, 7, "that was it");
        while (cw_client_state(pair.client) == CW_CLIENT_CONNECTED)
            lossy_tick(&pair);
        assert_int_equal(take_all(pair.client, CW_CLIENT_KICKED), flush ? 100 : 0);
    }
}

TEST(unreliable_messages_and_payloads_are_sent_once)
{
    struct pair pair;
    begin(&pair);
    struct rig *rig = &pair.messages.rig;
    send_note(at_server(&pair), UNRELIABLE, 0, 0, rig->now);
    cw_server_flush_and_disconnect(rig->server, 0, 7, NULL, 60, rig->now);
    for (int i = 0; i < 2; i++)
        rig_tick(rig, pair.client, &pair.at);
    assert_int_equal(take_all(pair.client, CW_CLIENT_KICKED), 1);
}

/* To one who acks nothing. */
TEST(it_takes_no_longer_than_allowed)
{
    static const double allowed[] = {-1, 0, 0.5, 3};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        struct pair pair;
        begin(&pair);
        struct rig *rig = &pair.messages.rig;
        const double start = rig->now;
        send_note(at_server(&pair), RELIABLE, 0, 0, rig->now);
        cw_server_flush_and_disconnect(rig->server, 0, 7, NULL, allowed[i], start);
        while (rig_stats(rig).clients > 0) {
            assert_true(rig->now - start < allowed[i]);
            rig->now += 0.25;
            cw_server_update(rig->server, rig->now);
            rig_down(rig, NULL, NULL);
        }
        assert_true(rig->now - start >= allowed[i]);
    }
}

TEST(nothing_more_is_sent)
{
    struct pair pair;
    begin(&pair);
    struct rig *rig = &pair.messages.rig;
    struct cw_message *message;
    send_note(at_server(&pair), RELIABLE, 0, 0, rig->now);
    cw_server_flush_and_disconnect(rig->server, 0, 7, NULL, 60, rig->now);
    assert_ok(cw_connection_create_message(at_server(&pair), 0, &message));
    assert_int_equal(cw_connection_send(at_server(&pair), RELIABLE, message, rig->now),
                     CW_ERROR_NOT_CONNECTED);
    cw_message_release(message);
    assert_ok(cw_server_create_message(rig->server, 0, &message));
    assert_ok(cw_server_broadcast(rig->server, RELIABLE, message, CW_SERVER_NOBODY, rig->now));
    assert_false(cw_server_broadcast_refused(rig->server, 0));

    /* The server still hears the client, and a second call ends it at once. */
    send_note(cw_client_connection(pair.client), RELIABLE, 5, 0, rig->now);
    cw_client_update(pair.client, rig->now);
    rig_up(rig, pair.client, &pair.at);
    struct cw_server_event event;
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_MESSAGE);
    cw_message_release(event.message);
    cw_server_disconnect_all(rig->server);
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_STOPPING);
    rig_down(rig, pair.client, &pair.at);
    assert_int_equal(cw_client_state(pair.client), CW_CLIENT_STOPPING);
}

/* The slot's next owner is not affected. */
TEST(the_next_owner_can_be_sent_to)
{
    struct pair pair;
    begin(&pair);
    struct rig *rig = &pair.messages.rig;
    cw_server_flush_and_disconnect(rig->server, 0, 7, NULL, 60, rig->now); /* nothing to wait for */
    assert_int_equal(rig_stats(rig).clients, 0);
    rig_down(rig, pair.client, &pair.at);
    struct cw_server_event gone;
    assert_true(cw_server_next(rig->server, &gone));
    pair.client = message_rig_client(&pair.messages, 1, &pair.messages.connection);
    assert_int_equal(rig_connect(rig, pair.client, &pair.at), 0);
    send_note(at_server(&pair), RELIABLE, 0, 0, rig->now);
    for (int i = 0; i < 4; i++)
        rig_tick(rig, pair.client, &pair.at);
    cw_server_disconnect(rig->server, 0, 0, NULL);
    rig_down(rig, pair.client, &pair.at);
    assert_int_equal(take_all(pair.client, CW_CLIENT_KICKED), 1);
}
