/* A player: it connects over a link, then sends packets at a fixed rate and measures what becomes
   of them. With a connect token it speaks netcode, and the game server's acks tell the round-trip
   times. Without one its datagrams hold the time, and the server must echo them. */
#ifndef CAUSEWAY_RELAY_LOAD_PLAYER_H
#define CAUSEWAY_RELAY_LOAD_PLAYER_H

#include "load/link.h"
#include "load/quantiles.h"

#include <causeway/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a packet: the least holds the time, the most fits into a datagram. */
#define PLAYER_BYTES_MIN 8
#define PLAYER_BYTES_MAX 1100

/* The results of all players of a transport. */
struct tally {
    unsigned players;
    unsigned connected;
    unsigned refused; /* players who were not connected */
    unsigned dropped; /* players who were connected and lost the connection */
    uint64_t packets; /* packets sent, and of these, those acked or echoed */
    uint64_t returned;
    uint64_t datagrams_sent; /* all datagrams on the links, and their bytes */
    uint64_t datagrams_received;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    struct quantiles connect; /* from the first packet of the link to the game server's answer */
    struct quantiles rtt;
    char reason[160]; /* why the last player was refused or dropped */
};

struct player_config {
    const struct link_kind *kind;
    const struct link_target *target;
    size_t bytes;
    double rate; /* packets a second */
    struct tally *tally;
};

struct player;

/* Has links go to a game server, which relays know by a name such as 10.0.0.5_7000 or
   2001-db8--5_7000; see session/server.h. A token's first server is chosen by its player. */
void player_choose_server(struct link_target *target, const struct cw_address *address);

/* Makes a player, which connects at once; token is NULL, or a connect token. Returns NULL without
   memory. */
struct player *player_create(const struct player_config *config, const uint8_t *token, double now);

/* Lets time pass. Packets that are due before `until` are sent, even when it is later now. */
void player_tick(struct player *player, double until, double now);

/* Says goodbye, and frees the player. NULL is allowed. */
void player_destroy(struct player *player);

#endif
