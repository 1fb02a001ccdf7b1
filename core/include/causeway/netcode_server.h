/* This is the server's end of secure connections for payloads: netcode 1.02 for many clients on one
   socket. Requests without a valid connect token cost little and get no reply. Every reply is
   smaller than the packet that it answers. A game with messages takes the server of server.h, which
   is built on this one. */
#ifndef CAUSEWAY_NETCODE_SERVER_H
#define CAUSEWAY_NETCODE_SERVER_H

#include "causeway/base.h"
#include "causeway/secure_packet.h"

CW_BEGIN_DECLARATIONS

/* A server is not thread-safe, but any number may exist. */
struct cw_netcode_server;

#define CW_SERVER_MAX_CLIENTS 1024

struct cw_netcode_server_config {
    struct cw_allocator allocator; /* zero: malloc */
    struct cw_random random;       /* for the challenge key; zero: the operating system's */

    uint64_t protocol_id;              /* the same as in the tokens; any number; default 0 */
    uint8_t private_key[CW_KEY_BYTES]; /* shared with the backend that makes the tokens; see
                                          cw_key_parse; no default; all zero is refused, and so is
                                          CW_TOKEN_INSECURE_KEY */
    const struct cw_address
        *addresses; /* this server's, as they stand in the tokens; copied by create; no default */
    uint32_t address_count; /* 1 to CW_TOKEN_MAX_ADDRESSES; no default */
    uint32_t max_clients;   /* slots, 1 to CW_SERVER_MAX_CLIENTS; default 64 */

    uint64_t fingerprint; /* the schema's of this program; default 0: none, and none is compared */

    /* Unix time in seconds minus the `now` of all calls. The server needs it to tell how old a
       token is. With the clock of native/clock.h it is cw_clock_unix() - cw_clock_now(); where
       `now` is the Unix time it is 0. There is no default (it is NAN), because a wrong value
       refuses every token. */
    double unix_offset_seconds;

    /* The longest life of a token in seconds, counted from when the backend makes it, plus the most
       that the backend's clock may be off. The server refuses a token that expires later than this
       from now. It also refuses a token that may be older than the server's first call, so that a
       restart does not accept used tokens again; the client is told, and a new token helps
       (CW_CLIENT_NOT_YET). A token that says when it was made (create_milliseconds of its grant) is
       good from 0.25 s after the first call on, but not more than 0.25 s before the time that it
       says: where the backend's clock is further ahead, clients wait for so long. Any other token
       has to wait for this time minus the tokens' real life, plus one second. Default 50, for
       tokens of 45 seconds. A server's clock must not step back between two runs. 0 turns these
       rules off; use it only where the private key is new at every start. */
    uint32_t max_token_life_seconds;

    uint32_t max_pending;   /* clients that are still connecting, 1 to 65536, one of each client id;
                               default CW_AUTO: twice max_clients */
    uint32_t token_history; /* used tokens to remember until they expire, 1 to 2^24, of each client
                               id at most 16; when it is full, no new token is accepted; default
                               CW_AUTO: 16 times max_clients, at least 1024 */
    double requests_per_second; /* the most that are decrypted, moves included, above 0 to 10^9;
                                    default 5000 */
    double client_datagrams_per_second; /* the most that are read of each client, above 0 to 10^9;
                                           default 2000. A quarter of that may come at once.
                                           Beyond that, datagrams of the client are dropped
                                           unread and counted; see cw_netcode_server_client */
    double keep_alive_seconds; /* silence until a keep-alive is sent, above 0 to 10; default 0.1 */
    uint32_t disconnect_packets; /* sent on disconnect of either kind (with the reason, then plain),
                                    because any one may be lost, 1 to 100; default 10 */
    bool takeover; /* a client that connects anew, with another token that expires in the
                      same second or later, ends its old connection and gets its slot;
                      default true. false: it is denied, and told
                      CW_CLIENT_ID_CONNECTED, for as long as the old one is connected */

    /* For development, INSECURE: lets in whoever asks, as any player. The server takes the tokens
       of cw_token_insecure instead of those made with private_key, and takes them at once after a
       restart. private_key and max_token_life_seconds are ignored and may be zero. Default
       false. */
    bool insecure;

    struct cw_log log; /* gets lines on clients that come, move and go, and on refusals, ten at once
                          and then one a second; default none */
};

struct cw_netcode_server_config cw_netcode_server_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_netcode_server_memory(const struct cw_netcode_server_config *config);

/* *server is set only on CW_OK. Errors: that of a field, CW_ERROR_KEY when everybody knows
   the private key, CW_ERROR_NO_RANDOM, CW_ERROR_NO_MEMORY. */
enum cw_error cw_netcode_server_create(const struct cw_netcode_server_config *config,
                                       struct cw_netcode_server **server);

/* Wipes the keys. NULL is allowed. Nothing is sent: to tell the clients, call
   cw_netcode_server_disconnect_all and transmit first. */
void cw_netcode_server_destroy(struct cw_netcode_server *server);

/* Sets a new unix_offset_seconds, for when the clock behind `now` drifts away from Unix time. */
void cw_netcode_server_set_unix_offset(struct cw_netcode_server *server,
                                       double unix_offset_seconds);

/* Takes a datagram and the address that it came from. Take the events with next before the
   following receive. Returns CW_OK when the datagram did something. Otherwise it was dropped and
   counted by its error.

   A connected client may go on from another address; see cw_netcode_client_move. The server answers
   its request from there with a challenge, even when the token has expired, and the response moves
   the slot. Repeating what the client has sent moves nothing.

   A client that connects anew takes over its slot when it has answered its challenge, unless its
   new token expires before the old one. The old connection ends with CW_DISCONNECT_REPLACED. The
   new one's CONNECTED event comes after that DISCONNECTED event has been taken and transmit has
   told the old client. When several clients with one id are still connecting, only the one with the
   newest token counts; another that came first is denied and told CW_CLIENT_ID_CONNECTED.

   Errors for a request: those of cw_request_parse and cw_request_check,
   CW_ERROR_NOT_AUTHENTIC, CW_ERROR_TOKEN_ADDRESSES, CW_ERROR_TOKEN_LIFE,
   CW_ERROR_TOO_MANY_REQUESTS, CW_ERROR_TOKEN_SERVER, CW_ERROR_CONNECTED (the address is connected
   already, or the client's id is connected or connecting with a newer token), CW_ERROR_TOKEN_USED
   (it was used before, or 16 newer ones of its client id were), CW_ERROR_HISTORY_FULL and
   CW_ERROR_PENDING_FULL.

   Errors for any other packet: CW_ERROR_NOT_CONNECTED, those of packets that
   cw_netcode_client_receive gives too, CW_ERROR_UNEXPECTED, CW_ERROR_STALE (a response to an old
   challenge), CW_ERROR_CONNECTED, CW_ERROR_TOO_MANY_REQUESTS, CW_ERROR_TOO_MANY_DATAGRAMS and
   CW_ERROR_EVENTS_PENDING.

   CW_ERROR_SERVER_FULL and CW_ERROR_SCHEMA also send the client a denial, as does
   CW_ERROR_CONNECTED for its id when the config allows no takeover, and CW_ERROR_TOKEN_LIFE for a
   token that may be older than the server. */
enum cw_error cw_netcode_server_receive(struct cw_netcode_server *server,
                                        const struct cw_address *from, const uint8_t *data,
                                        size_t size, double now);

/* Writes the next datagram to out and its destination to *to, and returns its size. Returns 0 when
   there is none, or when capacity is below CW_SECURE_MAX. Call it until it returns 0 after each
   update, send and disconnect. */
size_t cw_netcode_server_transmit(struct cw_netcode_server *server, uint8_t *out, size_t capacity,
                                  double now, struct cw_address *to);

/* Lets time pass: keep-alives, timeouts. Call it once per tick. */
void cw_netcode_server_update(struct cw_netcode_server *server, double now);

enum cw_netcode_server_event_type {
    CW_NETCODE_SERVER_EVENT_CONNECTED,
    CW_NETCODE_SERVER_EVENT_DISCONNECTED, /* the slot is free afterwards */
    CW_NETCODE_SERVER_EVENT_PAYLOAD       /* bytes from a client */
};

struct cw_netcode_server_event {
    enum cw_netcode_server_event_type type;
    uint32_t client;                  /* the slot, from 0 */
    enum cw_disconnect_reason reason; /* DISCONNECTED */
    const uint8_t *payload;           /* PAYLOAD: valid until the next receive or destroy */
    size_t size;                      /* PAYLOAD: 1 to CW_PAYLOAD_MAX */
    void *user; /* the client's user pointer; see cw_netcode_server_set_user */
};

/* Takes the next event. Returns false when there is none. Every CONNECTED is followed by one
   DISCONNECTED. The slot belongs to that client until the DISCONNECTED event has been taken. */
bool cw_netcode_server_next(struct cw_netcode_server *server,
                            struct cw_netcode_server_event *event);

/* Takes size bytes (1 to CW_PAYLOAD_MAX, copied) to send as one payload packet. Transmit then
   writes the packet. It writes a keep-alive first while the client may not yet know that it is
   connected. Errors: CW_ERROR_NOT_CONNECTED; CW_ERROR_PACKET_TOO_LARGE; CW_ERROR_INVALID_ARGUMENT
   for no bytes; CW_ERROR_TRANSMIT_PENDING when the previous payload, to any client, has not been
   transmitted yet. */
enum cw_error cw_netcode_server_send(struct cw_netcode_server *server, uint32_t client,
                                     const uint8_t *payload, size_t size);

/* Ends a connection. Does nothing when there is none. Transmit then gives the packets that tell the
   client: its state becomes CW_CLIENT_KICKED, and its event has the code and the text. Both are the
   application's own: any number, and one line of UTF-8 for people or NULL, of which at most
   CW_FAREWELL_TEXT_MAX bytes are sent. Clients of other netcode programs see a plain disconnect. */
void cw_netcode_server_disconnect(struct cw_netcode_server *server, uint32_t client, uint32_t code,
                                  const char *text);

/* Ends all connections because the server is about to stop, and tells the clients that:
   CW_CLIENT_STOPPING. */
void cw_netcode_server_disconnect_all(struct cw_netcode_server *server);

/* The server knows this of the client in a slot. */
struct cw_server_client_info {
    uint64_t id;       /* as the backend gave it */
    uint64_t token_id; /* the id of the token that it connected with, see cw_token_id */
    struct cw_address address;
    const uint8_t *user_data; /* CW_USER_DATA_SIZE bytes, the backend's; valid while the slot is */
    bool confirmed;           /* a packet of the client has arrived since it connected */
    /* This counts the client's datagrams that exceeded client_datagrams_per_second and were
       dropped. No honest client raises it much. */
    uint64_t datagrams_refused;
};

/* Tells about the client in a slot. Returns false when the slot has no client. A client whose
   DISCONNECTED event is still waiting counts as one. */
bool cw_netcode_server_client(const struct cw_netcode_server *server, uint32_t client,
                              struct cw_server_client_info *about);

/* Sets a pointer of the application's for the client in a slot, for example to its player. Every
   event of the client has it, DISCONNECTED too, and a move keeps it. It is NULL for a client that
   has just connected, also for one that has taken over the slot, and NULL again once the
   DISCONNECTED event has been taken. Does nothing when the slot has no client. */
void cw_netcode_server_set_user(struct cw_netcode_server *server, uint32_t client, void *user);

/* Returns the client's user pointer, or NULL when it has none or the slot has no client. */
void *cw_netcode_server_user(const struct cw_netcode_server *server, uint32_t client);

#define CW_SERVER_NOBODY UINT32_MAX

/* Returns the slot of the connected client whose datagrams come from this address, or
   CW_SERVER_NOBODY. */
uint32_t cw_netcode_server_client_at(const struct cw_netcode_server *server,
                                     const struct cw_address *address);

struct cw_netcode_server_stats {
    uint32_t clients; /* connected now */
    uint32_t pending; /* still connecting now */
    /* All of these are counted since create. */
    uint64_t datagrams_sent;
    uint64_t datagrams_received; /* all that were given to receive */
    uint64_t bytes_sent;         /* the bytes of datagrams, without UDP and IP headers */
    uint64_t bytes_received;
    uint64_t connections;     /* ever made */
    uint64_t moves;           /* moves of clients to another address */
    uint64_t takeovers;       /* takeovers of slots by newer sessions of the same clients */
    uint64_t challenges_sent; /* one per request that was accepted */
    uint64_t denied_sent;
    uint64_t datagrams_dropped; /* received datagrams for which receive returned an error */
};

void cw_netcode_server_get_stats(const struct cw_netcode_server *server,
                                 struct cw_netcode_server_stats *stats);

/* Returns how many datagrams were dropped for this error since create; 0 for CW_OK. */
uint64_t cw_netcode_server_dropped(const struct cw_netcode_server *server, enum cw_error error);

CW_END_DECLARATIONS

#endif
