/* DTLS: certificates that are made and given, and the handshake's timer. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "fixture.h"

#include "relay/rtc/dtls.h"
#include "relay/rtc/dtls_memory.h"
#include "rtc_client.h"

#include <malloc.h>
#include <math.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TEST(every_certificate_is_new)
{
    struct dtls_identity *one = dtls_identity_create();
    struct dtls_identity *other = dtls_identity_create();
    assert_non_null(one);
    assert_non_null(other);
    assert_memory_not_equal(dtls_identity_fingerprint(one), dtls_identity_fingerprint(other), 32);
    dtls_identity_destroy(one);
    dtls_identity_destroy(other);
    dtls_identity_destroy(NULL);
}

TEST(a_certificate_can_be_given)
{
    struct rtc_identity made;
    char certificate_name[] = "/tmp/causeway-certificate-XXXXXX";
    char key_name[] = "/tmp/causeway-key-XXXXXX";
    char error[256] = "";
    rtc_identity_create(&made);
    FILE *certificate = fdopen(mkstemp(certificate_name), "w");
    FILE *key = fdopen(mkstemp(key_name), "w");
    assert_non_null(certificate);
    assert_non_null(key);
    PEM_write_X509(certificate, SSL_CTX_get0_certificate(made.context));
    PEM_write_PrivateKey(key, SSL_CTX_get0_privatekey(made.context), NULL, NULL, 0, NULL, NULL);
    fclose(certificate);
    fclose(key);

    struct dtls_identity *identity = dtls_identity_load(certificate_name, key_name, error);
    assert_non_null(identity);
    assert_memory_equal(dtls_identity_fingerprint(identity), made.fingerprint, 32);
    dtls_identity_destroy(identity);

    /* There is no such file, or it is the wrong one. */
    assert_null(dtls_identity_load("/nowhere/at/all", key_name, error));
    assert_int_not_equal(strlen(error), 0);
    assert_null(dtls_identity_load(certificate_name, certificate_name, error));
    assert_int_not_equal(strlen(error), 0);
    unlink(certificate_name);
    unlink(key_name);
    rtc_identity_destroy(&made);
}

static unsigned sent;

static void on_send(void *context, const uint8_t *data, size_t size)
{
    (void)context, (void)data;
    assert_true(size <= DTLS_HANDSHAKE_MTU);
    sent++;
}

TEST(nothing_is_sent_or_awaited_before_a_hello)
{
    static const uint8_t fingerprint[32];
    uint8_t out[100];
    struct dtls_identity *identity = dtls_identity_create();
    struct dtls *dtls = dtls_create(identity, fingerprint, on_send, NULL);
    assert_non_null(dtls);
    sent = 0;
    assert_int_equal(dtls_state(dtls), DTLS_HANDSHAKE);
    assert_true(dtls_timeout(dtls) == INFINITY);
    assert_false(dtls_write(dtls, (const uint8_t *)"x", 1));
    assert_int_equal(dtls_read(dtls, out, sizeof out), 0);
    /* A record that is no part of a handshake is no reason to answer, or to give up. */
    static const uint8_t noise[] = {23, 254, 253, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 7};
    assert_int_equal(dtls_receive(dtls, noise, sizeof noise), DTLS_HANDSHAKE);
    assert_int_equal(dtls_receive(dtls, noise, 3), DTLS_HANDSHAKE);
    assert_int_equal(sent, 0);
    dtls_close(dtls);
    assert_int_equal(sent, 0);
    dtls_destroy(dtls);
    dtls_destroy(NULL);
    dtls_identity_destroy(identity);
}

/* The number of bytes that OpenSSL holds. */
static size_t allocated;

static void *count_malloc(size_t size, const char *file, int line)
{
    void *block = dtls_memory_malloc(size, file, line);
    allocated += block ? malloc_usable_size(block) : 0;
    return block;
}

static void count_free(void *block, const char *file, int line)
{
    allocated -= block ? malloc_usable_size(block) : 0;
    dtls_memory_free(block, file, line);
}

static void *count_realloc(void *block, size_t size, const char *file, int line)
{
    const size_t before = block ? malloc_usable_size(block) : 0;
    void *moved = dtls_memory_realloc(block, size, file, line);
    if (moved)
        allocated += malloc_usable_size(moved) - before;
    return moved;
}

/* A server and a client, and the datagrams between them. */
struct pair {
    struct dtls_identity *server_identity;
    struct rtc_identity client_identity;
    struct dtls *server;
    struct rtc_client client;
    struct flight {
        unsigned count;
        struct {
            size_t size;
            uint8_t data[2048];
        } datagrams[64];
    } to_server, to_client;
    unsigned received; /* records of data that the server got */
};

static void put(struct flight *flight, const uint8_t *data, size_t size)
{
    assert_true(flight->count < 64 && size <= 2048);
    flight->datagrams[flight->count].size = size;
    memcpy(flight->datagrams[flight->count++].data, data, size);
}

static void on_server_send(void *context, const uint8_t *data, size_t size)
{
    put(&((struct pair *)context)->to_client, data, size);
}

static void on_client_send(void *context, const uint8_t *data, size_t size)
{
    put(&((struct pair *)context)->to_server, data, size);
}

static void pair_destroy(void *object)
{
    struct pair *pair = object;
    dtls_destroy(pair->server);
    rtc_client_destroy(&pair->client);
    rtc_identity_destroy(&pair->client_identity);
    dtls_identity_destroy(pair->server_identity);
    free(pair);
}

/* Makes a pair whose client has sent its ClientHello. */
static struct pair *pair_create(long mtu)
{
    static const uint8_t checked[] = {1, 1};
    uint8_t protocols[400];
    struct pair *pair = own(calloc(1, sizeof *pair), pair_destroy);
    pair->server_identity = dtls_identity_create();
    rtc_identity_create(&pair->client_identity);
    pair->client = (struct rtc_client){
        .identity = &pair->client_identity, .send = on_client_send, .context = pair};
    pair->server =
        dtls_create(pair->server_identity, pair->client_identity.fingerprint, on_server_send, pair);
    rtc_client_open(&pair->client);
    SSL_set_mtu(pair->client.ssl, mtu);
    /* The long list makes a ClientHello of more than half a kilobyte, as browsers have. */
    memset(protocols, 1, sizeof protocols);
    SSL_set_alpn_protos(pair->client.ssl, protocols, sizeof protocols);
    rtc_client_receive(&pair->client, checked, sizeof checked);
    return pair;
}

static void give_server(struct pair *pair, const uint8_t *data, size_t size)
{
    uint8_t out[2048];
    uint8_t *exact = malloc(size);
    memcpy(exact, data, size);
    dtls_receive(pair->server, exact, size);
    while (dtls_read(pair->server, out, sizeof out) > 0)
        pair->received++;
    free(exact);
}

/* Gives the server the records that the client has sent: in turn, the last first, or from the
   middle on. */
enum order { IN_TURN, BACKWARDS, FROM_THE_MIDDLE };

static unsigned carry_to_server(struct pair *pair, enum order order)
{
    struct {
        const uint8_t *data;
        size_t size;
    } records[64];
    static struct flight flight;
    unsigned count = 0;
    flight = pair->to_server;
    pair->to_server.count = 0;
    for (unsigned i = 0; i < flight.count; i++)
        for (size_t at = 0; at < flight.datagrams[i].size; at += records[count++].size) {
            const uint8_t *data = flight.datagrams[i].data + at;
            assert_true(count < 64);
            records[count].data = data;
            records[count].size = 13 + (size_t)(data[11] << 8 | data[12]);
        }
    for (unsigned i = 0; i < count; i++) {
        const unsigned at = order == IN_TURN     ? i
                            : order == BACKWARDS ? count - 1 - i
                                                 : (i + count / 2) % count;
        give_server(pair, records[at].data, records[at].size);
    }
    return count;
}

static void carry_to_client(struct pair *pair)
{
    static struct flight flight;
    flight = pair->to_client;
    pair->to_client.count = 0;
    for (unsigned i = 0; i < flight.count; i++)
        rtc_client_receive(&pair->client, flight.datagrams[i].data, flight.datagrams[i].size);
}

TEST(flights_may_be_turned_round)
{
    static const long mtus[] = {1200, 400, 256};
    for (size_t i = 0; i < sizeof mtus / sizeof mtus[0]; i++)
        for (enum order order = IN_TURN; order <= FROM_THE_MIDDLE; order++) {
            struct pair *pair = pair_create(mtus[i]);
            assert_true(carry_to_server(pair, order) >= (mtus[i] == 1200 ? 1 : 2));
            assert_true(pair->to_client.count > 0);
            carry_to_client(pair);
            assert_true(carry_to_server(pair, order) >= 5);
            assert_int_equal(dtls_state(pair->server), DTLS_CONNECTED);
            carry_to_client(pair);
            assert_true(pair->client.connected);
            carry_to_server(pair, IN_TURN);
            assert_int_equal(pair->received, 1);
        }
}

TEST(lost_flights_come_again)
{
    struct pair *pair = pair_create(400);
    /* Each datagram of the client is lost once, and the next one comes twice. */
    for (unsigned lost = 0; lost < 8 && dtls_state(pair->server) != DTLS_CONNECTED; lost++) {
        static struct flight all;
        carry_to_client(pair);
        all = pair->to_server;
        for (unsigned i = 0; i < all.count; i++)
            if (i != lost)
                give_server(pair, all.datagrams[i].data, all.datagrams[i].size);
        carry_to_server(pair, IN_TURN);
    }
    assert_int_equal(dtls_state(pair->server), DTLS_CONNECTED);
    /* The server's last flight is lost twice; the client's next Finished asks for it. */
    for (int i = 0; i < 2; i++) {
        const struct timespec pause = {.tv_sec = 1 + i, .tv_nsec = 100000000};
        pair->to_client.count = 0;
        nanosleep(&pause, NULL);
        assert_int_equal(DTLSv1_handle_timeout(pair->client.ssl), 1);
        carry_to_server(pair, IN_TURN);
        assert_int_equal(dtls_state(pair->server), DTLS_CONNECTED);
        assert_true(pair->to_client.count > 0);
    }
    carry_to_client(pair);
    assert_true(pair->client.connected);
}

/* Records of strangers: each function writes a record for a round, and returns its size. */

/* Writes the first bytes of a handshake message that is announced to be long; its length is at 14,
   its number at 18. */
static size_t announce(uint8_t *out, unsigned round)
{
    static const uint8_t start[13 + 12 + 10] = {22, 254, 253, [12] = 22, 11, [24] = 10};
    static const unsigned lengths[] = {1000, 4000, 16000, 17000, 100000};
    memcpy(out, start, sizeof start);
    out[9] = (uint8_t)(1 + round / 20);
    out[10] = out[18] = (uint8_t)(1 + round % 20);
    out[14] = (uint8_t)(lengths[round / 20 % 5] >> 16);
    out[15] = (uint8_t)(lengths[round / 20 % 5] >> 8);
    out[16] = (uint8_t)lengths[round / 20 % 5];
    return sizeof start;
}

/* Does the same for the message that is due next. */
static size_t announce_next(uint8_t *out, unsigned round)
{
    const size_t size = announce(out, round);
    out[13] = 11;
    out[18] = 1;
    return size;
}

/* Writes records of keys that are not in use yet, or that are not the sender's. */
static size_t seal(uint8_t *out, unsigned round)
{
    static const uint8_t start[13] = {22, 254, 253};
    const size_t contents = round % 61;
    memcpy(out, start, sizeof start);
    out[0] = (uint8_t)(20 + round % 4);
    out[4] = (uint8_t)(1 + round / 128 % 2);
    out[9] = 1;
    out[10] = (uint8_t)round;
    out[12] = (uint8_t)contents;
    memset(out + sizeof start, 11, contents);
    return sizeof start + contents;
}

/* The most bytes of OpenSSL that a stranger may hold: before a ClientHello 16 KB, less 4 KB for
   what dtls.c has of its own, and after it the second number beyond those of the handshake. */
#define MOST_BEFORE_A_HELLO (16384 - 4096)
#define MOST_BEYOND_A_HELLO 8192

TEST(a_stranger_makes_it_hold_little)
{
    size_t (*const floods[])(uint8_t * out, unsigned round) = {announce, announce_next, seal};
    for (size_t i = 0; i < sizeof floods / sizeof floods[0]; i++)
        for (int hello = 0; hello < 2; hello++) {
            uint8_t record[128];
            struct pair *pair = pair_create(1200);
            if (hello)
                carry_to_server(pair, IN_TURN);
            assert_true((pair->to_client.count > 0) == (hello == 1));
            const size_t before = allocated;
            for (unsigned round = 0; round < 256; round++)
                give_server(pair, record, floods[i](record, round));
            assert_int_equal(dtls_state(pair->server), DTLS_HANDSHAKE);
            assert_true(allocated - before <= (hello ? MOST_BEYOND_A_HELLO : MOST_BEFORE_A_HELLO));
        }
}

TEST(who_is_connected_makes_it_hold_no_more)
{
    struct pair *pair = pair_create(1200);
    for (int i = 0; i < 3; i++) {
        carry_to_server(pair, IN_TURN);
        carry_to_client(pair);
    }
    assert_true(pair->client.connected);
    const size_t before = allocated;
    for (unsigned round = 0; round < 256; round++) {
        uint8_t record[128];
        give_server(pair, record, seal(record, round));
        give_server(pair, record, announce(record, round));
    }
    assert_int_equal(dtls_state(pair->server), DTLS_CONNECTED);
    assert_true(allocated - before <= 4096);
}

int main(void)
{
    CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free);
    return fixture_run();
}
