/* Packet notification in tests: datagrams as values, events one by one. */
#ifndef CAUSEWAY_TESTS_NOTIFY_RIG_H
#define CAUSEWAY_TESTS_NOTIFY_RIG_H

#include "fixture.h"

#include "protocols/notify_internal.h"

#include <stdlib.h>
#include <string.h>

struct datagram {
    uint16_t sequence;
    size_t size;
    uint8_t data[CW_NOTIFY_HEADER_SIZE + 64];
};

static inline void notify_release(void *notify)
{
    cw_notify_destroy(notify);
}

/* The test owns the end. */
static inline struct cw_notify *notify_with(struct cw_notify_config config)
{
    struct cw_notify *notify = NULL;
    config.max_packet_size = 64;
    assert_ok(cw_notify_create(&config, &notify));
    return own(notify, notify_release);
}

/* Returns the next packet, with one byte of payload. */
static inline struct datagram packet_of(struct cw_notify *notify, uint8_t payload)
{
    struct datagram datagram;
    assert_ok(cw_notify_send(notify, &payload, 1, &datagram.sequence));
    datagram.size = cw_notify_transmit(notify, datagram.data, sizeof datagram.data);
    assert_true(datagram.size > 1);
    return datagram;
}

/* Returns a packet that no honest end may have sent. */
static inline struct datagram forged(uint16_t sequence, uint16_t acked, uint32_t words,
                                     uint32_t first_word)
{
    struct datagram datagram = {.sequence = sequence};
    const struct cw_notify_header header = {
        .sequence = sequence, .acked = acked, .words = words, .history = {.words = {first_word}}};
    datagram.size = cw_notify_header_write(&header, datagram.data);
    return datagram;
}

/* Gives the end a block of exactly the packet's size, so that sanitizers see a read beyond it. */
static inline enum cw_protocol_error receive_of(struct cw_notify *notify,
                                                const struct datagram *datagram)
{
    uint8_t *exact = malloc(datagram->size);
    memcpy(exact, datagram->data, datagram->size);
    const enum cw_protocol_error error = cw_notify_receive(notify, exact, datagram->size);
    free(exact);
    return error;
}

static inline void expect_event(struct cw_notify *notify, enum cw_notify_event_type type,
                                uint16_t sequence)
{
    struct cw_notify_event event = {0};
    assert_true(cw_notify_next(notify, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.sequence, sequence);
    assert_true((event.payload != NULL) == (type == CW_NOTIFY_EVENT_PACKET));
}

/* The next events must be these, with spaces between them: +7 is an ack of packet 7, -7 a nak, p7
   the packet itself, +7..9 stands for several of them, and a dot is no event. */
static inline void expect_events(struct cw_notify *notify, const char *events)
{
    for (const char *at = events; *at; at += strspn(at, " ")) {
        const char kind = *at++;
        struct cw_notify_event event;
        char *end;
        if (kind == '.') {
            assert_false(cw_notify_next(notify, &event));
            continue;
        }
        const unsigned long first = strtoul(at, &end, 10);
        const unsigned long last = *end == '.' ? strtoul(end + 2, &end, 10) : first;
        for (unsigned long i = first; i <= last; i++)
            expect_event(notify,
                         kind == '+'   ? CW_NOTIFY_EVENT_ACK
                         : kind == '-' ? CW_NOTIFY_EVENT_NAK
                                       : CW_NOTIFY_EVENT_PACKET,
                         (uint16_t)i);
        at = end;
    }
}

static inline void arrive(struct cw_notify *notify, const struct datagram *datagram)
{
    assert_ok(receive_of(notify, datagram));
}

/* Sends the next packet of one end, which arrives at the other. */
static inline struct datagram pass(struct cw_notify *from, struct cw_notify *to)
{
    const struct datagram datagram = packet_of(from, 0);
    arrive(to, &datagram);
    return datagram;
}

/* Receives a packet in a round of its own and takes it as the only event. */
static inline void deliver_to(struct cw_notify *notify, const struct datagram *datagram)
{
    arrive(notify, datagram);
    cw_notify_update(notify);
    expect_event(notify, CW_NOTIFY_EVENT_PACKET, datagram->sequence);
    expect_events(notify, ".");
}

static inline struct cw_notify_stats notify_stats(const struct cw_notify *notify)
{
    struct cw_notify_stats stats;
    cw_notify_get_stats(notify, &stats);
    return stats;
}

#endif
