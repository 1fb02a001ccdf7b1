/* The client's end of a secure connection: netcode 1.02 from connect token to disconnect. */
#ifndef CAUSEWAY_CLIENT_H
#define CAUSEWAY_CLIENT_H

#include "causeway/connection.h"
#include "causeway/linkage.h"
#include "causeway/secure_packet.h"

CW_BEGIN_DECLARATIONS

/* Not thread-safe; any number may exist. */
struct cw_client;

/* The states of the standard with their numbers, and one of our own. Below zero: why there is no
   connection. */
enum cw_client_state {
    CW_CLIENT_SCHEMA = -7, /* the server, or the token, is for another schema */
    CW_CLIENT_TOKEN_EXPIRED = -6,
    CW_CLIENT_INVALID_TOKEN = -5,
    CW_CLIENT_TIMED_OUT = -4, /* was connected; nothing came for the token's timeout */
    CW_CLIENT_RESPONSE_TIMED_OUT = -3,
    CW_CLIENT_REQUEST_TIMED_OUT = -2,
    CW_CLIENT_DENIED = -1, /* the server is full */
    CW_CLIENT_DISCONNECTED = 0,
    CW_CLIENT_SENDING_REQUEST = 1,
    CW_CLIENT_SENDING_RESPONSE = 2,
    CW_CLIENT_CONNECTED = 3
};

struct cw_client_config {
    struct cw_allocator allocator; /* zero: malloc */
    /* The messages and channels, the same as the server's; its allocator is not used. Only create
       and memory read it. NULL: the payloads are the application's own; see cw_client_send. */
    const struct cw_connection_config *connection;
    uint64_t fingerprint;        /* of this program's schema; 0: none, and none is compared; default
                                    CW_FINGERPRINT_AUTO: that of connection, 0 without one */
    double resend_seconds;       /* between requests and responses, above 0 to 10; default 0.1 */
    double keep_alive_seconds;   /* of silence before a keep-alive, above 0 to 10; default 0.1 */
    uint32_t disconnect_packets; /* sent on disconnect, as any may be lost, 1 to 100; default 10 */
};

struct cw_client_config cw_client_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_client_memory(const struct cw_client_config *config);

/* *client is set only on CW_OK. Errors: CW_ERROR_CONFIG_TIME, CW_ERROR_CONFIG_DISCONNECT_PACKETS,
   those of cw_connection_create, CW_ERROR_CONFIG_PACKET_SIZE when the connection's datagrams would
   be longer than CW_PAYLOAD_MAX, CW_ERROR_NO_MEMORY. */
enum cw_error cw_client_create(const struct cw_client_config *config, struct cw_client **client);

/* NULL is allowed. Keys are wiped. Messages that the application still holds must be released
   before. Nothing is sent: disconnect and transmit before. */
void cw_client_destroy(struct cw_client *client);

/* Begins to connect with a token (CW_TOKEN_SIZE bytes, copied) to its first address. Events and
   statistics of an earlier connection are gone. Errors: those of cw_token_read, with the state
   CW_CLIENT_INVALID_TOKEN; CW_ERROR_SCHEMA, when the token names another fingerprint than the
   config, with the state CW_CLIENT_SCHEMA; and with nothing changed CW_ERROR_CONNECTED (disconnect
   first) and CW_ERROR_TOKEN_USED: a token is good for one connect, as its keys encrypt one packet
   of each number. */
enum cw_error cw_client_connect(struct cw_client *client, const uint8_t *token, size_t size,
                                double now);

/* Takes a datagram. from is the address that it came from, compared with the server's; NULL where
   the way that it came is proof enough, as with a relay. Take the events with next before the
   following receive. Errors, with the datagram dropped: those of cw_secure_read,
   CW_ERROR_WRONG_SENDER, CW_ERROR_UNEXPECTED for a packet that has no place in this state,
   CW_ERROR_EVENTS_PENDING, and those of cw_connection_receive. */
enum cw_error cw_client_receive(struct cw_client *client, const struct cw_address *from,
                                const uint8_t *data, size_t size, double now);

/* Writes the next datagram to out and returns its size; 0 when there is none or when capacity is
   below CW_SECURE_MAX. *to (unless NULL) is the address to send it to. Call it until it returns 0,
   after each update and send, and after disconnect. */
size_t cw_client_transmit(struct cw_client *client, uint8_t *out, size_t capacity, double now,
                          struct cw_address *to);

/* Lets time pass: resends, keep-alives, timeouts. Call it once per tick. */
void cw_client_update(struct cw_client *client, double now);

/* The first three are those of the connection; see cw_connection_next. */
enum cw_client_event_type {
    CW_CLIENT_EVENT_MESSAGE = CW_CONNECTION_EVENT_MESSAGE, /* of the server */
    CW_CLIENT_EVENT_ACKED = CW_CONNECTION_EVENT_ACKED,
    CW_CLIENT_EVENT_LOST = CW_CONNECTION_EVENT_LOST,
    CW_CLIENT_EVENT_CONNECTED,
    CW_CLIENT_EVENT_DISCONNECTED, /* or did not get to connect: see state */
    CW_CLIENT_EVENT_PAYLOAD       /* bytes of the server; without a connection */
};

struct cw_client_event {
    enum cw_client_event_type type;
    enum cw_client_state state; /* DISCONNECTED: the reason, 0 and below */
    const uint8_t *payload;     /* PAYLOAD: valid until the next receive or destroy. Else NULL */
    size_t size;                /* PAYLOAD: 1 to CW_PAYLOAD_MAX. Else 0 */
    struct cw_message *message; /* MESSAGE: the reference is the caller's: release it. Else NULL */
    uint32_t channel;           /* MESSAGE: that it came on */
    uint32_t receipt;           /* ACKED, LOST: as it was in the message */
};

/* Takes the next event; false when there is none. */
bool cw_client_next(struct cw_client *client, struct cw_client_event *event);

/* To make and send messages, and for statistics; NULL without one. What is sent goes out with the
   next update and transmit; in any state but CW_CLIENT_CONNECTED sending is refused with
   CW_ERROR_NOT_CONNECTED. It is reset by cw_client_connect. */
struct cw_connection *cw_client_connection(struct cw_client *client);

/* Without a connection: takes size bytes (1 to CW_PAYLOAD_MAX, copied) for one payload packet;
   transmit then gives it. Errors: CW_ERROR_NOT_CONNECTED, CW_ERROR_PACKET_TOO_LARGE,
   CW_ERROR_INVALID_ARGUMENT for no bytes or with a connection, CW_ERROR_TRANSMIT_PENDING when the
   one before is not transmitted yet. */
enum cw_error cw_client_send(struct cw_client *client, const uint8_t *payload, size_t size);

/* Ends the connection, or the attempt; nothing when there is none. The state is
   CW_CLIENT_DISCONNECTED at once; the packets that tell the server wait in transmit. */
void cw_client_disconnect(struct cw_client *client);

enum cw_client_state cw_client_state(const struct cw_client *client);

/* One sentence that says what the state means. */
const char *cw_client_state_string(enum cw_client_state state);

/* The server's address that is being tried or connected; type CW_ADDRESS_NONE before connect. */
const struct cw_address *cw_client_server_address(const struct cw_client *client);

/* While connected: the slot of the server, from 0, and how many it has. Else 0. */
uint32_t cw_client_index(const struct cw_client *client);
uint32_t cw_client_max_clients(const struct cw_client *client);

struct cw_client_stats {
    /* Counted since connect. */
    uint64_t datagrams_sent;
    uint64_t datagrams_received; /* all that receive was given */
    uint64_t bytes_sent;         /* of datagrams, without UDP and IP headers */
    uint64_t bytes_received;
    uint64_t datagrams_dropped; /* of those received, all that receive returned an error for */
};

void cw_client_stats(const struct cw_client *client, struct cw_client_stats *stats);

/* Datagrams for which receive returned this error, counted since connect; 0 for CW_OK. */
uint64_t cw_client_dropped(const struct cw_client *client, enum cw_error error);

CW_END_DECLARATIONS

#endif
