/* A server, a clock and a backend in one place, for the tests of client and server. Unix time is
   RIG_UNIX plus the clock; the server has been up for ten seconds when a test begins. The rig is
   one of cw_netcode_client and cw_netcode_server, and with RIG_MESSAGES of cw_client and cw_server.
   The test owns them. */
#ifndef CAUSEWAY_TESTS_SECURE_RIG_H
#define CAUSEWAY_TESTS_SECURE_RIG_H

#include "netcode.h"
#include "owned.h"

#ifdef RIG_MESSAGES
#define RIG(name)            cw_##name
#define RIG_WITH(name)       name##_with
#define RIG_NETCODE(server)  cw_server_netcode(server)
#define RIG_EVENT(end, name) CW_##end##_EVENT_##name
#else
#define RIG(name)            cw_netcode_##name
#define RIG_WITH(name)       netcode_##name##_with
#define RIG_NETCODE(server)  (server)
#define RIG_EVENT(end, name) CW_NETCODE_##end##_EVENT_##name
#endif

#define RIG_UNIX     1900000000
#define RIG_PROTOCOL 0x1122334455667788u

static const uint8_t rig_key[CW_KEY_BYTES] = {3, 1, 4, 1, 5, 9};

struct rig {
    struct RIG(server) * server;
    struct cw_netcode_server_config config;
    const struct cw_connection_config *connection; /* with RIG_MESSAGES */
    struct cw_address address;                     /* the server's address */
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
    rig->config = cw_netcode_server_config_default();
#ifdef RIG_MESSAGES
    rig->config.fingerprint = CW_FINGERPRINT_AUTO;
#endif
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
#ifdef RIG_MESSAGES
    struct cw_server_config config = cw_server_config_default();
    config.netcode = rig->config;
    config.connection = rig->connection;
    rig->server = server_with(&config);
#else
    rig->server = netcode_server_with(&rig->config);
#endif
    RIG(server_update)(rig->server, rig->now);
    rig->now += 10;
    RIG(server_update)(rig->server, rig->now);
}

/* Returns a rig that has started with the config as it is. */
static inline struct rig *rig_open(void)
{
    struct rig *rig = own(malloc(sizeof *rig), free);
    rig_init(rig);
    rig_start(rig);
    return rig;
}

static inline struct cw_token_grant rig_grant(struct rig *rig, uint64_t client_id)
{
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = RIG_PROTOCOL;
    grant.client_id = client_id;
    grant.timeout_seconds = 5;
    grant.create_time = (uint64_t)(RIG_UNIX + rig->now);
    grant.addresses = &rig->address;
    grant.address_count = 1;
    grant.user_data[0] = (uint8_t)client_id;
    grant.random = (struct cw_random){netcode_fill, &rig->seed};
    return grant;
}

/* Returns a grant for a token that says when it was made, by a clock that is ahead of the
   server's. */
static inline struct cw_token_grant rig_exact_grant(struct rig *rig, uint64_t client_id,
                                                    double ahead)
{
    struct cw_token_grant grant = rig_grant(rig, client_id);
    const double made = RIG_UNIX + rig->now + ahead;
    grant.create_time = (uint64_t)made;
    grant.create_milliseconds = (uint64_t)(1000 * made);
    return grant;
}

static inline void rig_token(struct rig *rig, uint8_t out[CW_TOKEN_SIZE], uint64_t client_id)
{
    const struct cw_token_grant grant = rig_grant(rig, client_id);
    assert_int_equal(cw_token_generate(&grant, rig_key, out), CW_OK);
}

/* Two ways to make a client that begins to connect: with a token, and with one from this grant. */
static inline struct RIG(client) * rig_client_with(struct rig *rig,
                                                   const struct RIG(client_config) * config,
                                                   const uint8_t token[CW_TOKEN_SIZE])
{
    struct RIG(client) *client = RIG_WITH(client)(config);
    assert_int_equal(RIG(client_connect)(client, token, CW_TOKEN_SIZE, rig->now), CW_OK);
    return client;
}

static inline struct RIG(client) * rig_client_of(struct rig *rig,
                                                 const struct RIG(client_config) * config,
                                                 const struct cw_token_grant *grant)
{
    uint8_t token[CW_TOKEN_SIZE];
    assert_int_equal(cw_token_generate(grant, rig_key, token), CW_OK);
    return rig_client_with(rig, config, token);
}

static inline struct RIG(client) * rig_client(struct rig *rig, uint64_t client_id)
{
    const struct RIG(client_config) config = RIG(client_config_default)();
    const struct cw_token_grant grant = rig_grant(rig, client_id);
    return rig_client_of(rig, &config, &grant);
}

/* Gives the server everything that the client has to send. Returns the number of datagrams. */
static inline int rig_up(struct rig *rig, struct RIG(client) * client,
                         const struct cw_address *from)
{
    uint8_t datagram[CW_SECURE_MAX];
    size_t size;
    int count = 0;
    while ((size = RIG(client_transmit)(client, datagram, sizeof(datagram), rig->now, NULL)) > 0) {
        RIG(server_receive)(rig->server, from, datagram, size, rig->now);
        count++;
    }
    return count;
}

/* Gives the client, if it is at `at`, everything that the server has to send. */
static inline int rig_down(struct rig *rig, struct RIG(client) * client,
                           const struct cw_address *at)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    int count = 0;
    while ((size = RIG(server_transmit)(rig->server, datagram, sizeof(datagram), rig->now, &to)) >
           0) {
        if (client && cw_address_equal(&to, at))
            RIG(client_receive)(client, &rig->address, datagram, size, rig->now);
        count++;
    }
    return count;
}

/* Exchanges what a client at its address has to send, and the answer. */
static inline void rig_exchange(struct rig *rig, struct RIG(client) * client,
                                const struct cw_address *at)
{
    rig_up(rig, client, at);
    rig_down(rig, client, at);
}

/* Exchanges the request of a client and its challenge. */
static inline void rig_challenge(struct rig *rig, struct RIG(client) * client,
                                 const struct cw_address *at)
{
    rig_exchange(rig, client, at);
    assert_int_equal(RIG(client_state)(client), CW_CLIENT_SENDING_RESPONSE);
}

static inline void rig_tick(struct rig *rig, struct RIG(client) * client,
                            const struct cw_address *at)
{
    rig->now += 1.0 / 60;
    RIG(server_update)(rig->server, rig->now);
    RIG(client_update)(client, rig->now);
    rig_exchange(rig, client, at);
}

/* Connects a client at its address, takes the event and returns the slot. */
static inline uint32_t rig_connect(struct rig *rig, struct RIG(client) * client,
                                   const struct cw_address *at)
{
    for (int i = 0; i < 3; i++)
        rig_tick(rig, client, at);
    assert_int_equal(RIG(client_state)(client), CW_CLIENT_CONNECTED);
    struct RIG(server_event) event;
    struct RIG(client_event) own;
    assert_true(RIG(server_next)(rig->server, &event));
    assert_int_equal(event.type, RIG_EVENT(SERVER, CONNECTED));
    assert_true(RIG(client_next)(client, &own));
    assert_int_equal(own.type, RIG_EVENT(CLIENT, CONNECTED));
    return event.client;
}

/* Returns the error that the server gives for the datagram, from a block of exactly its size. */
static inline enum cw_error rig_give(struct rig *rig, const struct cw_address *from,
                                     const void *data, size_t size)
{
    uint8_t *copy = netcode_exact(data, size);
    const enum cw_error error = RIG(server_receive)(rig->server, from, copy, size, rig->now);
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
    return RIG(server_transmit)(rig->server, datagram, sizeof(datagram), rig->now, &to) == 0;
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

static inline struct cw_netcode_server_stats rig_stats(struct rig *rig)
{
    struct cw_netcode_server_stats stats;
    cw_netcode_server_get_stats(RIG_NETCODE(rig->server), &stats);
    return stats;
}

static inline void rig_no_event(struct rig *rig)
{
    struct RIG(server_event) event;
    assert_false(RIG(server_next)(rig->server, &event));
}

#ifndef RIG_MESSAGES
/* Takes all events and returns the number of payloads among them. client may be NULL. */
static inline int rig_drain(struct rig *rig, struct RIG(client) * client)
{
    struct RIG(server_event) up;
    struct RIG(client_event) down;
    int payloads = 0;
    while (RIG(server_next)(rig->server, &up))
        payloads += up.type == RIG_EVENT(SERVER, PAYLOAD);
    while (client && RIG(client_next)(client, &down))
        payloads += down.type == RIG_EVENT(CLIENT, PAYLOAD);
    return payloads;
}
#endif

#endif
