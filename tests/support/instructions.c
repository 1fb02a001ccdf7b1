#define _GNU_SOURCE
#include "instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "CAUSEWAY_INSTRUCTIONS"

static unsigned files; /* the number of files that callgrind has written */

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "instructions: %s %s\n", what, path);
    exit(1);
}

/* Callgrind writes its counters to a new file before each call of this, and begins at zero. */
void instructions_mark(void);

__attribute__((noinline)) void instructions_mark(void)
{
    __asm__ volatile("");
    files++;
}

/* Waits for the program under callgrind and removes the file that callgrind writes at its end. */
static void wait_for(pid_t child, const char *folder)
{
    char path[128];
    int status = 0;
    waitpid(child, &status, 0);
    snprintf(path, sizeof path, "%s/count", folder);
    unlink(path);
    rmdir(folder);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

void instructions_begin(char **argv)
{
    char folder[] = "/tmp/causeway-instructions-XXXXXX";
    char out[128];
    if (getenv(FOLDER))
        return;
    if (!mkdtemp(folder))
        fail("cannot make", folder);
    const pid_t child = fork();
    if (child > 0)
        wait_for(child, folder);
    setenv(FOLDER, folder, 1);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/count", folder);
    execlp("valgrind", "valgrind", "--quiet", "--tool=callgrind", "--dump-before=instructions_mark",
           out, "--", argv[0], (char *)NULL);
    fail("cannot start", "valgrind");
}

static void path_of(char path[128], unsigned file)
{
    snprintf(path, 128, "%s/count.%u", getenv(FOLDER), file);
}

void instructions_start(void)
{
    instructions_mark();
}

double instructions_stop(void)
{
    char path[128], line[4096];
    double count = 0;
    instructions_mark();
    path_of(path, files - 1);
    unlink(path); /* the file is from instructions_start */
    path_of(path, files);
    FILE *file = fopen(path, "r");
    if (!file)
        fail("callgrind has not written", path);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "totals: %lf", &count) == 1)
            break;
    fclose(file);
    unlink(path);
    return count;
}
