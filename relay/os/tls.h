/* TLS towards browsers, by OpenSSL: the certificates, and which of them a client is shown. */
#ifndef CAUSEWAY_RELAY_TLS_H
#define CAUSEWAY_RELAY_TLS_H

#include "os/loop.h"

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

/* Reads the files; NULL = none, for a process that waits for tls_take. Logs which of them cannot be
   used and why, and returns NULL, when one cannot. Their names must outlive it. */
struct tls *tls_create(const struct tls_files *files);

/* Frees it. Call it when no connection uses it any more. NULL is allowed. */
void tls_destroy(struct tls *tls);

/* Looks now and then whether the files have changed, and takes them again. Calls `changed`, unless
   it is NULL, whenever it has, also in tls_reload. */
void tls_watch(struct tls *tls, struct loop *loop, void (*changed)(void *context), void *context);

/* Takes these files, or the same again; `tls` is NULL when there were none at the start. When one
   cannot be used, or there are some now and were none, or the other way round, logs why, keeps what
   it has, and returns false. Open connections keep theirs. */
bool tls_reload(struct tls *tls, const struct tls_files *files);

/* Copies the certificates and keys to memory for another process: a descriptor, which the caller
   closes, or -1 after logging why not. */
int tls_copy(const struct tls *tls);

/* Takes those of such a copy. Logs it, keeps what it has, and returns false, when it cannot. Leaves
   the descriptor open. */
bool tls_take(struct tls *tls, int copy);

/* Has the connections of a context shown the certificate that is for the name that they ask for;
   the first when there is none, or no name. They may ask for nothing that costs much more than the
   handshake of a browser. False when OpenSSL refuses. */
bool tls_serve(struct tls *tls, SSL_CTX *context);

#endif
