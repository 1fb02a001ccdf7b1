/* Lines drive the two native ends of the netcode interop tests: they come on standard input, with
   bytes as hexadecimal digits. */
#ifndef CAUSEWAY_TESTS_NETCODE_LINES_H
#define CAUSEWAY_TESTS_NETCODE_LINES_H

#include "causeway/base.h"
#include "causeway/native/socket.h"
#include "causeway/token.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE (2 * CW_TOKEN_SIZE + 64)

enum line { LINE_NONE, LINE_ONE, LINE_END };

static inline void check(bool good, const char *message)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

/* Makes both streams go by the line, so that no input waits where poll does not see it. */
static inline void lines_begin(void)
{
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

/* Waits for a line, a datagram or the next tick. */
static inline enum line lines_wait(const struct cw_socket *socket, char line[LINE_SIZE])
{
    struct pollfd both[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = (int)cw_socket_handle(socket), .events = POLLIN}};
    poll(both, 2, 1000 / 60);
    if (!both[0].revents)
        return LINE_NONE;
    return fgets(line, LINE_SIZE, stdin) ? LINE_ONE : LINE_END;
}

/* Reads the bytes of a line's digits, from where they begin to its end. */
static inline size_t bytes_from_hex(uint8_t *out, size_t capacity, const char *digits)
{
    size_t size = 0;
    while (size < capacity && sscanf(digits + 2 * size, "%2hhx", &out[size]) == 1)
        size++;
    return size;
}

/* Prints a space, the digits, and the end of the line. */
static inline void print_hex_line(const uint8_t *bytes, size_t size)
{
    printf(" ");
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static inline struct cw_socket *open_socket(const char *address)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket *socket = NULL;
    enum cw_error error = cw_address_parse(address, &config.address);
    if (error == CW_OK)
        error = cw_socket_open(&config, &socket);
    check(error == CW_OK, cw_error_string(error));
    return socket;
}

#endif
