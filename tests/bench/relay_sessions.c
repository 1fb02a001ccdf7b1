/* Measures many sessions that say little: 10,000 WebSocket sessions that send a datagram of 64
   bytes once a second to a game server that echoes it, against 100 that together send as many. The
   figures are the share of datagrams lost, what a round trip costs in the relay's CPU time as a
   ratio to that of the 100, and the memory of a session. The runs are interleaved, and the median
   of their ratios is printed. Where a process may not have two files open for each session, there
   are fewer sessions, and a line says so.

   bench_relay_sessions [SESSIONS] */
#define _GNU_SOURCE
#include "relay_bench.h"
#include "websocket_client.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PAYLOAD   64
#define MANY      10000u
#define FEW       100u
#define SPARE     600u /* descriptors of the relay that belong to no session */
#define SECONDS   2.0
#define ROUNDS    3
#define LATE_MS   1000 /* the time for the last replies */
#define EVENTS    256
#define REPLY     (PAYLOAD + 2)
#define PER_EVENT 64 /* replies that are taken at a time */

struct target {
    pid_t pid;
    unsigned sessions;
    int epoll;
    int *fds;
    unsigned long sent;
    unsigned long received;
};

static void say(struct target *target, unsigned index)
{
    const uint8_t data[PAYLOAD] = {0};
    uint8_t frame[PAYLOAD + 8];
    const size_t size = websocket_client_frame(frame, data, PAYLOAD);
    if (send(target->fds[index], frame, size, MSG_NOSIGNAL) != (ssize_t)size)
        fail("send");
    target->sent++;
}

/* Takes what comes within a time. Returns false when nothing has come. */
static bool listen_for(struct target *target, const struct timespec *limit)
{
    struct epoll_event events[EVENTS];
    uint8_t bytes[PER_EVENT * REPLY];
    const int count = epoll_pwait2(target->epoll, events, EVENTS, limit, NULL);
    for (int i = 0; i < count; i++) {
        const ssize_t size = recv(target->fds[events[i].data.u32], bytes, sizeof bytes, 0);
        if (size <= 0 || size % REPLY != 0)
            fail("a reply of another size");
        target->received += (unsigned long)size / REPLY;
    }
    return count > 0;
}

static void await_replies(struct target *target)
{
    const struct timespec limit = {.tv_sec = LATE_MS / 1000};
    while (target->received < target->sent && listen_for(target, &limit))
        continue;
}

/* Opens the sessions; each says something at once, because the relay ends those that ask nothing.
   Returns the bytes of memory that each takes. */
static double open_target(struct target *target, const char *program, unsigned upstream,
                          unsigned sessions, const char *const option[2])
{
    unsigned port;
    *target = (struct target){.sessions = sessions, .epoll = epoll_create1(EPOLL_CLOEXEC)};
    target->pid = start_relay(program, upstream, sessions + FEW, option, &port);
    target->fds = calloc(sessions, sizeof *target->fds);
    if (target->epoll < 0 || !target->fds)
        fail("clients");
    const double before = resident_bytes(target->pid);
    for (unsigned i = 0; i < sessions; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        target->fds[i] = websocket_client_open(port, 0);
        if (target->fds[i] < 0 ||
            epoll_ctl(target->epoll, EPOLL_CTL_ADD, target->fds[i], &event) != 0)
            fail("client");
        say(target, i);
        if (i % FEW == 0)
            await_replies(target);
    }
    await_replies(target);
    return (resident_bytes(target->pid) - before) / sessions;
}

/* Lets the sessions take turns, so that `rate` datagrams go out in a second. Returns the CPU time
   of a round trip. */
static double measure(struct target *target, double rate)
{
    const double start = now(CLOCK_MONOTONIC);
    const double cpu = cpu_seconds(target->pid);
    const unsigned long before = target->received;
    const unsigned long all = (unsigned long)(rate * SECONDS);
    for (unsigned long said = 0; said < all;) {
        const double ahead = start + (double)said / rate - now(CLOCK_MONOTONIC);
        const struct timespec limit = {.tv_nsec = ahead > 0.0 ? (long)(ahead * 1e9) : 0};
        if (ahead <= 0.0)
            say(target, (unsigned)(said++ % target->sessions));
        else
            listen_for(target, &limit);
    }
    await_replies(target);
    if (target->received == before)
        fail("no reply from the relay");
    return (cpu_seconds(target->pid) - cpu) / (double)(target->received - before);
}

/* Returns how many sessions the descriptors allow: each takes two of the relay. */
static unsigned affordable(unsigned sessions)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const unsigned files = limit.rlim_cur < UINT_MAX ? (unsigned)limit.rlim_cur : UINT_MAX;
    if (files / 2 >= sessions + SPARE)
        return sessions;
    if (files < 2 * (FEW + SPARE))
        exit(1);
    const unsigned fewer = files / 2 - SPARE;
    fprintf(stderr, "only %u sessions: a process may only have %u files open\n", fewer, files);
    return fewer;
}

int main(int argc, char **argv)
{
    char program[4096];
    struct target many;
    struct target few;
    unsigned upstream;
    relay_program(program, sizeof program);
    allow_all_files();
    const char *option[] = {"--coalesce-us", "0"};
    const unsigned sessions = affordable(argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : MANY);
    pin(1);
    const pid_t server = start_echo(udp_socket(&upstream), 1);
    open_target(&few, program, upstream, FEW, option);
    const double bytes = open_target(&many, program, upstream, sessions, option);
    double ratios[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        const double cost = measure(&few, sessions);
        ratios[round] = measure(&many, sessions) / cost;
    }
    printf("sessions_10000_cost_ratio %.2f ratio\n", median(ratios, ROUNDS));
    printf("sessions_10000_loss_percent %.3f percent\n",
           100.0 * (double)(many.sent - many.received) / (double)many.sent);
    printf("memory_per_session_kb %.1f KiB\n", bytes / 1024.0);
    kill(many.pid, SIGKILL);
    kill(few.pid, SIGKILL);
    kill(server, SIGKILL);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
