#include "base/error_texts.h"

#define SOCKET_ERRORS(ERROR)                                                                       \
    ERROR(HOST, "the host name has no address")                                                    \
    ERROR(PORT, "the address has no port; write it as in 1.2.3.4:5, [::1]:5 or example.com:5; a "  \
                "server listens at a free port of the system's choice when the port is 0")         \
    ERROR(SOCKET, "the operating system did not provide a socket")                                 \
    ERROR(ADDRESS_IN_USE,                                                                          \
          "another program is using this address and port; stop it or choose another port")        \
    ERROR(ADDRESS_NOT_HERE, "the address does not belong to this machine")                         \
    ERROR(NOT_PERMITTED, "the operating system does not permit this address or port")              \
    ERROR(SOCKET_FULL, "the socket cannot take more just now; send later or drop the datagram")    \
    ERROR(SEND, "the operating system refused to send this datagram: no route, or too long")
CW_ERROR_LIST(cw_socket_errors, CW_ERROR_HOST, SOCKET_ERRORS)
