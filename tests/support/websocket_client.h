/* A WebSocket client reduced to the needs of the relay's tests and benchmarks: blocking handshake,
   masked binary frames out, unmasked frames of one datagram in. */
#ifndef CAUSEWAY_TESTS_WEBSOCKET_CLIENT_H
#define CAUSEWAY_TESTS_WEBSOCKET_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connects to the relay at 127.0.0.1 and becomes a WebSocket. receive_buffer (bytes) sets the TCP
   receive buffer when it is not 0. Returns the socket, or -1. */
static inline int websocket_client_open(unsigned port, int receive_buffer)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (receive_buffer > 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                                  "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                                  "Sec-WebSocket-Protocol: causeway.v1\r\n\r\n";
    char reply[1024];
    size_t got = 0;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)(sizeof request - 1))
        goto failed;
    /* The reply is read byte by byte, so that no frame behind it is taken. */
    while (got < sizeof reply - 1 && recv(fd, reply + got, 1, 0) == 1) {
        reply[++got] = '\0';
        if (got >= 4 && strcmp(reply + got - 4, "\r\n\r\n") == 0) {
            if (strncmp(reply, "HTTP/1.1 101", 12) == 0)
                return fd;
            break;
        }
    }
failed:
    close(fd);
    return -1;
}

/* Writes one masked binary frame of 1 to 65535 bytes; returns its size. out has room for size + 8
   bytes. */
static inline size_t websocket_client_frame(uint8_t *out, const uint8_t *data, size_t size)
{
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t header = 2;
    out[0] = 0x82;
    if (size < 126) {
        out[1] = (uint8_t)(0x80 | size);
    } else {
        out[1] = 0x80 | 126;
        out[2] = (uint8_t)(size >> 8);
        out[3] = (uint8_t)size;
        header = 4;
    }
    memcpy(out + header, mask, 4);
    header += 4;
    for (size_t i = 0; i < size; i++)
        out[header + i] = data[i] ^ mask[i & 3];
    return header + size;
}

/* Finds the first whole frame in `bytes`: its payload and size. Returns how many bytes the frame
   takes in all, 0 when it is not whole yet. */
static inline size_t websocket_client_parse(const uint8_t *bytes, size_t available,
                                            const uint8_t **data, size_t *size)
{
    if (available < 2)
        return 0;
    size_t header = 2;
    *size = bytes[1] & 0x7f;
    if (*size == 126) {
        if (available < 4)
            return 0;
        *size = ((size_t)bytes[2] << 8) | bytes[3];
        header = 4;
    }
    if (available < header + *size)
        return 0;
    *data = bytes + header;
    return header + *size;
}

#endif
