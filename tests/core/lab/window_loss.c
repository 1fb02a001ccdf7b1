/* Tests of how a byte stream repairs losses: fast retransmit, NewReno, selective acks, timeouts. */
#include "window_rig.h"

static struct window_rig rig_of(bool selective)
{
    struct cw_window_config config = rig_config();
    config.selective_acks = selective;
    config.initial_window = 20;
    struct window_rig rig = rig_with(&config);
    return rig;
}

/* Stores the places, in segments of the stream, of the datagrams that a sends now. Returns how
   many. */
static size_t sent_places(struct window_rig *rig, uint32_t *places)
{
    struct batch *batch = batch_of(rig->a, rig->now);
    const size_t count = batch->count;
    assert_true(count <= 32);
    for (size_t i = 0; i < count; i++)
        places[i] = batch->datagrams[i].header.sequence / SEGMENT;
    return count;
}

/* Loses the first of some segments, and passes on `later` acks of those after it. */
static void lose_first(struct window_rig *rig, size_t later)
{
    struct batch *there = batch_of(rig->a, rig->now);
    rig->now += ONE_WAY;
    for (size_t i = 1; i <= later; i++)
        arrive(there, i, rig->b, rig->now);
    struct batch *back = batch_of(rig->b, rig->now);
    assert_int_equal(back->count, later);
    rig->now += ONE_WAY;
    for (size_t i = 0; i < later; i++)
        arrive(back, i, rig->a, rig->now);
}

/* The window of ten that is left after a loss is full, which does not keep the lost segment back.
 */
TEST(three_duplicate_acks_tell_of_a_loss_and_two_do_not)
{
    for (int selective = 0; selective < 2; selective++) {
        uint32_t places[32];
        struct window_rig rig = rig_of(selective);
        rig_send(&rig, 20 * SEGMENT);
        lose_first(&rig, 2);
        assert_int_equal(sent_places(&rig, places), 0);
        assert_int_equal(window_stats(rig.a).recoveries, 0);

        rig = rig_of(selective);
        rig_send(&rig, 20 * SEGMENT);
        lose_first(&rig, 3);
        assert_int_equal(sent_places(&rig, places), 1);
        assert_int_equal(places[0], 0);
        assert_int_equal(window_stats(rig.a).recoveries, 1);
        assert_int_equal(window_stats(rig.a).timeouts, 0);
    }
}

/* Duplicate acks that carry data or a new window tell of no loss. */
TEST(acks_with_data_do_not_count)
{
    struct window_rig rig = rig_of(false);
    size_t taken;
    rig_send(&rig, 5 * SEGMENT);
    batch_of(rig.a, rig.now); /* all of them get lost */
    for (int i = 0; i < 6; i++) {
        assert_ok(cw_window_send(rig.b, (const uint8_t *)"x", 1, rig.now, &taken));
        struct batch *back = batch_of(rig.b, rig.now);
        assert_int_equal(back->count, 1);
        arrive(back, 0, rig.a, rig.now);
    }
    assert_int_equal(window_stats(rig.a).recoveries, 0);
}

/* Each ack of a part makes NewReno send the next lost segment: one per round trip. */
TEST(without_selective_acks_a_round_trip_repairs_one_loss)
{
    struct window_rig rig = rig_of(false);
    rig_send(&rig, 20 * SEGMENT);
    ROUND_LOSING(&rig, 2, 5, 8);
    const uint32_t holes[] = {2, 5, 8};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rig.taken, holes[i] * SEGMENT);
        assert_int_equal(window_stats(rig.a).segments_resent, i);
        assert_int_equal(rig_round(&rig), 1);
    }
    assert_int_equal(rig.taken, 20 * SEGMENT);
    assert_int_equal(window_stats(rig.a).segments_resent, 3);
    assert_int_equal(window_stats(rig.a).recoveries, 1);
    assert_int_equal(window_stats(rig.a).timeouts, 0);
}

TEST(selective_acks_repair_all_holes_in_one_round_trip)
{
    uint32_t places[32];
    struct window_rig rig = rig_of(true);
    rig_send(&rig, 20 * SEGMENT);
    ROUND_LOSING(&rig, 2, 5, 8);
    struct window_rig copy = rig;
    assert_int_equal(sent_places(&copy, places), 3);
    assert_int_equal(places[0], 2);
    assert_int_equal(places[1], 5);
    assert_int_equal(places[2], 8);
    assert_int_equal(window_stats(rig.a).recoveries, 1);

    rig = rig_of(true);
    rig_send(&rig, 20 * SEGMENT);
    ROUND_LOSING(&rig, 2, 5, 8);
    rig_round(&rig);
    assert_int_equal(rig.taken, 20 * SEGMENT);
    assert_int_equal(window_stats(rig.a).segments_resent, 3);
}

/* Acks of segments that were sent before a segment was sent again say nothing about its second
   loss. */
TEST(what_was_sent_again_is_not_lost_at_once)
{
    struct window_rig rig = rig_of(true);
    rig_send(&rig, 10 * SEGMENT);
    struct batch *there = batch_of(rig.a, rig.now);
    for (size_t i = 1; i < 10; i++) {
        arrive(there, i, rig.b, rig.now);
        struct batch *back = batch_of(rig.b, rig.now);
        arrive(back, 0, rig.a, rig.now);
        struct batch *again = batch_of(rig.a, rig.now);
        assert_int_equal(again->count, i == 3);
    }
}

/* A second loss of a segment shows in the acks of three segments that were sent after it. */
TEST(a_loss_of_what_was_sent_again_is_seen_by_selective_acks)
{
    struct window_rig rig = rig_of(true);
    rig_send(&rig, 20 * SEGMENT);
    ROUND_LOSING(&rig, 2);
    rig_send(&rig, 3 * SEGMENT);
    assert_int_equal(ROUND_LOSING(&rig, 0), 4);
    assert_int_equal(window_stats(rig.a).segments_resent, 1);
    assert_int_equal(rig_round(&rig), 1);
    assert_int_equal(rig.taken, 23 * SEGMENT);
    assert_int_equal(window_stats(rig.a).segments_resent, 2);
    assert_int_equal(window_stats(rig.a).timeouts, 0);
}

/* Nothing follows the last segment, so that only the timer sees that it is lost. */
TEST(the_last_segment_waits_for_the_timer)
{
    for (int selective = 0; selective < 2; selective++) {
        struct window_rig rig = rig_of(selective);
        rig_send(&rig, 5 * SEGMENT);
        ROUND_LOSING(&rig, 4);
        assert_int_equal(rig_round(&rig), 0);
        rig_wait_for_timer(&rig);
        assert_true(window_stats(rig.a).timed_out);
        assert_int_equal(rig_round(&rig), 1);
        assert_int_equal(rig.taken, 5 * SEGMENT);
        assert_false(window_stats(rig.a).timed_out);
    }
}

/* After a timeout all segments are sent again, slowly at first, except those that were selectively
   acked. */
TEST(a_timeout_sends_all_again_but_what_arrived)
{
    for (int selective = 0; selective < 2; selective++) {
        struct window_rig rig = rig_of(selective);
        rig_send(&rig, 6 * SEGMENT);
        ROUND_LOSING(&rig, 0, 1, 2, 3); /* too few segments come after them */
        assert_int_equal(window_stats(rig.a).recoveries, 0);
        rig_wait_for_timer(&rig);
        assert_int_equal(rig_round(&rig), 1);
        assert_int_equal(rig_round(&rig), 2);
        assert_int_equal(rig.taken, 3 * SEGMENT);
        rig_round(&rig);
        assert_int_equal(rig.taken, 6 * SEGMENT);
        assert_int_equal(window_stats(rig.a).segments_resent, selective ? 4 : 6);
        assert_int_equal(window_stats(rig.a).recoveries, 0);
    }
}

/* An ack has room for three ranges. The sender remembers the others, after a timeout too. */
TEST(a_timeout_does_not_forget_what_arrived)
{
    struct window_rig rig = rig_of(true);
    rig_send(&rig, 12 * SEGMENT);
    ROUND_LOSING(&rig, 0, 2, 4, 6, 8, 10);
    assert_int_equal(ROUND_LOSING(&rig, 0, 1, 2, 3), 4);
    rig_wait_for_timer(&rig);
    for (int i = 0; i < 4; i++)
        rig_round(&rig);
    assert_int_equal(rig.taken, 12 * SEGMENT);
    assert_int_equal(window_stats(rig.a).segments_resent, 4 + 6);
}

/* A segment that arrived and is sent again causes a duplicate ack, which tells of no new loss. */
TEST(duplicate_acks_after_a_timeout_cause_nothing)
{
    const int none = -1;
    struct window_rig rig = rig_of(false);
    rig_send(&rig, 8 * SEGMENT);
    struct batch *there = batch_of(rig.a, rig.now);
    arrive_but(there, &none, rig.b, rig.now);
    batch_of(rig.b, rig.now); /* all acks are lost */
    rig_read(&rig);
    for (int i = 0; i < 5; i++) {
        rig_wait_for_timer(&rig);
        struct batch *again = batch_of(rig.a, rig.now);
        assert_int_equal(again->count, 1);
        assert_int_equal(arrive(again, 0, rig.b, rig.now), CW_PROTOCOL_ERROR_DUPLICATE);
    }
    /* The first of the five acks is new to the sender. Before the others come, new segments are
       sent. */
    struct batch *back = batch_of(rig.b, rig.now);
    assert_int_equal(back->count, 5);
    arrive(back, 0, rig.a, rig.now);
    assert_int_equal(window_stats(rig.a).segments_in_flight, 0);
    for (int i = 0; i < 8; i++) {
        rig_send(&rig, 1);
        batch_of(rig.a, rig.now);
    }
    assert_true(window_stats(rig.a).segments_in_flight > 1);
    for (size_t i = 1; i < 5; i++)
        arrive(back, i, rig.a, rig.now);
    assert_int_equal(window_stats(rig.a).recoveries, 0);
    assert_int_equal(window_stats(rig.a).segments_resent, 5);
}

TEST(sequence_numbers_wrap)
{
    for (uint32_t before = 0; before < 4000; before += 333) {
        for (int selective = 0; selective < 2; selective++) {
            struct cw_window_config config = rig_config();
            config.selective_acks = selective;
            config.first_sequence = 0u - before;
            config.send_buffer_bytes = config.receive_buffer_bytes = 3001;
            struct window_rig rig = rig_with(&config);
            for (int i = 0; rig.taken < 12000; i++) {
                assert_true(i < 1000);
                const size_t room = cw_window_room(rig.a);
                if (room > 0)
                    rig_send(&rig, room);
                const struct cw_window_stats stats = window_stats(rig.a);
                if (i % 3 == 1 && stats.segments_in_flight == 0 && stats.cwnd >= 4)
                    ROUND_LOSING(&rig, 1, 3);
                else if (rig_round(&rig) == 0)
                    rig_wait_for_timer(&rig);
            }
            assert_int_equal(window_stats(rig.b).bytes_missing_at,
                             (uint32_t)(config.first_sequence + rig.taken));
            assert_int_equal(window_stats(rig.a).datagrams_malformed, 0);
            assert_int_equal(window_stats(rig.b).datagrams_malformed, 0);
            assert_true(window_stats(rig.a).segments_resent > 0);
        }
    }
}
