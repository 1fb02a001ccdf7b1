#include "message/connection_internal.h"
#include "message/message_pool.h"

#include "base/memory.h"

#include "causeway/schema.h"

#define SURE_PART  8 /* a channel is sure of an equal part divided by this */
#define AHEAD_LESS 8 /* an eighth of the room is not for messages out of order */

/* Returns the bits of a packet of this size that the channel may fill. */
static uint32_t room_of(const struct cw_connection_config *config, uint32_t index, uint32_t size)
{
    const uint32_t budget = config->channels[index].packet_budget;
    const uint32_t bytes = budget < size ? budget : size;
    return bytes * 8 - cw_bits_required(config->channel_count);
}

/* Returns the number of messages that a channel always has, whatever the others do: an eighth of an
   equal part, but at least one where there is one for each. */
static uint32_t sure_of(const struct cw_connection_config *config, uint32_t index)
{
    const uint32_t count = config->channel_count, most = config->max_messages;
    const uint32_t queue = config->channels[index].send_queue_size;
    const uint32_t sure = most < SURE_PART * count ? most >= count : most / (SURE_PART * count);
    return queue < sure ? queue : sure;
}

static uint32_t most_queued(const struct cw_connection_config *config, uint32_t index)
{
    const uint32_t queue = config->channels[index].send_queue_size;
    uint32_t most = config->max_messages;
    for (uint32_t i = 0; i < config->channel_count; i++)
        most -= i == index ? 0 : sure_of(config, i);
    return queue < most ? queue : most;
}

static void lay_out_channel(struct cw_arena *arena, const struct cw_connection_config *config,
                            uint32_t index, uint8_t *scratch, struct cw_channel *channel)
{
    const struct cw_channel_config *channel_config = &config->channels[index];
    cw_channel_layout(channel, arena, channel_config, cw_connection_large(config, index),
                      config->endpoint.max_packet_size);
    uint16_t *selection =
        cw_arena_take(arena, sizeof *selection * (channel_config->max_messages_per_packet + 1));
    if (channel) {
        channel->common.schema = config->schema;
        channel->common.scratch = scratch;
        channel->common.selection = selection;
        channel->common.most_queued = most_queued(config, index);
        cw_channel_set_widths(&channel->common, config->channel_count);
        channel->common.packet_bits = room_of(config, index, cw_connection_packet_size(config));
        const uint32_t around = cw_channel_bits_around(channel);
        const uint32_t bits = channel->common.packet_bits;
        channel->common.whole_bits = bits > around ? bits - around : 0;
        channel->common.fragment_bits = room_of(config, index, cw_connection_send_size(config));
    }
}

/* Returns the words of the ring, which holds everything that is on its way, as often as it may be
   sent before its ack arrives. */
static uint32_t carried_words(const struct cw_connection_config *config)
{
    uint32_t in_flight = 0;
    for (uint32_t i = 0; i < config->channel_count; i++)
        in_flight += cw_channel_config_in_flight(&config->channels[i]);
    uint32_t words = CW_WORDS_PER_PACKET * cw_connection_endpoint_config(config).sent_window;
    while (words < CW_WORDS_PER_MESSAGE * in_flight)
        words *= 2;
    return words < CW_WORDS_MOST ? words : CW_WORDS_MOST;
}

/* Sets what the connection keeps of its config. */
static void set_config(struct cw_connection *c, const struct cw_connection_config *config,
                       size_t memory)
{
    c->config = (struct cw_connection_settings){
        .allocator = config->allocator,
        .memory = memory,
        .schema = config->schema,
        .channel_count = config->channel_count,
        .sent_window = cw_connection_endpoint_config(config).sent_window,
        .max_messages = config->max_messages,
        .max_packets_per_update = config->max_packets_per_update,
        .idle_interval_seconds = config->idle_interval_seconds,
    };
    c->congestion.config = config->congestion;
    c->packet_size = cw_connection_packet_size(config);
    c->send_size = cw_connection_send_size(config);
    c->entries_bits = cw_bits_required(config->channel_count);
}

/* Tells the channels of what they share; room is for received messages. Notes which are reliable.
 */
static void share(struct cw_connection *c, uint32_t room)
{
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        struct cw_channel *channel = &c->channels[i];
        c->reliable |= (uint64_t)channel->reliable_kind << i;
        channel->common.pool = c->arrived;
        channel->common.pool_room = room;
        channel->common.ahead_room = room - room / AHEAD_LESS;
        channel->common.receipts = &c->receipts;
        channel->common.writer = &c->writer;
        if (channel->reliable_kind && channel->reliable.repair)
            channel->reliable.repair->receiver.work = &c->repair_work;
    }
}

/* Takes every part from the arena. With a NULL base it only measures. */
static enum cw_error lay_out(struct cw_arena *arena, const struct cw_connection_config *config,
                             struct cw_connection **connection)
{
    struct cw_connection *c = cw_arena_take(arena, sizeof *c);
    struct cw_channel *channels = cw_arena_take(arena, sizeof *channels * config->channel_count);
    uint8_t *scratch = cw_arena_take(arena, cw_schema_message_size(config->schema));
    const uint32_t word_count = carried_words(config);
    uint16_t *words = cw_arena_take(arena, sizeof *words * word_count);
    struct cw_carried *carried =
        cw_arena_take(arena, sizeof *carried * cw_connection_endpoint_config(config).sent_window);
    cw_receipts_layout(c ? &c->receipts : NULL, arena, config->max_receipts);
    const uint32_t writer_size = cw_connection_writer_size(config);
    uint8_t *writer_bytes = cw_arena_take(arena, writer_size);
    uint32_t reserves = 0;
    for (uint32_t i = 0; i < config->channel_count; i++) {
        lay_out_channel(arena, config, i, scratch, channels ? &channels[i] : NULL);
        if (cw_channel_config_is_reliable(&config->channels[i]))
            reserves += cw_connection_large(config, i) > 0 ? 2 : 1;
    }
    struct cw_message_pool_config made = {.schema = config->schema,
                                          .capacity = config->max_messages};
    struct cw_message_pool_config arrived = {
        .schema = config->schema, .capacity = cw_connection_received_room(config) + reserves};
    struct cw_endpoint_config endpoint = cw_connection_endpoint_config(config);
    struct cw_requests *requests = NULL;
    const uint32_t most_requests = cw_connection_requests(config);
    enum cw_error error = most_requests > 0
                              ? cw_requests_layout(arena, config->schema, most_requests, &requests)
                              : CW_OK;
    if (!arena->base) {
        cw_arena_take(arena, cw_message_pool_memory(&made));
        cw_arena_take(arena, cw_message_pool_memory(&arrived));
        cw_arena_take(arena, cw_endpoint_memory(&endpoint));
        return CW_OK;
    }
    set_config(c, config, arena->size);
    c->channels = channels;
    c->requests = requests;
    c->words = words;
    c->carried = carried;
    c->words_mask = word_count - 1;
    c->writer = (struct cw_large_writer){.bytes = writer_bytes, .capacity = writer_size};
    endpoint.allocator = made.allocator = arrived.allocator = cw_arena_allocator(arena);
    if (error == CW_OK)
        error = cw_message_pool_create(&made, &c->made);
    if (error == CW_OK)
        error = cw_message_pool_create(&arrived, &c->arrived);
    if (error == CW_OK)
        error = cw_endpoint_create(&endpoint, &c->endpoint);
    if (error == CW_OK)
        cw_endpoint_ack_in_turn(c->endpoint);
    share(c, cw_connection_received_room(config));
    *connection = c;
    return error;
}

size_t cw_connection_memory(const struct cw_connection_config *config)
{
    struct cw_arena arena = {0};
    if (cw_connection_config_check(config) != CW_OK)
        return 0;
    (void)lay_out(&arena, config, NULL);
    return arena.used;
}

enum cw_error cw_connection_create(const struct cw_connection_config *config,
                                   struct cw_connection **connection)
{
    enum cw_error error =
        connection ? cw_connection_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_connection_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_connection *c = NULL;
    error = lay_out(&arena, config, &c);
    if (error != CW_OK) {
        cw_release(&config->allocator, arena.base, arena.size);
        return error;
    }
    cw_connection_reset(c);
    c->open = true;
    *connection = c;
    return CW_OK;
}

void cw_connection_destroy(struct cw_connection *c)
{
    CW_ONE_THREAD_LAST(c);
    if (!c)
        return;
    if (cw_endpoint_is_recorded(c->endpoint))
        cw_endpoint_set_record(c->endpoint, NULL);
    cw_connection_reset(c);
    cw_message_pool_destroy(c->made);
    cw_message_pool_destroy(c->arrived);
    if (c->requests)
        cw_message_pool_destroy(c->requests->kept);
    const struct cw_allocator allocator = c->config.allocator;
    cw_release(&allocator, c, c->config.memory);
}

void cw_connection_reset(struct cw_connection *c)
{
    CW_ONE_THREAD(c);
    if (!c)
        return;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        struct cw_channel *channel = &c->channels[i];
        cw_channel_reset(channel);
    }
    cw_endpoint_reset(c->endpoint);
    for (uint32_t i = 0; i < c->config.sent_window; i++)
        c->carried[i] = (struct cw_carried){.receipts = CW_RECEIPT_NONE};
    cw_receipts_reset(&c->receipts);
    if (c->requests)
        cw_requests_reset(c->requests);
    c->words_written = 0;
    c->updated = c->sent = c->fragment_sent = c->spoken_to = CW_NEVER;
    c->interval = 0;
    c->share_clock = 0;
    c->packets_this_round = 0;
    c->fragments = 0;
    c->round_open = false;
    c->owes = CW_OWES_NOTHING;
    c->spoken = c->spoken_seen = 0;
    c->answers = 0;
    c->next_channel = 0;
    /* its time begins with the first update */
    (void)cw_congestion_init(&c->congestion, &c->congestion.config, 0);
    c->congestion.now = INFINITY;
    c->packets_refused = 0;
    c->packets_invalid = 0;
}

void cw_connection_set_record(struct cw_connection *c, struct cw_record *record)
{
    CW_ONE_THREAD(c);
    if (!c)
        return;
    cw_endpoint_set_record(c->endpoint, record);
    if (record)
        cw_record_set_congestion(record, &c->congestion);
}

void cw_connection_set_open(struct cw_connection *c, bool open)
{
    c->open = open;
    if (!open && c->requests)
        cw_requests_end_all(c->requests, CW_UNANSWERED_CLOSED);
}

bool cw_connection_is_idle(const struct cw_connection *c)
{
    for (uint32_t i = 0; i < c->config.channel_count; i++)
        if (!cw_channel_is_idle(&c->channels[i]))
            return false;
    return true;
}

/* Messages */

enum cw_error cw_connection_create_message(struct cw_connection *c, uint32_t type,
                                           struct cw_message **message)
{
    CW_ONE_THREAD(c);
    return cw_message_create(c ? c->made : NULL, type, message);
}

enum cw_error cw_connection_send(struct cw_connection *c, uint32_t index,
                                 struct cw_message *message, double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || !message)
        return CW_ERROR_INVALID_ARGUMENT;
    if (index >= c->config.channel_count)
        return CW_ERROR_CHANNEL;
    if (message->pool != c->made && message->pool != c->arrived)
        return CW_ERROR_OTHER_CONNECTION;
    if (message->references == 0 || message->owned)
        return CW_ERROR_MESSAGE_NOT_OWNED;
    if (!c->open)
        return CW_ERROR_NOT_CONNECTED;
    if (message->receipt && cw_receipts_full(&c->receipts))
        return CW_ERROR_RECEIPTS_FULL;
    return cw_channel_send(&c->channels[index], message, now);
}

enum cw_error cw_connection_send_value(struct cw_connection *c, uint32_t index, uint32_t type,
                                       const void *value, double now)
{
    CW_ONE_THREAD(c);
    if (!value)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_message *message;
    enum cw_error error = cw_connection_create_message(c, type, &message);
    if (error != CW_OK)
        return error;
    memcpy(message->data, value, cw_schema_type(c->config.schema, type)->size);
    error = cw_connection_send(c, index, message, now);
    if (error != CW_OK)
        (void)cw_message_release(message);
    return error;
}

static bool next_receipt(struct cw_connection *c, struct cw_connection_event *event)
{
    struct cw_receipt receipt;
    if (!cw_receipts_next(&c->receipts, &receipt))
        return false;
    *event = (struct cw_connection_event){
        .type = receipt.acked ? CW_CONNECTION_EVENT_ACKED : CW_CONNECTION_EVENT_LOST,
        .receipt = receipt.number,
    };
    return true;
}

static bool next_message(struct cw_connection *c, struct cw_connection_event *event)
{
    for (uint32_t tried = 0; tried < c->config.channel_count; tried++) {
        const uint32_t at = c->next_channel;
        struct cw_message *message = cw_channel_next(&c->channels[at]);
        c->next_channel = at + 1 < c->config.channel_count ? at + 1 : 0;
        if (!message)
            continue;
        message->owned = false;
        *event = (struct cw_connection_event){
            .type = CW_CONNECTION_EVENT_MESSAGE,
            .message = message,
            .channel = at,
        };
        return true;
    }
    return false;
}

bool cw_connection_next(struct cw_connection *c, struct cw_connection_event *event)
{
    CW_ONE_THREAD(c);
    if (!c || !event)
        return false;
    if (next_receipt(c, event))
        return true;
    do {
        if (c->requests && cw_requests_next(c->requests, event))
            return true;
        if (!next_message(c, event))
            return false;
    } while (c->requests && !cw_connection_sort_request(c, event));
    return true;
}

bool cw_connection_receipt_waits(const struct cw_connection *c)
{
    return c && (cw_receipts_waiting(&c->receipts) || cw_requests_waiting(c->requests));
}

size_t cw_connection_max_datagram_size(const struct cw_connection *c)
{
    return c ? cw_endpoint_max_datagram_size(c->endpoint) : 0;
}

void cw_connection_get_stats(const struct cw_connection *c, struct cw_connection_stats *stats)
{
    if (!c || !stats)
        return;
    cw_endpoint_get_stats(c->endpoint, &stats->endpoint);
    stats->congestion_window_bytes = cw_congestion_window(&c->congestion);
    stats->bytes_in_flight = cw_congestion_in_flight(&c->congestion);
    stats->limited = c->congestion.limited;
    stats->congestion_state = c->congestion.binary.state;
    stats->congestion_reason = c->congestion.binary.reason;
    stats->packets_per_second = c->congestion.binary.packets_per_second;
    stats->judged_rtt = c->congestion.binary.rtt;
    stats->rtt_threshold_seconds = cw_congestion_threshold(&c->congestion);
    stats->penalty_seconds = c->congestion.binary.penalty_seconds;
    stats->good_seconds = cw_binary_good_seconds(&c->congestion);
    stats->packets_refused = c->packets_refused;
    stats->packets_invalid = c->packets_invalid;
    stats->messages_in_use = cw_message_pool_used(c->made) + cw_message_pool_used(c->arrived);
}

uint32_t cw_connection_room(const struct cw_connection *c, uint32_t index)
{
    const struct cw_channel *channel = &c->channels[index];
    const uint32_t pool = c->config.max_messages - cw_message_pool_used(c->made);
    const uint32_t queue = channel->common.most_queued - cw_channel_count(channel);
    return queue < pool ? queue : pool;
}

enum cw_error cw_connection_get_channel_stats(const struct cw_connection *c, uint32_t index,
                                              struct cw_channel_stats *stats)
{
    if (!c || !stats)
        return CW_ERROR_INVALID_ARGUMENT;
    if (index >= c->config.channel_count)
        return CW_ERROR_CHANNEL;
    const struct cw_channel *channel = &c->channels[index];
    *stats = channel->common.stats;
    stats->room = cw_connection_room(c, index);
    stats->capacity = channel->common.most_queued;
    return CW_OK;
}
