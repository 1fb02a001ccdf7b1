#include "os/heritage.h"

#include "os/child.h"
#include "os/handover.h"
#include "os/log.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of the messages between a process and the one that it starts. */
#define HERITAGE_VERSION 1

struct secret_message {
    uint32_t version;
    uint32_t worker;
    uint32_t workers;
    uint8_t secret[HERITAGE_SECRET_SIZE];
};

bool heritage_send_secret(int line, const uint8_t secret[HERITAGE_SECRET_SIZE], unsigned worker,
                          unsigned workers)
{
    struct secret_message message = {
        .version = HERITAGE_VERSION, .worker = worker, .workers = workers};
    memcpy(message.secret, secret, sizeof message.secret);
    return handover_send(line, HERITAGE_SECRET, &message, sizeof message, -1);
}

bool heritage_send_socket(int line, int socket)
{
    return handover_send(line, HERITAGE_SOCKET, NULL, 0, socket);
}

static bool take_secret(const struct handover_message *message, struct heritage *out)
{
    struct secret_message secret;
    if (message->size != sizeof secret)
        return false;
    memcpy(&secret, message->data, sizeof secret);
    memcpy(out->secret, secret.secret, sizeof out->secret);
    out->worker = secret.worker;
    out->workers = secret.workers;
    return secret.version == HERITAGE_VERSION;
}

static bool take_message(const struct handover_message *message, struct heritage *out)
{
    if (message->kind == HERITAGE_SECRET)
        return take_secret(message, out);
    if (message->kind == HERITAGE_COUNTERS && message->fd >= 0 && out->counters < 0) {
        out->counters = message->fd;
        return true;
    }
    if (message->kind == HERITAGE_NAMES && message->fd >= 0 && out->names < 0) {
        out->names = message->fd;
        return true;
    }
    if (message->kind == HERITAGE_OPTIONS && out->options < 0) {
        out->options = message->fd;
        return true;
    }
    if (message->kind != HERITAGE_SOCKET || message->fd < 0 || out->count == HERITAGE_SOCKETS_MAX)
        return false;
    out->sockets[out->count++] = message->fd;
    return true;
}

bool heritage_receive(struct heritage *out)
{
    struct handover_message message;
    bool secret = false;
    *out = (struct heritage){.line = child_own_line(), .counters = -1, .names = -1, .options = -1};
    if (out->line < 0)
        return true;
    while (handover_receive(out->line, &message, true) == HANDOVER_MESSAGE) {
        if (message.kind == HERITAGE_OPEN && secret)
            return true;
        if (take_message(&message, out)) {
            secret = secret || message.kind == HERITAGE_SECRET;
            continue;
        }
        if (message.fd >= 0)
            close(message.fd);
        break;
    }
    log_error("the process that started this one is of another version, or has gone");
    heritage_close(out);
    return false;
}

static bool fits(int fd, int type, const struct socket_address *wanted)
{
    struct socket_address local = {.size = sizeof local.address};
    int its_type;
    socklen_t size = sizeof its_type;
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &its_type, &size) != 0 || its_type != type ||
        getsockname(fd, &local.address.any, &local.size) != 0)
        return false;
    if (socket_address_port(wanted) == 0)
        socket_address_set_port(&local, 0);
    char ours[SOCKET_ADDRESS_TEXT];
    char theirs[SOCKET_ADDRESS_TEXT];
    socket_address_format(&local, ours);
    socket_address_format(wanted, theirs);
    return strcmp(ours, theirs) == 0;
}

int heritage_take(struct heritage *heritage, int type, const struct socket_address *address)
{
    for (unsigned i = 0; i < heritage->count; i++) {
        const int fd = heritage->sockets[i];
        if (fits(fd, type, address)) {
            heritage->sockets[i] = -1;
            return fd;
        }
    }
    return -1;
}

void heritage_close(struct heritage *heritage)
{
    for (unsigned i = 0; i < heritage->count; i++) {
        if (heritage->sockets[i] >= 0)
            close(heritage->sockets[i]);
    }
    heritage->count = 0;
    int *const others[] = {&heritage->counters, &heritage->names, &heritage->options,
                           &heritage->line};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (*others[i] >= 0)
            close(*others[i]);
        *others[i] = -1;
    }
}
