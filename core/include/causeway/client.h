/* A client is a player's end: a connection for messages, carried by the packets of netcode. */
#ifndef CAUSEWAY_CLIENT_H
#define CAUSEWAY_CLIENT_H

#include "causeway/base.h"
#include "causeway/connection.h"
#include "causeway/netcode_client.h"

CW_BEGIN_DECLARATIONS

/* A client is not thread-safe, but any number may exist. */
struct cw_client;

struct cw_client_config {
    /* Its allocator is the client's too. Its fingerprint is CW_FINGERPRINT_AUTO by default: that of
       the connection's schema. */
    struct cw_netcode_client_config netcode;

    /* The messages and channels, the same as the server's. Its allocator is not used. Only create
       and memory read it; no default. */
    const struct cw_connection_config *connection;
};

struct cw_client_config cw_client_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_client_memory(const struct cw_client_config *config);

/* *client is set only on CW_OK. Errors: that of a field, in the config or in its connection, whose
   datagrams may not be longer than CW_PAYLOAD_MAX; CW_ERROR_NO_RANDOM, CW_ERROR_NO_MEMORY. */
enum cw_error cw_client_create(const struct cw_client_config *config, struct cw_client **client);

/* Wipes the keys. NULL is allowed. First release all messages that the application still holds.
   Nothing is sent: to tell the server, disconnect and transmit first. */
void cw_client_destroy(struct cw_client *client);

/* Starts to connect with a token; see cw_netcode_client_connect. Resets the connection, except
   where nothing changes. */
enum cw_error cw_client_connect(struct cw_client *client, const uint8_t *token, size_t size,
                                double now);

/* Takes a datagram, as cw_netcode_client_receive does. On an error the datagram was dropped. The
   errors of cw_connection_receive are possible too. */
enum cw_error cw_client_receive(struct cw_client *client, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now);

/* Writes the next datagram to out and returns its size, as cw_netcode_client_transmit does. */
size_t cw_client_transmit(struct cw_client *client, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to);

/* Lets time pass: resends, keep-alives, timeouts. Call it once per tick. */
void cw_client_update(struct cw_client *client, double now);

/* The first six are those of the connection; see cw_connection_next. */
enum cw_client_event_type {
    CW_CLIENT_EVENT_MESSAGE = CW_CONNECTION_EVENT_MESSAGE, /* from the server */
    CW_CLIENT_EVENT_ACKED = CW_CONNECTION_EVENT_ACKED,
    CW_CLIENT_EVENT_LOST = CW_CONNECTION_EVENT_LOST,
    CW_CLIENT_EVENT_REQUEST = CW_CONNECTION_EVENT_REQUEST,
    CW_CLIENT_EVENT_ANSWER = CW_CONNECTION_EVENT_ANSWER,
    CW_CLIENT_EVENT_UNANSWERED = CW_CONNECTION_EVENT_UNANSWERED,
    CW_CLIENT_EVENT_CONNECTED,
    CW_CLIENT_EVENT_DISCONNECTED /* or could not connect: see state */
};

struct cw_client_event {
    enum cw_client_event_type type;
    enum cw_client_state state; /* DISCONNECTED: the reason, 0 and below */
    struct cw_message *message; /* the next six are those of cw_connection_next */
    uint32_t channel;
    uint32_t receipt;
    uint32_t request;
    enum cw_unanswered unanswered;
    uint32_t code;    /* DISCONNECTED: the code that the server gave, 0 without one */
    const char *text; /* DISCONNECTED: its text, UTF-8, empty without one; valid until the next
                         connect or destroy. Otherwise NULL */
};

/* Takes the next event; false when there is none. */
bool cw_client_next(struct cw_client *client, struct cw_client_event *event);

/* Returns the client's connection, for making and sending messages and for statistics. Messages go
   out with the next update and transmit. In any state but CW_CLIENT_CONNECTED, sending is refused
   with CW_ERROR_NOT_CONNECTED. */
struct cw_connection *cw_client_connection(struct cw_client *client);

/* Ends the connection or the attempt to connect. Does nothing when there is neither. The state
   becomes CW_CLIENT_DISCONNECTED at once. Transmit then gives the packets that tell the server. */
void cw_client_disconnect(struct cw_client *client);

enum cw_client_state cw_client_state(const struct cw_client *client);

/* Finds the first place where the server's schema differs, in the state CW_CLIENT_SCHEMA. Names
   belong to the schema. Returns false when it cannot be told: the token was for another schema, the
   server is of another make, or the first 500 messages and fields are the same. */
bool cw_client_schema_difference(const struct cw_client *client,
                                 struct cw_schema_difference *difference);

/* Returns the netcode client below. It knows the server, the slot, what the server said at the end
   and the statistics of datagrams, and moves the client to another address. Call no function that
   changes it but cw_netcode_client_move and cw_netcode_client_try_server. It is valid as long as
   the client is. */
struct cw_netcode_client *cw_client_netcode(struct cw_client *client);

CW_END_DECLARATIONS

#endif
