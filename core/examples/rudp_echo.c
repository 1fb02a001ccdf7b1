/* An echo server for request-based ends: it sends each package of its player back. Behind a relay
   with --raw, the player may be a page.
     rudp_echo [ADDRESS:PORT]
   Nothing is encrypted, and nothing proves who has sent a datagram. So it plays with one address
   at a time, the first one that it hears from, until that has been silent for five seconds. */
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>
#include <causeway/protocols/rudp.h>

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
static bool receive(struct cw_socket *socket, struct cw_rudp *rudp, struct cw_address *player)
{
    uint8_t data[CW_RUDP_DATAGRAM_SIZE];
    struct cw_address from;
    size_t size;
    bool received = false;
    while ((size = cw_socket_receive(socket, data, sizeof data, &from)) > 0) {
        if (player->type == CW_ADDRESS_NONE) {
            cw_rudp_reset(rudp);
            *player = from;
        }
        if (cw_address_equal(&from, player))
            received |= cw_rudp_receive(rudp, data, size) == CW_PROTOCOL_OK;
    }
    return received;
}

int main(int argc, char **argv)
{
    const struct cw_rudp_config config = cw_rudp_config_default();
    struct cw_socket_config at = cw_socket_config_default();
    struct cw_socket *socket;
    struct cw_rudp *rudp;
    struct cw_address player = {0};
    char text[CW_ADDRESS_TEXT_SIZE];
    if (cw_address_parse(argc > 1 ? argv[1] : "127.0.0.1:40000", &at.address) != CW_OK ||
        cw_socket_open(&at, &socket) != CW_OK || cw_rudp_create(&config, &rudp) != CW_PROTOCOL_OK) {
        fprintf(stderr, "usage: rudp_echo [ADDRESS:PORT], with an address of this machine\n");
        return 1;
    }
    cw_socket_address(socket, &at.address);
    printf("insecure: listening on %s\n", cw_address_format(&at.address, text));
    fflush(stdout);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    double last = 0;
    for (double now = cw_clock_now(); !stopping; now = cw_clock_next_tick(now, 1 / 60.0)) {
        struct cw_rudp_event event;
        uint8_t data[CW_RUDP_DATAGRAM_SIZE];
        size_t size;
        last = receive(socket, rudp, &player) ? now : last;
        if (now - last > SILENCE_SECONDS)
            player = (struct cw_address){0};
        while (cw_rudp_next(rudp, &event))
            if (event.type == CW_RUDP_EVENT_PACKAGE)
                cw_rudp_send(rudp, event.data, event.size);
        cw_rudp_update(rudp, 1);
        while (player.type != CW_ADDRESS_NONE && (size = cw_rudp_transmit(rudp, data, sizeof data)))
            cw_socket_send(socket, &player, data, size);
        cw_socket_wait(socket, 1 / 60.0 - (cw_clock_now() - now));
    }
    cw_rudp_destroy(rudp);
    cw_socket_close(socket);
    return 0;
}
