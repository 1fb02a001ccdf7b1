/* Tests that a reset leaves nothing of the old life. */
#include "fixture.h"

#include "endpoints.h"

static struct seen at_a, at_b;

BEFORE_EACH_TEST
{
    seen_clear(&at_a);
    seen_clear(&at_b);
}

static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

/* Plays a life of a and b from time start on. Returns a hash over all that can be seen of it. */
static uint64_t live(struct cw_endpoint *a, struct cw_endpoint *b, double start)
{
    uint64_t h = 14695981039346656037u;
    static uint8_t payload[4000];
    uint32_t random = 11;
    for (int i = 0; i < 700; i++) {
        const double now = start + i / 64.0;
        struct cw_endpoint *from = i % 2 ? b : a, *to = i % 2 ? a : b;
        struct wire wire;
        random = random * 1664525u + 1013904223u;
        wire_send(&wire, from, payload, random >> 28 == 0 ? sizeof payload : random >> 25, now);
        for (size_t j = 0; j < wire.count; j++) {
            h = hash(h, wire.datagrams[j].data, wire.datagrams[j].size);
            random = random * 1664525u + 1013904223u;
            if (random >> 30)
                receive_bytes(to, wire.datagrams[j].data, wire.datagrams[j].size, now, &at_b);
        }
        wire_free(&wire);
        cw_endpoint_update(a, now);
        cw_endpoint_update(b, now);
        seen_take(&at_b, a);
        seen_take(&at_b, b);
        for (size_t j = 0; j < at_b.count; j++) {
            h = hash(h, &at_b.events[j].type, sizeof at_b.events[j].type);
            h = hash(h, &at_b.events[j].sequence, sizeof at_b.events[j].sequence);
        }
        seen_clear(&at_b);
        const struct cw_endpoint_stats of_a = stats_of(a), of_b = stats_of(b);
        h = hash(hash(h, &of_a, sizeof of_a), &of_b, sizeof of_b);
    }
    return h;
}

TEST(test_reset_leaves_nothing_of_the_old_life)
{
    struct cw_endpoint *a = endpoint_default(), *b = endpoint_default();
    static const uint8_t payload[4000] = {0};
    uint8_t out[1100], *place;
    const uint64_t fresh = live(a, b, 0);
    for (int i = 0; i < 3; i++) {
        /* These rounds bring RTT samples that are left out because they come late. */
        for (int j = 0; j < 15; j++) {
            pass(a, b, 11, &at_b);
            lose(b, 11);
            pass(b, a, 11, &at_a);
        }
        /* These calls leave fragments to transmit, a packet to take, and waiting events and
           fragments. */
        lose(b, 11);
        assert_int_equal(
            receive_fragment(a, (uint16_t)(cw_endpoint_next_sequence(b) + 5), 0, 2, 1024, &at_a),
            CW_OK);
        cw_endpoint_update(b, 30);
        size_t size;
        assert_int_equal(copy_packet(a, payload, sizeof payload, out, 11, &size), CW_OK);
        struct wire wire;
        wire_send(&wire, b, "x", 1, 11);
        assert_int_equal(cw_endpoint_receive(a, wire.datagrams[0].data, wire.datagrams[0].size, 11),
                         CW_OK);
        wire_free(&wire);
        assert_int_equal(cw_endpoint_begin(b, 10, out, sizeof out, &place), CW_OK);
        cw_endpoint_reset(a);
        cw_endpoint_reset(b);
        cw_endpoint_accept(a, 350);
        assert_int_equal(cw_endpoint_commit(b, 0, 0, NULL), 0);
        const struct cw_endpoint_stats zero = {0}, of_a = stats_of(a), of_b = stats_of(b);
        assert_memory_equal(&of_a, &zero, sizeof zero);
        assert_memory_equal(&of_b, &zero, sizeof zero);
        assert_int_equal(cw_endpoint_next_sequence(a), 0);
        struct cw_endpoint_event event;
        assert_false(cw_endpoint_next(a, &event));
        assert_false(cw_endpoint_next(b, &event));
        assert_int_equal(cw_endpoint_transmit(a, out, sizeof out, 0), 0);
        seen_clear(&at_b);
        assert_true(live(a, b, 0) == fresh);
    }
}
