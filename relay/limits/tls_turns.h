/* TLS handshakes take turns at the processor. When handshakes have used up their budget, a client
   that has sent the next step of its handshake waits: nothing is read from it, and nothing is lost.
   Addresses that have made few handshakes lately come first. */
#ifndef CAUSEWAY_RELAY_TLS_TURNS_H
#define CAUSEWAY_RELAY_TLS_TURNS_H

#include "limits/handshake_budget.h"
#include "os/loop.h"
#include "stats/stats.h"

#include <openssl/ssl.h>

struct tls_turns;

/* Creates the turns. Loop, budget and stats must outlive the turns, and the turns all connections.
   Returns NULL when there is no memory. */
struct tls_turns *tls_turns_create(struct loop *loop, struct handshake_budget *budget,
                                   struct stats *stats);
/* Frees the turns. NULL is allowed. */
void tls_turns_destroy(struct tls_turns *turns);

/* Makes the connections of a context take turns. A connection gets no turn before it has
   entered. */
bool tls_turns_serve(SSL_CTX *context);

/* Enters a connection that libwebsockets has just adopted; `is_early` when its address has made few
   handshakes lately. */
void tls_turns_enter(struct tls_turns *turns, struct lws *wsi, bool is_early);

#endif
