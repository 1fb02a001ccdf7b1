/* A client host is a game client on a UDP socket and the system's clock. It does everything between
   a cw_client and the game loop, keeps the connection when the network changes, and connects again
   when it is lost.

       for (double tick = cw_clock_now(); running; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
           while (cw_client_host_next(host, tick, &event))
               ...what the server said...
           ...what the game does in a tick...
           cw_client_host_update(host);
       } */
#ifndef CAUSEWAY_NATIVE_CLIENT_HOST_H
#define CAUSEWAY_NATIVE_CLIENT_HOST_H

#include "causeway/base.h"
#include "causeway/client.h"

CW_BEGIN_DECLARATIONS

/* A host is not thread-safe, but any number may exist. */
struct cw_client_host;

struct cw_client_host_config {
    struct cw_client_config client; /* its allocator is the host's too */

    /* A connected client that hears nothing for this long asks the server to let it go on from
       where it is now: the network may have given it another address; see cw_netcode_client_move.
       It waits longer each time, up to 16 s, and longer than the silences that have ended by
       themselves lately. Each attempt costs a few requests of CW_REQUEST_SIZE bytes. At least 0; 0:
       never; default 0.5. */
    double silence_seconds;

    /* Gives the host a connect token: writes it to out, which has room for `capacity` bytes
       (CW_TOKEN_SIZE), and returns its size, or 0 when there is none yet: then the host asks again
       at its next update, so that a game can go on while its backend answers. The host asks at its
       first update, and again after an end that another token may mend; see
       cw_client_host_reconnects. The function must not call the host; cw_client_host_token_file is
       one. NULL, the default: the application calls cw_client_host_connect. */
    size_t (*token)(void *context, uint8_t *out, size_t capacity);
    void *token_context;

    struct cw_log log; /* a log of connecting, moving and disconnecting; default none */
};

struct cw_client_host_config cw_client_host_config_default(void);

/* This is a token function. It takes the token out of the file that path names, and removes the
   file, because a token is good for one connection. Something else, such as a launcher, a script or
   the page around the program, puts a new one there for each connection. Returns 0 while there is
   no such file, and for one shorter than CW_TOKEN_SIZE, which is still being written and stays. */
size_t cw_client_host_token_file(void *path, uint8_t *out, size_t capacity);

/* Opens a socket and creates a client on it. *host is set only on CW_OK. Errors: those of
   cw_socket_open and cw_client_create, that of a field. */
enum cw_error cw_client_host_open(const struct cw_client_host_config *config,
                                  struct cw_client_host **host);

/* Ends the connection, tells the server, and destroys the client. First release all messages that
   the application still holds. NULL is allowed. */
void cw_client_host_close(struct cw_client_host *host);

/* Without a token function: starts to connect, at first and after every DISCONNECTED event, each
   time with a new token from the backend. A new token of the same player takes over a slot that the
   server still holds for it. Errors: those of cw_client_connect. */
enum cw_error cw_client_host_connect(struct cw_client_host *host, const uint8_t *token,
                                     size_t size);

/* For development, INSECURE: connects without a backend, as this player, to a server whose config
   says `insecure`. server is its address with the port, in any form that cw_resolve reads, which
   may block. No other server takes this client's token; see cw_token_insecure. Errors: those of
   cw_resolve, cw_token_insecure and cw_client_connect; CW_ERROR_PORT without a port. */
enum cw_error cw_client_host_connect_insecure(struct cw_client_host *host, const char *server,
                                              uint64_t protocol_id, uint64_t client_id);

/* Returns whether the host, after a DISCONNECTED event, connects again by itself: it has a token
   function, and the connection ended by a timeout, a token that had expired, or a server that was
   full or stopping. It does not when the client was kicked, replaced or refused, or when the
   application has disconnected. A client whose id is still connected when it comes back tries
   again. There is a pause before each attempt, of half a second at first and up to 8 seconds; but
   there is none for a program that did not run for so long that the server has forgotten it, as on
   a machine that slept. */
bool cw_client_host_reconnects(const struct cw_client_host *host);

/* Ends the connection when everything sent is done: reliable messages have arrived, and all others
   are on their way. After flush_seconds it ends in any case; 0 and below: at once.
   Until then events go on, and sending is refused with CW_ERROR_NOT_CONNECTED. A client that is not
   connected stops trying. The host does not connect again by itself. */
void cw_client_host_flush_and_disconnect(struct cw_client_host *host, double flush_seconds);

/* Returns the client, for sending messages, disconnecting and reading statistics. Do not call its
   connect, receive, transmit, next or update: the host does. */
struct cw_client *cw_client_host_client(struct cw_client_host *host);

/* Takes the next event, and waits for one until cw_clock_now reaches `until`. Returns false when
   that time has come and there is none. A time that is not finite counts as having come. Calls
   after that do not wait, but still take datagrams that have arrived, up to 4096 between two
   updates, empty and oversized ones included.

   When no server has answered a token that has expired by this machine's clock, the event's state
   is CW_CLIENT_TOKEN_EXPIRED. */
bool cw_client_host_next(struct cw_client_host *host, double until, struct cw_client_event *event);

/* Lets time pass, sends what is due, and looks after the network: when datagrams leave from another
   address of this machine than before, when there was no way for a while, and after silence, the
   client asks the server to move it. Call it once per tick. */
void cw_client_host_update(struct cw_client_host *host);

/* This is a host for payloads of the application's own, without messages; see netcode_client.h. All
   else is as for a cw_client_host. */
struct cw_netcode_client_host;

struct cw_netcode_client_host_config {
    struct cw_netcode_client_config client; /* its allocator is the host's too */
    double silence_seconds;
    size_t (*token)(void *context, uint8_t *out, size_t capacity);
    void *token_context;
    struct cw_log log;
};

struct cw_netcode_client_host_config cw_netcode_client_host_config_default(void);

/* Errors: those of cw_socket_open and cw_netcode_client_create. */
enum cw_error cw_netcode_client_host_open(const struct cw_netcode_client_host_config *config,
                                          struct cw_netcode_client_host **host);
void cw_netcode_client_host_close(struct cw_netcode_client_host *host);

/* Errors: those of cw_netcode_client_connect. */
enum cw_error cw_netcode_client_host_connect(struct cw_netcode_client_host *host,
                                             const uint8_t *token, size_t size);
/* Errors: those of cw_client_host_connect_insecure. */
enum cw_error cw_netcode_client_host_connect_insecure(struct cw_netcode_client_host *host,
                                                      const char *server, uint64_t protocol_id,
                                                      uint64_t client_id);
bool cw_netcode_client_host_reconnects(const struct cw_netcode_client_host *host);

/* The end comes when the payload that was sent has been transmitted. */
void cw_netcode_client_host_flush_and_disconnect(struct cw_netcode_client_host *host,
                                                 double flush_seconds);

struct cw_netcode_client *cw_netcode_client_host_client(struct cw_netcode_client_host *host);
bool cw_netcode_client_host_next(struct cw_netcode_client_host *host, double until,
                                 struct cw_netcode_client_event *event);
void cw_netcode_client_host_update(struct cw_netcode_client_host *host);

CW_END_DECLARATIONS

#endif
