/* A browser whose network stalls: becomes a WebSocket of the relay, sends one datagram, reads
   nothing for a while, then reads all that comes for four seconds. Writes JSON: how many bytes its
   own socket had held, and for each datagram its size, when it was sent (its first eight bytes,
   nanoseconds of the monotonic clock, little endian) and when it was read.

   test_relay_stall PORT SECONDS RECEIVE_BUFFER */
#include "websocket_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

#define READ_SECONDS 4.0

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void print(const uint8_t *data, size_t size, bool first)
{
    uint64_t sent = 0;
    for (size_t i = 0; i < 8 && i < size; i++)
        sent |= (uint64_t)data[i] << (8 * i);
    printf("%s{\"size\":%zu,\"sent\":%" PRIu64 ",\"read\":%" PRIu64 "}", first ? "" : ",\n", size,
           sent / 1000, now() / 1000);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int fd = websocket_client_open((unsigned)strtoul(argv[1], NULL, 10), atoi(argv[3]));
    uint8_t frame[16];
    size_t size = websocket_client_frame(frame, (const uint8_t *)"start", 5);
    if (fd < 0 || send(fd, frame, size, 0) != (ssize_t)size)
        return 1;

    uint64_t end = now() + (uint64_t)(strtod(argv[2], NULL) * 1e9);
    struct timespec until = {.tv_sec = (time_t)(end / 1000000000u),
                             .tv_nsec = (long)(end % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;

    static uint8_t bytes[1 << 20];
    size_t used = 0;
    bool first = true;
    int buffered = 0;
    ioctl(fd, FIONREAD, &buffered);
    printf("{\"buffered\":%d,\"datagrams\":[\n", buffered);
    end = now() + (uint64_t)(READ_SECONDS * 1e9);
    while (now() < end) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, 100) <= 0)
            continue;
        ssize_t got = recv(fd, bytes + used, sizeof bytes - used, 0);
        if (got <= 0)
            return 1;
        used += (size_t)got;
        size_t at = 0;
        size_t taken;
        const uint8_t *data;
        while ((taken = websocket_client_parse(bytes + at, used - at, &data, &size)) > 0) {
            print(data, size, first);
            first = false;
            at += taken;
        }
        memmove(bytes, bytes + at, used - at);
        used -= at;
    }
    printf("\n]}\n");
    return 0;
}
