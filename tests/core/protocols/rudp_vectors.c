/* Tests of the request-based protocol against a recorded peer: what it encodes, and a run in which
   a sends, b answers, and a quarter of all datagrams is lost. */
#include "rudp_rig.h"
#include "vectors.h"

#include <stdbool.h>

#define LONGEST (CW_RUDP_MAX_SIZE + 4)

static struct cw_rudp *make_peer(uint32_t window, uint32_t max_package_size)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_window = config.receive_window = window;
    config.max_package_size = max_package_size;
    return rudp_make(&config);
}

static void send_hex(struct cw_rudp *rudp, const cJSON *hex)
{
    size_t size;
    uint8_t *data = vectors_bytes(hex, &size);
    assert_ok(cw_rudp_send(rudp, data, size));
    free(data);
}

TEST(test_packages_are_encoded_as_recorded)
{
    static uint8_t out[LONGEST];
    cJSON *file = vectors_load("rudp.json");
    if (!file)
        skip();
    const cJSON *item, *hex;
    int cases = 0;
    cJSON_ArrayForEach(item, vectors_get(file, "encode"))
    {
        struct cw_rudp *rudp = make_peer(32, CW_RUDP_MAX_SIZE);
        cJSON_ArrayForEach(hex, vectors_get(item, "messages")) send_hex(rudp, hex);
        cw_rudp_update(rudp, 1);
        cJSON_ArrayForEach(hex, vectors_get(item, "datagrams"))
        {
            size_t size;
            uint8_t *expected = vectors_bytes(hex, &size);
            if (size) { /* the recorded peer sends empty datagrams too */
                assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), size);
                assert_memory_equal(out, expected, size);
            }
            free(expected);
        }
        assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 0);
        cases++;
    }
    assert_int_equal(cases, 13);
    cJSON_Delete(file);
}

/* An end of the recorded run, and the test's own knowledge of it. */
struct end {
    struct cw_rudp *rudp;
    uint16_t after_newest; /* the id after the newest package that it knows of */
    bool heartbeat;        /* the last item of this tick was a heartbeat */
};

enum { HEARTBEAT, CORRUPT, REQUEST, MISSING };

/* Returns the tag of the item at the start of data, and stores its size. */
static unsigned look_at(const uint8_t *data, size_t *size)
{
    const size_t head = data[0] & 0x80 ? 2 : 1;
    const unsigned tag = head == 1 ? data[0] : (data[0] & 0x7fu) << 8 | data[1];
    *size = tag < REQUEST ? head : tag <= MISSING ? head + 2 : head + 2 + tag - 4;
    return tag;
}

static void give(struct end *end, const cJSON *hex)
{
    size_t size, item_size;
    uint8_t *data = vectors_bytes(hex, &size);
    for (size_t at = 0; at < size; at += item_size) {
        const unsigned tag = look_at(data + at, &item_size);
        end->heartbeat = tag == HEARTBEAT;
        const uint8_t *id = data + at + item_size - (tag > MISSING ? tag - 4 : 0) - 2;
        const unsigned after = tag >= MISSING ? (unsigned)(id[0] << 8 | id[1]) + 1 : 0;
        if (after > end->after_newest)
            end->after_newest = (uint16_t)after;
    }
    assert_ok(cw_rudp_receive(end->rudp, data, size));
    cw_rudp_update(end->rudp, 0);
    free(data);
}

/* Writes what our end must send for a datagram of the recorded peer, and returns its size. The
   recorded peer answers a heartbeat with a package of its own, or says that it is missing, by the
   number of the package that it expects. In that place our end asks for the package after the
   newest. */
static size_t translate(const struct end *end, const uint8_t *data, size_t size, uint8_t *expected)
{
    size_t at = 0, used = 0, item_size;
    while (at < size && look_at(data + at, &item_size) == REQUEST)
        at += item_size;
    memcpy(expected, data, used = at);
    if (end->heartbeat) {
        expected[used++] = REQUEST;
        expected[used++] = (uint8_t)(end->after_newest >> 8);
        expected[used++] = (uint8_t)end->after_newest;
        assert_true(look_at(data + at, &item_size) >= MISSING);
        at += item_size;
    }
    memcpy(expected + used, data + at, size - at);
    return used + size - at;
}

static void check_sent(struct end *end, const cJSON *hex)
{
    uint8_t out[512], expected[1024];
    size_t size;
    uint8_t *data = vectors_bytes(hex, &size);
    const size_t expected_size = translate(end, data, size, expected);
    assert_int_equal(cw_rudp_transmit(end->rudp, out, sizeof out), expected_size);
    assert_memory_equal(out, expected, expected_size);
    free(data);
}

static void check_delivered(struct end *end, const cJSON *step)
{
    struct cw_rudp_event event;
    const cJSON *hex;
    cJSON_ArrayForEach(hex, vectors_get(step, "delivers"))
    {
        size_t size;
        uint8_t *expected = vectors_bytes(hex, &size);
        assert_true(cw_rudp_next(end->rudp, &event));
        assert_int_equal(event.type, CW_RUDP_EVENT_PACKAGE);
        assert_int_equal(event.size, size);
        assert_memory_equal(event.data, expected, size);
        free(expected);
    }
    assert_false(cw_rudp_next(end->rudp, &event));
}

TEST(test_a_recorded_run_repeats_datagram_by_datagram)
{
    cJSON *file = vectors_load("rudp.json");
    if (!file)
        skip();
    uint8_t out[512];
    struct end ends[2] = {{.rudp = make_peer(128, CW_RUDP_FITTING_SIZE)},
                          {.rudp = make_peer(128, CW_RUDP_FITTING_SIZE)}};
    const cJSON *step, *hex;
    int steps = 0;
    cJSON_ArrayForEach(step, vectors_get(file, "run"))
    {
        struct end *end = &ends[cJSON_GetStringValue(vectors_get(step, "peer"))[0] - 'a'];
        end->heartbeat = false;
        cJSON_ArrayForEach(hex, vectors_get(step, "sends")) send_hex(end->rudp, hex);
        cJSON_ArrayForEach(hex, vectors_get(step, "receives")) give(end, hex);
        cw_rudp_update(end->rudp, 1);
        cJSON_ArrayForEach(hex, vectors_get(step, "datagrams")) check_sent(end, hex);
        assert_int_equal(cw_rudp_transmit(end->rudp, out, sizeof out), 0);
        check_delivered(end, step);
        steps++;
    }
    assert_int_equal(steps, 240);
    cJSON_Delete(file);
}
