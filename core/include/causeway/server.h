/* A server has its players in slots. Each player has a connection for messages, carried by the
   packets of netcode. */
#ifndef CAUSEWAY_SERVER_H
#define CAUSEWAY_SERVER_H

#include "causeway/base.h"
#include "causeway/connection.h"
#include "causeway/netcode_server.h"

CW_BEGIN_DECLARATIONS

/* A server is not thread-safe, but any number may exist. */
struct cw_server;

struct cw_server_config {
    /* Its allocator is the server's too. Its fingerprint is CW_FINGERPRINT_AUTO by default: that of
       the connection's schema. A packet counts in client_datagrams_per_second once more for each 64
       messages in it. */
    struct cw_netcode_server_config netcode;

    /* The messages and channels, the same as the clients'. Its allocator is not used. Only create
       and memory read it; no default. */
    const struct cw_connection_config *connection;

    uint32_t max_broadcasts; /* the most messages that cw_server_create_message has made and that
                                are not released yet, 1 to 32768; default 64. One with a block is
                                released when all clients have it, so allow for twice as many as are
                                on their way at a time */
};

struct cw_server_config cw_server_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_server_memory(const struct cw_server_config *config);

/* *server is set only on CW_OK. Errors: those of cw_netcode_server_create; that of a field, in the
   config or in its connection, whose datagrams may not be longer than CW_PAYLOAD_MAX. */
enum cw_error cw_server_create(const struct cw_server_config *config, struct cw_server **server);

/* Wipes the keys. NULL is allowed. First release all messages that the application still holds.
   Nothing is sent: to tell the clients, call cw_server_disconnect_all and transmit first. */
void cw_server_destroy(struct cw_server *server);

/* Takes a datagram and the address that it came from, as cw_netcode_server_receive does. On an
   error the datagram was dropped. The errors of cw_connection_receive are possible too. */
enum cw_error cw_server_receive(struct cw_server *server, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now);

/* Writes the next datagram to out and its destination to *to, and returns its size. Returns 0 when
   there is none, or when capacity is below CW_SECURE_MAX. Call it until it returns 0 after each
   update, send and disconnect. */
size_t cw_server_transmit(struct cw_server *server, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to);

/* Lets time pass: keep-alives, timeouts. Call it once per tick. */
void cw_server_update(struct cw_server *server, double now);

/* The first six are those of a client's connection; see cw_connection_next. */
enum cw_server_event_type {
    CW_SERVER_EVENT_MESSAGE = CW_CONNECTION_EVENT_MESSAGE, /* from a client */
    CW_SERVER_EVENT_ACKED = CW_CONNECTION_EVENT_ACKED,
    CW_SERVER_EVENT_LOST = CW_CONNECTION_EVENT_LOST,
    CW_SERVER_EVENT_REQUEST = CW_CONNECTION_EVENT_REQUEST,
    CW_SERVER_EVENT_ANSWER = CW_CONNECTION_EVENT_ANSWER,
    CW_SERVER_EVENT_UNANSWERED = CW_CONNECTION_EVENT_UNANSWERED,
    CW_SERVER_EVENT_CONNECTED,
    CW_SERVER_EVENT_DISCONNECTED /* the slot is free afterwards */
};

struct cw_server_event {
    enum cw_server_event_type type;
    uint32_t client;                  /* the slot, from 0 */
    enum cw_disconnect_reason reason; /* DISCONNECTED */
    struct cw_message *message;       /* the next six are those of cw_connection_next */
    uint32_t channel;
    uint32_t receipt;
    uint32_t request;
    enum cw_unanswered unanswered;
    uint32_t code;
    void *user; /* the client's user pointer; see cw_server_set_user */
};

/* Takes the next event. Returns false when there is none. Every CONNECTED is followed by one
   DISCONNECTED, after the client's messages. The slot belongs to that client until the DISCONNECTED
   event has been taken. */
bool cw_server_next(struct cw_server *server, struct cw_server_event *event);

/* Returns a client's connection, for making and sending messages and for statistics. In the
   statistics, packets_malformed and packets_invalid tell whom to disconnect: no honest client
   raises them. Returns NULL when the slot has no client. Messages go out with the next update and
   transmit. Once the client has gone, sending is refused with CW_ERROR_NOT_CONNECTED, even while
   its DISCONNECTED event is still waiting. */
struct cw_connection *cw_server_connection(struct cw_server *server, uint32_t client);

/* Broadcasts send one message to many clients. It is made and checked once, and serialized once for
   all of them. Every client gets a copy in the queue of its own connection, so that a slow client
   holds up no other. On the wire, a copy is a message like any other.

   Makes a message for a broadcast, with all fields zero. The caller fills in data, then broadcasts
   or releases the message. Errors: CW_ERROR_MESSAGE_TYPE, CW_ERROR_POOL_EMPTY. */
enum cw_error cw_server_create_message(struct cw_server *server, uint32_t type,
                                       struct cw_message **message);

/* Sends a message from cw_server_create_message to all connected clients but the one in the slot
   `except`, or to all of them with CW_SERVER_NOBODY. Takes over the caller's reference. A block
   must not change until all clients have it; only then is it released. With a receipt, every
   client's copy has its own event.

   A client whose queue, pool or receipts are full refuses its copy, even on a reliable channel. A
   client also refuses its copy while it lacks so many blocks of earlier broadcasts that fewer than
   these can still be made: it would keep further broadcasts from all others. All others get theirs.
   cw_server_broadcast_refused tells which clients refused the latest broadcast; disconnect those
   that refuse what they need.

   Errors, which are always about the message itself and leave it with the caller: those of
   cw_connection_send (CW_ERROR_OTHER_CONNECTION for any message that is not from
   cw_server_create_message; see cw_message_copy), without CW_ERROR_NOT_CONNECTED,
   CW_ERROR_QUEUE_FULL and CW_ERROR_RECEIPTS_FULL. */
enum cw_error cw_server_broadcast(struct cw_server *server, uint32_t channel,
                                  struct cw_message *message, uint32_t except, double now);

/* Does the same for count slots. Slots without a connected client are skipped. */
enum cw_error cw_server_broadcast_to(struct cw_server *server, uint32_t channel,
                                     struct cw_message *message, const uint32_t *clients,
                                     uint32_t count, double now);

/* Returns whether the latest broadcast was for this client but found no room. */
bool cw_server_broadcast_refused(const struct cw_server *server, uint32_t client);

/* Returns how many copies of broadcasts found no room, since create. */
uint64_t cw_server_broadcasts_refused(const struct cw_server *server);

/* Ends a connection, and all of them; see cw_netcode_server_disconnect and
   cw_netcode_server_disconnect_all. */
void cw_server_disconnect(struct cw_server *server, uint32_t client, uint32_t code,
                          const char *text);
void cw_server_disconnect_all(struct cw_server *server);

/* Ends a connection when all that was sent to the client is done: its reliable messages have
   arrived, all others are on their way. After flush_seconds it ends in any case; 0 and below: at
   once. Until then the client stays connected, its events go on, and sending to it is refused with
   CW_ERROR_NOT_CONNECTED. */
void cw_server_flush_and_disconnect(struct cw_server *server, uint32_t client, uint32_t code,
                                    const char *text, double flush_seconds, double now);

/* These do what cw_netcode_server_client, _set_user and _user do: they tell about a client, and
   keep the application's pointer for it. */
bool cw_server_client(const struct cw_server *server, uint32_t client,
                      struct cw_server_client_info *about);
void cw_server_set_user(struct cw_server *server, uint32_t client, void *user);
void *cw_server_user(const struct cw_server *server, uint32_t client);

/* Returns how many datagrams were dropped for this error since create; 0 for CW_OK. */
uint64_t cw_server_dropped(const struct cw_server *server, enum cw_error error);

/* Returns the netcode server below, which has the statistics, the addresses of clients and the
   clock. Where this header has a function for the same purpose, call that one. It is valid as long
   as the server is. */
struct cw_netcode_server *cw_server_netcode(struct cw_server *server);

CW_END_DECLARATIONS

#endif
