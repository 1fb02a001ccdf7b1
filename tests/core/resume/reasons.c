/* A client learns why the server has ended its connection; clients of others see that it has. */
#include "client_bench.h"

/* A server with one client, whose slot is 0. */
struct pair {
    struct rig *rig;
    struct cw_netcode_client *client;
    struct cw_address at;
};

static void begin(struct pair *pair)
{
    pair->rig = rig_open();
    pair->at = rig_client_address(1);
    pair->client = rig_client(pair->rig, 1);
    assert_int_equal(rig_connect(pair->rig, pair->client, &pair->at), 0);
}

/* The client's next event, which must be its end. */
static void expect_end(struct cw_netcode_client *client, enum cw_client_state state, uint32_t code,
                       const char *text)
{
    struct cw_netcode_client_event event;
    assert_true(cw_netcode_client_next(client, &event));
    assert_int_equal(event.type, CW_NETCODE_CLIENT_EVENT_DISCONNECTED);
    assert_int_equal(event.state, state);
    assert_int_equal(cw_netcode_client_state(client), state);
    assert_int_equal(event.code, code);
    assert_string_equal(event.text, text);
    assert_false(cw_netcode_client_next(client, &event));
}

TEST(a_kick_tells_code_and_text)
{
    struct pair pair;
    begin(&pair);
    cw_netcode_server_disconnect(pair.rig->server, 0, 4000000000u,
                                 "no cheating, \xC3\xA9t\xC3\xA9!");
    rig_down(pair.rig, pair.client, &pair.at);
    expect_end(pair.client, CW_CLIENT_KICKED, 4000000000u, "no cheating, \xC3\xA9t\xC3\xA9!");

    /* Nothing of it is left for the next connection. */
    uint8_t token[CW_TOKEN_SIZE];
    rig_drain(pair.rig, NULL);
    rig_token(pair.rig, token, 1);
    assert_ok(cw_netcode_client_connect(pair.client, token, CW_TOKEN_SIZE, pair.rig->now));
    assert_int_equal(rig_connect(pair.rig, pair.client, &pair.at), 0);
    cw_netcode_client_disconnect(pair.client);
    expect_end(pair.client, CW_CLIENT_DISCONNECTED, 0, "");
}

TEST(a_stopping_server_says_so)
{
    struct pair pair;
    struct cw_netcode_server_event event;
    begin(&pair);
    cw_netcode_server_disconnect_all(pair.rig->server);
    assert_true(cw_netcode_server_next(pair.rig->server, &event));
    assert_int_equal(event.reason, CW_DISCONNECT_STOPPING);
    rig_down(pair.rig, pair.client, &pair.at);
    expect_end(pair.client, CW_CLIENT_STOPPING, 0, "");
}

/* The way up is broken, and the way down is not: it is no kick. */
TEST(a_client_that_is_not_heard_learns_of_its_timeout)
{
    struct pair pair;
    begin(&pair);
    for (int i = 0; i < 6; i++) {
        pair.rig->now += 1;
        cw_netcode_server_update(pair.rig->server, pair.rig->now);
        rig_down(pair.rig, pair.client, &pair.at);
        cw_netcode_client_update(pair.client, pair.rig->now);
    }
    expect_end(pair.client, CW_CLIENT_TIMED_OUT, 0, "");
}

/* One packet of those that say why is enough, whichever it is; and of the plain ones, which are
   all that other clients understand, too. */
TEST(any_one_packet_will_do)
{
    for (int kept = 0; kept < 20; kept++) {
        struct pair pair;
        begin(&pair);
        cw_netcode_server_disconnect(pair.rig->server, 0, 1, "bye");
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        size_t size;
        int count = 0;
        while ((size = cw_netcode_server_transmit(pair.rig->server, datagram, sizeof datagram,
                                                  pair.rig->now, &to)) > 0) {
            assert_int_equal(size > 18, count < 10); /* 18: without a body */
            if (count++ == kept)
                assert_ok(cw_netcode_client_receive(pair.client, &pair.rig->address, datagram, size,
                                                    pair.rig->now));
        }
        assert_int_equal(count, 20);
        if (kept < 10)
            expect_end(pair.client, CW_CLIENT_KICKED, 1, "bye");
        else
            expect_end(pair.client, CW_CLIENT_DISCONNECTED, 0, "");
    }
}

static struct cw_farewell read_farewell(const uint8_t *body, size_t size)
{
    struct cw_farewell farewell = {.text = "untouched"};
    assert_true(cw_farewell_get(body, size, &farewell));
    return farewell;
}

TEST(a_long_text_is_cut_between_characters)
{
    char text[200];
    uint8_t body[CW_FAREWELL_SIZE_MAX];
    for (size_t ascii = 0; ascii < 4; ascii++) {
        memset(text, 'a', ascii);
        for (size_t i = ascii; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 4); /* the euro sign, 3 bytes */
        const struct cw_farewell made = cw_farewell_make(CW_DISCONNECT_BY_SERVER, 1, text);
        const size_t length = strlen(made.text);
        assert_in_range(length, CW_FAREWELL_TEXT_MAX - 2, CW_FAREWELL_TEXT_MAX);
        assert_int_equal((length - ascii) % 3, 0);
        assert_memory_equal(made.text, text, length);
        const size_t size = cw_farewell_put(&made, body);
        assert_int_equal(size, CW_FAREWELL_SIZE_MIN + length);
        assert_string_equal(read_farewell(body, size).text, made.text);
    }
    memset(text, 'a', sizeof text);
    for (size_t length = 0; length <= CW_FAREWELL_TEXT_MAX + 1; length++) {
        text[length] = 0;
        assert_int_equal(strlen(cw_farewell_make(CW_DISCONNECT_BY_SERVER, 0, text).text),
                         length < CW_FAREWELL_TEXT_MAX ? length : CW_FAREWELL_TEXT_MAX);
        text[length] = 'a';
    }
    assert_string_equal(cw_farewell_make(CW_DISCONNECT_BY_SERVER, 0, NULL).text, "");
}

/* A server of another version, or one that means ill. */
TEST(unexpected_bodies_are_bounded)
{
    uint8_t body[CW_FAREWELL_SIZE_MAX + 1] = {0, 1, 2, 3, 4, 'a', 'b'};
    struct cw_farewell farewell;
    assert_false(cw_farewell_get(body, 0, &farewell));
    assert_false(cw_farewell_get(body, CW_FAREWELL_SIZE_MIN - 1, &farewell));
    assert_false(cw_farewell_get(body, sizeof body, &farewell));
    for (int reason = 0; reason < 256; reason++) {
        body[0] = (uint8_t)reason;
        farewell = read_farewell(body, 7);
        assert_int_equal(farewell.reason,
                         reason > CW_DISCONNECT_BY_SERVER && reason <= CW_DISCONNECT_STOPPING
                             ? reason
                             : CW_DISCONNECT_BY_SERVER);
        assert_int_equal(farewell.code, 0x04030201);
        assert_string_equal(farewell.text, "ab");
    }
    body[6] = 0xC3; /* the first half of a character */
    assert_string_equal(read_farewell(body, 7).text, "");
    body[5] = 0;
    body[6] = 'b';
    assert_string_equal(read_farewell(body, 7).text, "");
}

/* The wire format as PROTOCOL.md has it. */
TEST(the_body_is_as_documented)
{
    const struct cw_farewell farewell = cw_farewell_make(CW_DISCONNECT_REPLACED, 0x01020304, "hi");
    uint8_t body[CW_FAREWELL_SIZE_MAX];
    assert_int_equal(cw_farewell_put(&farewell, body), 7);
    assert_memory_equal(body, "\x04\x04\x03\x02\x01hi", 7);
}

/* Sizes that no farewell has are dropped, and the connection lives; nor does one go to a server. */
TEST(other_sizes_end_nothing)
{
    const uint8_t body[CW_FAREWELL_SIZE_MAX + 1] = {CW_DISCONNECT_STOPPING};
    uint8_t out[CW_SECURE_MAX];
    const uint8_t key[CW_KEY_BYTES] = {1};
    for (size_t size = 1; size <= sizeof body; size++) {
        const bool fits = size >= CW_FAREWELL_SIZE_MIN && size < sizeof body;
        for (int way = CW_TO_SERVER; way <= CW_TO_CLIENT; way++) {
            const struct cw_secure_packet packet = {
                .type = CW_SECURE_DISCONNECT, .body = body, .size = size};
            const struct cw_secure_key to = {.direction = (enum cw_direction)way, .bytes = key};
            assert_int_equal(cw_secure_write(&packet, &to, out, sizeof out) > 0,
                             fits && way == CW_TO_CLIENT);
            memset(out, 0x16, 18 + size);
            assert_int_equal(cw_secure_shape(out, 18 + size, (enum cw_direction)way, NULL),
                             fits && way == CW_TO_CLIENT ? CW_OK : CW_ERROR_BODY_SIZE);
        }
    }
}

/* A client that is not connected has not been told anything by a server that has its slot. */
TEST(a_farewell_before_the_connection_does_nothing)
{
    const uint8_t body[CW_FAREWELL_SIZE_MIN] = {CW_DISCONNECT_REPLACED};
    struct bench bench = bench_setup(1, 5, 45);
    assert_int_equal(bench_give(&bench, CW_SECURE_DISCONNECT, 3, body, sizeof body),
                     CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_netcode_client_state(bench.client), CW_CLIENT_SENDING_REQUEST);
}
