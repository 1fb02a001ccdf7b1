/* The rules of POSIX for datagram sockets, as far as games use them, in a program without a line of
   Emscripten: it also runs natively. Arguments: ADDRESS and the PORTS of two echo servers, or
   `lost ADDRESS PORT` where nobody answers, or `stream ADDRESS PORT` of an echo server over TCP. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_in servers[2];
static int failures;

static void check(int is_so, const char *what)
{
    if (!is_so)
        printf("FAILED: %s (errno %d)\n", what, errno);
    failures += !is_so;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int open_socket(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    check(fd >= 0, "socket");
    return fd;
}

static unsigned own_port(int fd)
{
    struct sockaddr_in own;
    socklen_t length = sizeof own;
    memset(&own, 0, sizeof own);
    check(getsockname(fd, (struct sockaddr *)&own, &length) == 0, "getsockname");
    return ntohs(own.sin_port);
}

static void send_to(int fd, int server, const char *text)
{
    check(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&servers[server],
                 sizeof servers[server]) == (ssize_t)strlen(text),
          "sendto");
}

/* Takes the next datagram, and checks its text and its sender. */
static void expect(int fd, int server, const char *text)
{
    char data[100];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(fd, data, sizeof data, 0, (struct sockaddr *)&from, &length);
    check(size == (ssize_t)strlen(text) && memcmp(data, text, (size_t)size) == 0, text);
    check(from.sin_port == servers[server].sin_port &&
              from.sin_addr.s_addr == servers[server].sin_addr.s_addr,
          "the sender's address");
}

static void test_bind(void)
{
    int fd = open_socket(), other = open_socket();
    struct sockaddr_in any = {.sin_family = AF_INET};
    check(bind(fd, (struct sockaddr *)&any, sizeof any) == 0, "bind");
    check(own_port(fd) >= 1024, "a port of its own");
    check(bind(fd, (struct sockaddr *)&any, sizeof any) == -1 && errno == EINVAL, "bind again");
    any.sin_port = htons((unsigned short)own_port(fd));
    check(bind(other, (struct sockaddr *)&any, sizeof any) == -1 && errno == EADDRINUSE,
          "bind to a port in use");
    send_to(other, 0, "unbound");
    check(own_port(other) >= 1024 && own_port(other) != own_port(fd), "a port of the other");
    expect(other, 0, "unbound");
    close(fd);
    fd = open_socket();
    check(bind(fd, (struct sockaddr *)&any, sizeof any) == 0, "a port is free when it is closed");
    close(fd);
    close(other);
}

static void test_poll(void)
{
    int fd = open_socket();
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    double began = now();
    check(poll(&wanted, 1, 0) == 0, "poll finds nothing");
    check(poll(&wanted, 1, 100) == 0 && now() - began >= 0.09, "poll waits as long as it is told");
    wanted.events = POLLIN | POLLOUT;
    check(poll(&wanted, 1, 5000) == 1 && wanted.revents == POLLOUT, "there is room to send");
    wanted.events = POLLIN;
    send_to(fd, 0, "poll");
    check(poll(&wanted, 1, 20000) == 1 && wanted.revents == POLLIN, "poll waits for a datagram");
    check(now() - began < 15.0, "and no longer");
    expect(fd, 0, "poll");
    close(fd);
}

static void test_select(void)
{
    int fd = open_socket();
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(fd, &readable);
    struct timeval moment = {.tv_usec = 100000}, months = {.tv_sec = 10000000};
    double began = now();
    check(select(fd + 1, &readable, NULL, NULL, &moment) == 0 && now() - began >= 0.09,
          "select waits as long as it is told");
    check(!FD_ISSET(fd, &readable), "nothing is readable");
    send_to(fd, 1, "select");
    FD_SET(fd, &readable);
    check(select(fd + 1, &readable, NULL, NULL, &months) == 1 && FD_ISSET(fd, &readable),
          "select waits for a datagram");
    check(now() - began < 15.0, "and no longer");
    expect(fd, 1, "select");
    close(fd);
}

static void test_non_blocking(void)
{
    int fd = open_socket(), on = 1, off = 0, waiting = 0;
    char data[4];
    check(ioctl(fd, FIONBIO, &on) == 0, "FIONBIO");
    check((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, "it is non-blocking");
    check(recv(fd, data, sizeof data, 0) == -1 && errno == EAGAIN, "nothing to receive");
    check(ioctl(fd, FIONBIO, &off) == 0, "FIONBIO off");
    check(recv(fd, data, sizeof data, MSG_DONTWAIT) == -1 && errno == EAGAIN, "MSG_DONTWAIT");
    send_to(fd, 0, "cut off");
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    check(poll(&wanted, 1, 20000) == 1 && ioctl(fd, FIONREAD, &waiting) == 0 && waiting == 7,
          "FIONREAD");
    check(recv(fd, data, sizeof data, 0) == 4 && memcmp(data, "cut ", 4) == 0, "the rest is gone");
    close(fd);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    check(recv(fd, data, sizeof data, 0) == -1 && errno == EAGAIN, "SOCK_NONBLOCK");
    close(fd);
    fd = open_socket();
    check(fcntl(fd, F_SETFL, O_NONBLOCK) == 0, "O_NONBLOCK");
    check(recv(fd, data, sizeof data, 0) == -1 && errno == EAGAIN, "it is non-blocking");
    check(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0, "O_NONBLOCK off");
    check((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0, "it is blocking again");
    send_to(fd, 0, "blocks");
    expect(fd, 0, "blocks");
    close(fd);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof value;
    check(getsockopt(fd, level, name, &value, &length) == 0 && length == sizeof value,
          "getsockopt");
    return value;
}

static int set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value);
}

/* Options that programs set on every socket are taken; those that would change the way of datagrams
   are refused. */
static void test_options(void)
{
    static const int ways[][2] = {{SOL_SOCKET, SO_REUSEADDR},
                                  {SOL_SOCKET, SO_REUSEPORT},
                                  {SOL_SOCKET, SO_KEEPALIVE},
                                  {IPPROTO_IP, IP_TOS}};
    static const struct in_addr nowhere;
    int fd = open_socket();
    struct linger lingers = {0};
    check(set(fd, SOL_SOCKET, SO_SNDBUF, 65536) == 0, "SO_SNDBUF");
    check(set(fd, SOL_SOCKET, SO_RCVBUF, 4 << 20) == 0, "SO_RCVBUF");
    check(option(fd, SOL_SOCKET, SO_SNDBUF) >= 65536, "as large as was asked for");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        check(option(fd, ways[i][0], ways[i][1]) == 0, "off at first");
        check(set(fd, ways[i][0], ways[i][1], 8) == 0, "an option");
        check(option(fd, ways[i][0], ways[i][1]) != 0, "it is on");
    }
    check(set(fd, SOL_SOCKET, SO_BROADCAST, 0) == 0, "SO_BROADCAST off");
    check(option(fd, SOL_SOCKET, SO_BROADCAST) == 0, "it is off");
    check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers, sizeof lingers) == 0, "SO_LINGER off");
    check(option(fd, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM, "SO_TYPE");
    check(option(fd, SOL_SOCKET, SO_ERROR) == 0, "SO_ERROR");
    check(set(fd, SOL_SOCKET, SO_TYPE, SOCK_STREAM) == -1 && errno == ENOPROTOOPT,
          "SO_TYPE cannot be set");
    check(set(fd, 12345, 1, 0) == -1 && errno != 0, "a level that is not there");
    check(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &fd, 1) == -1 && errno == EINVAL,
          "a value too short");
    check(setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &nowhere, sizeof nowhere) == -1,
          "no group to join");
    send_to(fd, 0, "options");
    expect(fd, 0, "options");
    close(fd);
    check(set(fd, SOL_SOCKET, SO_SNDBUF, 1) == -1 && errno == EBADF, "no socket");
}

/* The program limits one wait, and another one is a sleep. */
static void test_time_limits(void)
{
    int fd = open_socket();
    struct timeval limit = {.tv_usec = 100000}, is = {0};
    struct timespec nap = {.tv_nsec = 50000000};
    socklen_t length = sizeof is;
    char data[4];
    check(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &is, &length) == 0 && is.tv_usec == 0,
          "no limit at first");
    check(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0, "SO_SNDTIMEO");
    check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "SO_RCVTIMEO");
    check(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &is, &length) == 0 && length == sizeof is &&
              is.tv_sec == 0 && is.tv_usec >= 100000,
          "the limit");
    double began = now();
    check(recv(fd, data, sizeof data, 0) == -1 && errno == EAGAIN, "nothing comes");
    check(now() - began >= 0.09, "recv waits as long as it is told");
    limit.tv_usec = 0;
    check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "no limit");
    send_to(fd, 0, "no limit");
    expect(fd, 0, "no limit");
    /* The loop does nothing but sleep between looks, as many games have one. */
    send_to(fd, 0, "nap");
    began = now();
    while (recv(fd, data, sizeof data, MSG_DONTWAIT) != 3 && now() < began + 15.0) {
        const double slept = now();
        check(nanosleep(&nap, NULL) == 0 && now() - slept >= 0.045, "nanosleep");
        check(usleep(1000) == 0, "usleep");
    }
    check(now() - began < 15.0, "datagrams come while the program sleeps");
    nap.tv_nsec = 1000000000;
    check(nanosleep(&nap, NULL) == -1 && errno == EINVAL, "there is no such time");
    close(fd);
}

/* A socket for both families has the other one's addresses within its own. */
static void test_both_families(void)
{
    int fd = socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    socklen_t length = sizeof address;
    char data[4];
    check(fd >= 0 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0) == 0, "IPV6_V6ONLY off");
    check(set(fd, IPPROTO_IPV6, IPV6_TCLASS, 8) == 0, "IPV6_TCLASS");
    check(getsockname(fd, (struct sockaddr *)&address, &length) == 0 && length == sizeof address &&
              address.sin6_family == AF_INET6 && address.sin6_port == 0 &&
              IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr),
          "no name yet");
    check(bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    check(getsockname(fd, (struct sockaddr *)&address, &length) == 0 && address.sin6_port != 0,
          "a port");
    address.sin6_port = servers[0].sin_port;
    memset(&address.sin6_addr.s6_addr[10], 255, 2);
    memcpy(&address.sin6_addr.s6_addr[12], &servers[0].sin_addr, 4);
    check(sendto(fd, "both", 4, 0, (struct sockaddr *)&address, sizeof address) == 4, "sendto");
    struct sockaddr_in6 from = {.sin6_family = AF_UNSPEC};
    check(recvfrom(fd, data, 4, 0, (struct sockaddr *)&from, &length) == 4 &&
              from.sin6_family == AF_INET6 && from.sin6_port == address.sin6_port &&
              IN6_ARE_ADDR_EQUAL(&from.sin6_addr, &address.sin6_addr),
          "it comes from where it went");
    close(fd);
    fd = socket(AF_INET6, SOCK_DGRAM, 0);
    check(set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) == 0, "IPV6_V6ONLY");
    close(fd);
}

static void test_peers(void)
{
    int fd = open_socket();
    static char large[70000];
    check(send(fd, "", 1, 0) == -1 && errno == EDESTADDRREQ, "no address to send to");
    check(connect(fd, (struct sockaddr *)&servers[0], sizeof servers[0]) == 0, "connect");
    check(connect(fd, (struct sockaddr *)&servers[1], sizeof servers[1]) == 0, "connect again");
    check(send(fd, "second", 6, 0) == 6, "send");
    expect(fd, 1, "second");
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    check(getpeername(fd, (struct sockaddr *)&peer, &length) == 0 &&
              peer.sin_port == servers[1].sin_port,
          "getpeername");
    check(send(fd, large, sizeof large, 0) == -1 && errno == EMSGSIZE, "too long for a datagram");
    check(sendto(fd, large, SIZE_MAX, 0, (struct sockaddr *)&servers[1], sizeof servers[1]) == -1 &&
              errno == EMSGSIZE,
          "longer than memory");
    close(fd);
    fd = open_socket();
    send_to(fd, 0, "one socket");
    expect(fd, 0, "one socket");
    send_to(fd, 1, "two servers");
    expect(fd, 1, "two servers");
    close(fd);
}

/* Datagrams leave from several buffers and arrive in several. */
static void test_buffers(void)
{
    int fd = open_socket();
    char out[2][4] = {"two ", "part"}, data[8], in[2][4], control[64];
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct iovec sent[2] = {{out[0], 4}, {out[1], 4}};
    struct iovec received[3] = {{in[1], 3}, {in[0], 0}, {in[0], 4}};
    struct msghdr message = {.msg_name = &servers[1],
                             .msg_namelen = sizeof servers[1],
                             .msg_iov = sent,
                             .msg_iovlen = 2};
    check(sendmsg(fd, &message, 0) == 8, "sendmsg");
    check(recv(fd, data, 3, MSG_PEEK) == 3 && memcmp(data, "two", 3) == 0, "MSG_PEEK");
    check(recv(fd, data, 3, MSG_PEEK | MSG_TRUNC) == 8, "MSG_TRUNC says how long it is");
    message.msg_name = &from;
    message.msg_iov = received;
    message.msg_iovlen = 3;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    check(recvmsg(fd, &message, 0) == 7, "recvmsg");
    check(memcmp(in[1], "two", 3) == 0 && memcmp(in[0], " par", 4) == 0, "each part in its place");
    check((message.msg_flags & MSG_TRUNC) != 0, "the rest is cut off");
    check(message.msg_namelen == sizeof from && from.sin_port == servers[1].sin_port, "the sender");
    check(message.msg_controllen == 0, "there is no control data");
    send_to(fd, 1, "all");
    check(recvmsg(fd, &message, 0) == 3 && !(message.msg_flags & MSG_TRUNC), "nothing is cut off");
    close(fd);
}

/* Datagrams that get nowhere are lost, and a wait for an answer still lasts as long as it
   should. */
static void test_lost(void)
{
    int fd = open_socket();
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    double began = now();
    for (int i = 0; i < 10; i++) {
        send_to(fd, 0, "lost");
        check(poll(&wanted, 1, 100) == 0 && wanted.revents == 0, "nothing comes");
    }
    check(now() - began >= 0.9, "poll waits");
    close(fd);
}

/* Streams are left to the platform. They end a wait, too. */
static void test_stream(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    char data[10];
    double began = now();
    check(connect(fd, (struct sockaddr *)&servers[0], sizeof servers[0]) == 0 ||
              errno == EINPROGRESS,
          "connect a stream");
    check(poll(&wanted, 1, 20000) == 1, "poll waits for the connection");
    check(send(fd, "stream", 6, 0) == 6, "send to a stream");
    wanted.events = POLLIN;
    check(poll(&wanted, 1, 20000) == 1, "poll waits for bytes");
    check(now() - began < 15.0, "and no longer");
    check(recv(fd, data, sizeof data, 0) == 6 && memcmp(data, "stream", 6) == 0, "the bytes");
    check(recv(fd, data, sizeof data, MSG_DONTWAIT) == -1 && errno == EAGAIN, "no more bytes");
    close(fd);
}

/* A server that is asked for it answers with many datagrams, in the end with more than a socket
   keeps. */
static void test_flood(void)
{
    int fd = open_socket(), kept = 0;
    char data[100];
    for (int i = 0; i < 20; i++) {
        send_to(fd, 0, "flood");
        check(poll(NULL, 0, 100) == 0, "poll of nothing waits");
    }
    while (recv(fd, data, sizeof data, MSG_DONTWAIT) > 0)
        kept++;
    printf("kept %d\n", kept);
    close(fd);
}

static void test_datagrams(void)
{
    test_bind();
    test_poll();
    test_select();
    test_non_blocking();
    test_options();
    test_time_limits();
    test_both_families();
    test_peers();
    test_buffers();
    test_flood();
}

static void set_server(int server, const char *address, const char *port)
{
    servers[server].sin_family = AF_INET;
    inet_pton(AF_INET, address, &servers[server].sin_addr);
    servers[server].sin_port = htons((unsigned short)atoi(port));
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    const int is_lost = strcmp(argv[1], "lost") == 0, is_stream = strcmp(argv[1], "stream") == 0;
    if (is_lost || is_stream) {
        set_server(0, argv[2], argv[3]);
        (is_lost ? test_lost : test_stream)();
    } else {
        set_server(0, argv[1], argv[2]);
        set_server(1, argv[1], argv[3]);
        test_datagrams();
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
