/* Endpoints in tests: datagrams are on heap blocks of exactly their size, and events are written
   down. */
#ifndef CAUSEWAY_TESTS_ENDPOINTS_H
#define CAUSEWAY_TESTS_ENDPOINTS_H

#include "copy_packet.h"
#include "owned.h"

#include "causeway/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAGMENTS 256
#define MAX_SEEN      70000

/* The datagrams of one packet. */
struct wire {
    uint16_t sequence;
    size_t count;
    struct {
        uint8_t *data;
        size_t size;
    } datagrams[MAX_FRAGMENTS];
};

/* The events of an endpoint, in order. The payload is that of the latest packet; its place in the
   datagram matters to few tests. */
struct seen {
    bool refuses; /* true: it does not accept packets */
    size_t count;
    struct {
        enum cw_endpoint_event_type type;
        uint16_t sequence;
    } events[MAX_SEEN];
    uint8_t payload[65536];
    size_t size;
};

static inline struct cw_endpoint *endpoint_default(void)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    return endpoint_with(&config);
}

static inline struct cw_endpoint_stats stats_of(const struct cw_endpoint *endpoint)
{
    struct cw_endpoint_stats stats;
    cw_endpoint_get_stats(endpoint, &stats);
    return stats;
}

static inline void wire_free(struct wire *wire)
{
    for (size_t i = 0; i < wire->count; i++)
        free(wire->datagrams[i].data);
    wire->count = 0;
}

/* Sends a packet with all its datagrams. On an error it sends none. */
static inline enum cw_error wire_try(struct wire *wire, struct cw_endpoint *from,
                                     const void *payload, size_t size, double now)
{
    const size_t capacity = cw_endpoint_max_datagram_size(from);
    uint8_t *out = malloc(capacity);
    size_t length;
    wire->count = 0;
    wire->sequence = cw_endpoint_next_sequence(from);
    const enum cw_error error = copy_packet(from, payload, size, out, now, &length);
    for (; length > 0; length = cw_endpoint_transmit(from, out, capacity, now), wire->count++) {
        assert_true(length <= capacity);
        assert_true(wire->count < MAX_FRAGMENTS);
        uint8_t *copy = malloc(length);
        memcpy(copy, out, length);
        wire->datagrams[wire->count].data = copy;
        wire->datagrams[wire->count].size = length;
    }
    free(out);
    return error;
}

static inline void wire_send(struct wire *wire, struct cw_endpoint *from, const void *payload,
                             size_t size, double now)
{
    assert_int_equal(wire_try(wire, from, payload, size, now), CW_OK);
}

static inline void seen_clear(struct seen *seen)
{
    seen->refuses = false;
    seen->count = 0;
    seen->size = 0;
}

static inline void seen_take(struct seen *seen, struct cw_endpoint *endpoint)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(endpoint, &event)) {
        assert_true(seen->count < MAX_SEEN);
        seen->events[seen->count].type = event.type;
        seen->events[seen->count++].sequence = event.sequence;
        if (event.type == CW_ENDPOINT_EVENT_PACKET) {
            assert_true(event.size <= sizeof seen->payload);
            if (event.size > 0)
                memcpy(seen->payload, event.payload, event.size);
            seen->size = event.size;
            if (!seen->refuses)
                cw_endpoint_accept(endpoint, event.sequence);
        } else {
            assert_null(event.payload);
            assert_int_equal(event.size, 0);
        }
    }
}

static inline size_t seen_count(const struct seen *seen, enum cw_endpoint_event_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < seen->count; i++)
        count += seen->events[i].type == type;
    return count;
}

static inline size_t seen_times(const struct seen *seen, enum cw_endpoint_event_type type,
                                uint16_t sequence)
{
    size_t times = 0;
    for (size_t i = 0; i < seen->count; i++)
        times += seen->events[i].type == type && seen->events[i].sequence == sequence;
    return times;
}

/* Hands over bytes on a block of their own and takes the events before that is freed. */
static inline enum cw_error receive_bytes(struct cw_endpoint *to, const uint8_t *bytes, size_t size,
                                          double now, struct seen *seen)
{
    uint8_t *block = malloc(size);
    if (size > 0)
        memcpy(block, bytes, size);
    const enum cw_error error = cw_endpoint_receive(to, block, size, now);
    seen_take(seen, to);
    free(block);
    return error;
}

static inline void wire_deliver(const struct wire *wire, struct cw_endpoint *to, double now,
                                struct seen *seen)
{
    for (size_t i = 0; i < wire->count; i++)
        assert_int_equal(
            receive_bytes(to, wire->datagrams[i].data, wire->datagrams[i].size, now, seen), CW_OK);
}

/* Sends a small packet that arrives. */
static inline uint16_t pass(struct cw_endpoint *from, struct cw_endpoint *to, double now,
                            struct seen *seen)
{
    struct wire wire;
    wire_send(&wire, from, "payload", 7, now);
    wire_deliver(&wire, to, now, seen);
    wire_free(&wire);
    return wire.sequence;
}

/* Sends a small packet that never arrives. */
static inline uint16_t lose(struct cw_endpoint *from, double now)
{
    struct wire wire;
    wire_send(&wire, from, "payload", 7, now);
    wire_free(&wire);
    return wire.sequence;
}

/* Hands over a packet made by hand: a regular header in its longest form, and nothing else. */
static inline enum cw_error receive_acks(struct cw_endpoint *to, uint16_t sequence, uint16_t ack,
                                         uint32_t ack_bits, double now, struct seen *seen)
{
    const uint8_t header[9] = {0x1E,
                               (uint8_t)sequence,
                               (uint8_t)(sequence >> 8),
                               (uint8_t)ack,
                               (uint8_t)(ack >> 8),
                               (uint8_t)ack_bits,
                               (uint8_t)(ack_bits >> 8),
                               (uint8_t)(ack_bits >> 16),
                               (uint8_t)(ack_bits >> 24)};
    return receive_bytes(to, header, sizeof header, now, seen);
}

/* Hands over a packet made by hand at time 0: a header that acks nothing, and size bytes of
   0xAB. */
static inline enum cw_error receive_crafted(struct cw_endpoint *to, uint16_t sequence, size_t size,
                                            struct seen *seen)
{
    const uint8_t header[9] = {0x1E, (uint8_t)sequence, (uint8_t)(sequence >> 8), 0xFF, 0xFF};
    uint8_t *bytes = malloc(9 + size);
    memcpy(bytes, header, 9);
    memset(bytes + 9, 0xAB, size);
    const enum cw_error error = receive_bytes(to, bytes, 9 + size, 0, seen);
    free(bytes);
    return error;
}

/* Hands over a fragment made by hand; the first one carries a header that acks nothing. Its bytes
   are 0xCD. */
static inline enum cw_error receive_fragment(struct cw_endpoint *to, uint16_t sequence, unsigned id,
                                             unsigned count, size_t size, struct seen *seen)
{
    const uint8_t low = (uint8_t)sequence, high = (uint8_t)(sequence >> 8);
    const uint8_t header[13] = {0x01, low, high, (uint8_t)id, (uint8_t)(count - 1),
                                0x3E, low, high, 0x01};
    const size_t header_size = id == 0 ? sizeof header : 5;
    uint8_t *bytes = malloc(header_size + size);
    memcpy(bytes, header, header_size);
    memset(bytes + header_size, 0xCD, size);
    const enum cw_error error = receive_bytes(to, bytes, header_size + size, 0, seen);
    free(bytes);
    return error;
}

/* Fills the payload with bytes that differ from place to place and from packet to packet. */
static inline void fill_payload(uint8_t *payload, size_t size, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 12345;
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525u + 1013904223u;
        payload[i] = (uint8_t)(x >> 24);
    }
}

#endif
