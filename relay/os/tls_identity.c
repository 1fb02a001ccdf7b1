#include "os/tls_identity.h"

#include "os/log.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>
#include <time.h>

void tls_identity_free(struct tls_identity *identity)
{
    X509_free(identity->certificate);
    sk_X509_pop_free(identity->chain, X509_free);
    EVP_PKEY_free(identity->key);
    *identity = (struct tls_identity){0};
}

/* Logs why a file cannot be used; `what` is the thing that should be in it. */
static bool fail(const char *file, const char *what)
{
    const unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);
    if (ERR_GET_LIB(error) == ERR_LIB_SYS)
        reason = strerror(ERR_GET_REASON(error));
    if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE)
        log_error("cannot use %s for TLS: there is no %s in PEM format in it", file, what);
    else
        log_error("cannot use %s for TLS: %s", file, reason ? reason : "it is malformed");
    ERR_clear_error();
    return false;
}

/* Refuses a key that wants a passphrase: nobody is there to type it. */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

/* Reads the certificates. The first is the server's, those behind it are its chain. */
static bool read_certificates(BIO *file, struct tls_identity *out)
{
    X509 *link;
    out->certificate = PEM_read_bio_X509(file, NULL, no_passphrase, NULL);
    out->chain = sk_X509_new_null();
    if (!out->certificate || !out->chain)
        return false;
    while ((link = PEM_read_bio_X509(file, NULL, no_passphrase, NULL))) {
        if (!sk_X509_push(out->chain, link)) {
            X509_free(link);
            return false;
        }
    }
    /* the end of the file is an error too */
    const bool whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (whole)
        ERR_clear_error();
    return whole;
}

bool tls_identity_load(const char *certificate, const char *key, struct tls_identity *out)
{
    ERR_clear_error();
    BIO *file = BIO_new_file(certificate, "r");
    const bool read = file && read_certificates(file, out);
    BIO_free(file);
    if (!read)
        return fail(certificate, "certificate");
    file = BIO_new_file(key, "r");
    out->key = file ? PEM_read_bio_PrivateKey(file, NULL, no_passphrase, NULL) : NULL;
    BIO_free(file);
    if (!out->key || X509_check_private_key(out->certificate, out->key) != 1)
        return fail(key, "key");
    return true;
}

double tls_identity_expires(const struct tls_identity *identity)
{
    struct tm time;
    return ASN1_TIME_to_tm(X509_get0_notAfter(identity->certificate), &time) == 1
               ? (double)timegm(&time)
               : 0.0;
}

void tls_identity_share(const struct tls_identity *identity, struct tls_identity *out)
{
    X509_up_ref(identity->certificate);
    EVP_PKEY_up_ref(identity->key);
    *out = (struct tls_identity){identity->certificate, X509_chain_up_ref(identity->chain),
                                 identity->key};
}

/* Writes the identity in DER, in which each piece says where it ends. */
bool tls_identity_write(const struct tls_identity *identity, BIO *out)
{
    const int links = sk_X509_num(identity->chain);
    bool written = BIO_write(out, &links, sizeof links) == (int)sizeof links &&
                   i2d_PrivateKey_bio(out, identity->key) == 1 &&
                   i2d_X509_bio(out, identity->certificate) == 1;
    for (int i = 0; i < links; i++)
        written = written && i2d_X509_bio(out, sk_X509_value(identity->chain, i)) == 1;
    return written;
}

bool tls_identity_read(BIO *in, struct tls_identity *out)
{
    int links;
    if (BIO_read(in, &links, sizeof links) != (int)sizeof links)
        return false;
    out->key = d2i_PrivateKey_bio(in, NULL);
    out->certificate = d2i_X509_bio(in, NULL);
    out->chain = sk_X509_new_null();
    bool read = out->key && out->certificate && out->chain;
    for (int i = 0; i < links && read; i++) {
        X509 *link = d2i_X509_bio(in, NULL);
        read = link && sk_X509_push(out->chain, link);
        if (!read)
            X509_free(link);
    }
    return read;
}
