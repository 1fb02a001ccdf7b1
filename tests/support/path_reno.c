/* Reno (RFC 5681). */
#include "path_peer.h"

#include <math.h>

static void begin(struct path_peer *peer)
{
    (void)peer;
}

static void acked(struct path_peer *peer, const struct path_peer_ack *ack)
{
    if (!ack->recovering)
        peer->window += peer->window < peer->threshold ? 1 : 1 / peer->window;
}

static void lost(struct path_peer *peer)
{
    peer->window = peer->threshold = fmax(peer->window / 2, 2);
}

static void timeout(struct path_peer *peer)
{
    lost(peer);
    peer->window = 1;
}

const struct path_peer_control path_peer_reno = {"Reno", begin, acked, lost, timeout};
