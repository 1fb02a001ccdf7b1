#include "os/overflow.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>

uint32_t overflow_since(int fd, uint32_t *counted)
{
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size) != 0)
        return 0;
    const uint32_t more = info[SK_MEMINFO_DROPS] - *counted;
    *counted = info[SK_MEMINFO_DROPS];
    return more;
}
