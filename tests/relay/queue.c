#include "session/queue.h"
#include "fixture.h"

#include <string.h>

static struct queue make(size_t bytes, double age)
{
    return (struct queue){.limit_bytes = bytes, .limit_age_seconds = age};
}

static void push(struct queue *queue, uint8_t value, size_t size, double now,
                 struct queue_drops *drops)
{
    uint8_t frame[256];
    memset(frame, value, sizeof frame);
    queue_push(queue, frame, size, now, drops);
}

TEST(frames_come_out_in_order_and_whole)
{
    struct queue queue = make(1000, 1.0);
    struct queue_drops drops = {0};
    for (uint8_t i = 0; i < 5; i++)
        push(&queue, i, (size_t)(10 + i), 0.0, &drops);
    const uint8_t *bytes;
    size_t frames;
    assert_int_equal(queue_peek(&queue, 33, &bytes, &frames), 33);
    assert_int_equal(frames, 3);
    assert_int_equal(bytes[9], 0);
    assert_int_equal(bytes[10], 1);
    assert_int_equal(bytes[32], 2);
    queue_pop(&queue, frames);
    assert_int_equal(queue_peek(&queue, 1, &bytes, &frames), 13);
    assert_int_equal(frames, 1);
    queue_pop(&queue, 1);
    assert_int_equal(queue_peek(&queue, 1000, &bytes, &frames), 14);
    queue_pop(&queue, 1);
    assert_int_equal(queue_peek(&queue, 1000, &bytes, &frames), 0);
    assert_int_equal(frames, 0);
    assert_int_equal(drops.age + drops.bytes, 0);
    queue_free(&queue);
}

TEST(the_oldest_goes_when_it_is_too_old)
{
    struct queue queue = make(1000, 0.25);
    struct queue_drops drops = {0};
    push(&queue, 1, 10, 0.0, &drops);
    push(&queue, 2, 10, 0.1, &drops);
    queue_expire(&queue, 0.25, &drops);
    assert_int_equal(drops.age, 0);
    queue_expire(&queue, 0.26, &drops);
    assert_int_equal(drops.age, 1);
    /* A push expires old datagrams too. */
    push(&queue, 3, 10, 0.5, &drops);
    assert_int_equal(drops.age, 2);
    assert_int_equal(drops.bytes, 0);
    const uint8_t *bytes;
    size_t frames;
    assert_int_equal(queue_peek(&queue, 1000, &bytes, &frames), 10);
    assert_int_equal(bytes[0], 3);
    queue_free(&queue);
}

TEST(the_oldest_goes_when_there_is_too_much)
{
    struct queue queue = make(100, 10.0);
    struct queue_drops drops = {0};
    for (uint8_t i = 0; i < 10; i++)
        push(&queue, i, 10, 0.0, &drops);
    assert_int_equal(drops.bytes, 0);
    push(&queue, 10, 25, 0.0, &drops);
    assert_int_equal(drops.bytes, 3);
    const uint8_t *bytes;
    size_t frames;
    assert_int_equal(queue_peek(&queue, 1000, &bytes, &frames), 95);
    assert_int_equal(bytes[0], 3);
    assert_int_equal(bytes[94], 10);
    push(&queue, 11, 101, 0.0, &drops);
    assert_int_equal(queue.count, 0);
    assert_int_equal(drops.bytes, 3 + 8 + 1);
    queue_free(&queue);
}

/* The queue lives long at different fill levels, and is compared with a plain model. */
TEST(many_rounds_keep_contents)
{
    struct queue queue = make(4000, 1e9);
    struct queue_drops drops = {0};
    unsigned next_in = 0;
    unsigned next_out = 0;
    uint32_t random = 12345;
    for (int round = 0; round < 20000; round++) {
        random = random * 1664525u + 1013904223u;
        unsigned pushes = random >> 30;
        for (unsigned i = 0; i < pushes && queue.used < 3700; i++, next_in++)
            push(&queue, (uint8_t)next_in, 1 + next_in % 251, 0.0, &drops);
        const uint8_t *bytes;
        size_t frames;
        size_t size = queue_peek(&queue, 200 + (random & 1023), &bytes, &frames);
        for (size_t at = 0; at < size; next_out++) {
            size_t frame = 1 + next_out % 251;
            assert_int_equal(bytes[at], (uint8_t)next_out);
            assert_int_equal(bytes[at + frame - 1], (uint8_t)next_out);
            at += frame;
        }
        queue_pop(&queue, frames);
    }
    assert_int_equal(drops.age + drops.bytes, 0);
    assert_int_equal(next_in - next_out, queue.count);
    assert_true(next_in > 10000);
    queue_free(&queue);
}
