/* Calls sendto and recvfrom, and none of the other functions of which Emscripten knows that they
   need ntohs. The test is that it links. */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

int main(void)
{
    char data[1] = "x";
    const struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = 1, .sin_addr.s_addr = INADDR_LOOPBACK};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(fd, data, sizeof data, 0, (const struct sockaddr *)&server, sizeof server);
    return recvfrom(fd, data, sizeof data, MSG_DONTWAIT, NULL, NULL) > 0;
}
