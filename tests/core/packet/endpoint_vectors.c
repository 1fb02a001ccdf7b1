/* Tests of the endpoint against the reference: headers, malformed datagrams and whole traces. */
#include "causeway/endpoint.h"

#include "copy_packet.h"
#include "fixture.h"
#include "vectors.h"

#define MAX_PACKET 16384

static struct cw_endpoint *make_endpoint(const cJSON *config)
{
    struct cw_endpoint_config c = cw_endpoint_config_default();
    c.max_packet_size = (uint32_t)vectors_int(config, "max_packet_size");
    c.fragment_above = (uint32_t)vectors_int(config, "fragment_above");
    c.fragment_size = (uint32_t)vectors_int(config, "fragment_size");
    c.received_window = (uint32_t)vectors_int(config, "received_packets_buffer_size");
    c.max_reassemblies = (uint32_t)vectors_int(config, "fragment_reassembly_buffer_size");
    const long sent = vectors_int(config, "sent_packets_buffer_size");
    if (sent)
        c.sent_window = (uint32_t)sent;
    struct cw_endpoint *endpoint;
    assert_int_equal(cw_endpoint_create(&c, &endpoint), CW_OK);
    return endpoint;
}

static void take_all(struct cw_endpoint *endpoint)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(endpoint, &event))
        cw_endpoint_accept(endpoint, event.sequence);
}

static void receive_hex(struct cw_endpoint *endpoint, const cJSON *hex)
{
    size_t size;
    uint8_t *data = vectors_bytes(hex, &size);
    take_all(endpoint);
    cw_endpoint_receive(endpoint, data, size, 0);
    take_all(endpoint);
    free(data);
}

TEST(test_malformed_datagrams_deliver_and_ack_nothing)
{
    cJSON *file = vectors_load("reliable_headers.json");
    if (!file)
        skip();
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "malformed"))
    {
        struct cw_endpoint *endpoint = make_endpoint(vectors_get(file, "config"));
        const cJSON *prior;
        cJSON_ArrayForEach(prior, vectors_get(item, "prior")) receive_hex(endpoint, prior);
        struct cw_endpoint_stats before, after;
        cw_endpoint_get_stats(endpoint, &before);
        size_t size;
        uint8_t *data = vectors_bytes(vectors_get(item, "datagram"), &size);
        const enum cw_error error = cw_endpoint_receive(endpoint, data, size, 0);
        cw_endpoint_get_stats(endpoint, &after);
        struct cw_endpoint_event event;
        if (error == CW_OK || cw_endpoint_next(endpoint, &event) ||
            after.packets_received != before.packets_received)
            fail_msg("accepted: %s (%s)", cJSON_GetStringValue(vectors_get(item, "datagram")),
                     cJSON_GetStringValue(vectors_get(item, "reason")));
        free(data);
        cw_endpoint_destroy(endpoint);
    }
    cJSON_Delete(file);
}

TEST(test_unusual_datagrams_that_the_reference_takes)
{
    cJSON *file = vectors_load("reliable_headers.json");
    if (!file)
        skip();
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "accepted_by_reference"))
    {
        struct cw_endpoint *endpoint = make_endpoint(vectors_get(file, "config"));
        const cJSON *prior;
        cJSON_ArrayForEach(prior, vectors_get(item, "prior")) receive_hex(endpoint, prior);
        size_t size, payload_size;
        uint8_t *data = vectors_bytes(vectors_get(item, "datagram"), &size);
        uint8_t *payload = vectors_bytes(vectors_get(item, "delivered_payload"), &payload_size);
        struct cw_endpoint_event event;
        const enum cw_error error = cw_endpoint_receive(endpoint, data, size, 0);
        if (error != CW_OK || !cw_endpoint_next(endpoint, &event) ||
            event.type != CW_ENDPOINT_EVENT_PACKET || event.size != payload_size ||
            memcmp(event.payload, payload, payload_size) != 0)
            fail_msg("not taken: %s (%s): %s", cJSON_GetStringValue(vectors_get(item, "datagram")),
                     cJSON_GetStringValue(vectors_get(item, "note")), cw_error_string(error));
        free(data);
        free(payload);
        cw_endpoint_destroy(endpoint);
    }
    cJSON_Delete(file);
}

struct side {
    struct cw_endpoint *endpoint;
    uint16_t acked[1024];
    size_t acked_count;
    uint16_t got_sequence[64];
    uint8_t *got[64];
    size_t got_size[64];
    size_t got_count;
};

static void drain(struct side *side)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(side->endpoint, &event)) {
        if (event.type == CW_ENDPOINT_EVENT_ACKED) {
            side->acked[side->acked_count++] = event.sequence;
        } else if (event.type == CW_ENDPOINT_EVENT_PACKET) {
            side->got[side->got_count] = malloc(event.size + 1);
            memcpy(side->got[side->got_count], event.payload, event.size);
            side->got_size[side->got_count] = event.size;
            side->got_sequence[side->got_count++] = event.sequence;
            cw_endpoint_accept(side->endpoint, event.sequence);
        }
    }
}

static void clear_side(struct side *side)
{
    for (size_t i = 0; i < side->got_count; i++)
        free(side->got[i]);
    side->got_count = 0;
    side->acked_count = 0;
}

static void exchange(struct side *from, struct side *to)
{
    uint8_t datagram[2048];
    const uint8_t zero = 0;
    size_t size;
    assert_int_equal(copy_packet(from->endpoint, &zero, 1, datagram, 0, &size), CW_OK);
    assert_int_equal(cw_endpoint_receive(to->endpoint, datagram, size, 0), CW_OK);
    drain(to);
    clear_side(to);
}

static void check_sent(struct side *from, const cJSON *event)
{
    size_t size;
    uint8_t *payload = vectors_bytes(vectors_get(event, "payload"), &size);
    const cJSON *sequence = vectors_get(event, "sequence");
    const uint16_t given = cw_endpoint_next_sequence(from->endpoint);
    uint8_t out[MAX_PACKET];
    size_t length;
    const enum cw_error error = copy_packet(from->endpoint, payload, size, out, 0, &length);
    if (cJSON_IsNull(sequence)) {
        assert_int_equal(error, CW_ERROR_PACKET_TOO_LARGE);
    } else {
        assert_int_equal(error, CW_OK);
        assert_int_equal(given, (int)cJSON_GetNumberValue(sequence));
        const cJSON *datagram;
        cJSON_ArrayForEach(datagram, vectors_get(event, "datagrams"))
        {
            size_t expected_size;
            uint8_t *expected = vectors_bytes(datagram, &expected_size);
            assert_int_equal(length, expected_size);
            assert_memory_equal(out, expected, expected_size);
            free(expected);
            length = cw_endpoint_transmit(from->endpoint, out, sizeof out, 0);
        }
        assert_int_equal(length, 0);
    }
    free(payload);
}

static void check_delivered(struct side sides[2], const cJSON *events, const cJSON *event)
{
    const cJSON *delivery, *expected;
    cJSON_ArrayForEach(delivery, vectors_get(event, "deliver"))
    {
        struct side *to = &sides[cJSON_GetStringValue(vectors_get(delivery, "to"))[0] - 'A'];
        const cJSON *hex = vectors_get(delivery, "inject");
        if (!hex) {
            const long step = vectors_int(delivery, "step");
            const cJSON *sent;
            cJSON_ArrayForEach(sent, events)
            {
                if (vectors_int(sent, "step") == step)
                    break;
            }
            hex = cJSON_GetArrayItem(vectors_get(sent, "datagrams"),
                                     (int)vectors_int(delivery, "datagram"));
        }
        size_t size;
        uint8_t *data = vectors_bytes(hex, &size);
        cw_endpoint_receive(to->endpoint, data, size, 0);
        drain(to);
        free(data);
    }
    size_t seen[2] = {0, 0};
    cJSON_ArrayForEach(expected, vectors_get(event, "received"))
    {
        const int by = cJSON_GetStringValue(vectors_get(expected, "by"))[0] - 'A';
        const long step = vectors_int(expected, "payload_of_step");
        const cJSON *sent;
        cJSON_ArrayForEach(sent, events)
        {
            if (vectors_int(sent, "step") == step)
                break;
        }
        size_t size;
        uint8_t *payload = vectors_bytes(vectors_get(sent, "payload"), &size);
        const size_t i = seen[by]++;
        assert_true(i < sides[by].got_count);
        assert_int_equal(sides[by].got_sequence[i], vectors_int(expected, "sequence"));
        assert_int_equal(sides[by].got_size[i], size);
        assert_memory_equal(sides[by].got[i], payload, size);
        free(payload);
    }
    const char *names[] = {"A", "B"};
    for (int by = 0; by < 2; by++) {
        assert_int_equal(seen[by], sides[by].got_count);
        const cJSON *acked = vectors_get(vectors_get(event, "acked"), names[by]);
        assert_int_equal(cJSON_GetArraySize(acked), sides[by].acked_count);
        for (size_t i = 0; i < sides[by].acked_count; i++)
            assert_int_equal(cJSON_GetNumberValue(cJSON_GetArrayItem(acked, (int)i)),
                             sides[by].acked[i]);
        clear_side(&sides[by]);
    }
}

TEST(test_traces_repeat_datagram_by_datagram)
{
    cJSON *file = vectors_load("reliable_trace.json");
    if (!file)
        skip();
    const cJSON *trace, *event, *phase;
    cJSON_ArrayForEach(trace, vectors_get(file, "traces"))
    {
        struct side sides[2] = {{0}};
        for (int i = 0; i < 2; i++)
            sides[i].endpoint = make_endpoint(vectors_get(trace, "config"));
        int phases = 0;
        cJSON_ArrayForEach(phase, vectors_get(vectors_get(trace, "warmup"), "phases"))
        {
            const long repeat = vectors_int(phase, "repeat");
            for (long i = 0; i < repeat; i++) {
                if (phases == 0)
                    exchange(&sides[0], &sides[1]);
                exchange(&sides[1], &sides[0]);
            }
            phases++;
        }
        cJSON_ArrayForEach(event, vectors_get(trace, "events"))
        {
            const cJSON *from = vectors_get(event, "from");
            if (from)
                check_sent(&sides[cJSON_GetStringValue(from)[0] - 'A'], event);
            check_delivered(sides, vectors_get(trace, "events"), event);
        }
        for (int i = 0; i < 2; i++)
            cw_endpoint_destroy(sides[i].endpoint);
    }
    cJSON_Delete(file);
}
