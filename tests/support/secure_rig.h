/* A server, a clock and a backend in one place, for the tests of client and server. Unix time is
   RIG_UNIX plus the clock; the server has been up for ten seconds when a test begins. */
#ifndef CAUSEWAY_TESTS_SECURE_RIG_H
#define CAUSEWAY_TESTS_SECURE_RIG_H

#include "causeway/client.h"
#include "causeway/server.h"
#include "netcode.h"
#include "unit.h"

#define RIG_UNIX     1900000000
#define RIG_PROTOCOL 0x1122334455667788u

static const uint8_t rig_key[CW_KEY_BYTES] = {3, 1, 4, 1, 5, 9};

struct rig {
    struct cw_server *server;
    struct cw_server_config config;
    struct cw_address address; /* the server's address */
    double now;
    uint64_t seed;
};

static inline struct cw_address rig_address(const char *text)
{
    struct cw_address address;
    assert_int_equal(cw_address_parse(text, &address), CW_OK);
    return address;
}

/* Returns the address of the n-th client. */
static inline struct cw_address rig_client_address(uint32_t n)
{
    return (struct cw_address){.type = CW_ADDRESS_IPV4,
                               .port = (uint16_t)(1000 + n),
                               .bytes = {10, 1, (uint8_t)(n >> 8), (uint8_t)n}};
}

/* Fills in a config, which the test may change before rig_start. */
static inline void rig_init(struct rig *rig)
{
    *rig = (struct rig){.address = rig_address("127.0.0.1:40000"), .seed = 1};
    rig->config = cw_server_config_default();
    rig->config.protocol_id = RIG_PROTOCOL;
    memcpy(rig->config.private_key, rig_key, CW_KEY_BYTES);
    rig->config.address_count = 1;
    rig->config.max_clients = 4;
    rig->config.unix_offset_seconds = RIG_UNIX;
}

static inline void rig_start(struct rig *rig)
{
    rig->config.addresses = &rig->address;
    rig->config.random = (struct cw_random){netcode_fill, &rig->seed};
    assert_int_equal(cw_server_create(&rig->config, &rig->server), CW_OK);
    cw_server_update(rig->server, rig->now);
    rig->now += 10;
    cw_server_update(rig->server, rig->now);
}

/* Starts the rig with the config as it is. */
static inline void rig_open(struct rig *rig)
{
    rig_init(rig);
    rig_start(rig);
}

static inline void rig_stop(struct rig *rig)
{
    cw_server_destroy(rig->server);
}

static inline struct cw_token_grant rig_grant(struct rig *rig, uint64_t client_id)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = RIG_PROTOCOL;
    grant.client_id = client_id;
    grant.create_time = (uint64_t)(RIG_UNIX + rig->now);
    grant.addresses = &rig->address;
    grant.address_count = 1;
    grant.user_data[0] = (uint8_t)client_id;
    grant.random = (struct cw_random){netcode_fill, &rig->seed};
    return grant;
}

static inline void rig_token(struct rig *rig, uint8_t out[CW_TOKEN_SIZE], uint64_t client_id)
{
    const struct cw_token_grant grant = rig_grant(rig, client_id);
    assert_int_equal(cw_token_generate(&grant, rig_key, out), CW_OK);
}

/* Two ways to make a client that begins to connect: with a token, and with one from this grant. */
static inline struct cw_client *rig_client_with(struct rig *rig,
                                                const struct cw_client_config *config,
                                                const uint8_t token[CW_TOKEN_SIZE])
{
    struct cw_client *client;
    assert_int_equal(cw_client_create(config, &client), CW_OK);
    assert_int_equal(cw_client_connect(client, token, CW_TOKEN_SIZE, rig->now), CW_OK);
    return client;
}

static inline struct cw_client *rig_client_of(struct rig *rig,
                                              const struct cw_client_config *config,
                                              const struct cw_token_grant *grant)
{
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(cw_token_generate(grant, rig_key, token), CW_OK);
    return rig_client_with(rig, config, token);
}

static inline struct cw_client *rig_client(struct rig *rig, uint64_t client_id)
{
    const struct cw_client_config config = cw_client_config_default();
    const struct cw_token_grant grant = rig_grant(rig, client_id);
    return rig_client_of(rig, &config, &grant);
}

/* Gives the server everything that the client has to send. Returns the number of datagrams. */
static inline int rig_up(struct rig *rig, struct cw_client *client, const struct cw_address *from)
{
    uint8_t datagram[CW_SECURE_MAX];
    size_t size;
    int count = 0;
    while ((size = cw_client_transmit(client, datagram, sizeof(datagram), rig->now, NULL)) > 0) {
        cw_server_receive(rig->server, from, datagram, size, rig->now);
        count++;
    }
    return count;
}

/* Gives the client, if it is at `at`, everything that the server has to send. */
static inline int rig_down(struct rig *rig, struct cw_client *client, const struct cw_address *at)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    int count = 0;
    while ((size = cw_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to)) >
           0) {
        if (client && cw_address_equal(&to, at))
            cw_client_receive(client, &rig->address, datagram, size, rig->now);
        count++;
    }
    return count;
}

/* Exchanges what a client at its address has to send, and the answer. */
static inline void rig_exchange(struct rig *rig, struct cw_client *client,
                                const struct cw_address *at)
{
    rig_up(rig, client, at);
    rig_down(rig, client, at);
}

/* Exchanges the request of a client and its challenge. */
static inline void rig_challenge(struct rig *rig, struct cw_client *client,
                                 const struct cw_address *at)
{
    rig_exchange(rig, client, at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_SENDING_RESPONSE);
}

static inline void rig_tick(struct rig *rig, struct cw_client *client, const struct cw_address *at)
{
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    cw_client_update(client, rig->now);
    rig_exchange(rig, client, at);
}

/* Connects a client at its address, takes the event and returns the slot. */
static inline uint32_t rig_connect(struct rig *rig, struct cw_client *client,
                                   const struct cw_address *at)
{
    for (int i = 0; i < 3; i++)
        rig_tick(rig, client, at);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    struct cw_server_event event;
    struct cw_client_event own;
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    assert_true(cw_client_next(client, &own));
    assert_int_equal(own.type, CW_CLIENT_EVENT_CONNECTED);
    return event.client;
}

/* Returns the error that the server gives for the datagram, from a block of exactly its size. */
static inline enum cw_error rig_give(struct rig *rig, const struct cw_address *from,
                                     const void *data, size_t size)
{
    uint8_t *copy = netcode_exact(data, size);
    const enum cw_error error = cw_server_receive(rig->server, from, copy, size, rig->now);
    free(copy);
    return error;
}

/* Writes the request that belongs to a token. */
static inline void rig_request(uint8_t out[CW_REQUEST_SIZE], const uint8_t token[CW_TOKEN_SIZE])
{
    struct cw_token read;
    assert_int_equal(cw_token_read(token, CW_TOKEN_SIZE, &read), CW_OK);
    cw_request_write(&read, out);
}

/* Returns whether the server has nothing to send. */
static inline bool rig_silent(struct rig *rig)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    return cw_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to) == 0;
}

static inline enum cw_error rig_give_token(struct rig *rig, const struct cw_address *from,
                                           const uint8_t token[CW_TOKEN_SIZE])
{
    uint8_t request[CW_REQUEST_SIZE];
    rig_request(request, token);
    return rig_give(rig, from, request, sizeof(request));
}

static inline enum cw_error rig_give_grant(struct rig *rig, const struct cw_address *from,
                                           const struct cw_token_grant *grant, const uint8_t *key)
{
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(cw_token_generate(grant, key, token), CW_OK);
    return rig_give_token(rig, from, token);
}

static inline struct cw_server_stats rig_stats(struct rig *rig)
{
    struct cw_server_stats stats;
    cw_server_stats(rig->server, &stats);
    return stats;
}

static inline void rig_no_event(struct rig *rig)
{
    struct cw_server_event event;
    assert_false(cw_server_next(rig->server, &event));
}

/* Takes all events and returns the number of payloads among them. client may be NULL. */
static inline int rig_drain(struct rig *rig, struct cw_client *client)
{
    struct cw_server_event up;
    struct cw_client_event down;
    int payloads = 0;
    while (cw_server_next(rig->server, &up))
        payloads += up.type == CW_SERVER_EVENT_PAYLOAD;
    while (client && cw_client_next(client, &down))
        payloads += down.type == CW_CLIENT_EVENT_PAYLOAD;
    return payloads;
}

#endif
