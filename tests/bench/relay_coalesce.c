/* Measures what gathering saves at a real load: 100 WebSocket sessions each send a datagram of 64
   bytes 60 times a second, each in its own phase, to a game server that echoes it. The figures are
   round trips per second of the relay's CPU time with --coalesce-us 300 and 1000, as ratios to
   those without, the wake-ups of the relay for a round trip, and what gathering adds to the
   round-trip time. The runs are interleaved, and the medians of their ratios printed.

   Other work that keeps a relay waiting for its processor gathers datagrams too, most of all for
   the relay without --coalesce-us. So relays, clients and server run at real-time priority, where
   the system allows it.

   bench_relay_coalesce takes no arguments. */
#define _GNU_SOURCE
#include "relay_bench.h"
#include "websocket_client.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define PAYLOAD  64
#define SESSIONS 100
#define RATE     60.0 /* datagrams a second of each session */
#define SECONDS  0.75
#define ROUNDS   7
#define TRIPS    8192 /* more round trips than a run has */

static const char *const coalesced[] = {"0", "300", "1000"}; /* microseconds */
#define CASES (sizeof coalesced / sizeof coalesced[0])

struct target {
    pid_t pid;
    int epoll;
    int fds[SESSIONS];
    double due[SESSIONS]; /* the time when each session sends next */
};

/* The figures of one run. */
struct result {
    double per_cpu_second;
    double wakeups_per_trip;
    double rtt_p50_ms;
    double rtt_p99_ms;
};

static void open_target(struct target *target, pid_t pid, unsigned port)
{
    target->pid = pid;
    target->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < SESSIONS; i++) {
        target->fds[i] = websocket_client_open(port, 0);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        if (target->fds[i] < 0 ||
            epoll_ctl(target->epoll, EPOLL_CTL_ADD, target->fds[i], &event) != 0)
            fail("client");
    }
}

/* Sends what is due; each datagram says when it was sent. */
static void send_due(struct target *target, double time)
{
    for (unsigned i = 0; i < SESSIONS; i++) {
        uint8_t data[PAYLOAD] = {0};
        uint8_t frame[PAYLOAD + 8];
        if (target->due[i] > time)
            continue;
        memcpy(data, &time, sizeof time);
        const size_t size = websocket_client_frame(frame, data, PAYLOAD);
        if (send(target->fds[i], frame, size, MSG_NOSIGNAL) != (ssize_t)size)
            fail("send");
        target->due[i] += 1.0 / RATE;
    }
}

static double next_due(const struct target *target)
{
    double first = target->due[0];
    for (unsigned i = 1; i < SESSIONS; i++)
        first = target->due[i] < first ? target->due[i] : first;
    return first;
}

/* Takes replies, several of which may come in one piece. */
static unsigned take(int fd, double *trips)
{
    uint8_t bytes[4096];
    unsigned count = 0;
    const ssize_t size = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    const double time = now(CLOCK_MONOTONIC);
    if (size <= 0 || size % (PAYLOAD + 2) != 0)
        fail("a reply of another size");
    for (ssize_t at = 0; at < size; at += PAYLOAD + 2) {
        double sent;
        memcpy(&sent, bytes + at + 2, sizeof sent);
        trips[count++] = (time - sent) * 1e3;
    }
    return count;
}

static struct result measure(struct target *target)
{
    static double trips[TRIPS + 64];
    struct epoll_event events[SESSIONS];
    unsigned count = 0;
    const double start = now(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < SESSIONS; i++)
        target->due[i] = start + drand48() / RATE;
    const double cpu = cpu_seconds(target->pid);
    const double woken = wakeups(target->pid);
    for (double time = start; time < start + SECONDS; time = now(CLOCK_MONOTONIC)) {
        send_due(target, time);
        const double wait = next_due(target) - now(CLOCK_MONOTONIC);
        const struct timespec limit = {.tv_nsec = wait > 0.0 ? (long)(wait * 1e9) : 0};
        const int ready = epoll_pwait2(target->epoll, events, SESSIONS, &limit, NULL);
        for (int i = 0; i < ready && count < TRIPS; i++)
            count += take(target->fds[events[i].data.u32], trips + count);
    }
    struct result result = {.per_cpu_second = count / (cpu_seconds(target->pid) - cpu)};
    if (count == 0)
        fail("no reply from the relay");
    result.wakeups_per_trip = (wakeups(target->pid) - woken) / count;
    result.rtt_p50_ms = median(trips, count);
    result.rtt_p99_ms = trips[count * 99 / 100];
    /* Replies that are still on their way belong to no run. */
    while (epoll_wait(target->epoll, events, 1, 50) > 0)
        take(target->fds[events[0].data.u32], trips);
    return result;
}

int main(void)
{
    char program[4096];
    struct target targets[CASES];
    unsigned upstream;
    relay_program(program, sizeof program);
    allow_all_files();
    pin(1);
    if (!go_first())
        fprintf(stderr, "%s: no real-time priority (%s): other work will move the figures\n",
                program_invocation_short_name, strerror(errno));
    srand48(1);
    const pid_t server = start_echo(udp_socket(&upstream), 1);
    for (size_t i = 0; i < CASES; i++) {
        unsigned port;
        const char *const option[] = {"--coalesce-us", coalesced[i]};
        const pid_t pid = start_relay(program, upstream, 2000, option, &port);
        open_target(&targets[i], pid, port);
    }
    double gains[CASES][ROUNDS];
    double woken[CASES][ROUNDS];
    double p50[CASES][ROUNDS];
    double p99[CASES][ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        double plain = 1.0;
        for (size_t i = 0; i < CASES; i++) {
            const struct result result = measure(&targets[i]);
            plain = i == 0 ? result.per_cpu_second : plain;
            gains[i][round] = result.per_cpu_second / plain;
            woken[i][round] = result.wakeups_per_trip;
            p50[i][round] = result.rtt_p50_ms;
            p99[i][round] = result.rtt_p99_ms;
        }
    }
    printf("ws_100_coalesced_gain %.2f ratio\n", median(gains[1], ROUNDS));
    for (size_t i = 0; i < CASES; i++) {
        if (i != 1)
            printf("ws_100_coalesced_%s_gain %.2f ratio\n", coalesced[i], median(gains[i], ROUNDS));
        printf("ws_100_coalesced_%s_wakeups_per_trip %.2f wakeups\n", coalesced[i],
               median(woken[i], ROUNDS));
        printf("ws_100_coalesced_%s_rtt_p50_ms %.2f ms\n", coalesced[i], median(p50[i], ROUNDS));
        printf("ws_100_coalesced_%s_rtt_p99_ms %.2f ms\n", coalesced[i], median(p99[i], ROUNDS));
    }
    for (size_t i = 0; i < CASES; i++)
        kill(targets[i].pid, SIGKILL);
    kill(server, SIGKILL);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
