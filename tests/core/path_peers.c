/* The peers of path_peer.h behave as those whose names they bear: congestion control is judged by
   what it does beside them. */
#include "path_world.h"

#include "fixture.h"

#include <math.h>

#define RTT 0.1

static void destroy_world(void *world)
{
    path_world_destroy(world);
}

static struct path_world *world_of(double rtt, double kbit, double queue, double loss)
{
    struct cw_simulator_path there = path_of_kbit(rtt, kbit, queue), back = path_of_rtt(rtt);
    there.loss = loss;
    return own(path_world_create(1, &there, &back), destroy_world);
}

/* Lets the peers begin for 20 s, then measures them. */
static void run(struct path_world *world, double seconds)
{
    path_world_run(world, 20);
    path_world_measure(world);
    path_world_run(world, 20 + seconds);
}

/* Returns the part of the link that a flow had. */
static double part(const struct path_world *world, const struct path_flow *flow, double seconds)
{
    return (double)flow->ends[1].bytes_arrived / (world->links[0].rate * seconds);
}

TEST(test_each_peer_uses_a_link_that_it_has_for_itself)
{
    static const double kbits[] = {3000, 10000}, rtts[] = {0.04, 0.1};
    for (int i = 0; i < 4 * PATH_PEER_KINDS; i++) {
        struct path_world *world = world_of(rtts[i & 1], kbits[i >> 1 & 1], 0.15, 0);
        const struct path_flow *flow = path_world_add_peer(world, (enum path_peer_kind)(i / 4), 0);
        run(world, 40);
        if (part(world, flow, 40) < 0.9)
            fail_msg("%s, %g kbit/s, RTT %g: %g", flow->peer->control->name, kbits[i >> 1 & 1],
                     rtts[i & 1], part(world, flow, 40));
        end_owned(world);
    }
}

/* Reno and CUBIC fill the queue of 300 ms, LEDBAT fills it up to its target of
   100 ms, and BBR fills it little. */
TEST(test_each_peer_keeps_its_queue)
{
    static const double least[] = {150, 200, 0, 70}, most[] = {270, 290, 20, 110};
    for (int i = 0; i < PATH_PEER_KINDS; i++) {
        struct path_world *world = world_of(RTT, 3000, 0.3, 0);
        path_world_add_peer(world, (enum path_peer_kind)i, 0);
        run(world, 120);
        const double queue = path_queue_ms(&world->links[0]);
        if (queue < least[i] || queue > most[i])
            fail_msg("%s: a queue of %g ms", world->flows[0].peer->control->name, queue);
    }
}

/* Returns what the first of two peers had of what both had; the second begins later. */
static double share(struct path_world *world, enum path_peer_kind first, enum path_peer_kind second)
{
    const struct path_flow *a = path_world_add_peer(world, first, 0);
    const struct path_flow *b = path_world_add_peer(world, second, 5);
    run(world, 120);
    const double ours = (double)a->ends[1].bytes_arrived;
    return ours / (ours + (double)b->ends[1].bytes_arrived);
}

TEST(test_two_flows_of_cubic_share_a_link)
{
    const double first = share(world_of(RTT, 10000, 0.1, 0), PATH_PEER_CUBIC, PATH_PEER_CUBIC);
    assert_true(first > 0.4 && first < 0.6);
}

TEST(test_ledbat_yields_to_cubic)
{
    assert_true(share(world_of(RTT, 3000, 0.4, 0), PATH_PEER_LEDBAT, PATH_PEER_CUBIC) < 0.1);
}

/* Where the bandwidth times the RTT is small, CUBIC is Reno with another factor. */
TEST(test_cubic_is_as_fast_as_reno_on_a_short_path)
{
    const double cubic = share(world_of(0.02, 3000, 0.03, 0), PATH_PEER_CUBIC, PATH_PEER_RENO);
    assert_true(cubic > 0.4 && cubic < 0.65);
}

/* BBR has more than others where the queue is shorter than its window of two pipes, and less where
   the queue is longer. */
TEST(test_bbr_beside_reno_depends_on_the_queue)
{
    assert_true(share(world_of(RTT, 3000, 0.05, 0), PATH_PEER_BBR, PATH_PEER_RENO) > 0.7);
    assert_true(share(world_of(RTT, 3000, 0.8, 0), PATH_PEER_BBR, PATH_PEER_RENO) < 0.5);
}

TEST(test_losses_at_random_slow_down_all_but_bbr)
{
    for (int i = 0; i < PATH_PEER_KINDS; i++) {
        struct path_world *world = world_of(RTT, 3000, 0.2, 0.05);
        const struct path_flow *flow = path_world_add_peer(world, (enum path_peer_kind)i, 0);
        run(world, 60);
        const double had = part(world, flow, 60);
        if (i == PATH_PEER_BBR)
            assert_true(had > 0.85);
        else
            assert_true(had < 0.4);
    }
}

/* BBR paces by 1.25, 0.75 and 1 times the rate of the link, and lets only four segments be in
   flight for a moment when its least RTT is ten seconds old. */
TEST(test_bbr_probes)
{
    struct path_world *world = world_of(RTT, 3000, 0.3, 0);
    const struct path_peer *peer = path_world_add_peer(world, PATH_PEER_BBR, 0)->peer;
    const double rate = 3e6 / 8 / PEER_SEGMENT;
    double least = INFINITY, most = 0, since = 0;
    int probes = 0;
    path_world_run(world, 5);
    while (world->now < 60) {
        path_world_run(world, world->now + 0.05);
        least = fmin(least, peer->pacing);
        most = fmax(most, peer->pacing);
        if (peer->window > 4 || world->now - since < 5)
            continue;
        assert_true(since == 0 || fabs(world->now - since - 10.4) < 0.5);
        since = world->now;
        probes++;
    }
    assert_true(probes >= 4 && probes <= 6);
    assert_true(fabs(least / rate - 0.75) < 0.03 && fabs(most / rate - 1.25) < 0.03);
}

/* A peer by itself, whose segments and acks are moved by hand. */

static struct path_peer *peer_of(enum path_peer_kind kind)
{
    return own(path_peer_create(kind, 1, 0), free);
}

/* Sends a window and acks it an RTT later, without the segments from the given ones on. */
static void round_trip(struct path_peer *peer, double *now, uint32_t lost, uint32_t count)
{
    uint32_t first;
    assert_true(path_peer_transmit(peer, *now, &first));
    uint32_t last = first;
    for (uint32_t number; path_peer_transmit(peer, *now, &number);)
        last = number;
    *now += RTT;
    for (uint32_t i = first; i <= last; i++) {
        if (i - first - lost >= count)
            path_peer_acked(peer, i, *now - RTT / 2, *now);
    }
}

/* Lets a peer grow to so many segments, and then loses two of a window. */
static double grow_and_lose(struct path_peer *peer, double window)
{
    double now = 0;
    while (peer->window < window)
        round_trip(peer, &now, 0, 0);
    round_trip(peer, &now, 10, 2);
    return now;
}

TEST(test_a_window_is_reduced_once_for_the_losses_of_a_round_trip)
{
    static const double part[] = {[PATH_PEER_RENO] = 0.5, [PATH_PEER_CUBIC] = 0.7};
    for (int i = PATH_PEER_RENO; i <= PATH_PEER_CUBIC; i++) {
        struct path_peer *peer = peer_of((enum path_peer_kind)i);
        double now = 0;
        while (peer->window < 100)
            round_trip(peer, &now, 0, 0);
        const double before = peer->window;
        round_trip(peer, &now, 0, 2);
        assert_true(fabs(peer->window / (before + 1) - part[i]) < 0.02);
    }
}

/* Where Reno would have grown more than the curve, the window is Reno's. */
TEST(test_cubic_is_not_slower_than_reno)
{
    struct path_peer *peer = peer_of(PATH_PEER_CUBIC);
    double now = 0;
    round_trip(peer, &now, 5, 1);
    const double before = peer->cubic.most;
    for (int i = 0; i < 15; i++)
        round_trip(peer, &now, 0, 0);
    assert_true(peer->window > 1.2 * before);
}

/* The window is again what it was before a loss after the time K, hardly grows around it, and then
   grows faster and faster. */
TEST(test_cubic_grows_along_its_curve)
{
    struct path_peer *peer = peer_of(PATH_PEER_CUBIC);
    double now = grow_and_lose(peer, 1000);
    const double before = peer->cubic.most, k = cbrt(before * 0.3 / 0.4), since = now;
    double windows[3];
    for (int i = 0; i < 3; i++) {
        while (now < since + k * (i + 1) / 2)
            round_trip(peer, &now, 0, 0);
        windows[i] = peer->window / before;
    }
    assert_true(fabs(windows[0] - (1 - 0.3 / 8)) < 0.01);
    assert_true(fabs(windows[1] - 1) < 0.01);
    assert_true(fabs(windows[2] - (1 + 0.3 / 8)) < 0.01);
}

/* A window that did not grow back before the next loss makes room: the next curve levels off below
   it. */
TEST(test_cubic_makes_room_fast)
{
    struct path_peer *peer = peer_of(PATH_PEER_CUBIC);
    double now = grow_and_lose(peer, 1000);
    for (int i = 0; i < 5; i++)
        round_trip(peer, &now, 0, 0);
    const double before = peer->window;
    round_trip(peer, &now, 10, 1);
    const double since = now, k = cbrt(before * (0.85 - 0.7) / 0.4);
    while (now < since + k)
        round_trip(peer, &now, 0, 0);
    assert_true(fabs(peer->window / before - 0.85) < 0.01);
}

/* After everything in flight was lost, a peer begins with one segment, later each time. */
TEST(test_a_peer_gives_up_what_nobody_acks)
{
    for (int i = 0; i < PATH_PEER_KINDS; i++) {
        struct path_peer *peer = peer_of((enum path_peer_kind)i);
        double now = 0, waited = 0;
        for (int round = 0; round < 4; round++)
            round_trip(peer, &now, 0, 0);
        for (int times = 0; times < 3; times++) {
            uint32_t number, sent = 0;
            while (path_peer_due(peer) < peer->expires) {
                now = fmax(now, path_peer_due(peer));
                sent += path_peer_transmit(peer, now, &number);
            }
            assert_true(times == 0 ? sent > 1 : sent == 1);
            assert_true(peer->expires - now > waited);
            waited = peer->expires - now;
            now = peer->expires;
            path_peer_expire(peer, now);
        }
    }
}

/* The same seed gives the same run. */
TEST(test_a_run_repeats)
{
    double queues[2];
    for (int i = 0; i < 2; i++) {
        struct path_world *world = world_of(RTT, 3000, 0.2, 0.01);
        for (int kind = 0; kind < PATH_PEER_KINDS; kind++)
            path_world_add_peer(world, (enum path_peer_kind)kind, kind);
        run(world, 20);
        queues[i] = path_queue_ms(&world->links[0]);
    }
    assert_true(queues[0] == queues[1]);
}
