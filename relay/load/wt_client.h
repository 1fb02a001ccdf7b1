/* The client's side of a WebTransport session (ngtcp2 with GnuTLS), for one session a connection.
   The caller hands in packets that have come; packets to send leave through a callback. */
#ifndef CAUSEWAY_RELAY_LOAD_WT_CLIENT_H
#define CAUSEWAY_RELAY_LOAD_WT_CLIENT_H

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define WT_PACKET_MAX 1200
#define WT_BYTES_MAX  4096

/* The bytes that are to be sent on a stream. ngtcp2 reads them again when they are lost. */
struct wt_out {
    uint8_t bytes[WT_BYTES_MAX];
    size_t size;
    size_t sent;
    bool end;
    bool end_sent;
};

/* All zero but for what the caller sets. */
struct wt_client {
    /* The caller sets these; the texts must outlive the client. */
    const char *authority;
    const char *target; /* the path with its query */
    const char *origin; /* "" = none */
    void (*send)(void *context, const uint8_t *packet, size_t size);
    /* Takes the settings of the server; NULL = nobody wants them. */
    void (*settings)(void *context, const uint8_t *data, size_t size);
    /* Takes what comes on the stream of the session; `end` when nothing follows. */
    void (*stream)(void *context, const uint8_t *data, size_t size, bool end);
    /* Takes a datagram, with the number of its session in front. */
    void (*datagram)(void *context, const uint8_t *data, size_t size);
    void *context;
    ngtcp2_encrypt encrypt; /* NULL = that of ngtcp2 */

    ngtcp2_conn *conn;
    ngtcp2_crypto_conn_ref ref;
    gnutls_session_t tls;
    gnutls_certificate_credentials_t credentials;
    struct sockaddr_storage here;
    struct sockaddr_storage there;
    ngtcp2_path path;
    bool ready;      /* the settings of the server have come */
    int64_t control; /* the stream of our settings, -1 before it is open */
    int64_t session; /* the stream of the session, likewise */
    struct wt_out control_out;
    struct wt_out session_out;
};

/* Begins a connection over a socket that is connected to the server; the socket stays the caller's.
   Returns false when there is no memory. wt_client_close in either case. */
bool wt_client_open(struct wt_client *client, int fd);

/* Frees everything, without a word to the server. */
void wt_client_close(struct wt_client *client);

/* Takes a packet. Returns 0, or the error of ngtcp2 with which the connection ended. */
int wt_client_receive(struct wt_client *client, const uint8_t *packet, size_t size);

/* Lets time pass, asks for the session when it can, and sends what is to be sent. Returns as
   wt_client_receive does. */
int wt_client_step(struct wt_client *client);

/* Adds bytes to what is sent on a stream; they must fit. */
void wt_out_add(struct wt_out *out, const uint8_t *data, size_t size);

/* Sends a datagram, with the number of its session in front, unless too much is on its way. */
void wt_client_send(struct wt_client *client, const uint8_t *data, size_t size);

/* Returns the monotonic time in nanoseconds. */
ngtcp2_tstamp wt_client_now(void);

#endif
