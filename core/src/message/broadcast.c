#include "message/broadcast.h"

#include "base/bit_copy.h"
#include "message/connection_internal.h"

/* A body as it was written at the first bit or, if that makes a difference, at the bit of a byte
   where it is wanted. */
struct body {
    uint16_t bits; /* 0: not written yet */
    uint16_t room; /* bytes, of which the last 8 are only ever read */
    uint8_t phase; /* the bit of the first byte at which it begins */
    bool moves;    /* its bits are the same wherever it begins */
    uint8_t bytes[];
};

#define WORD sizeof(uint64_t)

enum cw_error cw_broadcasts_layout(struct cw_broadcasts *broadcasts, struct cw_arena *arena,
                                   const struct cw_schema *schema, uint32_t capacity)
{
    struct cw_message_pool_config config = {.schema = schema, .capacity = capacity};
    broadcasts->ring = cw_arena_take(arena, CW_BROADCAST_WORDS * WORD);
    broadcasts->written = 1;
    if (!arena->base) {
        cw_arena_take(arena, cw_message_pool_memory(&config));
        return CW_OK;
    }
    config.allocator = cw_arena_allocator(arena);
    return cw_message_pool_create(&config, &broadcasts->pool);
}

static struct body *body_at(const struct cw_broadcasts *broadcasts, uint32_t number)
{
    return (struct body *)(void *)&broadcasts->ring[number % CW_BROADCAST_WORDS * WORD];
}

/* Makes room for a body of so many bits, in one piece. Returns its number. */
static uint32_t reserve(struct cw_broadcasts *broadcasts, uint32_t bits, bool moves)
{
    const size_t room = (7 + bits + 7) / 8 + WORD; /* from any bit of a byte */
    const uint32_t words = (uint32_t)((sizeof(struct body) + room + WORD - 1) / WORD);
    const uint32_t left = CW_BROADCAST_WORDS - broadcasts->written % CW_BROADCAST_WORDS;
    if (room > UINT16_MAX)
        return 0;
    if (words > left)
        broadcasts->written += left;
    const uint32_t number = broadcasts->written;
    *body_at(broadcasts, number) = (struct body){.room = (uint16_t)room, .moves = moves};
    broadcasts->written += words;
    return number;
}

enum cw_error cw_broadcast_begin(struct cw_broadcasts *broadcasts, const struct cw_connection *c,
                                 uint32_t channel, struct cw_message *message,
                                 struct cw_broadcast *broadcast)
{
    if (channel >= c->config.channel_count || !message || message->pool != broadcasts->pool)
        return CW_ERROR_INVALID_ARGUMENT;
    if (message->references == 0)
        return CW_ERROR_MESSAGE_NOT_OWNED;
    uint32_t bits;
    const enum cw_error error = cw_channel_measure(&c->channels[channel], message, &bits);
    if (error != CW_OK)
        return error;
    const bool moves = !cw_schema_aligns(c->config.schema, message->type);
    *broadcast = (struct cw_broadcast){
        .message = message,
        .channel = channel,
        .bits = bits,
        .number = message->block ? 0 : reserve(broadcasts, bits, moves),
    };
    return CW_OK;
}

enum cw_error cw_broadcast_send(const struct cw_broadcast *broadcast, struct cw_connection *c,
                                double now)
{
    struct cw_message *copy;
    if (!c->open)
        return CW_ERROR_NOT_CONNECTED;
    if (broadcast->message->receipt && cw_receipts_full(&c->receipts))
        return CW_ERROR_RECEIPTS_FULL;
    enum cw_error error = cw_message_create_copy(c->made, broadcast->message, &copy);
    if (error != CW_OK)
        return error;
    copy->broadcast = broadcast->number;
    error = cw_channel_queue(&c->channels[broadcast->channel], copy, broadcast->bits, now);
    if (error != CW_OK)
        cw_message_release(copy);
    return error;
}

static bool write_body(struct body *body, struct cw_message *message, unsigned phase)
{
    struct cw_stream stream = cw_stream_writer(body->bytes, body->room - WORD);
    uint32_t nothing = 0;
    if ((phase > 0 && !cw_stream_bits(&stream, &nothing, phase)) ||
        !cw_message_serialize(&stream, message) || cw_stream_flush(&stream) == 0)
        return false;
    body->bits = (uint16_t)(cw_stream_position(&stream) - phase);
    body->phase = (uint8_t)phase;
    return true;
}

/* For what is not in the ring, or not as it is wanted here. */
static bool write_anew(struct cw_stream *stream, struct cw_message *copy, struct body *body,
                       unsigned phase)
{
    return body && write_body(body, copy, phase)
               ? cw_bit_copy(&stream->writer, body->bytes, body->phase, body->bits)
               : cw_message_serialize(stream, copy);
}

static bool write_copy(struct cw_copies *copies, struct cw_stream *stream, struct cw_message *copy)
{
    struct cw_broadcasts *broadcasts = (struct cw_broadcasts *)copies;
    if (broadcasts->written - copy->broadcast > CW_BROADCAST_WORDS) {
        copy->broadcast = 0;
        return write_anew(stream, copy, NULL, 0);
    }
    struct body *body = body_at(broadcasts, copy->broadcast);
    const unsigned phase = body->moves ? 0 : cw_bit_writer_position(&stream->writer) % 8;
    return body->bits > 0 && body->phase == phase
               ? cw_bit_copy(&stream->writer, body->bytes, phase, body->bits)
               : write_anew(stream, copy, body, phase);
}

void cw_broadcasts_join(struct cw_broadcasts *broadcasts, struct cw_connection *connection)
{
    broadcasts->copies.write = write_copy;
    for (uint32_t i = 0; i < connection->config.channel_count; i++)
        connection->channels[i].common.copies = &broadcasts->copies;
}
