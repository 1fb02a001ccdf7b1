/* TLS towards browsers, by OpenSSL: the certificates, and which of them a client is shown. */
#ifndef CAUSEWAY_RELAY_TLS_H
#define CAUSEWAY_RELAY_TLS_H

#include "net/loop.h"

#include <openssl/ssl.h>
#include <stdbool.h>

#define TLS_CERTIFICATES_MAX 16

/* PEM files: a certificate with its chain, and its key. */
struct tls_files {
    const char *certificates[TLS_CERTIFICATES_MAX];
    const char *keys[TLS_CERTIFICATES_MAX];
    unsigned certificate_count;
    unsigned key_count; /* the same */
};

struct tls;

/* Reads the files. Logs which of them cannot be used and why, and returns NULL, when one cannot.
   Their names must outlive it. */
struct tls *tls_create(const struct tls_files *files);

/* Frees it. Call it when no connection uses it any more. NULL is allowed. */
void tls_destroy(struct tls *tls);

/* Looks now and then whether the files have changed, and takes them again. */
void tls_watch(struct tls *tls, struct loop *loop);

/* Takes these files, or the same again. When one cannot be used, logs why, keeps what it has, and
   returns false. Open connections keep theirs. */
bool tls_reload(struct tls *tls, const struct tls_files *files);

/* Has the connections of a context shown the certificate that is for the name that they ask for;
   the first when there is none, or no name. */
void tls_serve(struct tls *tls, SSL_CTX *context);

#endif
