/* The identity that TLS shows a client: a certificate with its chain, and the key that belongs to
   it. */
#ifndef CAUSEWAY_RELAY_TLS_IDENTITY_H
#define CAUSEWAY_RELAY_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* All NULL = none. */
struct tls_identity {
    X509 *certificate;
    STACK_OF(X509) * chain;
    EVP_PKEY *key;
};

/* Reads two PEM files into an empty identity. Logs which of them cannot be used and why, and
   returns false, when one cannot; some of it may be there then. */
bool tls_identity_load(const char *certificate, const char *key, struct tls_identity *out);

/* Writes one for another process, and reads it there into an empty one. False when that fails. */
bool tls_identity_write(const struct tls_identity *identity, BIO *out);
bool tls_identity_read(BIO *in, struct tls_identity *out);

/* Leaves an empty one. */
void tls_identity_free(struct tls_identity *identity);

#endif
