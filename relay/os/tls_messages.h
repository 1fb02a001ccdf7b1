/* One TLS connection may send only so many messages of the handshake protocol. After its handshake
   a client can still ask for new keys, which costs a tenth of a handshake each time. */
#ifndef CAUSEWAY_RELAY_TLS_MESSAGES_H
#define CAUSEWAY_RELAY_TLS_MESSAGES_H

#include <openssl/ssl.h>

/* Has each connection of a context end that sends more than any client needs. */
void tls_messages_limit(SSL_CTX *context);

#endif
