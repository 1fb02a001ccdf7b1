/* A client with a token for up to three servers, whose packets a test makes by hand. */
#ifndef CAUSEWAY_TESTS_CLIENT_BENCH_H
#define CAUSEWAY_TESTS_CLIENT_BENCH_H

#include "netcode/secure_packet.h"
#include "secure_rig.h"

struct bench {
    struct cw_netcode_client *client;
    struct cw_token token;
    uint8_t bytes[CW_TOKEN_SIZE];
    struct cw_address servers[3];
    uint64_t sequence;
    uint64_t seed;
    double now;
};

static inline void bench_make_token(struct bench *bench, uint32_t servers, int32_t timeout,
                                    uint32_t life)
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
    assert_int_equal(cw_token_generate(&grant, rig_key, bench->bytes), CW_OK);
    assert_int_equal(cw_token_read(bench->bytes, CW_TOKEN_SIZE, &bench->token), CW_OK);
}

static inline struct bench bench_setup(uint32_t servers, int32_t timeout, uint32_t life)
{
    struct bench bench = {.seed = 5, .now = 100};
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    bench_make_token(&bench, servers, timeout, life);
    bench.client = netcode_client_with(&config);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_DISCONNECTED);
    assert_int_equal(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now),
                     CW_OK);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
    return bench;
}

static inline enum cw_error bench_give(struct bench *bench, enum cw_secure_type type,
                                       uint64_t sequence, const void *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    const size_t length = cw_secure_write(
        &(struct cw_secure_packet){.type = type, .sequence = sequence, .body = body, .size = size},
        &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                .direction = CW_TO_CLIENT,
                                .bytes = bench->token.server_to_client_key},
        out, sizeof(out));
    assert_true(length > 0);
    uint8_t *exact = netcode_exact(out, length);
    const enum cw_error error = cw_netcode_client_receive(
        bench->client, cw_netcode_client_server_address(bench->client), exact, length, bench->now);
    free(exact);
    return error;
}

static inline enum cw_error bench_give_challenge(struct bench *bench)
{
    uint8_t body[CW_CHALLENGE_BODY_SIZE], token[CW_CHALLENGE_TOKEN_SIZE];
    memset(token, 0x77, sizeof(token));
    cw_challenge_put(99, token, body);
    return bench_give(bench, CW_SECURE_CHALLENGE, ((uint64_t)1 << 63) + bench->sequence++, body,
                      sizeof(body));
}

static inline enum cw_error bench_give_keep_alive(struct bench *bench)
{
    uint8_t body[CW_KEEP_ALIVE_SIZE];
    cw_keep_alive_put(7, 64, body);
    return bench_give(bench, CW_SECURE_KEEP_ALIVE, bench->sequence++, body, sizeof(body));
}

static inline enum cw_error bench_give_denied(struct bench *bench)
{
    return bench_give(bench, CW_SECURE_DENIED, ((uint64_t)1 << 63) + bench->sequence++, NULL, 0);
}

/* Returns the type of the next packet, with its body in *body; -1 when there is none. */
static inline int bench_take(struct bench *bench, uint8_t body[CW_PAYLOAD_MAX],
                             struct cw_address *to)
{
    uint8_t out[CW_SECURE_MAX];
    struct cw_address address;
    const size_t size =
        cw_netcode_client_transmit(bench->client, out, sizeof(out), bench->now, to ? to : &address);
    if (size == 0)
        return -1;
    if (out[0] == CW_SECURE_REQUEST) {
        uint8_t expected[CW_REQUEST_SIZE];
        cw_request_write(&bench->token, expected);
        assert_int_equal(size, sizeof(expected));
        assert_memory_equal(out, expected, sizeof(expected));
        return CW_SECURE_REQUEST;
    }
    struct cw_secure_packet packet;
    assert_int_equal(
        cw_secure_read(out, size,
                       &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                               .direction = CW_TO_SERVER,
                                               .bytes = bench->token.client_to_server_key},
                       NULL, body, &packet),
        CW_OK);
    return (int)packet.type;
}

static inline void bench_expect_event(struct bench *bench, enum cw_netcode_client_event_type type,
                                      enum cw_client_state state)
{
    struct cw_netcode_client_event event;
    assert_true(cw_netcode_client_next(bench->client, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.state, state);
    assert_int_equal(cw_netcode_client_state(bench->client), state);
    assert_false(cw_netcode_client_next(bench->client, &event));
}

static inline void bench_to_connected(struct bench *bench)
{
    uint8_t body[CW_PAYLOAD_MAX];
    assert_int_equal(bench_take(bench, body, NULL), CW_SECURE_REQUEST);
    assert_int_equal(bench_give_challenge(bench), CW_OK);
    assert_int_equal(bench_take(bench, body, NULL), CW_SECURE_RESPONSE);
    assert_int_equal(bench_give_keep_alive(bench), CW_OK);
    bench_expect_event(bench, CW_NETCODE_CLIENT_EVENT_CONNECTED, CW_CLIENT_CONNECTED);
    assert_int_equal(bench_take(bench, body, NULL), CW_SECURE_KEEP_ALIVE);
    assert_int_equal(bench_take(bench, body, NULL), -1);
}

static inline void bench_pass(struct bench *bench, double seconds)
{
    bench->now += seconds;
    cw_netcode_client_update(bench->client, bench->now);
}

#endif
