#include "causeway/connection.h"
#include "exports/exports.h"

#include <stdlib.h>

struct cw_connection_config cw_make_connection_config(const struct cw_schema *schema,
                                                      const struct cw_connection_numbers *numbers,
                                                      uint32_t channel_count)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    cw_set_u32(&config.max_messages, numbers->max_messages);
    cw_set_u32(&config.max_received_messages, numbers->max_received_messages);
    cw_set_u32(&config.max_packets_per_update, numbers->max_packets_per_update);
    cw_set_f64(&config.idle_interval_seconds, numbers->idle_interval_seconds);
    cw_set_endpoint(&config.endpoint, &numbers->endpoint);
    const struct cw_channel_numbers *of = (const struct cw_channel_numbers *)(numbers + 1);
    config.channel_count = channel_count;
    for (uint32_t i = 0; i < channel_count && i < CW_MAX_CHANNELS; i++, of++) {
        struct cw_channel_config *channel = &config.channels[i];
        uint32_t kind = UINT32_MAX; /* no kind, so that an unknown one is refused */
        cw_set_u32(&kind, of->kind);
        *channel = cw_channel_config_default((enum cw_channel_kind)kind);
        channel->blocks = of->blocks == 1;
        channel->repair = of->repair == 1;
        cw_set_u32(&channel->max_messages_per_packet, of->max_messages_per_packet);
        cw_set_u32(&channel->receive_queue_size, of->receive_queue_size);
        cw_set_u32(&channel->max_block_size, of->max_block_size);
        cw_set_u32(&channel->block_fragment_size, of->block_fragment_size);
        cw_set_u32(&channel->send_queue_size, of->send_queue_size);
        cw_set_u32(&channel->packet_budget, of->packet_budget);
        cw_set_u32(&channel->weight, of->weight);
        cw_set_u32_or_0(&channel->redundancy, of->redundancy);
        cw_set_u32(&channel->redundancy_budget, of->redundancy_budget);
    }
    return config;
}

/* The addresses of what this has made go to the scratch area. */
CW_EXPORT(connection_create)
enum cw_error connection_create(const struct cw_schema *schema,
                                const struct cw_connection_numbers *numbers, uint32_t channel_count)
{
    const struct cw_connection_config config =
        cw_make_connection_config(schema, numbers, channel_count);
    struct cw_connection *connection = NULL;
    const enum cw_error error = cw_connection_create(&config, &connection);
    cw_scratch.created = (struct cw_created){
        .object = cw_place(connection),
        .max_datagram_size = (uint32_t)cw_connection_max_datagram_size(connection),
        .max_packet_size = config.endpoint.max_packet_size,
    };
    return error;
}

CW_EXPORT(connection_fingerprint)
uint64_t connection_fingerprint(const struct cw_schema *schema,
                                const struct cw_connection_numbers *numbers, uint32_t channel_count)
{
    const struct cw_connection_config config =
        cw_make_connection_config(schema, numbers, channel_count);
    return cw_connection_fingerprint(&config);
}

CW_EXPORT(connection_destroy) void connection_destroy(struct cw_connection *connection)
{
    cw_connection_destroy(connection);
}

/* The message and its struct go to the scratch area. */
CW_EXPORT(connection_create_message)
enum cw_error connection_create_message(struct cw_connection *connection, uint32_t type)
{
    struct cw_message *message = NULL;
    const enum cw_error error = cw_connection_create_message(connection, type, &message);
    cw_scratch.created_message = (struct cw_created_message){
        .message = cw_place(message),
        .data = message ? cw_place(message->data) : 0,
    };
    return error;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

/* Allocates a block, which the message owns from now on; NULL when there is no memory. */
CW_EXPORT(message_attach) uint8_t *message_attach(struct cw_message *message, uint32_t size)
{
    uint8_t *block = malloc(size > 0 ? size : 1);
    if (block && cw_message_attach(message, block, size, release_block, NULL) != CW_OK) {
        free(block);
        block = NULL;
    }
    return block;
}

CW_EXPORT(message_release) void message_release(struct cw_message *message)
{
    cw_message_release(message);
}

CW_EXPORT(connection_send)
enum cw_error connection_send(struct cw_connection *connection, uint32_t channel,
                              struct cw_message *message, uint32_t receipt, double now)
{
    message->receipt = receipt;
    return cw_connection_send(connection, channel, message, now);
}

CW_EXPORT(connection_receive)
enum cw_error connection_receive(struct cw_connection *connection, const uint8_t *data, size_t size,
                                 double now)
{
    return cw_connection_receive(connection, data, size, now);
}

CW_EXPORT(connection_update) void connection_update(struct cw_connection *connection, double now)
{
    cw_connection_update(connection, now);
}

CW_EXPORT(connection_transmit)
size_t connection_transmit(struct cw_connection *connection, uint8_t *out, size_t capacity,
                           double now)
{
    return cw_connection_transmit(connection, out, capacity, now);
}

struct cw_connection_news cw_tell_connection(const struct cw_connection_event *event)
{
    const struct cw_message *message = event->message;
    struct cw_connection_news news = {
        .message = cw_place(message),
        .channel = event->channel,
        .receipt = event->receipt,
    };
    if (message) {
        news.type = message->type;
        news.data = cw_place(message->data);
        news.block = cw_place(message->block);
        news.block_size = message->block_size;
    }
    return news;
}

/* Returns the type of the event, 0 when there is none; the rest of it goes to the scratch area. */
CW_EXPORT(connection_next) uint32_t connection_next(struct cw_connection *connection)
{
    struct cw_connection_event event;
    if (!cw_connection_next(connection, &event))
        return 0;
    cw_scratch.connection_news = cw_tell_connection(&event);
    return event.type;
}

CW_EXPORT(connection_receipt_waits)
bool connection_receipt_waits(const struct cw_connection *connection)
{
    return cw_connection_receipt_waits(connection);
}

/* The struct goes to the scratch area unchanged. */
CW_EXPORT(connection_stats) void connection_stats(const struct cw_connection *connection)
{
    cw_connection_stats(connection, &cw_scratch.connection_stats);
}

CW_EXPORT(connection_channel_stats)
enum cw_error connection_channel_stats(const struct cw_connection *connection, uint32_t channel)
{
    return cw_connection_channel_stats(connection, channel, &cw_scratch.channel_stats);
}
