/* A network link with delay, jitter and loss: two TUN devices, each of which gets what is sent on
   the other, in order. The kernel here has no netem. Commands come on standard input: "loss
   PERCENT". The program ends when its input does. lossy_link DEVICE DEVICE DELAY_MS JITTER_MS SEED
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX 2048
#define QUEUE      8192

struct packet {
    double due;
    size_t size;
    uint8_t data[PACKET_MAX];
};

/* A direction. No packet overtakes another, so the first that came is the first that is due. */
struct direction {
    int from;
    int to;
    struct packet queue[QUEUE];
    size_t first;
    size_t count;
    double last_due;
};

static struct direction directions[2];
static double delay;
static double jitter; /* the most that a packet takes longer than the delay */
static double loss;
static uint64_t seed;

static void fail(const char *what)
{
    fprintf(stderr, "lossy_link: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Returns the next random number of a splitmix64, from 0 to 1. */
static double next_random(void)
{
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int open_device(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        fail(name);
    return fd;
}

static void take(struct direction *link)
{
    for (;;) {
        struct packet *packet = &link->queue[(link->first + link->count) % QUEUE];
        const ssize_t size = read(link->from, packet->data, PACKET_MAX);
        if (size <= 0)
            return;
        if (link->count == QUEUE || next_random() * 100.0 < loss)
            continue;
        packet->due = fmax(now() + delay + jitter * next_random(), link->last_due);
        packet->size = (size_t)size;
        link->last_due = packet->due;
        link->count++;
    }
}

static void give(struct direction *link)
{
    const double time = now();
    while (link->count > 0 && link->queue[link->first].due <= time) {
        const struct packet *packet = &link->queue[link->first];
        if (write(link->to, packet->data, packet->size) < 0 && errno != EIO && errno != EAGAIN)
            fail("write");
        link->first = (link->first + 1) % QUEUE;
        link->count--;
    }
}

/* Returns how long nothing is due, at most a second. */
static double idle(void)
{
    double least = 0.999;
    for (int i = 0; i < 2; i++)
        if (directions[i].count > 0)
            least = fmin(least, directions[i].queue[directions[i].first].due - now());
    return fmax(least, 0.0);
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    const int a = open_device(argv[1]);
    const int b = open_device(argv[2]);
    directions[0].from = directions[1].to = a;
    directions[1].from = directions[0].to = b;
    delay = strtod(argv[3], NULL) / 1000.0;
    jitter = strtod(argv[4], NULL) / 1000.0;
    seed = strtoull(argv[5], NULL, 10);
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct pollfd polled[3] = {{a, POLLIN, 0}, {b, POLLIN, 0}, {0, POLLIN, 0}};
        const struct timespec wait = {.tv_nsec = (long)(idle() * 1e9)};
        ppoll(polled, 3, &wait, NULL);
        for (int i = 0; i < 2; i++) {
            take(&directions[i]);
            give(&directions[i]);
        }
        if (polled[2].revents) {
            char line[64];
            if (!fgets(line, sizeof line, stdin))
                return 0;
            sscanf(line, "loss %lf", &loss);
            puts("done");
            fflush(stdout);
        }
    }
}
