/* This is the client's end of a secure connection for payloads: netcode 1.02 from connect token to
   disconnect. A game with messages takes the client of client.h, which is built on this one. */
#ifndef CAUSEWAY_NETCODE_CLIENT_H
#define CAUSEWAY_NETCODE_CLIENT_H

#include "causeway/base.h"
#include "causeway/secure_packet.h"

CW_BEGIN_DECLARATIONS

/* A client is not thread-safe, but any number may exist. */
struct cw_netcode_client;

/* These are the states of the standard with their numbers, and some of our own, below -6. A
   negative state says why there is no connection. Servers other than ours do not say why they end a
   connection: the state is then CW_CLIENT_DISCONNECTED. */
enum cw_client_state {
    CW_CLIENT_NOT_YET = -12, /* the server has just been started, and the token may have been used
                                before; a new one helps */
    CW_CLIENT_ID_CONNECTED = -11, /* a client with this id is connecting with a newer token, or is
                                     connected and the server's config allows no takeover */
    CW_CLIENT_STOPPING = -10,     /* the server is stopping */
    CW_CLIENT_REPLACED = -9,      /* the same client has connected anew, and this session is over */
    CW_CLIENT_KICKED = -8, /* the server ended the connection; the event has its code and text */
    CW_CLIENT_SCHEMA = -7, /* the server, or the token, is for another schema */
    CW_CLIENT_TOKEN_EXPIRED = -6,
    CW_CLIENT_INVALID_TOKEN = -5,
    CW_CLIENT_TIMED_OUT = -4, /* was connected, then this end or the server heard nothing for the
                                 token's timeout */
    CW_CLIENT_RESPONSE_TIMED_OUT = -3, /* or another client is connected with the token, which is
                                          known at once */
    CW_CLIENT_REQUEST_TIMED_OUT = -2,
    CW_CLIENT_DENIED = -1, /* the server is full */
    CW_CLIENT_DISCONNECTED = 0,
    CW_CLIENT_SENDING_REQUEST = 1,
    CW_CLIENT_SENDING_RESPONSE = 2,
    CW_CLIENT_CONNECTED = 3
};

struct cw_netcode_client_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint64_t fingerprint;  /* the schema's of this program; default 0: none, and none is compared */
    double resend_seconds; /* between requests and responses, above 0 to 10; default 0.1 */
    double keep_alive_seconds; /* silence until a keep-alive is sent, above 0 to 10; default 0.1 */
    uint32_t disconnect_packets; /* sent on disconnect, because any one may be lost, 1 to 100;
                                    default 10 */
};

struct cw_netcode_client_config cw_netcode_client_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_netcode_client_memory(const struct cw_netcode_client_config *config);

/* *client is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_RANDOM, CW_ERROR_NO_MEMORY. */
enum cw_error cw_netcode_client_create(const struct cw_netcode_client_config *config,
                                       struct cw_netcode_client **client);

/* Wipes the keys. NULL is allowed. Nothing is sent: to tell the server, disconnect and transmit
   first. */
void cw_netcode_client_destroy(struct cw_netcode_client *client);

/* Starts to connect with a token (CW_TOKEN_SIZE bytes, copied), at the token's first address.
   Events and statistics of an earlier connection are discarded. Errors:

   All errors of cw_token_read; the state is then CW_CLIENT_INVALID_TOKEN.

   CW_ERROR_SCHEMA when the token's fingerprint differs from the config's; the state is then
   CW_CLIENT_SCHEMA.

   CW_ERROR_CONNECTED, with nothing changed: disconnect first.

   CW_ERROR_TOKEN_USED, with nothing changed: a token is good for one connect only, because its keys
   must never encrypt two packets with the same number. */
enum cw_error cw_netcode_client_connect(struct cw_netcode_client *client, const uint8_t *token,
                                        size_t size, double now);

/* Takes a datagram. from is the address that it came from; a datagram from any address but the
   server's is dropped. Pass NULL where the path itself proves the sender, as a relay's does. Take
   the events with next before the following receive. On an error the datagram was dropped.

   Errors, in the order of the checks: CW_ERROR_WRONG_SENDER; CW_ERROR_EVENTS_PENDING;
   CW_ERROR_PACKET_SHORT; CW_ERROR_PACKET_TYPE (unknown, or not for a client);
   CW_ERROR_PACKET_SEQUENCE (number of sequence bytes); CW_ERROR_STALE and CW_ERROR_DUPLICATE;
   CW_ERROR_NOT_AUTHENTIC; CW_ERROR_BODY_SIZE; CW_ERROR_UNEXPECTED for a packet that does not belong
   in this state. */
enum cw_error cw_netcode_client_receive(struct cw_netcode_client *client,
                                        const struct cw_address *from, const uint8_t *data,
                                        size_t size, double now);

/* Writes the next datagram to out and returns its size. Returns 0 when there is none, or when
   capacity is below CW_SECURE_MAX. Sets *to, unless to is NULL, to the address to send it to. Call
   it until it returns 0 after each update, send and disconnect. */
size_t cw_netcode_client_transmit(struct cw_netcode_client *client, uint8_t *out, size_t capacity,
                                  double now, struct cw_address *to);

/* Lets time pass: resends, keep-alives, timeouts. Call it once per tick. */
void cw_netcode_client_update(struct cw_netcode_client *client, double now);

enum cw_netcode_client_event_type {
    CW_NETCODE_CLIENT_EVENT_CONNECTED,
    CW_NETCODE_CLIENT_EVENT_DISCONNECTED, /* or could not connect: see state */
    CW_NETCODE_CLIENT_EVENT_PAYLOAD       /* bytes from the server */
};

struct cw_netcode_client_event {
    enum cw_netcode_client_event_type type;
    enum cw_client_state state; /* DISCONNECTED: the reason, 0 and below */
    const uint8_t *payload; /* PAYLOAD: valid until the next receive or destroy. Otherwise NULL */
    size_t size;            /* PAYLOAD: 1 to CW_PAYLOAD_MAX. Otherwise 0 */
    uint32_t code;          /* DISCONNECTED: the code that the server gave, 0 without one */
    const char *text; /* DISCONNECTED: its text, UTF-8, empty without one; valid until the next
                         connect or destroy. Otherwise NULL */
};

/* Takes the next event. Returns false when there is none. */
bool cw_netcode_client_next(struct cw_netcode_client *client,
                            struct cw_netcode_client_event *event);

/* Takes size bytes (1 to CW_PAYLOAD_MAX, copied) to send as one payload packet, which transmit then
   gives. Errors: CW_ERROR_NOT_CONNECTED; CW_ERROR_PACKET_TOO_LARGE; CW_ERROR_INVALID_ARGUMENT for
   no bytes; CW_ERROR_TRANSMIT_PENDING when the previous payload has not been transmitted yet. */
enum cw_error cw_netcode_client_send(struct cw_netcode_client *client, const uint8_t *payload,
                                     size_t size);

/* Call this when the datagrams of a connected client leave from another address than before, as
   over another network or another relay. The client proves its keys to the server from there, which
   takes one and a half round trips, and the connection goes on: events, messages and statistics
   stay. A server of ours moves a client for as long as it keeps the slot, even when the token has
   expired. Other servers do not.

   Transmit gives the connect request first and repeats it every resend_seconds until the server
   answers. Until then, whatever else was due is lost, as in any gap. Nothing else happens when the
   address is in fact the same. An attempt without an answer ends after the token's timeout; the
   connection usually times out with it. Errors: CW_ERROR_NOT_CONNECTED in any state but
   CW_CLIENT_CONNECTED. */
enum cw_error cw_netcode_client_move(struct cw_netcode_client *client, double now);

/* Returns whether a move has begun that the server has not confirmed yet. */
bool cw_netcode_client_moving(const struct cw_netcode_client *client);

/* Makes a client that connects go to the token's server with this index, from 0, and ask it from
   the beginning. From now on the server has the token's timeout to answer. A client goes from
   server to server by itself. This is for applications that must open a way to each server first,
   such as through a relay: the way may take long to open, or never open. Errors:
   CW_ERROR_CONNECTED; CW_ERROR_NOT_CONNECTED before connect and after the end;
   CW_ERROR_INVALID_ARGUMENT when the token has no such server. */
enum cw_error cw_netcode_client_try_server(struct cw_netcode_client *client, uint32_t index,
                                           double now);

/* Ends the connection or the attempt to connect. Does nothing when there is neither. The state
   becomes CW_CLIENT_DISCONNECTED at once. Transmit then gives the packets that tell the server. */
void cw_netcode_client_disconnect(struct cw_netcode_client *client);

enum cw_client_state cw_netcode_client_state(const struct cw_netcode_client *client);

/* Returns one sentence that says what the state means. */
const char *cw_client_state_string(enum cw_client_state state);

/* Returns what a server of ours said when it ended the connection, as in the event, for
   applications that do not take events. It is all zero when the server said nothing, and after
   connect. */
const struct cw_farewell *cw_netcode_client_farewell(const struct cw_netcode_client *client);

/* Returns the server's address that the client is connected to or is trying. Its type is
   CW_ADDRESS_NONE before connect. */
const struct cw_address *cw_netcode_client_server_address(const struct cw_netcode_client *client);

/* Returns the id of the latest token that it began to connect with, see cw_token_id; 0 before the
   first. */
uint64_t cw_netcode_client_token_id(const struct cw_netcode_client *client);

/* Returns which one of the token's servers that is, from 0. */
uint32_t cw_netcode_client_server_index(const struct cw_netcode_client *client);

/* While the client is connected, these return its slot in the server, from 0, and how many slots
   the server has. Otherwise they return 0. */
uint32_t cw_netcode_client_index(const struct cw_netcode_client *client);
uint32_t cw_netcode_client_max_clients(const struct cw_netcode_client *client);

struct cw_netcode_client_stats {
    /* All of these are counted since connect. */
    uint64_t datagrams_sent;
    uint64_t datagrams_received; /* all that were given to receive */
    uint64_t bytes_sent;         /* the bytes of datagrams, without UDP and IP headers */
    uint64_t bytes_received;
    uint64_t datagrams_dropped; /* received datagrams for which receive returned an error */
};

void cw_netcode_client_get_stats(const struct cw_netcode_client *client,
                                 struct cw_netcode_client_stats *stats);

/* Returns how many datagrams were dropped for this error since connect; 0 for CW_OK. */
uint64_t cw_netcode_client_dropped(const struct cw_netcode_client *client, enum cw_error error);

CW_END_DECLARATIONS

#endif
