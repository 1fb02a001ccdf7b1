/* Acknowledges each chunk, and says when it has all of them.
     foreign_server */
#include "../games/foreign.h"

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    static bool here[CHUNKS];
    int missing = CHUNKS;
    const int fd = open_socket((const struct sockaddr *)&address, sizeof address);
    need(getsockname(fd, (struct sockaddr *)&address, &length) == 0, "getsockname");
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        struct chunk chunk, wanted;
        struct sockaddr_storage from;
        size_t size;
        while ((size = receive(fd, &chunk, &from)) > 0) {
            const uint32_t number = ntohl(chunk.number);
            need(size > sizeof number && number < CHUNKS, "a chunk");
            need(size == chunk_fill(&wanted, number) && memcmp(&chunk, &wanted, size) == 0,
                 "the chunk's bytes");
            missing -= !here[number];
            here[number] = true;
            sendto(fd, &chunk.number, sizeof chunk.number, 0, (struct sockaddr *)&from,
                   sizeof address);
            if (missing == 0) {
                missing = -1;
                puts("all here");
                fflush(stdout);
            }
        }
        usleep(1000);
    }
}
