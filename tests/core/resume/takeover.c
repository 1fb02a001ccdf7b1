/* A client that connects anew with a newer token gets the slot of its old session, whose client is
   told; or, where the server is configured so, it is refused and told. */
#include "secure_rig.h"

#include "causeway/simulator.h"

/* A client of this id with a token made now, which is newer than those of the seconds before. */
static struct cw_netcode_client *newer_client(struct rig *rig, uint64_t id)
{
    rig->now += 1;
    cw_netcode_server_update(rig->server, rig->now);
    return rig_client(rig, id);
}

static void expect_event(struct rig *rig, enum cw_netcode_server_event_type type, uint32_t client)
{
    struct cw_netcode_server_event event;
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.client, client);
    if (type == CW_NETCODE_SERVER_EVENT_DISCONNECTED)
        assert_int_equal(event.reason, CW_DISCONNECT_REPLACED);
}

/* Ticks of two clients at their addresses. The events are taken when the clients have sent. */
static void tick_two(struct rig *rig, struct cw_netcode_client *const clients[2],
                     const struct cw_address at[2])
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    for (int n = 0; n < 2; n++) {
        cw_netcode_client_update(clients[n], rig->now);
        rig_up(rig, clients[n], &at[n]);
    }
    cw_netcode_server_update(rig->server, rig->now);
    while ((size = cw_netcode_server_transmit(rig->server, datagram, sizeof datagram, rig->now,
                                              &to)) > 0)
        for (int n = 0; n < 2; n++)
            if (cw_address_equal(&to, &at[n]))
                cw_netcode_client_receive(clients[n], NULL, datagram, size, rig->now);
}

/* On a server with other clients and on a full one, from another address and from the same. */
TEST(the_newer_session_wins)
{
    for (int round = 0; round < 4; round++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.max_clients = round < 2 ? 2 : 1;
        rig_start(&rig);
        const struct cw_address at[2] = {rig_client_address(1),
                                         rig_client_address(round % 2 ? 1 : 2)};
        struct cw_netcode_client *clients[2] = {rig_client(&rig, 7)};
        assert_int_equal(rig_connect(&rig, clients[0], &at[0]), 0);
        clients[1] = newer_client(&rig, 7);
        rig_exchange(&rig, clients[1], &at[1]);
        assert_int_equal(cw_netcode_client_state(clients[0]), CW_CLIENT_CONNECTED);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_SENDING_RESPONSE);
        rig_up(&rig, clients[1], &at[1]);
        /* The slot is the old one's until the application has taken its end. */
        struct cw_server_client_info about;
        assert_true(cw_netcode_server_client(rig.server, 0, &about));
        assert_true(cw_address_equal(&about.address, &at[0]));
        tick_two(&rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[0]), CW_CLIENT_REPLACED);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_SENDING_RESPONSE);
        expect_event(&rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        rig_no_event(&rig);
        assert_false(cw_netcode_server_client(rig.server, 0, &about));
        tick_two(&rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_CONNECTED);
        expect_event(&rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
        assert_true(cw_netcode_server_client(rig.server, 0, &about));
        assert_int_equal(about.id, 7);
        assert_true(cw_address_equal(&about.address, &at[1]));
        assert_int_equal(cw_netcode_client_index(clients[1]), 0);
        for (int i = 0; i < 600; i++)
            tick_two(&rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_CONNECTED);
        rig_no_event(&rig);
        assert_int_equal(rig_stats(&rig).clients, 1);
        assert_int_equal(rig_stats(&rig).takeovers, 1);
        assert_int_equal(rig_stats(&rig).pending, 0);
    }
}

/* Again and again at loss, each way: the newest session always wins, within its time. */
TEST(takeover_at_loss)
{
    for (int loss = 0; loss <= 50; loss += 10) {
        struct rig rig;
        rig_init(&rig);
        rig.seed = (uint64_t)loss + 1;
        rig.config.max_clients = 1;
        rig_start(&rig);
        struct cw_simulator *up, *down;
        struct cw_simulator_config config = cw_simulator_config_default();
        config.path = (struct cw_simulator_path){.latency_seconds = 0.04, .loss = loss / 100.0};
        config.seed = rig.seed;
        up = simulator_with(&config);
        config.seed++;
        down = simulator_with(&config);
        double longest = 0;
        for (uint32_t session = 1; session <= 20; session++) {
            struct cw_netcode_client *client = newer_client(&rig, 7);
            const struct cw_address at = rig_client_address(session);
            const double start = rig.now;
            while (cw_netcode_client_state(client) != CW_CLIENT_CONNECTED && rig.now < start + 10) {
                uint8_t datagram[CW_SECURE_MAX];
                struct cw_address to;
                size_t size;
                rig.now += 1.0 / 60;
                while ((size = cw_simulator_transmit(down, datagram, sizeof datagram, rig.now)) > 0)
                    cw_netcode_client_receive(client, NULL, datagram, size, rig.now);
                cw_netcode_client_update(client, rig.now);
                while ((size = cw_netcode_client_transmit(client, datagram, sizeof datagram,
                                                          rig.now, NULL)) > 0)
                    cw_simulator_receive(up, datagram, size, rig.now);
                while ((size = cw_simulator_transmit(up, datagram, sizeof datagram, rig.now)) > 0)
                    cw_netcode_server_receive(rig.server, &at, datagram, size, rig.now);
                rig_drain(&rig, NULL);
                cw_netcode_server_update(rig.server, rig.now);
                while ((size = cw_netcode_server_transmit(rig.server, datagram, sizeof datagram,
                                                          rig.now, &to)) > 0)
                    if (cw_address_equal(&to, &at))
                        cw_simulator_receive(down, datagram, size, rig.now);
            }
            assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
            if (rig.now - start > longest)
                longest = rig.now - start;
        }
        printf("%d %% loss: at most %.2f s\n", loss, longest);
        assert_true(longest < (loss == 0 ? 0.3 : 5));
        assert_int_equal(rig_stats(&rig).takeovers, 19);
    }
}

/* A token that expires earlier replaces nobody and gets no answer, however fresh it is. */
TEST(no_older_token)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), elsewhere = rig_client_address(2);
    struct cw_netcode_client *client = newer_client(rig, 7);
    rig_connect(rig, client, &at);
    rig_down(rig, client, &at);
    struct cw_token_grant grant = rig_grant(rig, 7);
    grant.create_time--;
    assert_int_equal(rig_give_grant(rig, &elsewhere, &grant, rig_key), CW_ERROR_CONNECTED);
    /* The create time is not authentic, and does not count. */
    grant.create_time += 10;
    grant.life_seconds -= 10;
    assert_int_equal(rig_give_grant(rig, &elsewhere, &grant, rig_key), CW_ERROR_CONNECTED);
    assert_true(rig_silent(rig));
    grant.life_seconds++;
    assert_ok(rig_give_grant(rig, &elsewhere, &grant, rig_key));
}

/* A page that is loaded again at once: the backend makes its tokens in one second, and nothing that
   can be trusted tells which was first. The last to come wins, and each of them once. */
TEST(tokens_of_one_second)
{
    enum { SESSIONS = 4 };
    struct rig *rig = rig_open();
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    uint8_t tokens[SESSIONS][CW_TOKEN_SIZE];
    struct cw_address at[SESSIONS];
    struct cw_netcode_client *clients[SESSIONS];
    for (uint32_t i = 0; i < SESSIONS; i++) {
        at[i] = rig_client_address(i);
        rig_token(rig, tokens[i], 7);
        clients[i] = rig_client_with(rig, &config, tokens[i]);
    }
    rig_connect(rig, clients[0], &at[0]);
    for (uint32_t i = 1; i < SESSIONS; i++) {
        rig_challenge(rig, clients[i], &at[i]);
        tick_two(rig, &clients[i - 1], &at[i - 1]);
        assert_int_equal(cw_netcode_client_state(clients[i - 1]), CW_CLIENT_REPLACED);
        expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        tick_two(rig, &clients[i - 1], &at[i - 1]);
        assert_int_equal(cw_netcode_client_state(clients[i]), CW_CLIENT_CONNECTED);
        expect_event(rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
        for (uint32_t old = 0; old < i; old++)
            assert_int_equal(rig_give_token(rig, &at[old], tokens[old]), CW_ERROR_TOKEN_USED);
        assert_true(rig_silent(rig));
    }
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).takeovers, SESSIONS - 1);
}

/* Without the keys, or from an address where the challenge does not arrive, nobody is replaced. */
TEST(only_with_the_response)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), elsewhere = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(rig, 7);
    rig_connect(rig, client, &at);
    for (int i = 0; i < 30; i++) {
        rig->now += 1;
        rig_down(rig, client, &at);
        uint8_t token[CW_TOKEN_SIZE], junk[333] = {1 << 4 | CW_SECURE_RESPONSE};
        rig_token(rig, token, 7);
        assert_ok(rig_give_token(rig, &elsewhere, token));
        assert_int_equal(rig_down(rig, NULL, NULL), 1);
        assert_int_equal(rig_give(rig, &elsewhere, junk, sizeof junk), CW_ERROR_NOT_AUTHENTIC);
        cw_netcode_client_update(client, rig->now);
        rig_up(rig, client, &at);
        cw_netcode_server_update(rig->server, rig->now);
    }
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
    assert_int_equal(rig_stats(rig).takeovers, 0);
    rig_no_event(rig);
}

/* Newcomers ask a full server all the time; the slot that becomes free is not for them. */
TEST(nobody_else_gets_the_slot)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), there = rig_client_address(2),
                            late = rig_client_address(3);
    struct cw_netcode_client *newcomer = rig_client(&rig, 9);
    rig_challenge(&rig, newcomer, &late);
    struct cw_netcode_client *old = rig_client(&rig, 7);
    rig_connect(&rig, old, &at);
    struct cw_netcode_client *client = newer_client(&rig, 7);
    rig_challenge(&rig, client, &there);
    rig_up(&rig, client, &there);
    rig_down(&rig, NULL, NULL);
    expect_event(&rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
    uint8_t response[CW_SECURE_MAX];
    const size_t size =
        cw_netcode_client_transmit(newcomer, response, sizeof response, rig.now, NULL);
    assert_int_equal(rig_give(&rig, &late, response, size), CW_ERROR_SERVER_FULL);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&rig, token, 10);
    assert_int_equal(rig_give_token(&rig, &late, token), CW_ERROR_SERVER_FULL);
    rig_down(&rig, client, &there);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
}

/* The application takes no events until the new client has given up: then the slot is for others,
   once it is free. */
TEST(an_application_that_is_late)
{
    enum { NOT_TAKEN, NOT_TRANSMITTED, BOTH_BUT_NOT_AGAIN, CASES };
    for (int which = 0; which < CASES; which++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.max_clients = 1;
        rig_start(&rig);
        const struct cw_address at = rig_client_address(1), there = rig_client_address(2),
                                late = rig_client_address(3);
        struct cw_netcode_client *old = rig_client(&rig, 7);
        rig_connect(&rig, old, &at);
        struct cw_netcode_client *client = newer_client(&rig, 7);
        rig_challenge(&rig, client, &there);
        rig_up(&rig, client, &there);
        if (which != NOT_TRANSMITTED)
            rig_down(&rig, NULL, NULL);
        if (which != NOT_TAKEN)
            expect_event(&rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        rig.now += 6;
        cw_netcode_server_update(rig.server, rig.now);
        if (which == NOT_TAKEN)
            expect_event(&rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
        if (which == NOT_TRANSMITTED)
            rig_down(&rig, NULL, NULL);
        assert_true(rig_silent(&rig));
        assert_int_equal(rig_stats(&rig).pending, 0);
        assert_int_equal(rig_stats(&rig).clients, 0);
        struct cw_netcode_client *newcomer = rig_client(&rig, 9);
        assert_int_equal(rig_connect(&rig, newcomer, &late), 0);
    }
}

/* The response comes in the last moment and again, and then the application is late: the client
   waits for the slot and gets it, and no other. */
TEST(a_response_in_the_last_moment)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), there = rig_client_address(2);
    struct cw_netcode_client *old = rig_client(rig, 7);
    struct cw_token_grant grant = rig_grant(rig, 7);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    grant.create_time++;
    rig_connect(rig, old, &at);
    struct cw_netcode_client *client = rig_client_of(rig, &config, &grant);
    rig_challenge(rig, client, &there);
    rig->now += 4.8;
    uint8_t response[CW_SECURE_MAX];
    const size_t size =
        cw_netcode_client_transmit(client, response, sizeof response, rig->now, NULL);
    assert_ok(rig_give(rig, &there, response, size));
    for (int i = 0; i < 48; i++) {
        rig->now += 0.1;
        cw_netcode_server_update(rig->server, rig->now);
        rig_down(rig, NULL, NULL);
        assert_int_equal(rig_give(rig, &there, response, size), CW_ERROR_DUPLICATE);
    }
    expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
    rig_no_event(rig);
    rig_down(rig, client, &there);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
}

/* While the client waits for the slot, another one moves to its address: one slot per address. */
TEST(an_address_that_is_taken_meanwhile)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), there = rig_client_address(2),
                            elsewhere = rig_client_address(3);
    struct cw_netcode_client *old = rig_client(rig, 7), *other = rig_client(rig, 8);
    rig_connect(rig, old, &at);
    rig_connect(rig, other, &elsewhere);
    struct cw_netcode_client *client = newer_client(rig, 7);
    rig_challenge(rig, client, &there);
    rig_up(rig, client, &there);
    assert_ok(cw_netcode_client_move(other, rig->now));
    rig_exchange(rig, other, &there);
    rig_up(rig, other, &there);
    assert_int_equal(rig_stats(rig).moves, 1);
    rig_drain(rig, NULL);
    rig_exchange(rig, other, &there);
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).pending, 0);
    rig_no_event(rig);
}

/* A third session, newer still, comes in while the second one waits for the slot. */
TEST(three_sessions)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 2;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), one = rig_client_address(2),
                            two = rig_client_address(3);
    struct cw_netcode_client *old = rig_client(&rig, 7);
    rig_connect(&rig, old, &at);
    struct cw_netcode_client *second = newer_client(&rig, 7), *third = newer_client(&rig, 7);
    rig_challenge(&rig, second, &one);
    rig_up(&rig, second, &one);
    rig_challenge(&rig, third, &two);
    rig_up(&rig, third, &two);
    rig_down(&rig, third, &two);
    assert_int_equal(cw_netcode_client_state(third), CW_CLIENT_CONNECTED);
    expect_event(&rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
    expect_event(&rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 1);
    rig_down(&rig, second, &one);
    assert_int_equal(cw_netcode_client_state(second), CW_CLIENT_SENDING_RESPONSE);
    assert_int_equal(rig_stats(&rig).clients, 1);
    assert_int_equal(rig_stats(&rig).pending, 0);
    rig_no_event(&rig);
    /* The slot that was kept is anybody's. */
    struct cw_netcode_client *newcomer = rig_client(&rig, 9);
    const struct cw_address late = rig_client_address(4);
    assert_int_equal(rig_connect(&rig, newcomer, &late), 0);
}

/* Two sessions of one client are on their way at once, neither of them connected: the one with the
   newer token gets in, the other is told, and asking again does not help it. later: by how many
   seconds the second token was made after the first. */
TEST(two_on_their_way)
{
    for (int later = 0; later < 2; later++) {
        struct rig *rig = rig_open();
        const struct cw_address at[2] = {rig_client_address(1), rig_client_address(2)};
        const struct cw_netcode_client_config config = cw_netcode_client_config_default();
        uint8_t tokens[2][CW_TOKEN_SIZE];
        struct cw_netcode_client *clients[2];
        rig_token(rig, tokens[0], 7);
        rig->now += later;
        rig_token(rig, tokens[1], 7);
        for (int n = 0; n < 2; n++)
            clients[n] = rig_client_with(rig, &config, tokens[n]);
        rig_challenge(rig, clients[0], &at[0]);
        rig_up(rig, clients[1], &at[1]);
        assert_int_equal(rig_stats(rig).pending, 1);
        assert_int_equal(rig_give_token(rig, &at[0], tokens[0]), CW_ERROR_CONNECTED);
        tick_two(rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[0]), CW_CLIENT_ID_CONNECTED);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_SENDING_RESPONSE);
        assert_int_equal(rig_give_token(rig, &at[0], tokens[0]), CW_ERROR_CONNECTED);
        tick_two(rig, clients, at);
        tick_two(rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_CONNECTED);
        expect_event(rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
        rig_no_event(rig);
        assert_int_equal(rig_stats(rig).takeovers, 0);
        assert_int_equal(rig_stats(rig).denied_sent, 1);
    }
}

/* A client that comes later with an older token gets no answer, and the slot of the newer one only
   when that one has given up. */
TEST(an_older_token_waits)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), there = rig_client_address(2);
    uint8_t older[CW_TOKEN_SIZE], newer[CW_TOKEN_SIZE];
    rig_token(rig, older, 7);
    rig->now += 1;
    rig_token(rig, newer, 7);
    assert_ok(rig_give_token(rig, &at, newer));
    assert_int_equal(rig_down(rig, NULL, NULL), 1);
    assert_int_equal(rig_give_token(rig, &there, older), CW_ERROR_CONNECTED);
    assert_true(rig_silent(rig));
    rig->now += 5.01;
    cw_netcode_server_update(rig->server, rig->now);
    assert_ok(rig_give_token(rig, &there, older));
    assert_int_equal(rig_down(rig, NULL, NULL), 1);
}

/* The old session can neither move nor come back, nor can whoever replays it. */
TEST(the_old_session_stays_away)
{
    struct rig *rig = rig_open();
    const struct cw_address at[2] = {rig_client_address(1), rig_client_address(2)};
    const struct cw_address elsewhere = rig_client_address(3);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(rig, token, 7);
    struct cw_netcode_client *clients[2] = {rig_client_with(rig, &config, token)};
    rig_connect(rig, clients[0], &at[0]);
    clients[1] = newer_client(rig, 7);
    /* Nothing gets through to the old client, which moves. */
    rig_challenge(rig, clients[1], &at[1]);
    rig_up(rig, clients[1], &at[1]);
    rig_drain(rig, NULL);
    rig_down(rig, clients[1], &at[1]);
    assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_CONNECTED);
    assert_ok(cw_netcode_client_move(clients[0], rig->now));
    rig_exchange(rig, clients[0], &elsewhere);
    assert_int_equal(rig_give_token(rig, &elsewhere, token), CW_ERROR_CONNECTED);
    assert_true(rig_silent(rig));
    assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_CONNECTED);
    assert_int_equal(rig_stats(rig).moves, 0);
}

/* Without takeover: told at once, at the request, or when the newer token comes that will connect,
   with that client left alone. When it has gone there is a place again. */
TEST(refused_and_told)
{
    for (int early = 0; early < 2; early++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.takeover = false;
        rig.config.max_clients = 1;
        rig_start(&rig);
        const struct cw_address at[2] = {rig_client_address(1), rig_client_address(2)};
        struct cw_netcode_client *clients[2];
        if (early) {
            clients[1] = rig_client(&rig, 7);
            rig_challenge(&rig, clients[1], &at[1]);
            clients[0] = rig_client(&rig, 7);
            rig_up(&rig, clients[0], &at[0]);
            tick_two(&rig, clients, at);
            tick_two(&rig, clients, at);
            expect_event(&rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
        } else {
            clients[0] = rig_client(&rig, 7);
            rig_connect(&rig, clients[0], &at[0]);
            clients[1] = newer_client(&rig, 7);
        }
        tick_two(&rig, clients, at);
        assert_int_equal(cw_netcode_client_state(clients[1]), CW_CLIENT_ID_CONNECTED);
        assert_int_equal(cw_netcode_client_state(clients[0]), CW_CLIENT_CONNECTED);
        assert_int_equal(rig_stats(&rig).denied_sent, 1);
        assert_int_equal(rig_stats(&rig).takeovers, 0);
        assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_CONNECTED), early ? 0 : 1);
        rig_no_event(&rig);
        /* Only the one to whom the token belongs is told. */
        uint8_t token[CW_TOKEN_SIZE];
        const struct cw_address thief = rig_client_address(9);
        rig_token(&rig, token, 7);
        assert_int_equal(rig_give_token(&rig, &at[1], token), CW_ERROR_CONNECTED);
        assert_int_equal(rig_give_token(&rig, &thief, token), CW_ERROR_TOKEN_USED);
        assert_int_equal(rig_down(&rig, clients[0], &at[0]), 1);

        cw_netcode_client_disconnect(clients[0]);
        rig_up(&rig, clients[0], &at[0]);
        rig_drain(&rig, NULL);
        struct cw_netcode_client *again = newer_client(&rig, 7);
        rig_connect(&rig, again, &at[1]);
    }
}

/* The old session's last payload still comes before its end, and then the new one begins afresh. */
TEST(the_last_payload_comes_first)
{
    struct rig *rig = rig_open();
    const struct cw_address at[2] = {rig_client_address(1), rig_client_address(2)};
    struct cw_netcode_client *clients[2] = {rig_client(rig, 7)};
    struct cw_netcode_server_event event;
    rig_connect(rig, clients[0], &at[0]);
    rig_down(rig, clients[0], &at[0]);
    clients[1] = newer_client(rig, 7);
    rig_challenge(rig, clients[1], &at[1]);
    assert_ok(cw_netcode_client_send(clients[0], (const uint8_t *)"last", 4));
    rig_up(rig, clients[0], &at[0]);
    rig_up(rig, clients[1], &at[1]); /* waits, as the payload has not been taken */
    assert_true(cw_netcode_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_PAYLOAD);
    rig_no_event(rig);
    for (int i = 0; i < 8; i++)
        tick_two(rig, clients, at);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_DISCONNECTED, 0);
    tick_two(rig, clients, at);
    expect_event(rig, CW_NETCODE_SERVER_EVENT_CONNECTED, 0);
    assert_ok(cw_netcode_server_send(rig->server, 0, (const uint8_t *)"first", 5));
    tick_two(rig, clients, at);
    assert_int_equal(rig_drain(rig, clients[1]), 1);
}
