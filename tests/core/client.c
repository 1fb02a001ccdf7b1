/* The client's state machine, line by line, against packets made by hand. */
#include "secure_rig.h"

/* A client with a token for count servers, and what the servers need to answer it. */
struct bench {
    struct cw_client *client;
    struct cw_token token;
    uint8_t bytes[CW_TOKEN_SIZE];
    struct cw_address servers[3];
    uint64_t sequence;
    uint64_t seed;
    double now;
};

static void make_token(struct bench *bench, uint32_t servers, int32_t timeout, uint32_t life)
{
    struct cw_token_grant grant = cw_token_grant_default();
    bench->servers[0] = rig_address("10.0.0.1:1");
    bench->servers[1] = rig_address("[::1]:2");
    bench->servers[2] = rig_address("10.0.0.3:3");
    grant.protocol_id = RIG_PROTOCOL;
    grant.create_time = RIG_UNIX;
    grant.life_seconds = life;
    grant.timeout_seconds = timeout;
    grant.addresses = bench->servers;
    grant.address_count = servers;
    grant.random = (struct cw_random){netcode_fill, &bench->seed};
    assert_int_equal(cw_token_generate(bench->bytes, &grant, rig_key), CW_OK);
    assert_int_equal(cw_token_read(&bench->token, bench->bytes, CW_TOKEN_SIZE), CW_OK);
}

static struct bench setup(uint32_t servers, int32_t timeout, uint32_t life)
{
    struct bench bench = {.seed = 5, .now = 100};
    const struct cw_client_config config = cw_client_config_default();
    make_token(&bench, servers, timeout, life);
    assert_int_equal(cw_client_create(&bench.client, &config), CW_OK);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_DISCONNECTED);
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now), CW_OK);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    return bench;
}

static enum cw_error give(struct bench *bench, enum cw_secure_type type, uint64_t sequence,
                          const void *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    const size_t length = cw_secure_write(out, sizeof(out), type, sequence, body, size,
                                          RIG_PROTOCOL, bench->token.server_to_client_key);
    assert_true(length > 0);
    uint8_t *exact = netcode_exact(out, length);
    const enum cw_error error = cw_client_receive(
        bench->client, cw_client_server_address(bench->client), exact, length, bench->now);
    free(exact);
    return error;
}

static enum cw_error give_challenge(struct bench *bench)
{
    uint8_t body[CW_CHALLENGE_BODY_SIZE], token[CW_CHALLENGE_TOKEN_SIZE];
    memset(token, 0x77, sizeof(token));
    cw_challenge_put(body, 99, token);
    return give(bench, CW_SECURE_CHALLENGE, ((uint64_t)1 << 63) + bench->sequence++, body,
                sizeof(body));
}

static enum cw_error give_keep_alive(struct bench *bench)
{
    uint8_t body[CW_KEEP_ALIVE_SIZE];
    cw_keep_alive_put(body, 7, 64);
    return give(bench, CW_SECURE_KEEP_ALIVE, bench->sequence++, body, sizeof(body));
}

static enum cw_error give_denied(struct bench *bench)
{
    return give(bench, CW_SECURE_DENIED, ((uint64_t)1 << 63) + bench->sequence++, NULL, 0);
}

/* The type of the next packet, its body in *body; -1 when there is none. */
static int take(struct bench *bench, uint8_t body[CW_PAYLOAD_MAX], struct cw_address *to)
{
    uint8_t out[CW_SECURE_MAX];
    struct cw_address address;
    const size_t size =
        cw_client_transmit(bench->client, to ? to : &address, out, sizeof(out), bench->now);
    if (size == 0)
        return -1;
    if (out[0] == CW_SECURE_REQUEST) {
        uint8_t expected[CW_REQUEST_SIZE];
        cw_request_write(expected, &bench->token);
        assert_int_equal(size, sizeof(expected));
        assert_memory_equal(out, expected, sizeof(expected));
        return CW_SECURE_REQUEST;
    }
    struct cw_secure_packet packet;
    assert_int_equal(cw_secure_read(&packet, body, out, size, CW_TO_SERVER, RIG_PROTOCOL,
                                    bench->token.client_to_server_key, NULL),
                     CW_OK);
    return (int)packet.type;
}

static void expect_event(struct bench *bench, enum cw_client_event_type type,
                         enum cw_client_state state)
{
    struct cw_client_event event;
    assert_true(cw_client_next(bench->client, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.state, state);
    assert_int_equal(cw_client_state(bench->client), state);
    assert_false(cw_client_next(bench->client, &event));
}

static void to_connected(struct bench *bench)
{
    uint8_t body[CW_PAYLOAD_MAX];
    assert_int_equal(take(bench, body, NULL), CW_SECURE_REQUEST);
    assert_int_equal(give_challenge(bench), CW_OK);
    assert_int_equal(take(bench, body, NULL), CW_SECURE_RESPONSE);
    assert_int_equal(give_keep_alive(bench), CW_OK);
    expect_event(bench, CW_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
    assert_int_equal(take(bench, body, NULL), CW_SECURE_KEEP_ALIVE);
    assert_int_equal(take(bench, body, NULL), -1);
}

static void pass(struct bench *bench, double seconds)
{
    bench->now += seconds;
    cw_client_update(bench->client, bench->now);
}

static void connects(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_address to;
    assert_int_equal(take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[0]));
    assert_int_equal(take(&bench, body, NULL), -1);
    assert_int_equal(give_challenge(&bench), CW_OK);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    assert_int_equal(take(&bench, body, NULL), CW_SECURE_RESPONSE);
    uint64_t sequence;
    const uint8_t *token = cw_challenge_get(body, &sequence);
    assert_int_equal(sequence, 99);
    for (size_t i = 0; i < CW_CHALLENGE_TOKEN_SIZE; i++)
        assert_int_equal(token[i], 0x77);
    assert_int_equal(give_keep_alive(&bench), CW_OK);
    expect_event(&bench, CW_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
    assert_int_equal(cw_client_index(bench.client), 7);
    assert_int_equal(cw_client_max_clients(bench.client), 64);
    cw_client_destroy(bench.client);
}

static void resends_ten_times_a_second(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    int requests = 0, responses = 0, keep_alives = 0;
    for (int tick = 0; tick < 100; tick++) {
        pass(&bench, 0.01);
        requests += take(&bench, body, NULL) == CW_SECURE_REQUEST;
    }
    assert_in_range(requests, 9, 11);
    give_challenge(&bench);
    for (int tick = 0; tick < 100; tick++) {
        pass(&bench, 0.01);
        responses += take(&bench, body, NULL) == CW_SECURE_RESPONSE;
    }
    assert_in_range(responses, 9, 11);
    give_keep_alive(&bench);
    for (int tick = 0; tick < 100; tick++) {
        pass(&bench, 0.01);
        keep_alives += take(&bench, body, NULL) == CW_SECURE_KEEP_ALIVE;
    }
    assert_in_range(keep_alives, 9, 11);
    cw_client_destroy(bench.client);
}

/* Payloads take the place of keep-alives. */
static void payloads_both_ways(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX], payload[CW_PAYLOAD_MAX + 1];
    memset(payload, 5, sizeof(payload));
    assert_int_equal(cw_client_send(bench.client, payload, 1), CW_ERROR_NOT_CONNECTED);
    to_connected(&bench);
    assert_int_equal(cw_client_send(bench.client, payload, 0), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_client_send(bench.client, payload, CW_PAYLOAD_MAX + 1),
                     CW_ERROR_PACKET_TOO_LARGE);
    for (int tick = 0; tick < 100; tick++) {
        pass(&bench, tick % 2 ? 0.05 : 0.2);
        give_keep_alive(&bench);
        assert_int_equal(cw_client_send(bench.client, payload, CW_PAYLOAD_MAX), CW_OK);
        assert_int_equal(cw_client_send(bench.client, payload, 1), CW_ERROR_TRANSMIT_PENDING);
        assert_int_equal(take(&bench, body, NULL), CW_SECURE_PAYLOAD);
        assert_memory_equal(body, payload, CW_PAYLOAD_MAX);
        assert_int_equal(take(&bench, body, NULL), -1);
    }
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 5000, "hello", 5), CW_OK);
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5), CW_ERROR_EVENTS_PENDING);
    struct cw_client_event event;
    assert_true(cw_client_next(bench.client, &event));
    assert_int_equal(event.type, CW_CLIENT_EVENT_PAYLOAD);
    assert_int_equal(event.size, 5);
    assert_memory_equal(event.payload, "hello", 5);
    assert_false(cw_client_next(bench.client, &event));
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5), CW_OK);
    assert_true(cw_client_next(bench.client, &event));
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 5001, "again", 5), CW_ERROR_DUPLICATE);
    cw_client_destroy(bench.client);
}

static void payloads_before_connected_are_dropped(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    struct cw_client_event event;
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 1, "x", 1), CW_ERROR_UNEXPECTED);
    give_challenge(&bench);
    assert_int_equal(give(&bench, CW_SECURE_PAYLOAD, 2, "x", 1), CW_ERROR_UNEXPECTED);
    assert_int_equal(give(&bench, CW_SECURE_DISCONNECT, 3, NULL, 0), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    assert_false(cw_client_next(bench.client, &event));
    cw_client_destroy(bench.client);
}

static void keep_alive_does_not_skip_the_challenge(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    assert_int_equal(give_keep_alive(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    cw_client_destroy(bench.client);
}

static void later_challenges_change_nothing(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    assert_int_equal(give_challenge(&bench), CW_OK);
    assert_int_equal(give_challenge(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(give_keep_alive(&bench), CW_OK);
    assert_int_equal(give_challenge(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(give_denied(&bench), CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_CONNECTED);
    cw_client_destroy(bench.client);
}

static void denied(void **state)
{
    (void)state;
    for (int challenged = 0; challenged < 2; challenged++) {
        struct bench bench = setup(1, 5, 45);
        if (challenged)
            give_challenge(&bench);
        assert_int_equal(give_denied(&bench), CW_OK);
        expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DENIED);
        uint8_t body[CW_PAYLOAD_MAX];
        pass(&bench, 1);
        assert_int_equal(take(&bench, body, NULL), -1);
        cw_client_destroy(bench.client);
    }
}

static void denied_because_of_the_schema(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    assert_int_equal(give(&bench, CW_SECURE_DENIED, (uint64_t)3 << 62, NULL, 0), CW_OK);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_SCHEMA);
    cw_client_destroy(bench.client);
}

static void request_times_out(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    pass(&bench, 4.99);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    pass(&bench, 0.01);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_REQUEST_TIMED_OUT);
    cw_client_destroy(bench.client);
}

static void response_times_out(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    pass(&bench, 4);
    give_challenge(&bench);
    pass(&bench, 4.99);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_RESPONSE);
    pass(&bench, 0.01);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_RESPONSE_TIMED_OUT);
    cw_client_destroy(bench.client);
}

static void connection_times_out(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    to_connected(&bench);
    pass(&bench, 4);
    assert_int_equal(give_keep_alive(&bench), CW_OK);
    pass(&bench, 4.99);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_CONNECTED);
    pass(&bench, 0.02);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TIMED_OUT);
    /* The server may still hear us. */
    uint8_t body[CW_PAYLOAD_MAX];
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(take(&bench, body, NULL), -1);
    cw_client_destroy(bench.client);
}

/* What cannot be read keeps no connection alive. */
static void junk_does_not_keep_alive(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    to_connected(&bench);
    uint8_t junk[100];
    for (int tick = 0; tick < 100; tick++) {
        netcode_fill(&bench.seed, junk, sizeof(junk));
        junk[0] = 0x14;
        cw_client_receive(bench.client, NULL, junk, sizeof(junk), bench.now);
        pass(&bench, 0.06);
    }
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_TIMED_OUT);
    cw_client_destroy(bench.client);
}

static void negative_timeout_never_times_out(void **state)
{
    (void)state;
    struct bench bench = setup(1, -1, 45);
    pass(&bench, 44);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    give_challenge(&bench);
    give_keep_alive(&bench);
    pass(&bench, 1e6);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_CONNECTED);
    cw_client_destroy(bench.client);
}

/* Across servers, and whatever the timeout; but not once connected. */
static void token_expires(void **state)
{
    (void)state;
    struct bench bench = setup(3, 5, 12);
    pass(&bench, 5);
    pass(&bench, 5);
    pass(&bench, 1.99);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    pass(&bench, 0.01);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TOKEN_EXPIRED);
    cw_client_destroy(bench.client);

    bench = setup(1, 5, 3);
    pass(&bench, 2.9);
    give_challenge(&bench);
    pass(&bench, 0.11);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_TOKEN_EXPIRED);
    cw_client_destroy(bench.client);

    bench = setup(1, 5, 3);
    to_connected(&bench);
    pass(&bench, 4);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_CONNECTED);
    cw_client_destroy(bench.client);
}

/* Each failure of one server leads to the next; the last one's is the client's. */
static void tries_each_server(void **state)
{
    (void)state;
    struct bench bench = setup(3, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_address to;
    struct cw_client_event event;
    assert_int_equal(take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[0]));
    assert_int_equal(give_denied(&bench), CW_OK);
    assert_false(cw_client_next(bench.client, &event));
    assert_int_equal(take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[1]));
    give_challenge(&bench);
    assert_int_equal(take(&bench, body, &to), CW_SECURE_RESPONSE);
    assert_true(cw_address_equal(&to, &bench.servers[1]));
    pass(&bench, 5);
    assert_int_equal(take(&bench, body, &to), CW_SECURE_REQUEST);
    assert_true(cw_address_equal(&to, &bench.servers[2]));
    assert_false(cw_client_next(bench.client, &event));
    pass(&bench, 5);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_REQUEST_TIMED_OUT);
    cw_client_destroy(bench.client);
}

/* A server's numbers start anew with the next server, the client's never do. */
static void sequences_across_servers(void **state)
{
    (void)state;
    struct bench bench = setup(2, 5, 45);
    uint8_t first[CW_SECURE_MAX], second[CW_SECURE_MAX];
    give_challenge(&bench);
    pass(&bench, 0);
    cw_client_transmit(bench.client, NULL, first, sizeof(first), bench.now);
    pass(&bench, 5);
    cw_client_transmit(bench.client, NULL, second, sizeof(second), bench.now);
    bench.sequence = 0;
    give_challenge(&bench);
    cw_client_transmit(bench.client, NULL, second, sizeof(second), bench.now);
    assert_int_equal(first[0], 0x13);
    assert_int_equal(second[0], 0x13);
    assert_int_not_equal(first[1], second[1]);
    bench.sequence = 0;
    assert_int_equal(give_keep_alive(&bench), CW_OK);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_CONNECTED);
    cw_client_destroy(bench.client);
}

static void only_from_the_server(void **state)
{
    (void)state;
    struct bench bench = setup(2, 5, 45);
    uint8_t out[CW_SECURE_MAX];
    const size_t size = cw_secure_write(out, sizeof(out), CW_SECURE_DENIED, 1, NULL, 0,
                                        RIG_PROTOCOL, bench.token.server_to_client_key);
    assert_int_equal(cw_client_receive(bench.client, &bench.servers[1], out, size, bench.now),
                     CW_ERROR_WRONG_SENDER);
    assert_int_equal(cw_client_receive(bench.client, &bench.servers[0], out, size, bench.now),
                     CW_OK);
    struct cw_client_stats stats;
    cw_client_stats(bench.client, &stats);
    assert_int_equal(stats.datagrams_received, 2);
    assert_int_equal(stats.dropped[CW_ERROR_WRONG_SENDER], 1);
    cw_client_destroy(bench.client);
}

static void server_disconnects(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    to_connected(&bench);
    assert_int_equal(give(&bench, CW_SECURE_DISCONNECT, 1000, NULL, 0), CW_OK);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    pass(&bench, 1);
    assert_int_equal(take(&bench, body, NULL), -1);
    assert_int_equal(give_keep_alive(&bench), CW_ERROR_NOT_CONNECTED);
    cw_client_destroy(bench.client);
}

static void client_disconnects(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t body[CW_PAYLOAD_MAX];
    to_connected(&bench);
    cw_client_disconnect(bench.client);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(take(&bench, body, NULL), -1);
    cw_client_disconnect(bench.client);
    assert_int_equal(take(&bench, body, NULL), -1);
    cw_client_destroy(bench.client);

    /* Who has answered a challenge may have a slot already. */
    bench = setup(1, 5, 45);
    give_challenge(&bench);
    cw_client_disconnect(bench.client);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(&bench, body, NULL), CW_SECURE_DISCONNECT);
    assert_int_equal(take(&bench, body, NULL), -1);
    cw_client_destroy(bench.client);

    bench = setup(1, 5, 45);
    cw_client_disconnect(bench.client);
    expect_event(&bench, CW_CLIENT_EVENT_DISCONNECTED, CW_CLIENT_DISCONNECTED);
    assert_int_equal(take(&bench, body, NULL), -1);
    cw_client_destroy(bench.client);
}

static void tokens_refused(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_CONNECTED);
    cw_client_disconnect(bench.client);
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_TOKEN_USED);
    make_token(&bench, 1, 5, 45);
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE - 1, bench.now),
                     CW_ERROR_TOKEN_SIZE);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_INVALID_TOKEN);
    bench.bytes[3] ^= 1;
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_ERROR_VERSION);
    assert_int_equal(cw_client_state(bench.client), CW_CLIENT_INVALID_TOKEN);
    bench.bytes[3] ^= 1;
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now), CW_OK);
    to_connected(&bench);
    cw_client_destroy(bench.client);
}

/* Bug 7: nothing of the old life is left. */
static void second_connection_is_like_the_first(void **state)
{
    (void)state;
    struct bench bench = setup(2, 5, 45);
    give_denied(&bench);
    to_connected(&bench);
    give(&bench, CW_SECURE_PAYLOAD, 70000, "x", 1);
    cw_client_disconnect(bench.client);
    make_token(&bench, 1, 5, 45);
    bench.sequence = 0;
    assert_int_equal(cw_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now), CW_OK);
    struct cw_client_stats stats;
    struct cw_client_event event;
    cw_client_stats(bench.client, &stats);
    assert_int_equal(stats.datagrams_received, 0);
    assert_int_equal(stats.datagrams_sent, 0);
    assert_false(cw_client_next(bench.client, &event));
    assert_int_equal(cw_client_index(bench.client), 0);
    assert_true(cw_address_equal(cw_client_server_address(bench.client), &bench.servers[0]));
    uint8_t out[CW_SECURE_MAX];
    give_challenge(&bench);
    assert_true(cw_client_transmit(bench.client, NULL, out, sizeof(out), bench.now) > 0);
    assert_int_equal(out[0], 0x13);
    assert_int_equal(out[1], 0);
    assert_int_equal(give_keep_alive(&bench), CW_OK);
    expect_event(&bench, CW_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
    cw_client_destroy(bench.client);
}

static void schema_of_the_token(void **state)
{
    (void)state;
    struct cw_client_config config = cw_client_config_default();
    config.fingerprint = 5;
    struct cw_client *client;
    assert_int_equal(cw_client_create(&client, &config), CW_OK);
    struct rig rig;
    rig_init(&rig);
    struct cw_token_grant grant = rig_grant(&rig, 1);
    uint8_t token[CW_TOKEN_SIZE];
    grant.fingerprint = 6;
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), 0), CW_ERROR_SCHEMA);
    assert_int_equal(cw_client_state(client), CW_CLIENT_SCHEMA);
    grant.fingerprint = 0;
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), 0), CW_OK);
    cw_client_disconnect(client);
    grant.fingerprint = 5;
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), 0), CW_OK);
    cw_client_destroy(client);
}

static void configs_refused(void **state)
{
    (void)state;
    struct cw_client *client;
    struct cw_client_config config = cw_client_config_default();
    config.resend_seconds = 0;
    assert_int_equal(cw_client_create(&client, &config), CW_ERROR_CONFIG_TIME);
    assert_int_equal(cw_client_memory(&config), 0);
    config = cw_client_config_default();
    config.keep_alive_seconds = -1;
    assert_int_equal(cw_client_create(&client, &config), CW_ERROR_CONFIG_TIME);
    config = cw_client_config_default();
    config.disconnect_packets = 0;
    assert_int_equal(cw_client_create(&client, &config), CW_ERROR_CONFIG_DISCONNECT_PACKETS);
    cw_client_destroy(NULL);
}

static void too_small_a_buffer_loses_nothing(void **state)
{
    (void)state;
    struct bench bench = setup(1, 5, 45);
    uint8_t out[CW_SECURE_MAX];
    assert_int_equal(cw_client_transmit(bench.client, NULL, out, CW_SECURE_MAX - 1, bench.now), 0);
    assert_int_equal(cw_client_transmit(bench.client, NULL, out, CW_SECURE_MAX, bench.now),
                     CW_REQUEST_SIZE);
    cw_client_destroy(bench.client);
}

static void states_have_names(void **state)
{
    (void)state;
    for (int i = CW_CLIENT_SCHEMA; i <= CW_CLIENT_CONNECTED; i++) {
        assert_non_null(cw_client_state_string((enum cw_client_state)i));
        assert_string_not_equal(cw_client_state_string((enum cw_client_state)i), "unknown state");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects),
        cmocka_unit_test(resends_ten_times_a_second),
        cmocka_unit_test(payloads_both_ways),
        cmocka_unit_test(payloads_before_connected_are_dropped),
        cmocka_unit_test(keep_alive_does_not_skip_the_challenge),
        cmocka_unit_test(later_challenges_change_nothing),
        cmocka_unit_test(denied),
        cmocka_unit_test(denied_because_of_the_schema),
        cmocka_unit_test(request_times_out),
        cmocka_unit_test(response_times_out),
        cmocka_unit_test(connection_times_out),
        cmocka_unit_test(junk_does_not_keep_alive),
        cmocka_unit_test(negative_timeout_never_times_out),
        cmocka_unit_test(token_expires),
        cmocka_unit_test(tries_each_server),
        cmocka_unit_test(sequences_across_servers),
        cmocka_unit_test(only_from_the_server),
        cmocka_unit_test(server_disconnects),
        cmocka_unit_test(client_disconnects),
        cmocka_unit_test(tokens_refused),
        cmocka_unit_test(second_connection_is_like_the_first),
        cmocka_unit_test(schema_of_the_token),
        cmocka_unit_test(configs_refused),
        cmocka_unit_test(too_small_a_buffer_loses_nothing),
        cmocka_unit_test(states_have_names),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
