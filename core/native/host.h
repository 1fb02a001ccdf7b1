/* A game server on a UDP socket, by the system's clock: all that stands between a cw_server and a
   game's loop.

       for (double tick = cw_clock_now(); running; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
           while (cw_host_next(host, &event, tick))
               ...what a player did...
           ...what the game does in a tick...
           cw_host_update(host);
       }
*/
#ifndef CAUSEWAY_NATIVE_HOST_H
#define CAUSEWAY_NATIVE_HOST_H

#include "causeway/linkage.h"
#include "causeway/server.h"

CW_BEGIN_DECLARATIONS

/* Not thread-safe; any number may exist. */
struct cw_host;

/* Opens a socket at listen, which is as cw_resolve reads it, and creates a server behind it. Of the
   config, unix_offset_seconds is not used: the host keeps it right. And addresses may be NULL: then
   tokens name the one that the socket is bound to. *host is set only on CW_OK. Errors: those of
   cw_resolve, cw_socket_open and cw_server_create; CW_ERROR_CONFIG_ADDRESSES also when listen is
   all addresses of this machine and the config does not say which of them tokens name. */
enum cw_error cw_host_open(const char *listen, const struct cw_server_config *config,
                           struct cw_host **host);

/* Tells the clients that the server ends, and destroys it. Messages that the application still
   holds must be released before. NULL is allowed. */
void cw_host_close(struct cw_host *host);

/* To send messages, to disconnect clients, and for statistics. What it does with datagrams, events
   and time is the host's own business: receive, transmit, next and update. */
struct cw_server *cw_host_server(struct cw_host *host);

/* The address that the socket is bound to; valid as long as the host. */
const struct cw_address *cw_host_address(const struct cw_host *host);

/* The next event, waiting for one until the time `until` of cw_clock_now. False when the time has
   come and there is none; a time that is not finite has come. In a call after that it waits no
   more, but takes what has arrived, up to some thousand datagrams from one update to the next: a
   flood of them cannot keep the game from its tick, nor a slow tick the datagrams from the game. */
bool cw_host_next(struct cw_host *host, struct cw_server_event *event, double until);

/* Lets time pass and sends what is due. Call it once per tick. */
void cw_host_update(struct cw_host *host);

CW_END_DECLARATIONS

#endif
