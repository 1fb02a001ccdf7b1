/* The part that both kinds of channels share. */
#ifndef CAUSEWAY_CHANNEL_COMMON_H
#define CAUSEWAY_CHANNEL_COMMON_H

#include "base/shared.h"
#include "message/large_format.h"
#include "message/message_owner.h"
#include "message/receipts.h"
#include "message/schema_unchecked.h"

#include "causeway/connection.h"

/* Bytes that a packet needs besides a block fragment. */
#define CW_FRAGMENT_HEADERS 16

CW_SHARED bool cw_channel_fragment_fits(const struct cw_channel_config *config,
                                        uint32_t packet_size)
{
    return packet_size >= CW_FRAGMENT_HEADERS &&
           config->block_fragment_size <= packet_size - CW_FRAGMENT_HEADERS;
}

/* A fragment of a block, as a packet has it. */
struct cw_block_piece {
    uint16_t id; /* the id of the block's message */
    uint32_t count;
    uint32_t fragment;
    uint32_t size;
    const uint8_t *bytes; /* points into the packet */
};

struct cw_unreliable_channel;

/* The beginning of a struct cw_broadcasts; see broadcast.h. Its functions are called through
   pointers, so that a program without a server, like a page, does not link them. */
struct cw_copies {
    /* Writes type and body of a copy. */
    bool (*write)(struct cw_copies *copies, struct cw_stream *stream, struct cw_message *copy);

    /* Writes type and body of the first copy picked, and of those behind it that can be written
       with it at once. Returns how many it has written, 0 when they do not fit. */
    uint32_t (*write_some)(struct cw_copies *copies, struct cw_stream *stream,
                           const struct cw_unreliable_channel *channel, uint32_t first);
};

struct cw_channel_common {
    struct cw_channel_config config;
    const struct cw_schema *schema;
    uint32_t most_queued;         /* messages that the queue may hold; see cw_connection_config */
    struct cw_message_pool *pool; /* holds the messages that arrive */
    uint32_t pool_room;  /* messages of it that may be used, besides the channels' reserves */
    uint32_t ahead_room; /* messages of it that may be used for one that has to wait for another */
    struct cw_receipts *receipts; /* the connection's receipts */
    struct cw_copies *copies;     /* the broadcasts that go to the connection too, or NULL */
    uint8_t *scratch; /* room for the largest message; shared by the channels of a connection */
    uint32_t type_bits;
    uint32_t index_bits;  /* the width of the channel's number in front of an entry */
    uint32_t count_bits;  /* the width of the number of messages in an entry */
    uint32_t entry_bits;  /* the width of an entry before its first message: at most 16 */
    uint32_t packet_bits; /* bits of a packet that the channel may fill */
    uint32_t
        fragment_bits;   /* such bits for what has the packet to itself, as it fits into no other */
    uint32_t whole_bits; /* the most bits of a message that shares a packet */
    struct cw_large_format large; /* the form of messages longer than that */
    uint32_t unsent_fragments; /* the number of fragments of such messages that were never sent */
    struct cw_large_writer *writer; /* the connection's, if it has such messages */

    uint16_t *selection; /* max_messages_per_packet ids that go into the packet being made */
    uint32_t selection_count;
    bool done;         /* nothing more is due after the latest pick */
    bool more_due;     /* something else is due, but does not go into this packet */
    bool fragment_due; /* a fragment is due, but this packet may not hold any */
    bool has_fragment; /* the entry being made is a fragment of a message */
    bool extra;        /* the entry has a part that holds no messages */

    struct cw_channel_stats stats;
};

/* Sets the widths that follow from config, schema and the number of channels. */
void cw_channel_set_widths(struct cw_channel_common *common, uint32_t channel_count);

/* Writes an entry up to its first message. All of it fits into one word: the channel's index, no
   block, messages follow, their number, and extra_bits bits that the caller adds. */
CW_SHARED bool cw_channel_write_head(struct cw_stream *stream,
                                     const struct cw_channel_common *common, uint32_t index,
                                     uint32_t extra, uint32_t extra_bits)
{
    const uint32_t count = common->selection_count - 1;
    uint32_t head = index | (2u | count << 2) << common->index_bits;
    if (extra_bits > 0)
        head |= extra << common->entry_bits;
    return cw_stream_bits(stream, &head, common->entry_bits + extra_bits);
}

/* Writes type and body of a message. */
CW_INLINE bool cw_channel_write_message(struct cw_stream *stream,
                                        const struct cw_channel_common *common,
                                        struct cw_message *message)
{
    if (message->broadcast)
        return common->copies->write(common->copies, stream, message);
    return (common->type_bits == 0 || cw_stream_bits(stream, &message->type, common->type_bits)) &&
           cw_schema_serialize_unchecked(common->schema, message->type, stream, message->data);
}

/* Reads a type. Returns false when the schema has no such type. */
CW_SHARED bool cw_channel_read_type(struct cw_stream *stream,
                                    const struct cw_channel_common *common, uint32_t *type)
{
    *type = 0;
    if (common->type_bits > 0 && !cw_stream_bits(stream, type, common->type_bits))
        return false;
    return *type < cw_schema_count(common->schema);
}

/* The contents of a packet's entry, held until it is clear that the whole packet can be taken. */
struct cw_parsed_entry {
    uint16_t packet;     /* the packet's number */
    uint16_t age;        /* its distance behind the newest packet that has arrived */
    bool only_next;      /* no room for all: keep only reliable messages that are next in order */
    uint32_t pool_limit; /* the most messages of the pool in use with the next one */
    bool next_known;     /* next is set; only reliable channels need it */
    uint16_t next;       /* the first message that is missing, apart from the ones to keep */
    struct cw_message *first; /* messages to keep, linked by next */
    struct cw_message *last;
    struct cw_message *reserved; /* the message among them that takes the channel's reserve */
    union {
        struct cw_block_piece piece; /* the fragment of a block to keep; size is 0: there is none */
        struct cw_large_piece large; /* the fragment of a large message to keep, likewise */
    };
    uint32_t messages;       /* messages that were read, kept or not */
    uint32_t missing;        /* messages to keep for which the pool had no room */
    uint32_t missing_blocks; /* unreliable messages whose blocks found no free buffer */
    bool is_large;           /* the fragment to keep is that of a large message */
    bool full;               /* a part of the entry cannot be kept now */
};

/* Reads the body of a message of the type. With keep set, *message is a new message from the pool.
   When the pool is at its limit, *message is NULL and parsed counts it. The body is then read and
   discarded, as without keep. Returns false when it is malformed. */
bool cw_channel_read_body(struct cw_stream *stream, const struct cw_channel_common *common,
                          struct cw_parsed_entry *parsed, uint32_t type, bool keep,
                          struct cw_message **message);

CW_SHARED void cw_parsed_add(struct cw_parsed_entry *entry, struct cw_message *message)
{
    message->next = NULL;
    if (entry->last)
        entry->last->next = message;
    else
        entry->first = message;
    entry->last = message;
}

#endif
