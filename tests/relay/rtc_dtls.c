/* DTLS: certificates that are made and given, and the handshake's timer. */
#define _GNU_SOURCE
#include "unit.h"

#include "relay/rtc/dtls.h"
#include "rtc_client.h"

#include <malloc.h>
#include <math.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_every_certificate_is_new(void **state)
{
    (void)state;
    struct dtls_identity *one = dtls_identity_create();
    struct dtls_identity *other = dtls_identity_create();
    assert_non_null(one);
    assert_non_null(other);
    assert_memory_not_equal(dtls_identity_fingerprint(one), dtls_identity_fingerprint(other), 32);
    dtls_identity_destroy(one);
    dtls_identity_destroy(other);
    dtls_identity_destroy(NULL);
}

static void test_a_certificate_can_be_given(void **state)
{
    (void)state;
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

    /* No file, and the wrong file. */
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

static void test_nothing_is_sent_or_awaited_before_a_hello(void **state)
{
    (void)state;
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
    /* A record that is no handshake is no reason to speak, or to give up. */
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

/* What OpenSSL holds. */
static size_t held;

static void *count_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    void *block = malloc(size);
    held += block ? malloc_usable_size(block) : 0;
    return block;
}

static void count_free(void *block, const char *file, int line)
{
    (void)file, (void)line;
    held -= block ? malloc_usable_size(block) : 0;
    free(block);
}

static void *count_realloc(void *block, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    const size_t before = block ? malloc_usable_size(block) : 0;
    void *moved = realloc(block, size);
    if (moved)
        held += malloc_usable_size(moved) - before;
    return moved;
}

static void test_a_stranger_makes_it_hold_little(void **state)
{
    (void)state;
    static const uint8_t fingerprint[32];
    /* The first bytes of a handshake message that is announced to be longer than any: its length is
       at 14, its number at 18. OpenSSL keeps those that are not yet due. */
    uint8_t start[13 + 12 + 10] = {22, 254, 253, [12] = 22, 11, [24] = 10};
    static const size_t lengths[] = {1000, 16000, 17000, 100000};
    struct dtls_identity *identity = dtls_identity_create();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct dtls *dtls = dtls_create(identity, fingerprint, on_send, NULL);
        const size_t before = held;
        start[14] = (uint8_t)(lengths[i] >> 16);
        start[15] = (uint8_t)(lengths[i] >> 8);
        start[16] = (uint8_t)lengths[i];
        for (uint8_t number = 1; number < 20; number++) {
            start[10] = start[18] = number;
            dtls_receive(dtls, start, sizeof start);
        }
        assert_true(held - before < 300000);
        dtls_destroy(dtls);
    }
    dtls_identity_destroy(identity);
}

int main(void)
{
    CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_certificate_is_new),
        cmocka_unit_test(test_a_certificate_can_be_given),
        cmocka_unit_test(test_nothing_is_sent_or_awaited_before_a_hello),
        cmocka_unit_test(test_a_stranger_makes_it_hold_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
