/* The identity that TLS shows a client: a certificate with its chain, and the key that belongs to
   it. */
#ifndef CAUSEWAY_RELAY_TLS_IDENTITY_H
#define CAUSEWAY_RELAY_TLS_IDENTITY_H

#include <openssl/ssl.h>
#include <stdbool.h>

/* An identity; all NULL = none. */
struct tls_identity {
    X509 *certificate;
    STACK_OF(X509) * chain;
    EVP_PKEY *key;
};

/* Reads two PEM files into an empty identity. Logs which file cannot be used and why, and returns
   false, when one cannot; some of the identity may be there then. */
bool tls_identity_load(const char *certificate, const char *key, struct tls_identity *out);

/* Returns the Unix time at which the certificate expires. */
double tls_identity_expires(const struct tls_identity *identity);

/* Copies an identity, which shares its parts with the copy, into an empty one. */
void tls_identity_share(const struct tls_identity *identity, struct tls_identity *out);

/* Write an identity for another process, and read it there into an empty one. They return false
   when that fails. */
bool tls_identity_write(const struct tls_identity *identity, BIO *out);
bool tls_identity_read(BIO *in, struct tls_identity *out);

/* Frees the contents of an identity, which is empty then. */
void tls_identity_free(struct tls_identity *identity);

#endif
