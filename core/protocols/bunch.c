#include "causeway/protocols/bunch.h"

#include "base/memory.h"
#include "protocols/bunch_internal.h"

#include <math.h>

/* After a pause, this many seconds of bytes_per_second may be sent at once: three ticks of 60 per
   second. */
#define BURST_SECONDS 0.05

struct cw_bunch {
    struct cw_bunch_config config;
    size_t memory;
    struct cw_notify *notify;
    uint8_t *payload;
    struct cw_bunch_sender sender;
    struct cw_bunch_receiver receiver;
    bool due;        /* nothing has been transmitted since the update */
    double credit;   /* bytes that may be sent */
    double credited; /* when credit was right; minus infinity before the first update */
    uint64_t packets_refused;
};

struct cw_bunch_config cw_bunch_config_default(void)
{
    return (struct cw_bunch_config){.channels = 2,
                                    .queue_parts = 512,
                                    .max_part_size = 240,
                                    .max_bunch_size = 65536,
                                    .max_property_size = 240,
                                    .notify = cw_notify_config_default(),
                                    .bytes_per_second = 100000};
}

const char *cw_bunch_config_error_field(const struct cw_bunch_config *config)
{
    if (!config)
        return NULL;
    const char *const notify = cw_notify_config_error_field(&config->notify);
    if (notify)
        return notify;
    const uint32_t packet = config->notify.max_packet_size, parts = config->queue_parts;
    const uint32_t longest = packet > CW_BUNCH_ITEM_HEAD ? packet - CW_BUNCH_ITEM_HEAD : 0;
    if (config->channels < 1 || config->channels > 16)
        return "channels";
    if (parts < 2 || parts > 4096 || (parts & (parts - 1)) != 0)
        return "queue_parts";
    if (config->max_part_size < 1 || config->max_part_size > longest)
        return "max_part_size";
    if (config->max_bunch_size < 1 || config->max_bunch_size > parts * config->max_part_size)
        return "max_bunch_size";
    if (config->properties > CW_BUNCH_MAX_PROPERTIES)
        return "properties";
    if (config->max_property_size < 1 || config->max_property_size > longest)
        return "max_property_size";
    if (config->unreliable_bunches > CW_BUNCH_MAX_UNRELIABLE)
        return "unreliable_bunches";
    return NULL;
}

/* The halves point to the config, which lies in the bunch itself once there is memory. */
static struct cw_bunch *lay_out(struct cw_arena *arena, const struct cw_bunch_config *config)
{
    struct cw_bunch_sender sender;
    struct cw_bunch_receiver receiver;
    struct cw_notify_config notify = config->notify;
    struct cw_bunch *bunch = cw_arena_take(arena, sizeof *bunch);
    if (bunch) {
        bunch->config = *config;
        config = &bunch->config;
    }
    uint8_t *payload = cw_arena_take(arena, notify.max_packet_size);
    cw_bunch_sender_init(&sender, arena, config);
    cw_bunch_receiver_init(&receiver, arena, config);
    if (!bunch) {
        cw_arena_take(arena, cw_notify_memory(&notify));
        return NULL;
    }
    bunch->memory = arena->size;
    bunch->payload = payload;
    bunch->sender = sender;
    bunch->receiver = receiver;
    notify.allocator = cw_arena_allocator(arena);
    return cw_notify_create(&notify, &bunch->notify) == CW_PROTOCOL_OK ? bunch : NULL;
}

size_t cw_bunch_memory(const struct cw_bunch_config *config)
{
    struct cw_arena arena = {0};
    if (!config || cw_bunch_config_error_field(config))
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_protocol_error cw_bunch_create(const struct cw_bunch_config *config,
                                       struct cw_bunch **bunch)
{
    if (!config || !bunch)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (cw_bunch_config_error_field(config))
        return CW_PROTOCOL_ERROR_CONFIG;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_bunch_memory(config));
    if (!arena.base)
        return CW_PROTOCOL_ERROR_NO_MEMORY;
    *bunch = lay_out(&arena, config);
    cw_bunch_reset(*bunch);
    return CW_PROTOCOL_OK;
}

void cw_bunch_destroy(struct cw_bunch *bunch)
{
    if (!bunch)
        return;
    const struct cw_allocator allocator = bunch->config.allocator;
    cw_release(&allocator, bunch, bunch->memory);
}

void cw_bunch_reset(struct cw_bunch *bunch)
{
    if (!bunch)
        return;
    cw_notify_reset(bunch->notify);
    cw_bunch_sender_clear(&bunch->sender);
    cw_bunch_receiver_clear(&bunch->receiver);
    bunch->due = false;
    bunch->credit = 0;
    bunch->credited = -INFINITY;
    bunch->packets_refused = 0;
}

enum cw_protocol_error cw_bunch_send(struct cw_bunch *bunch, uint32_t channel, const uint8_t *data,
                                     size_t size)
{
    if (!bunch || channel >= bunch->config.channels || (!data && size))
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    static const uint8_t nothing = 0;
    return cw_bunch_sender_send(&bunch->sender, channel, size ? data : &nothing, size);
}

enum cw_protocol_error cw_bunch_set(struct cw_bunch *bunch, uint32_t property, const uint8_t *data,
                                    size_t size)
{
    if (!bunch || property >= bunch->config.properties || (!data && size))
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    return cw_bunch_sender_set(&bunch->sender, property, data, size);
}

enum cw_protocol_error cw_bunch_send_unreliable(struct cw_bunch *bunch, uint32_t channel,
                                                const uint8_t *data, size_t size)
{
    if (!bunch || channel >= bunch->config.channels || (!data && size) ||
        !bunch->config.unreliable_bunches)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (size > bunch->config.max_part_size)
        return CW_PROTOCOL_ERROR_TOO_LARGE;
    const struct cw_bunch_item item = {
        .tag = (uint8_t)(CW_BUNCH_UNRELIABLE | channel), .size = (uint16_t)size, .data = data};
    cw_bunch_queue_add(&bunch->sender.unreliable, &item);
    return CW_PROTOCOL_OK;
}

/* Takes the events of packet notification. */
static void drain(struct cw_bunch *bunch)
{
    struct cw_notify_event event;
    while (cw_notify_next(bunch->notify, &event)) {
        if (event.type != CW_NOTIFY_EVENT_PACKET) {
            const bool acked = event.type == CW_NOTIFY_EVENT_ACK;
            cw_bunch_sender_settle(&bunch->sender, event.sequence, acked);
        } else if (!cw_bunch_receiver_take(&bunch->receiver, event.payload, event.size)) {
            cw_notify_refuse(bunch->notify);
            bunch->packets_refused++;
        }
    }
}

enum cw_protocol_error cw_bunch_receive(struct cw_bunch *bunch, const uint8_t *data, size_t size)
{
    if (!bunch || !data)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    const enum cw_protocol_error error = cw_notify_receive(bunch->notify, data, size);
    drain(bunch);
    return error;
}

void cw_bunch_update(struct cw_bunch *bunch, double now)
{
    if (!bunch || !isfinite(now))
        return;
    const double most = bunch->config.bytes_per_second * BURST_SECONDS;
    const double seconds = fmin(now - bunch->credited, 1);
    bunch->credit = fmin(bunch->credit + bunch->config.bytes_per_second * seconds, most);
    bunch->credited = now;
    bunch->due = true;
    cw_notify_update(bunch->notify);
    drain(bunch);
}

size_t cw_bunch_transmit(struct cw_bunch *bunch, uint8_t *out, size_t capacity)
{
    if (!bunch || !out)
        return 0;
    const size_t longest = bunch->config.notify.max_packet_size;
    const bool affordable = bunch->credit > 0 || !bunch->config.bytes_per_second;
    const bool carries = cw_bunch_sender_waits(&bunch->sender) && affordable;
    if (!bunch->due && !carries)
        return 0;
    if (capacity < CW_NOTIFY_HEADER_SIZE + longest || !cw_notify_room(bunch->notify))
        return 0;
    const uint16_t sequence = cw_notify_next_sequence(bunch->notify);
    const size_t size =
        carries ? cw_bunch_sender_write(&bunch->sender, sequence, bunch->payload, longest) : 0;
    cw_notify_send(bunch->notify, bunch->payload, size, NULL);
    const size_t written = cw_notify_transmit(bunch->notify, out, capacity);
    bunch->due = false;
    if (carries)
        bunch->credit -= (double)written;
    return written;
}

static bool next_unreliable(struct cw_bunch *bunch, struct cw_bunch_event *event)
{
    struct cw_bunch_queue *queue = &bunch->receiver.unreliable;
    const struct cw_bunch_item *const oldest = cw_bunch_queue_oldest(queue);
    if (!oldest)
        return false;
    *event = (struct cw_bunch_event){.type = CW_BUNCH_EVENT_UNRELIABLE,
                                     .number = oldest->tag & CW_BUNCH_CHANNEL,
                                     .data = oldest->data,
                                     .size = oldest->size};
    cw_bunch_queue_remove(queue);
    return true;
}

bool cw_bunch_next(struct cw_bunch *bunch, struct cw_bunch_event *event)
{
    struct cw_bunch_event found;
    if (!bunch || !event)
        return false;
    if (cw_bunch_receiver_next_bunch(&bunch->receiver, &found.number, &found.data, &found.size))
        found.type = CW_BUNCH_EVENT_BUNCH;
    else if (cw_bunch_receiver_next_property(&bunch->receiver, &found.number, &found.data,
                                             &found.size))
        found.type = CW_BUNCH_EVENT_PROPERTY;
    else
        return next_unreliable(bunch, event);
    *event = found;
    return true;
}

bool cw_bunch_missing(const struct cw_bunch *bunch, uint32_t channel, uint16_t *part)
{
    return bunch && part && channel < bunch->config.channels &&
           cw_bunch_receiver_missing(&bunch->receiver, channel, part);
}

void cw_bunch_get_stats(const struct cw_bunch *bunch, struct cw_bunch_stats *stats)
{
    if (!bunch || !stats)
        return;
    const struct cw_bunch_queue *const outgoing = &bunch->sender.unreliable;
    const struct cw_bunch_queue *const incoming = &bunch->receiver.unreliable;
    *stats = (struct cw_bunch_stats){.bunches_sent = bunch->sender.bunches_sent,
                                     .bunches_received = bunch->receiver.bunches_received,
                                     .parts_sent = bunch->sender.parts_sent,
                                     .parts_lost = bunch->sender.parts_lost,
                                     .properties_sent = bunch->sender.properties_sent,
                                     .properties_lost = bunch->sender.properties_lost,
                                     .unreliable_sent = bunch->sender.unreliable_sent,
                                     .unreliable_received = incoming->added,
                                     .unreliable_dropped = outgoing->dropped + incoming->dropped,
                                     .packets_refused = bunch->packets_refused};
    cw_notify_get_stats(bunch->notify, &stats->notify);
}
