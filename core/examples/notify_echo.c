/* An echo server with packet notification: it sends each bunch of its player back. Behind a relay
   with --raw, the player may be a page.
     notify_echo [ADDRESS:PORT]
   Nothing is encrypted, and nothing proves who has sent a datagram. So it plays with one address
   at a time, the first one that it hears from, until that has been silent for five seconds. */
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>
#include <causeway/protocols/bunch.h>

#include <signal.h>
#include <stdio.h>

#define SILENCE_SECONDS 5

static volatile sig_atomic_t stopping;

static void stop(int signal)
{
    (void)signal;
    stopping = 1;
}

/* Takes what has arrived. Returns whether it came from the player, who may be a new one. */
static bool receive(struct cw_socket *socket, struct cw_bunch *bunch, struct cw_address *player)
{
    uint8_t data[CW_NOTIFY_HEADER_SIZE + 1024];
    struct cw_address from;
    size_t size;
    bool received = false;
    while ((size = cw_socket_receive(socket, data, sizeof data, &from)) > 0) {
        if (player->type == CW_ADDRESS_NONE) {
            cw_bunch_reset(bunch);
            *player = from;
        }
        if (cw_address_equal(&from, player))
            received |= cw_bunch_receive(bunch, data, size) == CW_PROTOCOL_OK;
    }
    return received;
}

int main(int argc, char **argv)
{
    const struct cw_bunch_config config = cw_bunch_config_default();
    struct cw_socket_config at = cw_socket_config_default();
    struct cw_socket *socket;
    struct cw_bunch *bunch;
    struct cw_address player = {0};
    char text[CW_ADDRESS_TEXT_SIZE];
    if (cw_address_parse(argc > 1 ? argv[1] : "127.0.0.1:40000", &at.address) != CW_OK ||
        cw_socket_open(&at, &socket) != CW_OK ||
        cw_bunch_create(&config, &bunch) != CW_PROTOCOL_OK) {
        fprintf(stderr, "usage: notify_echo [ADDRESS:PORT], with an address of this machine\n");
        return 1;
    }
    cw_socket_address(socket, &at.address);
    printf("insecure: listening on %s\n", cw_address_format(&at.address, text));
    fflush(stdout);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    double last = 0;
    for (double now = cw_clock_now(); !stopping; now = cw_clock_next_tick(now, 1 / 60.0)) {
        struct cw_bunch_event event;
        uint8_t data[CW_NOTIFY_HEADER_SIZE + 1024];
        size_t size;
        last = receive(socket, bunch, &player) ? now : last;
        if (now - last > SILENCE_SECONDS)
            player = (struct cw_address){0};
        cw_bunch_update(bunch, now);
        while (cw_bunch_next(bunch, &event))
            if (event.type == CW_BUNCH_EVENT_BUNCH)
                cw_bunch_send(bunch, event.number, event.data, event.size);
        while (player.type != CW_ADDRESS_NONE &&
               (size = cw_bunch_transmit(bunch, data, sizeof data)))
            cw_socket_send(socket, &player, data, size);
        cw_socket_wait(socket, 1 / 60.0 - (cw_clock_now() - now));
    }
    cw_bunch_destroy(bunch);
    cw_socket_close(socket);
    return 0;
}
