#include "os/log.h"
#include "os/tls.h"
#include "relay_internal.h"

#include <unistd.h>

static bool send_startup(void *context, int channel)
{
    const struct relay *relay = context;
    return startup_send_hello(channel, sessions_secret(relay->sessions), 0, 0) &&
           listeners_send(&relay->listeners, channel) &&
           (!relay->admin || startup_send_socket(channel, admin_socket(relay->admin))) &&
           (!relay->webrtc || startup_send_socket(channel, webrtc_socket(relay->webrtc)));
}

static bool send_session(void *context, const struct session_state *state, int fd)
{
    return message_send(*(const int *)context, MESSAGE_SESSION, state, sizeof *state, fd);
}

static bool send_sessions(void *context, int channel)
{
    const struct relay *relay = context;
    return startup_send_blocks(channel, sessions_blocks(relay->sessions)) &&
           sessions_export(relay->sessions, send_session, &channel);
}

/* Closes everything that another process has taken over. */
static void leave(void *context)
{
    struct relay *relay = context;
    listeners_close(&relay->listeners);
    admin_close(relay->admin);
    webtransport_leave(relay->webtransport);
    webrtc_leave(relay->webrtc);
    shutdown_leave(&relay->shutdown);
}

static bool is_settled(void *context)
{
    const struct relay *relay = context;
    return sessions_are_settled(relay->sessions);
}

static bool take_certificates(struct relay *relay, int copy)
{
    const bool taken = relay->tls && tls_take(relay->tls, copy);
    if (copy >= 0)
        close(copy);
    return taken;
}

static void take_session(struct relay *relay, const struct message *message)
{
    unsigned suppressed;
    if (!sessions_adopt(relay->sessions, message->data, message->size, message->fd) &&
        log_limit_pass(&relay->lost_limit, loop_now(), &suppressed))
        log_warn("a session is lost: there is no place for it, or no file descriptor%s",
                 log_suppressed(suppressed).text);
}

static bool take_message(void *context, const struct message *message)
{
    struct relay *relay = context;
    if (message->type == MESSAGE_CERTIFICATES)
        return take_certificates(relay, message->fd);
    if (message->type == MESSAGE_SESSION)
        take_session(relay, message);
    else if (message->type == MESSAGE_BLOCKS)
        startup_take_blocks(sessions_blocks(relay->sessions), message->data, message->size);
    else
        return false;
    return true;
}

static void adopt(void *context, const struct message *message)
{
    take_message(context, message);
}

static bool become_worker(struct relay *relay, struct startup *startup)
{
    const struct worker_config config = {
        .loop = relay->loop,
        .sessions = relay->sessions,
        .webrtc = relay->webrtc,
        .stats = &relay->counters->stats,
        .count = relay_count,
        .adopt = adopt,
        .leave = leave,
        .context = relay,
    };
    return worker_start(&relay->worker, &config, startup);
}

bool relay_take_over(struct relay *relay, struct startup *startup)
{
    const struct upgrade_owner owner = {send_startup, send_sessions, leave, is_settled, relay};
    upgrade_init(&relay->upgrade, relay->loop, relay->options->argv, &owner);
    if (startup->channel < 0)
        return true;
    if (!upgrade_take_over(&relay->upgrade, startup->channel, take_message, relay)) {
        log_error("the process that started this one has gone");
        return false;
    }
    if (startup->worker > 0)
        return become_worker(relay, startup);
    log_info("took over %s", log_count(sessions_count(relay->sessions), "session").text);
    return true;
}
