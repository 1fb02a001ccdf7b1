/* yojimbo's defaults as JavaScript has configs: the numbers that differ from our own defaults, and
   NaN for all others. */
#include "causeway/connection.h"
#include "exports/exports.h"

#include <math.h>

static void tell_connection(struct cw_connection_numbers *numbers,
                            const struct cw_connection_config *config)
{
    numbers->endpoint.max_packet_size = config->endpoint.max_packet_size;
    numbers->endpoint.fragment_size = config->endpoint.fragment_size;
    numbers->endpoint.max_send_size = config->endpoint.max_send_size;
    numbers->endpoint.fragment_above = config->endpoint.fragment_above;
    numbers->endpoint.sent_window = config->endpoint.sent_window;
    numbers->endpoint.received_window = config->endpoint.received_window;
    numbers->endpoint.max_reassemblies = config->endpoint.max_reassemblies;
    numbers->endpoint.rtt_smoothing = config->endpoint.rtt_smoothing;
    numbers->endpoint.min_loss_timeout_seconds = config->endpoint.min_loss_timeout_seconds;
    numbers->max_messages = config->max_messages;
    numbers->max_received_messages = config->max_received_messages;
    numbers->max_packets_per_update = config->max_packets_per_update;
    numbers->idle_interval_seconds = config->idle_interval_seconds;
}

static void tell_channel(struct cw_channel_numbers *numbers, const struct cw_channel_config *config)
{
    numbers->kind = config->kind;
    numbers->max_messages_per_packet = config->max_messages_per_packet;
    numbers->receive_queue_size = config->receive_queue_size;
    numbers->blocks = config->blocks;
    numbers->max_block_size = config->max_block_size;
    numbers->block_fragment_size = config->block_fragment_size;
    numbers->send_queue_size = config->send_queue_size;
    numbers->packet_budget = config->packet_budget;
    numbers->weight = config->weight;
    numbers->redundancy = config->redundancy;
    numbers->redundancy_budget = config->redundancy_budget;
    numbers->repair = config->repair;
}

static void leave_out(double *numbers, const double *usual, size_t size)
{
    for (size_t i = 0; i < size / sizeof *numbers; i++) {
        if (numbers[i] == usual[i])
            numbers[i] = NAN;
    }
}

/* How many channels there are. The numbers of all else go to the scratch area. */
CW_EXPORT(connection_config_yojimbo) uint32_t connection_config_yojimbo(void)
{
    struct cw_connection_numbers usual;
    struct cw_connection_config config = cw_connection_config_default(NULL);
    tell_connection(&usual, &config);
    config = cw_connection_config_yojimbo(NULL);
    tell_connection(&cw_scratch.connection_numbers, &config);
    leave_out((double *)&cw_scratch.connection_numbers, (double *)&usual, sizeof usual);
    return config.channel_count;
}

/* The numbers of a channel go to the scratch area. */
CW_EXPORT(channel_config_yojimbo) void channel_config_yojimbo(uint32_t channel)
{
    struct cw_channel_numbers usual;
    const struct cw_connection_config config = cw_connection_config_yojimbo(NULL);
    const enum cw_channel_kind kind = config.channels[channel].kind;
    const struct cw_channel_config defaults = cw_channel_config_default(kind);
    tell_channel(&usual, &defaults);
    tell_channel(&cw_scratch.channel_numbers, &config.channels[channel]);
    leave_out((double *)&cw_scratch.channel_numbers, (double *)&usual, sizeof usual);
    cw_scratch.channel_numbers.kind = kind;
}
