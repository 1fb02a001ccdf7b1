#include "process/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void on_ready(void *context, unsigned events)
{
    (void)events;
    const struct signals *signals = context;
    struct signalfd_siginfo info;
    while (read(signals->watch.fd, &info, sizeof info) == (ssize_t)sizeof info)
        signals->take(signals->context, (int)info.ssi_signo);
}

bool signals_open(struct signals *signals, struct loop *loop)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    signal(SIGHUP, SIG_DFL); /* under nohup SIGHUP is ignored, but the relay takes it */
    sigprocmask(SIG_BLOCK, &set, NULL);
    signals->watch = (struct loop_watch){
        .fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC),
        .ready = on_ready,
        .context = signals,
    };
    return signals->watch.fd >= 0 && loop_add(loop, &signals->watch, LOOP_READABLE);
}

void signals_close(struct signals *signals)
{
    if (signals->watch.fd >= 0)
        close(signals->watch.fd);
}
