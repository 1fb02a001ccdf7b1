/* The two ends of a UDP path. */
#ifndef CAUSEWAY_RELAY_RTC_UDP_ADDRESS_H
#define CAUSEWAY_RELAY_RTC_UDP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An address and a port. IPv4 is stored as the mapped IPv6 address ::ffff:a.b.c.d, as a dual-stack
   socket gives it. */
struct udp_address {
    uint8_t ip[16];
    uint16_t port; /* a number in host order */
};

static inline bool udp_address_is_v4(const struct udp_address *address)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(address->ip, mapped, sizeof mapped) == 0;
}

static inline bool udp_address_same(const struct udp_address *a, const struct udp_address *b)
{
    return a->port == b->port && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

/* The two ends of a datagram. The near end matters on a machine with several addresses: a browser
   takes answers only from the address that it asked. */
struct udp_path {
    struct udp_address remote;
    uint8_t local[16];  /* our address, without its port; all zero = the system chooses */
    uint32_t interface; /* 0 = the system chooses */
};

#endif
