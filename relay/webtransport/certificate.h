/* The certificates that WebTransport shows browsers. A browser takes one of no authority if its
   page knows its hash, and it is of ECDSA and valid for 14 days at most. So the relay makes them
   itself, in memory: the next one a period before it is used, so that the hashes that a page was
   given stay right for another period. */
#ifndef CAUSEWAY_RELAY_WEBTRANSPORT_CERTIFICATE_H
#define CAUSEWAY_RELAY_WEBTRANSPORT_CERTIFICATE_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CERTIFICATE_HASH_SIZE 32
#define CERTIFICATE_HASHES    2

struct certificates;

/* Makes the first two certificates at a time (Unix, in seconds), or reads the operator's own from
   PEM files when they are not NULL. Logs what failed and returns NULL otherwise. */
struct certificates *certificates_create(const char *certificate, const char *key, int64_t now);

/* Reads the operator's own again, perhaps from other files; NULL when there are none. Returns false
   after logging why not, and keeps those that it has. */
bool certificates_reload(struct certificates *certificates, const char *certificate,
                         const char *key, int64_t now);

/* Frees them. No handshake may be under way. NULL is allowed. */
void certificates_destroy(struct certificates *certificates);

/* Returns the credentials for a handshake now. They stay for longer than any handshake takes. */
gnutls_certificate_credentials_t certificates_use(struct certificates *certificates, int64_t now);

/* Fills in the SHA-256 of the certificate in use and of the next one, and returns how many there
   are: none when browsers know the operator's certificate by its authority. */
size_t certificates_hashes(struct certificates *certificates, int64_t now,
                           uint8_t out[CERTIFICATE_HASHES][CERTIFICATE_HASH_SIZE]);

#endif
