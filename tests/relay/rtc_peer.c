/* A peer against a client that has a browser's side of everything: set-up, the channel, the path,
   the bounds in time and rate. */
#include "unit.h"

#include "relay/rtc/peer.h"
#include "rtc_client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UFRAG    "relayufrag"
#define PASSWORD "relaypassword/0123456789"

static struct dtls_identity *relay_identity;
static struct rtc_identity client_identity;

/* A wire with both ends; datagrams wait in it until they are carried. */
struct wire {
    struct peer_common common;
    struct peer *peer;
    struct rtc_client client;
    struct udp_path path;    /* where the client is */
    struct udp_path last_to; /* where the relay last sent to */
    double now;
    unsigned count;
    struct {
        bool to_peer;
        size_t size;
        uint8_t data[2048];
    } waiting[64];
    unsigned from_relay;
    unsigned datagrams; /* that the peer handed on */
    bool last_text;
    size_t last_size;
    uint8_t last[2048];
    unsigned messages; /* that the client got */
    size_t message_size;
    uint8_t message[2048];
};

static void put(struct wire *wire, bool to_peer, const uint8_t *data, size_t size)
{
    assert_true(wire->count < 64 && size <= 2048);
    wire->waiting[wire->count].to_peer = to_peer;
    wire->waiting[wire->count].size = size;
    memcpy(wire->waiting[wire->count++].data, data, size);
}

static void on_relay_send(void *context, const struct udp_path *path, const uint8_t *data,
                          size_t size)
{
    struct wire *wire = context;
    wire->last_to = *path;
    wire->from_relay++;
    /* The longest UDP payload: 1,276 bytes with the headers of IPv6. */
    assert_true(size <= 1228);
    if (udp_address_same(&path->remote, &wire->path.remote))
        put(wire, false, data, size);
}

static void on_client_send(void *context, const uint8_t *data, size_t size)
{
    put(context, true, data, size);
}

static void on_client_message(void *context, const uint8_t *data, size_t size)
{
    struct wire *wire = context;
    wire->messages++;
    wire->message_size = size;
    memcpy(wire->message, data, size);
}

static void drain_peer(struct wire *wire)
{
    struct peer_datagram datagram;
    while (peer_next(wire->peer, &datagram, wire->now)) {
        wire->datagrams++;
        wire->last_text = datagram.text;
        wire->last_size = datagram.size;
        memcpy(wire->last, datagram.data, datagram.size);
    }
}

static bool check(struct wire *wire, const uint8_t *data, size_t size)
{
    struct stun_request request;
    return stun_parse(&request, data, size) &&
           peer_check(wire->peer, &request, data, &wire->path, wire->now);
}

static void give_peer(struct wire *wire, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, data, size);
    if (stun_is(data, size)) {
        check(wire, exact, size);
    } else if (udp_address_same(&peer_path(wire->peer)->remote, &wire->path.remote)) {
        peer_receive(wire->peer, exact, size, wire->now);
        drain_peer(wire);
    }
    free(exact);
}

static void carry(struct wire *wire)
{
    for (unsigned i = 0; i < wire->count; i++) {
        if (wire->waiting[i].to_peer)
            give_peer(wire, wire->waiting[i].data, wire->waiting[i].size);
        else
            rtc_client_receive(&wire->client, wire->waiting[i].data, wire->waiting[i].size);
    }
    wire->count = 0;
}

static void set_port(struct udp_path *path, uint16_t port)
{
    *path = (struct udp_path){
        .remote = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}, port}};
}

static struct wire *wire_open(void)
{
    struct wire *wire = calloc(1, sizeof *wire);
    assert_non_null(wire);
    wire->now = 1000.0;
    wire->common =
        (struct peer_common){.identity = relay_identity, .send = on_relay_send, .context = wire};
    wire->client = (struct rtc_client){
        .identity = &client_identity,
        .username = UFRAG ":brow",
        .password = PASSWORD,
        .kind = 0x81,
        .send = on_client_send,
        .message = on_client_message,
        .context = wire,
    };
    set_port(&wire->path, 40000);
    rtc_client_open(&wire->client);
    char text[1024];
    struct sdp_offer offer;
    const size_t size = rtc_client_offer(&wire->client, "brow", text, sizeof text);
    assert_int_equal(sdp_read_offer(&offer, text, size), SDP_OK);
    wire->peer = peer_create(&wire->common, &offer, UFRAG, PASSWORD, wire->now);
    assert_non_null(wire->peer);
    return wire;
}

static struct wire *wire_connect(void)
{
    struct wire *wire = wire_open();
    rtc_client_check(&wire->client);
    carry(wire);
    assert_true(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    return wire;
}

static void wire_close(struct wire *wire)
{
    peer_destroy(wire->peer);
    rtc_client_destroy(&wire->client);
    free(wire);
}

static void test_connects_and_carries_datagrams(void **state)
{
    (void)state;
    struct wire *wire = wire_connect();
    assert_memory_equal(wire->client.remote_fingerprint, dtls_identity_fingerprint(relay_identity),
                        32);
    rtc_client_send(&wire->client, "hello", 5);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
    assert_int_equal(wire->last_size, 5);
    assert_memory_equal(wire->last, "hello", 5);
    assert_false(wire->last_text);

    uint8_t data[SCTP_MESSAGE_MAX];
    static const size_t sizes[] = {1, 100, SCTP_UNSPLIT_MAX, SCTP_UNSPLIT_MAX + 1,
                                   SCTP_MESSAGE_MAX};
    memset(data, 7, sizeof data);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(peer_send(wire->peer, data, sizes[i], wire->now), PEER_SENT);
        carry(wire);
        assert_int_equal(wire->messages, i + 1);
        assert_int_equal(wire->message_size, sizes[i]);
    }
    assert_int_equal(peer_send(wire->peer, data, SCTP_MESSAGE_MAX + 1, wire->now), PEER_TOO_LONG);
    wire_close(wire);
}

static void test_a_negotiated_channel_needs_no_open(void **state)
{
    (void)state;
    struct wire *wire = wire_open();
    wire->client.negotiated = true;
    rtc_client_check(&wire->client);
    carry(wire);
    assert_true(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_CONNECTING);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now), PEER_NOT_OPEN);
    rtc_client_send(&wire->client, "hello", 5);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now), PEER_SENT);
    carry(wire);
    assert_int_equal(wire->messages, 1);
    wire_close(wire);
}

static void test_refuses_other_channels(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {0x00, 0x80, 0x01, 0x02};
    for (size_t i = 0; i < sizeof kinds; i++) {
        struct wire *wire = wire_open();
        wire->client.kind = kinds[i];
        rtc_client_check(&wire->client);
        carry(wire);
        assert_false(wire->client.open);
        assert_true(wire->client.sctp.ended);
        assert_int_equal(peer_state(wire->peer), PEER_ENDED);
        assert_non_null(strstr(peer_reason(wire->peer), "ordered: false"));
        wire_close(wire);
    }

    /* A second channel. */
    struct wire *wire = wire_connect();
    wire->client.stream = 2;
    rtc_client_send(&wire->client, "x", 1);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_non_null(strstr(peer_reason(wire->peer), "one data channel"));
    wire_close(wire);

    /* A negotiated one that is ordered. */
    wire = wire_open();
    struct sctp_packet packet;
    wire->client.negotiated = true;
    rtc_client_check(&wire->client);
    carry(wire);
    sctp_packet_begin(&packet, wire->client.sctp.remote_tag);
    sctp_client_put_data(&wire->client.sctp, &packet, wire->client.sctp.tsn++, SCTP_WHOLE, 0, 0, 53,
                         "x", 1);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    wire_close(wire);
}

/* Before the OPEN is answered the browser sends ordered, and the OPEN may be the one that is late.
 */
static void test_a_late_open_is_waited_for(void **state)
{
    (void)state;
    struct wire *wire = wire_open();
    struct sctp_packet packet;
    struct sctp_client *sctp = &wire->client.sctp;
    wire->client.negotiated = true; /* its messages are sent by hand */
    rtc_client_check(&wire->client);
    carry(wire);
    sctp_packet_begin(&packet, sctp->remote_tag);
    sctp_client_put_data(sctp, &packet, sctp->tsn + 1, SCTP_WHOLE, 0, 1, 53, "early", 5);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(wire->datagrams, 0);
    assert_int_equal(peer_state(wire->peer), PEER_CONNECTING);
    static const uint8_t open[] = {3, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    sctp_packet_begin(&packet, sctp->remote_tag);
    sctp_client_put_data(sctp, &packet, sctp->tsn, SCTP_WHOLE, 0, 0, 50, open, sizeof open);
    sctp_client_put_data(sctp, &packet, sctp->tsn + 2, SCTP_WHOLE, 0, 2, 53, "on time", 7);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    assert_int_equal(wire->datagrams, 1);
    assert_memory_equal(wire->last, "on time", 7);
    wire_close(wire);
}

static void test_text_and_empty_messages_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        uint32_t ppid;
        bool text;
        size_t size;
    } cases[] = {{51, true, 1}, {53, false, 1}, {56, true, 0}, {57, false, 0}};
    struct wire *wire = wire_connect();
    for (size_t i = 0; i < 4; i++) {
        struct sctp_packet packet;
        sctp_client_write_message(&wire->client.sctp, &packet, 0, cases[i].ppid, "", 1);
        rtc_client_send_packet(&wire->client, &packet);
        carry(wire);
        assert_int_equal(wire->datagrams, i + 1);
        assert_int_equal(wire->last_text, cases[i].text);
        assert_int_equal(wire->last_size, cases[i].size);
    }
    wire_close(wire);
}

static void test_nothing_is_answered_before_a_verified_check(void **state)
{
    (void)state;
    struct wire *wire = wire_open();
    /* DTLS from anywhere. */
    rtc_client_receive(&wire->client, (const uint8_t *)"\1\1", 2);
    carry(wire);
    assert_int_equal(wire->from_relay, 0);
    assert_int_equal(peer_state(wire->peer), PEER_OFFERED);
    /* Checks with a wrong password, or for another browser. */
    static const char *const names[] = {UFRAG ":brow", UFRAG ":brov",  UFRAG ":brow2",
                                        UFRAG,         UFRAG "x:brow", UFRAG ":"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        strcpy(wire->client.username, names[i]);
        strcpy(wire->client.password, i == 0 ? "relaypassword/0123456788" : PASSWORD);
        rtc_client_check(&wire->client);
        carry(wire);
        assert_int_equal(wire->from_relay, 0);
        assert_int_equal(peer_state(wire->peer), PEER_OFFERED);
    }
    wire_close(wire);
}

static void test_another_certificate_fails(void **state)
{
    (void)state;
    struct rtc_identity other;
    rtc_identity_create(&other);
    struct wire *wire = wire_open();
    rtc_client_destroy(&wire->client);
    wire->client.identity = &other;
    rtc_client_open(&wire->client);
    rtc_client_check(&wire->client);
    carry(wire);
    assert_false(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_non_null(strstr(peer_reason(wire->peer), "handshake"));
    wire_close(wire);
    rtc_identity_destroy(&other);
}

static void test_a_new_address_is_followed(void **state)
{
    (void)state;
    struct wire *wire = wire_connect();
    /* Nothing is taken from the new address before its check. */
    set_port(&wire->path, 40001);
    rtc_client_send(&wire->client, "x", 1);
    carry(wire);
    assert_int_equal(wire->datagrams, 0);
    assert_int_equal(peer_path(wire->peer)->remote.port, 40000);

    wire->now += 2.5;
    rtc_client_check(&wire->client);
    carry(wire);
    assert_int_equal(peer_path(wire->peer)->remote.port, 40001);
    rtc_client_send(&wire->client, "x", 1);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"y", 1, wire->now), PEER_SENT);
    carry(wire);
    assert_int_equal(wire->messages, 1);

    /* A path that is in use is not left for a check of another one. */
    set_port(&wire->path, 40002);
    wire->now += 0.1;
    rtc_client_check(&wire->client);
    carry(wire);
    assert_int_equal(peer_path(wire->peer)->remote.port, 40001);
    assert_int_equal(wire->last_to.remote.port, 40002); /* but it is answered */
    wire_close(wire);
}

static void run_to_end(struct wire *wire, bool checks)
{
    for (int i = 0; i < 200 && peer_state(wire->peer) != PEER_ENDED; i++) {
        const double deadline = peer_deadline(wire->peer);
        assert_true(deadline < INFINITY);
        wire->now = fmax(deadline, wire->now);
        if (checks)
            rtc_client_check(&wire->client);
        carry(wire);
        peer_update(wire->peer, wire->now);
        carry(wire);
    }
}

static void test_every_state_has_its_end(void **state)
{
    (void)state;
    /* No check. */
    struct wire *wire = wire_open();
    run_to_end(wire, false);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->now == 1000.0 + PEER_CHECK_SECONDS);
    wire_close(wire);

    /* Checks go on, but there is no DTLS. */
    wire = wire_open();
    wire->client.checked = true;
    run_to_end(wire, true);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->now <= 1010.0 + PEER_SETUP_SECONDS);
    wire_close(wire);

    /* All is there but the channel. */
    wire = wire_open();
    wire->client.negotiated = true;
    rtc_client_check(&wire->client);
    carry(wire);
    run_to_end(wire, true);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->now == 1000.0 + PEER_SETUP_SECONDS);
    assert_true(wire->client.sctp.ended);
    wire_close(wire);

    /* Open, then the checks stop. */
    wire = wire_connect();
    run_to_end(wire, false);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->now == 1000.0 + PEER_CONSENT_SECONDS);
    wire_close(wire);

    /* Open, and the checks go on. */
    wire = wire_connect();
    for (int i = 0; i < 100; i++) {
        wire->now += 5.0;
        rtc_client_check(&wire->client);
        carry(wire);
        peer_update(wire->peer, wire->now);
        carry(wire);
    }
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    wire_close(wire);
}

static void test_a_closing_browser_ends_it_at_once(void **state)
{
    (void)state;
    struct wire *wire = wire_connect();
    rtc_client_abort(&wire->client);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    wire_close(wire);

    wire = wire_connect();
    SSL_shutdown(wire->client.ssl);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    wire_close(wire);

    /* Ours tells the browser. */
    wire = wire_connect();
    peer_end(wire->peer, "the relay is stopping", wire->now);
    carry(wire);
    assert_true(wire->client.sctp.ended);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now), PEER_NOT_OPEN);
    wire_close(wire);
}

static void test_a_closed_channel_is_closed_on_both_sides(void **state)
{
    (void)state;
    struct wire *wire = wire_connect();
    struct sctp_packet packet;
    uint8_t reset[18] = {0, 13, 0, 18, 0, 0, 0x03, 0xe8};
    reset[14] = 0x03; /* the last TSN: 1000, the OPEN */
    reset[15] = 0xe8;
    sctp_packet_begin(&packet, wire->client.sctp.remote_tag);
    sctp_packet_chunk(&packet, 130, 0, reset, sizeof reset);
    sctp_packet_end(&packet);
    const unsigned before = wire->from_relay;
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->from_relay > before);
    wire_close(wire);
}

static void test_the_rate_is_bounded(void **state)
{
    (void)state;
    static const uint8_t data[1000];
    struct wire *wire = wire_connect();
    wire->common.rate = 100000.0;
    unsigned sent = 0;
    for (int i = 0; i < 2000; i++) {
        wire->now += 0.001;
        if (peer_send(wire->peer, data, sizeof data, wire->now) == PEER_SENT)
            sent++;
        carry(wire);
        rtc_client_acknowledge(&wire->client);
        carry(wire);
    }
    /* Two seconds at 1,093 bytes each, and the burst. */
    assert_true(sent >= 180 && sent <= 193);
    wire_close(wire);
}

static void test_what_is_not_acknowledged_is_bounded(void **state)
{
    (void)state;
    struct wire *wire = wire_connect();
    unsigned sent = 0;
    while (peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now) == PEER_SENT) {
        carry(wire);
        assert_true(++sent <= 600);
    }
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now), PEER_CONGESTED);
    wire->now += 1.0;
    rtc_client_acknowledge(&wire->client);
    carry(wire);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, wire->now), PEER_SENT);
    wire_close(wire);
}

static int set_up(void **state)
{
    (void)state;
    relay_identity = dtls_identity_create();
    rtc_identity_create(&client_identity);
    return relay_identity ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    dtls_identity_destroy(relay_identity);
    rtc_identity_destroy(&client_identity);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connects_and_carries_datagrams),
        cmocka_unit_test(test_a_negotiated_channel_needs_no_open),
        cmocka_unit_test(test_refuses_other_channels),
        cmocka_unit_test(test_a_late_open_is_waited_for),
        cmocka_unit_test(test_text_and_empty_messages_are_told_apart),
        cmocka_unit_test(test_nothing_is_answered_before_a_verified_check),
        cmocka_unit_test(test_another_certificate_fails),
        cmocka_unit_test(test_a_new_address_is_followed),
        cmocka_unit_test(test_every_state_has_its_end),
        cmocka_unit_test(test_a_closing_browser_ends_it_at_once),
        cmocka_unit_test(test_a_closed_channel_is_closed_on_both_sides),
        cmocka_unit_test(test_the_rate_is_bounded),
        cmocka_unit_test(test_what_is_not_acknowledged_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
