/* Put before the system's library (LD_PRELOAD), it lets a program hang that asks where a connection
   comes from: the relay does so for each new session. */
#include <sys/socket.h>

int getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    (void)fd, (void)address, (void)size;
    for (volatile int forever = 1; forever;)
        ;
    return -1;
}
