/* Floods from outside: no answer, no slot, no memory, and no loss for those who are connected. */
#include "counted.h"
#include "secure_rig.h"

/* 100,000 requests with tokens that nobody issued, and as many other datagrams, in ten seconds,
   from addresses that were made up, the players' among them. */
TEST(storm)
{
    enum { PLAYERS = 4, TICKS = 600, PER_TICK = 167 };
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = PLAYERS + 1;
    static struct counted counted;
    counted = (struct counted){0};
    rig.config.allocator = counted_allocator(&counted);
    rig_start(&rig);
    struct cw_netcode_client *players[PLAYERS];
    struct cw_address at[PLAYERS];
    uint32_t slots[PLAYERS], sent = 0, arrived[PLAYERS] = {0}, echoed[PLAYERS] = {0};
    for (uint32_t n = 0; n < PLAYERS; n++) {
        at[n] = rig_client_address(n);
        players[n] = rig_client(&rig, n);
        slots[n] = rig_connect(&rig, players[n], &at[n]);
    }
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE], old[CW_REQUEST_SIZE];
    rig_token(&rig, token, 99);
    rig_request(request, token);
    struct cw_token_grant grant = rig_grant(&rig, 99);
    grant.create_time -= 100;
    assert_ok(cw_token_generate(&grant, rig_key, token));
    rig_request(old, token);
    const struct cw_netcode_server_stats before = rig_stats(&rig);
    uint32_t requests = 0;

    for (int tick = 0; tick < TICKS; tick++) {
        rig.now += 1.0 / 60;
        for (int i = 0; i < PER_TICK; i++) {
            uint8_t junk[CW_REQUEST_SIZE];
            uint32_t source;
            netcode_fill(&rig.seed, (uint8_t *)&source, sizeof(source));
            const struct cw_address from = rig_client_address(source % 60000);
            memcpy(junk, i % 16 == 0 ? old : request, sizeof(junk));
            if (i % 16 != 0)
                netcode_fill(&rig.seed, junk + 54, 32);
            assert_int_not_equal(
                cw_netcode_server_receive(rig.server, &from, junk, sizeof(junk), rig.now), CW_OK);
            requests++;
            netcode_fill(&rig.seed, junk, 64);
            const size_t size = 1 + source % 200;
            assert_int_not_equal(
                cw_netcode_server_receive(rig.server, &at[source % PLAYERS], junk, size, rig.now),
                CW_OK);
        }
        cw_netcode_server_update(rig.server, rig.now);
        sent++;
        for (uint32_t n = 0; n < PLAYERS; n++) {
            struct cw_netcode_server_event event;
            struct cw_netcode_client_event echo;
            cw_netcode_client_update(players[n], rig.now);
            assert_ok(cw_netcode_client_send(players[n], (const uint8_t *)&sent, sizeof(sent)));
            rig_up(&rig, players[n], &at[n]);
            while (cw_netcode_server_next(rig.server, &event)) {
                assert_int_equal(event.type, CW_NETCODE_SERVER_EVENT_PAYLOAD);
                arrived[n]++;
            }
            assert_ok(
                cw_netcode_server_send(rig.server, slots[n], (const uint8_t *)&sent, sizeof(sent)));
            rig_down(&rig, players[n], &at[n]);
            while (cw_netcode_client_next(players[n], &echo))
                echoed[n] += echo.type == CW_NETCODE_CLIENT_EVENT_PAYLOAD;
        }
    }
    assert_true(requests >= 100000);
    for (uint32_t n = 0; n < PLAYERS; n++) {
        assert_int_equal(arrived[n], TICKS);
        assert_int_equal(echoed[n], TICKS);
        assert_int_equal(cw_netcode_client_state(players[n]), CW_CLIENT_CONNECTED);
    }
    const struct cw_netcode_server_stats after = rig_stats(&rig);
    assert_int_equal(after.clients, PLAYERS);
    assert_int_equal(after.pending, 0);
    assert_int_equal(after.connections, PLAYERS);
    assert_int_equal(after.challenges_sent, before.challenges_sent);
    assert_int_equal(after.denied_sent, 0);
    assert_int_equal(counted.allocations, 1);
}

/* A player comes in while 10,000 forged requests come per second, twice as many as are looked at.
 */
TEST(newcomer_in_a_storm)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(rig, token, 99);
    rig_request(request, token);
    struct cw_netcode_client *client = NULL;
    for (int tick = 0; tick < 240; tick++) {
        uint8_t place;
        netcode_fill(&rig->seed, &place, 1);
        rig->now += 1.0 / 60;
        cw_netcode_server_update(rig->server, rig->now);
        if (tick == 120)
            client = rig_client(rig, 1);
        for (int i = 0; i < 167; i++) {
            netcode_fill(&rig->seed, request + 54, 8);
            const struct cw_address from = rig_client_address((uint32_t)i + 2);
            cw_netcode_server_receive(rig->server, &from, request, sizeof(request), rig->now);
            if (client && i == place % 167) {
                cw_netcode_client_update(client, rig->now);
                rig_exchange(rig, client, &at);
            }
        }
    }
    assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_CONNECTED);
    assert_true(cw_netcode_server_dropped(rig->server, CW_ERROR_TOO_MANY_REQUESTS) > 10000);
}

/* Bytes that come back at once for one datagram; all to where it came from, each smaller than it.
 */
static double answer_ratio(struct rig *rig, const struct cw_address *from, const uint8_t *data,
                           size_t size)
{
    uint8_t answer[CW_SECURE_MAX];
    struct cw_address to;
    size_t length, answers = 0;
    cw_netcode_server_receive(rig->server, from, data, size, rig->now);
    while ((length = cw_netcode_server_transmit(rig->server, answer, sizeof(answer), rig->now,
                                                &to)) > 0) {
        assert_true(cw_address_equal(&to, from));
        assert_true(length < size);
        answers += length;
    }
    return (double)answers / (double)size;
}

/* A client that is not connected gets at most 0.4 bytes for each byte, and no answer is larger than
   what it answers: requests again and again, denials, another schema, junk, responses. */
TEST(amplification)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig.config.max_pending = 200;
    rig.config.fingerprint = 5;
    rig_start(&rig);
    double worst = 0;
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(&rig, 1);
    for (uint32_t step = 0; step < 600; step++) {
        uint8_t datagram[CW_SECURE_MAX], token[CW_TOKEN_SIZE];
        size_t size = CW_REQUEST_SIZE;
        struct cw_address from = rig_client_address(2 + step / 4);
        rig.now += 0.02;
        cw_netcode_server_update(rig.server, rig.now);
        if (step > 300) {
            cw_netcode_client_update(client, rig.now);
            rig_exchange(&rig, client, &at);
            rig_drain(&rig, client);
        }
        if (step == 300) {
            /* The response, after which the server is full. */
            client = rig_client(&rig, 1);
            rig_exchange(&rig, client, &at);
            size = cw_netcode_client_transmit(client, datagram, sizeof(datagram), rig.now, NULL);
            from = at;
        } else if (step % 4 == 3) {
            netcode_fill(&rig.seed, datagram, sizeof(datagram));
            size = 1 + step;
        } else {
            struct cw_token_grant grant = rig_grant(&rig, 100 + step / 4);
            grant.fingerprint = step % 4 == 2 ? 6 : 5;
            assert_ok(cw_token_generate(&grant, rig_key, token));
            rig_request(datagram, token);
        }
        for (int again = 0; again < 2; again++) {
            const double ratio = answer_ratio(&rig, &from, datagram, size);
            if (ratio > worst)
                worst = ratio;
        }
    }
    const struct cw_netcode_server_stats stats = rig_stats(&rig);
    printf("amplification at most %.3f\n", worst);
    assert_true(worst > 0.3);
    assert_true(worst <= 0.4);
    assert_int_equal(stats.clients, 1);
    assert_true(cw_netcode_server_dropped(rig.server, CW_ERROR_SERVER_FULL) > 100);
    assert_true(cw_netcode_server_dropped(rig.server, CW_ERROR_SCHEMA) > 100);
    assert_true(stats.challenges_sent > 100);
}

/* Random bytes of every size, to a server with a connected client and a pending one, from their
   addresses and others: no answer, no slot, nothing changed. */
TEST(random_bytes)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), waits = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(rig, 1), *pending = rig_client(rig, 2);
    rig_connect(rig, client, &at);
    rig_up(rig, pending, &waits);
    rig_down(rig, NULL, NULL);
    for (size_t size = 0; size < 1500; size++)
        for (uint32_t n = 0; n < 3; n++) {
            uint8_t junk[1500];
            netcode_fill(&rig->seed, junk, sizeof(junk));
            if (size % 2)
                junk[0] = (uint8_t)((1 + size % 8) << 4 | size % 7);
            const struct cw_address from = rig_client_address(1 + n);
            assert_int_not_equal(rig_give(rig, &from, junk, size), CW_OK);
            assert_int_not_equal(cw_netcode_client_receive(client, NULL, junk, size, rig->now),
                                 CW_OK);
        }
    assert_true(rig_silent(rig));
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).pending, 1);
    assert_int_equal(rig_drain(rig, client), 0);
}
