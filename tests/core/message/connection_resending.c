/* Tests of when messages are sent again. */
#include "fixture.h"

#include "connection_pair.h"

struct outcome {
    double resent;  /* repeats per message */
    double latency; /* the mean seconds from send to receive */
};

/* Sends a note a tick one way over a path. */
static struct outcome send_over(const struct cw_simulator_path *path, uint32_t extra_bytes,
                                uint32_t notes)
{
    struct cw_connection_config config = notes_config();
    config.max_messages = 2048;
    config.channels[0].recovery = CW_RECOVERY_COPIES;
    config.channels[0].extra_bytes = extra_bytes;
    struct pair pair = pair_open(&config, 0.1, 0);
    double latency = 0;
    pair_change(&pair, path);
    for (uint32_t i = 0; i < notes; i++) {
        send_note(pair.sides[0], 0, i, 50, pair.now);
        pair_tick(&pair);
        for (struct cw_message *note; (note = next_message(pair.sides[1], NULL));) {
            latency += pair.now - number_of(note) * TICK;
            cw_message_release(note);
        }
    }
    const struct cw_channel_stats stats = channel_of(pair.sides[0], 0);
    const double received = (double)channel_of(pair.sides[1], 0).received;
    assert_true(received > 0.98 * notes);
    return (struct outcome){.resent = (double)stats.resent / notes, .latency = latency / received};
}

/* The more is lost, the more messages are followed by copies, so that those without a copy hold up
   fewer than one message in a hundred. On a short path a loss holds up less. */
TEST(test_copies_follow_a_share_of_the_messages_that_rises_with_the_loss)
{
    static const struct {
        double rtt, loss, least, most;
    } cases[] = {
        {0.1, 0, 0, 0},          {0.1, 0.0002, 0, 0.15},  {0.1, 0.002, 0.4, 0.75},
        {0.02, 0.002, 0, 0.3},   {0.3, 0.002, 0.65, 0.9}, {0.1, 0.005, 0.7, 0.95},
        {0.1, 0.01, 0.85, 1.05}, {0.1, 0.05, 1, 1.15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_simulator_path path = path_of(cases[i].rtt, cases[i].loss);
        const double resent = send_over(&path, 100, 20000).resent;
        if (resent < cases[i].least || resent > cases[i].most)
            fail_msg("%g sent again at %g and %g s", resent, cases[i].loss, cases[i].rtt);
    }
}

/* Both paths lose a fifth. Where four in a row are lost on average, the next packet is lost with
   the one before, and a copy in it is of little use. */
TEST(test_copies_keep_away_from_bursts_of_losses)
{
    struct cw_simulator_path path = path_of(0.2, 0);
    path.burst_end = 0.25;
    path.burst_start = path.burst_end * 0.2 / 0.8;
    path.burst_loss = 1;
    const struct outcome bursts = send_over(&path, 200, 20000);
    assert_true(bursts.latency < 0.19); /* it is 0.24 with the copy in the next packet */
    assert_true(bursts.resent < 1.6);
    path = path_of(0.2, 0.2);
    const struct outcome random = send_over(&path, 100, 20000);
    assert_true(random.latency < 0.18);
    assert_true(random.resent < 1.3);
}

/* Sends a note a tick to an end that ticks rarely and then sends one packet, as a browser's hidden
   tab does with a server that uses yojimbo: a header acks 32 of the packets that came. Returns the
   time that all but one in a hundred notes took at most. */
static double send_to_slow(uint32_t ticks_between, double loss,
                           struct cw_connection_stats *connection, double *resent)
{
    enum { NOTES = 12000 };
    static int latencies[NOTES];
    struct cw_connection_config config = notes_config();
    config.max_messages = 2048;
    struct pair pair = pair_open(&config, 0.1, loss);
    struct cw_connection *a = pair.sides[0], *b = pair.sides[1];
    uint8_t datagram[2048];
    for (uint32_t i = 0; i < NOTES; i++, pair.now = i * TICK) {
        size_t size;
        while ((size = cw_simulator_transmit(pair.paths[0], datagram, sizeof datagram, pair.now)))
            receive_exact(b, datagram, size, pair.now);
        while ((size = cw_simulator_transmit(pair.paths[1], datagram, sizeof datagram, pair.now)))
            receive_exact(a, datagram, size, pair.now);
        for (struct cw_message *note; (note = next_message(b, NULL));) {
            latencies[number_of(note)] = (int)(i - number_of(note));
            cw_message_release(note);
        }
        send_note(a, 0, i, 50, pair.now);
        cw_connection_update(a, pair.now);
        while ((size = transmit(a, datagram, pair.now)) > 0)
            cw_simulator_receive(pair.paths[0], datagram, size, pair.now);
        if (i % ticks_between == 0) {
            cw_connection_update(b, pair.now);
            size = transmit(b, datagram, pair.now);
            cw_simulator_receive(pair.paths[1], datagram, size, pair.now);
        }
    }
    *connection = stats_of(a);
    *resent = (double)channel_of(a, 0).resent / NOTES;
    uint32_t late = 0;
    for (int most = 0;; most++, late = 0) {
        for (int i = 0; i < NOTES - 120; i++)
            late += latencies[i] > most;
        if (late <= NOTES / 100)
            return most * TICK;
    }
}

TEST(test_a_slow_receiver_costs_no_needless_resends)
{
    struct cw_connection_stats stats;
    double resent;
    assert_true(send_to_slow(12, 0, &stats, &resent) < 0.06);
    assert_true(resent < 0.01);
    assert_int_equal(stats.endpoint.packets_lost, 0);
    assert_true(send_to_slow(30, 0, &stats, &resent) < 0.06);
    assert_true(resent < 0.05);
    assert_true(send_to_slow(60, 0, &stats, &resent) < 0.06);
    assert_true(resent < 0.6); /* a header acks 32 of 60 packets */
    assert_true(stats.endpoint.loss_sent < 0.02);
}

TEST(test_a_slow_receiver_gets_what_is_lost_as_early_as_it_can)
{
    struct cw_connection_stats stats;
    double resent;
    assert_true(send_to_slow(12, 0.05, &stats, &resent) < 0.358);
    assert_true(resent < 0.5);
}
