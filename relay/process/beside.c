#include "process/beside.h"

#include "os/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* When one of the two has ended, this process looks so often whether the other has too. */
#define LOOK_SECONDS 0.5
/* The relay has as many looks to pass on what the game server has said at its end. */
#define LOOKS_UNTIL_STOP 1
/* The game server has as many looks to end by itself. */
#define LOOKS_UNTIL_KILL 20

#define CODE_NOT_STARTED 127
#define CODE_SIGNAL      128

struct one {
    const char *name;
    pid_t pid; /* 0 = it has ended */
    int code;
};

struct pair {
    struct one relay;
    struct one game;
    bool asked;     /* to end, by a signal */
    unsigned looks; /* since one of the two has ended */
};

static sigset_t awaited(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

/* Makes a process with this mask of signals, in a group of its own: the terminal's signals come to
   the first process, which passes them on. It is told to end when the first process dies. */
static pid_t copy_process(const sigset_t *mask)
{
    const pid_t first = getpid();
    const pid_t pid = fork();
    /* Both processes do it, because either may go on first. */
    if (pid >= 0)
        setpgid(pid, 0);
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != first)
        _exit(CODE_NOT_STARTED);
    sigprocmask(SIG_SETMASK, mask, NULL);
    return 0;
}

static pid_t start_command(const char *command, const sigset_t *mask)
{
    const pid_t pid = copy_process(mask);
    if (pid != 0)
        return pid;
    signal(SIGPIPE, SIG_DFL);
    /* The shell becomes the game server, so that this process learns how that has ended. */
    execl("/bin/sh", "sh", "-c", "eval \"exec $0\"", command, (char *)NULL);
    _exit(CODE_NOT_STARTED);
}

/* Sends a signal to the whole group: another program may have started the game server. */
static void pass_on(const struct one *one, int number)
{
    if (one->pid > 0)
        kill(-one->pid, number);
}

/* Notes how one of the two has ended. One that dies of the signal which asked it to end has not
   failed. */
static void note_end(struct pair *pair, struct one *one, int status)
{
    one->pid = 0;
    if (WIFEXITED(status)) {
        one->code = WEXITSTATUS(status);
        log_info("%s has ended with exit code %d", one->name, one->code);
        return;
    }
    const int number = WTERMSIG(status);
    const bool obeyed = number == SIGTERM || number == SIGINT;
    one->code = obeyed && (pair->asked || pair->looks > 0) ? 0 : CODE_SIGNAL + number;
    log_info("%s has ended by signal %d (%s)", one->name, number, strsignal(number));
}

/* Takes the ends of all processes that have ended, also of those that nobody waits for: the first
   process of a container inherits them. */
static void reap(struct pair *pair)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == pair->relay.pid)
            note_end(pair, &pair->relay, status);
        else if (pid == pair->game.pid)
            note_end(pair, &pair->game, status);
    }
}

/* Ends the one of the two that is left. */
static void look(struct pair *pair)
{
    const unsigned looks = pair->looks++;
    if (pair->relay.pid > 0 && looks == LOOKS_UNTIL_STOP)
        pass_on(&pair->relay, SIGINT);
    else if (pair->game.pid > 0 && looks == 0)
        pass_on(&pair->game, SIGTERM);
    else if (pair->game.pid > 0 && looks == LOOKS_UNTIL_KILL)
        pass_on(&pair->game, SIGKILL);
}

static void take(struct pair *pair, int number)
{
    switch (number) {
    case SIGTERM:
    case SIGINT:
        pair->asked = true;
        pass_on(&pair->game, number);
        pass_on(&pair->relay, number);
        break;
    case SIGHUP:
    case SIGUSR1:
        pass_on(&pair->relay, number);
        break;
    case SIGUSR2:
        log_warn("no upgrade: with --exec another relay has another game server");
        break;
    default:
        break;
    }
}

/* Waits until both have ended. */
static void watch(struct pair *pair, const sigset_t *signals)
{
    const struct timespec pause = {.tv_nsec = (long)(LOOK_SECONDS * 1e9)};
    for (reap(pair); pair->relay.pid > 0 || pair->game.pid > 0; reap(pair)) {
        const bool both = pair->relay.pid > 0 && pair->game.pid > 0;
        if (!both && pair->looks == 0)
            look(pair);
        const int number = both ? sigwaitinfo(signals, NULL) : sigtimedwait(signals, NULL, &pause);
        if (number > 0)
            take(pair, number);
        else if (errno == EAGAIN)
            look(pair);
    }
}

bool beside_begin(const char *command, int *code)
{
    const sigset_t signals = awaited();
    struct pair pair = {.relay = {.name = "the relay"}, .game = {.name = "the game server"}};
    sigset_t before;
    /* Some parents leave SIGCHLD ignored; then the system tells nobody that a process has ended. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pair.game.pid = start_command(command, &before);
    pair.relay.pid = pair.game.pid > 0 ? copy_process(&before) : -1;
    if (pair.relay.pid == 0)
        return true;
    if (pair.relay.pid < 0) {
        log_error("no process for --exec: %s", strerror(errno));
        pair.relay.code = EXIT_FAILURE;
    }
    watch(&pair, &signals);
    *code = pair.game.code ? pair.game.code : pair.relay.code;
    return false;
}
