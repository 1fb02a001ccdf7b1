#include "path_peer.h"

#include <math.h>
#include <stdlib.h>

#define RING            (2 * PEER_MOST)
#define REORDERED       3   /* a segment so many numbers below an acked one is lost (RFC 9002) */
#define FIRST_TIMEOUT   1   /* seconds (RFC 6298) */
#define LEAST_TIMEOUT   0.2 /* seconds more than the RTT, as in Linux */
#define LONGEST_TIMEOUT 60  /* seconds */

struct path_peer *path_peer_create(enum path_peer_kind kind, uint64_t seed, double start)
{
    static const struct path_peer_control *const controls[] = {
        [PATH_PEER_RENO] = &path_peer_reno,
        [PATH_PEER_CUBIC] = &path_peer_cubic,
        [PATH_PEER_BBR] = &path_peer_bbr,
        [PATH_PEER_LEDBAT] = &path_peer_ledbat,
    };
    struct path_peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        exit(1);
    peer->control = controls[kind];
    peer->random.state = seed;
    peer->window = PEER_FIRST_WINDOW;
    peer->threshold = peer->pacing = INFINITY;
    peer->next_send = start;
    peer->expires = start + FIRST_TIMEOUT;
    peer->control->begin(peer);
    return peer;
}

/* Sending */

static bool has_room(const struct path_peer *peer)
{
    return peer->in_flight + 1 <= fmin(peer->window, PEER_MOST);
}

bool path_peer_transmit(struct path_peer *peer, double now, uint32_t *number)
{
    if (!has_room(peer) || now < peer->next_send)
        return false;
    if (peer->in_flight == 0)
        peer->since = peer->arrived_at = now;
    peer->segments[peer->next % RING] = (struct path_peer_segment){
        .sent = now,
        .since = peer->since,
        .arrived_at = peer->arrived_at,
        .arrived = peer->arrived,
    };
    peer->next_send = now + 1 / peer->pacing;
    peer->in_flight++;
    *number = peer->next++;
    return true;
}

double path_peer_due(const struct path_peer *peer)
{
    return has_room(peer) ? fmin(peer->next_send, peer->expires) : peer->expires;
}

/* Acks */

static void set_timeout(struct path_peer *peer, double now)
{
    const double most =
        peer->rtt > 0 ? peer->rtt + fmax(4 * peer->deviation, LEAST_TIMEOUT) : FIRST_TIMEOUT;
    peer->expires = now + fmin(ldexp(most, (int)peer->expired), LONGEST_TIMEOUT);
}

static void sample_rtt(struct path_peer *peer, double rtt)
{
    if (peer->rtt <= 0) {
        peer->rtt = rtt;
        peer->deviation = rtt / 2;
        return;
    }
    peer->deviation += (fabs(rtt - peer->rtt) - peer->deviation) / 4;
    peer->rtt += (rtt - peer->rtt) / 8;
}

/* Returns what the ack of a segment says of the path: the rate is that at which segments arrived or
   were sent since the newest one that had been acked when this one was sent, whichever is less. */
static struct path_peer_ack measure(struct path_peer *peer, const struct path_peer_segment *segment,
                                    double now)
{
    const double sending = segment->sent - segment->since, arriving = now - segment->arrived_at;
    const double passed = fmax(sending, arriving);
    peer->arrived++;
    peer->arrived_at = now;
    peer->since = segment->sent;
    const struct path_peer_ack ack = {
        .now = now,
        .rtt = now - segment->sent,
        .rate = passed > 0 ? (double)(peer->arrived - segment->arrived) / passed : 0,
        .new_round = segment->arrived >= peer->round_ends,
    };
    if (ack.new_round)
        peer->round_ends = peer->arrived;
    return ack;
}

/* Counts segments as lost that are far below one that was acked. */
static void find_losses(struct path_peer *peer, uint32_t acked)
{
    bool reduces = false;
    for (; peer->oldest + REORDERED <= acked; peer->oldest++) {
        if (peer->segments[peer->oldest % RING].acked)
            continue;
        peer->in_flight--;
        reduces |= peer->oldest >= peer->recover;
    }
    if (!reduces)
        return;
    peer->recover = peer->next;
    peer->control->lost(peer);
}

void path_peer_acked(struct path_peer *peer, uint32_t number, double arrived, double now)
{
    struct path_peer_segment *segment = &peer->segments[number % RING];
    if (number < peer->oldest || segment->acked)
        return;
    segment->acked = true;
    peer->in_flight--;
    peer->expired = 0;
    struct path_peer_ack ack = measure(peer, segment, now);
    ack.delay = arrived - segment->sent;
    ack.recovering = number < peer->recover;
    sample_rtt(peer, ack.rtt);
    set_timeout(peer, now);
    peer->control->acked(peer, &ack);
    find_losses(peer, number);
}

void path_peer_expire(struct path_peer *peer, double now)
{
    if (now < peer->expires)
        return;
    peer->oldest = peer->recover = peer->next;
    peer->in_flight = 0;
    peer->expired++;
    set_timeout(peer, now);
    peer->control->timeout(peer);
}
