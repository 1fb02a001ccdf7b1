/* A network link with delay and loss: two TUN devices, each of which gets what is sent on the
   other. The kernel here has no netem. Commands come on standard input: "loss PERCENT". The
   program ends when its input does.
     lossy_link DEVICE DEVICE DELAY_MS SEED */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
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
    int to;
    size_t size;
    uint8_t data[PACKET_MAX];
};

/* The delay is the same for all, so the first packet that came is the first that is due. */
static struct packet queue[QUEUE];
static size_t first;
static size_t count;
static double delay;
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

static void take(int from, int to)
{
    for (;;) {
        struct packet *packet = &queue[(first + count) % QUEUE];
        const ssize_t size = read(from, packet->data, PACKET_MAX);
        if (size <= 0)
            return;
        if (count == QUEUE || next_random() * 100.0 < loss)
            continue;
        packet->due = now() + delay;
        packet->to = to;
        packet->size = (size_t)size;
        count++;
    }
}

static void give(void)
{
    const double time = now();
    while (count > 0 && queue[first].due <= time) {
        const struct packet *packet = &queue[first];
        if (write(packet->to, packet->data, packet->size) < 0 && errno != EIO && errno != EAGAIN)
            fail("write");
        first = (first + 1) % QUEUE;
        count--;
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const int a = open_device(argv[1]);
    const int b = open_device(argv[2]);
    delay = strtod(argv[3], NULL) / 1000.0;
    seed = strtoull(argv[4], NULL, 10);
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct pollfd polled[3] = {{a, POLLIN, 0}, {b, POLLIN, 0}, {0, POLLIN, 0}};
        struct timespec wait = {0};
        const double left = count > 0 ? queue[first].due - now() : 1.0;
        if (left > 0.0)
            wait.tv_nsec = (long)(left < 0.999 ? left * 1e9 : 999000000);
        ppoll(polled, 3, &wait, NULL);
        take(a, b);
        take(b, a);
        give();
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
