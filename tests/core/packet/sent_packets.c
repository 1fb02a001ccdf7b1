/* Tests of packets that are spread over a round trip. The tests of the endpoint show the rest of
   what happens to sent packets. */
#include "packet/sent_packets.h"

#include "fixture.h"

#include <string.h>

#define WINDOW 64

static uint32_t sequences[WINDOW];
static struct cw_sent_packet packets[WINDOW];
static uint32_t events[CW_SENT_EVENTS_PER_PACKET * WINDOW];

static void open_window(struct cw_sent_packets *sent)
{
    memset(sent, 0, sizeof *sent);
    sent->window = (struct cw_sequence_buffer){.sequences = sequences, .mask = WINDOW - 1};
    sent->packets = packets;
    sent->events = events;
    sent->events_mask = sizeof events / sizeof *events - 1;
    sent->rtt_smoothing = 0.1;
    sent->min_loss_timeout_seconds = 0.1;
    cw_sent_packets_reset(sent);
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

TEST(packets_are_spread_over_a_round_trip)
{
    static struct cw_sent_packets sent;
    open_window(&sent);
    send_packets(&sent, 1, 10.0);
    cw_sent_packets_take_acks(&sent, 0, 1, true, 10.4);
    send_packets(&sent, 1, 11.0);
    assert_false(cw_sent_packets_spread(&sent, 4, 11.05));
    assert_true(cw_sent_packets_spread(&sent, 4, 11.15));
    send_packets(&sent, 1, 12.0); /* the first has waited longer than a round trip */
    assert_false(cw_sent_packets_spread(&sent, 4, 12.15));
    assert_true(cw_sent_packets_spread(&sent, 4, 12.5));
}
