/* Prints the state of both halves of a connection, for a test that finds it stuck. It includes
   private headers. */
#ifndef CONNECTION_STATE_H
#define CONNECTION_STATE_H

#include "message/connection_internal.h"
#include "message/message_pool.h"
#include "message/reliable_channel_internal.h"

#include <inttypes.h>
#include <stdio.h>

static void print_sender(const struct cw_reliable_channel *channel)
{
    const struct cw_block_sender *block = &channel->block_sender;
    const struct cw_reliable_slot *oldest =
        &channel->slots.items[channel->oldest_unacked & (channel->slots.size - 1)];
    fprintf(stderr, "    sends %u to %u", channel->oldest_unacked, channel->next_id);
    if (oldest->message)
        fprintf(stderr, ", the first of %u bits at %.3f, %u repeats", oldest->bits,
                oldest->transmission.time, oldest->transmission.repeats);
    if (block->active)
        fprintf(stderr, ", block %u: %u of %u fragments sent, %u acked, not %u", block->id,
                block->next_unsent, block->count, block->acked, block->oldest_unacked);
    fprintf(stderr, "\n");
}

static void print_receiver(const struct cw_reliable_channel *channel)
{
    const struct cw_block_receiver *block = &channel->block_receiver;
    uint32_t stored = 0;
    for (uint32_t i = 0; i < channel->common.config.receive_queue_size; i++)
        stored += channel->received[i] != NULL;
    fprintf(stderr, "    received: next %u, missing %u, holds %u%s", channel->next_taken,
            cw_reliable_first_missing(channel, channel->next_taken), stored,
            channel->reserved ? ", reserve in use" : "");
    if (block->active)
        fprintf(stderr, ", block %u: %u of %u fragments", block->id, block->arrived, block->count);
    fprintf(stderr, "%s\n", block->in_use ? ", block held" : "");
}

static void print_channel(const struct cw_channel *channel, uint32_t index)
{
    const struct cw_channel_config *config = &channel->common.config;
    fprintf(stderr,
            "  channel %u: kind %d, queues %u and %u, %u a packet in %u bits, weight %u, "
            "blocks %d of %u in %u, recovery %d with %u %%; %u queued, %u in flight\n",
            index, (int)config->kind, config->send_queue_size, config->receive_queue_size,
            config->max_messages_per_packet, channel->common.packet_bits, config->weight,
            config->blocks, config->max_block_size, config->block_fragment_size,
            (int)config->recovery, config->extra_bytes, channel->common.stats.queued,
            channel->common.stats.in_flight);
    if (!cw_channel_is_reliable(channel))
        return;
    print_sender(&channel->reliable);
    print_receiver(&channel->reliable);
}

static void print_connection_state(const struct cw_connection *c, const char *name)
{
    struct cw_connection_stats stats;
    if (!c)
        return;
    cw_connection_get_stats(c, &stats);
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    fprintf(stderr,
            "%s: %u of %u messages made, %u of %u arrived; packets of %u bytes, %u a round, window "
            "%u: %" PRIu64 " sent, %" PRIu64 " acked, %" PRIu64 " lost, %" PRIu64 " refused, %u "
            "unseen; RTT %.3f, loss %.3f, answer %.3f, patience %.3f, heard %.3f, silence %.3f; "
            "%.0f of %.0f bytes in flight, limit %d\n",
            name, cw_message_pool_used(c->made), c->config.max_messages,
            cw_message_pool_used(c->arrived), c->channels[0].common.pool_room, c->packet_size,
            c->config.max_packets_per_update, c->config.sent_window, stats.endpoint.packets_sent,
            stats.endpoint.packets_acked, stats.endpoint.packets_lost, stats.packets_refused,
            sent->unseen, sent->rtt.smoothed, c->timing.loss, c->timing.answer, c->timing.patience,
            sent->silence.last_arrival, sent->silence.usual, stats.bytes_in_flight,
            stats.congestion_window_bytes, (int)stats.limited);
    for (uint32_t i = 0; i < c->config.channel_count; i++)
        print_channel(&c->channels[i], i);
}

#endif
