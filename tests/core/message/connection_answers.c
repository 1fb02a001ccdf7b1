/* Tests of when a connection answers unreliable messages: late enough to do it along with messages
   of its own, and early enough that nobody takes a packet for lost. */
#include "fixture.h"

#include "connection_pair.h"

enum { RELIABLE, UNRELIABLE };

static struct pair open_pair(double rtt)
{
    struct cw_connection_config config = notes_config();
    config.idle_interval_seconds = 10;
    return pair_open(&config, rtt, 0);
}

/* Runs a tick of both sides, of which there are so many a second. The second side ticks later than
   the first by this part of a tick. */
static void tick_at(struct pair *pair, double rate, double phase)
{
    for (int i = 0; i < 2; i++) {
        struct cw_connection_event event;
        pair->now = (pair->ticks + i * phase) / rate;
        pair_arrive(pair, i);
        while (cw_connection_next(pair->sides[i], &event))
            cw_message_release(event.message);
        pair_send(pair, i);
    }
    pair->ticks++;
}

static uint64_t sent_by(const struct cw_connection *connection)
{
    return stats_of(connection).endpoint.packets_sent;
}

/* Both ends send a state every so many ticks. */
static const struct game {
    double rate, rtt;
    int every;
} games[] = {
    {60, 0.05, 2},   {60, 0.1, 2}, {60, 0.3, 2},  {60, 5, 2},    {60, 0.1, 1},   {60, 0.1, 3},
    {120, 0.05, 4},  {120, 5, 6},  {30, 0.1, 1},  {20, 0.05, 1}, {10, 0.003, 1}, {10, 5, 1},
    {120, 0.003, 1}, {64, 0.1, 2}, {128, 0.1, 4}, {60, 0.02, 1}, {30, 0.003, 1},
};

/* Plays for 20 seconds, and then for as many until the packets that were sent are counted. */
static void play(struct pair *pair, const struct game *game, double phase, uint64_t packets[2])
{
    const int ticks = (int)(20 * game->rate);
    for (int i = 0; i < 2 * ticks; i++) {
        for (int j = 0; j < 2 && i == ticks; j++)
            packets[j] = sent_by(pair->sides[j]);
        for (int j = 0; j < 2 && i % game->every == 0; j++)
            send_note(pair->sides[j], UNRELIABLE, 0, 20, pair->now);
        tick_at(pair, game->rate, phase);
    }
    for (int j = 0; j < 2; j++)
        packets[j] = sent_by(pair->sides[j]) - packets[j];
}

TEST(test_messages_take_the_answers_along)
{
    for (size_t i = 0; i < sizeof games / sizeof *games; i++)
        for (double phase = 0.1; phase < 1; phase += 0.2) {
            struct pair pair = open_pair(games[i].rtt);
            uint64_t packets[2];
            play(&pair, &games[i], phase, packets);
            const double messages = 20 * games[i].rate / games[i].every;
            for (int j = 0; j < 2; j++)
                if ((double)packets[j] > messages + 1)
                    fail_msg("%d packets with %g messages: %g ticks a second, RTT %g",
                             (int)packets[j], messages, games[i].rate, games[i].rtt);
            fixture_release(NULL);
        }
}

/* An answer that waits is part of the RTT, but no packet is taken for lost. */
TEST(test_the_path_is_known_all_the_same)
{
    for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
        struct pair pair = open_pair(games[i].rtt);
        uint64_t packets[2];
        play(&pair, &games[i], 0.3, packets);
        for (int j = 0; j < 2; j++) {
            const struct cw_endpoint_stats of = stats_of(pair.sides[j]).endpoint;
            assert_int_equal(of.packets_lost, 0);
            if (of.rtt < games[i].rtt - 0.002 || of.rtt > games[i].rtt + 2 / games[i].rate + 0.05)
                fail_msg("RTT %g instead of %g", of.rtt, games[i].rtt);
        }
        fixture_release(NULL);
    }
}

/* Returns two sides that know the path, and have nothing to say, nor many acks to tell. */
static struct pair quiet_pair(double rate, double rtt)
{
    struct pair pair = open_pair(rtt);
    const int known = (int)((10 + 2 * rtt) * rate), quiet = (int)((1 + rtt) * rate);
    for (int i = 0; i < known + 2 * quiet; i++) {
        for (int j = 0; j < 2 && (i < known || i == known + quiet); j++)
            send_note(pair.sides[j], UNRELIABLE, 0, 0, pair.now);
        tick_at(&pair, rate, 0.3);
    }
    return pair;
}

/* Lets the first side send a message, and the second one a message in each of so many ticks.
   Returns the ticks until the first side's arrives. */
static int arrive(struct pair *pair, double rate, uint32_t channel, int busy)
{
    const uint64_t received = channel_of(pair->sides[1], channel).received;
    int ticks = 0;
    send_note(pair->sides[0], channel, 0, 20, pair->now);
    for (; channel_of(pair->sides[1], channel).received == received; ticks++) {
        if (ticks < busy)
            send_note(pair->sides[1], UNRELIABLE, 0, 0, pair->now);
        tick_at(pair, rate, 0.3);
    }
    return ticks;
}

/* Returns the seconds from the tick in which a message arrives to its answer. The second side has
   sent in the tick before if it is busy. */
static double answer_after(double rate, double rtt, uint32_t channel, bool busy)
{
    struct pair pair = quiet_pair(rate, rtt);
    const int ticks = arrive(&pair, rate, UNRELIABLE, 0);
    for (int i = 0; i < (1 + 2 * rtt) * rate; i++)
        tick_at(&pair, rate, 0.3);
    const uint64_t sent = sent_by(pair.sides[1]) + (busy ? (uint64_t)ticks - 1 : 0);
    arrive(&pair, rate, channel, busy ? ticks - 1 : 0);
    const double arrived = pair.now;
    while (sent_by(pair.sides[1]) <= sent)
        tick_at(&pair, rate, 0.3);
    fixture_release(NULL);
    return pair.now - arrived;
}

/* A side that has sent in the tick before may wait until its next packet would be late. One that
   was silent has none that comes soon. */
TEST(test_an_answer_is_never_late)
{
    static const double rates[] = {10, 20, 30, 60, 120}, rtts[] = {0.003, 0.01, 0.04, 0.1, 1, 2};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof rtts / sizeof *rtts; j++) {
            const double rate = rates[i], rtt = rtts[j], most = rtt < 0.06 ? rtt : 0.06;
            assert_true(answer_after(rate, rtt, RELIABLE, false) == 0);
            assert_true(answer_after(rate, rtt, RELIABLE, true) == 0);
            assert_true(answer_after(rate, rtt, UNRELIABLE, false) == 0);
            const double took = answer_after(rate, rtt, UNRELIABLE, true);
            if (took > 0.06 - 1 / rate + 1e-9 && took > 0)
                fail_msg("%g s with %g ticks a second, RTT %g", took, rate, rtt);
            if (2 / rate <= most)
                assert_true(took > 0);
        }
}

/* Only an answer tells the other end that a packet was lost, which it may have to send again. */
TEST(test_a_loss_is_told_at_once)
{
    struct pair pair = quiet_pair(60, 0.1);
    pair_set_loss(&pair, 1, 0.1);
    send_note(pair.sides[0], UNRELIABLE, 0, 20, pair.now);
    tick_at(&pair, 60, 0.3);
    pair_set_loss(&pair, 0, 0.1);
    const int busy = 3; /* the messages arrive in the tick after */
    const uint64_t sent = sent_by(pair.sides[1]) + busy;
    assert_int_equal(arrive(&pair, 60, UNRELIABLE, busy), busy + 1);
    assert_int_equal(sent_by(pair.sides[1]), sent + 1);
}

/* An end that only listens to 30 packets a second answers 20 times, and is silent when the other
   end is. */
TEST(test_a_spectator_answers_some_packets)
{
    struct pair pair = quiet_pair(60, 0.1);
    const uint64_t before = sent_by(pair.sides[1]);
    for (int i = 0; i < 600; i++) {
        if (i % 2 == 0)
            send_note(pair.sides[0], UNRELIABLE, 0, 20, pair.now);
        tick_at(&pair, 60, 0.3);
    }
    assert_in_range(sent_by(pair.sides[1]) - before, 190, 205);
    const uint64_t after = sent_by(pair.sides[1]);
    for (int i = 0; i < 300; i++)
        tick_at(&pair, 60, 0.3);
    assert_in_range(sent_by(pair.sides[1]) - after, 0, 3);
}
