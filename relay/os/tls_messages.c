#include "os/tls_messages.h"

#include <stdint.h>

/* A connection may send this many messages. A handshake takes at most three of them. AES-GCM needs
   new keys after 2^24.5 records (RFC 8446), so the others last for weeks. */
#define MESSAGES_MAX 8

/* Returns the index of a connection's count among the data of its SSL. */
static int count_index(void)
{
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return index;
}

/* Counts messages. OpenSSL does not tell of a renegotiation that it refuses, but of the alert that
   refuses it. The parameters are those that OpenSSL gives a callback. */
/* NOLINTNEXTLINE(readability-function-size) */
static void on_message(int written, int version, int type, const void *data, size_t size, SSL *ssl,
                       void *context)
{
    (void)version, (void)data, (void)size, (void)context;
    if (type != (written ? SSL3_RT_ALERT : SSL3_RT_HANDSHAKE))
        return;
    const uintptr_t count = (uintptr_t)SSL_get_ex_data(ssl, count_index()) + 1;
    SSL_set_ex_data(ssl, count_index(), (void *)count);
    if (count > MESSAGES_MAX) /* after that, nothing more is read */
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void tls_messages_limit(SSL_CTX *context)
{
    SSL_CTX_set_msg_callback(context, on_message);
}
