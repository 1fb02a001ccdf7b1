#include "process/watchdog.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The number of times that the watchdog looks in the time that a turn may take. */
#define LOOKS 4

#define FRAMES_MAX 64

/* Seconds in which the report must be written: standard error may be a pipe that nobody reads. */
#define REPORT_SECONDS 2

static volatile sig_atomic_t turned;
static volatile sig_atomic_t looks; /* looks since the last turn */
static char complaint[128];

static void report_and_end(void)
{
    void *frames[FRAMES_MAX];
    signal(SIGALRM, SIG_DFL);
    alarm(REPORT_SECONDS);
    ssize_t written = write(STDERR_FILENO, complaint, strlen(complaint));
    (void)written;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
    abort();
}

static void look(int signal_number)
{
    (void)signal_number;
    looks = turned ? 0 : looks + 1;
    turned = 0;
    if (looks >= LOOKS)
        report_and_end();
}

static bool set_timer(double seconds)
{
    struct itimerval time = {0};
    time.it_interval.tv_sec = (time_t)seconds;
    time.it_interval.tv_usec = (suseconds_t)((seconds - (double)time.it_interval.tv_sec) * 1e6);
    time.it_value = time.it_interval;
    return setitimer(ITIMER_PROF, &time, NULL) == 0;
}

bool watchdog_start(double seconds)
{
    /* SA_RESTART, so that the rest of the program need not know of the signal. */
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    sigset_t set;
    void *frame;
    /* The first call loads the library that later ones need, in a signal handler. */
    backtrace(&frame, 1);
    snprintf(complaint, sizeof complaint,
             "causeway-relay: the event loop has not turned for %g seconds of work; its stack:\n",
             seconds);
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGALRM);
    turned = 1;
    return sigaction(SIGPROF, &action, NULL) == 0 && sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 &&
           set_timer(seconds / LOOKS);
}

void watchdog_turn(void)
{
    turned = 1;
}

void watchdog_stop(void)
{
    set_timer(0.0);
}
