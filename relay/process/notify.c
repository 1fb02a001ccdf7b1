#include "process/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Seconds for the manager to take a state. */
#define WAIT_SECONDS 1

#define STATE_MAX 128

static int manager = -1; /* a socket that is connected to the manager */
static struct loop *watched;
static struct loop_timer timer;
static double interval; /* seconds between two messages to its watchdog */

/* Connects to "/path", or to "@name", which is in no file system. */
static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval wait = {.tv_sec = WAIT_SECONDS};
    const size_t size = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || size >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, name, size);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Tells the watchdog that the loop turns. Does not wait: if this message is lost, the next one is
   in time. */
static void on_timer(void *context)
{
    static const char state[] = "WATCHDOG=1";
    (void)context;
    (void)!send(manager, state, sizeof state - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    loop_timer_start(watched, &timer, interval);
}

/* Returns the seconds in which the manager wants to hear from this process; 0 = it does not. */
static double watchdog_seconds(void)
{
    const char *time = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    if (!time || (pid && strtol(pid, NULL, 10) != (long)getpid()))
        return 0.0;
    unsetenv("WATCHDOG_PID"); /* a successor is another process */
    return strtod(time, NULL) / 1e6;
}

void notify_open(struct loop *loop)
{
    const char *name = getenv("NOTIFY_SOCKET");
    manager = name ? connect_to(name) : -1;
    if (manager < 0)
        return;
    watched = loop;
    interval = watchdog_seconds() / 2.0;
    timer = (struct loop_timer){.expired = on_timer};
    if (interval > 0.0)
        loop_timer_start(loop, &timer, interval);
}

void notify_send(const char *format, ...)
{
    char state[STATE_MAX];
    va_list arguments;
    if (manager < 0)
        return;
    va_start(arguments, format);
    const int size = vsnprintf(state, sizeof state, format, arguments);
    va_end(arguments);
    if (size > 0 && size < STATE_MAX)
        (void)!send(manager, state, (size_t)size, MSG_NOSIGNAL);
}

void notify_reloading(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    notify_send("RELOADING=1\nMONOTONIC_USEC=%lld", now.tv_sec * 1000000LL + now.tv_nsec / 1000);
}

void notify_close(void)
{
    loop_timer_stop(&timer);
    if (manager >= 0)
        close(manager);
    manager = -1;
}
