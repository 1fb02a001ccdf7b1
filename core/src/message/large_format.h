/* Messages that are too long for a packet, on channels that both ends allow them: an extension, see
   core/PROTOCOL.md. Such a message is a run of bytes: its type and body, padded to whole bytes, and
   then the bytes of its block, if the type has one. It is sent in fragments of equal size, the last
   one shorter. A fragment is an entry of its own, which says that it has no messages: no other
   entry of such a channel does. */
#ifndef CAUSEWAY_LARGE_FORMAT_H
#define CAUSEWAY_LARGE_FORMAT_H

#include "base/shared.h"

#include "causeway/bits.h"
#include "causeway/message.h"

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

CW_SHARED struct cw_large_format cw_large_format(uint32_t most, uint32_t fragment_size)
{
    return (struct cw_large_format){
        .most = most,
        .fragment_size = fragment_size,
        .size_bits = most > 0 ? cw_bits_required(most - 1) : 0,
        .index_bits = most > 0 ? cw_bits_required((most - 1) / fragment_size) : 0,
    };
}

CW_SHARED uint32_t cw_large_count(const struct cw_large_format *format, uint32_t total)
{
    return (total - 1) / format->fragment_size + 1;
}

CW_SHARED uint32_t cw_large_size(const struct cw_large_format *format, uint32_t total,
                                 uint32_t index)
{
    const uint32_t left = total - index * format->fragment_size;
    return left < format->fragment_size ? left : format->fragment_size;
}

/* Returns whether a message that takes at most `bits` bits without its block is sent in fragments
   here; `whole` is the most bits of one that fits into a packet. */
CW_SHARED bool cw_large_takes(const struct cw_large_format *format,
                              const struct cw_message *message, uint32_t bits, uint32_t whole)
{
    if (CW_LIKELY(bits <= whole && !message->block))
        return false;
    return (uint64_t)(bits + 7) / 8 + message->block_size <= format->most;
}

#endif
