/* A peer whose browser embeds the DTLS handshake in its checks. */
#define OWN_MAIN
#include "rtc_wire.h"

#include "stun_request.h"

TEST(the_handshake_may_come_in_checks)
{
    struct wire *wire = wire_open();
    wire->client.embeds = true;
    rtc_client_check(&wire->client);
    /* The first check has the ClientHello: its response and the peer's first flight come next. */
    assert_true(carry_one(wire));
    assert_true(peer_shakes_hands(wire->peer));
    assert_true(wire->from_relay > 1);
    assert_true(stun_is(wire->waiting[1].data, wire->waiting[1].size));
    assert_true(dtls_is(wire->waiting[2].data, wire->waiting[2].size));
    carry(wire);
    assert_true(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    rtc_client_send(&wire->client, "hello", 5);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"x", 1, now), PEER_SENT);
    carry(wire);
    assert_int_equal(wire->messages, 1);
}

TEST(what_is_repeated_outside_does_no_harm)
{
    struct wire *wire = wire_open();
    uint8_t check[STUN_REQUEST_SIZE];
    wire->client.embeds = true;
    rtc_client_check(&wire->client);
    struct stun_request request;
    const size_t size = wire->waiting[0].size;
    memcpy(check, wire->waiting[0].data, size);
    assert_true(stun_parse(&request, check, size));
    carry_one(wire);
    assert_true(give_peer(wire, &wire->path, request.dtls, request.dtls_size));
    assert_true(give_peer(wire, &wire->path, check, size));
    carry(wire);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
}

/* A datagram in a check counts once, as a part of the check. */
TEST(it_buys_no_more_than_its_size)
{
    struct wire *wire = wire_open();
    wire->client.embeds = true;
    rtc_client_check(&wire->client);
    carry_one(wire);
    assert_int_equal(wire->from_relay, 2);
    for (int i = 0; i < 5; i++)
        pass_time(wire, 1.5); /* the peer's flight is due again */
    assert_true(wire->went[0] <= 3 * wire->came[0]);
}

TEST(what_is_no_handshake_is_passed_over)
{
    static const uint8_t junk[] = {22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3};
    static const uint8_t other[] = {0, 1, 2, 3};
    uint8_t request[STUN_REQUEST_SIZE];
    struct wire *wire = wire_open();
    give_peer(wire, &wire->path, request,
              stun_request_embed(request, UFRAG ":brow", PASSWORD, junk, sizeof junk));
    give_peer(wire, &wire->path, request,
              stun_request_embed(request, UFRAG ":brow", PASSWORD, other, sizeof other));
    give_peer(wire, &wire->path, request,
              stun_request_embed(request, UFRAG ":brow", PASSWORD, NULL, 0));
    assert_false(peer_shakes_hands(wire->peer));
    assert_false(give_peer(
        wire, &wire->path, request,
        stun_request_embed(request, UFRAG ":brow", "another password", junk, sizeof junk)));
    wire->count = 0;
    wire->client.embeds = true;
    check(wire);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
}

/* A check can be recorded and sent again from anywhere, so it carries nothing but the handshake. */
TEST(datagrams_do_not_come_in_checks)
{
    uint8_t check[STUN_REQUEST_SIZE];
    struct wire *wire = wire_connect();
    rtc_client_send(&wire->client, "hello", 5);
    assert_int_equal(wire->count, 1);
    const size_t size = stun_request_embed(check, UFRAG ":brow", PASSWORD, wire->waiting[0].data,
                                           wire->waiting[0].size);
    assert_true(give_peer(wire, &wire->path, check, size));
    assert_int_equal(wire->datagrams, 0);
    carry(wire);
    assert_int_equal(wire->datagrams, 1);
}

/* After a datagram whose end is no record, a check must not go on reading that datagram: it is
   gone. */
TEST(a_datagram_is_done_with_when_it_was_read)
{
    static const uint8_t rest[] = {23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 9, 0xff, 0xff};
    uint8_t data[STUN_REQUEST_SIZE];
    struct wire *wire = wire_connect();
    rtc_client_send(&wire->client, "hello", 5);
    size_t size = wire->waiting[0].size;
    memcpy(data, wire->waiting[0].data, size);
    memcpy(data + size, rest, sizeof rest);
    wire->count = 0;
    assert_true(give_peer(wire, &wire->path, data, size + sizeof rest));
    size = stun_request(data, UFRAG ":brow", PASSWORD, 0, 0);
    assert_true(give_peer(wire, &wire->path, data, size));
    assert_int_equal(wire->datagrams, 1);
}

int main(void)
{
    return cmocka_run_group_tests(fixture_tests, wire_set_up, wire_tear_down);
}
