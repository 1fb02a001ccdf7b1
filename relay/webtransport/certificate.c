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
/* More seconds than any handshake takes; see QUIC_HANDSHAKE_SECONDS. */
#define HANDSHAKE_SECONDS 60

struct made_certificate {
    gnutls_certificate_credentials_t credentials;
    uint8_t hash[CERTIFICATE_HASH_SIZE];
    int64_t end;                     /* when it went out of use */
    struct made_certificate *before; /* the one that went out of use before it */
};

struct certificates {
    bool own;     /* the operator's, which is `current` */
    int64_t turn; /* when the next one comes into use */
    struct made_certificate *current;
    struct made_certificate *next;
    struct made_certificate *past; /* the last one that went out of use */
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

static void release(struct made_certificate *made)
{
    if (!made)
        return;
    if (made->credentials)
        gnutls_certificate_free_credentials(made->credentials);
    free(made);
}

/* Returns a certificate that is to be filled in, or NULL after logging why. */
static struct made_certificate *allocate(void)
{
    struct made_certificate *made = calloc(1, sizeof *made);
    if (made && gnutls_certificate_allocate_credentials(&made->credentials) == 0)
        return made;
    log_error("no memory");
    free(made);
    return NULL;
}

/* Makes a certificate that is valid from about now. Returns NULL after logging why. */
static struct made_certificate *make(int64_t now)
{
    struct made_certificate *made = allocate();
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    size_t size = CERTIFICATE_HASH_SIZE;
    if (!made)
        return NULL;
    int error = gnutls_x509_crt_init(&certificate);
    if (error == 0)
        error = gnutls_x509_privkey_init(&key);
    if (error == 0)
        error = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                             GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (error == 0)
        error = sign(certificate, key, now);
    if (error == 0)
        error = gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, made->hash, &size);
    if (error == 0)
        error = gnutls_certificate_set_x509_key(made->credentials, &certificate, 1, key);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
    if (error >= 0)
        return made;
    log_error("no certificate for WebTransport: %s", gnutls_strerror(error));
    release(made);
    return NULL;
}

static struct made_certificate *load(const char *certificate, const char *key)
{
    struct made_certificate *made = allocate();
    if (!made)
        return NULL;
    const int error = gnutls_certificate_set_x509_key_file(made->credentials, certificate, key,
                                                           GNUTLS_X509_FMT_PEM);
    if (error >= 0)
        return made;
    log_error("no certificate for WebTransport from %s and %s: %s", certificate, key,
              gnutls_strerror(error));
    release(made);
    return NULL;
}

struct certificates *certificates_create(const char *certificate, const char *key, int64_t now)
{
    struct certificates *certificates = calloc(1, sizeof *certificates);
    if (!certificates) {
        log_error("no memory");
        return NULL;
    }
    certificates->own = certificate != NULL;
    certificates->turn = now + (int64_t)PERIOD_DAYS * DAY;
    certificates->current = certificate ? load(certificate, key) : make(now);
    certificates->next = certificate ? NULL : make(now);
    if (certificates->current && (certificates->own || certificates->next))
        return certificates;
    certificates_destroy(certificates);
    return NULL;
}

/* Frees the certificates that went out of use before `end`. */
static void forget(struct certificates *certificates, int64_t end)
{
    struct made_certificate **at = &certificates->past;
    while (*at && (*at)->end >= end)
        at = &(*at)->before;
    while (*at) {
        struct made_certificate *made = *at;
        *at = made->before;
        release(made);
    }
}

void certificates_destroy(struct certificates *certificates)
{
    if (!certificates)
        return;
    release(certificates->current);
    release(certificates->next);
    forget(certificates, INT64_MAX);
    free(certificates);
}

/* Puts another certificate in the place of the one in use. */
static void replace(struct certificates *certificates, struct made_certificate *by, int64_t now)
{
    struct made_certificate *old = certificates->current;
    forget(certificates, now - HANDSHAKE_SECONDS);
    old->end = now;
    old->before = certificates->past;
    certificates->past = old;
    certificates->current = by;
}

bool certificates_reload(struct certificates *certificates, const char *certificate,
                         const char *key, int64_t now)
{
    if (certificates->own != (certificate != NULL)) {
        log_error("restart the relay to %s --webtransport-certificate",
                  certificate ? "give it" : "take away its");
        return false;
    }
    if (!certificate)
        return true;
    struct made_certificate *made = load(certificate, key);
    if (made)
        replace(certificates, made, now);
    return made != NULL;
}

/* Brings the next certificate into use when it is time. Nobody may have asked for so long that the
   next one has grown old too. When none can be made, the present ones stay, and it is tried again.
 */
static void rotate(struct certificates *certificates, int64_t now)
{
    const int64_t period = (int64_t)PERIOD_DAYS * DAY;
    if (certificates->own || now < certificates->turn)
        return;
    const bool late = now >= certificates->turn + period;
    struct made_certificate *first = late ? make(now) : certificates->next;
    struct made_certificate *second = first ? make(now) : NULL;
    if (!second) {
        if (late)
            release(first);
        return;
    }
    if (late)
        release(certificates->next);
    replace(certificates, first, now);
    certificates->next = second;
    certificates->turn = (late ? now : certificates->turn) + period;
}

gnutls_certificate_credentials_t certificates_use(struct certificates *certificates, int64_t now)
{
    rotate(certificates, now);
    return certificates->current->credentials;
}

size_t certificates_hashes(struct certificates *certificates, int64_t now,
                           uint8_t out[CERTIFICATE_HASHES][CERTIFICATE_HASH_SIZE])
{
    rotate(certificates, now);
    if (certificates->own)
        return 0;
    for (int i = 0; i < CERTIFICATE_HASH_SIZE; i++) {
        out[0][i] = certificates->current->hash[i];
        out[1][i] = certificates->next->hash[i];
    }
    return CERTIFICATE_HASHES;
}
