#include "causeway/connection.h"
#include "exports/exports.h"

#include <stdlib.h>

/* The numbers of a connection before those of its endpoint, and the numbers of a channel, in the
   order in which JavaScript writes them. */
enum { MAX_MESSAGES, MAX_RECEIVED_MESSAGES, MAX_PACKETS_PER_UPDATE, CONNECTION_NUMBERS };
enum {
    KIND,
    MAX_MESSAGES_PER_PACKET,
    RECEIVE_QUEUE_SIZE,
    BLOCKS,
    MAX_BLOCK_SIZE,
    BLOCK_FRAGMENT_SIZE,
    SEND_QUEUE_SIZE,
    PACKET_BUDGET,
    WEIGHT,
    REDUNDANCY,
    REDUNDANCY_BUDGET,
    CHANNEL_NUMBERS
};

struct cw_connection_config cw_make_connection_config(const struct cw_schema *schema,
                                                      const double *numbers, uint32_t channel_count)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    cw_set_u32(&config.max_messages, numbers[MAX_MESSAGES]);
    cw_set_u32(&config.max_received_messages, numbers[MAX_RECEIVED_MESSAGES]);
    cw_set_u32(&config.max_packets_per_update, numbers[MAX_PACKETS_PER_UPDATE]);
    cw_set_endpoint(&config.endpoint, numbers + CONNECTION_NUMBERS);
    numbers += CONNECTION_NUMBERS + CW_ENDPOINT_NUMBERS;
    config.channel_count = channel_count;
    for (uint32_t i = 0; i < channel_count && i < CW_MAX_CHANNELS; i++) {
        struct cw_channel_config *channel = &config.channels[i];
        *channel = cw_channel_config_default(numbers[KIND] == 0 ? CW_CHANNEL_RELIABLE_ORDERED
                                                                : CW_CHANNEL_UNRELIABLE);
        channel->blocks = numbers[BLOCKS] == 1;
        cw_set_u32(&channel->max_messages_per_packet, numbers[MAX_MESSAGES_PER_PACKET]);
        cw_set_u32(&channel->receive_queue_size, numbers[RECEIVE_QUEUE_SIZE]);
        cw_set_u32(&channel->max_block_size, numbers[MAX_BLOCK_SIZE]);
        cw_set_u32(&channel->block_fragment_size, numbers[BLOCK_FRAGMENT_SIZE]);
        cw_set_u32(&channel->send_queue_size, numbers[SEND_QUEUE_SIZE]);
        cw_set_u32(&channel->packet_budget, numbers[PACKET_BUDGET]);
        cw_set_u32(&channel->weight, numbers[WEIGHT]);
        cw_set_u32_or_0(&channel->redundancy, numbers[REDUNDANCY]);
        cw_set_u32(&channel->redundancy_budget, numbers[REDUNDANCY_BUDGET]);
        numbers += CHANNEL_NUMBERS;
    }
    return config;
}

/* The connection goes to u32[0], the bytes of the longest datagram that it sends to u32[1], and its
   max_packet_size to u32[2]. */
CW_EXPORT(connection_create)
enum cw_error connection_create(const struct cw_schema *schema, const double *numbers,
                                uint32_t channel_count)
{
    const struct cw_connection_config config =
        cw_make_connection_config(schema, numbers, channel_count);
    struct cw_connection *connection = NULL;
    const enum cw_error error = cw_connection_create(&config, &connection);
    cw_scratch.u32[0] = (uint32_t)(uintptr_t)connection;
    if (error == CW_OK)
        cw_scratch.u32[1] = (uint32_t)cw_connection_max_datagram_size(connection);
    cw_scratch.u32[2] = config.endpoint.max_packet_size;
    return error;
}

CW_EXPORT(connection_fingerprint)
uint64_t connection_fingerprint(const struct cw_schema *schema, const double *numbers,
                                uint32_t channel_count)
{
    const struct cw_connection_config config =
        cw_make_connection_config(schema, numbers, channel_count);
    return cw_connection_fingerprint(&config);
}

CW_EXPORT(connection_destroy) void connection_destroy(struct cw_connection *connection)
{
    cw_connection_destroy(connection);
}

/* The message goes to u32[0], its struct to u32[1]. */
CW_EXPORT(connection_create_message)
enum cw_error connection_create_message(struct cw_connection *connection, uint32_t type)
{
    struct cw_message *message = NULL;
    const enum cw_error error = cw_connection_create_message(connection, type, &message);
    cw_scratch.u32[0] = (uint32_t)(uintptr_t)message;
    cw_scratch.u32[1] = message ? (uint32_t)(uintptr_t)message->data : 0;
    return error;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context;
    (void)size;
    free(block);
}

/* Room for a block, which the message owns from now on; NULL when there is no memory. */
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

/* The type of the event, 0 when there is none. Message, channel and receipt go to u32[0] to [2];
   the message's type, struct, block and the size of the block to u32[3] to [6]. */
CW_EXPORT(connection_next) uint32_t connection_next(struct cw_connection *connection)
{
    struct cw_connection_event event;
    if (!cw_connection_next(connection, &event))
        return 0;
    cw_scratch.u32[0] = (uint32_t)(uintptr_t)event.message;
    cw_scratch.u32[1] = event.channel;
    cw_scratch.u32[2] = event.receipt;
    if (event.message) {
        cw_scratch.u32[3] = event.message->type;
        cw_scratch.u32[4] = (uint32_t)(uintptr_t)event.message->data;
        cw_scratch.u32[5] = (uint32_t)(uintptr_t)event.message->block;
        cw_scratch.u32[6] = event.message->block_size;
    }
    return event.type;
}

CW_EXPORT(connection_receipt_waits)
bool connection_receipt_waits(const struct cw_connection *connection)
{
    return cw_connection_receipt_waits(connection);
}

/* The struct as it is goes to the scratch area. */
CW_EXPORT(connection_stats) void connection_stats(const struct cw_connection *connection)
{
    _Static_assert(sizeof(struct cw_connection_stats) <= sizeof cw_scratch,
                   "the scratch is too small");
    cw_connection_stats(connection, (struct cw_connection_stats *)cw_scratch.bytes);
}

CW_EXPORT(connection_channel_stats)
enum cw_error connection_channel_stats(const struct cw_connection *connection, uint32_t channel)
{
    return cw_connection_channel_stats(connection, channel,
                                       (struct cw_channel_stats *)cw_scratch.bytes);
}
