/* LEDBAT (RFC 6817), which gives way to everything else. It never forgets its base delay: the
   standard forgets one after ten minutes, and no run is as long. */
#include "path_peer.h"

#include <math.h>

#define TARGET 0.1 /* seconds of queue */
#define GAIN   1.0
#define LEAST  2 /* segments, also in the beginning */

static void begin(struct path_peer *peer)
{
    peer->window = LEAST;
    peer->ledbat.base = INFINITY;
    for (uint32_t i = 0; i < PEER_DELAYS; i++)
        peer->ledbat.delays[i] = INFINITY;
}

static void acked(struct path_peer *peer, const struct path_peer_ack *ack)
{
    struct path_ledbat *ledbat = &peer->ledbat;
    double delay = INFINITY;
    ledbat->delays[ledbat->next++ % PEER_DELAYS] = ack->delay;
    for (uint32_t i = 0; i < PEER_DELAYS; i++)
        delay = fmin(delay, ledbat->delays[i]);
    ledbat->base = fmin(ledbat->base, delay);
    const double off_target = (TARGET - (delay - ledbat->base)) / TARGET;
    peer->window = fmax(peer->window + GAIN * off_target / peer->window, LEAST);
}

static void lost(struct path_peer *peer)
{
    peer->window = fmax(peer->window / 2, LEAST);
}

static void timeout(struct path_peer *peer)
{
    peer->window = 1;
}

const struct path_peer_control path_peer_ledbat = {"LEDBAT", begin, acked, lost, timeout};
