/* A program that knows nothing of pages: it sends datagrams, and waits for answers in poll and in
   select.
     sockets_client HOST PORT */
#include "echo.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define PART  1000
#define PARTS (BULK_SIZE / PART)

struct part {
    int number;
    char text[PART];
};

static int handle;
static struct addrinfo *server;
static struct echo echo;

static void put(const void *data, size_t size)
{
    if (sendto(handle, data, size, 0, server->ai_addr, server->ai_addrlen) < 0)
        perror("sendto");
}

static bool readable_by_select(int milliseconds)
{
    struct timeval timeout = {.tv_usec = milliseconds * 1000};
    fd_set handles;
    FD_ZERO(&handles);
    FD_SET(handle, &handles);
    return select(handle + 1, &handles, NULL, NULL, &timeout) > 0;
}

/* Sends the parts again and again, until each has come back. */
static void exchange(const char *text)
{
    char back[BULK_SIZE];
    bool here[PARTS] = {false};
    for (int missing = PARTS; missing > 0;) {
        struct part part;
        for (int i = 0; i < PARTS; i++)
            if (!here[i]) {
                part.number = i;
                memcpy(part.text, text + (ptrdiff_t)i * PART, PART);
                put(&part, sizeof part);
            }
        while (missing > 0 && readable_by_select(100))
            while (recv(handle, &part, sizeof part, 0) == (ssize_t)sizeof part) {
                if (part.number < 0 || part.number >= PARTS || here[part.number] ||
                    part.text[0] != text[(ptrdiff_t)part.number * PART])
                    continue; /* it is a part of the text before this one */
                here[part.number] = true;
                memcpy(back + (ptrdiff_t)part.number * PART, part.text, PART);
                missing--;
            }
    }
    echo_take(&echo, back, BULK_SIZE);
}

int main(int argc, char **argv)
{
    static char text[BULK_SIZE];
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    if (argc < 3 || getaddrinfo(argv[1], argv[2], &hints, &server) != 0)
        return 1;
    handle = socket(AF_INET, SOCK_DGRAM, 0);
    fcntl(handle, F_SETFL, O_NONBLOCK);
    while (!echo_done(&echo)) {
        const size_t size = echo_next(&echo, text);
        if (size == BULK_SIZE)
            exchange(text);
        else if (size > 0)
            put(text, size);
        struct pollfd poller = {.fd = handle, .events = POLLIN};
        if (poll(&poller, 1, 4) <= 0)
            continue;
        ssize_t got;
        while ((got = recv(handle, text, sizeof text, 0)) > 0)
            if (got == ECHO_SIZE) /* other sizes are parts that came twice */
                echo_take(&echo, text, (size_t)got);
    }
    close(handle);
    return 0;
}
