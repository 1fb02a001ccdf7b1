/* A client host that leaves when what it has sent is done. */
#include "host_pair.h"

#include "causeway/native/client_host.h"

#include <math.h>

static enum cw_error send_note(struct host_pair *pair, uint32_t number)
{
    struct cw_connection *server = cw_client_connection(cw_client_host_client(pair->client));
    struct cw_message *message;
    assert_ok(cw_connection_create_message(server, 0, &message));
    ((struct pair_note *)message->data)->number = number;
    const enum cw_error error = cw_connection_send(server, 0, message, cw_clock_now());
    if (error != CW_OK)
        cw_message_release(message);
    return error;
}

TEST(it_leaves_when_all_has_arrived)
{
    struct host_pair pair;
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    assert_ok(host_pair_connect(&pair, 1));
    assert_int_equal(host_pair_await_server(&pair).type, CW_SERVER_EVENT_CONNECTED);
    struct cw_client *client = cw_client_host_client(pair.client);
    while (cw_client_state(client) != CW_CLIENT_CONNECTED) {
        cw_host_update(pair.server);
        struct cw_client_event none;
        cw_client_host_next(pair.client, cw_clock_now() + 0.005, &none);
        cw_client_host_update(pair.client);
    }
    for (uint32_t i = 0; i < 40; i++)
        assert_ok(send_note(&pair, i));
    cw_client_host_flush_and_disconnect(pair.client, PATIENCE);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    assert_int_equal(send_note(&pair, 40), CW_ERROR_NOT_CONNECTED);
    for (uint32_t i = 0; i < 40; i++) {
        const struct cw_server_event event = host_pair_await_server(&pair);
        assert_int_equal(event.type, CW_SERVER_EVENT_MESSAGE);
        assert_int_equal(((struct pair_note *)event.message->data)->number, i);
        cw_message_release(event.message);
    }
    const struct cw_server_event event = host_pair_await_server(&pair);
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.reason, CW_DISCONNECT_BY_CLIENT);
    assert_int_equal(cw_client_state(client), CW_CLIENT_DISCONNECTED);
    assert_false(cw_client_host_reconnects(pair.client));

    /* It may come back, and send again. */
    assert_ok(host_pair_connect(&pair, 1));
    host_pair_await_client(&pair, CW_CLIENT_EVENT_CONNECTED);
    assert_ok(send_note(&pair, 0));
    cw_client_host_update(pair.client);
    cw_client_host_update(pair.client);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
}

/* The server is there no more: nothing is acked. */
TEST(it_waits_no_longer_than_it_may)
{
    static const double seconds[] = {0, 0.05};
    for (int i = 0; i < 2; i++) {
        struct host_pair pair;
        host_pair_open(&pair, CW_FINGERPRINT_AUTO);
        assert_ok(host_pair_connect(&pair, 1));
        host_pair_await_client(&pair, CW_CLIENT_EVENT_CONNECTED);
        assert_ok(send_note(&pair, 0));
        const double start = cw_clock_now();
        cw_client_host_flush_and_disconnect(pair.client, seconds[i]);
        struct cw_client *client = cw_client_host_client(pair.client);
        while (cw_client_state(client) == CW_CLIENT_CONNECTED &&
               cw_clock_now() < start + PATIENCE) {
            struct cw_client_event none;
            cw_client_host_next(pair.client, cw_clock_now() + 0.005, &none);
            cw_client_host_update(pair.client);
        }
        assert_int_equal(cw_client_state(client), CW_CLIENT_DISCONNECTED);
        assert_true(cw_clock_now() >= start + seconds[i]);
    }
}

static size_t give_token(void *context, uint8_t *out, size_t capacity)
{
    (void)out, (void)capacity;
    ++*(int *)context;
    return 0; /* not yet */
}

/* Nor does it ask for another token. */
TEST(it_stops_trying)
{
    int asked = 0;
    struct cw_netcode_client_host_config config = cw_netcode_client_host_config_default();
    config.token = give_token;
    config.token_context = &asked;
    struct cw_netcode_client_host *host = netcode_client_host_with(&config);
    cw_netcode_client_host_update(host);
    assert_int_equal(asked, 1);
    cw_netcode_client_host_flush_and_disconnect(host, (double)NAN); /* it does nothing */
    cw_netcode_client_host_update(host);
    assert_int_equal(asked, 2);
    cw_netcode_client_host_flush_and_disconnect(host, 1);
    cw_netcode_client_host_update(host);
    assert_int_equal(asked, 2);
}
