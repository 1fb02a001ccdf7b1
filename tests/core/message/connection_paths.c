/* Tests of blocks and messages over paths of all lengths, between ends that tick at rates of their
   own: all of it arrives, and little is sent twice. */
#include "fixture.h"

#include "connections.h"

#include <math.h>

#define IN_TRANSIT 1024 /* datagrams, a power of two */
#define MOST       1200

enum { BLOCKS, NOTES, CHATS, CHANNELS };

struct datagram {
    double due;
    size_t size;
    uint8_t data[MOST];
};

struct end {
    struct cw_connection *connection;
    struct datagram *inbox;
    uint32_t read, written;
    double tick; /* the seconds from one tick to the next */
    double next_tick;
    uint32_t notes_sent;
    uint32_t taken[CHANNELS];
};

struct course {
    double rtt;
    double loss;
    double hz[2];
    double phase; /* the share of a tick by which the second end begins later */
    uint32_t packets_per_update;
    bool on_arrival; /* datagrams are taken when they arrive, not with the next tick */
    uint32_t block_size;
    uint32_t notes; /* the count of notes, one of which goes in each tick */
    uint32_t chats; /* the count of chats, which all go at the beginning */
    double limit;   /* seconds */

    /* From break_at to mend_at the path loses all that the first end sends, or all of both ends;
       after that the RTT is later_rtt. */
    double break_at, mend_at, later_rtt;
    bool both_break;
};

static struct datagram inboxes[2][IN_TRANSIT];
static uint32_t random_state;

static bool chance(double share)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8 < share * (1 << 24);
}

static void take_messages(struct end *end)
{
    uint32_t channel;
    for (struct cw_message *message; (message = next_message(end->connection, &channel));) {
        if (channel == BLOCKS)
            check_parcel(message, 0, message->block_size);
        else
            assert_int_equal(number_of(message), end->taken[channel]);
        end->taken[channel]++;
        cw_message_release(message);
    }
}

static void arrive(struct end *end, double now)
{
    while (end->read != end->written && end->inbox[end->read % IN_TRANSIT].due <= now) {
        const struct datagram *datagram = &end->inbox[end->read++ % IN_TRANSIT];
        (void)cw_connection_receive(end->connection, datagram->data, datagram->size, now);
        take_messages(end);
    }
}

static void tick(const struct course *course, struct end *end, struct end *other)
{
    const double now = end->next_tick;
    end->next_tick += end->tick;
    arrive(end, now);
    if (end->notes_sent < course->notes &&
        try_note(end->connection, NOTES, end->notes_sent, 20, now))
        end->notes_sent++;
    cw_connection_update(end->connection, now);
    for (;;) {
        struct datagram *datagram = &other->inbox[other->written % IN_TRANSIT];
        datagram->size = cw_connection_transmit(end->connection, datagram->data, MOST, now);
        if (datagram->size == 0)
            return;
        const bool later = course->mend_at > 0 && now >= course->mend_at;
        const bool broken =
            now >= course->break_at && now < course->mend_at && (course->both_break || other > end);
        datagram->due = now + (later ? course->later_rtt : course->rtt) / 2;
        if (!broken && !chance(course->loss))
            other->written++;
        if (other->written - other->read == IN_TRANSIT)
            other->written--;
    }
}

static bool is_done(const struct course *course, const struct end *end)
{
    const uint32_t all[CHANNELS] = {course->block_size > 0, course->notes, course->chats};
    for (uint32_t i = 0; i < CHANNELS; i++) {
        if (channel_of(end->connection, i).delivered < all[i])
            return false;
    }
    return true;
}

static struct cw_connection_config config_of(const struct course *course)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = CHANNELS;
    config.max_packets_per_update = course->packets_per_update;
    for (uint32_t i = 0; i < CHANNELS; i++)
        config.channels[i] = cw_channel_config_default(CW_CHANNEL_RELIABLE_ORDERED);
    config.channels[BLOCKS].blocks = true;
    return config;
}

/* Lets both ends send all of it to each other. Returns the seconds until all is acked, or 0 when it
   is not within the limit. */
static double run(const struct course *course, struct end ends[2])
{
    const struct cw_connection_config config = config_of(course);
    random_state = 1;
    for (int i = 0; i < 2; i++) {
        ends[i] = (struct end){.tick = 1 / course->hz[i]};
        ends[i].next_tick = i * course->phase * ends[i].tick;
        ends[i].inbox = inboxes[i];
        ends[i].connection = connection_with(&config);
        if (course->block_size > 0)
            send_parcel(ends[i].connection, BLOCKS, 0, course->block_size, 0);
        for (uint32_t j = 0; j < course->chats; j++)
            send_note(ends[i].connection, CHATS, j, 20, 0);
    }
    double now = 0;
    while (now < course->limit) {
        struct end *end = &ends[ends[1].next_tick < ends[0].next_tick];
        if (course->on_arrival) {
            for (int i = 0; i < 2; i++) {
                for (const struct datagram *first;
                     ends[i].read != ends[i].written &&
                     (first = &ends[i].inbox[ends[i].read % IN_TRANSIT])->due <= end->next_tick;)
                    arrive(&ends[i], first->due);
            }
        }
        now = end->next_tick;
        tick(course, end, &ends[end == ends]);
        if (is_done(course, &ends[0]) && is_done(course, &ends[1]))
            return now;
    }
    return 0;
}

static void fail_course(const struct course *course, const char *what, double figure)
{
    fail_msg("RTT %g ms, %g %% lost, %g and %g Hz, %u packets per update%s: %s %g",
             course->rtt * 1000, course->loss * 100, course->hz[0], course->hz[1],
             course->packets_per_update, course->on_arrival ? ", on arrival" : "", what, figure);
}

/* Returns the messages and fragments that went out, divided by those to be sent. */
static double sent_ratio(const struct course *course, const struct end *end)
{
    const uint32_t fragments = (course->block_size + 1023) / 1024;
    const double once = fragments + course->notes + course->chats;
    double resent = 0;
    for (uint32_t i = 0; i < CHANNELS; i++)
        resent += (double)channel_of(end->connection, i).resent;
    return (once + resent) / once;
}

TEST(test_on_a_short_path_everything_is_sent_once)
{
    static const double rtts[] = {0.00005, 0.0005, 0.002, 0.005, 0.01, 0.015};
    static const double rates[] = {20, 30, 60, 144};
    double worst = 1;
    for (int i = 0; i < 6 * 4 * 4 * 7 * 2; i++) {
        const struct course course = {
            .rtt = rtts[i % 6],
            .hz = {rates[i / 6 % 4], rates[i / 24 % 4]},
            .phase = i % 11 / 11.0,
            .packets_per_update = 1u << i / 96 % 7,
            .on_arrival = i >= 672,
            .block_size = 100000,
            .notes = 60,
            .chats = 40,
            .limit = 60,
        };
        struct end ends[2];
        if (run(&course, ends) == 0)
            fail_course(&course, "not done after", course.limit);
        for (int side = 0; side < 2; side++) {
            const double ratio = sent_ratio(&course, &ends[side]);
            if (ratio > 1.05)
                fail_course(&course, "sent, as a ratio to once:", ratio);
            worst = ratio > worst ? ratio : worst;
        }
        fixture_release(NULL);
    }
    print_message("at most %.3f of what has to be sent\n", worst);
}

/* Updates that may send many packets do not push each other out of the window before their acks can
   come. */
TEST(test_all_of_it_arrives_however_long_the_path_is)
{
    static const double rtts[] = {0.0005, 0.02, 0.1, 0.3, 0.6, 1.2, 2.5, 5};
    static const double rates[] = {20, 60, 144};
    double worst = 0;
    for (int i = 0; i < 8 * 7 * 3 * 2; i++) {
        const struct course course = {
            .rtt = rtts[i % 8],
            .hz = {rates[i / 56 % 3], rates[i % 5 % 3]},
            .phase = i % 11 / 11.0,
            .packets_per_update = 1u << i / 8 % 7,
            .loss = i >= 168 ? 0.05 : 0,
            .block_size = 250000,
            .notes = 60,
            .chats = 40,
            .limit = 16 + 8 * rtts[i % 8],
        };
        struct end ends[2];
        const double seconds = run(&course, ends);
        if (seconds == 0)
            fail_course(&course, "not done after", course.limit);
        worst = fmax(worst, seconds / course.limit);
        fixture_release(NULL);
    }
    print_message("at most %.2f of the time allowed\n", worst);
}

TEST(test_all_of_it_arrives_after_an_outage)
{
    static const double rtts[] = {0.02, 0.1, 1}, laters[] = {0, 0.1, 3}, breaks[] = {0, 1, 10, 40};
    static const double rates[] = {20, 60, 144};
    double worst = 0;
    for (int i = 0; i < 3 * 3 * 4 * 4 * 2; i++) {
        struct course course = {
            .rtt = rtts[i % 3],
            .hz = {rates[i % 5 % 3], rates[i % 7 % 3]},
            .packets_per_update = 1u << 2 * (i / 36 % 4),
            .block_size = 250000,
            .notes = 60,
            .chats = 40,
            .break_at = 0.2,
            .mend_at = 0.2 + breaks[i / 9 % 4],
            .later_rtt = rtts[i % 3] + laters[i / 3 % 3],
            .both_break = i >= 144,
        };
        course.limit = course.mend_at + 16 + 8 * course.later_rtt;
        struct end ends[2];
        const double seconds = run(&course, ends);
        if (seconds == 0)
            fail_course(&course, "not done after", course.limit);
        worst = fmax(worst, (seconds - course.mend_at) / (course.limit - course.mend_at));
        fixture_release(NULL);
    }
    print_message("at most %.2f of the time allowed\n", worst);
}

/* When nothing comes back, the packets under way stay within the window, and at least one goes out
   every five seconds, as the path may be good again. */
TEST(test_who_hears_nothing_sends_ever_less)
{
    static const uint32_t windows[] = {32, 256, 4096};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        struct course course = {.packets_per_update = 64};
        struct cw_connection_config config = config_of(&course);
        config.endpoint.sent_window = windows[i];
        struct cw_connection *connection = connection_with(&config);
        send_parcel(connection, BLOCKS, 0, 250000, 0);
        uint64_t sent[3] = {0};
        for (int tick = 0; tick < 120 * 60; tick++) {
            (void)try_note(connection, NOTES, (uint32_t)tick, 20, tick * TICK);
            round_of(connection, NULL, tick * TICK);
            sent[tick / (60 * 60)] = stats_of(connection).endpoint.packets_sent;
        }
        assert_true(sent[0] > windows[i] / 2);
        assert_true(sent[0] < 2 * windows[i]);
        assert_in_range(sent[1] - sent[0], 12, windows[i] / 8 > 12 ? windows[i] / 8 : 12);
    }
}

/* An end that hears nothing any more waits ten seconds for an ack, on the longest of paths too, and
   a little longer until the next packet may go. */
TEST(test_an_ack_is_not_waited_for_for_ever)
{
    const struct course course = {
        .rtt = 8, .hz = {60, 60}, .packets_per_update = 4, .notes = 300, .limit = 100};
    struct end ends[2];
    assert_true(run(&course, ends) > 0);
    struct cw_connection *connection = ends[0].connection;
    const double start = ends[0].next_tick;
    const uint64_t before = channel_of(connection, CHATS).resent;
    send_note(connection, CHATS, 0, 20, start);
    for (int i = 0; i < 12 * 60; i++)
        round_of(connection, NULL, start + i * TICK);
    assert_true(channel_of(connection, CHATS).resent > before);
}
