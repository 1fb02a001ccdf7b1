/* A peer and a client that has a browser's side of everything: set-up, the channel, the bounds in
   time and rate. */
#define OWN_MAIN
#include "rtc_wire.h"

#include <math.h>

TEST(connects_and_carries_datagrams)
{
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
        assert_int_equal(peer_send(wire->peer, data, sizes[i], now), PEER_SENT);
        carry(wire);
        assert_int_equal(wire->messages, i + 1);
        assert_int_equal(wire->message_size, sizes[i]);
    }
    assert_int_equal(peer_send(wire->peer, data, SCTP_MESSAGE_MAX + 1, now), PEER_TOO_LONG);
}

TEST(a_negotiated_channel_needs_no_open)
{
    struct wire *wire = wire_open();
    wire->client.negotiated = true;
    check(wire);
    assert_true(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_CONNECTING);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_NOT_OPEN);
    rtc_client_send(&wire->client, "hello", 5);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_SENT);
    carry(wire);
    assert_int_equal(wire->messages, 1);
}

TEST(refuses_other_channels)
{
    static const uint8_t kinds[] = {0x00, 0x80, 0x01, 0x02};
    for (size_t i = 0; i < sizeof kinds; i++) {
        struct wire *wire = wire_open();
        wire->client.kind = kinds[i];
        check(wire);
        assert_false(wire->client.open);
        assert_true(wire->client.sctp.ended);
        assert_int_equal(peer_state(wire->peer), PEER_ENDED);
        assert_non_null(strstr(peer_reason(wire->peer), "ordered: false"));
    }

    /* A second channel is refused. */
    struct wire *wire = wire_connect();
    wire->client.stream = 2;
    rtc_client_send(&wire->client, "x", 1);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_non_null(strstr(peer_reason(wire->peer), "one data channel"));

    /* A negotiated channel that is ordered is refused. */
    wire = wire_open();
    struct sctp_packet packet;
    wire->client.negotiated = true;
    check(wire);
    sctp_packet_begin(&packet, wire->client.sctp.remote_tag);
    sctp_packet_data(
        &packet,
        (struct sctp_part){.tsn = wire->client.sctp.tsn++, .flags = SCTP_WHOLE, .ppid = 53}, "x",
        1);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
}

/* Before the OPEN is answered the browser sends ordered messages, and the OPEN may be the late
   one. */
TEST(a_late_open_is_waited_for)
{
    struct wire *wire = wire_open();
    struct sctp_packet packet;
    struct sctp_client *sctp = &wire->client.sctp;
    wire->client.negotiated = true; /* the test sends its messages by hand */
    check(wire);
    sctp_packet_begin(&packet, sctp->remote_tag);
    sctp_packet_data(
        &packet,
        (struct sctp_part){.tsn = sctp->tsn + 1, .flags = SCTP_WHOLE, .ppid = 53, .order = 1},
        "early", 5);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(wire->datagrams, 0);
    assert_int_equal(peer_state(wire->peer), PEER_CONNECTING);
    static const uint8_t open[] = {3, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    sctp_packet_begin(&packet, sctp->remote_tag);
    sctp_packet_data(&packet, (struct sctp_part){.tsn = sctp->tsn, .flags = SCTP_WHOLE, .ppid = 50},
                     open, sizeof open);
    sctp_packet_data(
        &packet,
        (struct sctp_part){.tsn = sctp->tsn + 2, .flags = SCTP_WHOLE, .ppid = 53, .order = 2},
        "on time", 7);
    sctp_packet_end(&packet);
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    assert_int_equal(wire->datagrams, 1);
    assert_memory_equal(wire->last, "on time", 7);
}

TEST(text_and_empty_messages_are_told_apart)
{
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
}

TEST(nothing_is_answered_before_a_verified_check)
{
    struct wire *wire = wire_open();
    /* DTLS comes from anywhere. */
    rtc_client_receive(&wire->client, (const uint8_t *)"\1\1", 2);
    carry(wire);
    assert_int_equal(wire->from_relay, 0);
    assert_int_equal(peer_state(wire->peer), PEER_OFFERED);
    /* These checks have a wrong password, or are for another browser. */
    static const char *const names[] = {UFRAG ":brow", UFRAG ":brov",  UFRAG ":brow2",
                                        UFRAG,         UFRAG "x:brow", UFRAG ":"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        strcpy(wire->client.username, names[i]);
        strcpy(wire->client.password, i == 0 ? "relaypassword/0123456788" : PASSWORD);
        check(wire);
        assert_int_equal(wire->from_relay, 0);
        assert_int_equal(peer_state(wire->peer), PEER_OFFERED);
    }
}

TEST(another_certificate_fails)
{
    struct rtc_identity other;
    rtc_identity_create(&other);
    struct wire *wire = wire_open();
    rtc_client_destroy(&wire->client);
    wire->client.identity = &other;
    rtc_client_open(&wire->client);
    check(wire);
    assert_false(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_non_null(strstr(peer_reason(wire->peer), "handshake"));
    rtc_identity_destroy(&other);
}

static void run_to_end(struct wire *wire, bool checks)
{
    for (int i = 0; i < 200 && peer_state(wire->peer) != PEER_ENDED; i++) {
        const double deadline = peer_deadline(wire->peer);
        assert_true(deadline < INFINITY);
        now = fmax(deadline, now);
        if (checks)
            check(wire);
        peer_update(wire->peer, now);
        carry(wire);
    }
}

TEST(every_state_has_its_end)
{
    /* No check comes. */
    struct wire *wire = wire_open();
    run_to_end(wire, false);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(now == 1000.0 + PEER_CHECK_SECONDS);

    /* Checks go on, but there is no DTLS. */
    wire = wire_open();
    wire->client.checked = true;
    run_to_end(wire, true);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(now <= 1010.0 + PEER_SETUP_SECONDS);

    /* Everything is there but the channel. */
    wire = wire_open();
    wire->client.negotiated = true;
    check(wire);
    run_to_end(wire, true);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(now == 1000.0 + PEER_SETUP_SECONDS);
    assert_true(wire->client.sctp.ended);

    /* The channel is open, then the checks stop. */
    wire = wire_connect();
    run_to_end(wire, false);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(now == 1000.0 + PEER_CONSENT_SECONDS);
    assert_false(peer_left(wire->peer));

    /* The channel is open, and the checks go on. */
    wire = wire_connect();
    for (int i = 0; i < 100; i++) {
        now += 5.0;
        check(wire);
        peer_update(wire->peer, now);
        carry(wire);
    }
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
}

TEST(a_closing_browser_ends_it_at_once)
{
    struct wire *wire = wire_connect();
    rtc_client_abort(&wire->client);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(peer_left(wire->peer));

    wire = wire_connect();
    SSL_shutdown(wire->client.ssl);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(peer_left(wire->peer));

    /* The peer's own close tells the browser. */
    wire = wire_connect();
    peer_end(wire->peer, "the relay is stopping", now);
    carry(wire);
    assert_true(wire->client.sctp.ended);
    assert_false(peer_left(wire->peer));
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_NOT_OPEN);
}

TEST(a_closed_channel_is_closed_on_both_sides)
{
    struct wire *wire = wire_connect();
    struct sctp_packet packet;
    uint8_t reset[18] = {0, 13, 0, 18, 0, 0, 0x03, 0xe8};
    reset[14] = 0x03; /* the last TSN, 1000, is that of the OPEN */
    reset[15] = 0xe8;
    sctp_packet_begin(&packet, wire->client.sctp.remote_tag);
    sctp_packet_chunk(&packet, 130, 0, reset, sizeof reset);
    sctp_packet_end(&packet);
    const unsigned before = wire->from_relay;
    rtc_client_send_packet(&wire->client, &packet);
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_true(wire->from_relay > before);
    assert_true(peer_left(wire->peer));
}

TEST(the_rate_is_bounded)
{
    static const uint8_t data[1000];
    struct wire *wire = wire_connect();
    wire->common.bytes_per_second = 100000.0;
    unsigned sent = 0;
    for (int i = 0; i < 2000; i++) {
        now += 0.001;
        if (peer_send(wire->peer, data, sizeof data, now) == PEER_SENT)
            sent++;
        carry(wire);
        acknowledge(wire);
    }
    /* Two seconds' worth goes out at 1,093 bytes each, and a burst of half a second. */
    assert_in_range(sent, 220, 229);
}

TEST(what_is_not_acknowledged_is_bounded)
{
    struct wire *wire = wire_connect();
    unsigned sent = 0;
    while (peer_send(wire->peer, (const uint8_t *)"x", 1, now) == PEER_SENT) {
        carry(wire);
        assert_true(++sent <= 600);
    }
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_CONGESTED);
    now += 1.0;
    acknowledge(wire);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_SENT);
}

TEST(who_is_dismissed_is_told_why)
{
    struct wire *wire = wire_connect();
    peer_dismiss(wire->peer, 1013, "try later", now);
    assert_int_equal(peer_state(wire->peer), PEER_ENDED);
    assert_string_equal(peer_reason(wire->peer), "try later");
    carry(wire);
    assert_int_equal(wire->messages, 1);
    assert_int_equal(wire->message_size, 14);
    assert_memory_equal(wire->message, "1013 try later", 14);
    assert_true(wire->client.sctp.ended);

    /* Without a channel there is nothing to tell the reason over. */
    wire = wire_open();
    wire->client.negotiated = true;
    check(wire);
    peer_dismiss(wire->peer, 1013, "try later", now);
    carry(wire);
    assert_int_equal(wire->messages, 0);
    assert_true(wire->client.sctp.ended);
}

int main(void)
{
    return cmocka_run_group_tests(fixture_tests, wire_set_up, wire_tear_down);
}
