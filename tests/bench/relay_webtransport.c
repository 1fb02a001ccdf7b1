/* Measures the relay with WebTransport and many native clients: round trips per second of its CPU
   time with one 64-byte datagram outstanding for each, as a ratio against a bare UDP echo under the
   same load; that CPU time as a ratio to that of as many browsers over WebRTC, in turn at the same
   relay; and the memory of a session.

   bench_relay_webtransport [ROUNDS]; relay and client are those of the build that CAUSEWAY_BUILD
   names. */
#define _GNU_SOURCE
#include "relay_bench.h"
#include "rtc_rig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS    50
#define TRIPS      400
#define SECONDS    0.5
#define ROUNDS_MAX 99

struct client {
    pid_t pid;
    FILE *in;
    FILE *out;
};

/* Asks the relay for the path of a session, as a page does. */
static void ask(unsigned port, char path[256])
{
    static const char request[] = "POST /webtransport HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                  "Content-Length: 0\r\n\r\n";
    char reply[4096] = "";
    size_t size = 0;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(fd, request, sizeof request - 1) < 0)
        fail("cannot ask the relay");
    for (ssize_t taken; (taken = read(fd, reply + size, sizeof reply - 1 - size)) > 0;) {
        size += (size_t)taken;
        reply[size] = '\0';
    }
    close(fd);
    const char *at = strstr(reply, "\"path\":\"");
    if (!at || sscanf(at, "\"path\":\"%255[^\"]", path) != 1)
        fail("the relay serves no WebTransport");
}

static void wait_for(struct client *client, const char *name)
{
    char line[4096];
    while (fgets(line, sizeof line, client->out))
        if (strncmp(line, name, strlen(name)) == 0)
            return;
    fail("a client has ended");
}

static void start_client(struct client *client, const char *program, unsigned port,
                         const char *path)
{
    char text[16];
    int in[2];
    int out[2];
    snprintf(text, sizeof text, "%u", port);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        fail("pipe");
    client->pid = fork();
    if (client->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, "127.0.0.1", text, path, "", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    client->in = fdopen(in[1], "w");
    client->out = fdopen(out[0], "r");
    wait_for(client, "stream");
}

static double measure_relay(pid_t relay, struct client *clients)
{
    const double cpu = cpu_seconds(relay);
    for (int i = 0; i < CLIENTS; i++) {
        fprintf(clients[i].in, "echo %d\n", TRIPS);
        fflush(clients[i].in);
    }
    for (int i = 0; i < CLIENTS; i++)
        wait_for(&clients[i], "echoed");
    return CLIENTS * TRIPS / (cpu_seconds(relay) - cpu);
}

/* Returns the round trips per CPU second over WebRTC. */
static double measure_rtc(pid_t relay, struct rtc_rig *rig)
{
    const double cpu = cpu_seconds(relay);
    const unsigned long trips = rtc_rig_run(rig, 64, SECONDS);
    return (double)trips / (cpu_seconds(relay) - cpu);
}

/* Returns the round trips per CPU second of a bare echo. */
static double measure_echo(pid_t echo, unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct epoll_event events[CLIENTS];
    uint8_t data[64] = {0};
    unsigned long trips = 0;
    int fds[CLIENTS];
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < CLIENTS; i++) {
        unsigned own;
        fds[i] = udp_socket(&own);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
        if (connect(fds[i], (struct sockaddr *)&to, sizeof to) != 0 ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) != 0)
            fail("cannot open sockets");
        send(fds[i], data, sizeof data, 0);
    }
    const double start = now(CLOCK_MONOTONIC);
    const double cpu = cpu_seconds(echo);
    while (now(CLOCK_MONOTONIC) - start < SECONDS) {
        const int count = epoll_wait(epoll, events, CLIENTS, 100);
        for (int i = 0; i < count; i++, trips++) {
            recv(events[i].data.fd, data, sizeof data, 0);
            send(events[i].data.fd, data, sizeof data, 0);
        }
    }
    const double rate = (double)trips / (cpu_seconds(echo) - cpu);
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    close(epoll);
    return rate;
}

int main(int argc, char **argv)
{
    const char *const option[2] = {"--rtc", "127.0.0.1"};
    static struct client clients[CLIENTS];
    char program[4096];
    char client[4200];
    char path[256];
    unsigned port;
    unsigned upstream;
    double ratios[ROUNDS_MAX];
    double costs[ROUNDS_MAX];
    struct rtc_rig rig;
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 7;
    const char *build = getenv("CAUSEWAY_BUILD");
    snprintf(client, sizeof client, "%s/tests/relay/test_webtransport_client",
             build ? build : "build/release");
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    if (access(client, X_OK) != 0) {
        fprintf(stderr, "bench_relay_webtransport: this build is without WebTransport\n");
        return 0;
    }
    relay_program(program, sizeof program);
    pin(1);
    const int fd = udp_socket(&upstream);
    const pid_t echo = start_echo(fd, 0);
    setenv("CAUSEWAY_RELAY_WEBTRANSPORT", "yes", 1);
    setenv("CAUSEWAY_RELAY_PEER_RATE", "0", 1);
    const pid_t relay = start_relay(program, upstream, 1000, option, &port);
    ask(port, path);
    start_client(&clients[0], client, port,
                 path); /* not counted: the first needs some memory for all */
    const double memory = resident_bytes(relay);
    for (int i = 1; i < CLIENTS; i++)
        start_client(&clients[i], client, port, path);
    (void)measure_relay(relay, clients);
    printf("webtransport_memory_kb %.1f KiB\n",
           (resident_bytes(relay) - memory) / (CLIENTS - 1) / 1024.0);
    rtc_rig_join(&rig, port, port, NULL);
    if (!rtc_rig_open(&rig, CLIENTS, 60.0))
        fail("not all channels were opened");
    for (unsigned i = 0; i < rounds; i++) {
        const double bare = measure_echo(echo, upstream);
        const double rate = measure_relay(relay, clients);
        ratios[i] = rate / bare;
        costs[i] = measure_rtc(relay, &rig) / rate;
    }
    printf("webtransport_udp_ratio %.3f ratio\n", median(ratios, rounds));
    printf("webtransport_rtc_cost_ratio %.2f ratio\n", median(costs, rounds));
    rtc_rig_close(&rig);
    for (int i = 0; i < CLIENTS; i++) {
        kill(clients[i].pid, SIGKILL);
        waitpid(clients[i].pid, NULL, 0);
    }
    kill(relay, SIGKILL);
    kill(echo, SIGKILL);
    return 0;
}
