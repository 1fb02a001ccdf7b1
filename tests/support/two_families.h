/* A resolver in the place of the system's: both.example has an address of IPv6 and then one of
   IPv4, six.example has one of IPv6 alone, and no other name has any. */
#ifndef CAUSEWAY_TESTS_TWO_FAMILIES_H
#define CAUSEWAY_TESTS_TWO_FAMILIES_H

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct found_address {
    struct addrinfo info; /* must be first: freeaddrinfo gets its address */
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static struct found_address *found_address(const char *text, const char *port)
{
    struct found_address *found = calloc(1, sizeof *found);
    const in_port_t number = htons(port ? (in_port_t)strtoul(port, NULL, 10) : 0);
    found->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = number};
    found->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = number};
    if (inet_pton(AF_INET, text, &found->v4.sin_addr) == 1)
        found->info = (struct addrinfo){.ai_family = AF_INET,
                                        .ai_addr = (struct sockaddr *)&found->v4,
                                        .ai_addrlen = sizeof found->v4};
    else if (inet_pton(AF_INET6, text, &found->v6.sin6_addr) == 1)
        found->info = (struct addrinfo){.ai_family = AF_INET6,
                                        .ai_addr = (struct sockaddr *)&found->v6,
                                        .ai_addrlen = sizeof found->v6};
    return found;
}

void freeaddrinfo(struct addrinfo *info)
{
    while (info) {
        struct addrinfo *next = info->ai_next;
        free(info);
        info = next;
    }
}

int getaddrinfo(const char *restrict name, const char *restrict port,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    const bool is_name = !(hints->ai_flags & AI_NUMERICHOST);
    const bool both = is_name && strcmp(name, "both.example") == 0;
    const bool six = both || (is_name && strcmp(name, "six.example") == 0);
    struct addrinfo *info = &found_address(six ? "2001:db8::6" : name, port)->info;
    if (both)
        info->ai_next = &found_address("192.0.2.4", port)->info;
    if (info->ai_family != AF_UNSPEC) {
        *out = info;
        return 0;
    }
    freeaddrinfo(info);
    return EAI_NONAME;
}

#endif
