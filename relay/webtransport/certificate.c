#include "webtransport/certificate.h"

#include "os/log.h"

#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdlib.h>

#define DAY 86400
/* The days that a certificate is valid, which is the most that browsers take. */
#define VALID_DAYS 14
/* A certificate is in use for this many days, after as many in which it is the next one. One day is
   left on both sides for clocks that are wrong. */
#define PERIOD_DAYS 6

struct made_certificate {
    gnutls_certificate_credentials_t credentials;
    uint8_t hash[CERTIFICATE_HASH_SIZE];
};

struct certificates {
    bool own;                     /* the operator's, which is `current` and never changes */
    int64_t turn;                 /* when the next one comes into use */
    struct made_certificate last; /* the one before, of handshakes that had begun with it */
    struct made_certificate current;
    struct made_certificate next;
};

/* Signs a certificate for a key. Browsers look at its validity, its key and its hash. */
static int sign(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, int64_t now)
{
    uint8_t serial[8];
    const int64_t from = now - DAY;
    int error = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (serial[0] & 0x7f) | 0x40; /* the number is positive, and has no byte too many */
    if (error == 0)
        error = gnutls_x509_crt_set_version(certificate, 3);
    if (error == 0)
        error = gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
    if (error == 0)
        error = gnutls_x509_crt_set_dn(certificate, "CN=causeway-relay", NULL);
    if (error == 0)
        error = gnutls_x509_crt_set_activation_time(certificate, (time_t)from);
    if (error == 0)
        error = gnutls_x509_crt_set_expiration_time(certificate,
                                                    (time_t)(from + (int64_t)VALID_DAYS * DAY));
    if (error == 0)
        error = gnutls_x509_crt_set_key(certificate, key);
    /* Chromium takes no certificate without extensions. */
    if (error == 0)
        error = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
    if (error == 0)
        error = gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
    return error;
}

/* Makes a certificate that is valid from about now. Returns false after logging why. */
static bool make(struct made_certificate *out, int64_t now)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    size_t size = CERTIFICATE_HASH_SIZE;
    out->credentials = NULL;
    int error = gnutls_x509_crt_init(&certificate);
    if (error == 0)
        error = gnutls_x509_privkey_init(&key);
    if (error == 0)
        error = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                             GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (error == 0)
        error = sign(certificate, key, now);
    if (error == 0)
        error = gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, out->hash, &size);
    if (error == 0)
        error = gnutls_certificate_allocate_credentials(&out->credentials);
    if (error == 0)
        error = gnutls_certificate_set_x509_key(out->credentials, &certificate, 1, key);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    if (error < 0)
        log_error("no certificate for WebTransport: %s", gnutls_strerror(error));
    return error >= 0;
}

static void release(struct made_certificate *made)
{
    if (made->credentials)
        gnutls_certificate_free_credentials(made->credentials);
    made->credentials = NULL;
}

static bool load(struct certificates *certificates, const char *certificate, const char *key)
{
    gnutls_certificate_credentials_t *out = &certificates->current.credentials;
    int error = gnutls_certificate_allocate_credentials(out);
    certificates->own = true;
    if (error == 0)
        error = gnutls_certificate_set_x509_key_file(*out, certificate, key, GNUTLS_X509_FMT_PEM);
    if (error < 0)
        log_error("no certificate for WebTransport from %s and %s: %s", certificate, key,
                  gnutls_strerror(error));
    return error >= 0;
}

struct certificates *certificates_create(const char *certificate, const char *key, int64_t now)
{
    struct certificates *certificates = calloc(1, sizeof *certificates);
    if (!certificates) {
        log_error("no memory");
        return NULL;
    }
    certificates->turn = now + (int64_t)PERIOD_DAYS * DAY;
    if (certificate ? load(certificates, certificate, key)
                    : make(&certificates->current, now) && make(&certificates->next, now))
        return certificates;
    certificates_destroy(certificates);
    return NULL;
}

void certificates_destroy(struct certificates *certificates)
{
    if (!certificates)
        return;
    release(&certificates->last);
    release(&certificates->current);
    release(&certificates->next);
    free(certificates);
}

/* Brings the next certificate into use when it is time. Nobody may have asked for so long that the
   next one has grown old too. When none can be made, the present ones stay, and it is tried again.
 */
static void rotate(struct certificates *certificates, int64_t now)
{
    const int64_t period = (int64_t)PERIOD_DAYS * DAY;
    struct made_certificate first = {0};
    struct made_certificate second = {0};
    if (certificates->own || now < certificates->turn)
        return;
    const bool late = now >= certificates->turn + period;
    if (!make(&second, now) || (late && !make(&first, now))) {
        release(&first);
        release(&second);
        return;
    }
    release(&certificates->last);
    certificates->last = certificates->current;
    if (late)
        release(&certificates->next);
    certificates->current = late ? first : certificates->next;
    certificates->next = second;
    certificates->turn = (late ? now : certificates->turn) + period;
}

gnutls_certificate_credentials_t certificates_use(struct certificates *certificates, int64_t now)
{
    rotate(certificates, now);
    return certificates->current.credentials;
}

size_t certificates_hashes(struct certificates *certificates, int64_t now,
                           uint8_t out[CERTIFICATE_HASHES][CERTIFICATE_HASH_SIZE])
{
    rotate(certificates, now);
    if (certificates->own)
        return 0;
    for (int i = 0; i < CERTIFICATE_HASH_SIZE; i++) {
        out[0][i] = certificates->current.hash[i];
        out[1][i] = certificates->next.hash[i];
    }
    return CERTIFICATE_HASHES;
}
