#include "session/server.h"

#include <stdio.h>
#include <string.h>

bool session_server_read(const char *text, size_t size, struct socket_address *out)
{
    char host[SESSION_SERVER_TEXT + 1];
    char both[SESSION_SERVER_TEXT + 4];
    bool has_port;
    memset(out, 0, sizeof *out);
    if (size > SESSION_SERVER_TEXT || memchr(text, ':', size) || memchr(text, '\0', size))
        return false;
    memcpy(host, text, size);
    host[size] = '\0';
    char *port = strrchr(host, '_');
    if (!port)
        return false;
    *port++ = '\0';
    for (char *c = host; *c; c++)
        *c = *c == '-' ? ':' : *c;
    snprintf(both, sizeof both, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    struct socket_address server;
    unsigned char bytes[16];
    if (!socket_address_valid(both, 1) || !socket_address_parse(both, &server, &has_port) ||
        !socket_address_bytes(&server, bytes))
        return false;
    socket_address_of_bytes(bytes, out);
    socket_address_set_port(out, socket_address_port(&server));
    return true;
}
