#include "message/channel_internal.h"
#include "message/message_pool.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "message/large.h"

#define MAX_BLOCK_SIZE (64u << 20)
#define MAX_FRAGMENTS  65535

struct cw_channel_config cw_channel_config_default(enum cw_channel_kind kind)
{
    return (struct cw_channel_config){
        .kind = kind,
        .max_messages_per_packet = CW_MAX_MESSAGES_PER_PACKET,
        .receive_queue_size = 256,
        .max_block_size = 256 * 1024,
        .block_fragment_size = 1024,
        .max_message_size = CW_AUTO,
        .send_queue_size = 256,
        .packet_budget = CW_AUTO,
        .weight = 1,
        .extra_bytes = 100,
    };
}

static bool is_reliable(enum cw_channel_kind kind)
{
    return kind == CW_CHANNEL_RELIABLE_ORDERED || kind == CW_CHANNEL_RELIABLE_UNORDERED;
}

bool cw_channel_config_is_reliable(const struct cw_channel_config *config)
{
    return is_reliable(config->kind);
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(kind, "must be one of the four kinds")                                                   \
    RANGE(__VA_ARGS__, UINT, max_messages_per_packet, 1, CW_MAX_MESSAGES_PER_PACKET)               \
    RANGE(__VA_ARGS__, POWER, receive_queue_size, 2, 16384)                                        \
    OTHER(max_block_size, "must be from 1 to 67108864, in at most 65535 fragments")                \
    OTHER(block_fragment_size, "must be from 1 to 16 less than max_send_size or max_packet_size")  \
    RANGE(__VA_ARGS__, POWER, send_queue_size, 2, 16384)                                           \
    OTHER(max_message_size, "must be at most receive_queue_size times block_fragment_size")        \
    OTHER(packet_budget, "must be at least 1")                                                     \
    RANGE(__VA_ARGS__, UINT, weight, 1, 1000)                                                      \
    OTHER(recovery, "must be one of the three kinds, and is for reliable channels")                \
    RANGE(__VA_ARGS__, UINT, extra_bytes, 1, 400)
CW_CONFIG_FIELDS(cw_channel_config, 0x1100, FIELDS, cw_channel_config_errors)

static enum cw_error check_blocks(const struct cw_channel_config *config, uint32_t packet_size)
{
    if (config->block_fragment_size < 1 || !cw_channel_config_fragment_fits(config, packet_size))
        return CW_FIELD_ERROR(block_fragment_size);
    if (config->max_block_size < 1 || config->max_block_size > MAX_BLOCK_SIZE ||
        (is_reliable(config->kind) &&
         (config->max_block_size - 1) / config->block_fragment_size + 1 > MAX_FRAGMENTS))
        return CW_FIELD_ERROR(max_block_size);
    return CW_OK;
}

static enum cw_error check_large(const struct cw_channel_config *config, uint32_t packet_size)
{
    if (config->max_message_size == 0 || config->max_message_size == CW_AUTO)
        return CW_OK;
    if (config->block_fragment_size < 1 || !cw_channel_fragment_fits(config, packet_size))
        return CW_FIELD_ERROR(block_fragment_size);
    return (config->max_message_size - 1) / config->block_fragment_size < config->receive_queue_size
               ? CW_OK
               : CW_FIELD_ERROR(max_message_size);
}

enum cw_error cw_channel_config_check(const struct cw_channel_config *config, uint32_t packet_size)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if ((uint32_t)config->kind > CW_CHANNEL_RELIABLE_UNORDERED)
        return CW_FIELD_ERROR(kind);
    const enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    if (config->packet_budget < 1)
        return CW_FIELD_ERROR(packet_budget);
    if ((uint32_t)config->recovery > CW_RECOVERY_CODED ||
        (config->recovery != CW_RECOVERY_RESEND && !is_reliable(config->kind)))
        return CW_FIELD_ERROR(recovery);
    const enum cw_error large_error = check_large(config, packet_size);
    if (large_error != CW_OK)
        return large_error;
    return config->blocks ? check_blocks(config, packet_size) : CW_OK;
}

uint32_t cw_channel_config_large(const struct cw_channel_config *config, size_t longest,
                                 const struct cw_endpoint_config *endpoint)
{
    if (config->max_message_size != CW_AUTO)
        return config->max_message_size;
    if (longest <= endpoint->fragment_size || config->block_fragment_size < 1 ||
        !cw_channel_fragment_fits(config, endpoint->max_packet_size))
        return 0;
    const uint32_t most = config->receive_queue_size * config->block_fragment_size;
    return longest < most ? (uint32_t)longest : most;
}

bool cw_channel_config_fragment_fits(const struct cw_channel_config *config, uint32_t packet_size)
{
    return !is_reliable(config->kind) || !config->blocks ||
           cw_channel_fragment_fits(config, packet_size);
}

uint32_t cw_channel_config_in_flight(const struct cw_channel_config *config)
{
    if (!is_reliable(config->kind))
        return 0;
    return config->send_queue_size < config->receive_queue_size ? config->send_queue_size
                                                                : config->receive_queue_size;
}

static void lay_out_reliable(struct cw_arena *arena, const struct cw_channel_config *config,
                             const struct cw_large_format *large,
                             struct cw_reliable_channel *channel)
{
    if (large->most > 0)
        cw_large_receiver_layout(channel ? &channel->large : NULL, arena, large,
                                 config->receive_queue_size);
    struct cw_reliable_slot *slots =
        cw_arena_take(arena, sizeof *slots * (config->send_queue_size + CW_RELIABLE_LISTS));
    struct cw_message **received =
        cw_arena_take(arena, sizeof *received * config->receive_queue_size);
    if (config->recovery == CW_RECOVERY_CODED) {
        struct cw_repair *repair = cw_arena_take(arena, sizeof *repair);
        if (channel)
            channel->repair = repair;
    }
    if (channel) {
        channel->slots.items = slots;
        channel->slots.size = (uint16_t)config->send_queue_size;
        cw_reliable_slots_reset(&channel->slots);
        channel->received = received;
    }
    if (!config->blocks)
        return;
    const uint32_t most =
        cw_block_max_fragments(config->max_block_size, config->block_fragment_size);
    struct cw_block_fragment *fragments = cw_arena_take(arena, sizeof *fragments * most);
    uint8_t *arrived = cw_arena_take(arena, most / 8 + 1);
    uint8_t *buffer = cw_arena_take(arena, config->max_block_size);
    uint8_t *ahead =
        cw_arena_take(arena, cw_block_ahead(config->max_block_size, config->block_fragment_size));
    struct cw_block_fragment *next = cw_arena_take(arena, sizeof *next * most);
    if (channel) {
        channel->block_sender.fragments = fragments;
        channel->next_block.fragments = next;
        channel->block_sender.fragment_size = config->block_fragment_size;
        channel->next_block.fragment_size = config->block_fragment_size;
        channel->block_receiver.ahead = ahead;
        channel->block_receiver.received = arrived;
        channel->block_receiver.buffer = buffer;
        channel->block_receiver.max_block_size = config->max_block_size;
        channel->block_receiver.fragment_size = config->block_fragment_size;
    }
}

static void lay_out_unreliable(struct cw_arena *arena, const struct cw_channel_config *config,
                               const struct cw_large_format *large, uint32_t max_packet_size,
                               struct cw_unreliable_channel *channel)
{
    if (large->most > 0)
        cw_large_receiver_layout(channel ? &channel->large : NULL, arena, large,
                                 config->receive_queue_size);
    struct cw_unreliable_slot *queue =
        cw_arena_take(arena, sizeof *queue * config->send_queue_size);
    struct cw_message **received =
        cw_arena_take(arena, sizeof *received * config->receive_queue_size);
    const uint32_t block_size =
        config->max_block_size < max_packet_size ? config->max_block_size : max_packet_size;
    uint8_t *blocks =
        cw_arena_take(arena, config->blocks ? (size_t)CW_UNRELIABLE_BLOCKS * block_size : 0);
    if (channel) {
        channel->queue = queue;
        channel->received = received;
        channel->block_buffers = blocks;
        channel->block_size = block_size;
    }
}

void cw_channel_layout(struct cw_channel *channel, struct cw_arena *arena,
                       const struct cw_channel_config *config, uint32_t large,
                       uint32_t max_packet_size)
{
    const struct cw_large_format format = cw_large_format(large, config->block_fragment_size);
    if (channel) {
        channel->reliable_kind = is_reliable(config->kind);
        channel->common.config = *config;
        channel->common.large = format;
    }
    if (is_reliable(config->kind))
        lay_out_reliable(arena, config, &format, channel ? &channel->reliable : NULL);
    else
        lay_out_unreliable(arena, config, &format, max_packet_size,
                           channel ? &channel->unreliable : NULL);
}

void cw_channel_reset(struct cw_channel *channel)
{
    if (cw_channel_is_reliable(channel))
        cw_reliable_reset(&channel->reliable);
    else
        cw_unreliable_reset(&channel->unreliable);
    channel->finish = 0;
    channel->has_leftovers = false;
}

uint32_t cw_channel_bits_around(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel)
               ? cw_reliable_entry_bits(&channel->reliable) + CW_MESSAGE_ID_BITS
               : channel->common.entry_bits;
}

/* Returns whether so many bits, with an entry around them, fit into a packet that has nothing
   else. */
static bool fits(const struct cw_channel *channel, uint64_t bits)
{
    const struct cw_channel_common *common = &channel->common;
    const uint64_t all = bits + cw_channel_bits_around(channel);
    return all <= common->packet_bits || all <= common->fragment_bits;
}

static enum cw_error check_block(const struct cw_channel *channel, const struct cw_message *message)
{
    const struct cw_channel_common *common = &channel->common;
    const bool is_block_type = cw_schema_type_unchecked(common->schema, message->type)->block;
    if (CW_LIKELY(!message->block && !is_block_type))
        return CW_OK;
    if (message->block && !is_block_type)
        return CW_ERROR_BLOCK_NOT_ALLOWED;
    if (is_block_type && (!message->block || message->block_size == 0))
        return CW_ERROR_BLOCK_MISSING;
    if (message->block_size < common->large.most)
        return CW_OK;
    if (!common->config.blocks)
        return common->large.most > 0 ? CW_ERROR_BLOCK_TOO_LARGE : CW_ERROR_BLOCK_NOT_ALLOWED;
    return message->block_size > common->config.max_block_size ? CW_ERROR_BLOCK_TOO_LARGE : CW_OK;
}

static bool fits_as_block(const struct cw_channel *channel, const struct cw_message *message,
                          uint64_t bits)
{
    if (!cw_channel_is_reliable(channel))
        return fits(channel,
                    bits + cw_unreliable_block_bits(&channel->unreliable, message->block_size));
    return bits + cw_reliable_fragment_bits(&channel->reliable, message->block_size) <=
           channel->common.fragment_bits;
}

/* Returns whether the fragments of a message with so many bits before its block fit into packets,
   and into the queue, where each has a place. */
static bool fits_as_large(const struct cw_channel *channel, const struct cw_message *message,
                          uint32_t bits)
{
    const struct cw_channel_common *common = &channel->common;
    const uint32_t head = (bits + 7) / 8;
    const uint32_t count = cw_large_count(&common->large, head + message->block_size);
    return head <= common->writer->capacity &&
           cw_large_bits(common, common->large.fragment_size) <= common->fragment_bits &&
           (!cw_channel_is_reliable(channel) || count <= common->config.send_queue_size);
}

enum cw_error cw_channel_measure(const struct cw_channel *channel, struct cw_message *message,
                                 uint32_t *bits)
{
    const struct cw_channel_common *common = &channel->common;
    const enum cw_error block_error = check_block(channel, message);
    if (block_error != CW_OK)
        return block_error;
    size_t body;
    if (!cw_message_measure(message, &body))
        return CW_ERROR_MESSAGE_VALUE;
    if (body > UINT32_MAX / 2)
        return CW_ERROR_MESSAGE_TOO_LARGE;
    uint32_t all = common->type_bits + (uint32_t)body;
    if (cw_channel_is_reliable(channel) && channel->reliable.repair && !message->block)
        all += CW_REPAIR_ALIGN_BITS;
    *bits = all;
    if (CW_LIKELY(!message->block && all <= common->whole_bits))
        return CW_OK;
    if (cw_large_takes(&common->large, message, all, common->whole_bits))
        return fits_as_large(channel, message, all) ? CW_OK : CW_ERROR_MESSAGE_TOO_LARGE;
    if (!message->block)
        return fits(channel, all) ? CW_OK : CW_ERROR_MESSAGE_TOO_LARGE;
    if (!common->config.blocks || !fits_as_block(channel, message, all))
        return cw_channel_is_reliable(channel) ? CW_ERROR_MESSAGE_TOO_LARGE
                                               : CW_ERROR_BLOCK_TOO_LARGE;
    if (!cw_channel_is_reliable(channel))
        *bits += cw_unreliable_block_bits(&channel->unreliable, message->block_size);
    return CW_OK;
}

enum cw_error cw_channel_send(struct cw_channel *channel, struct cw_message *message, double now)
{
    uint32_t bits;
    const enum cw_error error = cw_channel_measure(channel, message, &bits);
    return error == CW_OK ? cw_channel_queue(channel, message, bits, now) : error;
}

uint32_t cw_channel_droppable(const struct cw_channel *channel)
{
    return cw_channel_is_reliable(channel) ? 0 : cw_unreliable_unread(&channel->unreliable);
}

bool cw_channel_drop_oldest(struct cw_channel *channel, bool with_block)
{
    return !cw_channel_is_reliable(channel) &&
           cw_unreliable_drop_oldest(&channel->unreliable, with_block);
}
