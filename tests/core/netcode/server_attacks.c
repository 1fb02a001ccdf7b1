/* Somebody without the keys, or with a token of their own, may try these attacks. */
#include "secure_rig.h"

TEST(token_from_another_address)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), thief = rig_client_address(2);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(rig, token, 1);
    rig_request(request, token);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *client = rig_client_with(rig, &config, token);
    rig_up(rig, client, &at);
    assert_int_equal(rig_give(rig, &thief, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    struct cw_address other_port = at;
    other_port.port++;
    assert_int_equal(rig_give(rig, &other_port, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    rig_down(rig, client, &at);
    const uint32_t slot = rig_connect(rig, client, &at);
    rig_down(rig, client, &at);
    /* A challenge, as the client might have moved there, and no more than that. */
    struct cw_server_client_info about;
    assert_ok(rig_give(rig, &thief, request, sizeof(request)));
    assert_int_equal(rig_down(rig, NULL, NULL), 1);
    assert_true(cw_netcode_server_client(rig->server, slot, &about));
    assert_true(cw_address_equal(&about.address, &at));
    assert_int_equal(rig_give(rig, &at, request, sizeof(request)), CW_ERROR_CONNECTED);
    assert_true(rig_silent(rig));

    cw_netcode_client_disconnect(client);
    rig_up(rig, client, &at);
    rig_drain(rig, client);
    assert_int_equal(rig_give(rig, &thief, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    assert_int_equal(rig_give(rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    /* Until it expires, and then it is no token any more. */
    rig->now += 43;
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_give(rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    rig->now += 2;
    assert_int_equal(rig_give(rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_EXPIRED);
}

/* No token that may have been used before is taken after a restart, however soon and often it
   comes; those made since are, once the server has been up for max_token_life_seconds less their
   life. */
TEST(token_after_restart)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    uint8_t old[4][CW_REQUEST_SIZE], token[CW_TOKEN_SIZE];
    for (int i = 0; i < 4; i++) {
        rig_token(rig, token, (uint64_t)i);
        rig_request(old[i], token);
        rig->now += 0.3;
    }
    rig->server = netcode_server_with(&rig->config);
    cw_netcode_server_update(rig->server, rig->now);
    for (double until = rig->now + 50; rig->now < until; rig->now += 0.5)
        for (int i = 0; i < 4; i++)
            assert_int_not_equal(rig_give(rig, &at, old[i], CW_REQUEST_SIZE), CW_OK);

    const double start = rig->now;
    rig->server = netcode_server_with(&rig->config);
    cw_netcode_server_update(rig->server, rig->now);
    while (rig->now < start + 10) {
        uint8_t request[CW_REQUEST_SIZE];
        rig_token(rig, token, 1);
        rig_request(request, token);
        assert_int_equal(rig_give(rig, &at, request, sizeof(request)),
                         rig->now < start + 5.9 ? CW_ERROR_TOKEN_LIFE : CW_OK);
        rig->now += 0.5;
    }
    /* Longer lives than agreed are not covered by the rule, and so not taken. */
    struct cw_token_grant grant = rig_grant(rig, 1);
    grant.life_seconds = 52;
    uint8_t request[CW_REQUEST_SIZE];
    assert_ok(cw_token_generate(&grant, rig_key, token));
    rig_request(request, token);
    assert_int_equal(rig_give(rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_LIFE);
}

/* A token that says that it was made after the start is good at once. Another one is denied, and
   the client knows that a new token helps. */
TEST(token_made_after_the_start)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    struct cw_token_grant grant = rig_exact_grant(&rig, 1, 0);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *early = rig_client_of(&rig, &config, &grant);
    rig.now += 0.1;
    rig.server = netcode_server_with(&rig.config);
    cw_netcode_server_update(rig.server, rig.now);
    const struct cw_address at = rig_client_address(1), next = rig_client_address(2);
    rig_exchange(&rig, early, &at);
    assert_int_equal(cw_netcode_client_state(early), CW_CLIENT_NOT_YET);
    assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_TOKEN_LIFE), 1);
    assert_int_equal(rig_stats(&rig).denied_sent, 1);

    rig.now += 0.3;
    grant = rig_exact_grant(&rig, 1, 0);
    rig_connect(&rig, rig_client_of(&rig, &config, &grant), &next);
}

/* A token of a clock that is ahead by more than a little is taken once it has been made by the
   server's clock; until then the client goes on asking. */
TEST(token_from_the_future)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_token_grant grant = rig_exact_grant(rig, 1, 0.2);
    assert_ok(rig_give_grant(rig, &at, &grant, rig_key));
    rig_down(rig, NULL, NULL);
    grant = rig_exact_grant(rig, 2, 2);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *client = rig_client_of(rig, &config, &grant);
    const struct cw_address other = rig_client_address(2);
    for (const double until = rig->now + 1.7; rig->now < until; rig_tick(rig, client, &other))
        assert_int_equal(cw_netcode_client_state(client), CW_CLIENT_SENDING_REQUEST);
    rig->now += 0.1;
    rig_connect(rig, client, &other);
}

/* No token that a server has taken is taken by the server that follows it, whatever the clock of
   the backend says. */
TEST(token_with_its_time_after_restart)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    for (double ahead = -6; ahead < 6; ahead += 0.1) {
        rig_start(&rig);
        const struct cw_address at = rig_client_address(1);
        const struct cw_token_grant grant = rig_exact_grant(&rig, 1, ahead);
        uint8_t token[CW_TOKEN_SIZE];
        assert_ok(cw_token_generate(&grant, rig_key, token));
        const double limit = rig.now + 7;
        while (rig_give_token(&rig, &at, token) != CW_OK && rig.now < limit)
            rig.now += 0.01;
        assert_true(rig.now < limit && rig.now > limit - 7 + ahead - 0.3);
        rig.server = netcode_server_with(&rig.config);
        cw_netcode_server_update(rig.server, rig.now);
        for (const double until = rig.now + 52; rig.now < until; rig.now += 0.1) {
            assert_int_not_equal(rig_give_token(&rig, &at, token), CW_OK);
            rig_down(&rig, NULL, NULL);
        }
    }
}

/* The rule holds from the first call on, whichever that is. */
TEST(token_before_the_first_update)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    rig.server = netcode_server_with(&rig.config);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE];
    rig.now = 10;
    rig_token(&rig, token, 1);
    assert_int_equal(rig_give_token(&rig, &at, token), CW_ERROR_TOKEN_LIFE);
}

/* The longest life that is taken, at any time. */
TEST(life_of_tokens)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_token_grant grant = rig_grant(rig, 1);
    grant.life_seconds = 51;
    assert_int_equal(rig_give_grant(rig, &at, &grant, rig_key), CW_ERROR_TOKEN_LIFE);
    grant.life_seconds = 50;
    assert_ok(rig_give_grant(rig, &at, &grant, rig_key));
}

/* A used token is not taken again when the clock is set: not after a start with a clock that was
   behind, not when it is set back to before the token's end. */
TEST(token_when_the_clock_is_set)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), other = rig_client_address(2);
    uint8_t token[CW_TOKEN_SIZE], later[CW_TOKEN_SIZE];
    rig_token(rig, token, 1);
    assert_ok(rig_give_token(rig, &at, token));
    rig->config.unix_offset_seconds = RIG_UNIX - 100;
    rig->server = netcode_server_with(&rig->config);
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_give_token(rig, &other, token), CW_ERROR_TOKEN_LIFE);
    cw_netcode_server_set_unix_offset(rig->server, RIG_UNIX);
    assert_int_equal(rig_give_token(rig, &other, token), CW_ERROR_TOKEN_LIFE);

    rig_init(rig);
    rig->config.token_history = 2;
    rig_start(rig);
    struct cw_token_grant sooner = rig_grant(rig, 3);
    sooner.life_seconds = 44;
    assert_ok(rig_give_grant(rig, &at, &sooner, rig_key));
    rig_token(rig, token, 1);
    assert_ok(rig_give_token(rig, &at, token));
    rig->now += 46;
    cw_netcode_server_update(rig->server, rig->now);
    rig_token(rig, later, 2);
    assert_ok(rig_give_token(rig, &at, later));
    cw_netcode_server_set_unix_offset(rig->server, RIG_UNIX - 10);
    assert_int_equal(rig_give_token(rig, &other, token), CW_ERROR_TOKEN_USED);
    /* Before 1970 no token is good; nor does it harm. */
    cw_netcode_server_set_unix_offset(rig->server, -1e6);
    assert_int_equal(rig_give_token(rig, &other, token), CW_ERROR_TOKEN_LIFE);
}

/* With max_token_life_seconds 0 and a new private key at each start, as the config asks for. */
TEST(token_after_restart_with_a_new_key)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_token_life_seconds = 0;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(&rig, token, 1);
    rig_request(request, token);
    assert_ok(rig_give(&rig, &at, request, sizeof(request)));
    rig.config.private_key[0] ^= 1;
    rig_start(&rig);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_NOT_AUTHENTIC);
}

/* Bug 6. */
TEST(token_raced_from_two_addresses)
{
    struct rig *rig = rig_open();
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(rig, token, 1);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *a = rig_client_with(rig, &config, token),
                             *b = rig_client_with(rig, &config, token);
    for (int tick = 0; tick < 60; tick++) {
        rig->now += 1.0 / 60;
        cw_netcode_client_update(a, rig->now);
        cw_netcode_client_update(b, rig->now);
        rig_up(rig, a, &at_a);
        rig_up(rig, b, &at_b);
        cw_netcode_server_update(rig->server, rig->now);
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        size_t size;
        while ((size = cw_netcode_server_transmit(rig->server, datagram, sizeof(datagram), rig->now,
                                                  &to)) > 0) {
            const bool to_a = cw_address_equal(&to, &at_a);
            assert_true(to_a || (datagram[0] & 15) == CW_SECURE_CHALLENGE);
            cw_netcode_client_receive(to_a ? a : b, NULL, datagram, size, rig->now);
        }
    }
    /* b is challenged, as if a had moved there, and so knows that its token is in use. */
    assert_int_equal(cw_netcode_client_state(a), CW_CLIENT_CONNECTED);
    assert_int_equal(cw_netcode_client_state(b), CW_CLIENT_RESPONSE_TIMED_OUT);
    assert_int_equal(rig_stats(rig).moves, 0);
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).pending, 0);
}

/* Bug 6: at the very time at which one pending client ends, another takes its place, and then the
   first one's response comes. */
TEST(place_taken_in_the_frame_of_the_timeout)
{
    for (int updated = 0; updated < 2; updated++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.max_pending = 1;
        rig_start(&rig);
        const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
        struct cw_netcode_client *a = rig_client(&rig, 1);
        rig_challenge(&rig, a, &at_a);
        rig.now += 5;
        if (updated)
            cw_netcode_server_update(rig.server, rig.now);
        struct cw_netcode_client *b = rig_client(&rig, 2);
        rig_up(&rig, b, &at_b);
        rig_up(&rig, a, &at_a);
        assert_int_equal(rig_stats(&rig).clients, 0);
        assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_NOT_CONNECTED), 1);
        if (updated) {
            assert_int_equal(rig_connect(&rig, b, &at_b), 0);
            struct cw_server_client_info about;
            assert_true(cw_netcode_server_client(rig.server, 0, &about));
            assert_int_equal(about.id, 2);
        }
    }
}

/* The body of the challenge that the request with this token gets. */
static void challenge_of(struct rig *rig, const uint8_t token[CW_TOKEN_SIZE],
                         const struct cw_address *at, uint8_t body[CW_PAYLOAD_MAX])
{
    uint8_t request[CW_REQUEST_SIZE], datagram[CW_SECURE_MAX];
    struct cw_token read;
    struct cw_address to;
    struct cw_secure_packet packet;
    rig_request(request, token);
    assert_ok(rig_give(rig, at, request, sizeof(request)));
    const size_t size =
        cw_netcode_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to);
    assert_ok(cw_token_read(token, CW_TOKEN_SIZE, &read));
    assert_ok(cw_secure_read(datagram, size,
                             &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                     .direction = CW_TO_CLIENT,
                                                     .bytes = read.server_to_client_key},
                             NULL, body, &packet));
}

/* Returns what the server says to a packet sealed with the keys of a token. */
static enum cw_error give_sealed(struct rig *rig, const uint8_t token[CW_TOKEN_SIZE],
                                 const struct cw_address *at, enum cw_secure_type type,
                                 const uint8_t *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    struct cw_token read;
    assert_ok(cw_token_read(token, CW_TOKEN_SIZE, &read));
    const size_t length = cw_secure_write(
        &(struct cw_secure_packet){.type = type, .sequence = 5, .body = body, .size = size},
        &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL, .bytes = read.client_to_server_key},
        out, sizeof(out));
    return rig_give(rig, at, out, length);
}

/* Somebody with a token and keys of their own uses a challenge that was meant for another: of
   another client, made before or after their own, or of the same client id. */
TEST(challenge_of_somebody_else)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), thief = rig_client_address(2),
                            twin = rig_client_address(3);
    uint8_t token[CW_TOKEN_SIZE], thief_token[CW_TOKEN_SIZE], twin_token[CW_TOKEN_SIZE],
        body[CW_PAYLOAD_MAX], own[CW_PAYLOAD_MAX];
    rig_token(rig, token, 1);
    rig_token(rig, thief_token, 2);
    rig_token(rig, twin_token, 1);
    challenge_of(rig, thief_token, &thief, own);
    challenge_of(rig, token, &at, body);
    assert_int_equal(
        give_sealed(rig, thief_token, &thief, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(give_sealed(rig, token, &at, CW_SECURE_RESPONSE, own, CW_CHALLENGE_BODY_SIZE),
                     CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_ok(give_sealed(rig, token, &at, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE));
    assert_int_equal(rig_stats(rig).clients, 1);
    challenge_of(rig, twin_token, &twin, own);
    assert_int_equal(
        give_sealed(rig, twin_token, &twin, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    /* Made up. */
    own[20] ^= 1;
    assert_int_equal(
        give_sealed(rig, twin_token, &twin, CW_SECURE_RESPONSE, own, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    /* Other packets with the right keys open nothing. */
    assert_int_equal(give_sealed(rig, twin_token, &twin, CW_SECURE_PAYLOAD, own, 10),
                     CW_ERROR_UNEXPECTED);
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).takeovers, 0);
}

/* A challenge of another server with the same private key, of this one before it was started again:
   each has its own key for them. */
TEST(challenge_of_another_server)
{
    struct rig *one = rig_open(), two;
    rig_init(&two);
    two.seed = 2;
    rig_start(&two);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], of_one[CW_PAYLOAD_MAX], of_two[CW_PAYLOAD_MAX];
    rig_token(one, token, 1);
    challenge_of(one, token, &at, of_one);
    challenge_of(&two, token, &at, of_two);
    assert_int_equal(
        give_sealed(&two, token, &at, CW_SECURE_RESPONSE, of_one, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    assert_ok(give_sealed(&two, token, &at, CW_SECURE_RESPONSE, of_two, CW_CHALLENGE_BODY_SIZE));
}

/* A response that was read when the server was full does not come true through a forged packet when
   it no longer is. */
TEST(forged_response_after_a_real_one)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), waits = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(&rig, 1), *late = rig_client(&rig, 2);
    rig_challenge(&rig, late, &waits);
    rig_connect(&rig, client, &at);
    uint8_t response[CW_SECURE_MAX];
    const size_t size = cw_netcode_client_transmit(late, response, sizeof(response), rig.now, NULL);
    assert_int_equal(rig_give(&rig, &waits, response, size), CW_ERROR_SERVER_FULL);
    cw_netcode_server_disconnect_all(rig.server);
    rig_down(&rig, NULL, NULL);
    rig_drain(&rig, NULL);
    memset(response + 2, 0, size - 2);
    assert_int_equal(rig_give(&rig, &waits, response, size), CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(rig_stats(&rig).clients, 0);
}
