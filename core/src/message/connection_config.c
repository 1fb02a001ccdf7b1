#include "message/connection_internal.h"

#include "base/config_fields.h"
#include "message/schema_unchecked.h"
#include "message/yojimbo.h"

#define MAX_PACKET_SIZE 8192
#define SEND_SIZE       (CW_DEFAULT_DATAGRAM_SIZE - 36) /* headers and encryption take up to 34 */
#define REASSEMBLIES    3
#define REQUESTS        32
#define BULK_WINDOW     1024   /* packets: 20 Mbit/s for 300 ms */
#define REPAIR_AGREED   0x100u /* bits in the fingerprint beside a channel's kind */
#define LARGE_AGREED    0x200u

struct cw_connection_config cw_connection_config_default(const struct cw_schema *schema)
{
    struct cw_connection_config config = {
        .schema = schema,
        .channel_count = 2,
        .endpoint = cw_endpoint_config_default(),
        .max_messages = 256,
        .max_received_messages = CW_AUTO,
        .max_receipts = 256,
        .max_requests = CW_AUTO,
        .max_packets_per_update = 128,
        .idle_interval_seconds = 0.5,
        .congestion = cw_congestion_config_default(),
    };
    config.endpoint.sent_window = CW_AUTO;
    config.endpoint.max_packet_size = MAX_PACKET_SIZE;
    config.endpoint.fragment_above = SEND_SIZE;
    config.endpoint.max_reassemblies = REASSEMBLIES;
    for (uint32_t i = 0; i < CW_MAX_CHANNELS; i++)
        config.channels[i] =
            cw_channel_config_default(i == 0 ? CW_CHANNEL_RELIABLE_ORDERED : CW_CHANNEL_UNRELIABLE);
    return config;
}

struct cw_connection_config cw_connection_config_yojimbo(const struct cw_schema *schema)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channel_count = CW_YOJIMBO_CHANNELS;
    config.max_messages = CW_YOJIMBO_MESSAGES;
    config.endpoint.fragment_above = CW_YOJIMBO_FRAGMENT_ABOVE;
    config.endpoint.max_reassemblies = CW_YOJIMBO_REASSEMBLIES;
    for (uint32_t i = 0; i < CW_MAX_CHANNELS; i++) {
        struct cw_channel_config *channel = &config.channels[i];
        *channel = cw_channel_config_default(CW_CHANNEL_RELIABLE_ORDERED);
        channel->blocks = true;
        channel->max_message_size = 0;
        channel->send_queue_size = CW_YOJIMBO_QUEUE;
        channel->receive_queue_size = CW_YOJIMBO_QUEUE;
    }
    return config;
}

/* Returns the bytes of the longest payload that may be sent. */
static uint32_t most_of(const struct cw_connection_config *config)
{
    return cw_endpoint_max_send_size(&config->endpoint);
}

uint32_t cw_connection_packet_size(const struct cw_connection_config *config)
{
    const uint32_t most = most_of(config);
    return most < config->endpoint.fragment_above ? most : config->endpoint.fragment_above;
}

uint32_t cw_connection_large(const struct cw_connection_config *config, uint32_t index)
{
    return cw_channel_config_large(&config->channels[index],
                                   cw_schema_longest(config->schema, NULL), &config->endpoint);
}

uint32_t cw_connection_largest(const struct cw_connection_config *config)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < config->channel_count; i++) {
        const uint32_t large = cw_connection_large(config, i);
        most = large > most ? large : most;
    }
    return most;
}

uint32_t cw_connection_send_size(const struct cw_connection_config *config)
{
    const uint32_t packet_size = cw_connection_packet_size(config);
    const size_t longest = cw_schema_longest(config->schema, NULL);
    for (uint32_t i = 0; i < config->channel_count; i++) {
        const struct cw_channel_config *channel = &config->channels[i];
        const bool fits = cw_connection_large(config, i) > 0
                              ? cw_channel_fragment_fits(channel, packet_size)
                              : longest + CW_FRAGMENT_HEADERS <= packet_size;
        if (!fits || !cw_channel_config_fragment_fits(channel, packet_size))
            return most_of(config);
    }
    return packet_size;
}

/* Returns the packets that may be in flight: more where there is bulk data. */
static uint32_t sent_window_of(const struct cw_connection_config *config)
{
    if (config->endpoint.sent_window != CW_AUTO)
        return config->endpoint.sent_window;
    bool bulk = cw_connection_largest(config) > 0;
    for (uint32_t i = 0; i < config->channel_count; i++)
        bulk |= config->channels[i].blocks;
    return bulk ? BULK_WINDOW : cw_endpoint_config_default().sent_window;
}

struct cw_endpoint_config cw_connection_endpoint_config(const struct cw_connection_config *config)
{
    struct cw_endpoint_config endpoint = config->endpoint;
    endpoint.sent_window = sent_window_of(config);
    endpoint.max_send_size = cw_connection_send_size(config);
    return endpoint;
}

uint32_t cw_connection_received_room(const struct cw_connection_config *config)
{
    return config->max_received_messages == CW_AUTO ? (config->max_messages + 1) / 2
                                                    : config->max_received_messages;
}

uint32_t cw_connection_requests(const struct cw_connection_config *config)
{
    if (!cw_requests_in(config->schema))
        return 0;
    return config->max_requests == CW_AUTO ? REQUESTS : config->max_requests;
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "is missing")                                                                    \
    RANGE(__VA_ARGS__, UINT, channel_count, 1, CW_MAX_CHANNELS)                                    \
    RANGE(__VA_ARGS__, UINT, max_messages, 1, 32768)                                               \
    RANGE(__VA_ARGS__, AUTO, max_received_messages, 1, 32768)                                      \
    RANGE(__VA_ARGS__, UINT, max_receipts, 0, 32768)                                               \
    RANGE(__VA_ARGS__, UINT, max_packets_per_update, 1, 256)                                       \
    RANGE(__VA_ARGS__, REAL, idle_interval_seconds, 0, 10)                                         \
    RANGE(__VA_ARGS__, AUTO, max_requests, 1, CW_MAX_REQUESTS)
CW_CONFIG_FIELDS(cw_connection_config, 0x1120, FIELDS, cw_connection_config_errors)

enum cw_error cw_connection_config_check(const struct cw_connection_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!config->schema)
        return CW_FIELD_ERROR(schema);
    const enum cw_error own_error = CW_CHECK_FIELDS(config);
    if (own_error != CW_OK)
        return own_error;
    const enum cw_error endpoint_error = cw_endpoint_config_check(&config->endpoint);
    if (endpoint_error != CW_OK)
        return endpoint_error;
    for (uint32_t i = 0; i < config->channel_count; i++) {
        const enum cw_error error = cw_channel_config_check(&config->channels[i], most_of(config));
        if (error != CW_OK)
            return error;
    }
    struct cw_congestion congestion;
    return cw_congestion_init(&congestion, &config->congestion, 0);
}

uint32_t cw_connection_writer_size(const struct cw_connection_config *config)
{
    bool known;
    const uint32_t most = cw_connection_largest(config);
    const size_t longest = cw_schema_longest(config->schema, &known);
    return known && longest < most ? (uint32_t)longest : most;
}

/* Puts a value byte by byte, so that it is the same on every machine. */
static size_t put(uint8_t *out, size_t size, uint32_t value)
{
    for (unsigned shift = 0; shift < 32; shift += 8)
        out[size++] = (uint8_t)(value >> shift);
    return size;
}

/* The fingerprint covers everything that both ends must have alike. */
uint64_t cw_connection_fingerprint(const struct cw_connection_config *config)
{
    if (!config || !config->schema)
        return 0;
    uint8_t agreed[(2 + CW_MAX_CHANNELS * 6) * 4];
    size_t size = put(agreed, 0, config->endpoint.max_packet_size);
    size = put(agreed, size, config->endpoint.fragment_size);
    for (uint32_t i = 0; i < config->channel_count && i < CW_MAX_CHANNELS; i++) {
        const struct cw_channel_config *channel = &config->channels[i];
        const uint32_t large = cw_connection_large(config, i);
        const uint32_t values[] = {
            (uint32_t)channel->kind | (channel->recovery == CW_RECOVERY_CODED ? REPAIR_AGREED : 0) |
                (large > 0 ? LARGE_AGREED : 0),
            channel->max_messages_per_packet,
            channel->receive_queue_size,
            channel->blocks ? channel->max_block_size : 0,
            channel->blocks || large > 0 ? channel->block_fragment_size : 0,
            large,
        };
        /* a channel without large messages is as it was before there were any */
        for (size_t j = 0; j < sizeof values / sizeof *values - (large == 0); j++)
            size = put(agreed, size, values[j]);
    }
    return cw_schema_fingerprint(config->schema, agreed, size);
}
