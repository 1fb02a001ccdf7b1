/* A game server in small: it answers every packet of every player with the same payload.
     demo_server [ADDRESS:PORT]     default 127.0.0.1:0, any free port; it says which */
#include "causeway/endpoint.h"
#include "causeway/native/clock.h"
#include "causeway/native/resolve.h"
#include "causeway/native/socket.h"

#include <stdio.h>

#define PLAYERS 256
#define IDLE    30.0 /* seconds without a datagram after which a player is gone */

static struct player {
    struct cw_address address;
    struct cw_endpoint *endpoint; /* NULL: nobody */
    double heard;
} players[PLAYERS];

/* The player at an address, who may be new; NULL when there are too many. */
static struct player *find_player(const struct cw_address *address, double now)
{
    struct player *vacant = NULL;
    for (struct player *player = players; player < players + PLAYERS; player++) {
        if (player->endpoint && now - player->heard > IDLE) {
            cw_endpoint_destroy(player->endpoint);
            player->endpoint = NULL;
        }
        if (player->endpoint && cw_address_equal(&player->address, address))
            return player;
        if (!player->endpoint && !vacant)
            vacant = player;
    }
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    if (!vacant || cw_endpoint_create(&vacant->endpoint, &config) != CW_OK)
        return NULL;
    vacant->address = *address;
    return vacant;
}

static void answer(struct cw_socket *socket, struct player *player, double now)
{
    uint8_t out[1400];
    struct cw_endpoint_event event;
    while (cw_endpoint_next(player->endpoint, &event)) {
        if (event.type != CW_ENDPOINT_PACKET)
            continue;
        cw_endpoint_send(player->endpoint, event.payload, event.size, now, NULL);
        size_t size;
        while ((size = cw_endpoint_transmit(player->endpoint, out, sizeof out, now)) > 0)
            cw_socket_send(socket, &player->address, out, size);
    }
}

int main(int argc, char **argv)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket *socket = NULL;
    enum cw_error error = cw_resolve(&config.address, argc > 1 ? argv[1] : "127.0.0.1:0");
    if (error == CW_OK)
        error = cw_socket_open(&socket, &config);
    if (error != CW_OK) {
        fprintf(stderr, "demo_server: %s\n", cw_error_string(error));
        return 1;
    }
    struct cw_address from;
    char text[CW_ADDRESS_TEXT_SIZE];
    cw_socket_address(socket, &from);
    cw_address_format(&from, text);
    printf("game server on %s\n", text);
    fflush(stdout);

    for (;;) {
        uint8_t data[1400];
        size_t size;
        cw_socket_wait(socket, 1.0);
        while ((size = cw_socket_receive(socket, &from, data, sizeof data)) > 0) {
            const double now = cw_clock_now();
            struct player *player = find_player(&from, now);
            if (!player)
                continue;
            player->heard = now;
            cw_endpoint_update(player->endpoint, now);
            cw_endpoint_receive(player->endpoint, data, size, now);
            answer(socket, player, now);
        }
    }
}
