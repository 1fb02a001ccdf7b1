/* A game as it was compiled for WebSockets: non-blocking, one step a frame. It sends datagrams to
   an echo server and reports the ones that came back. Arguments: ADDRESS PORT COUNT SIZE. */
#include <arpa/inet.h>
#include <emscripten.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST          2000
#define MOST_AT_ONCE  10
#define FRAMES_TO_ASK 60

static int fd;
static struct sockaddr_in server;
static int count, size, sent, received, wrong, frames;
static char *arrived;
static double began;

static void fill(unsigned char *data, int number)
{
    memset(data, number, (size_t)size);
    memcpy(data, &number, sizeof number);
}

static void take_replies(void)
{
    unsigned char data[2 * MOST], expected[MOST];
    struct sockaddr_in from;
    for (;;) {
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &length);
        int number;
        if (got < 0)
            return;
        memcpy(&number, data, sizeof number);
        fill(expected, number);
        if (got != size || memcmp(data, expected, (size_t)size) != 0 || number < 0 ||
            number >= count || from.sin_port != server.sin_port ||
            from.sin_addr.s_addr != server.sin_addr.s_addr) {
            wrong++;
            continue;
        }
        received += !arrived[number];
        arrived[number] = 1;
    }
}

static void put(int number)
{
    unsigned char data[MOST];
    fill(data, number);
    if (sendto(fd, data, (size_t)size, 0, (struct sockaddr *)&server, sizeof server) != size)
        printf("send failed\n");
}

/* Sends one datagram at first, and the others when the way is open, some a frame. Lost ones are
   sent again. */
static void step(void)
{
    const int most = received > 0 ? sent + MOST_AT_ONCE : sent == 0;
    take_replies();
    for (; sent < count && sent < most; sent++)
        put(sent);
    if (++frames % FRAMES_TO_ASK == 0)
        for (int i = 0; i < sent; i++)
            if (!arrived[i])
                put(i);
    if (received < count && emscripten_get_now() < began + 8000.0)
        return;
    printf("received %d of %d, %d wrong\n", received, count, wrong);
    emscripten_cancel_main_loop();
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 1;
    server.sin_family = AF_INET;
    inet_pton(AF_INET, argv[1], &server.sin_addr);
    server.sin_port = htons((unsigned short)atoi(argv[2]));
    count = atoi(argv[3]);
    size = atoi(argv[4]);
    arrived = calloc((size_t)count, 1);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    int on = 1;
    if (ioctl(fd, FIONBIO, &on) != 0)
        printf("FIONBIO failed\n");
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
        printf("bind failed\n");
    began = emscripten_get_now();
    emscripten_set_main_loop(step, 0, 0);
    return 0;
}
