/* Programs that a test starts, and whose output it reads. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The seconds after which a program ends by itself, far more than anything takes; only failing
   tests reach it. */
#define PROGRAM_SECONDS 60

/* Starts a program with up to two arguments, NULL for none. Returns its output. */
static inline FILE *program_start(const char *program, const char *first, const char *second,
                                  pid_t *process)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *process = fork();
    assert_true(*process >= 0);
    if (*process == 0) {
        alarm(PROGRAM_SECONDS);
        dup2(ends[1], STDOUT_FILENO);
        execl(program, program, first, second, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

static inline void program_stop(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

/* Asserts that a program ends by itself, with 0. */
static inline void program_ends(pid_t process)
{
    int status;
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Reads lines up to one with this text, which it returns without the end of the line. */
static inline const char *program_says(FILE *output, const char *text)
{
    static char line[256];
    do {
        if (!fgets(line, sizeof line, output))
            fail_msg("the program has ended and not said: %s", text);
        line[strcspn(line, "\n")] = 0;
    } while (!strstr(line, text));
    return line;
}

#endif
