/* Tests of what the article on reliable ordered messages says of ways to send messages again: all
   unacked messages in each packet, each message in three packets, and a message that was not sent
   in the last 0.1 seconds. In most tests only messages are sent, one in each tick. */
#include "lab/peers.h"

#include "base/little_endian.h"
#include "causeway/endpoint.h"

#include "column_rig.h"

#include <math.h>

#define MESSAGE_BYTES (CW_LAB_MESSAGE_SIZE + 4) /* with its header, in the packets of all three */
#define HEADER_BYTES  16                        /* the most of what else is in a packet */
#define PACKET_HOLDS  17                        /* messages */
#define TICK          (1.0 / SECOND)

struct figures {
    double bytes; /* bytes of all datagrams, for each message that arrived */
    double mean, median, p99;
    double lost; /* the share of the messages sent that the other end gave up */
    uint32_t waiting;
};

static const struct cw_lab_peer_type *const designs[] = {&cw_lab_peer_unacked, &cw_lab_peer_thrice,
                                                         &cw_lab_peer_tenth};

static struct cw_lab_settings only_messages(double rtt_seconds, double loss)
{
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.rtt_seconds = rtt_seconds;
    settings.loss = loss;
    settings.states = false;
    return settings;
}

static struct figures measure(const struct cw_lab_peer_type *type,
                              const struct cw_lab_settings *settings, uint32_t seconds)
{
    struct cw_lab_column *column = column_of(type);
    struct cw_lab_wire_stats wire;
    column_change(column, settings);
    cw_lab_column_step(column, 10 * SECOND);
    cw_lab_column_restart_stats(column);
    cw_lab_column_step(column, seconds * SECOND);
    const struct cw_lab_game_stats messages = items_of(column, 0, CW_LAB_MESSAGE);
    cw_lab_column_wire_stats(column, 0, &wire);
    return (struct figures){.bytes = (double)wire.bytes / messages.delivered,
                            .mean = messages.mean_seconds,
                            .median = cw_lab_column_quantile(column, 0, CW_LAB_MESSAGE, 0.5),
                            .p99 = cw_lab_column_quantile(column, 0, CW_LAB_MESSAGE, 0.99),
                            .lost = (double)messages.lost / messages.sent,
                            .waiting = messages.sent - messages.delivered - messages.lost};
}

static struct figures measure_path(const struct cw_lab_peer_type *type, double rtt_seconds,
                                   double loss)
{
    const struct cw_lab_settings settings = only_messages(rtt_seconds, loss);
    return measure(type, &settings, 60);
}

/* A message is in all packets of a round trip, and the connection's is in one. */
TEST(all_unacked_messages_cost_bytes_as_the_round_trip_grows)
{
    for (double rtt = 0.05; rtt <= 0.2; rtt += 0.05) {
        const double times = measure_path(&cw_lab_peer_unacked, rtt, 0).bytes / MESSAGE_BYTES;
        assert_true(times > rtt * SECOND && times < rtt * SECOND + 2);
        assert_true(measure_path(&cw_lab_peer_plain, rtt, 0).bytes < 1.1 * MESSAGE_BYTES);
    }
    /* A lost ack makes it more. */
    assert_true(measure_path(&cw_lab_peer_unacked, 0.1, 0.3).bytes >
                1.1 * measure_path(&cw_lab_peer_unacked, 0.1, 0).bytes);
}

/* The next packet has what the lost one had. */
TEST(a_loss_delays_an_unacked_message_by_a_tick)
{
    const struct figures none = measure_path(&cw_lab_peer_unacked, 0.1, 0);
    const struct figures some = measure_path(&cw_lab_peer_unacked, 0.1, 0.05);
    assert_true(some.p99 < none.p99 + 1.5 * TICK);
    assert_true(some.mean < none.mean + 0.1 * TICK);
    assert_true(measure_path(&cw_lab_peer_plain, 0.1, 0.05).p99 > none.p99 + 0.09);
    assert_true(some.lost == 0);
}

/* Then new messages wait for the acks of old ones, and more are sent than may be under way. */
TEST(beyond_a_full_packet_unacked_messages_are_late)
{
    const double full = (double)PACKET_HOLDS / SECOND;
    const struct figures fits = measure_path(&cw_lab_peer_unacked, full - 3 * TICK, 0);
    const struct figures late = measure_path(&cw_lab_peer_unacked, full + 6 * TICK, 0);
    assert_true(fits.p99 < 0.5 * full && fits.waiting < PACKET_HOLDS);
    assert_true(late.median > 5 && late.waiting > 5 * SECOND);
    assert_true(measure_path(&cw_lab_peer_plain, full + 6 * TICK, 0).p99 < full);
}

TEST(three_copies_cost_three_times_the_bytes)
{
    const double bytes = measure_path(&cw_lab_peer_thrice, 0.1, 0).bytes;
    assert_true(bytes > 3 * MESSAGE_BYTES && bytes < 3 * MESSAGE_BYTES + HEADER_BYTES);
    assert_true(measure_path(&cw_lab_peer_thrice, 0.5, 0).bytes < bytes + 1);
}

/* With p the share of lost packets, p * p * p of the messages never come. */
TEST(what_all_three_copies_lose_is_gone)
{
    for (double loss = 0.1; loss <= 0.5; loss += 0.2) {
        const struct cw_lab_settings settings = only_messages(0.1, loss);
        const struct figures figures = measure(&cw_lab_peer_thrice, &settings, 600);
        assert_true(fabs(figures.lost - loss * loss * loss) < 0.2 * loss * loss * loss);
        /* A message that comes takes two ticks more at most. */
        assert_true(figures.p99 < 0.05 + 3.5 * TICK);
    }
}

TEST(copies_in_a_row_do_not_help_against_bursts)
{
    struct cw_lab_settings settings = only_messages(0.1, 0.05);
    const double random = measure(&cw_lab_peer_thrice, &settings, 600).lost;
    settings.burst_length = 6;
    const double bursts = measure(&cw_lab_peer_thrice, &settings, 600).lost;
    assert_true(random < 0.001 && bursts > 0.02);
}

/* Returns in how many packets a message is where none is lost. */
static double times_sent_after_a_tenth(double rtt_seconds)
{
    return round(measure_path(&cw_lab_peer_tenth, rtt_seconds, 0).bytes / MESSAGE_BYTES);
}

/* The rule knows nothing of the path. */
TEST(a_tenth_of_a_second_is_too_soon_on_a_long_path_and_too_late_on_a_short_one)
{
    assert_true(times_sent_after_a_tenth(0.03) == 1);
    assert_true(times_sent_after_a_tenth(0.15) == 2);
    assert_true(times_sent_after_a_tenth(0.25) == 3);
    assert_true(measure_path(&cw_lab_peer_plain, 0.25, 0).bytes < 1.1 * MESSAGE_BYTES);

    const struct figures tenth = measure_path(&cw_lab_peer_tenth, 0.03, 0.05);
    const struct figures plain = measure_path(&cw_lab_peer_plain, 0.03, 0.05);
    assert_true(tenth.p99 > 0.1 && plain.p99 < 0.1);
    assert_true(tenth.lost == 0);
}

TEST(all_come_after_an_outage_but_copies)
{
    for (int i = 0; i < 3; i++) {
        struct cw_lab_column *column = column_of(designs[i]);
        const bool copies = designs[i] == &cw_lab_peer_thrice;
        column_run(column, 60, 0.9, true);
        column_run(column, 40, 1, true);
        column_run(column, 120, 0, true);
        for (uint32_t sender = 0; sender < 2; sender++) {
            const struct cw_lab_game_stats messages = items_of(column, sender, CW_LAB_MESSAGE);
            assert_true(messages.sent - messages.delivered - messages.lost < 12);
            /* All of the outage, and three quarters (0.9 * 0.9 * 0.9) before it. */
            assert_true(copies ? messages.lost > 75 * SECOND : messages.lost == 0);
        }
        assert_true(items_of(column, 0, CW_LAB_BLOCK).delivered >= 2);
    }
}

TEST(states_go_once_and_do_not_wait)
{
    for (int i = 0; i < 3; i++) {
        struct cw_lab_column *column = column_of(designs[i]);
        column_run(column, 30, 0.2, false);
        const struct cw_lab_game_stats states = items_of(column, 0, CW_LAB_STATE);
        assert_true(fabs((double)states.delivered / states.sent - 0.8) < 0.03);
        assert_true(states.mean_seconds < 0.06 && states.lost == 0);

        struct cw_lab_settings nothing = only_messages(0.1, 0);
        struct cw_lab_wire_stats wire;
        nothing.message_every = 0;
        column_change(column, &nothing);
        cw_lab_column_step(column, SECOND);
        cw_lab_column_restart_stats(column);
        cw_lab_column_step(column, SECOND);
        cw_lab_column_wire_stats(column, 0, &wire);
        assert_true(wire.bytes < (uint64_t)wire.datagrams * HEADER_BYTES);
    }
}

/* A packet with one message. */
struct made {
    struct cw_endpoint *endpoint;
    uint32_t first;  /* the id that the packet begins with */
    uint32_t id;     /* the message's id, less that */
    uint32_t size;   /* the size that the packet says */
    uint8_t *data;   /* its bytes */
    uint32_t really; /* the number of bytes that are there */
};

static void give(void *peer, const struct made *made)
{
    uint8_t out[CW_LAB_MAX_DATAGRAM], *payload, *at;
    uint16_t sequence;
    assert_ok(cw_endpoint_begin(made->endpoint, 1000, out, sizeof out, &payload));
    at = payload;
    cw_little_endian_put(&at, 0, 2);
    cw_little_endian_put(&at, made->first, 4);
    cw_little_endian_put(&at, made->id, 2);
    cw_little_endian_put(&at, made->size, 2);
    memcpy(at, made->data, made->really);
    at += made->really;
    const size_t size = cw_endpoint_commit(made->endpoint, (size_t)(at - payload), 0, &sequence);
    uint8_t *exact = malloc(size);
    memcpy(exact, out, size);
    cw_lab_peer_unacked.receive(peer, exact, size, 0);
    free(exact);
}

static void release_endpoint(void *endpoint)
{
    cw_endpoint_destroy(endpoint);
}

TEST(only_the_right_bytes_are_an_item)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    const struct cw_lab_item item = {CW_LAB_MESSAGE, 0, 64};
    struct cw_lab_arrival arrival;
    uint8_t data[300];
    struct made made = {.size = 64, .really = 64, .data = data};
    void *peer = peer_of(&cw_lab_peer_unacked);
    assert_ok(cw_endpoint_create(&config, &made.endpoint));
    own(made.endpoint, release_endpoint);
    cw_lab_item_write(&item, 0, data, 64);
    made.size = 65; /* longer than the packet */
    give(peer, &made);
    made.size = 257, made.really = 257; /* longer than a message may be */
    give(peer, &made);
    made.size = made.really = 64;
    made.id = 1024; /* further on than messages may be */
    give(peer, &made);
    assert_false(cw_lab_peer_unacked.next(peer, &arrival));
    made.id = 0;
    data[63] ^= 1;
    give(peer, &made);
    assert_false(cw_lab_peer_unacked.next(peer, &arrival));
    made.id = 1; /* the wrong one took the place of the first */
    data[63] ^= 1;
    give(peer, &made);
    assert_true(cw_lab_peer_unacked.next(peer, &arrival));
    assert_int_equal(arrival.item.traffic, CW_LAB_MESSAGE);
    assert_false(arrival.lost);
    give(peer, &made);
    assert_false(cw_lab_peer_unacked.next(peer, &arrival));
}
