/* Emscripten compiles two things from C, so that causeway_sockets.js cannot take their place:
   setsockopt, which takes no option at all, and sleeping, in which the page stands still, so that
   no datagram arrives. C and C++ both compile this file. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime, also with -std=c11 */
#endif
#include <errno.h>
#include <sys/socket.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* causeway_sockets.js defines these two. The first gives 0 or a negative error number, the second
   whether it has slept: without -sASYNCIFY it cannot. */
int causeway_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int causeway_sleep(double milliseconds);

/* Emscripten declares this one. nanosleep, usleep, sleep, and those of C++ all come to
 * __clock_nanosleep. */
void emscripten_thread_sleep(double milliseconds);
int __clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                      struct timespec *left);

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    const int result = causeway_setsockopt(fd, level, name, value, size);
    if (result == 0)
        return 0;
    errno = -result;
    return -1;
}

int __clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                      struct timespec *left)
{
    double milliseconds = (double)time->tv_sec * 1e3 + (double)time->tv_nsec * 1e-6;
    struct timespec now;
    if (time->tv_nsec < 0 || time->tv_nsec > 999999999 || clock_gettime(clock, &now) != 0)
        return EINVAL;
    if (flags & TIMER_ABSTIME)
        milliseconds -= (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    if (milliseconds < 0)
        milliseconds = 0;
    if (!causeway_sleep(milliseconds))
        emscripten_thread_sleep(milliseconds);
    (void)left; /* nothing interrupts a sleep */
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    return __clock_nanosleep(clock, flags, time, left);
}

#ifdef __cplusplus
}
#endif
