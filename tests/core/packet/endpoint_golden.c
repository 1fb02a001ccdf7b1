/* Tests that two endpoints talk over a bad path, from the first packet on and again across the
   wrap, with every datagram and every event as it was when the shared vectors passed. A failure
   prints the ten steps that differ. */
#include "fixture.h"

#include "endpoints.h"
#include "golden.h"

#define MOST_LATE 6

#define STEPS_A_LINE 10

static struct golden golden;
static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 16) % limit;
}

/* Datagrams that wait to arrive later, or twice. */
static struct {
    uint8_t data[200];
    size_t size;
} late[2][MOST_LATE];

static void note(const char *side, const char *what, const uint8_t *bytes, size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "%s %s", side, what);
    assert_true(golden_bytes(&golden, name, bytes, size));
}

static void note_events(struct cw_endpoint *endpoint, const char *side)
{
    static const char *const names[] = {"", "packet", "acked", "lost"};
    struct cw_endpoint_event event;
    while (cw_endpoint_next(endpoint, &event)) {
        const uint8_t sequence[] = {(uint8_t)event.sequence, (uint8_t)(event.sequence >> 8)};
        note(side, names[event.type], sequence, sizeof sequence);
        if (event.type == CW_ENDPOINT_EVENT_PACKET)
            note(side, "payload", event.payload, event.size);
        cw_endpoint_accept(endpoint, event.sequence);
    }
}

static void deliver(struct cw_endpoint *to, const char *side, const uint8_t *data, size_t size,
                    double now)
{
    uint8_t *block = malloc(size);
    memcpy(block, data, size);
    const uint8_t error = (uint8_t)(cw_endpoint_receive(to, block, size, now) != CW_OK);
    note(side, error ? "drops" : "takes", NULL, 0);
    note_events(to, side);
    free(block);
}

static void talk(struct cw_endpoint *ends[2], unsigned steps, double begin)
{
    static const char *const sides[] = {"a", "b"};
    memset(late, 0, sizeof late);
    for (unsigned i = 0; i < steps; i++) {
        const double now = begin + i / 64.0;
        const unsigned from = i % 3 == 2; /* a sends twice as often */
        struct wire wire;
        uint8_t payload[300];
        const uint32_t size = random_below(8) == 0 ? random_below(301) : random_below(20);
        fill_payload(payload, size, i);
        wire_send(&wire, ends[from], payload, size, now);
        for (size_t j = 0; j < wire.count; j++) {
            const uint8_t *data = wire.datagrams[j].data;
            note(sides[from], "sends", data, wire.datagrams[j].size);
            const uint32_t chance = random_below(10), slot = random_below(MOST_LATE);
            if (chance > 2) /* others are late or lost */
                deliver(ends[!from], sides[!from], data, wire.datagrams[j].size, now);
            if (chance == 1 || chance == 3) {
                memcpy(late[from][slot].data, data, wire.datagrams[j].size);
                late[from][slot].size = wire.datagrams[j].size;
            }
        }
        wire_free(&wire);
        const uint32_t slot = random_below(MOST_LATE);
        if (late[from][slot].size && random_below(3) == 0) {
            deliver(ends[!from], sides[!from], late[from][slot].data, late[from][slot].size, now);
            late[from][slot].size = 0;
        }
        for (unsigned j = 0; j < 2; j++) {
            cw_endpoint_update(ends[j], now);
            note_events(ends[j], sides[j]);
        }
        if ((i + 1) % STEPS_A_LINE == 0)
            assert_true(golden_check(&golden));
    }
}

TEST(test_a_conversation_repeats_byte_by_byte)
{
    static struct seen ignored;
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = 300;
    config.fragment_size = 80;
    config.fragment_above = 100;
    config.sent_window = config.received_window = 64;
    struct cw_endpoint *ends[2] = {endpoint_with(&config), endpoint_with(&config)};
    golden = golden_open(CAUSEWAY_GOLDEN "/endpoint.txt", 0);
    random_state = 1;
    talk(ends, 150, 0);
    while (cw_endpoint_next_sequence(ends[0]) != 65480) {
        pass(ends[0], ends[1], 10, &ignored);
        if (cw_endpoint_next_sequence(ends[0]) % 400) /* so seldom that acks soon take two bytes */
            pass(ends[1], ends[0], 10, &ignored);
        seen_clear(&ignored);
    }
    cw_endpoint_update(ends[0], 20);
    cw_endpoint_update(ends[1], 20);
    seen_take(&ignored, ends[0]);
    seen_take(&ignored, ends[1]);
    talk(ends, 200, 20);
    assert_true(golden_close(&golden));
}
