#include "native/socket_internal.h"

#include "base/memory.h"
#include "base/unmapped.h"

struct cw_socket_config cw_socket_config_default(void)
{
    return (struct cw_socket_config){
        .send_buffer_size = 4 << 20,
        .receive_buffer_size = 4 << 20,
    };
}

static int at_most_int(uint32_t size)
{
    return size > INT32_MAX ? INT32_MAX : (int)size;
}

enum cw_error cw_socket_open(const struct cw_socket_config *config, struct cw_socket **socket)
{
    if (!socket || !config)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_socket *self = cw_allocate(&config->allocator, sizeof *self);
    if (!self)
        return CW_ERROR_NO_MEMORY;
    *self = (struct cw_socket){.allocator = config->allocator};

    struct cw_address address = cw_address_unmapped(&config->address);
    const bool any = address.type == CW_ADDRESS_NONE;
    if (any)
        address = (struct cw_address){.type = CW_ADDRESS_IPV6, .port = address.port};
    enum cw_error error = cw_system_open(self, &address);
    /* A machine without IPv6 still listens on all its IPv4 addresses. */
    if (any && (error == CW_ERROR_SOCKET || error == CW_ERROR_ADDRESS_NOT_HERE)) {
        address.type = CW_ADDRESS_IPV4;
        error = cw_system_open(self, &address);
    }
    if (error != CW_OK) {
        cw_release(&config->allocator, self, sizeof *self);
        return error;
    }
    cw_system_set_buffers(self, at_most_int(config->send_buffer_size),
                          at_most_int(config->receive_buffer_size));
    *socket = self;
    return CW_OK;
}

void cw_socket_close(struct cw_socket *socket)
{
    if (!socket)
        return;
    const struct cw_allocator allocator = socket->allocator;
    cw_system_close(socket);
    cw_release(&allocator, socket, sizeof *socket);
}

void cw_socket_address(const struct cw_socket *socket, struct cw_address *address)
{
    if (socket && address)
        cw_system_address(socket, address);
}

enum cw_error cw_socket_source(const struct cw_address *to, struct cw_address *source)
{
    struct cw_address found;
    if (!to || !source)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!cw_system_source(to, &found))
        return CW_ERROR_SEND;
    *source = found;
    source->port = 0;
    return CW_OK;
}

intptr_t cw_socket_handle(const struct cw_socket *socket)
{
    return socket ? socket->handle : -1;
}

enum cw_error cw_socket_send(struct cw_socket *socket, const struct cw_address *address,
                             const uint8_t *data, size_t size)
{
    bool refused;
    if (!socket || !address || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_socket_datagram datagram = {
        .address = *address, .data = (uint8_t *)(uintptr_t)data, .size = size};
    if (cw_system_send(socket, &datagram, 1, &refused) == 0) {
        socket->stats.datagrams_refused += refused;
        return refused ? CW_ERROR_SEND : CW_ERROR_SOCKET_FULL;
    }
    socket->stats.datagrams_sent++;
    return CW_OK;
}

size_t cw_socket_receive(struct cw_socket *socket, uint8_t *data, size_t capacity,
                         struct cw_address *address)
{
    struct cw_socket_datagram datagram = {.data = data, .capacity = capacity};
    if (!address || !data)
        return 0;
    do {
        if (cw_socket_receive_batch(socket, &datagram, 1) == 0)
            return 0;
    } while (datagram.size == 0);
    *address = datagram.address;
    return datagram.size;
}

static size_t batch_of(size_t count)
{
    return count < CW_SYSTEM_BATCH ? count : CW_SYSTEM_BATCH;
}

size_t cw_socket_send_batch(struct cw_socket *socket, const struct cw_socket_datagram *datagrams,
                            size_t count)
{
    size_t done = 0;
    if (!socket || !datagrams)
        return 0;
    while (done < count) {
        bool refused;
        const size_t sent =
            cw_system_send(socket, datagrams + done, batch_of(count - done), &refused);
        socket->stats.datagrams_sent += sent;
        done += sent;
        if (sent > 0)
            continue;
        if (!refused)
            break;
        socket->stats.datagrams_refused++;
        done++;
    }
    return done;
}

size_t cw_socket_receive_batch(struct cw_socket *socket, struct cw_socket_datagram *datagrams,
                               size_t count)
{
    size_t done = 0;
    if (!socket || !datagrams)
        return 0;
    while (done < count) {
        struct cw_socket_datagram *next = datagrams + done;
        const size_t wanted = batch_of(count - done);
        const size_t received = cw_system_receive(socket, next, wanted);
        for (size_t i = 0; i < received; i++)
            socket->stats.datagrams_received += next[i].size > 0;
        done += received;
        if (received < wanted)
            break; /* the system has no more */
    }
    return done;
}

bool cw_socket_wait(const struct cw_socket *socket, double seconds)
{
    int milliseconds = 0;
    if (!socket)
        return false;
    if (seconds > 0)
        milliseconds = seconds < 2e6 ? (int)(seconds * 1000 + 0.999) : -1;
    return cw_system_wait(socket, milliseconds);
}

void cw_socket_get_stats(const struct cw_socket *socket, struct cw_socket_stats *stats)
{
    if (socket && stats)
        *stats = socket->stats;
}
