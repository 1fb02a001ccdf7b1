/* Clients and a server whose payloads are messages, over paths that lose, repeat and reorder. */
#include "causeway/simulator.h"
#include "secure_message_rig.h"

#include <pthread.h>

#define CLIENTS 3
struct path {
    struct cw_simulator *up, *down;
};

/* One tick of everybody over the paths. */
static void tick(struct message_rig *messages, struct cw_client **clients, struct path *paths)
{
    struct rig *rig = &messages->rig;
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    while ((size = cw_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to)) > 0)
        cw_simulator_receive(paths[to.port - 1000].down, datagram, size, rig->now);
    for (uint32_t n = 0; n < CLIENTS; n++) {
        const struct cw_address at = rig_client_address(n);
        cw_client_update(clients[n], rig->now);
        while ((size = cw_client_transmit(clients[n], datagram, sizeof(datagram), rig->now, NULL)) >
               0) {
            assert_true(size <= 1100);
            cw_simulator_receive(paths[n].up, datagram, size, rig->now);
        }
        while ((size = cw_simulator_transmit(paths[n].up, datagram, sizeof(datagram), rig->now)) >
               0)
            rig_give(rig, &at, datagram, size);
        while ((size = cw_simulator_transmit(paths[n].down, datagram, sizeof(datagram), rig->now)) >
               0)
            cw_client_receive(clients[n], &rig->address, datagram, size, rig->now);
    }
}

TEST(messages_cross_bad_paths)
{
    enum { TICKS = 1200, DRAIN = 300 };
    struct message_rig messages;
    message_rig_start(&messages, 8);
    struct cw_client *clients[CLIENTS];
    struct path paths[CLIENTS];
    uint32_t up_next[CLIENTS] = {0}, down_next[CLIENTS] = {0}, up_sent[CLIENTS] = {0},
             down_sent[CLIENTS] = {0}, loose[CLIENTS] = {0};
    uint32_t slots[CLIENTS] = {0};
    bool connected[CLIENTS] = {false};
    struct cw_simulator_config config = cw_simulator_config_default();
    config.path.latency_seconds = 0.03;
    config.path.jitter_seconds = 0.02;
    config.path.loss = 0.05;
    config.path.duplicate = 0.05;
    config.path.reorder = 0.05;
    config.path.reorder_delay_seconds = 0.05;
    for (uint32_t n = 0; n < CLIENTS; n++) {
        clients[n] = message_rig_client(&messages, n, &messages.connection);
        config.seed = 100 + n;
        paths[n].up = simulator_with(&config);
        config.seed = 200 + n;
        paths[n].down = simulator_with(&config);
    }
    for (int i = 0; i < TICKS + DRAIN; i++) {
        tick(&messages, clients, paths);
        struct cw_server_event up;
        while (cw_server_next(messages.rig.server, &up)) {
            assert_int_not_equal(up.type, CW_SERVER_EVENT_DISCONNECTED);
            if (up.type == CW_SERVER_EVENT_CONNECTED) {
                struct cw_server_client_info about;
                assert_true(cw_server_client(messages.rig.server, up.client, &about));
                slots[about.id] = up.client;
                connected[about.id] = true;
                continue;
            }
            const struct note note = take_note(up.message);
            assert_int_equal(slots[note.from], up.client);
            if (up.channel == RELIABLE)
                assert_int_equal(note.number, up_next[note.from]++);
            else
                loose[note.from]++;
        }
        for (uint32_t n = 0; n < CLIENTS; n++) {
            struct cw_client_event down;
            while (cw_client_next(clients[n], &down)) {
                assert_int_not_equal(down.type, CW_CLIENT_EVENT_DISCONNECTED);
                if (down.type != CW_CLIENT_EVENT_MESSAGE)
                    continue;
                const struct note note = take_note(down.message);
                assert_int_equal(note.from, (int)n);
                assert_int_equal(down.channel, RELIABLE);
                assert_int_equal(note.number, down_next[n]++);
            }
            if (i >= TICKS)
                continue;
            if (cw_client_state(clients[n]) == CW_CLIENT_CONNECTED) {
                send_note(cw_client_connection(clients[n]), RELIABLE, up_sent[n]++, (int32_t)n,
                          messages.rig.now);
                send_note(cw_client_connection(clients[n]), UNRELIABLE, 7, (int32_t)n,
                          messages.rig.now);
            }
            if (connected[n])
                send_note(cw_server_connection(messages.rig.server, slots[n]), RELIABLE,
                          down_sent[n]++, (int32_t)n, messages.rig.now);
        }
    }
    for (uint32_t n = 0; n < CLIENTS; n++) {
        assert_true(up_sent[n] > TICKS - 120);
        assert_int_equal(up_next[n], up_sent[n]);
        assert_int_equal(down_next[n], down_sent[n]);
        assert_in_range(loose[n], up_sent[n] * 85 / 100, up_sent[n]);
        struct cw_connection_stats stats;
        cw_connection_get_stats(cw_client_connection(clients[n]), &stats);
        assert_true(stats.endpoint.rtt > 0.06 && stats.endpoint.rtt < 0.2);
    }
}

static void *run_a_world(void *unused)
{
    messages_cross_bad_paths(NULL);
    fixture_release(NULL);
    return unused;
}

/* Instances share nothing, as a build of this program under ThreadSanitizer sees. */
TEST(two_worlds_run_in_two_threads)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_a_world, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST(messages_come_before_the_farewell)
{
    struct message_rig messages;
    message_rig_start(&messages, 2);
    const struct cw_address at = rig_client_address(0);
    for (int by_server = 0; by_server < 2; by_server++) {
        struct cw_client *client =
            message_rig_client(&messages, 10 + (uint64_t)by_server, &messages.connection);
        const uint32_t slot = rig_connect(&messages.rig, client, &at);
        cw_server_set_user(messages.rig.server, slot, &messages);
        for (uint32_t i = 0; i < 3; i++) {
            send_note(cw_client_connection(client), RELIABLE, i, 0, messages.rig.now);
            send_note(cw_server_connection(messages.rig.server, slot), RELIABLE, i, 0,
                      messages.rig.now);
        }
        rig_tick(&messages.rig, client, &at);
        if (by_server)
            cw_server_disconnect(messages.rig.server, slot, 0, NULL);
        else
            cw_client_disconnect(client);
        rig_exchange(&messages.rig, client, &at);
        struct cw_server_event up;
        struct cw_client_event down;
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(cw_server_next(messages.rig.server, &up));
            assert_int_equal(up.type, CW_SERVER_EVENT_MESSAGE);
            assert_ptr_equal(up.user, &messages);
            assert_int_equal(take_note(up.message).number, i);
            assert_true(cw_client_next(client, &down));
            assert_int_equal(down.type, CW_CLIENT_EVENT_MESSAGE);
            assert_int_equal(take_note(down.message).number, i);
        }
        assert_true(cw_server_next(messages.rig.server, &up));
        assert_int_equal(up.type, CW_SERVER_EVENT_DISCONNECTED);
        assert_false(cw_server_next(messages.rig.server, &up));
        assert_true(cw_client_next(client, &down));
        assert_int_equal(down.type, CW_CLIENT_EVENT_DISCONNECTED);
        assert_false(cw_client_next(client, &down));
    }
}

/* Bug 7: what the old client of a slot had sent, or was to be sent, is gone with him. */
TEST(slots_begin_anew)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    assert_int_equal(rig_connect(&messages.rig, client, &at), 0);
    for (int i = 0; i < 100; i++) {
        send_note(cw_client_connection(client), RELIABLE, 1, 0, messages.rig.now);
        rig_tick(&messages.rig, client, &at);
    }
    for (int i = 0; i < 10; i++)
        send_note(cw_server_connection(messages.rig.server, 0), RELIABLE, 1, 0, messages.rig.now);
    /* One message is still held when its slot is given to the next. */
    struct cw_server_event event;
    assert_true(cw_server_next(messages.rig.server, &event));
    struct cw_message *kept = event.message;
    cw_client_disconnect(client);
    rig_up(&messages.rig, client, &at);
    while (cw_server_next(messages.rig.server, &event))
        if (event.type == CW_SERVER_EVENT_MESSAGE)
            cw_message_release(event.message);
    assert_null(cw_server_connection(messages.rig.server, 0));

    client = message_rig_client(&messages, 2, &messages.connection);
    assert_int_equal(rig_connect(&messages.rig, client, &at), 0);
    for (int i = 0; i < 30; i++)
        rig_tick(&messages.rig, client, &at);
    struct cw_client_event down;
    assert_false(cw_client_next(client, &down));
    assert_false(cw_server_next(messages.rig.server, &event));
    struct cw_connection_stats stats, of_client;
    cw_connection_get_stats(cw_server_connection(messages.rig.server, 0), &stats);
    cw_connection_get_stats(cw_client_connection(client), &of_client);
    assert_in_range(of_client.endpoint.packets_sent, 5, 40);
    assert_int_equal(stats.endpoint.packets_received, of_client.endpoint.packets_sent);
    assert_int_equal(stats.messages_in_use, 1);
    assert_int_equal(((const struct note *)kept->data)->number, 1);
    cw_message_release(kept);
}

/* The same client object with a second token. */
TEST(clients_begin_anew)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    rig_connect(&messages.rig, client, &at);
    for (int i = 0; i < 100; i++)
        rig_tick(&messages.rig, client, &at);
    for (int i = 0; i < 10; i++)
        send_note(cw_client_connection(client), RELIABLE, 1, 0, messages.rig.now);
    cw_client_disconnect(client);
    rig_up(&messages.rig, client, &at);
    struct cw_server_event event;
    while (cw_server_next(messages.rig.server, &event))
        assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&messages.rig, token, 2);
    assert_ok(cw_client_connect(client, token, sizeof(token), messages.rig.now));
    rig_connect(&messages.rig, client, &at);
    struct cw_connection_stats stats;
    cw_connection_get_stats(cw_client_connection(client), &stats);
    assert_in_range(stats.endpoint.packets_sent, 0, 3);
    for (int i = 0; i < 30; i++)
        rig_tick(&messages.rig, client, &at);
    assert_false(cw_server_next(messages.rig.server, &event));
}

/* A connection that has ended does not send what it had still to send. */
TEST(nothing_follows_the_end)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    const uint32_t slot = rig_connect(rig, client, &at);
    send_note(cw_client_connection(client), RELIABLE, 1, 0, rig->now);
    rig->now += 1.0 / 60;
    cw_client_update(client, rig->now);
    cw_server_disconnect(rig->server, slot, 0, NULL);
    rig_down(rig, client, &at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_KICKED);
    assert_int_equal(rig_up(rig, client, &at), 0);
}

static enum cw_error try_note(struct cw_connection *connection, uint32_t channel, double now)
{
    struct cw_message *message;
    assert_ok(cw_connection_create_message(connection, 0, &message));
    const enum cw_error error = cw_connection_send(connection, channel, message, now);
    if (error != CW_OK)
        cw_message_release(message);
    return error;
}

static void expect_sends(struct cw_connection *connection, enum cw_error error, double now)
{
    assert_int_equal(try_note(connection, RELIABLE, now), error);
    assert_int_equal(try_note(connection, UNRELIABLE, now), error);
}

/* A connection ends as the server is told, and this is done for it. */
static void leave(struct message_rig *messages, struct cw_client *client,
                  enum cw_disconnect_reason how)
{
    const struct cw_address at = rig_client_address(0);
    if (how == CW_DISCONNECT_BY_CLIENT) {
        cw_client_disconnect(client);
        rig_up(&messages->rig, client, &at);
    } else if (how == CW_DISCONNECT_BY_SERVER) {
        cw_server_disconnect(messages->rig.server, 0, 0, NULL);
        rig_down(&messages->rig, client, &at);
    } else {
        messages->rig.now += 60;
        cw_client_update(client, messages->rig.now);
        cw_server_update(messages->rig.server, messages->rig.now);
    }
}

/* Nobody at the other end, nothing to be sent: before, between and after, and whether or not the
   application has been told. */
TEST(sending_needs_the_other_end)
{
    const struct cw_address at = rig_client_address(0);
    for (int how = CW_DISCONNECT_BY_CLIENT; how <= CW_DISCONNECT_TIMED_OUT; how++) {
        struct message_rig messages;
        message_rig_start(&messages, 1);
        struct rig *rig = &messages.rig;
        struct cw_client_config config = cw_client_config_default();
        config.connection = &messages.connection;
        struct cw_client *client = client_with(&config);
        struct cw_connection *up = cw_client_connection(client);
        expect_sends(up, CW_ERROR_NOT_CONNECTED, rig->now);
        for (uint64_t id = 1; id <= 2; id++) {
            uint8_t token[CW_TOKEN_SIZE];
            rig_token(rig, token, id);
            assert_ok(cw_client_connect(client, token, sizeof(token), rig->now));
            expect_sends(up, CW_ERROR_NOT_CONNECTED, rig->now);
            const uint32_t slot = rig_connect(rig, client, &at);
            struct cw_connection *down = cw_server_connection(rig->server, slot);
            expect_sends(up, CW_OK, rig->now);
            expect_sends(down, CW_OK, rig->now);
            leave(&messages, client, (enum cw_disconnect_reason)how);
            expect_sends(up, CW_ERROR_NOT_CONNECTED, rig->now);
            expect_sends(down, CW_ERROR_NOT_CONNECTED, rig->now);
            struct cw_server_event event;
            assert_true(cw_server_next(rig->server, &event));
            assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
            expect_sends(down, CW_ERROR_NOT_CONNECTED, rig->now);
            rig_down(rig, NULL, NULL);
            assert_null(cw_server_connection(rig->server, slot));
            expect_sends(down, CW_ERROR_NOT_CONNECTED, rig->now);
            struct cw_client_event own;
            assert_true(cw_client_next(client, &own));
            assert_int_equal(own.type, CW_CLIENT_EVENT_DISCONNECTED);
            rig_up(rig, client, &at);
        }
    }
}

/* A client is told before its messages are. */
TEST(connected_comes_first)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    for (int i = 0; i < 10; i++) {
        if (cw_client_state(client) == CW_CLIENT_CONNECTED)
            send_note(cw_client_connection(client), RELIABLE, 1, 0, messages.rig.now);
        rig_tick(&messages.rig, client, &at);
    }
    struct cw_server_event event;
    assert_true(cw_server_next(messages.rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    assert_true(cw_server_next(messages.rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_MESSAGE);
    cw_message_release(event.message);
    while (cw_server_next(messages.rig.server, &event))
        cw_message_release(event.message);
}

/* Until something came from the client, each payload has a keep-alive before it. */
TEST(unconfirmed_clients_are_introduced)
{
    struct message_rig messages;
    message_rig_start(&messages, 2);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    rig_challenge(rig, client, &at);
    rig_up(rig, client, &at);
    rig_down(rig, NULL, NULL);
    int payloads = 0;
    for (int i = 0; i < 10; i++) {
        uint8_t datagram[CW_SECURE_MAX], last = 0;
        struct cw_address to;
        size_t size;
        rig->now += 1.0 / 60;
        for (int k = 0; k < 100; k++)
            send_note(cw_server_connection(rig->server, 0), UNRELIABLE, 1, 0, rig->now);
        cw_server_update(rig->server, rig->now);
        while ((size = cw_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to)) >
               0) {
            if ((datagram[0] & 15) == CW_SECURE_PAYLOAD) {
                assert_true(last == CW_SECURE_KEEP_ALIVE || (i > 0 && last == 0));
                payloads++;
            }
            last = datagram[0] & 15;
        }
    }
    assert_true(payloads >= 10);
}

/* A client that is connected and says nothing still has its acks and is still there. */
TEST(silence_keeps_the_connection)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    rig_connect(&messages.rig, client, &at);
    for (int i = 0; i < 60 * 20; i++)
        rig_tick(&messages.rig, client, &at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    struct cw_server_event event;
    assert_false(cw_server_next(messages.rig.server, &event));
}

/* The packets of the connection take the place of keep-alives. */
TEST(no_keep_alives_beside_packets)
{
    struct message_rig messages;
    message_rig_start(&messages, 1);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    rig_connect(&messages.rig, client, &at);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, client, &at);
    for (int i = 0; i < 10; i++) {
        rig->now += 0.2;
        cw_server_update(rig->server, rig->now);
        cw_client_update(client, rig->now);
        assert_int_equal(rig_up(rig, client, &at), 1);
        assert_int_equal(rig_down(rig, client, &at), 1);
    }
}

/* An idle end sends ten packets a second, no keep-alive beside them. Where the connection is silent
   for longer, there are keep-alives instead, and nobody times out. */
TEST(idle_ends_send_little)
{
    static const double intervals[] = {0.1, 10};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        struct message_rig messages;
        message_rig_start(&messages, 1);
        messages.connection.idle_interval_seconds = intervals[i];
        rig_start(&messages.rig);
        struct rig *rig = &messages.rig;
        const struct cw_address at = rig_client_address(0);
        struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
        rig_connect(rig, client, &at);
        for (int j = 0; j < 120; j++)
            rig_tick(rig, client, &at);
        struct cw_connection_stats before, after;
        cw_connection_get_stats(cw_client_connection(client), &before);
        int up = 0, down = 0;
        for (int j = 0; j < 60 * 20; j++) {
            rig->now += 1.0 / 60;
            cw_server_update(rig->server, rig->now);
            cw_client_update(client, rig->now);
            up += rig_up(rig, client, &at);
            down += rig_down(rig, client, &at);
        }
        cw_connection_get_stats(cw_client_connection(client), &after);
        const int of_connection = (int)(after.endpoint.packets_sent - before.endpoint.packets_sent);
        assert_in_range(up, 20 * 8, 20 * 10 + 2);
        assert_in_range(down, 20 * 8, 20 * 10 + 2);
        assert_int_equal(of_connection, intervals[i] < 1 ? up : 2);
        assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    }
}
