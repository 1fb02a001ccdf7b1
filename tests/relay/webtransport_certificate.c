/* The certificates of WebTransport over weeks: what browsers take, and what pages know. */
#include "unit.h"
#include "webtransport/certificate.h"

#include <gnutls/x509.h>
#include <string.h>

#define DAY   ((int64_t)86400)
#define START ((int64_t)1700000000)

/* Fills in the hash of the certificate that a handshake would show, and checks what browsers do. */
static void use(struct certificates *certificates, int64_t now, uint8_t hash[CERTIFICATE_HASH_SIZE])
{
    gnutls_datum_t der;
    gnutls_x509_crt_t read;
    size_t size = CERTIFICATE_HASH_SIZE;
    assert_int_equal(
        gnutls_certificate_get_crt_raw(certificates_use(certificates, now), 0, 0, &der), 0);
    assert_int_equal(gnutls_x509_crt_init(&read), 0);
    assert_int_equal(gnutls_x509_crt_import(read, &der, GNUTLS_X509_FMT_DER), 0);
    const int64_t from = gnutls_x509_crt_get_activation_time(read);
    const int64_t until = gnutls_x509_crt_get_expiration_time(read);
    assert_true(from <= now - DAY + 60 && now + DAY <= until);
    assert_true(until - from <= 14 * DAY);
    assert_int_equal(gnutls_x509_crt_get_pk_algorithm(read, NULL), GNUTLS_PK_ECDSA);
    assert_int_equal(gnutls_x509_crt_get_fingerprint(read, GNUTLS_DIG_SHA256, hash, &size), 0);
    gnutls_x509_crt_deinit(read);
}

/* A page that was given the hashes at any time may connect for six days after. */
static void test_weeks(void **state)
{
    (void)state;
    struct certificates *certificates = certificates_create(NULL, NULL, START);
    uint8_t known[CERTIFICATE_HASHES][CERTIFICATE_HASH_SIZE];
    uint8_t hash[CERTIFICATE_HASH_SIZE];
    assert_non_null(certificates);
    for (int64_t day = 0; day < 60; day += 2) {
        const int64_t now = START + day * DAY;
        assert_int_equal(certificates_hashes(certificates, now, known), CERTIFICATE_HASHES);
        use(certificates, now + DAY, hash);
        assert_true(memcmp(hash, known[0], sizeof hash) == 0 ||
                    memcmp(hash, known[1], sizeof hash) == 0);
    }
    certificates_destroy(certificates);
}

/* A relay to which nobody has come for long has good ones all the same. */
static void test_idle(void **state)
{
    (void)state;
    struct certificates *certificates = certificates_create(NULL, NULL, START);
    uint8_t hash[CERTIFICATE_HASH_SIZE];
    for (int64_t day = 0; day < 400; day += day / 2 + 5)
        use(certificates, START + day * DAY, hash);
    certificates_destroy(certificates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weeks),
        cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
