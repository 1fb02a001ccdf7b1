/* Connections in tests: a small schema, datagrams on heap blocks of exactly their size, and a peer
   that sends any payload. The test owns them all. */
#ifndef CAUSEWAY_TESTS_CONNECTIONS_H
#define CAUSEWAY_TESTS_CONNECTIONS_H

#include "copy_packet.h"
#include "fixture.h"

#include "causeway/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK             (1.0 / 60)
#define MAX_NOTE_PADDING 2000

enum { NOTE, PARCEL, SMALL_NOTE };

/* A message: a number, and as many bytes as a test likes, all made from the number. */
struct note {
    uint32_t number;
    uint32_t padding;
};

CW_INLINE bool serialize_padding(struct cw_stream *stream, struct note *note)
{
    if (!cw_stream_uint(stream, &note->padding, 0, MAX_NOTE_PADDING))
        return false;
    for (uint32_t i = 0; i < note->padding; i++) {
        const uint32_t expected = (note->number + i) & 0xFF;
        uint32_t byte = expected;
        if (!cw_stream_bits(stream, &byte, 8) || byte != expected)
            return cw_stream_fail(stream);
    }
    return true;
}

CW_SERIALIZE(serialize_note, struct note, stream, note)
{
    return cw_stream_bits(stream, &note->number, 32) && serialize_padding(stream, note);
}

CW_SERIALIZE(serialize_small_note, struct note, stream, note)
{
    return cw_stream_uint(stream, &note->number, 0, 1);
}

/* The number of blocks that release_parcel has released since the schema was made. */
static int parcels_released;

static inline void schema_end(void *schema)
{
    cw_schema_destroy(schema);
}

static inline struct cw_schema *schema_with(const struct cw_schema_config *config)
{
    struct cw_schema *schema = NULL;
    assert_int_equal(cw_schema_create(config, &schema), CW_OK);
    return own(schema, schema_end);
}

static inline struct cw_schema *notes_schema(void)
{
    const struct cw_message_type types[] = {
        {.name = "note", .size = sizeof(struct note), .serialize = serialize_note},
        {.name = "parcel", .size = sizeof(struct note), .serialize = serialize_note, .block = true},
        {.name = "small_note", .size = sizeof(struct note), .serialize = serialize_small_note},
    };
    const struct cw_schema_config config = {.types = types, .count = 3};
    parcels_released = 0;
    return schema_with(&config);
}

static inline struct cw_connection_config notes_config(void)
{
    return cw_connection_config_default(notes_schema());
}

static inline void connection_end(void *connection)
{
    cw_connection_destroy(connection);
}

static inline struct cw_connection *connection_with(const struct cw_connection_config *config)
{
    struct cw_connection *connection = NULL;
    assert_int_equal(cw_connection_create(config, &connection), CW_OK);
    assert_non_null(connection);
    return own(connection, connection_end);
}

static inline struct cw_message *make_note(struct cw_connection *from, uint32_t type,
                                           uint32_t number, uint32_t padding)
{
    struct cw_message *message = NULL;
    assert_int_equal(cw_connection_create_message(from, type, &message), CW_OK);
    *(struct note *)message->data = (struct note){number, padding};
    return message;
}

static inline void send_note(struct cw_connection *from, uint32_t channel, uint32_t number,
                             uint32_t padding, double now)
{
    struct cw_message *message = make_note(from, NOTE, number, padding);
    assert_int_equal(cw_connection_send(from, channel, message, now), CW_OK);
}

/* Returns false, with nothing left behind, when the note cannot be made or sent now. */
static inline bool try_note(struct cw_connection *from, uint32_t channel, uint32_t number,
                            uint32_t padding, double now)
{
    struct cw_message *message;
    if (cw_connection_create_message(from, NOTE, &message) != CW_OK)
        return false;
    *(struct note *)message->data = (struct note){number, padding};
    if (cw_connection_send(from, channel, message, now) == CW_OK)
        return true;
    cw_message_release(message);
    return false;
}

static inline uint8_t block_byte(uint32_t number, size_t i)
{
    return (uint8_t)(number * 31 + i * 7 + i / 251);
}

static inline void release_parcel(void *context, uint8_t *block, size_t size)
{
    (void)context, (void)size;
    parcels_released++;
    free(block);
}

static inline struct cw_message *make_parcel(struct cw_connection *from, uint32_t number,
                                             uint32_t size)
{
    struct cw_message *message = make_note(from, PARCEL, number, 0);
    uint8_t *block = malloc(size);
    for (uint32_t i = 0; i < size; i++)
        block[i] = block_byte(number, i);
    cw_message_attach(message, block, size, release_parcel, NULL);
    return message;
}

static inline void send_parcel(struct cw_connection *from, uint32_t channel, uint32_t number,
                               uint32_t size, double now)
{
    struct cw_message *message = make_parcel(from, number, size);
    assert_int_equal(cw_connection_send(from, channel, message, now), CW_OK);
}

static inline uint32_t number_of(const struct cw_message *message)
{
    return ((const struct note *)message->data)->number;
}

static inline void check_parcel(const struct cw_message *message, uint32_t number, uint32_t size)
{
    assert_int_equal(message->type, PARCEL);
    assert_int_equal(number_of(message), number);
    assert_int_equal(message->block_size, size);
    for (uint32_t i = 0; i < size; i++) {
        if (message->block[i] != block_byte(number, i))
            fail_msg("byte %u of parcel %u is wrong", i, number);
    }
}

/* Takes the next message and, unless channel is NULL, the channel that it came on. Returns NULL
   when there is none; no receipts may wait. */
static inline struct cw_message *next_message(struct cw_connection *at, uint32_t *channel)
{
    struct cw_connection_event event;
    if (!cw_connection_next(at, &event))
        return NULL;
    assert_int_equal(event.type, CW_CONNECTION_EVENT_MESSAGE);
    assert_non_null(event.message);
    if (channel)
        *channel = event.channel;
    return event.message;
}

/* Takes the next message, which must be this note. */
static inline void expect_note(struct cw_connection *at, uint32_t channel, uint32_t number)
{
    uint32_t from = UINT32_MAX;
    struct cw_message *message = next_message(at, &from);
    assert_non_null(message);
    assert_int_equal(message->type, NOTE);
    assert_int_equal(from, channel);
    assert_int_equal(number_of(message), number);
    cw_message_release(message);
}

static inline void expect_parcel(struct cw_connection *at, uint32_t channel, uint32_t number,
                                 uint32_t size)
{
    uint32_t from = UINT32_MAX;
    struct cw_message *message = next_message(at, &from);
    assert_non_null(message);
    assert_int_equal(from, channel);
    check_parcel(message, number, size);
    cw_message_release(message);
}

static inline uint32_t drain(struct cw_connection *at)
{
    uint32_t count = 0;
    for (struct cw_message *message; (message = next_message(at, NULL)) != NULL; count++)
        cw_message_release(message);
    return count;
}

static inline struct cw_connection_stats stats_of(const struct cw_connection *connection)
{
    struct cw_connection_stats stats;
    memset(&stats, 0, sizeof stats); /* zeros the padding, so that two can be compared as bytes */
    cw_connection_stats(connection, &stats);
    return stats;
}

static inline struct cw_channel_stats channel_of(const struct cw_connection *connection,
                                                 uint32_t channel)
{
    struct cw_channel_stats stats;
    memset(&stats, 0, sizeof stats);
    assert_int_equal(cw_connection_channel_stats(connection, channel, &stats), CW_OK);
    return stats;
}

/* Hands over bytes on a block of their own. */
static inline enum cw_error receive_exact(struct cw_connection *to, const uint8_t *data,
                                          size_t size, double now)
{
    uint8_t *block = malloc(size);
    if (size > 0)
        memcpy(block, data, size);
    const enum cw_error error = cw_connection_receive(to, block, size, now);
    free(block);
    return error;
}

/* Writes the next datagram of a round; returns 0 when it is over. */
static inline size_t transmit(struct cw_connection *from, uint8_t out[2048], double now)
{
    const size_t capacity = cw_connection_max_datagram_size(from);
    assert_true(capacity <= 2048);
    return cw_connection_transmit(from, out, capacity, now);
}

/* Sends a round of packets to the other end, or loses them when that is NULL. Returns their
   number. */
static inline uint32_t round_of(struct cw_connection *from, struct cw_connection *to, double now)
{
    uint8_t datagram[2048];
    uint32_t count = 0;
    cw_connection_update(from, now);
    for (size_t size; (size = transmit(from, datagram, now)) > 0; count++) {
        if (to)
            receive_exact(to, datagram, size, now);
    }
    return count;
}

static inline void peer_end(void *peer)
{
    cw_endpoint_destroy(peer);
}

/* Returns an endpoint that sends any payload and tells whether it was acked. */
static inline struct cw_endpoint *peer_of(const struct cw_connection_config *config)
{
    struct cw_endpoint *peer = NULL;
    assert_int_equal(cw_endpoint_create(&config->endpoint, &peer), CW_OK);
    return own(peer, peer_end);
}

static inline enum cw_error peer_send(struct cw_endpoint *peer, struct cw_connection *to,
                                      const uint8_t *payload, size_t size, double now)
{
    uint8_t datagram[2048];
    enum cw_error error = CW_OK;
    size_t length;
    assert_int_equal(copy_packet(peer, payload, size, datagram, now, &length), CW_OK);
    for (; length > 0; length = cw_endpoint_transmit(peer, datagram, sizeof datagram, now))
        error = receive_exact(to, datagram, length, now);
    return error;
}

/* Lets the connection send a packet, and returns whether it has acked the peer's latest one. */
static inline bool peer_acked(struct cw_endpoint *peer, struct cw_connection *by, double now)
{
    uint8_t datagram[2048];
    const uint16_t latest = (uint16_t)(cw_endpoint_next_sequence(peer) - 1);
    bool acked = false;
    cw_connection_update(by, now);
    for (size_t size; (size = transmit(by, datagram, now)) > 0;) {
        struct cw_endpoint_event event;
        assert_int_equal(cw_endpoint_receive(peer, datagram, size, now), CW_OK);
        while (cw_endpoint_next(peer, &event)) {
            acked |= event.type == CW_ENDPOINT_EVENT_ACKED && event.sequence == latest;
            cw_endpoint_accept(peer, event.sequence);
        }
    }
    return acked;
}

#endif
