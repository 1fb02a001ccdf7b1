/* A pair of request-based ends that talk over real sockets. Every fourth datagram is thrown away on
   its way out, and yet every package arrives, in order, because the receiver asks for it.
     rudp_pair
   Nothing is encrypted, and nothing proves who has sent a datagram: each end takes only those from
   the other's address, but a stranger can forge that. */
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>
#include <causeway/protocols/rudp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES = 100 };

struct end {
    const char *name;
    struct cw_rudp *rudp;
    struct cw_socket *socket;
    struct cw_address address;
    unsigned said, received, datagrams;
};

static void open_end(struct end *end, const char *name)
{
    const struct cw_rudp_config rudp = cw_rudp_config_default();
    struct cw_socket_config socket = cw_socket_config_default();
    *end = (struct end){.name = name};
    if (cw_address_parse("127.0.0.1", &socket.address) != CW_OK ||
        cw_rudp_create(&rudp, &end->rudp) != CW_PROTOCOL_OK ||
        cw_socket_open(&socket, &end->socket) != CW_OK)
        exit(1);
    cw_socket_address(end->socket, &end->address);
}

/* Takes what arrives until then, and plays a round: a new package, and what is to be sent. */
static void tick(struct end *end, const struct end *other, double until)
{
    uint8_t data[CW_RUDP_DATAGRAM_SIZE];
    struct cw_address from;
    struct cw_rudp_event event;
    size_t size;
    do {
        cw_socket_wait(end->socket, until - cw_clock_now());
        while ((size = cw_socket_receive(end->socket, data, sizeof data, &from)) > 0)
            if (cw_address_equal(&from, &other->address))
                cw_rudp_receive(end->rudp, data, size);
    } while (cw_clock_now() < until);
    while (cw_rudp_next(end->rudp, &event))
        if (event.type == CW_RUDP_EVENT_PACKAGE)
            printf("%s hears %.*s (%u)\n", end->name, (int)event.size, (const char *)event.data,
                   ++end->received);
    if (end->said < PACKAGES) {
        char text[32];
        snprintf(text, sizeof text, "package %u", ++end->said);
        cw_rudp_send(end->rudp, (const uint8_t *)text, strlen(text));
    }
    cw_rudp_update(end->rudp, 1);
    while ((size = cw_rudp_transmit(end->rudp, data, sizeof data)) > 0)
        if (++end->datagrams % 4 != 0)
            cw_socket_send(end->socket, &other->address, data, size);
}

int main(void)
{
    static struct end a, b;
    open_end(&a, "a");
    open_end(&b, "b");
    for (double now = cw_clock_now(); a.received < PACKAGES || b.received < PACKAGES;
         now = cw_clock_next_tick(now, 1 / 60.0)) {
        tick(&a, &b, now);
        tick(&b, &a, now);
    }
    printf("all %d packages of both have arrived, without encryption\n", PACKAGES);
    return 0;
}
