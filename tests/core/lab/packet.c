/* A column tells the number of an end's newest packet, what it acks, and what it carries. */
#include "lab/peers.h"

#include "column_rig.h"

#define TICKS 600

static struct cw_lab_packet packet_of(const struct cw_lab_column *column, uint32_t end)
{
    struct cw_lab_packet packet;
    cw_lab_column_packet(column, end, &packet);
    return packet;
}

/* Without jitter nothing is overtaken: a bit that is missing among the acks is a packet that was
   lost, and the other way round. */
TEST(the_bits_of_the_acks_are_the_packets_that_arrived)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_plain);
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.loss = 0.1;
    settings.jitter_seconds = 0;
    column_change(column, &settings);
    static bool lost[2 * TICKS];
    uint32_t missing = 0, told = 0;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        cw_lab_column_step(column, 1);
        struct cw_lab_column_event event;
        while (cw_lab_column_next(column, &event))
            if (event.sender == 0 && event.type == CW_LAB_COLUMN_EVENT_LOST)
                lost[event.number] = true;
        const struct cw_lab_packet packet = packet_of(column, 1);
        for (uint32_t bit = 0; packet.ack > 32 && packet.ack < TICKS && bit < 32; bit++) {
            const bool arrived = packet.ack_bits >> bit & 1;
            assert_int_equal(arrived, !lost[packet.ack - bit]);
            missing += !arrived;
            told++;
        }
    }
    assert_true(missing > told / 20 && missing < told / 5);
}

TEST(each_packet_says_how_many_messages_it_has_and_how_many_were_sent_before)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_plain);
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.loss = 0.1;
    column_change(column, &settings);
    uint32_t first = 0, resent = 0, sequence = 0;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        cw_lab_column_step(column, 1);
        const struct cw_lab_packet packet = packet_of(column, 0);
        assert_true(packet.size > 0 && packet.size <= CW_LAB_MAX_DATAGRAM);
        assert_true(tick == 0 || packet.sequence == sequence + 1);
        assert_true(packet.resent <= packet.messages);
        sequence = packet.sequence;
        first += packet.messages - packet.resent;
        resent += packet.resent;
    }
    /* One state each tick, and a message each third one. */
    assert_int_equal(first, TICKS + TICKS / settings.message_every);
    assert_true(resent > TICKS / settings.message_every / 20);
}

TEST(a_protocol_with_another_head_has_no_such_packet)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_window);
    cw_lab_column_step(column, TICKS);
    assert_int_equal(packet_of(column, 0).size, 0);
    assert_int_equal(packet_of(column, 2).size, 0);
}
