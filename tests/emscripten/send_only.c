/* Calls sendto and nothing that receives: Emscripten then does not know that it needs htons and
   ntohs. The test is that it links. */
#include <netinet/in.h>
#include <sys/socket.h>

int main(void)
{
    const struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = 1, .sin_addr.s_addr = INADDR_LOOPBACK};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    return sendto(fd, "x", 1, 0, (const struct sockaddr *)&server, sizeof server) != 1;
}
