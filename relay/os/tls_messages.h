/* A limit of the messages of the handshake protocol that one TLS connection may send. After its
   handshake a client can still ask for new keys, which costs a tenth of a handshake each time. */
#ifndef CAUSEWAY_RELAY_TLS_MESSAGES_H
#define CAUSEWAY_RELAY_TLS_MESSAGES_H

#include <openssl/ssl.h>

/* Ends each connection of a context that sends more of these messages than any client needs. */
void tls_messages_limit(SSL_CTX *context);

#endif
