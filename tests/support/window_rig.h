/* Two ends of a byte stream in tests. The first, a, sends and b acks, unless a test says otherwise;
   the test decides which datagrams arrive. Datagrams are on heap blocks of exactly their size. */
#ifndef CAUSEWAY_TESTS_WINDOW_RIG_H
#define CAUSEWAY_TESTS_WINDOW_RIG_H

#include "fixture.h"

#include "lab/window.h"
#include "lab/window_internal.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT 100 /* bytes of a segment */
#define ONE_WAY 0.05

struct window_rig {
    struct cw_window *a, *b;
    double now;
    uint64_t given, taken; /* bytes of the stream from a to b */
};

/* Datagrams on their way, and their headers. */
struct batch {
    size_t count;
    struct {
        uint8_t *data;
        size_t size;
        uint32_t payload;
        struct cw_window_header header;
    } * datagrams;
};

/* Returns a config with selective acks and Reno, segments of 100 bytes, acks without delay. */
static inline struct cw_window_config rig_config(void)
{
    struct cw_window_config config = cw_window_config_default();
    config.max_segment_size = SEGMENT;
    config.control = CW_WINDOW_RENO;
    config.ack_delay_seconds = 0;
    return config;
}

static inline void window_release(void *window)
{
    cw_window_destroy(window);
}

/* The test owns the end. */
static inline struct cw_window *window_with(const struct cw_window_config *config)
{
    struct cw_window *window = NULL;
    assert_ok(cw_window_create(config, &window));
    return own(window, window_release);
}

static inline struct window_rig rig_with(const struct cw_window_config *config)
{
    return (struct window_rig){.a = window_with(config), .b = window_with(config), .now = 10};
}

static inline struct window_rig rig_default(void)
{
    const struct cw_window_config config = rig_config();
    return rig_with(&config);
}

static inline struct cw_window_stats window_stats(const struct cw_window *window)
{
    struct cw_window_stats stats;
    cw_window_get_stats(window, &stats);
    return stats;
}

/* Returns the byte of the stream at this place, which it follows from. */
static inline uint8_t stream_byte(uint64_t place)
{
    return (uint8_t)((place * 2654435761u + 12345) >> 13);
}

/* Gives bytes to the stream; all of them must be taken. */
static inline void rig_send(struct window_rig *rig, size_t size)
{
    uint8_t *bytes = malloc(size);
    size_t taken = 0;
    for (size_t i = 0; i < size; i++)
        bytes[i] = stream_byte(rig->given + i);
    assert_ok(cw_window_send(rig->a, bytes, size, rig->now, &taken));
    assert_int_equal(taken, size);
    rig->given += size;
    free(bytes);
}

/* Reads what has arrived, at most this many bytes, and checks it. */
static inline size_t rig_read_some(struct window_rig *rig, size_t most)
{
    uint8_t *bytes = malloc(most);
    const size_t size = cw_window_read(rig->b, bytes, most);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(bytes[i], stream_byte(rig->taken + i));
    rig->taken += size;
    free(bytes);
    return size;
}

static inline size_t rig_read(struct window_rig *rig)
{
    return rig_read_some(rig, 1 << 20);
}

static inline void batch_free(void *object)
{
    struct batch *batch = object;
    for (size_t i = 0; i < batch->count; i++)
        free(batch->datagrams[i].data);
    free(batch->datagrams);
    free(batch);
}

/* Returns all datagrams that a window has to send now. The test owns the batch. */
static inline struct batch *batch_of(struct cw_window *from, double now)
{
    struct batch *batch = own(calloc(1, sizeof *batch), batch_free);
    uint8_t out[CW_WINDOW_OVERHEAD + 2000];
    for (size_t size; (size = cw_window_transmit(from, out, sizeof out, now)) > 0;) {
        const size_t at = batch->count++;
        batch->datagrams = realloc(batch->datagrams, batch->count * sizeof *batch->datagrams);
        batch->datagrams[at].data = malloc(size);
        memcpy(batch->datagrams[at].data, out, size);
        batch->datagrams[at].size = size;
        const size_t header = cw_window_header_read(out, size, &batch->datagrams[at].header);
        assert_true(header > 0);
        batch->datagrams[at].payload = (uint32_t)(size - header);
    }
    return batch;
}

/* Gives a datagram of the batch to the other end. */
static inline enum cw_protocol_error arrive(const struct batch *batch, size_t index,
                                            struct cw_window *to, double now)
{
    assert_true(index < batch->count);
    return cw_window_receive(to, batch->datagrams[index].data, batch->datagrams[index].size, now);
}

/* Gives all datagrams to the other end but those of the list, which ends with -1. */
static inline void arrive_but(const struct batch *batch, const int *lost, struct cw_window *to,
                              double now)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (*lost == (int)i)
            lost++;
        else
            assert_true(arrive(batch, i, to, now) != CW_PROTOCOL_ERROR_MALFORMED);
    }
    assert_int_equal(*lost, -1);
}

/* Makes a round trip: the datagrams that a has to send arrive at b, but for those lost, and b's
   acks at a. Returns the number of datagrams that a sent. */
static inline size_t rig_round_but(struct window_rig *rig, const int *lost)
{
    struct batch *there = batch_of(rig->a, rig->now);
    const size_t count = there->count;
    rig->now += ONE_WAY;
    cw_window_update(rig->b, rig->now);
    arrive_but(there, lost, rig->b, rig->now);
    rig_read(rig);
    struct batch *back = batch_of(rig->b, rig->now);
    rig->now += ONE_WAY;
    const int none = -1;
    arrive_but(back, &none, rig->a, rig->now);
    cw_window_update(rig->a, rig->now);
    return count;
}

static inline size_t rig_round(struct window_rig *rig)
{
    const int none = -1;
    return rig_round_but(rig, &none);
}

/* Calls rig_round_but with the numbers of the datagrams that are lost. */
#define ROUND_LOSING(rig, ...) rig_round_but(rig, (const int[]){__VA_ARGS__, -1})

/* Advances the clock to the time when a's timer is due, and lets it fire. */
static inline double rig_wait_for_timer(struct window_rig *rig)
{
    const double due = window_stats(rig->a).timer_due, waited = due - rig->now;
    assert_true(waited >= 0 && waited < 1e6);
    rig->now = due;
    cw_window_update(rig->a, rig->now);
    return waited;
}

static inline bool is_near(double a, double b)
{
    return a - b < 1e-9 && b - a < 1e-9;
}
#define assert_near(a, b) assert_true(is_near(a, b))

#endif
