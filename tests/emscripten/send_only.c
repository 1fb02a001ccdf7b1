/* Calls sendto and nothing that receives: Emscripten then knows not that it needs htons and ntohs.
   That it links is the test. */
#include <netinet/in.h>
#include <sys/socket.h>

int main(void)
{
    const struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = 1, .sin_addr.s_addr = INADDR_LOOPBACK};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    return sendto(fd, "x", 1, 0, (const struct sockaddr *)&server, sizeof server) != 1;
}
