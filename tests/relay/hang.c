/* This library, loaded before the system's (LD_PRELOAD), hangs a program that accepts a
   connection. */
#include <sys/socket.h>

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    (void)fd, (void)address, (void)size, (void)flags;
    for (volatile int forever = 1; forever;)
        ;
    return -1;
}
