/* Tests of datagrams made in bad faith: those without a valid header, those that ack more than was
   sent, and those that do not fit. */
#include "base/prng.h"
#include "window_rig.h"

/* Gives the window a datagram on a block of exactly its size. */
static enum cw_protocol_error receive_bytes(struct cw_window *window, const uint8_t *bytes,
                                            size_t size)
{
    uint8_t *block = malloc(size);
    if (size > 0)
        memcpy(block, bytes, size);
    const enum cw_protocol_error error = cw_window_receive(window, block, size, 10);
    free(block);
    return error;
}

static enum cw_protocol_error receive_header(struct cw_window *window,
                                             const struct cw_window_header *header)
{
    uint8_t bytes[CW_WINDOW_OVERHEAD];
    return receive_bytes(window, bytes, cw_window_header_write(header, bytes));
}

/* Returns a rig in which a has sent bytes 0 to 999. */
static struct window_rig sent_rig(void)
{
    struct window_rig rig = rig_default();
    rig_send(&rig, 1000);
    batch_of(rig.a, rig.now);
    return rig;
}

TEST(what_is_no_header_is_refused)
{
    struct window_rig rig = sent_rig();
    const struct cw_window_header fine = {
        .ack = 100, .range_count = 3, .ranges = {{200, 300}, {400, 500}, {700, 800}}};
    uint8_t bytes[CW_WINDOW_OVERHEAD];
    const size_t size = cw_window_header_write(&fine, bytes);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(receive_bytes(rig.a, bytes, i), CW_PROTOCOL_ERROR_MALFORMED);
    for (int bit = 2; bit < 7; bit++) {
        bytes[0] ^= (uint8_t)(1 << bit);
        assert_int_equal(receive_bytes(rig.a, bytes, size), CW_PROTOCOL_ERROR_MALFORMED);
        bytes[0] ^= (uint8_t)(1 << bit);
    }
    bytes[12] = 0x80; /* announces a window of 2 GB */
    assert_int_equal(receive_bytes(rig.a, bytes, size), CW_PROTOCOL_ERROR_MALFORMED);
    assert_int_equal(window_stats(rig.a).datagrams_malformed, size + 6);
    bytes[12] = 0;
    assert_int_equal(window_stats(rig.a).segments_in_flight, 10);
    assert_ok(receive_bytes(rig.a, bytes, size));
}

TEST(what_was_not_sent_cannot_be_acked)
{
    struct window_rig rig = sent_rig();
    const struct cw_window_header bad[] = {
        {.ack = 1001},
        {.ack = 0x7FFFFFFF},
        {.range_count = 1, .ranges = {{500, 1001}}},
        {.range_count = 1, .ranges = {{1000, 1100}}},
        {.range_count = 1, .ranges = {{500, 500}}},
        {.range_count = 1, .ranges = {{600, 500}}},
        {.range_count = 1, .ranges = {{0, 500}}},
        {.range_count = 2, .ranges = {{100, 200}, {0x7FFFFFF0, 0x80000010}}},
        {.ack = 500, .range_count = 1, .ranges = {{400, 600}}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(receive_header(rig.a, &bad[i]), CW_PROTOCOL_ERROR_MALFORMED);
    const struct cw_window_stats stats = window_stats(rig.a);
    assert_int_equal(stats.segments_in_flight, 10);
    assert_int_equal(stats.bytes_queued, 1000);
    const struct cw_window_header all = {.ack = 1000};
    assert_ok(receive_header(rig.a, &all));
    assert_int_equal(window_stats(rig.a).segments_in_flight, 0);
}

/* An ack of half a segment leaves the other half to be sent. */
TEST(an_ack_may_end_anywhere)
{
    struct window_rig rig = sent_rig();
    const struct cw_window_header half = {.ack = 250, .window = 2000};
    assert_ok(receive_header(rig.a, &half));
    assert_int_equal(window_stats(rig.a).segments_in_flight, 8);
    assert_int_equal(window_stats(rig.a).bytes_queued, 750);
    rig.now = 20;
    cw_window_update(rig.a, rig.now);
    struct batch *batch = batch_of(rig.a, rig.now);
    assert_int_equal(batch->datagrams[0].header.sequence, 250);
    assert_int_equal(batch->datagrams[0].payload, 50);
}

TEST(what_does_not_fit_is_refused_and_acked)
{
    struct cw_window_config config = rig_config();
    config.receive_buffer_bytes = 1000;
    config.max_segments = 20;
    struct window_rig rig = rig_with(&config);
    uint8_t bytes[CW_WINDOW_HEADER_SIZE + 60] = {0};
    const size_t one = CW_WINDOW_HEADER_SIZE + 1;
    struct cw_window_header header = {.sequence = 950};
    cw_window_header_write(&header, bytes);
    assert_int_equal(receive_bytes(rig.b, bytes, sizeof bytes), CW_PROTOCOL_ERROR_QUEUE_FULL);
    assert_ok(receive_bytes(rig.b, bytes, sizeof bytes - 10));
    /* Twenty bytes with gaps between them are kept, and no more. */
    for (uint32_t i = 1; i < 30; i++) {
        header.sequence = 2 * i;
        cw_window_header_write(&header, bytes);
        assert_int_equal(receive_bytes(rig.b, bytes, one),
                         i < 20 ? CW_PROTOCOL_OK : CW_PROTOCOL_ERROR_QUEUE_FULL);
    }
    assert_int_equal(window_stats(rig.b).ranges_early, 20);
    header.sequence = 3; /* byte 3 joins two of them */
    cw_window_header_write(&header, bytes);
    assert_ok(receive_bytes(rig.b, bytes, one));
    assert_int_equal(window_stats(rig.b).ranges_early, 19);
    header.sequence = 0xFFFFFFF0; /* this number is long past */
    cw_window_header_write(&header, bytes);
    assert_int_equal(receive_bytes(rig.b, bytes, one), CW_PROTOCOL_ERROR_DUPLICATE);
    struct batch *acks = batch_of(rig.b, rig.now);
    assert_int_equal(acks->count, 33);
}

/* A receiver that takes back what it said, and says what it cannot know, harms only itself. */
TEST(a_liar_gets_no_more_than_it_asks_for)
{
    struct window_rig rig = sent_rig();
    const struct cw_window_header lie = {.range_count = 1, .ranges = {{1, 1000}}};
    assert_ok(receive_header(rig.a, &lie));
    const struct cw_window_header lies = {.range_count = 1, .ranges = {{100, 1000}}};
    assert_ok(receive_header(rig.a, &lies));
    for (int i = 0; i < 50; i++) {
        rig_wait_for_timer(&rig);
        batch_of(rig.a, rig.now);
    }
    assert_int_equal(window_stats(rig.a).segments_in_flight, 10);
    const struct cw_window_header truth = {.ack = 1000};
    assert_ok(receive_header(rig.a, &truth));
    assert_int_equal(window_stats(rig.a).bytes_queued, 0);
}

/* Real datagrams come with bits changed: nothing is read outside them, and the stream never has
   more bytes than were sent. */
TEST(changed_datagrams_do_no_harm)
{
    struct cw_prng random = {4711};
    for (int run = 0; run < 300; run++) {
        struct cw_window_config config = rig_config();
        config.selective_acks = run % 2;
        config.control = run % 3 ? CW_WINDOW_CUBIC : CW_WINDOW_RENO;
        config.receive_buffer_bytes = 500 + 100 * (uint32_t)(run % 7);
        struct window_rig rig = rig_with(&config);
        struct cw_window *ends[2] = {rig.a, rig.b};
        for (int i = 0; i < 60; i++) {
            uint8_t bytes[1000] = {0};
            size_t taken;
            cw_window_send(ends[i % 2], bytes, 1 + cw_prng_below(&random, 999), rig.now, &taken);
            struct batch *batch = batch_of(ends[i % 2], rig.now);
            for (size_t j = 0; j < batch->count; j++) {
                uint8_t *data = batch->datagrams[j].data;
                if (cw_prng_chance(&random, 0.3))
                    data[cw_prng_below(&random, 30) % batch->datagrams[j].size] ^=
                        (uint8_t)(1 << cw_prng_below(&random, 8));
                arrive(batch, j, ends[1 - i % 2], rig.now);
            }
            cw_window_read(ends[1 - i % 2], bytes, cw_prng_below(&random, 1000));
            rig.now += 0.1;
            cw_window_update(ends[i % 2], rig.now);
        }
    }
}
