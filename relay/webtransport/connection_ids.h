/* A table that finds QUIC connections by the ids with which their packets begin: those that the
   relay has given out, and the first one, which the client has chosen. */
#ifndef CAUSEWAY_RELAY_CONNECTION_IDS_H
#define CAUSEWAY_RELAY_CONNECTION_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest id (RFC 9000, section 17.2). */
#define CONNECTION_ID_MAX 20

/* Bytes of an id that the relay gives out. Nobody guesses it. */
#define CONNECTION_ID_SIZE 8

struct connection_ids;

/* Creates a table for about this many connections. Returns NULL when there is no memory. */
struct connection_ids *connection_ids_create(size_t connections);

/* Frees the table. NULL is allowed. */
void connection_ids_destroy(struct connection_ids *ids);

/* Lets an id of at most CONNECTION_ID_MAX bytes lead to a connection. Returns false when there is
   no memory, or it leads to one already. */
bool connection_ids_add(struct connection_ids *ids, const uint8_t *id, size_t size,
                        void *connection);

/* Removes an id, which need not be there. */
void connection_ids_remove(struct connection_ids *ids, const uint8_t *id, size_t size);

/* Returns the connection to which an id leads; NULL when there is none. */
void *connection_ids_find(const struct connection_ids *ids, const uint8_t *id, size_t size);

#endif
