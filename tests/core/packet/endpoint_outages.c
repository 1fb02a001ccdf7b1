/* Tests of what an outage of the path leaves in the RTT, and of how long a packet may wait for its
   fate. */
#include "fixture.h"

#include "endpoints.h"

#include <math.h>

#define IN_TRANSIT 16384 /* datagrams, a power of two */
#define STEADY     5     /* seconds before the outage */
#define MOST_TICKS 5
#define TICK       (1.0 / 60) /* seconds */

enum kind {
    LOST,    /* packets sent in the outage are lost */
    HELD,    /* packets arrive all at once when the path is well again */
    DRAINED, /* packets arrive one after the other, the last when the path is well */
    SILENT   /* the end sends nothing, and takes what has arrived when it wakes */
};

struct datagram {
    double due;
    size_t size;
    uint8_t data[64];
};

struct end {
    struct cw_endpoint *endpoint;
    struct datagram *inbox;
    uint32_t read, written;
    double interval, next_tick;
    bool asleep;
};

struct outage {
    enum kind kind;
    int from; /* the end whose packets are affected */
    double latency, seconds;
    double intervals[2];
};

struct world {
    struct end ends[2];
    double now;
    double line; /* the time when the last datagram that was held back has passed */
};

static void take_until(struct end *end, double then)
{
    struct cw_endpoint_event event;
    while (!end->asleep && end->read != end->written &&
           end->inbox[end->read % IN_TRANSIT].due <= then) {
        const struct datagram *datagram = &end->inbox[end->read++ % IN_TRANSIT];
        (void)cw_endpoint_receive(end->endpoint, datagram->data, datagram->size, datagram->due);
        while (cw_endpoint_next(end->endpoint, &event))
            cw_endpoint_accept(end->endpoint, event.sequence);
    }
}

static void tick(struct world *world, const struct outage *outage, int from, bool broken)
{
    struct end *end = &world->ends[from], *to = &world->ends[!from];
    struct cw_endpoint_event event;
    const double now = world->now;
    cw_endpoint_update(end->endpoint, now);
    while (cw_endpoint_next(end->endpoint, &event))
        continue;
    struct datagram *datagram = &to->inbox[to->written % IN_TRANSIT];
    assert_int_equal(copy_packet(end->endpoint, "", 1, datagram->data, now, &datagram->size),
                     CW_OK);
    datagram->due = now + outage->latency;
    if (broken && outage->from == from) {
        if (outage->kind == LOST)
            return;
        datagram->due = INFINITY; /* until mend sets the time */
    } else if (outage->from == from && datagram->due < world->line) {
        datagram->due = world->line;
    }
    to->written++;
    assert_true(to->written - to->read < IN_TRANSIT);
}

static void run_until(struct world *world, const struct outage *outage, double then, bool broken)
{
    for (;;) {
        const int next = world->ends[1].next_tick < world->ends[0].next_tick;
        struct end *end = &world->ends[next];
        if (end->next_tick >= then)
            break;
        world->now = end->next_tick;
        end->next_tick += end->interval;
        for (int i = 0; i < 2; i++)
            take_until(&world->ends[i], world->now);
        if (!end->asleep)
            tick(world, outage, next, broken);
    }
    for (int i = 0; i < 2; i++)
        take_until(&world->ends[i], then);
    world->now = then;
}

/* Ends an outage: sets when packets that were held back arrive, or wakes an end. Returns the time
   when the path is well. */
static double mend(struct world *world, const struct outage *outage)
{
    struct end *to = &world->ends[!outage->from];
    world->line = world->now + outage->latency;
    for (uint32_t i = to->read; i != to->written; i++) {
        struct datagram *datagram = &to->inbox[i % IN_TRANSIT];
        if (datagram->due < INFINITY)
            continue;
        datagram->due = world->line;
        if (outage->kind == DRAINED)
            world->line += 0.002;
    }
    struct end *sleeper = &world->ends[outage->from];
    for (uint32_t i = sleeper->read; sleeper->asleep && i != sleeper->written; i++) {
        struct datagram *datagram = &sleeper->inbox[i % IN_TRANSIT];
        if (datagram->due < world->now)
            datagram->due = world->now;
    }
    sleeper->asleep = false;
    return outage->kind == DRAINED ? world->line - outage->latency : world->now;
}

static void check_rtts(const struct world *world, const struct outage *outage,
                       const double steady[2])
{
    for (int i = 0; i < 2; i++) {
        const double rtt = stats_of(world->ends[i].endpoint).rtt;
        if (!(rtt >= steady[i] / 1.5 && rtt <= steady[i] * 1.5))
            fail_msg("kind %d of %d, latency %g, %g s, every %g and %g s: RTT %g at %d, was %g",
                     (int)outage->kind, outage->from, outage->latency, outage->seconds,
                     outage->intervals[0], outage->intervals[1], rtt, i, steady[i]);
    }
}

static void check_outage(const struct outage *outage)
{
    struct world world = {0};
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = 16;
    double steady[2];
    for (int i = 0; i < 2; i++) {
        world.ends[i] =
            (struct end){.endpoint = endpoint_with(&config),
                         .inbox = own(calloc(IN_TRANSIT, sizeof(struct datagram)), free),
                         .interval = outage->intervals[i],
                         .next_tick = 0.0071 * i};
    }
    run_until(&world, outage, STEADY, false);
    for (int i = 0; i < 2; i++)
        steady[i] = stats_of(world.ends[i].endpoint).rtt;
    world.ends[outage->from].asleep = outage->kind == SILENT;
    run_until(&world, outage, STEADY + outage->seconds, true);
    const double well = mend(&world, outage);
    const double tick = fmax(outage->intervals[0], outage->intervals[1]);
    /* Silence alone leaves nothing to be recovered from. */
    if (outage->kind == LOST || outage->kind == SILENT) {
        for (int i = 0; i < 10; i++) {
            run_until(&world, outage, well + i * tick / 5, false);
            check_rtts(&world, outage, steady);
        }
    }
    run_until(&world, outage, well + 2 * fmax(steady[0], steady[1]) + MOST_TICKS * tick, false);
    check_rtts(&world, outage, steady);
}

/* The RTT is that of the path two round trips after it is well again, and a few ticks more: each
   round trip has to be sampled more than once. */
TEST(test_after_an_outage_the_rtt_is_that_of_the_path)
{
    static const double latencies[] = {0.005, 0.0125, 0.05, 0.15}, seconds[] = {0.5, 2, 6, 12};
    static const double intervals[][2] = {
        {1.0 / 60, 1.0 / 60}, {1.0 / 144, 1.0 / 20}, {0.1, 1.0 / 60}, {0.05, 0.1}};
    for (int i = 0; i < 4 * 4 * 4 * 2 * 4; i++) {
        check_outage(&(struct outage){
            .latency = latencies[i % 4],
            .seconds = seconds[i / 4 % 4],
            .intervals = {intervals[i / 16 % 4][0], intervals[i / 16 % 4][1]},
            .from = i / 64 % 2,
            .kind = (enum kind)(i / 128),
        });
    }
}

/* A path that becomes longer is believed as well, up to that of a satellite's path and more. */
TEST(test_a_longer_path_is_not_taken_for_an_outage)
{
    static struct seen at_a, at_b;
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    double now = 0;
    for (int i = 0; i < 200; i++, now += TICK) {
        pass(a, b, now, &at_b);
        pass(b, a, now + 0.01, &at_a);
    }
    struct wire back[600];
    for (int i = 0; i < 600; i++, now += TICK) {
        pass(a, b, now, &at_b);
        wire_send(&back[i], b, "", 1, now);
        if (i >= 240)
            wire_deliver(&back[i - 240], a, now, &at_a);
        cw_endpoint_update(a, now);
        seen_clear(&at_a);
        seen_clear(&at_b);
    }
    assert_true(stats_of(a).rtt > 3.9 && stats_of(a).rtt < 4.1);
    for (int i = 0; i < 600; i++)
        wire_free(&back[i]);
}

TEST(test_no_packet_waits_longer_than_ten_seconds)
{
    static const double least[] = {0.1, 10, 20};
    static struct seen at_a, at_b;
    for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
        struct cw_endpoint_config config = cw_endpoint_config_default();
        config.min_loss_timeout_seconds = least[i];
        struct cw_endpoint *a = endpoint_with(&config), *b = endpoint_with(&config);
        double now = 0;
        for (int j = 0; j < 20; j++, now += 40) {
            pass(a, b, now, &at_b);
            pass(b, a, now + 30, &at_a);
        }
        assert_true(stats_of(a).rtt > 29);
        const double timeout = least[i] > 10 ? least[i] : 10;
        seen_clear(&at_a);
        const uint16_t lost = lose(a, now);
        cw_endpoint_update(a, now + timeout - 0.01);
        seen_take(&at_a, a);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, lost), 0);
        cw_endpoint_update(a, now + timeout + 0.01);
        seen_take(&at_a, a);
        assert_int_equal(seen_times(&at_a, CW_ENDPOINT_EVENT_LOST, lost), 1);
    }
}
