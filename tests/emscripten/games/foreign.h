/* Sockets in the hands of another library, such as netcode or yojimbo: it sets every option and
   checks each result, it sleeps between reads, and its program ends at the first refusal. Chunks
   are what the two ends exchange: a message has one, a block has CHUNKS_PER_BLOCK. */
#ifndef TESTS_EMSCRIPTEN_FOREIGN_H
#define TESTS_EMSCRIPTEN_FOREIGN_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MESSAGES = 2000,
    BLOCKS = 40,
    CHUNKS_PER_BLOCK = 10,
    CHUNKS = MESSAGES + BLOCKS * CHUNKS_PER_BLOCK,
    CHUNK_MAX = 1000,
    SOCKET_BUFFER = 4 * 1024 * 1024,
};

struct chunk {
    uint32_t number;
    uint8_t data[CHUNK_MAX];
};

static inline void need(bool is_so, const char *what)
{
    if (is_so)
        return;
    printf("failed: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Fills a chunk with bytes that all follow from its number. Returns its size. */
static inline size_t chunk_fill(struct chunk *chunk, uint32_t number)
{
    const size_t size = number < MESSAGES ? 1 + number % 200 : CHUNK_MAX;
    chunk->number = htonl(number);
    for (size_t i = 0; i < size; i++)
        chunk->data[i] = (uint8_t)(i * 7 + number);
    return sizeof chunk->number + size;
}

static inline void set_option(int fd, int level, int name, int value)
{
    need(setsockopt(fd, level, name, &value, sizeof value) == 0, "setsockopt");
}

static inline int open_socket(const struct sockaddr *address, socklen_t size)
{
    const int fd = socket(address->sa_family, SOCK_DGRAM, IPPROTO_UDP);
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    need(fd >= 0, "socket");
    if (address->sa_family == AF_INET6)
        set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    set_option(fd, SOL_SOCKET, SO_SNDBUF, SOCKET_BUFFER);
    set_option(fd, SOL_SOCKET, SO_RCVBUF, SOCKET_BUFFER);
    if (address->sa_family == AF_INET6)
        set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, IPTOS_LOWDELAY);
    else
        set_option(fd, IPPROTO_IP, IP_TOS, IPTOS_LOWDELAY);
    need(bind(fd, address, size) == 0, "bind");
    need(getsockname(fd, (struct sockaddr *)&own, &length) == 0 && length == size, "getsockname");
    need(((struct sockaddr_in *)&own)->sin_port != 0, "a port");
    need(fcntl(fd, F_SETFL, O_NONBLOCK, 1) == 0, "fcntl");
    return fd;
}

/* Receives the next datagram, and returns its size, or 0 when there is none. */
static inline size_t receive(int fd, struct chunk *chunk, struct sockaddr_storage *from)
{
    socklen_t length = sizeof *from;
    const ssize_t size = recvfrom(fd, chunk, sizeof *chunk, 0, (struct sockaddr *)from, &length);
    need(size > 0 || errno == EAGAIN || errno == EWOULDBLOCK, "recvfrom");
    return size > 0 ? (size_t)size : 0;
}

#endif
