#define _GNU_SOURCE
#include "relay_bench.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

void pin(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sysconf(_SC_NPROCESSORS_ONLN) >= 2)
        sched_setaffinity(0, sizeof set, &set);
}

bool go_first(void)
{
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    return sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
}

double now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail("clock_gettime");
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double cpu_seconds(pid_t pid)
{
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) != 0)
        fail("clock_getcpuclockid");
    return now(clock);
}

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    FILE *file = fopen(path, "re");
    if (!file)
        fail(path);
    return file;
}

double cpu_seconds_with_children(pid_t pid)
{
    char name[32];
    long child;
    double sum = cpu_seconds(pid);
    snprintf(name, sizeof name, "task/%ld/children", (long)pid);
    FILE *children = open_proc(pid, name);
    while (fscanf(children, "%ld", &child) == 1)
        sum += cpu_seconds((pid_t)child);
    fclose(children);
    return sum;
}

double wakeups(pid_t pid)
{
    char line[256];
    long count = -1;
    FILE *file = open_proc(pid, "status");
    while (count < 0 && fgets(line, sizeof line, file))
        sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    fclose(file);
    if (count < 0)
        fail("voluntary_ctxt_switches");
    return (double)count;
}

double resident_bytes(pid_t pid)
{
    long pages = 0;
    FILE *file = open_proc(pid, "statm");
    if (fscanf(file, "%*s %ld", &pages) != 1)
        fail("statm");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

int udp_socket(unsigned *port)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int buffer = 4 << 20;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail("UDP socket");
    *port = ntohs(address.sin_port);
    return fd;
}

pid_t start_echo(int fd, unsigned processor)
{
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid > 0) {
        close(fd);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(processor);
    for (;;) {
        uint8_t data[2048];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t got = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &size);
        if (got >= 0)
            sendto(fd, data, (size_t)got, 0, (struct sockaddr *)&from, size);
    }
}

pid_t start_relay(const char *program, unsigned upstream, unsigned sessions,
                  const char *const option[2], unsigned *port)
{
    int ends[2];
    char target[32];
    char most[16];
    snprintf(most, sizeof most, "%u", sessions);
    snprintf(target, sizeof target, "127.0.0.1:%u", upstream);
    if (pipe(ends) != 0)
        fail("pipe");
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--listen", "127.0.0.1:0", "--upstream", target, "--raw",
              "--upstream-packets", "0", "--upstream-bytes", "0", "--max-sessions", most,
              "--max-sessions-per-address", "0", "--ping-interval", "0", option[0], option[1],
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *log = fdopen(ends[0], "r");
    char line[1024];
    *port = 0;
    while (*port == 0 && log && fgets(line, sizeof line, log)) {
        const char *found = strstr(line, "listening on 127.0.0.1:");
        if (found)
            *port = (unsigned)strtoul(found + strlen("listening on 127.0.0.1:"), NULL, 10);
    }
    if (*port == 0) {
        fprintf(stderr, "%s does not start\n", program);
        exit(1);
    }
    /* The pipe stays open: the relay must be able to write its log. */
    return pid;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

void relay_program(char *out, size_t capacity)
{
    const char *build = getenv("CAUSEWAY_BUILD");
    snprintf(out, capacity, "%s/relay/causeway-relay", build ? build : "build/release");
}

void allow_all_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
