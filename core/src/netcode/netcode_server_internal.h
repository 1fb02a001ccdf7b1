/* A server above a netcode server, and a host, use these functions beside the public ones. The
   server above has payloads of its own for each slot, which it writes and reads without a copy. */
#ifndef CAUSEWAY_NETCODE_SERVER_INTERNAL_H
#define CAUSEWAY_NETCODE_SERVER_INTERNAL_H

#include "netcode/server_slots.h"

#include "causeway/netcode_server.h"

/* Returns CW_OK for a config that create takes. */
enum cw_error cw_netcode_server_check(const struct cw_netcode_server_config *config);

/* Returns the most clients, connected or still connecting, to which the server speaks at a time. */
uint32_t cw_netcode_server_most_clients(const struct cw_netcode_server *server);

enum cw_slot_state cw_netcode_server_slot(const struct cw_netcode_server *server, uint32_t client);

/* Returns a slot that has a new state, each once; CW_SERVER_NOBODY when there is none. */
uint32_t cw_netcode_server_changed(struct cw_netcode_server *server);

/* Returns the next event without taking it, or NULL when there is none. */
const struct cw_netcode_server_event *
cw_netcode_server_first(const struct cw_netcode_server *server);

/* Takes the payload that receive has left, if there is one: points *payload to it, until the next
   receive, and returns its size. Otherwise returns 0. */
size_t cw_netcode_server_take_payload(struct cw_netcode_server *server, uint32_t *client,
                                      const uint8_t **payload);

/* Counts the datagram received last as dropped, because its payload was. Returns the error. */
enum cw_error cw_netcode_server_drop(struct cw_netcode_server *server,
                                     const struct cw_address *from, enum cw_error error,
                                     double now);

/* Sets what a client with another schema is told of this program's: up to CW_OUTLINE_MAX bytes. */
void cw_netcode_server_set_outline(struct cw_netcode_server *server, const uint8_t *outline,
                                   size_t size);

/* Charges a client for the work that its payload was, in datagrams. */
void cw_netcode_server_charge(struct cw_netcode_server *server, uint32_t client, double datagrams);

/* Writes the keep-alive that a connected client must get before its next payload: that it is
   connected, or has moved. Returns its size, or 0 when there is none, and sets *to. */
size_t cw_netcode_server_announce(struct cw_netcode_server *server, uint32_t client,
                                  uint8_t out[CW_SECURE_MAX], double now, struct cw_address *to);

/* Returns the place in `out` where the next payload for a connected client must be for seal. */
uint8_t *cw_netcode_server_body(const struct cw_netcode_server *server, uint32_t client,
                                uint8_t *out);

/* Makes the datagram of a payload of `size` bytes. Returns its size and sets *to. */
size_t cw_netcode_server_seal(struct cw_netcode_server *server, uint32_t client,
                              uint8_t out[CW_SECURE_MAX], size_t size, double now,
                              struct cw_address *to);

#endif
