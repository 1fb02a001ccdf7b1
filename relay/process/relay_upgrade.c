#include "os/log.h"
#include "process/message.h"
#include "relay_internal.h"

#include <unistd.h>

/* Seconds that a process which has been replaced gives its browsers to answer its close, and its
   clients to take what they have asked for. */
#define LEAVE_SECONDS 5.0

/* Seconds between looks whether connections are left. */
#define LOOK_SECONDS 0.05

static bool send_startup(void *context, int channel)
{
    const struct relay *relay = context;
    bool sent = startup_send_hello(channel, sessions_secret(relay->sessions), 0, 0);
    for (unsigned i = 0; i < relay->options->listen_count; i++)
        sent = sent && startup_send_socket(channel, listener_socket(relay->listeners[i]));
    for (unsigned i = 0; i < relay->options->http_redirect_count; i++)
        sent = sent && startup_send_socket(channel, listener_socket(relay->redirects[i]));
    sent = sent && (!relay->admin || startup_send_socket(channel, admin_socket(relay->admin)));
    return sent && (!relay->webrtc || startup_send_socket(channel, webrtc_socket(relay->webrtc)));
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

static void on_leave_over(void *context)
{
    struct relay *relay = context;
    loop_stop(relay->loop);
}

/* Nobody asks a second time for what a process that has been replaced leaves without an answer. */
static void on_sessions_gone(void *context)
{
    struct relay *relay = context;
    if (pre_session_limit_count(relay->pre_session_limit) == 0)
        loop_stop(relay->loop);
    else
        loop_timer_start(relay->loop, &relay->look, LOOK_SECONDS);
}

void relay_leave(struct relay *relay)
{
    relay->state = RELAY_STOPPING;
    relay_close_listeners(relay);
    admin_close(relay->admin);
    webrtc_leave(relay->webrtc);
    relay->stop.expired = on_leave_over;
    loop_timer_start(relay->loop, &relay->stop, LEAVE_SECONDS);
    sessions_drain(relay->sessions, SESSION_END_RESTART, on_sessions_gone, relay);
    sessions_end_all(relay->sessions);
}

static void leave(void *context)
{
    relay_leave(context);
}

void relay_begin_upgrade(struct relay *relay)
{
    if (relay->worker > 0)
        log_warn("no upgrade: this is a worker; tell its supervisor");
    else if (relay->state == RELAY_SERVING)
        upgrade_begin(&relay->upgrade);
    else
        log_warn("no upgrade: this process is stopping");
}

void relay_adopt(struct relay *relay, const void *state, size_t size, int fd)
{
    unsigned held;
    if (!sessions_adopt(relay->sessions, state, size, fd) &&
        log_limit_pass(&relay->lost_limit, loop_now(), &held))
        log_warn("a session is lost: there is no place for it, or no file descriptor%s",
                 log_held(held).text);
}

bool relay_take_certificates(struct relay *relay, int copy)
{
    const bool taken = relay->tls && tls_take(relay->tls, copy);
    if (copy >= 0)
        close(copy);
    return taken;
}

static bool adopt(void *context, const struct message *message)
{
    struct relay *relay = context;
    if (message->type == MESSAGE_CERTIFICATES)
        return relay_take_certificates(relay, message->fd);
    if (message->type == MESSAGE_SESSION)
        relay_adopt(relay, message->data, message->size, message->fd);
    else if (message->type == MESSAGE_BLOCKS)
        startup_take_blocks(sessions_blocks(relay->sessions), message->data, message->size);
    else
        return false;
    return true;
}

bool relay_take_over(struct relay *relay, struct startup *startup)
{
    const struct upgrade_owner owner = {send_startup, send_sessions, leave, relay};
    upgrade_init(&relay->upgrade, relay->loop, relay->options->argv, &owner);
    relay->look.expired = on_sessions_gone;
    relay->look.context = relay;
    if (startup->channel < 0)
        return true;
    if (!upgrade_take_over(startup->channel, adopt, relay)) {
        log_error("the process that started this one has gone");
        return false;
    }
    if (startup->worker > 0)
        return relay_become_worker(relay, startup);
    log_info("took over %s", log_count(sessions_count(relay->sessions), "session").text);
    return true;
}
