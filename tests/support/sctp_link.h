/* An association and its other end, for tests that make each packet by hand. */
#ifndef CAUSEWAY_TESTS_SCTP_LINK_H
#define CAUSEWAY_TESTS_SCTP_LINK_H

#include "fixture.h"

#include "relay/rtc/big_endian.h"
#include "relay/rtc/sctp.h"
#include "sctp_client.h"

#include <stdlib.h>
#include <string.h>

#define TAG         0xcafe0001u
#define FIRST_TSN   0xfffffffeu
#define PPID_BINARY 53

/* An association with its other end, and the latest event of each. */
struct link {
    struct sctp *sctp;
    struct sctp_client client;
    struct sctp_event event;
    uint8_t *given; /* the packet, in a block of its exact size */
    double now;
    uint8_t fetched[SCTP_PACKET_MAX]; /* the packet of the latest fetch_chunk */
    size_t fetched_size;
    unsigned messages;
    uint8_t whole[SCTP_MESSAGE_MAX]; /* a buffer for the messages of sctp that come in parts */
    uint8_t last[2000];
    size_t last_size;
    uint16_t last_stream;
};

static inline void on_message(void *context, uint16_t stream, uint32_t ppid, const uint8_t *data,
                              size_t size)
{
    struct link *link = context;
    (void)ppid;
    link->messages++;
    memcpy(link->last, data, size);
    link->last_size = size;
    link->last_stream = stream;
}

static inline void link_close(void *object)
{
    struct link *link = object;
    sctp_destroy(link->sctp);
    free(link->given);
    free(link);
}

/* Makes a link that the test owns. */
static inline struct link *link_open(void)
{
    struct link *link = own(malloc(sizeof *link), link_close);
    struct sctp_config config = {.local_port = 5000, .remote_port = 5000, .message = link->whole};
    for (size_t i = 0; i < sizeof config.random; i++)
        config.random[i] = (uint8_t)(0xf0 + i);
    *link = (struct link){.sctp = sctp_create(&config), .now = 100.0};
    assert_non_null(link->sctp);
    sctp_client_init(&link->client, TAG, FIRST_TSN);
    link->client.message = on_message;
    link->client.context = link;
    return link;
}

static inline void give_bytes(struct link *link, const uint8_t *data, size_t size)
{
    free(link->given);
    link->given = malloc(size > 0 ? size : 1);
    assert_non_null(link->given);
    memcpy(link->given, data, size);
    sctp_receive(link->sctp, link->given, size, link->now);
}

static inline void give(struct link *link, const struct sctp_packet *packet)
{
    give_bytes(link, packet->data, packet->size);
}

static inline bool next(struct link *link)
{
    return sctp_next(link->sctp, &link->event, link->now);
}

/* Hands over a packet that must have no effect. */
static inline void give_quietly(struct link *link, const struct sctp_packet *packet)
{
    give(link, packet);
    assert_false(next(link));
}

static inline void give_written(struct link *link,
                                void (*write)(struct sctp_client *, struct sctp_packet *))
{
    struct sctp_packet packet;
    write(&link->client, &packet);
    give(link, &packet);
}

static inline void give_quietly_written(struct link *link,
                                        void (*write)(struct sctp_client *, struct sctp_packet *))
{
    give_written(link, write);
    assert_false(next(link));
}

static inline void expect(struct link *link, enum sctp_event_type type)
{
    assert_true(next(link));
    assert_int_equal(link->event.type, type);
}

/* Checks that this event comes, and no other. */
static inline void expect_only(struct link *link, enum sctp_event_type type)
{
    expect(link, type);
    struct sctp_event none;
    assert_false(sctp_next(link->sctp, &none, link->now));
}

static inline void wait_for_deadline(struct link *link)
{
    link->now = sctp_deadline(link->sctp);
    sctp_update(link->sctp, link->now);
}

static inline enum sctp_send send_binary(struct link *link, const void *data, size_t size)
{
    return sctp_send(link->sctp, 0, PPID_BINARY, data, size);
}

/* Fetches one packet and has the client read it; returns its size, 0 when there is none. */
static inline size_t fetch(struct link *link, uint8_t out[SCTP_PACKET_MAX])
{
    const size_t size = sctp_transmit(link->sctp, out, SCTP_PACKET_MAX, link->now);
    assert_true(size <= SCTP_PACKET_MAX);
    if (size > 0)
        assert_true(sctp_client_read(&link->client, out, size));
    return size;
}

static inline unsigned fetch_all(struct link *link)
{
    uint8_t out[SCTP_PACKET_MAX];
    unsigned count = 0;
    while (fetch(link, out) > 0)
        count++;
    return count;
}

static inline struct link *link_up(void)
{
    struct link *link = link_open();
    give_quietly_written(link, sctp_client_write_init);
    assert_int_equal(fetch_all(link), 1);
    give_written(link, sctp_client_write_cookie);
    expect_only(link, SCTP_ESTABLISHED);
    assert_int_equal(fetch_all(link), 1);
    assert_true(link->client.established);
    return link;
}

/* Returns the first chunk of a type in a packet; NULL when it has none. */
static inline const uint8_t *find_chunk(const uint8_t *packet, size_t size, uint8_t type)
{
    for (size_t at = 12; at < size; at += padded(load16(packet + at + 2)))
        if (packet[at] == type)
            return packet + at;
    return NULL;
}

/* Fetches a packet that has a chunk of this type, and returns that. */
static inline const uint8_t *fetch_chunk(struct link *link, uint8_t type)
{
    link->fetched_size = fetch(link, link->fetched);
    const uint8_t *chunk = find_chunk(link->fetched, link->fetched_size, type);
    assert_non_null(chunk);
    return chunk;
}

static inline void begin(struct link *link, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, link->client.remote_tag);
}

static inline void give_chunk(struct link *link, uint8_t type, uint8_t flags, const void *value,
                              size_t size)
{
    struct sctp_packet packet;
    begin(link, &packet);
    sctp_packet_chunk(&packet, type, flags, value, size);
    sctp_packet_end(&packet);
    give(link, &packet);
}

static inline void give_data(struct link *link, uint32_t tsn, uint8_t flags, uint16_t stream,
                             const void *data, size_t size)
{
    struct sctp_packet packet;
    begin(link, &packet);
    sctp_packet_data(
        &packet,
        (struct sctp_part){.tsn = tsn, .flags = flags, .ppid = PPID_BINARY, .stream = stream}, data,
        size);
    sctp_packet_end(&packet);
    give(link, &packet);
}

static inline void give_sack(struct link *link, uint32_t cumulative, const uint16_t *gaps,
                             size_t count)
{
    struct sctp_packet packet;
    begin(link, &packet);
    sctp_packet_sack(&packet, cumulative, gaps, count);
    sctp_packet_end(&packet);
    give_quietly(link, &packet);
}

static inline uint64_t refused(const struct link *link)
{
    struct sctp_stats stats;
    sctp_stats(link->sctp, &stats);
    return stats.packets_refused;
}

#endif
