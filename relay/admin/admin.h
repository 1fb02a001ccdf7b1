/* The listener at which the operator asks the relay, over HTTP: see "Watching it" in OPERATING.md.
 */
#ifndef CAUSEWAY_RELAY_ADMIN_H
#define CAUSEWAY_RELAY_ADMIN_H

#include "admin/metrics.h"
#include "http/http.h"
#include "os/inherited_sockets.h"
#include "os/socket_address.h"
#include "session/command.h"

struct admin_config {
    struct socket_address address;
    struct http_config http;
    struct inherited_sockets *inherited; /* sockets that may be open already */
    struct blocks *blocks;
    /* Carries out a command, and has admin_answer called with the ticket, now or later. */
    void (*carry_out)(void *context, const struct command *command, uint64_t ticket);
    void (*look)(void *context, struct metrics *out);
    /* returns why newcomers should go elsewhere; NULL = they need not */
    const char *(*unready)(void *context);
    void *context;
};

struct admin;

/* Listens. All but the inherited sockets must outlive the listener. Logs why and returns NULL when
   it cannot. */
struct admin *admin_create(const struct admin_config *config);

/* Answers the operator with the result of the command with this ticket; `page` has its
   summaries. */
void admin_answer(struct admin *admin, uint64_t ticket, const struct command *command,
                  const struct command_result *result, const struct session_summary *page);

/* Returns the listening socket, for another process. */
int admin_socket(const struct admin *admin);

/* Logs where the listener listens. NULL is allowed, here and below. */
void admin_announce(const struct admin *admin);

/* Takes no more connections. Call it before loop_destroy; it may be called again. */
void admin_close(struct admin *admin);

/* Frees the listener, which must be closed. Call it after loop_destroy. */
void admin_destroy(struct admin *admin);

#endif
