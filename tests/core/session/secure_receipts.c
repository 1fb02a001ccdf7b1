/* The events of client and server that tell what became of a message sent with a receipt. */
#include "secure_message_rig.h"

/* A messages with a client in slot 0. */
struct pair {
    struct message_rig messages;
    struct rig *rig;
    struct cw_client *client;
    struct cw_address at;
};

static void open_pair(struct pair *pair)
{
    message_rig_start(&pair->messages, 1);
    pair->rig = &pair->messages.rig;
    pair->client = message_rig_client(&pair->messages, 1, &pair->messages.connection);
    pair->at = rig_client_address(0);
    assert_int_equal(rig_connect(pair->rig, pair->client, &pair->at), 0);
}

static void ask(struct cw_connection *from, uint32_t channel, uint32_t receipt, double now)
{
    struct cw_message *message;
    assert_ok(cw_connection_create_message(from, 0, &message));
    message->receipt = receipt;
    assert_ok(cw_connection_send(from, channel, message, now));
}

/* A tick whose datagrams all are lost. */
static void tick_in_the_dark(struct pair *pair)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    struct rig *rig = pair->rig;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    cw_client_update(pair->client, rig->now);
    while (cw_client_transmit(pair->client, datagram, sizeof(datagram), rig->now, NULL) > 0)
        ;
    while (cw_server_transmit(rig->server, datagram, sizeof(datagram), rig->now, &to) > 0)
        ;
}

struct fates {
    uint32_t messages, acked, lost; /* bits of the receipts */
};

static struct fates fates_by_client(struct pair *pair)
{
    struct fates fates = {0};
    struct cw_client_event event;
    while (cw_client_next(pair->client, &event)) {
        assert_int_not_equal(event.type, CW_CLIENT_EVENT_DISCONNECTED);
        if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            fates.messages++;
            cw_message_release(event.message);
            continue;
        }
        assert_null(event.message);
        *(event.type == CW_CLIENT_EVENT_ACKED ? &fates.acked : &fates.lost) |= 1u << event.receipt;
    }
    return fates;
}

static struct fates fates_by_server(struct pair *pair)
{
    struct fates fates = {0};
    struct cw_server_event event;
    while (cw_server_next(pair->rig->server, &event)) {
        assert_int_equal(event.client, 0);
        if (event.type == CW_SERVER_EVENT_MESSAGE) {
            fates.messages++;
            cw_message_release(event.message);
            continue;
        }
        assert_null(event.message);
        *(event.type == CW_SERVER_EVENT_ACKED ? &fates.acked : &fates.lost) |= 1u << event.receipt;
    }
    return fates;
}

TEST(both_ends_are_told_what_arrived)
{
    struct pair pair;
    open_pair(&pair);
    struct rig *rig = pair.rig;
    ask(cw_client_connection(pair.client), RELIABLE, 1, rig->now);
    ask(cw_client_connection(pair.client), UNRELIABLE, 2, rig->now);
    ask(cw_server_connection(rig->server, 0), RELIABLE, 3, rig->now);
    ask(cw_server_connection(rig->server, 0), UNRELIABLE, 4, rig->now);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, pair.client, &pair.at);
    const struct fates client = fates_by_client(&pair), server = fates_by_server(&pair);
    assert_int_equal(client.messages, 2);
    assert_int_equal(client.acked, 1u << 1 | 1u << 2);
    assert_int_equal(client.lost, 0);
    assert_int_equal(server.messages, 2);
    assert_int_equal(server.acked, 1u << 3 | 1u << 4);
    assert_int_equal(server.lost, 0);
}

/* Without a datagram of the other end: by the time that passed. */
TEST(both_ends_are_told_what_was_lost)
{
    struct pair pair;
    open_pair(&pair);
    rig_no_event(pair.rig);
    ask(cw_client_connection(pair.client), UNRELIABLE, 1, pair.rig->now);
    ask(cw_server_connection(pair.rig->server, 0), UNRELIABLE, 2, pair.rig->now);
    for (int i = 0; i < 90; i++)
        tick_in_the_dark(&pair);
    const struct fates client = fates_by_client(&pair), server = fates_by_server(&pair);
    assert_int_equal(client.lost, 1u << 1);
    assert_int_equal(server.lost, 1u << 2);
    assert_int_equal(client.acked | server.acked, 0);
}

TEST(news_comes_before_the_end)
{
    struct pair pair;
    open_pair(&pair);
    struct rig *rig = pair.rig;
    ask(cw_server_connection(rig->server, 0), RELIABLE, 5, rig->now);
    for (int i = 0; i < 3; i++)
        rig_tick(rig, pair.client, &pair.at);
    cw_client_disconnect(pair.client);
    rig_up(rig, pair.client, &pair.at);
    struct cw_server_event event;
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_ACKED);
    assert_int_equal(event.receipt, 5);
    assert_true(cw_server_next(rig->server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    struct cw_client_event own;
    assert_true(cw_client_next(pair.client, &own));
    assert_int_equal(own.type, CW_CLIENT_EVENT_MESSAGE);
    cw_message_release(own.message);
}
