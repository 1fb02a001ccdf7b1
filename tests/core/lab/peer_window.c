/* Tests of the byte stream as a protocol of the lab: items become frames on one stream. */
#include "column_rig.h"
#include "lab/peers.h"
#include "lab/window_internal.h"

#include <math.h>
#include <string.h>

#define TICK (1.0 / 60) /* seconds */

static const struct cw_lab_peer_type *const type = &cw_lab_peer_window;

struct pair {
    void *a, *b;
    double now;
};

static struct pair make_pair(void)
{
    return (struct pair){.a = peer_of(type), .b = peer_of(type)};
}

/* Passes all that one end has to send to the other, except the datagram with the number given. */
static void pass_but(void *from, void *to, double now, int lost)
{
    uint8_t data[CW_LAB_MAX_DATAGRAM];
    for (size_t size; (size = type->transmit(from, data, sizeof data, now)) > 0;)
        if (lost-- != 0)
            type->receive(to, data, size, now);
}

static void tick(struct pair *pair)
{
    pair->now += TICK;
    type->update(pair->a, pair->now);
    type->update(pair->b, pair->now);
    pass_but(pair->a, pair->b, pair->now, -1);
    pass_but(pair->b, pair->a, pair->now, -1);
}

static void send_item(struct pair *pair, enum cw_lab_traffic traffic, uint32_t id, uint32_t size)
{
    const struct cw_lab_item item = {traffic, id, size};
    assert_true(type->send(pair->a, &item, pair->now));
}

TEST(items_of_all_sizes_arrive_in_order)
{
    static const uint32_t sizes[] = {9, 64, 125, 126, 256, 65535, 65536, CW_LAB_BLOCK_MAX};
    const uint32_t count = sizeof sizes / sizeof *sizes;
    struct pair pair = make_pair();
    struct cw_lab_arrival arrival;
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < count; i++)
        send_item(&pair, sizes[i] > CW_LAB_MESSAGE_MAX ? CW_LAB_BLOCK : CW_LAB_STATE, i, sizes[i]);
    for (int i = 0; arrived < count; i++) {
        assert_true(i < 1000);
        tick(&pair);
        while (type->next(pair.b, &arrival)) {
            assert_int_equal(arrival.item.id, arrived);
            assert_int_equal(arrival.item.size, sizes[arrived]);
            assert_false(arrival.lost);
            arrived++;
        }
    }
}

TEST(a_frame_looks_like_that_of_a_websocket)
{
    static const struct {
        uint32_t size;
        size_t frame_size;
        uint8_t frame[10];
    } cases[] = {{125, 2, {0x82, 125}},
                 {126, 4, {0x82, 126, 0, 126}},
                 {65535, 4, {0x82, 126, 0xFF, 0xFF}},
                 {65536, 10, {0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair pair = make_pair();
        uint8_t data[CW_LAB_MAX_DATAGRAM];
        const uint8_t *at = data + CW_WINDOW_HEADER_SIZE;
        send_item(&pair, CW_LAB_BLOCK, 0, cases[i].size);
        assert_true(type->transmit(pair.a, data, sizeof data, 0) > 100);
        assert_memory_equal(at, cases[i].frame, cases[i].frame_size);
        assert_int_equal(at[cases[i].frame_size], CW_LAB_BLOCK);
    }
}

/* An item goes into the buffer whole or not at all. */
TEST(a_full_buffer_takes_no_item)
{
    const struct cw_lab_item block = {CW_LAB_BLOCK, 2, CW_LAB_BLOCK_MAX};
    struct pair pair = make_pair();
    struct cw_lab_arrival arrival;
    uint32_t arrived = 0;
    send_item(&pair, CW_LAB_BLOCK, 0, CW_LAB_BLOCK_MAX);
    send_item(&pair, CW_LAB_BLOCK, 1, CW_LAB_BLOCK_MAX);
    assert_false(type->send(pair.a, &block, 0));
    send_item(&pair, CW_LAB_MESSAGE, 0, 64);
    for (int i = 0; i < 60; i++) {
        tick(&pair);
        while (type->next(pair.b, &arrival))
            arrived++;
    }
    assert_int_equal(arrived, 3);
    assert_true(type->send(pair.a, &block, pair.now));
}

TEST(what_it_waits_for_is_told)
{
    struct pair pair = make_pair();
    struct cw_lab_arrival arrival;
    uint32_t number = 77;
    assert_int_equal(type->waiting(pair.a, 0, &number), CW_LAB_WAITING_NOTHING);
    assert_int_equal(number, 0);

    /* One byte after the frames of two messages is missing. */
    for (uint32_t i = 0; i < 5; i++) {
        send_item(&pair, CW_LAB_MESSAGE, i, 64);
        pass_but(pair.a, pair.b, 0, i == 2 ? 0 : -1);
    }
    assert_int_equal(type->waiting(pair.b, 0, &number), CW_LAB_WAITING_BYTE);
    assert_int_equal(number, 2 * 66);
    assert_true(type->next(pair.b, &arrival) && type->next(pair.b, &arrival));
    assert_false(type->next(pair.b, &arrival));

    type->update(pair.a, 1.5); /* the first timeout is a second */
    pass_but(pair.a, pair.b, 1.5, 0);
    assert_int_equal(type->waiting(pair.a, 2, &number), CW_LAB_WAITING_TIMER);
    assert_int_equal(number, 1500);

    pair = make_pair();
    send_item(&pair, CW_LAB_BLOCK, 0, CW_LAB_BLOCK_MAX);
    pass_but(pair.a, pair.b, 0, -1);
    assert_int_equal(type->waiting(pair.a, 0, &number), CW_LAB_WAITING_WINDOW);
    assert_int_equal(number, 10 * (CW_LAB_MAX_DATAGRAM - 37));
}

/* The ack of data out of order does not wait for the application's turn, as in a kernel. The turns
   are half a tick apart, and datagrams arrive between them. */
TEST(it_answers_between_the_turns)
{
    struct cw_lab_column *column = column_of(type);
    struct cw_lab_settings settings = cw_lab_settings_default();
    struct cw_lab_column_event event;
    uint32_t between = 0;
    settings.rtt_seconds = 0.11;
    settings.loss = 0.1;
    column_change(column, &settings);
    cw_lab_column_step(column, 120);
    while (cw_lab_column_next(column, &event)) {
        const double turns = event.time / TICK * 2;
        between += event.traffic == 0 && fabs(turns - round(turns)) > 0.01;
    }
    assert_true(between > 10);
}

/* With it a small write waits for the ack of the one before, and so for up to a round trip. */
TEST(nagle_saves_datagrams_and_costs_time)
{
    struct cw_lab_game_stats messages[2];
    struct cw_lab_wire_stats wire[2];
    for (int i = 0; i < 2; i++) {
        struct cw_lab_column *column = column_of(i ? &cw_lab_peer_nagle : type);
        struct cw_lab_settings settings = cw_lab_settings_default();
        settings.states = false;
        column_change(column, &settings);
        cw_lab_column_step(column, 30 * SECOND);
        messages[i] = items_of(column, 0, CW_LAB_MESSAGE);
        cw_lab_column_wire_stats(column, 0, &wire[i]);
    }
    assert_true(wire[1].datagrams < wire[0].datagrams / 3 && wire[1].bytes < wire[0].bytes);
    assert_true(messages[0].mean_seconds < 0.06 && messages[1].mean_seconds > 0.1);
}
