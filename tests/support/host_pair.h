/* A server host and a client host on the loopback device, which connect without a backend. */
#ifndef CAUSEWAY_TESTS_HOST_PAIR_H
#define CAUSEWAY_TESTS_HOST_PAIR_H

#include "causeway/native/clock.h"

#include "kept_log.h"
#include "owned_native.h"

/* The seconds are far more than anything here takes; a test that passes never waits so long. */
#define PATIENCE      20.0
#define PAIR_PROTOCOL 7

#define PAIR_NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_MESSAGE(pair_note, PAIR_NOTE_FIELDS)

struct host_pair {
    struct cw_schema *schema;
    struct kept_log log; /* lines of the client */
    struct cw_host *server;
    struct cw_client_host *client;
    char address[CW_ADDRESS_TEXT_SIZE]; /* the address of the server */
};

/* Opens both. The client has the fingerprint; CW_FINGERPRINT_AUTO means that of its messages, which
   the server has. */
static inline void host_pair_open(struct host_pair *pair, uint64_t fingerprint)
{
    *pair = (struct host_pair){0};
    const struct cw_schema_config types = {.types = &pair_note_type, .count = 1};
    pair->schema = schema_with(&types);
    const struct cw_connection_config connection = cw_connection_config_default(pair->schema);
    struct cw_host_config server = cw_host_config_default();
    server.server.netcode.insecure = true;
    server.server.netcode.protocol_id = PAIR_PROTOCOL;
    server.server.connection = &connection;
    pair->server = host_at("127.0.0.1:0", &server);
    cw_address_format(cw_host_address(pair->server), pair->address);
    struct cw_client_host_config client = cw_client_host_config_default();
    client.client.connection = &connection;
    client.client.netcode.fingerprint = fingerprint;
    client.log = kept_log_at(&pair->log, CW_LOG_INFO);
    pair->client = client_host_with(&client);
}

static inline enum cw_error host_pair_connect(struct host_pair *pair, uint64_t id)
{
    return cw_client_host_connect_insecure(pair->client, pair->address, PAIR_PROTOCOL, id);
}

/* Takes the client's events until one of this type has come, while the server runs. */
static inline void host_pair_await_client(struct host_pair *pair, enum cw_client_event_type type)
{
    struct cw_client_event event = {0};
    struct cw_server_event none;
    const double end = cw_clock_now() + PATIENCE;
    while (event.type != type && cw_clock_now() < end) {
        cw_client_host_update(pair->client);
        cw_host_next(pair->server, cw_clock_now() + 0.005, &none);
        cw_host_update(pair->server);
        cw_client_host_next(pair->client, cw_clock_now() + 0.005, &event);
    }
    assert_int_equal(event.type, type);
}

/* Returns the next event of the server, while the client runs. */
static inline struct cw_server_event host_pair_await_server(struct host_pair *pair)
{
    struct cw_server_event event = {0};
    struct cw_client_event none;
    const double end = cw_clock_now() + PATIENCE;
    while (cw_clock_now() < end) {
        cw_client_host_update(pair->client);
        cw_client_host_next(pair->client, cw_clock_now(), &none);
        cw_host_update(pair->server);
        if (cw_host_next(pair->server, cw_clock_now() + 0.005, &event))
            return event;
    }
    fail_msg("no event came");
    return event;
}

#endif
