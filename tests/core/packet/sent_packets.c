/* Tests of the fate of sent packets: acked, lost, or lost and then acked after all. */
#include "packet/sent_packets.h"

#include "fixture.h"

#include <string.h>

#define WINDOW 64

static const struct cw_allocator heap = {0};
static uint32_t events[CW_SENT_EVENTS_PER_PACKET * WINDOW];

static void open_window(struct cw_sent_packets *sent)
{
    memset(sent, 0, sizeof *sent);
    assert_int_equal(
        cw_sequence_buffer_create(WINDOW, sizeof(struct cw_sent_packet), &heap, &sent->window),
        CW_OK);
    sent->events = events;
    sent->events_mask = sizeof events / sizeof *events - 1;
    sent->rtt_smoothing = 0.1;
    sent->min_loss_timeout_seconds = 0.1;
    cw_sent_packets_reset(sent);
}

static void close_window(struct cw_sent_packets *sent)
{
    cw_sequence_buffer_destroy(&sent->window);
}

static void send_packets(struct cw_sent_packets *sent, uint32_t count, double now)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_true(cw_sent_packets_have_room(sent));
        struct cw_sent_packet *packet = cw_sent_packets_add(sent);
        packet->time = now;
        packet->bytes = 100;
    }
}

static void check_event(struct cw_sent_packets *sent, uint32_t expected)
{
    assert_int_not_equal(sent->events_read, sent->events_written);
    assert_int_equal(sent->events[sent->events_read++ & sent->events_mask], expected);
}

static void check_end(const struct cw_sent_packets *sent)
{
    assert_int_equal(sent->events_read, sent->events_written);
}

TEST(acks_are_told_once)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, 4, 10.0);
    cw_sent_packets_take_acks(&sent, 1, 0x2, true, 10.1); /* acks packet 0 */
    check_event(&sent, 0);
    check_end(&sent);
    assert_false(sent.rtt.sampled); /* only the ack of the newest is a sample */
    cw_sent_packets_take_acks(&sent, 1, 0x3, true, 10.1);
    check_event(&sent, 1);
    cw_sent_packets_take_acks(&sent, 1, 0x3, true, 10.1);
    check_end(&sent);
    assert_int_equal(sent.acked, 2);
    assert_int_equal(sent.bytes_acked, 200);
    assert_true(sent.rtt.smoothed > 0.09 && sent.rtt.smoothed < 0.11);
    assert_int_equal(sent.unseen, 2);
    cw_sent_packets_take_acks(&sent, 9, 0x1, true, 10.2); /* 9 was never sent */
    check_end(&sent);
    close_window(&sent);
}

TEST(three_later_acks_tell_a_loss)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, 5, 10.0);
    cw_sent_packets_take_acks(&sent, 2, 0x3, true, 10.01); /* acks 1 and 2, so 0 may be late */
    check_event(&sent, 2);
    check_event(&sent, 1);
    check_end(&sent);
    cw_sent_packets_take_acks(&sent, 3, 0x7, true, 10.01);
    check_event(&sent, 3);
    check_event(&sent, CW_SENT_EVENT_LOST | 0);
    check_end(&sent);
    assert_int_equal(sent.lost, 1);
    assert_true(sent.loss > 0);

    /* Packet 0 was late after all. */
    cw_sent_packets_take_acks(&sent, 3, 0xF, true, 10.01);
    check_event(&sent, 0);
    assert_int_equal(sent.lost, 0);
    assert_int_equal(sent.acked, 4);
    close_window(&sent);
}

TEST(time_tells_a_loss)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, 1, 10.0);
    send_packets(&sent, 1, 10.5);
    cw_sent_packets_update(&sent, 10.9); /* before any ack the wait is a second */
    check_end(&sent);
    cw_sent_packets_update(&sent, 11.1);
    check_event(&sent, CW_SENT_EVENT_LOST | 0);
    check_end(&sent);
    cw_sent_packets_take_acks(&sent, 1, 0x1, true, 11.1);
    check_event(&sent, 1);
    cw_sent_packets_update(&sent, 100.0);
    check_end(&sent);
    close_window(&sent);
}

TEST(a_packet_that_leaves_the_window_is_lost)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, WINDOW + 2, 10.0);
    check_event(&sent, CW_SENT_EVENT_LOST | 0);
    check_event(&sent, CW_SENT_EVENT_LOST | 1);
    check_end(&sent);
    cw_sent_packets_take_acks(&sent, 2, 0x7, true, 10.0); /* too late for 0 and 1 */
    check_event(&sent, 2);
    check_end(&sent);
    close_window(&sent);
}

/* There is room to tell the fate of every packet that add has taken. */
TEST(nothing_is_sent_while_events_are_not_taken)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    uint32_t count = 0;
    while (count < 100000) {
        if (!cw_sent_packets_have_room(&sent))
            break;
        struct cw_sent_packet *packet = cw_sent_packets_add(&sent);
        const double now = packet->time = 10.0 * ++count;
        cw_sent_packets_update(&sent, now + 5); /* lost, and then acked after all */
        cw_sent_packets_take_acks(&sent, (uint16_t)(count - 1), 1, true, now);
    }
    assert_in_range(count, WINDOW, 2 * WINDOW);
    assert_true(sent.events_written <= sent.events_mask + 1);
    for (uint32_t i = 0; i < count; i++) {
        check_event(&sent, CW_SENT_EVENT_LOST | i);
        check_event(&sent, i);
    }
    check_end(&sent);
    assert_true(cw_sent_packets_have_room(&sent));
    close_window(&sent);
}

TEST(packets_are_spread_over_a_round_trip)
{
    struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, 1, 10.0);
    cw_sent_packets_take_acks(&sent, 0, 1, true, 10.4);
    send_packets(&sent, 1, 11.0);
    assert_false(cw_sent_packets_spread(&sent, 4, 11.05));
    assert_true(cw_sent_packets_spread(&sent, 4, 11.15));
    send_packets(&sent, 1, 12.0); /* the first has waited longer than a round trip */
    assert_false(cw_sent_packets_spread(&sent, 4, 12.15));
    assert_true(cw_sent_packets_spread(&sent, 4, 12.5));
    close_window(&sent);
}
