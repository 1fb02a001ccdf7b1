/* Measures the relay with WebRTC data channels: round trips per second of its CPU time with 100
   browsers of one 64-byte datagram outstanding each, as a ratio against a bare UDP echo (recvfrom,
   sendto) under the same load; what a set-up costs; instructions per datagram. The runs for the
   ratio are interleaved and the median is printed, because other work on the machine moves single
   runs. A browser's side takes more time than the relay's, so it is the relay that waits.

   bench_rtc_channel [ROUNDS [RELAY]]; the default relay is that of the build that CAUSEWAY_BUILD
   names. */
#define _GNU_SOURCE
#include "rtc_count.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BROWSERS   100
#define PAYLOAD    64
#define ROUNDS_MAX 99
#define SECONDS    0.5
#define SET_UPS    300
#define FEW_TRIPS  20
#define MORE_TRIPS 120

static char program[4096];

static void fail(const char *what)
{
    fprintf(stderr, "bench_rtc_channel: %s\n", what);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* Returns the round trips per CPU second of a bare echo. */
static double measure_echo(pid_t echo, const int *fds, int epoll)
{
    struct epoll_event events[BROWSERS];
    uint8_t data[PAYLOAD] = {0};
    unsigned long trips = 0;
    const double start = rtc_rig_now();
    const double cpu = rtc_rig_cpu(echo);
    for (unsigned i = 0; i < BROWSERS; i++)
        send(fds[i], data, sizeof data, 0);
    for (unsigned waiting = BROWSERS; waiting > 0;) {
        const bool running = rtc_rig_now() - start < SECONDS;
        const int count = epoll_wait(epoll, events, BROWSERS, 1000);
        if (count <= 0)
            break; /* UDP may lose one */
        for (int i = 0; i < count; i++) {
            recv(events[i].data.fd, data, sizeof data, 0);
            trips++;
            if (running)
                send(events[i].data.fd, data, sizeof data, 0);
            else
                waiting--;
        }
    }
    return (double)trips / (rtc_rig_cpu(echo) - cpu);
}

static double measure_relay(struct rtc_rig *rig)
{
    const double cpu = rtc_rig_cpu(rig->relay);
    const unsigned long trips = rtc_rig_run(rig, PAYLOAD, SECONDS);
    return (double)trips / (rtc_rig_cpu(rig->relay) - cpu);
}

static void measure_ratio(struct rtc_rig *rig, unsigned rounds)
{
    unsigned port;
    int fds[BROWSERS];
    double ratios[ROUNDS_MAX];
    double rates[ROUNDS_MAX];
    const pid_t echo = rtc_rig_start_echo(0, &port);
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned i = 0; i < BROWSERS; i++) {
        fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
        if (fds[i] < 0 || connect(fds[i], (struct sockaddr *)&address, sizeof address) != 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) != 0)
            fail("cannot open sockets");
    }
    for (unsigned i = 0; i < rounds; i++) {
        const double bare = measure_echo(echo, fds, epoll);
        rates[i] = measure_relay(rig);
        ratios[i] = rates[i] / bare;
    }
    printf("udp_ratio %.3f ratio\n", median(ratios, rounds));
    printf("round_trips %.0f per-cpu-second\n", median(rates, rounds));
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    for (unsigned i = 0; i < BROWSERS; i++)
        close(fds[i]);
    close(epoll);
}

static void measure_set_up(struct rtc_rig *rig)
{
    if (!rtc_rig_open(rig, 1, 10.0))
        fail("no channel");
    rtc_rig_close(rig);
    const double cpu = rtc_rig_cpu(rig->relay);
    if (!rtc_rig_open(rig, SET_UPS, 60.0))
        fail("not all channels were opened");
    printf("setup_cpu_ms %.3f ms\n", (rtc_rig_cpu(rig->relay) - cpu) * 1e3 / SET_UPS);
    rtc_rig_close(rig);
}

/* Returns all instructions that the relay executes when one browser makes the round trips. */
static double count_instructions(unsigned trips)
{
    struct rtc_count count;
    struct rtc_rig rig;
    rtc_count_start(&count, &rig, program);
    if (!rtc_rig_open(&rig, 1, 60.0) || !rtc_rig_echo(&rig, trips, 100, 60.0))
        fail("the relay under valgrind is stuck");
    const struct rtc_work work = rtc_count_read(&count);
    rtc_rig_close(&rig);
    rtc_count_stop(&count);
    return work.instructions;
}

int main(int argc, char **argv)
{
    const char *build = getenv("CAUSEWAY_BUILD");
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 7;
    snprintf(program, sizeof program, "%s/relay/causeway-relay", build ? build : "build/release");
    if (argc > 2)
        snprintf(program, sizeof program, "%s", argv[2]);
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);

    struct rtc_rig rig;
    rtc_rig_pin(1);
    rtc_rig_start(&rig, program, "", "127.0.0.1");
    measure_set_up(&rig);
    if (!rtc_rig_open(&rig, BROWSERS, 60.0))
        fail("not all channels were opened");
    measure_ratio(&rig, rounds);
    rtc_rig_close(&rig);
    rtc_rig_stop(&rig);

    /* A round trip is two datagrams: one from the browser, one to it. */
    const double trip =
        (count_instructions(MORE_TRIPS) - count_instructions(FEW_TRIPS)) / (MORE_TRIPS - FEW_TRIPS);
    printf("instructions_100 %.0f instructions\n", trip / 2.0);
    printf("round_trip_100_instructions %.0f instructions\n", trip);
    return 0;
}
