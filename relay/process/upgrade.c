#include "process/upgrade.h"

#include "os/log.h"
#include "process/message.h"
#include "process/notify.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The successor has this many seconds to open everything. */
#define START_SECONDS 30.0

/* The successor has this many seconds to take over. Nothing is served here meanwhile. */
#define TAKE_OVER_SECONDS 5

/* A process that has taken over waits at most this long for its players before it is upgraded in
   turn. A page looks for its session anew at least every five seconds. */
#define SETTLE_SECONDS 10.0

/* Seconds between two looks for players who have not come back. */
#define LOOK_SECONDS 0.1

static void stop_waiting(struct upgrade *upgrade)
{
    loop_timer_stop(&upgrade->timer);
    loop_remove(upgrade->loop, &upgrade->watch);
}

static void start_when_settled(void *context);

static void fail(struct upgrade *upgrade, const char *why)
{
    const long pid = (long)upgrade->successor.pid;
    stop_waiting(upgrade);
    const int status = child_end(&upgrade->successor);
    if (WIFEXITED(status))
        log_error("no upgrade: process %ld ended with %d; this one goes on", pid,
                  WEXITSTATUS(status));
    else
        log_error("no upgrade: process %ld %s; this one goes on", pid, why);
    if (upgrade->is_repeated)
        start_when_settled(upgrade);
}

/* Hands everything over. Nothing changes here before the successor has said that it serves the
   sessions: until then it can fail at any time. */
static bool hand_over(struct upgrade *upgrade)
{
    const int channel = upgrade->successor.channel;
    const struct timeval timeout = {.tv_sec = TAKE_OVER_SECONDS};
    struct message answer;
    setsockopt(channel, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return upgrade->owner.send_sessions(upgrade->owner.context, channel) &&
           message_send(channel, MESSAGE_START, NULL, 0, -1) &&
           message_receive(channel, &answer, true) == MESSAGE_RECEIVED &&
           answer.type == MESSAGE_STARTED;
}

static void on_message(void *context, unsigned events)
{
    (void)events;
    struct upgrade *upgrade = context;
    struct message message;
    const enum message_result result = message_receive(upgrade->successor.channel, &message, false);
    if (result == MESSAGE_NONE)
        return;
    if (result == MESSAGE_ENDED || message.type != MESSAGE_READY) {
        fail(upgrade, "did not start");
        return;
    }
    if (!hand_over(upgrade)) {
        fail(upgrade, "did not take over");
        return;
    }
    /* The lines come last: whoever waits for one may open a connection, which is not for here. */
    const long pid = (long)upgrade->successor.pid;
    stop_waiting(upgrade);
    child_leave(&upgrade->successor);
    upgrade->owner.leave(upgrade->owner.context);
    log_info("process %ld has taken over", pid);
    notify_send("MAINPID=%ld", pid);
    if (upgrade->is_repeated)
        kill((pid_t)pid, SIGUSR2);
}

void upgrade_init(struct upgrade *upgrade, struct loop *loop, char *const *arguments,
                  const struct upgrade_owner *owner)
{
    *upgrade = (struct upgrade){
        .loop = loop,
        .arguments = arguments,
        .owner = *owner,
        .timer = {.context = upgrade},
    };
}

static void on_late(void *context)
{
    fail(context, "did not start in time");
}

static void start(struct upgrade *upgrade)
{
    struct child *successor = &upgrade->successor;
    if (!child_start(successor, CHILD_ANEW, upgrade->arguments)) {
        log_error("no upgrade: cannot start %s: %s", upgrade->arguments[0], strerror(errno));
        return;
    }
    log_info("upgrade: process %ld is starting", (long)successor->pid);
    upgrade->is_repeated = false;
    upgrade->watch =
        (struct loop_watch){.fd = successor->channel, .ready = on_message, .context = upgrade};
    upgrade->timer.expired = on_late;
    loop_timer_start(upgrade->loop, &upgrade->timer, START_SECONDS);
    if (!loop_add(upgrade->loop, &upgrade->watch, LOOP_READABLE) ||
        !upgrade->owner.send_startup(upgrade->owner.context, successor->channel) ||
        !message_send(successor->channel, MESSAGE_OPEN, NULL, 0, -1))
        fail(upgrade, "does not take what it is to open");
}

static void start_when_settled(void *context)
{
    struct upgrade *upgrade = context;
    upgrade->is_waiting =
        loop_now() < upgrade->settled && !upgrade->owner.is_settled(upgrade->owner.context);
    if (!upgrade->is_waiting) {
        start(upgrade);
        return;
    }
    upgrade->timer.expired = start_when_settled;
    loop_timer_start(upgrade->loop, &upgrade->timer, LOOK_SECONDS);
}

void upgrade_begin(struct upgrade *upgrade)
{
    if (upgrade->is_waiting)
        return;
    if (upgrade->successor.pid != 0) {
        log_info("another upgrade follows the one that is under way");
        upgrade->is_repeated = true;
        return;
    }
    if (getpid() == 1) {
        log_error("no upgrade: the container would end with this process");
        return;
    }
    start_when_settled(upgrade);
    if (upgrade->is_waiting)
        log_info("upgrade: waiting for players to come back from the last one");
}

void upgrade_cancel(struct upgrade *upgrade)
{
    if (upgrade->loop)
        loop_timer_stop(&upgrade->timer);
    upgrade->is_waiting = false;
    if (upgrade->successor.pid == 0)
        return;
    stop_waiting(upgrade);
    child_end(&upgrade->successor);
}

bool upgrade_take_over(struct upgrade *upgrade, int channel,
                       bool (*adopt)(void *context, const struct message *message), void *context)
{
    struct message message;
    if (!message_send(channel, MESSAGE_READY, NULL, 0, -1))
        return false;
    while (message_receive(channel, &message, true) == MESSAGE_RECEIVED) {
        if (message.type == MESSAGE_START) {
            upgrade->settled = loop_now() + SETTLE_SECONDS;
            return message_send(channel, MESSAGE_STARTED, NULL, 0, -1);
        }
        if (!adopt(context, &message))
            return false;
    }
    return false;
}
