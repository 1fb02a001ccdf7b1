/* Clients come to the server line by line: requests, challenges, responses. */
#include "secure_rig.h"

/* Wrong requests cost nothing that lasts, and get no answer. */
static void expect_ignored(struct rig *rig)
{
    assert_true(rig_silent(rig));
    assert_int_equal(rig_stats(rig).pending, 0);
    assert_int_equal(rig_stats(rig).clients, 0);
    rig_no_event(rig);
}

TEST(requests_in_reading_order)
{
    struct rig *rig = rig_open();
    const struct cw_address from = rig_client_address(1), other = rig_address("127.0.0.1:40001");
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE + 1] = {0};
    rig_token(rig, token, 1);
    rig_request(request, token);

    for (size_t size = 1; size <= sizeof(request); size++)
        if (size != CW_REQUEST_SIZE)
            assert_int_equal(rig_give(rig, &from, request, size), CW_ERROR_REQUEST_SIZE);
    assert_int_equal(rig_give(rig, &from, request, 0), CW_ERROR_PACKET_SHORT);
    expect_ignored(rig);

    request[13] = 1;
    assert_int_equal(rig_give(rig, &from, request, CW_REQUEST_SIZE), CW_ERROR_VERSION);
    request[13] = 0;
    request[14] ^= 1;
    assert_int_equal(rig_give(rig, &from, request, CW_REQUEST_SIZE), CW_ERROR_PROTOCOL_ID);
    request[14] ^= 1;
    expect_ignored(rig);

    struct cw_token_grant grant = rig_grant(rig, 1);
    grant.create_time -= 45;
    assert_int_equal(rig_give_grant(rig, &from, &grant, rig_key), CW_ERROR_TOKEN_EXPIRED);
    grant.create_time += 1;
    grant.life_seconds = 44;
    assert_int_equal(rig_give_grant(rig, &from, &grant, rig_key), CW_ERROR_TOKEN_EXPIRED);

    grant = rig_grant(rig, 1);
    const uint8_t wrong_key[CW_KEY_BYTES] = {1};
    assert_int_equal(rig_give_grant(rig, &from, &grant, wrong_key), CW_ERROR_NOT_AUTHENTIC);
    expect_ignored(rig);

    grant.addresses = &other;
    assert_int_equal(rig_give_grant(rig, &from, &grant, rig_key), CW_ERROR_TOKEN_SERVER);
    expect_ignored(rig);

    assert_ok(rig_give(rig, &from, request, CW_REQUEST_SIZE));
    assert_int_equal(rig_stats(rig).pending, 1);
    assert_false(rig_silent(rig));
    assert_true(rig_silent(rig));
    rig_no_event(rig);
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_TOKEN_EXPIRED), 2);
}

/* When several things are wrong with a request, the first in the order of the standard counts. */
TEST(requests_with_several_faults)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.token_history = 1;
    rig_start(&rig);
    const struct cw_address from = rig_client_address(1), other = rig_address("127.0.0.1:40001");
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    struct cw_token_grant grant = rig_grant(&rig, 1);
    grant.addresses = &other;
    assert_ok(cw_token_generate(&grant, rig_key, token));
    rig_request(request, token);
    uint8_t bad[CW_REQUEST_SIZE];
    memcpy(bad, request, sizeof(bad));
    bad[1] ^= 1;            /* version */
    bad[14] ^= 1;           /* protocol id */
    memset(bad + 22, 0, 8); /* end */
    bad[sizeof(bad) - 1] ^= 1;
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad) - 1), CW_ERROR_REQUEST_SIZE);
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad)), CW_ERROR_VERSION);
    bad[1] ^= 1;
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad)), CW_ERROR_PROTOCOL_ID);
    bad[14] ^= 1;
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad)), CW_ERROR_TOKEN_EXPIRED);
    memcpy(bad + 22, request + 22, 8);
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad)), CW_ERROR_NOT_AUTHENTIC);
    bad[sizeof(bad) - 1] ^= 1;
    assert_int_equal(rig_give(&rig, &from, bad, sizeof(bad)), CW_ERROR_TOKEN_SERVER);
    expect_ignored(&rig);
    /* None of them has a place in the history, which has but one. */
    rig_token(&rig, token, 1);
    assert_ok(rig_give_token(&rig, &from, token));
}

/* Authentic, but with addresses that make no sense. */
TEST(sealed_nonsense_ignored)
{
    struct rig *rig = rig_open();
    struct cw_token token = {.protocol_id = RIG_PROTOCOL, .expire_time = RIG_UNIX + 55};
    uint8_t request[CW_REQUEST_SIZE];
    token.sealed[12] = 33;
    netcode_seal(token.sealed, token.protocol_id, token.expire_time, token.nonce, rig_key);
    cw_request_write(&token, request);
    assert_int_equal(rig_give(rig, &rig->address, request, sizeof(request)),
                     CW_ERROR_TOKEN_ADDRESSES);
    expect_ignored(rig);
}

/* A client with a token that is older than those made now. */
static struct cw_netcode_client *older_client(struct rig *rig, uint64_t id)
{
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_token_grant grant = rig_grant(rig, id);
    grant.create_time--;
    return rig_client_of(rig, &config, &grant);
}

TEST(connected_addresses_and_ids_ignored)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), elsewhere = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_connect(rig, client, &at);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(rig, token, 2);
    assert_int_equal(rig_give_token(rig, &at, token), CW_ERROR_CONNECTED);
    struct cw_token_grant older = rig_grant(rig, 1);
    older.create_time--;
    assert_int_equal(rig_give_grant(rig, &elsewhere, &older, rig_key), CW_ERROR_CONNECTED);
    assert_true(rig_silent(rig));
    assert_int_equal(rig_stats(rig).pending, 0);
}

/* A full server says so to the one to whom the token belongs, and to nobody else. */
TEST(used_tokens_are_not_denied)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), late = rig_client_address(2),
                            thief = rig_client_address(3);
    struct cw_netcode_client *client = rig_client(&rig, 1);
    rig_connect(&rig, client, &at);
    rig_down(&rig, NULL, NULL);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&rig, token, 2);
    assert_int_equal(rig_give_token(&rig, &late, token), CW_ERROR_SERVER_FULL);
    assert_false(rig_silent(&rig));
    assert_int_equal(rig_give_token(&rig, &thief, token), CW_ERROR_TOKEN_USED);
    assert_true(rig_silent(&rig));
    assert_int_equal(rig_give_token(&rig, &late, token), CW_ERROR_SERVER_FULL);
    assert_false(rig_silent(&rig));
}

/* The one whose id is about to come in or has come in with a newer token is ignored, not denied,
   though the server is full. */
TEST(id_connected_on_a_full_server)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_netcode_client *a = rig_client(&rig, 5), *b = older_client(&rig, 5);
    rig_challenge(&rig, a, &at_a);
    uint8_t request[CW_SECURE_MAX];
    const size_t size = cw_netcode_client_transmit(b, request, sizeof(request), rig.now, NULL);
    assert_int_equal(rig_give(&rig, &at_b, request, size), CW_ERROR_CONNECTED);
    assert_true(rig_silent(&rig));
    rig_connect(&rig, a, &at_a);
    rig_down(&rig, NULL, NULL);
    assert_int_equal(rig_give(&rig, &at_b, request, size), CW_ERROR_CONNECTED);
    assert_true(rig_silent(&rig));
}

/* A client asks while a newer session of the same id waits for the slot of an even older one. When
   that session has got it, the client's response gets nothing. */
TEST(id_connected_before_the_response)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(3), at_a = rig_client_address(1),
                            at_b = rig_client_address(2);
    rig->now -= 2;
    struct cw_netcode_client *oldest = rig_client(rig, 5);
    rig->now += 2;
    rig_connect(rig, oldest, &at);
    struct cw_netcode_client *a = rig_client(rig, 5), *b = older_client(rig, 5);
    rig_challenge(rig, a, &at_a);
    rig_up(rig, a, &at_a);
    rig_challenge(rig, b, &at_b);
    rig_drain(rig, NULL);
    rig_down(rig, a, &at_a);
    assert_int_equal(cw_netcode_client_state(a), CW_CLIENT_CONNECTED);
    rig_up(rig, b, &at_b);
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_CONNECTED), 1);
}

TEST(full_server_denies)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2),
                            at_c = rig_client_address(3);
    struct cw_netcode_client *a = rig_client(&rig, 1), *b = rig_client(&rig, 2),
                             *c = rig_client(&rig, 3);
    /* b gets as far as a challenge; then a takes the slot. */
    rig_challenge(&rig, b, &at_b);
    rig_connect(&rig, a, &at_a);
    rig_exchange(&rig, b, &at_b);
    assert_int_equal(cw_netcode_client_state(b), CW_CLIENT_DENIED);
    /* c is denied at once. */
    rig_exchange(&rig, c, &at_c);
    assert_int_equal(cw_netcode_client_state(c), CW_CLIENT_DENIED);
    assert_int_equal(rig_stats(&rig).denied_sent, 2);
    assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_SERVER_FULL), 2);
    /* The denials cost the connected one nothing. */
    rig_tick(&rig, a, &at_a);
    assert_int_equal(cw_netcode_client_state(a), CW_CLIENT_CONNECTED);
}

TEST(other_schema_is_denied)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.fingerprint = 1234;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    for (uint64_t fingerprint = 1233; fingerprint <= 1235; fingerprint++) {
        struct cw_token_grant grant = rig_grant(&rig, fingerprint);
        grant.fingerprint = fingerprint == 1235 ? 0 : fingerprint;
        config.fingerprint = fingerprint;
        struct cw_netcode_client *client = rig_client_of(&rig, &config, &grant);
        for (int i = 0; i < 3; i++)
            rig_tick(&rig, client, &at);
        assert_int_equal(cw_netcode_client_state(client),
                         fingerprint == 1233 ? CW_CLIENT_SCHEMA : CW_CLIENT_CONNECTED);
        cw_netcode_client_disconnect(client);
        rig_up(&rig, client, &at);
    }
    assert_int_equal(cw_netcode_server_dropped(rig.server, CW_ERROR_SCHEMA), 1);

    /* A client without a fingerprint compares none. */
    struct rig *without = rig_open();
    struct cw_token_grant grant = rig_grant(without, 1);
    grant.fingerprint = 1234;
    assert_ok(rig_give_grant(without, &at, &grant, rig_key));
}

/* No two packets under one key have the same number, be they challenges, denials or of a slot, and
   no two challenge tokens have. */
TEST(numbers_are_used_once)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_token read;
    struct cw_address to;
    rig_token(rig, token, 1);
    assert_ok(cw_token_read(token, sizeof(token), &read));
    uint64_t last_packet = 0, last_challenge = 0;
    for (int i = 0; i < 50; i++) {
        /* The slots are full now and then, so that the same token is also denied. */
        struct cw_netcode_client *others[4];
        for (uint32_t n = 0; i % 10 >= 8 && n < 4; n++) {
            const struct cw_address other = rig_client_address(10 + n);
            others[n] = rig_client(rig, 100 * (uint64_t)i + n);
            rig_connect(rig, others[n], &other);
        }
        rig_give_token(rig, &at, token);
        size_t size;
        do
            size = cw_netcode_server_transmit(rig->server, out, sizeof(out), rig->now, &to);
        while (size > 0 && !cw_address_equal(&to, &at));
        struct cw_secure_packet packet;
        assert_ok(cw_secure_read(out, size,
                                 &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                         .direction = CW_TO_CLIENT,
                                                         .bytes = read.server_to_client_key},
                                 NULL, body, &packet));
        assert_int_equal(packet.type, i % 10 >= 8 ? CW_SECURE_DENIED : CW_SECURE_CHALLENGE);
        assert_true(packet.sequence >= (uint64_t)1 << 63);
        assert_true(i == 0 || packet.sequence > last_packet);
        last_packet = packet.sequence;
        if (packet.type == CW_SECURE_CHALLENGE) {
            uint64_t challenge;
            cw_challenge_get(body, &challenge);
            assert_true(i == 0 || challenge > last_challenge);
            last_challenge = challenge;
        }
        cw_netcode_server_disconnect_all(rig->server);
        rig_down(rig, NULL, NULL);
        struct cw_netcode_server_event event;
        while (cw_netcode_server_next(rig->server, &event))
            ;
    }
}

/* The same client begins again with another token before it is connected. */
/* A server that starts anew, or another one that the token names, has the same keys. */
TEST(servers_begin_at_numbers_of_their_own)
{
    uint8_t token[CW_TOKEN_SIZE];
    uint64_t sequences[2];
    for (int i = 0; i < 2; i++) {
        struct rig rig;
        rig_init(&rig);
        rig.seed += (uint64_t)i; /* another server draws other random bytes */
        rig_start(&rig);
        if (i == 0)
            rig_token(&rig, token, 1);
        const struct cw_address at = rig_client_address(1);
        struct cw_token read;
        struct cw_secure_packet packet;
        struct cw_address to;
        uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
        assert_ok(cw_token_read(token, sizeof(token), &read));
        assert_ok(rig_give_token(&rig, &at, token));
        const size_t size = cw_netcode_server_transmit(rig.server, out, sizeof(out), rig.now, &to);
        assert_ok(cw_secure_read(out, size,
                                 &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                         .direction = CW_TO_CLIENT,
                                                         .bytes = read.server_to_client_key},
                                 NULL, body, &packet));
        assert_int_equal(packet.sequence >> 61, 4); /* room to count, and for the other bits */
        sequences[i] = packet.sequence;
    }
    assert_true(sequences[0] != sequences[1]);
}

TEST(pending_client_with_another_token)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *first = rig_client(rig, 1), *second = rig_client(rig, 2);
    rig_challenge(rig, first, &at);
    rig_up(rig, second, &at);
    assert_int_equal(rig_stats(rig).pending, 1);
    rig_up(rig, first, &at);
    assert_int_equal(rig_stats(rig).clients, 0);
    rig_down(rig, second, &at);
    rig_connect(rig, second, &at);
}

TEST(two_addresses_of_one_server)
{
    struct rig rig;
    rig_init(&rig);
    const struct cw_address own[2] = {rig_address("127.0.0.1:40000"), rig_address("[::1]:40000")};
    rig.config.addresses = own;
    rig.config.address_count = 2;
    rig.config.random = (struct cw_random){netcode_fill, &rig.seed};
    rig.server = netcode_server_with(&rig.config);
    cw_netcode_server_update(rig.server, 0);
    rig.now = 10;
    for (uint32_t i = 0; i < 2; i++) {
        const struct cw_address at = rig_client_address(i);
        struct cw_token_grant grant = rig_grant(&rig, i);
        grant.addresses = &own[i];
        assert_ok(rig_give_grant(&rig, &at, &grant, rig_key));
    }
}

/* A token for several servers names each of them. */
TEST(token_of_many_servers)
{
    struct rig *rig = rig_open();
    for (uint32_t place = 0; place <= CW_TOKEN_MAX_ADDRESSES; place++) {
        const struct cw_address at = rig_client_address(place);
        struct cw_address servers[CW_TOKEN_MAX_ADDRESSES];
        for (uint32_t i = 0; i < CW_TOKEN_MAX_ADDRESSES; i++) {
            servers[i] = rig->address;
            if (i != place)
                servers[i].port++;
        }
        struct cw_token_grant grant = rig_grant(rig, place);
        grant.addresses = servers;
        grant.address_count = CW_TOKEN_MAX_ADDRESSES;
        if (rig_stats(rig).pending == rig->config.max_clients)
            rig->now += 5;
        cw_netcode_server_update(rig->server, rig->now);
        assert_int_equal(rig_give_grant(rig, &at, &grant, rig_key),
                         place < CW_TOKEN_MAX_ADDRESSES ? CW_OK : CW_ERROR_TOKEN_SERVER);
    }
}

/* A pending client's datagrams are read in the order of the standard too. */
TEST(responses_in_reading_order)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_challenge(rig, client, &at);
    uint8_t response[CW_SECURE_MAX];
    const size_t size = 2 + CW_CHALLENGE_BODY_SIZE + CW_MAC_BYTES;
    assert_int_equal(cw_netcode_client_transmit(client, response, sizeof(response), rig->now, NULL),
                     size);
    assert_int_equal(response[0], CW_SECURE_RESPONSE | 1 << 4);
    assert_int_equal(rig_give(rig, &at, response, 17), CW_ERROR_PACKET_SHORT);
    response[0] = CW_SECURE_CHALLENGE | 1 << 4;
    assert_int_equal(rig_give(rig, &at, response, size), CW_ERROR_PACKET_TYPE);
    response[0] = CW_SECURE_RESPONSE | 9 << 4;
    assert_int_equal(rig_give(rig, &at, response, size), CW_ERROR_PACKET_SEQUENCE);
    response[0] = CW_SECURE_RESPONSE | 1 << 4;
    response[size - 1] ^= 1;
    assert_int_equal(rig_give(rig, &at, response, size), CW_ERROR_NOT_AUTHENTIC);
    response[size - 1] ^= 1;
    assert_int_equal(rig_stats(rig).pending, 1);
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_ok(rig_give(rig, &at, response, size));
    /* It may come twice; then it is no more than that. */
    assert_int_equal(rig_give(rig, &at, response, size), CW_ERROR_UNEXPECTED);
    assert_int_equal(rig_stats(rig).clients, 1);
}

/* The token of a pending client ends, and is forgotten, before the response comes. */
TEST(token_forgotten_before_the_response)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.token_history = 1;
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    struct cw_token_grant grant = rig_grant(&rig, 1);
    grant.timeout_seconds = 20;
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *a = rig_client_of(&rig, &config, &grant);
    uint8_t token[CW_TOKEN_SIZE];
    rig.now += 44;
    rig_challenge(&rig, a, &at_a);
    rig.now += 2;
    rig_token(&rig, token, 2);
    assert_ok(rig_give_token(&rig, &at_b, token));
    uint8_t response[CW_SECURE_MAX];
    const size_t size = cw_netcode_client_transmit(a, response, sizeof(response), rig.now, NULL);
    assert_int_equal(rig_give(&rig, &at_a, response, size), CW_ERROR_TOKEN_USED);
    assert_int_equal(rig_stats(&rig).clients, 0);
}
