#include "message/broadcast.h"
#include "message/message_pool.h"

#include "base/bit_copy.h"
#include "message/connection_internal.h"

/* The type and the body of a message, as they stand in the ring: its first bit is bit `at` % 8 of a
   byte. A body that looks different at another bit of a byte is written again for each place. */
struct cw_broadcast_body {
    uint32_t at;   /* the bit of the ring at which it begins, counted like `written` */
    uint32_t run;  /* the bodies of one run follow each other without a gap */
    uint16_t bits; /* 0: not written yet */
    uint16_t room; /* bytes from the one with the first bit on */
    bool moves;    /* the body looks the same wherever it begins */
};

#define RING_BITS (CW_BROADCAST_BYTES * 8u)
#define WORD      sizeof(uint64_t)

enum cw_error cw_broadcasts_layout(struct cw_broadcasts *broadcasts, struct cw_arena *arena,
                                   const struct cw_schema *schema, uint32_t capacity)
{
    struct cw_message_pool_config config = {.schema = schema, .capacity = capacity};
    broadcasts->ring = cw_arena_take(arena, CW_BROADCAST_BYTES + WORD); /* the end is read past */
    broadcasts->bodies =
        cw_arena_take(arena, CW_BROADCAST_BODIES * sizeof(struct cw_broadcast_body));
    if (!arena->base) {
        cw_arena_take(arena, cw_message_pool_memory(&config));
        return CW_OK;
    }
    config.allocator = cw_arena_allocator(arena);
    return cw_message_pool_create(&config, &broadcasts->pool);
}

static struct cw_broadcast_body *body_at(const struct cw_broadcasts *broadcasts, uint32_t number)
{
    return &broadcasts->bodies[number % CW_BROADCAST_BODIES];
}

static uint8_t *byte_at(const struct cw_broadcasts *broadcasts, uint32_t bit)
{
    return &broadcasts->ring[bit % RING_BITS / 8];
}

/* Returns whether later broadcasts have overwritten this one, or the byte in which it begins. */
static bool is_gone(const struct cw_broadcasts *broadcasts, uint32_t number)
{
    return broadcasts->number - number >= CW_BROADCAST_BODIES ||
           broadcasts->written - body_at(broadcasts, number)->at > RING_BITS - 8;
}

static bool write_typed(const struct cw_broadcasts *broadcasts, struct cw_stream *stream,
                        struct cw_message *message)
{
    return (broadcasts->type_bits == 0 ||
            cw_stream_bits(stream, &message->type, broadcasts->type_bits)) &&
           cw_message_serialize(stream, message);
}

/* Writes the body behind the bits that its first byte has already. */
static bool write_body(const struct cw_broadcasts *broadcasts, struct cw_broadcast_body *body,
                       struct cw_message *message)
{
    uint8_t *out = byte_at(broadcasts, body->at);
    const unsigned before = body->at % 8;
    uint32_t kept = *out & ((1u << before) - 1);
    struct cw_stream stream = cw_stream_writer(out, body->room);
    if ((before > 0 && !cw_stream_bits(&stream, &kept, before)) ||
        !write_typed(broadcasts, &stream, message) || cw_stream_flush(&stream) == 0)
        return false;
    body->bits = (uint16_t)(cw_stream_position(&stream) - before);
    return true;
}

/* Makes room in one piece for a message that takes at most `bits` bits. A body that moves is
   written at once, right behind the one before; for others there is room from any bit of the first
   byte. Returns the body's number, 0 when it has no place. */
static uint32_t add_body(struct cw_broadcasts *broadcasts, struct cw_message *message,
                         uint32_t bits, bool moves)
{
    uint32_t at = moves ? broadcasts->written : (broadcasts->written + 7) & ~7u;
    const uint32_t room = (at % 8 + (moves ? 0 : 7) + bits + 7) / 8;
    const uint32_t left = (RING_BITS - at % RING_BITS + 7) / 8;
    if (room > UINT16_MAX)
        return 0;
    if (room > left)
        at = (at / RING_BITS + 1) * RING_BITS;
    if (!moves || at != broadcasts->written)
        broadcasts->run++;
    struct cw_broadcast_body *body = body_at(broadcasts, ++broadcasts->number);
    *body = (struct cw_broadcast_body){
        .at = at, .run = broadcasts->run, .room = (uint16_t)room, .moves = moves};
    broadcasts->written = at + room * 8;
    if (!moves) {
        broadcasts->run++;
        return broadcasts->number;
    }
    if (!write_body(broadcasts, body, message))
        return 0;
    broadcasts->written = at + body->bits;
    return broadcasts->number;
}

enum cw_error cw_broadcast_begin(struct cw_broadcasts *broadcasts, const struct cw_connection *c,
                                 uint32_t channel, struct cw_message *message,
                                 struct cw_broadcast *broadcast)
{
    if (channel >= c->config.channel_count)
        return CW_ERROR_CHANNEL;
    if (message->pool != broadcasts->pool)
        return CW_ERROR_OTHER_CONNECTION;
    if (message->references == 0)
        return CW_ERROR_MESSAGE_NOT_OWNED;
    uint32_t bits;
    const enum cw_error error = cw_channel_measure(&c->channels[channel], message, &bits);
    if (error != CW_OK)
        return error;
    const bool moves = !cw_schema_aligns(c->config.schema, message->type);
    const bool whole = !message->block && bits <= c->channels[channel].common.whole_bits;
    *broadcast = (struct cw_broadcast){
        .message = message,
        .channel = channel,
        .bits = bits,
        .number = whole ? add_body(broadcasts, message, bits, moves) : 0,
    };
    return CW_OK;
}

/* Returns whether the connection holds more blocks than are left for all. A client that acks
   nothing would take them one by one; this way it leaves as many as it has. */
static bool holds_too_many(const struct cw_broadcast *broadcast, const struct cw_connection *c)
{
    const struct cw_message *message = broadcast->message;
    return message->block &&
           cw_message_pool_borrowed(c->made) > cw_message_pool_unused(message->pool);
}

enum cw_error cw_broadcast_send(const struct cw_broadcast *broadcast, struct cw_connection *c,
                                double now)
{
    CW_ONE_THREAD(c);
    struct cw_message *copy;
    if (!c->open)
        return CW_ERROR_NOT_CONNECTED;
    if (broadcast->message->receipt && cw_receipts_full(&c->receipts))
        return CW_ERROR_RECEIPTS_FULL;
    if (holds_too_many(broadcast, c))
        return CW_ERROR_QUEUE_FULL;
    enum cw_error error = cw_message_create_copy(c->made, broadcast->message, &copy);
    if (error != CW_OK)
        return error;
    copy->broadcast = broadcast->number;
    error = cw_channel_queue(&c->channels[broadcast->channel], copy, broadcast->bits, now);
    if (error != CW_OK)
        cw_message_release(copy);
    return error;
}

/* Returns whether the body is there at that bit of a byte, after writing it anew if it was not. */
static bool is_ready(const struct cw_broadcasts *broadcasts, struct cw_broadcast_body *body,
                     struct cw_message *copy, unsigned bit)
{
    if (body->moves || (body->bits > 0 && body->at % 8 == bit))
        return true;
    body->at = (body->at & ~7u) + bit;
    return write_body(broadcasts, body, copy);
}

/* Writes the first of some copies whose numbers follow each other, or all of them if they are of
   the same run. Returns how many it has written, 0 when they do not fit. */
static uint32_t write_copies(const struct cw_broadcasts *broadcasts, struct cw_stream *stream,
                             struct cw_message *first, uint32_t count)
{
    struct cw_broadcast_body *body = body_at(broadcasts, first->broadcast);
    const struct cw_broadcast_body *last = body_at(broadcasts, first->broadcast + count - 1);
    const unsigned bit = cw_bit_writer_position(&stream->writer) % 8;
    if (is_gone(broadcasts, first->broadcast) || !is_ready(broadcasts, body, first, bit)) {
        first->broadcast = 0;
        return write_typed(broadcasts, stream, first);
    }
    if (last->run != body->run) {
        last = body;
        count = 1;
    }
    return cw_bit_copy(&stream->writer, byte_at(broadcasts, body->at), body->at % 8,
                       last->at + last->bits - body->at)
               ? count
               : 0;
}

static bool write_one(struct cw_copies *copies, struct cw_stream *stream, struct cw_message *copy)
{
    return write_copies((const struct cw_broadcasts *)copies, stream, copy, 1) > 0;
}

static uint32_t write_some(struct cw_copies *copies, struct cw_stream *stream,
                           const struct cw_unreliable_channel *channel, uint32_t first)
{
    struct cw_message *message = cw_unreliable_picked(channel, first)->message;
    uint32_t number = message->broadcast, count = 1;
    while (first + count < channel->common.selection_count && ++number != 0 &&
           cw_unreliable_picked(channel, first + count)->message->broadcast == number)
        count++;
    return write_copies((const struct cw_broadcasts *)copies, stream, message, count);
}

void cw_broadcasts_join(struct cw_broadcasts *broadcasts, struct cw_connection *connection)
{
    broadcasts->copies = (struct cw_copies){.write = write_one, .write_some = write_some};
    broadcasts->type_bits = connection->channels[0].common.type_bits;
    for (uint32_t i = 0; i < connection->config.channel_count; i++)
        connection->channels[i].common.copies = &broadcasts->copies;
}
