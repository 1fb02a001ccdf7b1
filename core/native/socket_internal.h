/* The parts of a socket, and the functions that the files of each platform have for it:
   socket_posix.c with socket_batch_linux.c or socket_batch_posix.c, or socket_windows.c. This
   header is not installed. */
#ifndef CAUSEWAY_NATIVE_SOCKET_INTERNAL_H
#define CAUSEWAY_NATIVE_SOCKET_INTERNAL_H

#include "causeway/native/socket.h"

/* The state of knowledge about whether a system takes datagrams of one size to one address
   together. */
enum cw_trains { CW_TRAINS_UNKNOWN, CW_TRAINS_NONE, CW_TRAINS_TAKEN };

struct cw_socket {
    struct cw_allocator allocator;
    intptr_t handle;
    bool is_ipv6;          /* IPv4 addresses are mapped into IPv6 on the way to the system */
    enum cw_trains trains; /* known only on Linux */
    struct cw_socket_stats stats;
};

/* The most datagrams that one of the calls below gets. */
#define CW_SYSTEM_BATCH 64

/* Opens a handle that never blocks, is not inherited by other programs and, if it is for IPv6,
   takes IPv4 too. Sets handle and is_ipv6 on CW_OK. Errors: those of cw_socket_open. */
enum cw_error cw_system_open(struct cw_socket *socket, const struct cw_address *address);

void cw_system_close(struct cw_socket *socket);

/* Asks for buffers of these sizes in bytes and notes in the stats what was granted. */
void cw_system_set_buffers(struct cw_socket *socket, int send_size, int receive_size);

/* The address that the handle is bound to. */
void cw_system_address(const struct cw_socket *socket, struct cw_address *address);

/* Finds the address from which datagrams to another leave. Returns false when there is no way. */
bool cw_system_source(const struct cw_address *to, struct cw_address *source);

/* Sends the first of the datagrams. Returns how many the system took: at least one, or none when it
   did not take the first; then *refused tells whether it refused that one or is only full. */
size_t cw_system_send(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                      size_t count, bool *refused);

/* Receives datagrams, as many as have arrived. Empty ones and those longer than their capacity have
   size 0; the latter are counted. */
size_t cw_system_receive(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                         size_t count);

/* Waits for a datagram; with -1 milliseconds until there is one. */
bool cw_system_wait(const struct cw_socket *socket, int milliseconds);

#endif
