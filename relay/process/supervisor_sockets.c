#include "http/listener.h"
#include "os/log.h"
#include "process/supervisor_internal.h"
#include "rtc/rtc_socket.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static bool add(struct worker *worker, const char *what, const char *text, int fd)
{
    if (fd < 0)
        log_error("cannot %s %s: %s", what, text, strerror(errno));
    else
        worker->sockets[worker->socket_count++] = fd;
    return fd >= 0;
}

/* Opens one for each worker at the same port, which is any when the text says 0. */
static bool open_listening(struct supervisor *all, const char *text,
                           struct inherited_sockets *inherited)
{
    struct socket_address address;
    const char *error;
    if (!socket_address_resolve(text, &address, &error)) {
        log_error("cannot listen on %s: %s", text, error);
        return false;
    }
    for (unsigned i = 0; i < all->count; i++) {
        const int fd = listener_open_socket(&address, inherited, true);
        if (!add(&all->workers[i], "listen on", text, fd))
            return false;
        address.size = sizeof address.address;
        getsockname(fd, &address.address.any, &address.size);
    }
    return true;
}

static unsigned listening_port(const struct worker *worker)
{
    struct socket_address address = {.size = sizeof address.address};
    getsockname(worker->sockets[0], &address.address.any, &address.size);
    return socket_address_port(&address);
}

/* Each worker has a port of its own: that of --rtc, and those that follow. */
static bool open_rtc(struct supervisor *all, struct inherited_sockets *inherited)
{
    const struct options *options = all->options;
    struct socket_address address = options->rtc_local;
    char text[SOCKET_ADDRESS_TEXT];
    if (!options->rtc)
        return true;
    if (!options->rtc_own_port)
        socket_address_set_port(&address, listening_port(&all->workers[0]));
    const unsigned port = socket_address_port(&address);
    if (port + all->count - 1 > UINT16_MAX) {
        log_error("cannot open the UDP ports of %u workers from %u on: the last port is %u",
                  all->count, port, UINT16_MAX);
        return false;
    }
    for (unsigned i = 0; i < all->count; i++) {
        if (port > 0)
            socket_address_set_port(&address, port + i);
        socket_address_format(&address, text);
        if (!add(&all->workers[i], "open the UDP port", text, rtc_socket_open(&address, inherited)))
            return false;
    }
    return true;
}

bool supervisor_open_sockets(struct supervisor *all, struct startup *startup)
{
    struct inherited_sockets *inherited = &startup->sockets;
    const struct options *options = all->options;
    for (unsigned i = 0; i < options->listen_count; i++) {
        if (!open_listening(all, options->listen[i], inherited))
            return false;
    }
    for (unsigned i = 0; i < options->http_redirect_count; i++) {
        if (!open_listening(all, options->http_redirect[i], inherited))
            return false;
    }
    return open_rtc(all, inherited);
}
