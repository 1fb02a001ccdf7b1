/* Tests of a byte stream like TCP's: what it takes and gives, its memory, its bytes on the wire. */
#include "window_rig.h"

#include <math.h>

TEST(what_is_sent_is_read_in_both_directions)
{
    struct window_rig rig = rig_default();
    size_t taken;
    uint8_t answer[300];
    rig_send(&rig, 950);
    memset(answer, 7, sizeof answer);
    assert_ok(cw_window_send(rig.b, answer, 300, rig.now, &taken));
    assert_int_equal(rig_round(&rig), 10);
    assert_int_equal(rig.taken, 950);
    uint8_t read[301];
    assert_int_equal(cw_window_read(rig.a, read, sizeof read), 300);
    assert_memory_equal(read, answer, 300);
    assert_int_equal(cw_window_read(rig.a, read, sizeof read), 0);
}

/* Without Nagle's algorithm, which would keep the second one back. */
TEST(small_writes_are_sent_at_once)
{
    struct window_rig rig = rig_default();
    for (int i = 0; i < 5; i++) {
        rig_send(&rig, 10);
        struct batch *batch = batch_of(rig.a, rig.now);
        assert_int_equal(batch->count, 1);
        assert_int_equal(batch->datagrams[0].payload, 10);
    }
}

TEST(nagle_keeps_a_small_write_until_all_is_acked)
{
    struct cw_window_config config = rig_config();
    config.nagle = true;
    struct window_rig rig = rig_with(&config);
    for (int i = 0; i < 5; i++)
        rig_send(&rig, 10);
    /* Nothing is unacked, so that it does not wait. */
    struct batch *batch = batch_of(rig.a, rig.now);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->datagrams[0].payload, 50);
    rig_send(&rig, 10);
    assert_int_equal(batch_of(rig.a, rig.now)->count, 0);
    rig_send(&rig, 95); /* a full segment never waits, and what is beyond it does */
    struct batch *full = batch_of(rig.a, rig.now);
    assert_int_equal(full->count, 1);
    assert_int_equal(full->datagrams[0].payload, SEGMENT);
    const int none = -1;
    arrive_but(batch, &none, rig.b, rig.now);
    arrive_but(batch_of(rig.b, rig.now), &none, rig.a, rig.now);
    assert_int_equal(batch_of(rig.a, rig.now)->count, 0);
    arrive_but(full, &none, rig.b, rig.now);
    arrive_but(batch_of(rig.b, rig.now), &none, rig.a, rig.now);
    batch = batch_of(rig.a, rig.now);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->datagrams[0].payload, 5);
}

TEST(what_waits_is_sent_together)
{
    struct cw_window_config config = rig_config();
    config.initial_window = 1;
    struct window_rig rig = rig_with(&config);
    rig_send(&rig, 10);
    assert_int_equal(rig_round(&rig), 1); /* now the window is 2 */
    for (int i = 0; i < 25; i++)
        rig_send(&rig, 10);
    struct batch *batch = batch_of(rig.a, rig.now);
    assert_int_equal(batch->count, 2);
    assert_int_equal(batch->datagrams[0].payload, 100);
    assert_int_equal(batch->datagrams[1].payload, 100);
}

TEST(a_full_buffer_takes_no_more)
{
    struct cw_window_config config = rig_config();
    config.send_buffer_bytes = 1000;
    struct window_rig rig = rig_with(&config);
    const uint8_t bytes[1500] = {0};
    size_t taken = 77;
    assert_int_equal(cw_window_room(rig.a), 1000);
    rig_send(&rig, 400);
    assert_int_equal(cw_window_room(rig.a), 600);
    assert_ok(cw_window_send(rig.a, bytes, sizeof bytes, rig.now, &taken));
    assert_int_equal(taken, 600);
    taken = 77;
    assert_int_equal(cw_window_send(rig.a, bytes, 1, rig.now, &taken),
                     CW_PROTOCOL_ERROR_QUEUE_FULL);
    assert_int_equal(taken, 77);
}

TEST(the_wire_is_as_described)
{
    struct cw_window_config config = rig_config();
    config.first_sequence = 0x01020304;
    config.receive_buffer_bytes = 0x00010000;
    struct window_rig rig = rig_with(&config);
    uint8_t out[CW_WINDOW_OVERHEAD + SEGMENT];
    size_t taken;
    assert_ok(cw_window_send(rig.a, (const uint8_t *)"abc", 3, 0, &taken));
    const uint8_t data[] = {0, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 1, 0, 'a', 'b', 'c'};
    assert_int_equal(cw_window_transmit(rig.a, out, sizeof out, 0), sizeof data);
    assert_memory_equal(out, data, sizeof data);
    /* The second datagram arrives alone, and the answer is an ack of the first byte, with a range.
     */
    assert_ok(cw_window_send(rig.a, (const uint8_t *)"de", 2, 0, &taken));
    const size_t size = cw_window_transmit(rig.a, out, sizeof out, 0);
    assert_ok(cw_window_receive(rig.b, out, size, 0));
    const uint8_t ack[] = {1, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 1, 0, 7, 3, 2, 1, 9, 3, 2, 1};
    assert_int_equal(cw_window_transmit(rig.b, out, sizeof out, 0), sizeof ack);
    assert_memory_equal(out, ack, sizeof ack);
}

TEST(reset_begins_again)
{
    struct window_rig rig = rig_default(), fresh = rig_default();
    rig_send(&rig, 3000);
    ROUND_LOSING(&rig, 3);
    cw_window_reset(rig.a);
    cw_window_reset(rig.b);
    const struct cw_window_stats stats = window_stats(rig.a), none = window_stats(fresh.a);
    const size_t size = offsetof(struct cw_window_stats, timed_out) + 1; /* without padding */
    assert_memory_equal(&stats, &none, size);
    rig.given = rig.taken = 0;
    rig_send(&rig, 1000);
    rig_round(&rig);
    assert_int_equal(rig.taken, 1000);
}

#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        struct cw_window_config config = cw_window_config_default();                               \
        struct cw_window *window = (void *)&config;                                                \
        config.field = value;                                                                      \
        assert_string_equal(cw_window_config_error_field(&config), #field);                        \
        assert_int_equal(cw_window_create(&config, &window), CW_PROTOCOL_ERROR_CONFIG);            \
        assert_ptr_equal(window, &config);                                                         \
        assert_int_equal(cw_window_memory(&config), 0);                                            \
    } while (0)

TEST(a_config_that_cannot_work_is_refused)
{
    const struct cw_window_config good = cw_window_config_default();
    assert_null(cw_window_config_error_field(&good));
    REFUSED(initial_window, 1025);
    REFUSED(max_rto_seconds, 0.9);
}

/* core.arguments has the other mistakes. */
TEST(mistakes_are_refused)
{
    struct window_rig rig = rig_default();
    uint8_t out[CW_WINDOW_OVERHEAD + SEGMENT] = {0};
    size_t taken = 77;
    assert_int_equal(cw_window_send(rig.a, out, 0, 0, &taken), CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    rig_send(&rig, 1);
    const double no_times[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cw_window_send(rig.a, out, 1, no_times[i], &taken),
                         CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_window_receive(rig.a, out, 13, no_times[i]),
                         CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
        cw_window_update(rig.a, no_times[i]);
        assert_int_equal(cw_window_transmit(rig.a, out, sizeof out, no_times[i]), 0);
    }
    assert_int_equal(taken, 77);
    assert_int_equal(cw_window_transmit(rig.a, out, sizeof out - 1, 10), 0);
    assert_int_equal(cw_window_transmit(rig.a, out, sizeof out, 10), CW_WINDOW_HEADER_SIZE + 1);
}
