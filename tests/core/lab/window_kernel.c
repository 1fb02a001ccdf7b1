/* The byte stream against the TCP of this machine's kernel: 64 bytes at 60 Hz in one direction, 100
   ms round trip, 1, 5 and 10 % loss in either direction. The kernel's streams cross from one
   network namespace to another over two TUN devices. This program carries the packets between them,
   with delay and loss. Ours runs in virtual time. What takes the kernel so long takes ours the same
   order of magnitude. */
#define _GNU_SOURCE
#include "bad_paths.h"
#include "window_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE    64
#define RATE       60
#define SECONDS    10
#define DRAIN      4 /* seconds at most, for what is still under way */
#define COUNT      (RATE * SECONDS)
#define LOSSES     3
#define STREAMS    11 /* for each loss */
#define MANY       99 /* so many of ours: they take no time */
#define ALL        (LOSSES * STREAMS)
#define FIRST_PORT 5000
#define PACKET_MAX 2048
#define QUEUE      4096
#define NEAR       "10.98.0.1"
#define FAR        "10.98.0.2"

static const double losses[LOSSES] = {0.01, 0.05, 0.1};

/* Seconds from send to read of one stream's messages. */
struct latencies {
    double values[COUNT];
    uint32_t count;
};

struct summary {
    double median, mean, p99;
};

static void note(struct latencies *latencies, double seconds)
{
    latencies->values[latencies->count++] = seconds;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Of each figure the one of the middle stream: a single stream that stalls for seconds would decide
   it otherwise. */
static struct summary summary_of(struct latencies *streams, size_t count)
{
    double medians[MANY], means[MANY], p99s[MANY];
    for (size_t i = 0; i < count; i++) {
        struct latencies *latencies = &streams[i];
        assert_int_equal(latencies->count, COUNT);
        medians[i] = median_of(latencies->values, COUNT);
        p99s[i] = latencies->values[COUNT * 99 / 100];
        means[i] = 0;
        for (uint32_t j = 0; j < COUNT; j++)
            means[i] += latencies->values[j] / COUNT;
    }
    return (struct summary){median_of(medians, count), median_of(means, count),
                            median_of(p99s, count)};
}

/* Ours. */

static void run_ours(double loss, uint64_t seed, struct latencies *latencies)
{
    const struct cw_window_config config = cw_window_config_default();
    struct window_rig rig = rig_with(&config);
    struct cw_window *ends[2] = {rig.a, rig.b};
    struct cw_simulator *paths[2];
    double sent[COUNT];
    uint32_t count = 0, arrived = 0;
    for (int i = 0; i < 2; i++) {
        struct cw_simulator_config path = cw_simulator_config_default();
        path.seed = 2 * seed + (uint64_t)i;
        path.path.latency_seconds = ONE_WAY;
        path.path.loss = loss;
        paths[i] = path_with(&path);
    }
    for (uint32_t millisecond = 0; arrived < COUNT; millisecond++) {
        uint8_t data[PACKET_MAX] = {0};
        size_t size;
        const double now = millisecond / 1000.0;
        if (count < COUNT && now >= (double)count / RATE) {
            assert_int_equal(cw_window_send(rig.a, data, MESSAGE, now, &size), CW_PROTOCOL_OK);
            sent[count++] = now;
        }
        for (int i = 0; i < 2; i++) {
            cw_window_update(ends[i], now);
            while ((size = cw_simulator_transmit(paths[1 - i], data, sizeof data, now)) > 0)
                cw_window_receive(ends[i], data, size, now);
            while ((size = cw_window_transmit(ends[i], data, sizeof data, now)) > 0)
                cw_simulator_receive(paths[i], data, size, now);
        }
        rig.taken += cw_window_read(rig.b, data, sizeof data);
        for (; arrived < rig.taken / MESSAGE; arrived++)
            note(latencies, now - sent[arrived]);
    }
    fixture_release(NULL); /* or else all streams would take memory until the end */
}

/* The kernel's. */

struct stream {
    int from, to;
    double sent[COUNT];
    uint32_t count;
    size_t taken; /* bytes */
    struct latencies *latencies;
};

struct packet {
    double due;
    int to;
    size_t size;
    uint8_t data[PACKET_MAX];
};

struct link {
    int devices[2];
    bool lossy;
    struct cw_prng random;
    size_t first, count; /* all have the same delay, so what came first is due first */
    struct packet queue[QUEUE];
};

static double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct sockaddr_in address_of(const char *text, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

/* A TUN device with an address in the namespace that this process is in now; -1 when that is not
   possible. */
static int open_device(const char *address)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool fine = fd >= 0 && control >= 0 && ioctl(fd, TUNSETIFF, &request) == 0;
    const struct sockaddr_in local = address_of(address, 0), mask = address_of("255.255.255.0", 0);
    memcpy(&request.ifr_addr, &local, sizeof local);
    fine = fine && ioctl(control, SIOCSIFADDR, &request) == 0;
    memcpy(&request.ifr_addr, &mask, sizeof mask);
    fine = fine && ioctl(control, SIOCSIFNETMASK, &request) == 0;
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    fine = fine && ioctl(control, SIOCSIFFLAGS, &request) == 0;
    close(control);
    return fine ? fd : -1;
}

/* The loss of a packet's stream, by the far port. */
static double loss_of(const uint8_t *data, size_t size)
{
    const size_t header = size > 0 ? (data[0] & 15) * 4u : 0;
    if (size < header + 4)
        return 0;
    const uint8_t *ports = data + header;
    const int a = ports[0] << 8 | ports[1], b = ports[2] << 8 | ports[3];
    const int far = a >= FIRST_PORT && a < FIRST_PORT + ALL ? a : b;
    return far >= FIRST_PORT && far < FIRST_PORT + ALL ? losses[(far - FIRST_PORT) / STREAMS] : 0;
}

static void take_packets(struct link *link, int from)
{
    for (;;) {
        struct packet *packet = &link->queue[(link->first + link->count) % QUEUE];
        const ssize_t size = read(link->devices[from], packet->data, PACKET_MAX);
        if (size <= 0)
            return;
        if (link->count == QUEUE ||
            (link->lossy && cw_prng_chance(&link->random, loss_of(packet->data, (size_t)size))))
            continue;
        packet->due = clock_now() + ONE_WAY;
        packet->to = link->devices[1 - from];
        packet->size = (size_t)size;
        link->count++;
    }
}

/* Waits a millisecond at most, and carries packets meanwhile. */
static void carry(struct link *link)
{
    struct pollfd polled[2] = {{link->devices[0], POLLIN, 0}, {link->devices[1], POLLIN, 0}};
    poll(polled, 2, 1);
    for (int i = 0; i < 2; i++)
        take_packets(link, i);
    while (link->count > 0 && link->queue[link->first].due <= clock_now()) {
        const struct packet *packet = &link->queue[link->first];
        if (write(packet->to, packet->data, packet->size) < 0)
            print_message("a packet was refused: %s\n", strerror(errno));
        link->first = (link->first + 1) % QUEUE;
        link->count--;
    }
}

static int tcp_socket(void)
{
    const int one = 1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), 0);
    return fd;
}

/* Each has a port of its own. The near sockets were made in the near namespace, in which they
   stay. */
static void connect_streams(struct link *link, struct stream *streams)
{
    int listeners[ALL];
    const double begun = clock_now();
    for (int i = 0; i < ALL; i++) {
        const struct sockaddr_in address = address_of(FAR, (uint16_t)(FIRST_PORT + i));
        listeners[i] = tcp_socket();
        assert_int_equal(bind(listeners[i], (const struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(listen(listeners[i], 1), 0);
        connect(streams[i].from, (const struct sockaddr *)&address, sizeof address);
    }
    for (int i = 0; i < ALL; i++) {
        while ((streams[i].to = accept4(listeners[i], NULL, NULL, SOCK_NONBLOCK)) < 0) {
            assert_true(clock_now() - begun < 30);
            carry(link);
        }
        close(listeners[i]);
    }
}

static void send_messages(struct stream *stream, double begun)
{
    const uint8_t message[MESSAGE] = {0};
    while (stream->count < COUNT && clock_now() - begun >= (double)stream->count / RATE) {
        stream->sent[stream->count++] = clock_now();
        assert_int_equal(write(stream->from, message, MESSAGE), MESSAGE);
    }
}

static void read_messages(struct stream *stream)
{
    uint8_t data[PACKET_MAX];
    for (ssize_t size; (size = read(stream->to, data, sizeof data)) > 0;) {
        stream->taken += (size_t)size;
        while (stream->latencies->count < stream->taken / MESSAGE)
            note(stream->latencies, clock_now() - stream->sent[stream->latencies->count]);
    }
}

/* What has not arrived in the end counts as arriving then. */
static void run_kernel(struct link *link, struct stream *streams)
{
    const double begun = clock_now();
    size_t arrived = 0;
    link->lossy = true;
    while (arrived < (size_t)ALL * COUNT && clock_now() - begun < SECONDS + DRAIN) {
        carry(link);
        arrived = 0;
        for (int i = 0; i < ALL; i++) {
            send_messages(&streams[i], begun);
            read_messages(&streams[i]);
            arrived += streams[i].latencies->count;
        }
    }
    for (int i = 0; i < ALL; i++)
        while (streams[i].latencies->count < COUNT)
            note(streams[i].latencies, clock_now() - streams[i].sent[streams[i].latencies->count]);
}

/* Ours may be this many times slower. The kernel's may seem ten times slower, because a machine
   that is busy with something else delays only them. */
static bool same_order(double own, double theirs, double most)
{
    return own < most * theirs && theirs < 10 * own;
}

TEST(its_latency_is_of_the_order_of_the_kernels)
{
    static struct link link = {.random = {1}};
    static struct stream streams[ALL];
    static struct latencies kernel[LOSSES][STREAMS], ours[LOSSES][MANY];
    link.devices[0] = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? open_device(NEAR) : -1;
    if (link.devices[0] < 0) {
        print_message("no network namespace to be had: %s\n", strerror(errno));
        skip();
    }
    for (int i = 0; i < ALL; i++) {
        streams[i].from = tcp_socket();
        streams[i].latencies = &kernel[i / STREAMS][i % STREAMS];
    }
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    link.devices[1] = open_device(FAR);
    assert_true(link.devices[1] >= 0);
    connect_streams(&link, streams);
    run_kernel(&link, streams);
    for (int i = 0; i < LOSSES; i++) {
        for (uint64_t seed = 0; seed < MANY; seed++)
            run_ours(losses[i], seed, &ours[i][seed]);
        const struct summary theirs = summary_of(kernel[i], STREAMS),
                             own = summary_of(ours[i], MANY);
        print_message("%2.0f %% loss: median, mean, p99 ms: kernel %.0f %.0f %.0f, ours %.0f %.0f "
                      "%.0f\n",
                      losses[i] * 100, theirs.median * 1000, theirs.mean * 1000, theirs.p99 * 1000,
                      own.median * 1000, own.mean * 1000, own.p99 * 1000);
        assert_true(same_order(own.median, theirs.median, 3));
        assert_true(same_order(own.mean, theirs.mean, 3));
        assert_true(same_order(own.p99, theirs.p99, 6));
    }
}

int main(void)
{
    return fixture_run();
}
