#include "process/upgrade.h"

#include "os/handover.h"
#include "os/heritage.h"
#include "os/log.h"
#include "process/notify.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the successor to open everything. */
#define START_SECONDS 30.0

/* For it to take over, while nothing else is served here. */
#define TAKE_OVER_SECONDS 5

static void stop_waiting(struct upgrade *upgrade)
{
    loop_timer_stop(&upgrade->timer);
    loop_remove(upgrade->loop, &upgrade->watch);
}

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
}

/* Nothing changes here before the successor has said that it serves the sessions: it can fail at
   any time. */
static bool hand_over(struct upgrade *upgrade)
{
    const int line = upgrade->successor.line;
    const struct timeval timeout = {.tv_sec = TAKE_OVER_SECONDS};
    struct handover_message answer;
    setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    return upgrade->owner.hand_over(upgrade->owner.context, line) &&
           handover_send(line, HERITAGE_START, NULL, 0, -1) &&
           handover_receive(line, &answer, true) == HANDOVER_MESSAGE &&
           answer.kind == HERITAGE_STARTED;
}

static void on_line(void *context, unsigned events)
{
    (void)events;
    struct upgrade *upgrade = context;
    struct handover_message message;
    const enum handover_result result = handover_receive(upgrade->successor.line, &message, false);
    if (result == HANDOVER_NONE)
        return;
    if (result == HANDOVER_ENDED || message.kind != HERITAGE_READY) {
        fail(upgrade, "did not start");
        return;
    }
    if (!hand_over(upgrade)) {
        fail(upgrade, "did not take over");
        return;
    }
    log_info("process %ld has taken over", (long)upgrade->successor.pid);
    notify_send("MAINPID=%ld", (long)upgrade->successor.pid);
    stop_waiting(upgrade);
    child_leave(&upgrade->successor);
    upgrade->owner.replaced(upgrade->owner.context);
}

static void on_late(void *context)
{
    fail(context, "did not start in time");
}

void upgrade_init(struct upgrade *upgrade, struct loop *loop, char *const *arguments,
                  const struct upgrade_owner *owner)
{
    *upgrade = (struct upgrade){
        .loop = loop,
        .arguments = arguments,
        .owner = *owner,
        .timer = {.expired = on_late, .context = upgrade},
    };
}

void upgrade_begin(struct upgrade *upgrade)
{
    struct child *successor = &upgrade->successor;
    if (successor->pid != 0) {
        log_warn("an upgrade is under way already");
        return;
    }
    if (getpid() == 1) {
        log_error("no upgrade: the container would end with this process");
        return;
    }
    if (!child_start(successor, CHILD_ANEW, upgrade->arguments)) {
        log_error("no upgrade: cannot start %s: %s", upgrade->arguments[0], strerror(errno));
        return;
    }
    log_info("upgrade: process %ld is starting", (long)successor->pid);
    upgrade->watch =
        (struct loop_watch){.fd = successor->line, .ready = on_line, .context = upgrade};
    loop_timer_start(upgrade->loop, &upgrade->timer, START_SECONDS);
    if (!loop_add(upgrade->loop, &upgrade->watch, LOOP_READABLE) ||
        !upgrade->owner.bequeath(upgrade->owner.context, successor->line) ||
        !handover_send(successor->line, HERITAGE_OPEN, NULL, 0, -1))
        fail(upgrade, "cannot be told what to open");
}

void upgrade_cancel(struct upgrade *upgrade)
{
    if (upgrade->successor.pid == 0)
        return;
    stop_waiting(upgrade);
    child_end(&upgrade->successor);
}

bool upgrade_take_over(int line,
                       bool (*adopt)(void *context, enum heritage_message kind, const void *data,
                                     size_t size, int fd),
                       void *context)
{
    struct handover_message message;
    if (!handover_send(line, HERITAGE_READY, NULL, 0, -1))
        return false;
    while (handover_receive(line, &message, true) == HANDOVER_MESSAGE) {
        if (message.kind == HERITAGE_START)
            return handover_send(line, HERITAGE_STARTED, NULL, 0, -1);
        if (!adopt(context, (enum heritage_message)message.kind, message.data, message.size,
                   message.fd))
            return false;
    }
    return false;
}
