/* The processes that the watchdog ends, and those that it leaves alone. */
#include "fixture.h"

#include "process/watchdog.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 0.4

/* The variable is volatile, or the compiler would make a nameless copy of the function for this
   value. */
static volatile double for_ever = 60.0;

static double processor_time(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Works for so long in one turn. The name of the function must be in the stack. */
void work_without_a_turn(double seconds) __attribute__((noinline));

void work_without_a_turn(double seconds)
{
    double until = processor_time() + seconds;
    while (processor_time() < until)
        ;
}

static void never_turn(void)
{
    work_without_a_turn(for_ever);
}

static void work_in_turns(void)
{
    for (int i = 0; i < 20; i++) {
        work_without_a_turn(SECONDS / 4);
        watchdog_turn();
    }
}

static void wait_for_long(void)
{
    struct timespec time = {.tv_sec = (time_t)(4 * SECONDS), .tv_nsec = 500000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static void stop_in_a_turn(void)
{
    work_without_a_turn(SECONDS / 4);
    raise(SIGSTOP);
    work_without_a_turn(SECONDS / 4);
    watchdog_turn();
}

static void stop_the_watchdog(void)
{
    watchdog_stop();
    work_without_a_turn(3 * SECONDS);
}

/* The rest of the program may have blocked all signals. */
static void never_turn_with_signals_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    assert_true(watchdog_start(SECONDS));
    work_without_a_turn(for_ever);
}

/* Runs it with the watchdog in a child whose standard error goes to `error`, and returns how the
   child ended. A child that stops is continued after a while. */
static int run(void (*child)(void), int error)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(error, STDERR_FILENO);
        if (!watchdog_start(SECONDS))
            _exit(2);
        child();
        _exit(0);
    }
    int status;
    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
        struct timespec time = {.tv_sec = 1};
        nanosleep(&time, NULL);
        kill(pid, SIGCONT);
    }
    return status;
}

static void assert_left_alone(void (*child)(void))
{
    int status = run(child, STDERR_FILENO);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void assert_ended(void (*child)(void))
{
    int ends[2];
    static char text[65536];
    assert_int_equal(pipe(ends), 0);
    int status = run(child, ends[1]);
    close(ends[1]);
    size_t size = 0;
    ssize_t more;
    while ((more = read(ends[0], text + size, sizeof text - 1 - size)) > 0)
        size += (size_t)more;
    close(ends[0]);
    text[size] = '\0';
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "the event loop has not turned for 0.4 seconds of work"));
    assert_non_null(strstr(text, "work_without_a_turn"));
}

TEST(a_loop_that_does_not_turn_is_ended_and_its_stack_told)
{
    assert_ended(never_turn);
    assert_ended(never_turn_with_signals_blocked);
}

TEST(one_that_works_or_waits_is_left_alone)
{
    assert_left_alone(work_in_turns);
    assert_left_alone(wait_for_long);
    assert_left_alone(stop_in_a_turn);
    assert_left_alone(stop_the_watchdog);
}

TEST(it_ends_also_when_nobody_reads_its_stack)
{
    int ends[2];
    static const char filler[1 << 20];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], filler, sizeof filler) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    int status = run(never_turn, ends[1]);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
    close(ends[1]);
}
