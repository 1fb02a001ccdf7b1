/* A node: it sends a packet a second to every address in a text file, one address with its port a
   line, and prints from where packets come and how long they are.
     node ADDRESS:PORT FILE
   Nothing is encrypted, and nothing proves who has sent a packet: it may be forged. */
#include <causeway/causeway.h>
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static void check(enum cw_error error, const char *what)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, cw_error_string(error));
    exit(1);
}

static unsigned read_addresses(const char *name, struct cw_address addresses[MOST])
{
    char line[256];
    unsigned count = 0;
    FILE *file = fopen(name, "r");
    if (!file)
        perror(name);
    while (file && count < MOST && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0])
            check(cw_resolve(line, &addresses[count++]), line);
    }
    if (file)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    static const uint8_t hello[] = "hello";
    struct cw_address nodes[MOST], sender;
    char text[CW_ADDRESS_TEXT_SIZE];
    uint8_t packet[1500];
    if (argc < 3) {
        fprintf(stderr, "node ADDRESS:PORT FILE\n");
        return 1;
    }
    const unsigned count = read_addresses(argv[2], nodes);
    struct cw_socket_config config = cw_socket_config_default();
    check(cw_resolve(argv[1], &config.address), argv[1]);
    struct cw_socket *socket;
    check(cw_socket_open(&config, &socket), argv[1]);
    cw_socket_address(socket, &sender);
    printf("listening on %s, without encryption\n", cw_address_format(&sender, text));
    fflush(stdout);

    for (double next = cw_clock_now();; next = cw_clock_next_tick(next, 1)) {
        for (unsigned i = 0; i < count; i++) /* UDP may lose any packet, so errors do not matter */
            cw_socket_send(socket, &nodes[i], hello, sizeof hello);
        while (cw_clock_now() < next + 1) {
            cw_socket_wait(socket, next + 1 - cw_clock_now());
            size_t size;
            while ((size = cw_socket_receive(socket, packet, sizeof packet, &sender)) > 0)
                printf("%zu bytes from %s\n", size, cw_address_format(&sender, text));
            fflush(stdout);
        }
    }
}
