/* This header has a UDP socket that never blocks, and looks up the names of hosts. */
#ifndef CAUSEWAY_NATIVE_SOCKET_H
#define CAUSEWAY_NATIVE_SOCKET_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_socket;

struct cw_socket_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* The address to listen at; port 0 lets the system choose a port. Default, type
       CW_ADDRESS_NONE: every address of this machine, IPv6 and IPv4 through one socket. [::] means
       the same; 0.0.0.0 means IPv4 only. */
    struct cw_address address;

    /* Bytes to ask the system for, which may grant less; see cw_socket_get_stats. 0: the system's
       minimum; default 4 MiB. */
    uint32_t send_buffer_size;
    uint32_t receive_buffer_size;
};

struct cw_socket_config cw_socket_config_default(void);

/* *socket is set only on CW_OK. Errors: CW_ERROR_NO_MEMORY, CW_ERROR_ADDRESS_IN_USE,
   CW_ERROR_ADDRESS_NOT_HERE, CW_ERROR_NOT_PERMITTED, CW_ERROR_SOCKET. */
enum cw_error cw_socket_open(const struct cw_socket_config *config, struct cw_socket **socket);

/* NULL is allowed. */
void cw_socket_close(struct cw_socket *socket);

/* Gives the address that the socket is bound to, with the port that the system chose. */
void cw_socket_address(const struct cw_socket *socket, struct cw_address *address);

/* Finds the address of this machine from which datagrams to an address leave now, with port 0.
   Nothing is sent. Returns CW_ERROR_SEND when there is no way. */
enum cw_error cw_socket_source(const struct cw_address *to, struct cw_address *source);

/* Returns the system's handle (a file descriptor, on Windows a SOCKET), for event loops. The socket
   keeps ownership. */
intptr_t cw_socket_handle(const struct cw_socket *socket);

/* One datagram. data belongs to the caller. */
struct cw_socket_datagram {
    struct cw_address address; /* the address it goes to or came from; an IPv4 address has type IPv4
                                  on every socket */
    uint8_t *data;             /* send only reads it */
    size_t size;               /* bytes of data */
    size_t capacity;           /* receive: room in data, in bytes */
};

/* Sends one datagram. Returns CW_ERROR_SOCKET_FULL when the system takes no more just now;
   CW_ERROR_SEND when it refused this one (no route, too long). UDP may lose any datagram, so a
   caller that ignores these errors only sees more loss. */
enum cw_error cw_socket_send(struct cw_socket *socket, const struct cw_address *address,
                             const uint8_t *data, size_t size);

/* Receives one datagram into data and its sender into *address. Returns its size, or 0 when none
   has arrived. Empty datagrams are dropped. Datagrams longer than capacity are dropped and counted.
   One call drops any number of them; to bound the work, use cw_socket_receive_batch. */
size_t cw_socket_receive(struct cw_socket *socket, uint8_t *data, size_t capacity,
                         struct cw_address *address);

/* Sends datagrams in order, in as few system calls as the system allows. Returns how many are done:
   fewer than count when the system takes no more just now. Datagrams that the system refused are
   included, and are counted in the stats.

   On Linux, datagrams in a row to one address that have one size, as those of a block, pass through
   the system as one (UDP_SEGMENT). This halves the processor time that a host needs to send a
   block, encryption included (measured over loopback), and changes nothing for a tick's datagrams
   to many players. A system or link that refuses it gets them one by one. The other way round
   (UDP_GRO) does not pay: players' datagrams arrive one by one, and each costs 1.25 times as much
   to receive. */
size_t cw_socket_send_batch(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                            size_t count);

/* Receives up to count datagrams and returns how many: fewer than count when none is left. The
   caller sets data and capacity of each entry; the call fills in address and size. Empty datagrams
   and those longer than their capacity are among them, with size 0, so that a flood of them does
   not prolong the call; the latter are counted as truncated. */
size_t cw_socket_receive_batch(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                               size_t count);

/* Waits until a datagram has arrived, for at most this many seconds. Returns true when one has. */
bool cw_socket_wait(const struct cw_socket *socket, double seconds);

struct cw_socket_stats {
    uint32_t send_buffer_size; /* bytes granted, by the system's own count */
    uint32_t receive_buffer_size;
    uint64_t datagrams_sent;
    uint64_t datagrams_received;  /* datagrams delivered, with at least one byte */
    uint64_t datagrams_refused;   /* datagrams not sent: no route, too long, wrong family */
    uint64_t datagrams_truncated; /* datagrams not delivered: longer than the caller's capacity */
};

void cw_socket_get_stats(const struct cw_socket *socket, struct cw_socket_stats *stats);

/* Reads everything that cw_address_parse reads, and also "example.com" and "example.com:40000". For
   names it asks the system's resolver, which may block for seconds. It takes the first IPv4
   address, because many game servers listen on IPv4 only, or the first IPv6 address if there is no
   IPv4 one. Errors: CW_ERROR_ADDRESS for text in any other form, CW_ERROR_HOST when the name has no
   address. */
enum cw_error cw_resolve(const char *text, struct cw_address *address);

CW_END_DECLARATIONS

#endif
