/* Sends all chunks until each is acknowledged, and knows nothing of pages.
     foreign_client HOST PORT */
#include "foreign.h"

#define TICK_SECONDS   0.01
#define RESEND_SECONDS 0.2

enum { WINDOW = 100 };

static struct sockaddr_in server = {.sin_family = AF_INET};
static double sent_at[CHUNKS];
static bool acknowledged[CHUNKS];
static uint32_t oldest;

static double now(void)
{
    struct timespec time;
    need(clock_gettime(CLOCK_MONOTONIC_RAW, &time) == 0, "clock_gettime");
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void take_acknowledgements(int fd)
{
    struct chunk chunk;
    struct sockaddr_storage from;
    while (receive(fd, &chunk, &from) > 0) {
        const uint32_t number = ntohl(chunk.number);
        need(((struct sockaddr_in *)&from)->sin_port == server.sin_port, "from the server");
        need(number < CHUNKS, "a chunk that there is");
        acknowledged[number] = true;
    }
    while (oldest < CHUNKS && acknowledged[oldest])
        oldest++;
}

static void send_due(int fd)
{
    for (uint32_t i = oldest; i < CHUNKS && i < oldest + WINDOW; i++) {
        struct chunk chunk;
        if (acknowledged[i] || (sent_at[i] > 0 && now() < sent_at[i] + RESEND_SECONDS))
            continue;
        const size_t size = chunk_fill(&chunk, i);
        need(sendto(fd, &chunk, size, 0, (struct sockaddr *)&server, sizeof server) ==
                 (ssize_t)size,
             "sendto");
        sent_at[i] = now();
    }
}

int main(int argc, char **argv)
{
    const struct sockaddr_in any = {.sin_family = AF_INET};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6};
    need(argc == 3 && inet_pton(AF_INET, argv[1], &server.sin_addr) == 1, "an address");
    server.sin_port = htons((uint16_t)atoi(argv[2]));
    const int fd = open_socket((const struct sockaddr *)&any, sizeof any);
    const int fd6 = open_socket((const struct sockaddr *)&any6, sizeof any6);
    while (oldest < CHUNKS) {
        take_acknowledgements(fd);
        send_due(fd);
        usleep((useconds_t)(TICK_SECONDS * 1e6));
    }
    close(fd);
    close(fd6);
    puts("done");
    return 0;
}
