#include "message/channel_common.h"

#define MAX_QUEUE_SIZE 16384
#define MAX_BLOCK_SIZE (64u << 20)
#define MAX_FRAGMENTS  65535
#define MAX_REDUNDANCY 3
#define MAX_WEIGHT     1000

struct cw_channel_config cw_channel_config_default(enum cw_channel_kind kind)
{
    return (struct cw_channel_config){
        .kind = kind,
        .max_messages_per_packet = CW_MAX_MESSAGES_PER_PACKET,
        .receive_queue_size = 256,
        .max_block_size = 256 * 1024,
        .block_fragment_size = 1024,
        .send_queue_size = 256,
        .weight = 1,
        .redundancy_budget = 512,
    };
}

static bool queue_is_valid(uint32_t size)
{
    return size >= 2 && size <= MAX_QUEUE_SIZE && (size & (size - 1)) == 0;
}

enum cw_error cw_channel_config_check(const struct cw_channel_config *config, uint32_t packet_size)
{
    if ((config->kind != CW_CHANNEL_RELIABLE_ORDERED && config->kind != CW_CHANNEL_UNRELIABLE) ||
        config->max_messages_per_packet < 1 ||
        config->max_messages_per_packet > CW_MAX_MESSAGES_PER_PACKET || config->weight < 1 ||
        config->weight > MAX_WEIGHT || config->redundancy > MAX_REDUNDANCY)
        return CW_ERROR_CONFIG_CHANNEL;
    if (!queue_is_valid(config->send_queue_size) || !queue_is_valid(config->receive_queue_size))
        return CW_ERROR_CONFIG_QUEUE;
    if (!config->blocks)
        return CW_OK;
    if (config->max_block_size < 1 || config->max_block_size > MAX_BLOCK_SIZE ||
        config->block_fragment_size < 1)
        return CW_ERROR_CONFIG_BLOCK;
    if (config->kind == CW_CHANNEL_RELIABLE_ORDERED &&
        (!cw_channel_fragment_fits(config, packet_size) ||
         (config->max_block_size - 1) / config->block_fragment_size + 1 > MAX_FRAGMENTS))
        return CW_ERROR_CONFIG_BLOCK;
    return CW_OK;
}
