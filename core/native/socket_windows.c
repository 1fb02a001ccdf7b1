#include "native/socket_internal.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include <mmsystem.h>
#include <mswsock.h>

#include "native/system_address.h"

/* The interval at which the system's clock ticks while there is a socket. On its own it ticks every
   15.6 ms, and a game that waits for its own tick would be late by that. */
#define CLOCK_MILLISECONDS 1

/* The least buffer in bytes: Windows keeps no datagram for a socket that asks for none. */
#define LEAST_BUFFER 4096

static enum cw_error bind_error(void)
{
    switch (WSAGetLastError()) {
    case WSAEADDRINUSE:
        return CW_ERROR_ADDRESS_IN_USE;
    case WSAEADDRNOTAVAIL:
        return CW_ERROR_ADDRESS_NOT_HERE;
    case WSAEACCES:
        return CW_ERROR_NOT_PERMITTED;
    default:
        return CW_ERROR_SOCKET;
    }
}

/* Windows counts how often its sockets have been started and stopped. */
static SOCKET new_handle(bool is_ipv6)
{
    WSADATA data;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return INVALID_SOCKET;
    const SOCKET handle = WSASocketW(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP, NULL, 0,
                                     WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (handle == INVALID_SOCKET)
        WSACleanup();
    return handle;
}

static void close_handle(SOCKET handle)
{
    closesocket(handle);
    WSACleanup();
}

/* Without this, an answer that a peer's machine could not deliver fails a later receive. A system
   that does not know the option has no such failures. */
static void ignore_unreachable(SOCKET handle)
{
    BOOL report = FALSE;
    DWORD size;
    (void)WSAIoctl(handle, SIO_UDP_CONNRESET, &report, sizeof report, NULL, 0, &size, NULL, NULL);
}

/* Sets an option that is an int; returns false when the system refuses it. */
static bool set_option(SOCKET handle, int level, int option, int value)
{
    return setsockopt(handle, level, option, (const char *)&value, sizeof value) == 0;
}

enum cw_error cw_system_open(struct cw_socket *socket, const struct cw_address *address)
{
    union cw_system_address system;
    const bool is_ipv6 = address->type == CW_ADDRESS_IPV6;
    u_long yes = 1;
    const SOCKET handle = new_handle(is_ipv6);
    if (handle == INVALID_SOCKET)
        return CW_ERROR_SOCKET;
    enum cw_error error = CW_ERROR_SOCKET;
    if (ioctlsocket(handle, (long)FIONBIO, &yes) == 0 &&
        set_option(handle, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1) &&
        (!is_ipv6 || set_option(handle, IPPROTO_IPV6, IPV6_V6ONLY, 0))) {
        const socklen_t length = cw_to_system(address, is_ipv6, &system);
        error = bind(handle, &system.any, length) == 0 ? CW_OK : bind_error();
    }
    if (error != CW_OK) {
        close_handle(handle);
        return error;
    }
    ignore_unreachable(handle);
    timeBeginPeriod(CLOCK_MILLISECONDS);
    socket->handle = (intptr_t)handle;
    socket->is_ipv6 = is_ipv6;
    return CW_OK;
}

void cw_system_close(struct cw_socket *socket)
{
    timeEndPeriod(CLOCK_MILLISECONDS);
    close_handle((SOCKET)socket->handle);
}

static uint32_t set_buffer_size(const struct cw_socket *socket, int option, int wanted)
{
    int granted = 0;
    socklen_t length = sizeof granted;
    const SOCKET handle = (SOCKET)socket->handle;
    (void)set_option(handle, SOL_SOCKET, option, wanted < LEAST_BUFFER ? LEAST_BUFFER : wanted);
    if (getsockopt(handle, SOL_SOCKET, option, (char *)&granted, &length) != 0 || granted < 0)
        return 0;
    return (uint32_t)granted;
}

void cw_system_set_buffers(struct cw_socket *socket, int send_size, int receive_size)
{
    socket->stats.send_buffer_size = set_buffer_size(socket, SO_SNDBUF, send_size);
    socket->stats.receive_buffer_size = set_buffer_size(socket, SO_RCVBUF, receive_size);
}

void cw_system_address(const struct cw_socket *socket, struct cw_address *address)
{
    union cw_system_address system = {0};
    socklen_t length = sizeof system;
    (void)getsockname((SOCKET)socket->handle, &system.any, &length);
    cw_from_system(&system, address);
}

bool cw_system_source(const struct cw_address *to, struct cw_address *source)
{
    union cw_system_address system = {0};
    const bool is_ipv6 = cw_address_unmapped(to).type == CW_ADDRESS_IPV6;
    const SOCKET handle = new_handle(is_ipv6);
    if (handle == INVALID_SOCKET)
        return false;
    socklen_t length = cw_to_system(to, is_ipv6, &system);
    const bool has_way = connect(handle, &system.any, length) == 0;
    length = sizeof system;
    const bool known = has_way && getsockname(handle, &system.any, &length) == 0;
    close_handle(handle);
    if (known)
        cw_from_system(&system, source);
    return known;
}

static int as_int(size_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

size_t cw_system_send(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                      size_t count, bool *refused)
{
    union cw_system_address system;
    const socklen_t length = cw_to_system(&datagrams->address, socket->is_ipv6, &system);
    (void)count;
    *refused = true;
    if (!length)
        return 0;
    const int sent = sendto((SOCKET)socket->handle, (const char *)datagrams->data,
                            as_int(datagrams->size), 0, &system.any, length);
    if (sent >= 0)
        return 1;
    const int error = WSAGetLastError();
    *refused = error != WSAEWOULDBLOCK && error != WSAENOBUFS;
    return 0;
}

/* Receives a datagram; returns false when none has arrived. */
static bool receive_one(struct cw_socket *socket, struct cw_socket_datagram *datagram)
{
    union cw_system_address system = {0};
    socklen_t length = sizeof system;
    const int size = recvfrom((SOCKET)socket->handle, (char *)datagram->data,
                              as_int(datagram->capacity), 0, &system.any, &length);
    const bool truncated = size < 0 && WSAGetLastError() == WSAEMSGSIZE;
    if (size < 0 && !truncated)
        return false;
    socket->stats.datagrams_truncated += truncated;
    datagram->size = truncated ? 0 : (size_t)size;
    cw_from_system(&system, &datagram->address);
    return true;
}

size_t cw_system_receive(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                         size_t count)
{
    size_t received = 0;
    while (received < count && receive_one(socket, &datagrams[received]))
        received++;
    return received;
}

bool cw_system_wait(const struct cw_socket *socket, int milliseconds)
{
    WSAPOLLFD poller = {.fd = (SOCKET)socket->handle, .events = POLLRDNORM};
    return WSAPoll(&poller, 1, milliseconds) > 0;
}
