/* Tests of connections that have nothing to say: they fall silent, and know the path all the same.
 */
#include "fixture.h"

#include "connection_pair.h"

static struct pair open_pair(double idle_interval, double rtt, double loss)
{
    struct cw_connection_config config = notes_config();
    config.idle_interval_seconds = idle_interval;
    return pair_open(&config, rtt, loss);
}

static void take_all(struct cw_connection *connection)
{
    struct cw_connection_event event;
    while (cw_connection_next(connection, &event))
        cw_message_release(event.message);
}

static uint64_t sent_by(const struct cw_connection *connection)
{
    return stats_of(connection).endpoint.packets_sent;
}

/* Returns the packets a second of the end that sends more. */
static double rate_of(struct pair *pair, int seconds)
{
    const uint64_t before[] = {sent_by(pair->sides[0]), sent_by(pair->sides[1])};
    uint64_t most = 0;
    pair_run(pair, seconds * 60);
    for (int i = 0; i < 2; i++) {
        const uint64_t sent = sent_by(pair->sides[i]) - before[i];
        most = sent > most ? sent : most;
    }
    return (double)most / seconds;
}

/* Packets that are missing are asked for, which must not go on for ever, even if many get lost. */
TEST(test_idle_ends_do_not_answer_each_other)
{
    static const struct {
        double rtt, loss, most;
    } cases[] = {{0.1, 0, 10}, {0.02, 0, 10}, {0.4, 0, 10}, {0.1, 0.2, 15}, {0.02, 0.35, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair pair = open_pair(0.1, cases[i].rtt, cases[i].loss);
        pair_run(&pair, 300);
        const double rate = rate_of(&pair, 60);
        if (rate < 8 || rate > cases[i].most)
            fail_msg("%g packets a second at %g s and %g", rate, cases[i].rtt, cases[i].loss);
        /* The same holds after messages. */
        send_note(pair.sides[0], 0, 1, 0, pair.now);
        pair_run(&pair, 300);
        assert_true(rate_of(&pair, 60) <= cases[i].most);
        take_all(pair.sides[1]);
    }
}

TEST(test_an_interval_of_0_is_a_packet_in_every_round)
{
    struct pair pair = open_pair(0, 0.1, 0);
    pair_run(&pair, 300);
    assert_true(rate_of(&pair, 10) == 60);
    pair = open_pair(1, 0.1, 0);
    pair_run(&pair, 300);
    assert_true(rate_of(&pair, 60) <= 1);
}

/* The other end answers a reliable message in its next round, and once more in the round after
   that. An unreliable one is answered once, as nobody sends it again. Then both are silent again.
 */
TEST(test_a_reliable_message_is_answered_twice)
{
    for (uint32_t channel = 0; channel < 2; channel++) {
        struct pair pair = open_pair(1, 0.1, 0);
        pair_run(&pair, 300);
        send_note(pair.sides[0], channel, 1, 0, pair.now);
        pair_run(&pair, 2);
        const uint64_t before[] = {sent_by(pair.sides[0]), sent_by(pair.sides[1])};
        pair_run(&pair, 20);
        assert_int_equal(sent_by(pair.sides[0]), before[0]);
        assert_int_equal(sent_by(pair.sides[1]), before[1] + (channel == 0 ? 2 : 1));
        assert_int_equal(channel_of(pair.sides[0], channel).queued, 0);
        assert_true(rate_of(&pair, 10) <= 1);
        take_all(pair.sides[1]);
    }
}

/* An end that was spoken to in every round answers for so long that a lost answer changes nothing.
 */
TEST(test_many_messages_are_answered_for_a_while)
{
    struct pair pair = open_pair(1, 0.1, 0);
    pair_run(&pair, 300);
    for (int i = 0; i < 30; i++) {
        send_note(pair.sides[0], 0, 1, 0, pair.now);
        pair_tick(&pair);
        take_all(pair.sides[1]);
    }
    pair_run(&pair, 5); /* the last one has arrived */
    const uint64_t answered = sent_by(pair.sides[1]);
    pair_run(&pair, 6);
    assert_int_equal(sent_by(pair.sides[1]), answered + 6);
    pair_run(&pair, 60);
    take_all(pair.sides[1]);
    assert_true(rate_of(&pair, 10) <= 1);
}

/* Half of all packets are lost, answers among them, and yet every message arrives. */
TEST(test_rare_messages_arrive_whatever_is_lost)
{
    struct pair pair = open_pair(10, 0.1, 0.5);
    for (int i = 0; i < 200; i++) {
        send_note(pair.sides[0], 0, 1, 0, pair.now);
        pair_run(&pair, 60);
        take_all(pair.sides[1]);
    }
    pair_run(&pair, 120);
    assert_int_equal(channel_of(pair.sides[1], 0).received, 200);
    take_all(pair.sides[1]);
}

/* Returns the seconds until a message has arrived that is sent after a silence, and whose first
   packets are lost. */
static double arrival(double idle_interval, double rtt, int lost)
{
    struct pair pair = open_pair(idle_interval, rtt, 0);
    pair_run(&pair, 90);
    for (int i = 0; i < 120; i++) { /* this traffic makes the path known */
        send_note(pair.sides[i % 2], 0, 0, 0, pair.now);
        pair_tick(&pair);
        take_all(pair.sides[0]);
        take_all(pair.sides[1]);
    }
    pair_run(&pair, 303);
    take_all(pair.sides[0]);
    take_all(pair.sides[1]);
    const uint64_t before = channel_of(pair.sides[1], 0).received;
    const double start = pair.now;
    send_note(pair.sides[0], 0, 0, 0, pair.now);
    pair_set_loss(&pair, lost > 0, rtt);
    for (int i = 0; channel_of(pair.sides[1], 0).received == before; i++) {
        if (i == lost)
            pair_set_loss(&pair, 0, rtt);
        pair_tick(&pair);
    }
    const double took = pair.now - start;
    fixture_release(NULL); /* otherwise 112 pairs take memory until the end */
    return took;
}

/* The other end speaks only when a later packet has arrived, so each lost one may cost a tick. */
TEST(test_a_message_after_a_silence_is_as_quick_as_ever)
{
    for (int rtt = 10; rtt <= 400; rtt += 30) {
        for (int lost = 0; lost < 4; lost++) {
            const double never_idle = arrival(0, rtt / 1000.0, lost);
            const double idle = arrival(0.1, rtt / 1000.0, lost);
            if (idle > never_idle + (lost + 0.5) * TICK)
                fail_msg("%g s instead of %g at %d ms, %d lost", idle, never_idle, rtt, lost);
        }
    }
}

TEST(test_what_is_known_of_the_path_outlasts_a_silence)
{
    static const double rtts[] = {0.01, 0.05, 0.1, 0.3};
    for (size_t i = 0; i < sizeof rtts / sizeof *rtts; i++) {
        struct pair idle = open_pair(0.1, rtts[i], 0), busy = open_pair(0, rtts[i], 0);
        pair_run(&idle, 3600);
        pair_run(&busy, 3600);
        for (int j = 0; j < 2; j++) {
            const struct cw_endpoint_stats of_idle = stats_of(idle.sides[j]).endpoint;
            const struct cw_endpoint_stats of_busy = stats_of(busy.sides[j]).endpoint;
            if (of_idle.rtt > of_busy.rtt + 1.5 * TICK || of_idle.rtt < of_busy.rtt - 1.5 * TICK)
                fail_msg("%g s instead of %g", of_idle.rtt, of_busy.rtt);
            assert_int_equal(of_idle.packets_lost, 0);
            assert_int_equal(of_idle.packets_missed, 0);
        }
    }
}

/* The end that answers a message now and then gets acks only when the other end speaks next. */
TEST(test_nothing_is_lost_because_the_other_end_is_silent)
{
    for (int rtt = 10; rtt <= 200; rtt += 10) {
        struct pair pair = open_pair(0.1, rtt / 1000.0, 0);
        pair_run(&pair, 120);
        for (int i = 0; i < 1200; i++) {
            if (i % 37 == 0)
                send_note(pair.sides[0], (uint32_t)i % 2, 0, 0, pair.now);
            pair_tick(&pair);
            take_all(pair.sides[1]);
            assert_int_equal(stats_of(pair.sides[0]).endpoint.packets_lost, 0);
            assert_int_equal(stats_of(pair.sides[1]).endpoint.packets_lost, 0);
        }
    }
}

TEST(test_the_rtt_follows_a_path_that_gets_longer_or_shorter)
{
    struct pair pair = open_pair(0.1, 0.1, 0);
    pair_run(&pair, 300);
    pair_set_loss(&pair, 0, 0.4);
    pair_run(&pair, 1800);
    assert_true(stats_of(pair.sides[0]).endpoint.rtt > 0.3);
    pair_set_loss(&pair, 0, 0.1);
    pair_run(&pair, 1800);
    assert_true(stats_of(pair.sides[0]).endpoint.rtt < 0.22);
}

/* A loss is also counted while nobody speaks, and nothing else is. */
TEST(test_losses_are_counted_during_a_silence)
{
    struct pair pair = open_pair(0.1, 0.05, 0.2);
    pair_run(&pair, 60 * 600);
    for (int i = 0; i < 2; i++) {
        const struct cw_endpoint_stats of = stats_of(pair.sides[i]).endpoint;
        const double lost = (double)of.packets_lost / (double)(of.packets_lost + of.packets_acked);
        const double missed =
            (double)of.packets_missed / (double)(of.packets_missed + of.packets_received);
        if (lost < 0.17 || lost > 0.23 || missed < 0.17 || missed > 0.23)
            fail_msg("%g lost, %g missed", lost, missed);
    }
}

/* The other end ticks rarely, as a hidden tab does, and takes what arrives at once. */
TEST(test_an_end_that_ticks_rarely_loses_nothing)
{
    static const int every[] = {3, 5, 6, 7, 12, 30, 60};
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        struct pair pair = open_pair(0.1, 0.05, 0);
        uint8_t datagram[2048];
        for (int tick = 0; tick < 3600; tick++) {
            for (int j = 0; j < 2; j++) {
                size_t size;
                while ((size = cw_simulator_transmit(pair.paths[!j], datagram, sizeof datagram,
                                                     pair.now)) > 0)
                    receive_exact(pair.sides[j], datagram, size, pair.now);
                if (j == 1 && tick % every[i] > 0)
                    continue;
                cw_connection_update(pair.sides[j], pair.now);
                while ((size = transmit(pair.sides[j], datagram, pair.now)) > 0)
                    cw_simulator_receive(pair.paths[j], datagram, size, pair.now);
            }
            pair.now = ++pair.ticks * TICK;
            if (tick > 1800 && stats_of(pair.sides[0]).endpoint.loss_sent > 0.01)
                fail_msg("%g lost, every %d ticks", stats_of(pair.sides[0]).endpoint.loss_sent,
                         every[i]);
        }
    }
}

/* The reference library sends an empty packet in each tick. The acks of these may wait, but not get
   lost. */
TEST(test_empty_packets_are_acked_all_the_same)
{
    struct cw_connection_config config = notes_config();
    config.idle_interval_seconds = 10;
    struct cw_connection *connection = connection_with(&config);
    struct cw_endpoint *peer = peer_of(&config);
    uint8_t datagram[2048];
    uint64_t packets = 0;
    for (int i = 0; i < 600; i++) {
        const double now = i * TICK;
        struct cw_endpoint_event event;
        assert_int_equal(peer_send(peer, connection, (const uint8_t *)"", 1, now), CW_OK);
        cw_connection_update(connection, now);
        cw_endpoint_update(peer, now);
        for (size_t size; (size = transmit(connection, datagram, now)) > 0; packets += i >= 120)
            assert_int_equal(cw_endpoint_receive(peer, datagram, size, now), CW_OK);
        while (cw_endpoint_next(peer, &event)) {
        }
    }
    struct cw_endpoint_stats stats;
    cw_endpoint_get_stats(peer, &stats);
    assert_true(stats.packets_acked >= 600 - 32);
    assert_in_range(packets, 480 / 32, 480 / 32 + 1);
}
