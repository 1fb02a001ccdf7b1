/* A pair of ends with packet notification that talk over real sockets. Every fourth datagram is
   thrown away on its way out. Bunches in it are sent again; the property with its newest value.
     notify_pair
   Nothing is encrypted, and nothing proves who has sent a datagram: each end takes only those from
   the other's address, but a stranger can forge that. */
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>
#include <causeway/protocols/bunch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUNCHES = 100 };
struct end {
    const char *name;
    struct cw_bunch *bunch;
    struct cw_socket *socket;
    struct cw_address address;
    unsigned said, received, datagrams;
};

static void open_end(struct end *end, const char *name)
{
    struct cw_bunch_config bunch = cw_bunch_config_default();
    struct cw_socket_config socket = cw_socket_config_default();
    bunch.properties = 1; /* beside the bunches */
    *end = (struct end){.name = name};
    if (cw_address_parse("127.0.0.1", &socket.address) != CW_OK ||
        cw_bunch_create(&bunch, &end->bunch) != CW_PROTOCOL_OK ||
        cw_socket_open(&socket, &end->socket) != CW_OK)
        exit(1);
    cw_socket_address(end->socket, &end->address);
}

/* Takes what arrives until then, and plays a tick: a bunch, a new value, and what is to be sent. */
static void tick(struct end *end, const struct end *other, double until)
{
    uint8_t data[CW_NOTIFY_HEADER_SIZE + 1024];
    struct cw_address from;
    struct cw_bunch_event event;
    size_t size;
    do {
        cw_socket_wait(end->socket, until - cw_clock_now());
        while ((size = cw_socket_receive(end->socket, data, sizeof data, &from)) > 0)
            if (cw_address_equal(&from, &other->address))
                cw_bunch_receive(end->bunch, data, size);
    } while (cw_clock_now() < until);
    cw_bunch_update(end->bunch, cw_clock_now());
    while (cw_bunch_next(end->bunch, &event)) {
        const bool is_bunch = event.type == CW_BUNCH_EVENT_BUNCH;
        end->received += is_bunch;
        printf("%s %s %.*s\n", end->name, is_bunch ? "hears bunch" : "sees value", (int)event.size,
               (const char *)event.data);
    }
    if (end->said < BUNCHES) {
        char text[16];
        snprintf(text, sizeof text, "%u", ++end->said);
        cw_bunch_send(end->bunch, 0, (const uint8_t *)text, strlen(text));
        cw_bunch_set(end->bunch, 0, (const uint8_t *)text, strlen(text));
    }
    while ((size = cw_bunch_transmit(end->bunch, data, sizeof data)) > 0)
        if (++end->datagrams % 4 != 0)
            cw_socket_send(end->socket, &other->address, data, size);
}

int main(void)
{
    static struct end a, b;
    open_end(&a, "a");
    open_end(&b, "b");
    for (double now = cw_clock_now(); a.received < BUNCHES || b.received < BUNCHES;
         now = cw_clock_next_tick(now, 1 / 60.0)) {
        tick(&a, &b, now);
        tick(&b, &a, now);
    }
    printf("all %d bunches of both have arrived, without encryption\n", BUNCHES);
    return 0;
}
