#define _GNU_SOURCE
#include "rtc_rig.h"

#include "page_ticket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPEAT_SECONDS 0.5

static void fail(const char *what)
{
    fprintf(stderr, "rtc_rig: %s: %s\n", what, strerror(errno));
    exit(1);
}

double rtc_rig_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double rtc_rig_cpu(pid_t pid)
{
    struct timespec time;
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        fail("processor time");
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

long rtc_rig_memory(const struct rtc_rig *rig)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)rig->relay);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        fail(path);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

void rtc_rig_pin(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sysconf(_SC_NPROCESSORS_ONLN) >= 2)
        sched_setaffinity(0, sizeof set, &set);
}

pid_t rtc_rig_start_echo(unsigned processor, unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int buffer = 4 << 20;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        fail("echo");
    *port = ntohs(address.sin_port);
    const pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid > 0) {
        close(fd);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rtc_rig_pin(processor);
    for (;;) {
        uint8_t data[2048];
        size = sizeof address;
        const ssize_t got = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&address, &size);
        if (got >= 0)
            sendto(fd, data, (size_t)got, 0, (struct sockaddr *)&address, size);
    }
}

static void init(struct rtc_rig *rig, const char *host)
{
    struct rlimit limit;
    *rig = (struct rtc_rig){.host = host};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    rtc_identity_create(&rig->identity);
    rig->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (rig->epoll < 0)
        fail("epoll");
}

void rtc_rig_start(struct rtc_rig *rig, const char *program, const char *wrapper, const char *host)
{
    unsigned upstream;
    int ends[2];
    char command[1024];
    const bool v6 = strchr(host, ':') != NULL;
    init(rig, host);
    rig->echo = rtc_rig_start_echo(1, &upstream);
    snprintf(
        command, sizeof command,
        "exec %s %s --listen %s%s%s:0 --rtc %s%s%s:0 --upstream 127.0.0.1:%u --max-sessions 2100 "
        "--max-sessions-per-address 0 --peer-rate 0 --upstream-packets 0 "
        "--upstream-bytes 0 --raw --request-timeout 3600 --drain-timeout 0",
        wrapper, program, v6 ? "[" : "", host, v6 ? "]" : "", v6 ? "[" : "", host, v6 ? "]" : "",
        upstream);
    if (pipe(ends) != 0)
        fail("pipe");
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20); /* a line for each browser, which nobody reads yet */
    rig->relay = fork();
    if (rig->relay < 0)
        fail("fork");
    if (rig->relay == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        rtc_rig_pin(0);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    rig->log = fdopen(ends[0], "r");
    char line[4096];
    while (rig->port == 0 && rig->log && fgets(line, sizeof line, rig->log)) {
        const char *port = strrchr(line, ':');
        if (strstr(line, "webrtc on udp "))
            rig->rtc_port = (unsigned)strtoul(port + 1, NULL, 10);
        if (strstr(line, "listening on "))
            rig->port = (unsigned)strtoul(port + 1, NULL, 10);
    }
    /* The pipe stays open: the relay must be able to write its log. */
    if (rig->port == 0) {
        fprintf(stderr, "rtc_rig: the relay does not start: %s\n", command);
        exit(1);
    }
}

void rtc_rig_join(struct rtc_rig *rig, unsigned port, unsigned rtc_port, const char *from)
{
    init(rig, "127.0.0.1");
    rig->from = from;
    rig->port = port;
    rig->rtc_port = rtc_port;
}

/* Takes over the counters from a line of the log, if it has them. */
static void read_stats(const char *line, struct stats *stats)
{
    if (!strstr(line, " stats "))
        return;
#define READ(name, help)                                                                           \
    {                                                                                              \
        const char *at = strstr(line, " " #name "=");                                              \
        stats->name = at ? strtoull(strchr(at, '=') + 1, NULL, 10) : 0;                            \
    }
    STATS(READ)
#undef READ
}

bool rtc_rig_adds_up(const struct rtc_rig *rig)
{
    const struct stats *stats = &rig->stats;
    uint64_t to_server = stats->forwarded_datagrams;
    uint64_t to_browsers = stats->delivered_datagrams;
#define ADD_TO_SERVER(name, help)  to_server += stats->name;
#define ADD_TO_BROWSER(name, help) to_browsers += stats->name;
    STATS_DROPPED_TO_SERVER(ADD_TO_SERVER)
    STATS_DROPPED_TO_BROWSER(ADD_TO_BROWSER)
#undef ADD_TO_SERVER
#undef ADD_TO_BROWSER
    printf("%" PRIu64 " from browsers: %" PRIu64 " forwarded or dropped; %" PRIu64
           " from the server: %" PRIu64 " delivered or dropped\n",
           stats->client_datagrams, to_server, stats->upstream_datagrams, to_browsers);
    return stats->client_datagrams > 0 && stats->client_datagrams == to_server &&
           stats->upstream_datagrams == to_browsers;
}

void rtc_rig_read_stats(struct rtc_rig *rig)
{
    char line[4096] = "";
    kill(rig->relay, SIGUSR1);
    while (!strstr(line, " stats ") && fgets(line, sizeof line, rig->log))
        read_stats(line, &rig->stats);
}

int rtc_rig_stop(struct rtc_rig *rig)
{
    int status = 0;
    char line[4096];
    kill(rig->relay, SIGTERM);
    waitpid(rig->relay, &status, 0);
    while (fgets(line, sizeof line, rig->log))
        read_stats(line, &rig->stats);
    fclose(rig->log);
    kill(rig->echo, SIGKILL);
    waitpid(rig->echo, NULL, 0);
    rtc_identity_destroy(&rig->identity);
    close(rig->epoll);
    free(rig->browsers);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static socklen_t parse_address(const char *host, unsigned port, struct sockaddr_storage *out)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof v4);
        return sizeof v4;
    }
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) != 1)
        fail(host);
    memcpy(out, &v6, sizeof v6);
    return sizeof v6;
}

/* Opens a socket from an address (NULL: any) to a port of the relay. */
static int connect_to(const struct rtc_rig *rig, int type, const char *from, unsigned port)
{
    struct sockaddr_storage there;
    struct sockaddr_storage here;
    const socklen_t size = parse_address(rig->host, port, &there);
    const int fd = socket(there.ss_family, type | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        (from && bind(fd, (struct sockaddr *)&here, parse_address(from, 0, &here)) != 0) ||
        connect(fd, (struct sockaddr *)&there, size) != 0)
        fail("connect");
    return fd;
}

int rtc_rig_socket(const struct rtc_rig *rig, const char *address)
{
    return connect_to(rig, SOCK_DGRAM, address, rig->rtc_port);
}

/* Copies the rest of the line after `name`. */
static void copy_line(const char *text, const char *name, char *out, size_t capacity)
{
    const char *at = strstr(text, name);
    if (!at) {
        fprintf(stderr, "rtc_rig: no %s in the answer:\n%s\n", name, text);
        exit(1);
    }
    at += strlen(name);
    snprintf(out, capacity, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static void signal_offer(struct rtc_rig *rig, struct rtc_browser *browser)
{
    char offer[1024];
    char request[2048];
    char reply[8192];
    char ufrag[64];
    size_t size = rtc_client_offer(&browser->client, "brow", offer, sizeof offer);
    const int fd = connect_to(rig, SOCK_STREAM, rig->from, rig->port);
    const int length = snprintf(request, sizeof request,
                                "POST /rtc HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n"
                                "Content-Type: application/sdp\r\nContent-Length: %zu\r\n\r\n%s",
                                size, offer);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        fail("POST");
    size = 0;
    ssize_t got;
    while (size + 1 < sizeof reply &&
           (got = recv(fd, reply + size, sizeof reply - 1 - size, 0)) > 0)
        size += (size_t)got;
    reply[size] = '\0';
    close(fd);
    copy_line(reply, "a=ice-ufrag:", ufrag, sizeof ufrag);
    copy_line(reply, "a=x-causeway-ticket:", browser->ticket, sizeof browser->ticket);
    copy_line(reply, "a=ice-pwd:", browser->client.password, sizeof browser->client.password);
    snprintf(browser->client.username, sizeof browser->client.username, "%s:brow", ufrag);
}

static void on_send(void *context, const uint8_t *data, size_t size)
{
    const struct rtc_browser *browser = context;
    send(browser->fd, data, size, MSG_NOSIGNAL);
}

static void on_message(void *context, const uint8_t *data, size_t size)
{
    struct rtc_browser *browser = context;
    (void)data;
    if (browser->awaited > 0 && size != browser->awaited)
        return;
    browser->echoed++;
    browser->last_size = size;
}

static void watch(struct rtc_rig *rig, struct rtc_browser *browser)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = browser};
    if (epoll_ctl(rig->epoll, EPOLL_CTL_ADD, browser->fd, &event) != 0)
        fail("epoll");
}

static struct rtc_browser *add(struct rtc_rig *rig)
{
    struct rtc_browser *browser = calloc(1, sizeof *browser);
    struct rtc_browser **more = realloc(rig->browsers, (rig->count + 1) * sizeof *rig->browsers);
    if (!browser || !more)
        fail("memory");
    browser->client = (struct rtc_client){.identity = &rig->identity,
                                          .kind = 0x81,
                                          .send = on_send,
                                          .message = on_message,
                                          .context = browser};
    browser->fd = rtc_rig_socket(rig, rig->from);
    watch(rig, browser);
    rig->browsers = more;
    rig->browsers[rig->count++] = browser;
    rtc_client_open(&browser->client);
    return browser;
}

struct rtc_browser *rtc_rig_offer(struct rtc_rig *rig)
{
    struct rtc_browser *browser = add(rig);
    signal_offer(rig, browser);
    return browser;
}

struct rtc_browser *rtc_rig_claim(struct rtc_rig *rig, const struct rtc_browser *other)
{
    struct rtc_browser *browser = add(rig);
    struct rtc_client *client = &browser->client;
    struct page_ticket page = {.text = other->ticket, .server = ""};
    memcpy(page.fingerprint, rig->identity.fingerprint, sizeof page.fingerprint);
    page_ticket_redeem(&page);
    snprintf(client->username, sizeof client->username, "%s:brow", page.ufrag);
    memcpy(client->password, other->client.password, sizeof client->password);
    return browser;
}

void rtc_rig_move(struct rtc_rig *rig, struct rtc_browser *browser, const char *address)
{
    close(browser->fd);
    browser->fd = rtc_rig_socket(rig, address);
    watch(rig, browser);
}

/* Hands on what has come, after waiting for it for so many milliseconds; calls `then` for each
   browser that got something. */
static void serve(struct rtc_rig *rig, int wait,
                  void (*then)(struct rtc_browser *browser, void *context), void *context)
{
    struct epoll_event events[256];
    const int count = epoll_wait(rig->epoll, events, 256, wait);
    for (int i = 0; i < count; i++) {
        struct rtc_browser *browser = events[i].data.ptr;
        uint8_t data[2048];
        ssize_t size;
        while ((size = recv(browser->fd, data, sizeof data, MSG_DONTWAIT)) > 0) {
            rig->received++;
            rig->received_bytes += (unsigned long)size;
            rtc_client_receive(&browser->client, data, (size_t)size);
        }
        if (then)
            then(browser, context);
    }
}

void rtc_rig_serve(struct rtc_rig *rig, int milliseconds)
{
    serve(rig, milliseconds, NULL, NULL);
}

bool rtc_rig_open(struct rtc_rig *rig, unsigned count, double seconds)
{
    for (unsigned i = 0; i < count; i++) {
        rtc_client_check(&rtc_rig_offer(rig)->client);
        serve(rig, 0, NULL, NULL);
    }
    const double start = rtc_rig_now();
    double repeat = start + REPEAT_SECONDS;
    for (;;) {
        unsigned open = 0;
        const double now = rtc_rig_now();
        for (unsigned i = 0; i < rig->count; i++) {
            struct rtc_client *client = &rig->browsers[i]->client;
            open += client->open && !client->ended;
            if (!client->open && now >= repeat)
                rtc_client_repeat(client);
        }
        if (open == rig->count)
            return true;
        if (now - start > seconds) {
            fprintf(stderr, "rtc_rig: %u of %u are open\n", open, rig->count);
            return false;
        }
        if (now >= repeat)
            repeat = now + REPEAT_SECONDS;
        serve(rig, 50, NULL, NULL);
    }
}

struct trips {
    uint8_t data[1400];
    size_t size;
    unsigned rounds; /* the number of rounds; 0: without end */
    unsigned waiting;
    unsigned long done;
    bool running;
};

static void go_on(struct rtc_browser *browser, void *context)
{
    struct trips *trips = context;
    if (browser->echoed == 0 || browser->last_size != trips->size)
        return;
    trips->done++;
    browser->last_size = 0;
    if (trips->running && (trips->rounds == 0 || browser->echoed < trips->rounds))
        rtc_client_send(&browser->client, trips->data, trips->size);
    else
        trips->waiting--;
}

static bool run(struct rtc_rig *rig, struct trips *trips, double seconds, double grace)
{
    const double start = rtc_rig_now();
    trips->waiting = rig->count;
    trips->running = true;
    for (unsigned i = 0; i < rig->count; i++) {
        rig->browsers[i]->awaited = trips->size;
        rig->browsers[i]->echoed = 0;
        rtc_client_send(&rig->browsers[i]->client, trips->data, trips->size);
    }
    while (trips->waiting > 0) {
        const double now = rtc_rig_now();
        trips->running = now - start < seconds;
        if (now - start > seconds + grace)
            return false;
        serve(rig, 50, go_on, trips);
    }
    /* The latest messages are acknowledged too, or the relay would wait for it. */
    for (unsigned i = 0; i < rig->count; i++)
        rtc_client_acknowledge(&rig->browsers[i]->client);
    return true;
}

bool rtc_rig_echo(struct rtc_rig *rig, unsigned rounds, size_t size, double seconds)
{
    struct trips trips = {.size = size, .rounds = rounds};
    return run(rig, &trips, seconds, 0.0) && trips.done == (unsigned long)rounds * rig->count;
}

unsigned long rtc_rig_run(struct rtc_rig *rig, size_t size, double seconds)
{
    struct trips trips = {.size = size};
    if (!run(rig, &trips, seconds, 5.0)) {
        fprintf(stderr, "rtc_rig: %u datagrams did not come back\n", trips.waiting);
        exit(1);
    }
    return trips.done;
}

void rtc_rig_close(struct rtc_rig *rig)
{
    for (unsigned i = 0; i < rig->count; i++) {
        struct rtc_browser *browser = rig->browsers[i];
        rtc_client_abort(&browser->client);
        rtc_client_destroy(&browser->client);
        close(browser->fd);
        free(browser);
    }
    rig->count = 0;
}
