/* A browser's side of a data channel, for tests and load: ICE checks, a DTLS client, SCTP, DCEP.
   Datagrams and sockets are the caller's. It never repeats anything by itself. */
#ifndef CAUSEWAY_RELAY_RTC_CLIENT_H
#define CAUSEWAY_RELAY_RTC_CLIENT_H

#include "load/sctp_client.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The certificate that all clients of a program share. */
struct rtc_identity {
    SSL_CTX *context;
    BIO_METHOD *method;
    uint8_t fingerprint[32];
};

void rtc_identity_create(struct rtc_identity *identity);

/* Has the clients that open from now on show another certificate. Returns false when OpenSSL
   cannot. */
bool rtc_identity_use(struct rtc_identity *identity, X509 *certificate, EVP_PKEY *key);
void rtc_identity_destroy(struct rtc_identity *identity);

struct rtc_client {
    /* members that the caller sets before rtc_client_open */
    const struct rtc_identity *identity;
    char username[520]; /* "theirs:ours" */
    char password[64];  /* the peer's password */
    bool negotiated;    /* the channel is agreed on beforehand: no DCEP */
    uint8_t kind;       /* the channel type of DCEP; 0x81: unordered, unreliable */
    uint16_t stream;
    bool embeds; /* the handshake is embedded in checks */
    void (*send)(void *context, const uint8_t *data, size_t size);
    void (*message)(void *context, const uint8_t *data, size_t size);
    void *context;
    /* members to be read */
    bool checked;
    bool connected; /* DTLS is connected */
    bool open;      /* the channel is open */
    bool ended;
    uint8_t remote_fingerprint[32]; /* the hash of the peer's certificate */
    /* private members */
    SSL *ssl;
    const uint8_t *datagram;
    size_t datagram_size;
    struct sctp_client sctp;
};

/* Begins to connect; rtc_client_check sends the first datagram. */
void rtc_client_open(struct rtc_client *client);

/* Sends a connectivity check. */
void rtc_client_check(struct rtc_client *client);

/* Takes a datagram of the relay, and takes the next step. */
void rtc_client_receive(struct rtc_client *client, const uint8_t *data, size_t size);

/* Sends a message, or an acknowledgement of what has come. */
void rtc_client_send(struct rtc_client *client, const void *data, size_t size);
void rtc_client_acknowledge(struct rtc_client *client);

/* Sends an SCTP packet as it is. */
void rtc_client_send_packet(struct rtc_client *client, const struct sctp_packet *packet);

/* Repeats the last step of the handshake. */
void rtc_client_repeat(struct rtc_client *client);

/* Says goodbye as browsers do: an SCTP ABORT. */
void rtc_client_abort(struct rtc_client *client);
void rtc_client_destroy(struct rtc_client *client);

/* Writes an offer for the client; `ufrag` is the client's own. */
size_t rtc_client_offer(const struct rtc_client *client, const char *ufrag, char *out,
                        size_t capacity);

#endif
