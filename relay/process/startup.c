#include "process/startup.h"

#include "os/log.h"
#include "os/loop.h"
#include "process/child.h"

#include <string.h>
#include <unistd.h>

bool startup_send_hello(int channel, const uint8_t secret[MESSAGE_SECRET_SIZE], unsigned worker,
                        unsigned workers)
{
    struct hello_message hello = {.worker = worker, .workers = workers};
    memcpy(hello.secret, secret, sizeof hello.secret);
    return message_send(channel, MESSAGE_HELLO, &hello, sizeof hello, -1);
}

bool startup_send_socket(int channel, int socket)
{
    return message_send(channel, MESSAGE_SOCKET, NULL, 0, socket);
}

static bool take_hello(const struct message *message, struct startup *out)
{
    struct hello_message hello;
    if (message->size != sizeof hello)
        return false;
    memcpy(&hello, message->data, sizeof hello);
    memcpy(out->secret, hello.secret, sizeof out->secret);
    out->worker = hello.worker;
    out->workers = hello.workers;
    return true;
}

/* Takes a descriptor of a kind that comes once. Returns false when it has come before, or is
   missing. */
static bool take_fd(int *out, int fd)
{
    if (fd < 0 || *out >= 0)
        return false;
    *out = fd;
    return true;
}

static bool take_message(const struct message *message, struct startup *out)
{
    switch (message->type) {
    case MESSAGE_HELLO:
        return take_hello(message, out);
    case MESSAGE_COUNTERS:
        return take_fd(&out->counters, message->fd);
    case MESSAGE_FILTER:
        return take_fd(&out->filter, message->fd);
    case MESSAGE_OPTIONS:
        return message->fd < 0 || take_fd(&out->options, message->fd);
    case MESSAGE_SOCKET:
        return message->fd >= 0 && inherited_sockets_add(&out->sockets, message->fd);
    default:
        return false;
    }
}

bool startup_receive(struct startup *out)
{
    struct message message;
    bool greeted = false;
    *out = (struct startup){
        .channel = child_own_channel(), .counters = -1, .filter = -1, .options = -1};
    if (out->channel < 0)
        return true;
    while (message_receive(out->channel, &message, true) == MESSAGE_RECEIVED) {
        if (message.type == MESSAGE_OPEN && greeted)
            return true;
        if (take_message(&message, out)) {
            greeted = greeted || message.type == MESSAGE_HELLO;
            continue;
        }
        if (message.fd >= 0)
            close(message.fd);
        break;
    }
    log_error("the process that started this one is of another version, or has gone");
    startup_close(out);
    return false;
}

void startup_close(struct startup *startup)
{
    int *const others[] = {&startup->counters, &startup->filter, &startup->options,
                           &startup->channel};
    inherited_sockets_close(&startup->sockets);
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (*others[i] >= 0)
            close(*others[i]);
        *others[i] = -1;
    }
}

/* Each message holds as many blocks as fit, so that all messages fit into a channel. */
bool startup_send_blocks(int channel, const struct blocks *blocks)
{
    const unsigned most = MESSAGE_MAX / sizeof blocks->list[0];
    for (unsigned i = 0; i < blocks->count; i += most) {
        const unsigned count = blocks->count - i < most ? blocks->count - i : most;
        if (!message_send(channel, MESSAGE_BLOCKS, &blocks->list[i], count * sizeof blocks->list[0],
                          -1))
            return false;
    }
    return true;
}

void startup_take_blocks(struct blocks *blocks, const void *data, size_t size)
{
    struct block block;
    const double now = loop_now();
    for (size_t at = 0; at + sizeof block <= size; at += sizeof block) {
        memcpy(&block, (const char *)data + at, sizeof block);
        blocks_add(blocks, &block.prefix, block.until, now);
    }
}
