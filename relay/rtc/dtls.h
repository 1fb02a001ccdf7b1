/* The server's side of DTLS 1.2 for one peer (OpenSSL). The caller hands in datagrams that have
   come. Datagrams to send leave through a callback, because a handshake makes several at a time. */
#ifndef CAUSEWAY_RELAY_RTC_DTLS_H
#define CAUSEWAY_RELAY_RTC_DTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest datagram that a handshake sends. */
#define DTLS_HANDSHAKE_MTU 1200
/* The bytes that a record adds to its contents. */
#define DTLS_OVERHEAD 37

/* Returns true when the datagram may be DTLS: its first byte is 20 to 63 (RFC 7983). */
static inline bool dtls_is(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] >= 20 && data[0] <= 63;
}

/* Returns true when a datagram begins with an encrypted record. *number is then the record's
   number, which each sender counts up. */
bool dtls_number(const uint8_t *data, size_t size, uint64_t *number);

/* The certificate and its key, shared by all peers. */
struct dtls_identity;

/* Makes a new ECDSA P-256 certificate. Returns NULL when OpenSSL refuses. */
struct dtls_identity *dtls_identity_create(void);

/* Reads a certificate and its key from PEM files. When that fails, returns NULL with a sentence in
   error. */
struct dtls_identity *dtls_identity_load(const char *certificate, const char *key, char error[256]);
void dtls_identity_destroy(struct dtls_identity *identity);

/* Returns the SHA-256 of the certificate: 32 bytes. */
const uint8_t *dtls_identity_fingerprint(const struct dtls_identity *identity);

/* Returns a secret that comes from the certificate's key: 32 bytes, the same in every process that
   has this key. */
const uint8_t *dtls_identity_secret(const struct dtls_identity *identity);

enum dtls_state {
    DTLS_HANDSHAKE,
    DTLS_CONNECTED,
    DTLS_CLOSED, /* the other side ended it */
    DTLS_FAILED,
};

struct dtls;

/* Waits, using little memory, for a handshake by the owner of the certificate with this SHA-256. A
   handshake by anyone else fails. So does one with several certificates, or with a certificate that
   is not of ECDSA with P-256, or RSA of 2,048 to 4,096 bits and the exponent 65,537: others would
   cost much more to verify. The other functions call send for each datagram that is to go out.
   identity must outlive the result. Returns NULL when there is no memory. */
struct dtls *dtls_create(struct dtls_identity *identity, const uint8_t fingerprint[32],
                         void (*send)(void *context, const uint8_t *data, size_t size),
                         void *context);
void dtls_destroy(struct dtls *dtls);

/* Takes a datagram, which must stay in place until dtls_read has returned 0. */
enum dtls_state dtls_receive(struct dtls *dtls, const uint8_t *data, size_t size);

/* Reads the contents of the datagram's next record. Returns their size; 0 when there are no more
   records. Look at dtls_state() afterwards: a record can also end the connection. */
size_t dtls_read(struct dtls *dtls, uint8_t *out, size_t capacity);

/* Sends one record. Returns false when the connection is not up. */
bool dtls_write(struct dtls *dtls, const uint8_t *data, size_t size);

/* Tells the other side that the connection ends. */
void dtls_close(struct dtls *dtls);

enum dtls_state dtls_state(const struct dtls *dtls);

/* Returns true once a ClientHello has come. From then on the object takes some 60 KB, and 25 KB
   when it is connected, if dtls_memory.h is in use. */
bool dtls_has_begun(const struct dtls *dtls);

/* Returns the seconds until dtls_update must repeat a handshake message; INFINITY when never. */
double dtls_timeout(struct dtls *dtls);

/* Repeats the handshake messages that have not been answered in time. */
enum dtls_state dtls_update(struct dtls *dtls);

#endif
