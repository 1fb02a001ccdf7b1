#define _POSIX_C_SOURCE  200809L
#define _DARWIN_C_SOURCE /* declares macOS's additions to POSIX */

#include "native/socket_internal.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "native/system_address.h"

bool cw_system_source(const struct cw_address *to, struct cw_address *source)
{
    union cw_system_address system = {0};
    const bool is_ipv6 = cw_address_unmapped(to).type == CW_ADDRESS_IPV6;
    const int handle = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    if (handle < 0)
        return false;
    socklen_t length = cw_to_system(to, is_ipv6, &system);
    const bool has_way = connect(handle, &system.any, length) == 0;
    length = sizeof system;
    const bool known = has_way && getsockname(handle, &system.any, &length) == 0;
    close(handle);
    if (known)
        cw_from_system(&system, source);
    return known;
}
