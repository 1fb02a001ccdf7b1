/* Sends back every datagram.
     udp_server */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char data[2048];
    const int handle = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(handle, (void *)&address, length) != 0 ||
        getsockname(handle, (void *)&address, &length) != 0)
        return 1;
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        struct sockaddr_in from;
        length = sizeof from;
        const ssize_t size = recvfrom(handle, data, sizeof data, 0, (void *)&from, &length);
        if (size >= 0)
            sendto(handle, data, (size_t)size, 0, (void *)&from, length);
    }
}
