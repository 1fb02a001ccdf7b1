/* A peer whose browser moves, or seems to: the address that the peer follows, how soon, and the
   bytes that go to addresses without proof. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "rtc_wire.h"
#include "stun_request.h"

#include <math.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <unistd.h>

#define USE_CANDIDATE 0x0025

static struct udp_path at_port(unsigned index)
{
    struct udp_path path;
    set_port(&path, (uint16_t)(FIRST_PORT + index));
    return path;
}

static void move(struct wire *wire, unsigned index)
{
    wire->path = at_port(index);
}

static unsigned where(const struct wire *wire)
{
    return peer_path(wire->peer)->remote.port - FIRST_PORT;
}

/* Sends a nominating check with the right password, whose sender is forged. */
static void forge_check(struct wire *wire, unsigned index)
{
    uint8_t check[STUN_REQUEST_SIZE];
    const struct udp_path path = at_port(index);
    assert_true(give_peer(wire, &path, check,
                          stun_request(check, UFRAG ":brow", PASSWORD, USE_CANDIDATE, 0)));
}

/* Checks that no address got more than three times the bytes that came from it; returns how much
   this one got. */
static size_t assert_bounded(const struct wire *wire, unsigned index)
{
    assert_true(wire->went[index] <= 3 * wire->came[index]);
    return wire->went[index];
}

/* Sends messages of 1,000 bytes to the browser, 60 a second. The browser acknowledges those that
   come. Returns how many arrived. */
static unsigned stream(struct wire *wire, unsigned count)
{
    static const uint8_t data[1000];
    const unsigned before = wire->messages;
    for (unsigned i = 0; i < count; i++) {
        pass_time(wire, 1.0 / 60);
        peer_send(wire->peer, data, sizeof data, now);
        carry(wire);
        acknowledge(wire);
    }
    return wire->messages - before;
}

static void assert_both_ways(struct wire *wire)
{
    const unsigned datagrams = wire->datagrams;
    const unsigned messages = wire->messages;
    rtc_client_send(&wire->client, "up", 2);
    carry(wire);
    assert_int_equal(wire->datagrams, datagrams + 1);
    assert_int_equal(peer_send(wire->peer, (const uint8_t *)"down", 4, now), PEER_SENT);
    carry(wire);
    assert_int_equal(wire->messages, messages + 1);
}

TEST(a_forged_check_moves_nothing)
{
    struct wire *wire = wire_connect();
    for (int i = 0; i < 40; i++) {
        forge_check(wire, 1 + (unsigned)i % 20);
        assert_int_equal(where(wire), 0);
        assert_int_equal(stream(wire, 30), 30);
        check(wire);
    }
    for (unsigned i = 1; i <= 20; i++)
        assert_true(assert_bounded(wire, i) > 0);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
}

/* The browser itself lies about its address, and says there all that it can say blindly. */
TEST(a_browser_cannot_point_elsewhere)
{
    struct wire *wire = wire_connect();
    uint8_t nonce[4 + PATHS_NONCE_SIZE] = {0, 1, 0, sizeof nonce};
    struct sctp_packet packet;
    move(wire, 1);
    for (int i = 0; i < 200; i++) {
        rtc_client_check(&wire->client);
        sctp_packet_begin(&packet, wire->client.sctp.remote_tag);
        sctp_packet_chunk(&packet, 5, 0, nonce, sizeof nonce); /* the nonce is a guess */
        sctp_packet_end(&packet);
        rtc_client_send_packet(&wire->client, &packet);
        rtc_client_send(&wire->client, "x", 1);
        wire->lose = 1000; /* it sees nothing of the datagrams to that address */
        stream(wire, 3);
        assert_int_equal(where(wire), 0);
    }
    assert_bounded(wire, 1);
    assert_int_equal(wire->datagrams, 200); /* its own datagrams are taken all the same */
}

TEST(an_unfinished_handshake_draws_little)
{
    struct wire *wire = wire_open();
    rtc_client_check(&wire->client);
    while (wire->client.checked == false)
        assert_true(carry_one(wire));
    wire->lose = 1000;
    carry(wire); /* the ClientHello */
    assert_true(wire->went[0] > 600);
    assert_bounded(wire, 0);
    /* From here on no datagram comes to the peer. */
    const size_t before = wire->went[0];
    for (int i = 0; i < 50; i++) {
        pass_time(wire, 0.1);
        assert_bounded(wire, 0);
    }
    /* With further datagrams it may go on. */
    for (unsigned i = 0; i < 10; i++)
        forge_check(wire, 0);
    for (int i = 0; i < 50; i++)
        pass_time(wire, 0.1);
    assert_true(wire->went[0] >= before + 10 * 64 + 600);
    assert_bounded(wire, 0);
}

/* Makes a certificate with which the first flight is longer than a short ClientHello allows. */
static struct dtls_identity *long_identity(void)
{
    char error[256];
    char path[] = "/tmp/causeway-identity-XXXXXX";
    EVP_PKEY *key = EVP_RSA_gen(2048);
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    PEM_write_X509(file, certificate);
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    struct dtls_identity *identity = dtls_identity_load(path, path, error);
    unlink(path);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return identity;
}

/* Opens a channel whose handshake has to wait for more checks; returns how many it took. */
static unsigned open_slowly(struct dtls_identity *identity, double seconds)
{
    struct wire *wire = wire_open();
    wire->common.identity = identity;
    check(wire);
    assert_false(wire->client.connected);
    assert_bounded(wire, 0);
    for (double end = now + seconds; now < end;)
        pass_time(wire, 0.1);
    unsigned checks = 0;
    for (; !wire->client.open; checks++) {
        assert_true(checks < 5);
        check(wire);
        assert_bounded(wire, 0);
    }
    assert_true(checks > 0);
    assert_both_ways(wire);
    return checks;
}

TEST(a_long_flight_waits_for_bytes_and_not_for_time)
{
    struct dtls_identity *identity = long_identity();
    assert_non_null(identity);
    const unsigned checks = open_slowly(identity, 0.0);
    /* Datagrams that are held back are not repeated meanwhile: that would use up the allowance that
       they wait for. */
    assert_int_equal(open_slowly(identity, 10.0), checks);
    dtls_identity_destroy(identity);
}

TEST(a_move_takes_one_round_trip)
{
    struct wire *wire = wire_connect();
    move(wire, 1);
    /* Nothing from the new address is taken before its check. */
    rtc_client_send(&wire->client, "x", 1);
    carry(wire);
    assert_int_equal(wire->datagrams, 0);
    assert_int_equal(where(wire), 0);

    rtc_client_check(&wire->client);
    assert_true(carry_one(wire)); /* the check */
    assert_int_equal(where(wire), 0);
    carry(wire);
    assert_int_equal(where(wire), 1);
    assert_both_ways(wire);

    /* The browser goes back, and moves again and again. */
    for (unsigned i = 2; i < 10; i++) {
        move(wire, i % 2);
        check(wire);
        assert_int_equal(where(wire), i % 2);
        assert_both_ways(wire);
    }
}

/* A NAT has given the browser another port, of which it knows nothing: there is no check for
   seconds. */
TEST(a_move_without_a_check)
{
    struct wire *wire = wire_connect();
    stream(wire, 60);
    for (unsigned i = 1; i < 10; i++) {
        move(wire, i % 2);
        const double begun = now;
        while (where(wire) != i % 2) {
            pass_time(wire, 1.0 / 60);
            assert_true(now - begun < 0.2);
            rtc_client_send(&wire->client, "x", 1);
            carry(wire);
        }
        assert_both_ways(wire);
        assert_int_equal(stream(wire, 60), 60);
    }
}

/* Datagrams from elsewhere are looked at only when they may be the browser's, and those that are
   not its own change nothing. */
TEST(strangers_have_not_moved)
{
    struct wire *wire = wire_connect();
    const struct udp_path path = at_port(1);
    uint8_t record[200] = {23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 0, 0, sizeof record - 13};
    stream(wire, 60);
    for (unsigned number = 0; number < 2000; number++)
        assert_false(peer_misses(wire->peer, number, now));
    pass_time(wire, 0.2);
    unsigned missed = 0;
    for (unsigned number = 0; number < 2000; number++) {
        record[9] = (uint8_t)(number >> 8);
        record[10] = (uint8_t)number;
        missed += peer_misses(wire->peer, number, now);
        assert_false(give_peer(wire, &path, record, sizeof record));
        assert_false(is_known(wire, &path));
    }
    assert_in_range(missed, 100, 1000);
    assert_int_equal(wire->went[1], 0);
    assert_int_equal(where(wire), 0);
    assert_both_ways(wire);
}

/* The answer and its probes get lost, all but the last. */
TEST(a_move_survives_loss_within_a_second)
{
    for (unsigned lost = 0; lost <= 3; lost++) {
        struct wire *wire = wire_connect();
        stream(wire, 180);
        move(wire, 1);
        const double begun = now;
        wire->lose = lost;
        check(wire);
        while (where(wire) == 0) {
            now = fmax(now, peer_deadline(wire->peer));
            assert_true(now - begun < 1.0);
            peer_update(wire->peer, now);
            carry(wire);
        }
        assert_both_ways(wire);
    }
}

/* A browser with two networks checks both, and sends on one. */
TEST(the_browser_is_where_it_sends_from)
{
    struct wire *wire = wire_connect();
    wire->hears_all = true;
    for (unsigned i = 0; i < 20; i++) {
        const unsigned messages = wire->messages;
        forge_check(wire, 1); /* the browser hears the answers to this check */
        now += 0.5;
        peer_update(wire->peer, now);
        carry(wire);
        assert_int_equal(where(wire), 0);
        assert_both_ways(wire);
        assert_int_equal(wire->messages, messages + 1);
    }
    assert_bounded(wire, 1);
}

/* Someone repeats recorded checks from ever other addresses while the browser moves. */
TEST(a_move_is_not_crowded_out)
{
    struct wire *wire = wire_connect();
    move(wire, 1);
    for (unsigned i = 2; i < 30; i++)
        forge_check(wire, i);
    rtc_client_check(&wire->client);
    assert_true(carry_one(wire));
    rtc_client_send(&wire->client, "x", 1);
    assert_true(carry_one(wire)); /* the answer */
    assert_true(carry_one(wire)); /* the probe */
    assert_true(carry_one(wire)); /* the datagram */
    assert_int_equal(wire->datagrams, 1);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 2; i < 30; i++)
            forge_check(wire, i);
    assert_int_equal(where(wire), 0);
    carry(wire); /* the browser's answer to the probe */
    assert_int_equal(where(wire), 1);
    assert_both_ways(wire);
    for (unsigned i = 2; i < 30; i++)
        assert_bounded(wire, i);
}

/* The browser's address changes in every step of the set-up. */
TEST(a_move_in_the_set_up)
{
    for (unsigned steps = 1; steps < 14; steps++) {
        struct wire *wire = wire_open();
        rtc_client_check(&wire->client);
        for (unsigned i = 0; i < steps; i++)
            carry_one(wire);
        move(wire, 1);
        check(wire);
        for (int i = 0; i < 50 && !wire->client.open; i++) {
            pass_time(wire, 0.1);
            rtc_client_repeat(&wire->client);
            carry(wire);
        }
        assert_true(wire->client.open);
        assert_int_equal(where(wire), 1);
        assert_both_ways(wire);
    }
}

/* A stranger who was at an address once may have left it, and go on forging checks. */
TEST(a_proof_runs_out)
{
    static const uint8_t data[1000];
    struct wire *wire = wire_connect();
    /* The proof is renewed as long as the browser is there. */
    for (int i = 0; i < 40; i++) {
        rtc_client_check(&wire->client);
        assert_int_equal(stream(wire, 150), 150);
    }
    move(wire, 1); /* the old address hears nothing any more */
    const double left = now;
    enum peer_send sent;
    do {
        forge_check(wire, 0);
        pass_time(wire, 0.1);
        sent = peer_send(wire->peer, data, sizeof data, now);
        assert_true(now - left <= PATHS_PROOF_SECONDS + 0.1);
    } while (sent != PEER_UNPROVEN);
    const size_t came = wire->came[0];
    const size_t went = wire->went[0];
    for (int i = 0; i < 1000; i++) {
        if (i % 10 == 0)
            forge_check(wire, 0);
        pass_time(wire, 0.1);
        peer_send(wire->peer, data, sizeof data, now);
    }
    assert_true(wire->went[0] - went <= 3 * (wire->came[0] - came) + sizeof data + 200);
    /* The browser is back. */
    move(wire, 0);
    check(wire);
    acknowledge(wire);
    assert_both_ways(wire);
}

int main(void)
{
    return cmocka_run_group_tests(fixture_tests, wire_set_up, wire_tear_down);
}
