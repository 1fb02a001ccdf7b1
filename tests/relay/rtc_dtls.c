/* DTLS: certificates that are made and given, and the handshake's timer. */
#define _GNU_SOURCE
#include "unit.h"

#include "relay/rtc/dtls.h"
#include "rtc_client.h"

#include <math.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_certificate_is_new),
        cmocka_unit_test(test_a_certificate_can_be_given),
        cmocka_unit_test(test_nothing_is_sent_or_awaited_before_a_hello),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
