#include "process/child.h"

#include "process/message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The environment variable that tells a process the descriptor of its channel. Every version uses
   this name, so that even a process of another version learns of its channel. */
#define LINE_VARIABLE "CAUSEWAY_LINE"

/* Starts a process with its channel open and no signal blocked, as from a shell. It has a process
   group of its own, because the process that was started in a terminal gets the terminal's signals
   and passes them on. */
static int spawn(pid_t *pid, int channel, const char *path, char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, channel,
                                     channel); /* takes the close-on-exec flag off */
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawn(pid, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

bool child_start(struct child *child, enum child_program which, char *const *arguments)
{
    const char *path =
        which == CHILD_SAME ? "/proc/self/exe" : (const char *)(uintptr_t)getauxval(AT_EXECFN);
    int pair[2];
    char number[16];
    if (!message_pair(pair))
        return false;
    snprintf(number, sizeof number, "%d", pair[1]);
    int error = setenv(LINE_VARIABLE, number, 1) == 0 ? 0 : errno;
    if (error == 0)
        error = spawn(&child->pid, pair[1], path, arguments);
    unsetenv(LINE_VARIABLE);
    close(pair[1]);
    child->channel = pair[0];
    if (error == 0)
        return true;
    close(pair[0]);
    *child = (struct child){0};
    errno = error;
    return false;
}

int child_end(struct child *child)
{
    int status = 0;
    if (child->pid == 0)
        return 0;
    close(child->channel);
    /* The signal does not touch a process that has ended, but was not waited for yet. */
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *child = (struct child){0};
    return status;
}

void child_leave(struct child *child)
{
    if (child->pid != 0)
        close(child->channel);
    *child = (struct child){0};
}

int child_own_channel(void)
{
    const char *text = getenv(LINE_VARIABLE);
    int type;
    socklen_t size = sizeof type;
    if (!text)
        return -1;
    const int channel = (int)strtol(text, NULL, 10);
    unsetenv(LINE_VARIABLE);
    /* The variable may be another program's. */
    if (getsockopt(channel, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return -1;
    fcntl(channel, F_SETFD, FD_CLOEXEC);
    return channel;
}
