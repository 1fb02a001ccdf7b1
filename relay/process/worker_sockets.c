#include "process/worker_sockets.h"

#include "http/listener.h"
#include "os/log.h"
#include "process/startup.h"
#include "rtc/rtc_socket.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool add(struct worker_sockets *sockets, const char *what, const char *text, int fd)
{
    if (fd < 0)
        log_error("cannot %s %s: %s", what, text, strerror(errno));
    else
        sockets->fds[sockets->count++] = fd;
    return fd >= 0;
}

/* Opens a listening socket for each worker at the same port, which is any when the text says 0. */
static bool open_listening(const char *text, unsigned workers, struct inherited_sockets *inherited,
                           struct worker_sockets *out)
{
    struct socket_address address;
    const char *error;
    if (!socket_address_resolve(text, &address, &error)) {
        log_error("cannot listen on %s: %s", text, error);
        return false;
    }
    for (unsigned i = 0; i < workers; i++) {
        const int fd = listener_open_socket(&address, inherited, true);
        if (!add(&out[i], "listen on", text, fd))
            return false;
        address.size = sizeof address.address;
        getsockname(fd, &address.address.any, &address.size);
    }
    return true;
}

static struct socket_address local_address(int fd)
{
    struct socket_address address = {.size = sizeof address.address};
    getsockname(fd, &address.address.any, &address.size);
    return address;
}

/* Opens the sockets of WebRTC. Each worker has a port of its own: that of --rtc, and those that
   follow. */
static bool open_rtc(const struct options *options, struct inherited_sockets *inherited,
                     struct worker_sockets *out)
{
    struct socket_address address = options->rtc_local;
    char text[SOCKET_ADDRESS_TEXT];
    if (!options->rtc)
        return true;
    if (!options->rtc_own_port) {
        const struct socket_address first = local_address(out[0].fds[0]);
        socket_address_set_port(&address, socket_address_port(&first));
    }
    const unsigned port = socket_address_port(&address);
    if (port + options->workers - 1 > UINT16_MAX) {
        log_error("cannot open the UDP ports of %u workers from %u on: the last port is %u",
                  options->workers, port, UINT16_MAX);
        return false;
    }
    for (unsigned i = 0; i < options->workers; i++) {
        if (port > 0)
            socket_address_set_port(&address, port + i);
        socket_address_format(&address, text);
        if (!add(&out[i], "open the UDP port", text, rtc_socket_open(&address, inherited)))
            return false;
    }
    return true;
}

bool worker_sockets_open(const struct options *options, struct inherited_sockets *inherited,
                         struct worker_sockets *out)
{
    for (unsigned i = 0; i < options->listen_count; i++) {
        if (!open_listening(options->listen[i], options->workers, inherited, out))
            return false;
    }
    for (unsigned i = 0; i < options->http_redirect_count; i++) {
        if (!open_listening(options->http_redirect[i], options->workers, inherited, out))
            return false;
    }
    return open_rtc(options, inherited, out);
}

bool worker_sockets_send(const struct worker_sockets *sockets, int channel)
{
    for (unsigned i = 0; i < sockets->count; i++) {
        if (!startup_send_socket(channel, sockets->fds[i]))
            return false;
    }
    return true;
}

static void announce(int fd, unsigned workers, const char *what)
{
    const struct socket_address local = local_address(fd);
    char text[SOCKET_ADDRESS_TEXT];
    socket_address_format(&local, text);
    log_info("%u workers %s %s", workers, what, text);
}

void worker_sockets_announce(const struct worker_sockets *sockets, const struct options *options)
{
    for (unsigned i = 0; i < options->http_redirect_count; i++)
        announce(sockets->fds[options->listen_count + i], options->workers, "redirecting from");
    for (unsigned i = 0; i < options->listen_count; i++)
        announce(sockets->fds[i], options->workers, "listening on");
}

void worker_sockets_close(struct worker_sockets *sockets)
{
    for (unsigned i = 0; i < sockets->count; i++)
        close(sockets->fds[i]);
    sockets->count = 0;
}
