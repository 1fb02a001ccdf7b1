/* TLS towards browsers, by OpenSSL: the certificates, and the choice of the one that a client is
   shown. */
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
    unsigned key_count; /* the number of certificates too */
};

struct tls;

/* Reads the files; NULL = none, for a process that waits for tls_take. Logs which file cannot be
   used and why, and returns NULL, when one cannot. The names of the files must outlive the result.
 */
struct tls *tls_create(const struct tls_files *files);

/* Frees the certificates. Call it when no connection uses them any more. NULL is allowed. */
void tls_destroy(struct tls *tls);

/* Looks now and then whether the files have changed, and reads them again if so. Calls `changed`,
   unless it is NULL, whenever the files were read again, also in tls_reload. */
void tls_watch(struct tls *tls, struct loop *loop, void (*changed)(void *context), void *context);

/* Reads these files, or the same again; `tls` is NULL when there were none at the start. When a
   file cannot be used, or there are some now and were none, or the other way round, logs why, keeps
   the old certificates, and returns false. A certificate that expires before the one that came from
   the same file before is not taken either, which is logged. Open connections keep theirs. */
bool tls_reload(struct tls *tls, const struct tls_files *files);

/* Returns the Unix time at which the first certificate expires; INFINITY without one. NULL is
   allowed. */
double tls_expires(const struct tls *tls);

/* Copies the certificates and keys to memory for another process. Returns a descriptor, which the
   caller closes, or -1 after logging why not. */
int tls_copy(const struct tls *tls);

/* Takes the certificates and keys of such a copy. When it cannot, logs why, keeps the old ones, and
   returns false. Leaves the descriptor open. */
bool tls_take(struct tls *tls, int copy);

/* Has the connections of a context shown the certificate for the name that they ask for; the first
   one when there is none for it, or no name. The connections may ask for nothing that costs much
   more than the handshake of a browser. Returns false when OpenSSL refuses. */
bool tls_serve(struct tls *tls, SSL_CTX *context);

#endif
