/* Measures round trips per second of server CPU time: the relay with 1, 100 and 1000 WebSocket
   sessions of one 64-byte datagram outstanding each, as a ratio against a bare UDP echo (recvfrom,
   sendto) under the same load; and with --workers 2, as a ratio against the same sessions without.
   The runs are interleaved and the median of their ratios is printed, because other work on the
   machine moves single runs.

   bench_relay_websocket [--relay PROGRAM] [--rounds N] [--seconds S]; the default program is that
   of the build that CAUSEWAY_BUILD names. */
#define _GNU_SOURCE
#include "relay_bench.h"
#include "websocket_client.h"

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define PAYLOAD    64
#define ROUNDS_MAX 99

#define BARE_UDP (-1)

static const struct {
    const char *ratio; /* the key of the figure */
    int against;       /* an earlier case, or BARE_UDP */
    unsigned sessions;
    const char *option[2];
} cases[] = {
    {"ws_1_udp_ratio", BARE_UDP, 1, {"--coalesce-us", "0"}},
    {"ws_100_udp_ratio", BARE_UDP, 100, {"--coalesce-us", "0"}},
    {"ws_1000_udp_ratio", BARE_UDP, 1000, {"--coalesce-us", "0"}},
    {"workers_2_ratio", 1, 100, {"--workers", "2"}},
};
#define CASES (sizeof cases / sizeof cases[0])

/* A server process under load, and the clients that load it. */
struct target {
    pid_t pid;
    unsigned sessions;
    bool websocket;
    int epoll;
    int *fds;
};

static void add_client(struct target *target, unsigned index, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = index};
    if (fd < 0 || epoll_ctl(target->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("client");
    target->fds[index] = fd;
}

static struct target make_target(pid_t pid, unsigned sessions, bool websocket, unsigned port)
{
    struct target target = {.pid = pid, .sessions = sessions, .websocket = websocket};
    target.epoll = epoll_create1(EPOLL_CLOEXEC);
    target.fds = calloc(sessions, sizeof *target.fds);
    if (target.epoll < 0 || !target.fds)
        fail("clients");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned i = 0; i < sessions; i++) {
        int fd;
        if (websocket) {
            fd = websocket_client_open(port, 0);
        } else {
            fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
                fail("connect");
        }
        add_client(&target, i, fd);
    }
    return target;
}

/* Keeps one datagram per session on its way for the given seconds. Returns the round trips of that
   time per second of the server's CPU time. */
static double measure(const struct target *target, double seconds)
{
    uint8_t data[PAYLOAD] = {0};
    uint8_t frame[PAYLOAD + 8];
    uint8_t reply[4096];
    size_t size = websocket_client_frame(frame, data, PAYLOAD);
    const uint8_t *request = target->websocket ? frame : data;
    size_t request_size = target->websocket ? size : PAYLOAD;
    size_t reply_size = target->websocket ? PAYLOAD + 2 : PAYLOAD;
    struct epoll_event events[256];
    unsigned long trips = 0;
    unsigned outstanding = 0;
    double start = now(CLOCK_MONOTONIC);
    double cpu = cpu_seconds_with_children(target->pid);
    bool running = true;
    for (unsigned i = 0; i < target->sessions; i++, outstanding++)
        send(target->fds[i], request, request_size, MSG_NOSIGNAL);
    while (outstanding > 0) {
        int count = epoll_wait(target->epoll, events, 256, 1000);
        if (count <= 0) {
            if (target->websocket)
                fail("no reply from the relay");
            break; /* UDP may lose one */
        }
        if (running && now(CLOCK_MONOTONIC) - start >= seconds)
            running = false;
        for (int i = 0; i < count; i++) {
            int fd = target->fds[events[i].data.u32];
            if (recv(fd, reply, sizeof reply, 0) != (ssize_t)reply_size)
                fail("a reply of another size");
            trips++;
            if (running)
                send(fd, request, request_size, MSG_NOSIGNAL);
            else
                outstanding--;
        }
    }
    cpu = cpu_seconds_with_children(target->pid) - cpu;
    return (double)trips / cpu;
}

/* The targets whose runs are interleaved. */
struct target_set {
    struct target udp[CASES]; /* a bare echo for each case that is compared with one */
    struct target relay[CASES];
};

struct results {
    double rates[CASES][ROUNDS_MAX];
    double ratios[CASES][ROUNDS_MAX];
};

/* Opens the targets. Each session has its first round trip at once, because the relay ends those
   that ask nothing. */
static void open_targets(struct target_set *set, const char *program, pid_t bare,
                         unsigned bare_port, unsigned upstream)
{
    for (size_t i = 0; i < CASES; i++) {
        unsigned port;
        const pid_t pid = start_relay(program, upstream, 2000, cases[i].option, &port);
        set->relay[i] = make_target(pid, cases[i].sessions, true, port);
        measure(&set->relay[i], 0.0);
        if (cases[i].against == BARE_UDP)
            set->udp[i] = make_target(bare, cases[i].sessions, false, bare_port);
    }
}

static void run_round(const struct target_set *set, unsigned round, double seconds,
                      struct results *out)
{
    for (size_t i = 0; i < CASES; i++) {
        const double standard = cases[i].against == BARE_UDP ? measure(&set->udp[i], seconds / 2)
                                                             : out->rates[cases[i].against][round];
        out->rates[i][round] = measure(&set->relay[i], seconds);
        out->ratios[i][round] = out->rates[i][round] / standard;
    }
}

static void print_results(struct results *results, unsigned rounds)
{
    for (size_t i = 0; i < CASES; i++) {
        printf("%s %.3f ratio\n", cases[i].ratio, median(results->ratios[i], rounds));
        if (cases[i].against == BARE_UDP)
            printf("ws_%u_round_trips %.0f per-cpu-second\n", cases[i].sessions,
                   median(results->rates[i], rounds));
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"relay", required_argument, NULL, 'p'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {0}};
    char program[4096];
    relay_program(program, sizeof program);
    unsigned rounds = 7;
    double seconds = 0.5;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'p')
            snprintf(program, sizeof program, "%s", optarg);
        else if (option == 'r')
            rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            seconds = strtod(optarg, NULL);
        else
            return 2;
    }
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    allow_all_files();
    pin(1);

    unsigned port;
    unsigned upstream;
    int fd = udp_socket(&port);
    pid_t bare = start_echo(fd, 0);
    fd = udp_socket(&upstream);
    pid_t server = start_echo(fd, 1);
    static struct target_set set;
    static struct results results;
    open_targets(&set, program, bare, port, upstream);
    for (unsigned round = 0; round < rounds; round++)
        run_round(&set, round, seconds, &results);
    print_results(&results, rounds);
    for (size_t i = 0; i < CASES; i++)
        kill(set.relay[i].pid, SIGKILL);
    kill(bare, SIGKILL);
    kill(server, SIGKILL);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
