/* Messages that are too long for a packet, on channels that both ends allow them: an extension, see
   core/PROTOCOL.md. Such a message is a run of bytes: its type and body, padded to whole bytes, and
   then the bytes of its block, if the type has one. It is sent in fragments of equal size, the last
   one shorter. A fragment is an entry of its own, which says that it has no messages: no other
   entry of such a channel does. */
#ifndef CAUSEWAY_LARGE_H
#define CAUSEWAY_LARGE_H

#include "causeway/message.h"
#include "causeway/stream.h"

struct cw_channel_common;

/* The form of the fragments on a channel, on which both ends agree. */
struct cw_large_format {
    uint32_t most;          /* bytes of the longest message; 0: the channel has none */
    uint32_t fragment_size; /* bytes of every fragment but the last */
    uint32_t size_bits;     /* the width of a message's size */
    uint32_t index_bits;    /* the width of a fragment's index */
};

/* A fragment, as a packet has it. */
struct cw_large_piece {
    uint16_t first; /* the number of the message's first fragment */
    uint32_t total; /* bytes of the message */
    uint32_t index;
    uint32_t size;        /* bytes of the fragment; 0 when there is none */
    const uint8_t *bytes; /* points into the packet */
};

/* Room for the type and body of the message of which fragments were written last. The channels of a
   connection share it. */
struct cw_large_writer {
    uint8_t *bytes;
    uint32_t capacity;
    uint32_t size;                           /* bytes of type and body */
    const struct cw_channel_common *channel; /* the channel of the message; NULL: none */
    uint16_t first;                          /* the number of its first fragment */
};

struct cw_large_format cw_large_format(uint32_t most, uint32_t fragment_size);

static inline uint32_t cw_large_count(const struct cw_large_format *format, uint32_t total)
{
    return (total - 1) / format->fragment_size + 1;
}

static inline uint32_t cw_large_size(const struct cw_large_format *format, uint32_t total,
                                     uint32_t index)
{
    const uint32_t left = total - index * format->fragment_size;
    return left < format->fragment_size ? left : format->fragment_size;
}

/* The most bits that the entry of a fragment of `size` bytes takes. */
uint32_t cw_large_bits(const struct cw_channel_common *common, uint32_t size);

/* Returns whether a message that takes at most `bits` bits without its block is sent in fragments
   here; `whole` is the most bits of one that fits into a packet. */
static inline bool cw_large_takes(const struct cw_large_format *format,
                                  const struct cw_message *message, uint32_t bits, uint32_t whole)
{
    if (bits <= whole && !message->block)
        return false;
    return (uint64_t)(bits + 7) / 8 + message->block_size <= format->most;
}

/* Writes type and body of a message into the writer's room. Returns the bytes of the whole message,
   0 when it cannot be written. */
uint32_t cw_large_prepare(const struct cw_channel_common *common, struct cw_message *message,
                          uint16_t first);

/* Writes the entry of a fragment of a message. index is the channel's. */
bool cw_large_write(struct cw_stream *stream, const struct cw_channel_common *common,
                    uint32_t channel, struct cw_message *message,
                    const struct cw_large_piece *piece);

/* Reads the entry of a fragment after the bit that says that it has no messages. Returns false when
   it is malformed. */
bool cw_large_read(struct cw_stream *stream, const struct cw_channel_common *common,
                   struct cw_large_piece *piece);

/* Makes a message of the pool from all of its bytes. Its block, if it has one, is not attached, but
   returned as the block's place in the bytes, 0 for none. Returns CW_ERROR_POOL_EMPTY when all
   messages are in use, CW_ERROR_MALFORMED when the bytes are no message. */
enum cw_error cw_large_build(const struct cw_channel_common *common, const uint8_t *bytes,
                             uint32_t total, struct cw_message **message, uint32_t *block);

#endif
