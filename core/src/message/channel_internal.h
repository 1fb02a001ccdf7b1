/* A channel, reliable or not. Only this file distinguishes the two. The functions that every packet
   needs are inline, because the calls would be a large part of the work. */
#ifndef CAUSEWAY_CHANNEL_INTERNAL_H
#define CAUSEWAY_CHANNEL_INTERNAL_H

#include "base/shared.h"
#include "message/reliable_channel.h"
#include "message/unreliable_channel.h"

#include "causeway/endpoint.h"

struct cw_channel {
    bool reliable_kind; /* selects reliable or unreliable below */
    union {
        struct cw_channel_common common; /* both kinds begin with it */
        struct cw_reliable_channel reliable;
        struct cw_unreliable_channel unreliable;
    };
    uint64_t finish;    /* the virtual time up to which the channel has had its share */
    bool has_leftovers; /* some of its messages did not fit into the previous packet */
    bool exhausted;     /* the channel has nothing more for the packet being made */
    uint32_t bits_left;
};

bool cw_channel_config_is_reliable(const struct cw_channel_config *config);

/* Returns whether the largest fragment of its blocks, if it has any, fits into a packet of this
   size. */
bool cw_channel_config_fragment_fits(const struct cw_channel_config *config, uint32_t packet_size);

/* Returns the number of messages that may be in flight at once and need acks; 0 when the channel
   needs none. */
uint32_t cw_channel_config_in_flight(const struct cw_channel_config *config);

/* Returns the bytes of the longest message that may go in fragments of its own; 0: none may.
   longest is the bytes of the longest type and body of the schema. */
uint32_t cw_channel_config_large(const struct cw_channel_config *config, size_t longest,
                                 const struct cw_endpoint_config *endpoint);

/* Takes the arrays of a channel from the arena, whose memory is zero. channel is NULL while
   measuring. large is the bytes of the longest message in fragments, max_packet_size those of a
   payload. */
void cw_channel_layout(struct cw_channel *channel, struct cw_arena *arena,
                       const struct cw_channel_config *config, uint32_t large,
                       uint32_t max_packet_size);
void cw_channel_reset(struct cw_channel *channel);

/* The most bits that a message takes. Errors: those of cw_connection_send that depend on the
   channel's config and the message. */
enum cw_error cw_channel_measure(const struct cw_channel *channel, struct cw_message *message,
                                 uint32_t *bits);

/* Measures and queues a message, and takes over its reference on CW_OK. Errors: those of both. */
enum cw_error cw_channel_send(struct cw_channel *channel, struct cw_message *message, double now);

CW_SHARED bool cw_channel_is_reliable(const struct cw_channel *channel)
{
    return channel->reliable_kind;
}

/* Queues a message that takes at most `bits` bits, and takes over its reference unless it fails
   with CW_ERROR_QUEUE_FULL. */
CW_SHARED enum cw_error cw_channel_queue(struct cw_channel *channel, struct cw_message *message,
                                         uint32_t bits, double now)
{
    return cw_channel_is_reliable(channel)
               ? cw_reliable_send(&channel->reliable, message, bits, now)
               : cw_unreliable_send(&channel->unreliable, message, bits);
}

/* The number of messages in the queue. */
CW_SHARED uint32_t cw_channel_count(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel) ? cw_reliable_count(&channel->reliable)
                                           : channel->common.stats.queued;
}

/* Takes the next message for the application, with its reference; NULL when there is none. */
CW_SHARED struct cw_message *cw_channel_next(struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel) ? cw_reliable_next(&channel->reliable)
                                           : cw_unreliable_next(&channel->unreliable);
}

/* Returns whether the channel has nothing to send. */
CW_SHARED bool cw_channel_is_idle(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel)
               ? channel->reliable.oldest_unacked == channel->reliable.next_id &&
                     !cw_repair_must_report(channel->reliable.repair)
               : channel->unreliable.queue_count == 0;
}

/* Returns whether there are fragments of large messages to send, or unacked. */
CW_SHARED bool cw_channel_has_fragments(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel) ? channel->reliable.fragments > 0
                                           : channel->common.unsent_fragments > 0;
}

/* Begins a new packet. first says that it is the first of its round; it may hold copies of new
   messages. Returns false when the channel has nothing for it. */
CW_SHARED bool cw_channel_begin(struct cw_channel *channel, const struct cw_timing *timing,
                                bool first)
{
    channel->exhausted = cw_channel_is_idle(channel);
    channel->has_leftovers &= !channel->exhausted;
    channel->bits_left = channel->common.packet_bits;
    if (cw_channel_is_reliable(channel))
        cw_reliable_begin(&channel->reliable, timing, first);
    else
        cw_unreliable_begin(&channel->unreliable);
    return !channel->exhausted;
}

/* Returns whether the oldest message of a reliable channel has been repeated many times and is due
   again. */
CW_SHARED bool cw_channel_stalls(struct cw_channel *channel, const struct cw_timing *timing)
{
    return cw_channel_is_reliable(channel) && cw_reliable_stalls(&channel->reliable, timing);
}

/* Picks the next thing that is due for the packet being made. alone says that no other channel has
   anything for it, so that more than one message may be picked at once. Returns the bits it takes,
   0 when nothing was picked. */
CW_SHARED uint32_t cw_channel_pick(struct cw_channel *channel, const struct cw_timing *timing,
                                   uint32_t bits_left, bool alone)
{
    const uint32_t bits = bits_left < channel->bits_left ? bits_left : channel->bits_left;
    return cw_channel_is_reliable(channel)
               ? cw_reliable_pick(&channel->reliable, timing, bits)
               : cw_unreliable_pick(&channel->unreliable, bits, alone, !timing->no_fragments);
}

/* Returns whether the packet being made has an entry of the channel. */
CW_SHARED bool cw_channel_has_entry(const struct cw_channel *channel)
{
    return channel->common.selection_count > 0 || channel->common.extra;
}

/* Writes the entry with everything that was picked. index is the channel's. */
CW_SHARED bool cw_channel_write(struct cw_channel *channel, struct cw_stream *stream,
                                uint32_t index)
{
    return cw_channel_is_reliable(channel)
               ? cw_reliable_write(&channel->reliable, stream, index)
               : cw_unreliable_write(&channel->unreliable, stream, index);
}

/* Drops messages that found no room in this round and do not wait for the next. */
CW_SHARED void cw_channel_end_round(struct cw_channel *channel)
{
    if (!cw_channel_is_reliable(channel))
        cw_unreliable_end_round(&channel->unreliable);
}

/* Returns the bits of an entry with one message, apart from that message. */
uint32_t cw_channel_bits_around(const struct cw_channel *channel);

/* Returns the number of picked ids that acked or lost will be called with. *fragment says that the
   ids are that of a block's message and the number of its fragment. */
CW_SHARED uint32_t cw_channel_carried(const struct cw_channel *channel, bool *fragment)
{
    if (!cw_channel_is_reliable(channel))
        return 0;
    *fragment = channel->reliable.picked_fragment;
    return channel->common.selection_count;
}

/* These note that a packet that carried these ids was acked, or lost. */
CW_SHARED void cw_channel_acked(struct cw_channel *channel, const uint16_t *ids, uint32_t count,
                                bool is_fragment, uint16_t packet, double now)
{
    cw_reliable_acked(&channel->reliable, ids, count, is_fragment, packet, now);
}

CW_SHARED void cw_channel_lost(struct cw_channel *channel, const uint16_t *ids, uint32_t count,
                               bool is_fragment, uint16_t packet)
{
    cw_reliable_lost(&channel->reliable, ids, count, is_fragment, packet);
}

/* Reads an entry after its channel and block flag. The channel does not change. Returns false when
   it is malformed; the caller must release the messages that were parsed by then. */
CW_SHARED bool cw_channel_read(struct cw_channel *channel, struct cw_stream *stream,
                               bool is_fragment, struct cw_parsed_entry *parsed)
{
    return cw_channel_is_reliable(channel)
               ? cw_reliable_read(&channel->reliable, stream, is_fragment, parsed)
               : cw_unreliable_read(&channel->unreliable, stream, is_fragment, parsed);
}

/* Takes the parsed messages, with their references. */
CW_SHARED void cw_channel_take(struct cw_channel *channel, const struct cw_parsed_entry *parsed,
                               double now)
{
    if (cw_channel_is_reliable(channel))
        cw_reliable_take(&channel->reliable, parsed, now);
    else
        cw_unreliable_take(&channel->unreliable, parsed);
}

/* Returns whether a packet must be refused when an entry of this channel cannot be kept whole. */
CW_SHARED bool cw_channel_keeps_all(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel);
}

/* The number of messages that have arrived, are not taken, and may be dropped. */
uint32_t cw_channel_droppable(const struct cw_channel *channel);

/* Drops the oldest such message, or the oldest with a block. Returns false when there is none. */
bool cw_channel_drop_oldest(struct cw_channel *channel, bool with_block);

#endif
