#include "os/handover.h"
#include "os/log.h"
#include "relay_internal.h"
#include "session/session_look.h"

#include <unistd.h>

/* Seconds that a process which has been replaced gives its browsers to answer its close, and its
   clients to take what they have asked for. */
#define LEAVE_SECONDS 5.0

/* Seconds between looks whether connections are left. */
#define LOOK_SECONDS 0.05

static bool bequeath(void *context, int line)
{
    const struct relay *relay = context;
    bool sent = heritage_send_secret(line, sessions_secret(relay->sessions), 0, 0);
    for (unsigned i = 0; i < relay->options->listen_count; i++)
        sent = sent && heritage_send_socket(line, listener_socket(relay->listeners[i]));
    for (unsigned i = 0; i < relay->options->http_redirect_count; i++)
        sent = sent && heritage_send_socket(line, listener_socket(relay->redirects[i]));
    sent = sent && (!relay->admin || heritage_send_socket(line, admin_socket(relay->admin)));
    return sent && (!relay->webrtc || heritage_send_socket(line, webrtc_socket(relay->webrtc)));
}

static bool send_parcel(void *context, const struct parcel *parcel, int fd)
{
    return handover_send(*(const int *)context, HERITAGE_PARCEL, parcel, sizeof *parcel, fd);
}

static bool hand_over(void *context, int line)
{
    const struct relay *relay = context;
    return blocks_send(sessions_blocks(relay->sessions), line) &&
           sessions_hand_over(relay->sessions, send_parcel, &line);
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

void relay_adopt(struct relay *relay, const void *parcel, size_t size, int fd)
{
    unsigned held;
    if (!sessions_adopt(relay->sessions, parcel, size, fd) &&
        log_limit_pass(&relay->lost_limit, loop_now(), &held))
        log_warn("a session is lost: its parcel is of another version, or there is no room%s",
                 log_held(held).text);
}

bool relay_take_certificates(struct relay *relay, int copy)
{
    const bool taken = relay->tls && tls_take(relay->tls, copy);
    if (copy >= 0)
        close(copy);
    return taken;
}

static bool adopt(void *context, enum heritage_message kind, const void *data, size_t size, int fd)
{
    struct relay *relay = context;
    if (kind == HERITAGE_CERTIFICATES)
        return relay_take_certificates(relay, fd);
    if (kind == HERITAGE_PARCEL)
        relay_adopt(relay, data, size, fd);
    else if (kind == HERITAGE_BLOCKS)
        blocks_receive(sessions_blocks(relay->sessions), data, size);
    else
        return false;
    return true;
}

bool relay_take_over(struct relay *relay, struct heritage *heritage)
{
    const struct upgrade_owner owner = {bequeath, hand_over, leave, relay};
    upgrade_init(&relay->upgrade, relay->loop, relay->options->argv, &owner);
    relay->look.expired = on_sessions_gone;
    relay->look.context = relay;
    if (heritage->line < 0)
        return true;
    if (!upgrade_take_over(heritage->line, adopt, relay)) {
        log_error("the process that started this one has gone");
        return false;
    }
    if (heritage->worker > 0)
        return relay_become_worker(relay, heritage);
    log_info("took over %s", log_count(sessions_count(relay->sessions), "session").text);
    return true;
}
