/* CUBIC (RFC 9438), with fast convergence and the region in which it is as fast as Reno. */
#include "path_peer.h"

#include <math.h>

#define C    0.4 /* segments per second to the third */
#define BETA 0.7 /* the part of the window that a loss leaves */

static void begin(struct path_peer *peer)
{
    peer->cubic.epoch = -1;
}

static void begin_epoch(struct path_peer *peer, double now)
{
    struct path_cubic *cubic = &peer->cubic;
    cubic->epoch = now;
    cubic->friendly = peer->window;
    cubic->most = fmax(cubic->most, peer->window);
    cubic->origin = cbrt((cubic->most - peer->window) / C);
}

/* Returns the window so many seconds after the epoch began. */
static double curve(const struct path_cubic *cubic, double passed)
{
    return cubic->most + C * pow(passed - cubic->origin, 3);
}

static void acked(struct path_peer *peer, const struct path_peer_ack *ack)
{
    struct path_cubic *cubic = &peer->cubic;
    if (ack->recovering)
        return;
    if (peer->window < peer->threshold) {
        peer->window += 1;
        return;
    }
    if (cubic->epoch < 0)
        begin_epoch(peer, ack->now);
    const double passed = ack->now - cubic->epoch;
    const double alpha = cubic->friendly < cubic->before_loss ? 3 * (1 - BETA) / (1 + BETA) : 1;
    cubic->friendly += alpha / peer->window;
    if (curve(cubic, passed) < cubic->friendly) {
        peer->window = cubic->friendly;
        return;
    }
    const double target = fmin(curve(cubic, passed + peer->rtt), 1.5 * peer->window);
    peer->window += fmax(target - peer->window, 0) / peer->window;
}

static void lost(struct path_peer *peer)
{
    struct path_cubic *cubic = &peer->cubic;
    const bool fell = peer->window < cubic->most;
    cubic->before_loss = peer->window;
    cubic->most = fell ? peer->window * (1 + BETA) / 2 : peer->window;
    cubic->epoch = -1;
    peer->window = peer->threshold = fmax(peer->window * BETA, 2);
}

static void timeout(struct path_peer *peer)
{
    lost(peer);
    peer->cubic.most = 0; /* so that the next epoch begins at the origin of its curve */
    peer->window = 1;
}

const struct path_peer_control path_peer_cubic = {"CUBIC", begin, acked, lost, timeout};
