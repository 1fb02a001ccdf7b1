#include "protocols/bunch_internal.h"

#include "base/bit_set.h"
#include "base/little_endian.h"

#include <string.h>

void cw_bunch_receiver_init(struct cw_bunch_receiver *receiver, struct cw_arena *arena,
                            const struct cw_bunch_config *config)
{
    const size_t parts = (size_t)config->channels * config->queue_parts;
    const size_t properties = config->properties;
    *receiver = (struct cw_bunch_receiver){.config = config};
    receiver->inboxes = cw_arena_take(arena, config->channels * sizeof *receiver->inboxes);
    receiver->incoming = cw_arena_take(arena, parts * sizeof *receiver->incoming);
    receiver->part_bytes = cw_arena_take(arena, parts * config->max_part_size);
    receiver->bunch_bytes = cw_arena_take(arena, (size_t)config->channels * config->max_bunch_size);
    receiver->property_sizes = cw_arena_take(arena, properties * sizeof *receiver->property_sizes);
    receiver->property_bytes = cw_arena_take(arena, properties * config->max_property_size);
    cw_bunch_queue_init(&receiver->unreliable, arena, config);
}

void cw_bunch_receiver_clear(struct cw_bunch_receiver *receiver)
{
    const struct cw_bunch_config *config = receiver->config;
    const size_t parts = (size_t)config->channels * config->queue_parts;
    memset(receiver->inboxes, 0, config->channels * sizeof *receiver->inboxes);
    memset(receiver->incoming, 0, parts * sizeof *receiver->incoming);
    memset(receiver->changed, 0, sizeof receiver->changed);
    cw_bunch_queue_clear(&receiver->unreliable);
    receiver->bunches_received = 0;
}

static bool is_part(const struct cw_bunch_item *item)
{
    return item->tag < CW_BUNCH_UNRELIABLE;
}

static bool within(const struct cw_bunch_item *item, const struct cw_bunch_config *config)
{
    if (item->tag == CW_BUNCH_PROPERTY)
        return item->number < config->properties && item->size <= config->max_property_size;
    const uint8_t channel = item->tag & CW_BUNCH_CHANNEL;
    const bool unreliable = item->tag == (CW_BUNCH_UNRELIABLE | channel) && item->number == 0 &&
                            config->unreliable_bunches;
    return (is_part(item) || unreliable) && channel < config->channels &&
           item->size <= config->max_part_size;
}

size_t cw_bunch_item_read(const uint8_t *data, size_t size, const struct cw_bunch_config *config,
                          struct cw_bunch_item *item)
{
    if (size < CW_BUNCH_ITEM_HEAD)
        return 0;
    const uint8_t *at = data;
    item->tag = (uint8_t)cw_little_endian_get(&at, 1);
    item->number = (uint16_t)cw_little_endian_get(&at, 2);
    item->size = (uint16_t)cw_little_endian_get(&at, 2);
    item->data = at;
    if (item->size > size - CW_BUNCH_ITEM_HEAD || !within(item, config))
        return 0;
    return CW_BUNCH_ITEM_HEAD + (size_t)item->size;
}

static uint32_t place_of(const struct cw_bunch_receiver *receiver, uint32_t channel, uint16_t id)
{
    return channel * receiver->config->queue_parts + id % receiver->config->queue_parts;
}

/* Returns how far the part is ahead of the next one of its channel; negative when the part was here
   before. */
static int ahead_of_next(const struct cw_bunch_receiver *receiver, const struct cw_bunch_item *item)
{
    const uint16_t next = receiver->inboxes[item->tag & CW_BUNCH_CHANNEL].next;
    return (int16_t)(uint16_t)(item->number - next);
}

/* Returns whether all items are well formed and have a place. */
static bool check(const struct cw_bunch_receiver *receiver, const uint8_t *payload, size_t size)
{
    const struct cw_bunch_config *config = receiver->config;
    while (size) {
        struct cw_bunch_item item;
        const size_t read = cw_bunch_item_read(payload, size, config, &item);
        if (!read || (is_part(&item) && ahead_of_next(receiver, &item) >= (int)config->queue_parts))
            return false;
        payload += read;
        size -= read;
    }
    return true;
}

static void take_property(struct cw_bunch_receiver *receiver, const struct cw_bunch_item *item)
{
    const size_t offset = (size_t)item->number * receiver->config->max_property_size;
    memcpy(receiver->property_bytes + offset, item->data, item->size);
    receiver->property_sizes[item->number] = item->size;
    cw_bit_set(receiver->changed, item->number);
}

/* Takes a part. One comes again when its first packet was reported lost although it was not. */
static void take_part(struct cw_bunch_receiver *receiver, const struct cw_bunch_item *item)
{
    const uint32_t channel = item->tag & CW_BUNCH_CHANNEL;
    const uint32_t place = place_of(receiver, channel, item->number);
    struct cw_bunch_incoming *incoming = &receiver->incoming[place];
    if (ahead_of_next(receiver, item) < 0 || incoming->present)
        return;
    *incoming = (struct cw_bunch_incoming){.present = true, .tag = item->tag, .size = item->size};
    memcpy(receiver->part_bytes + (size_t)place * receiver->config->max_part_size, item->data,
           item->size);
    receiver->inboxes[channel].parts++;
}

bool cw_bunch_receiver_take(struct cw_bunch_receiver *receiver, const uint8_t *payload, size_t size)
{
    if (!check(receiver, payload, size))
        return false;
    while (size) {
        struct cw_bunch_item item;
        const size_t read = cw_bunch_item_read(payload, size, receiver->config, &item);
        if (item.tag == CW_BUNCH_PROPERTY)
            take_property(receiver, &item);
        else if (is_part(&item))
            take_part(receiver, &item);
        else
            cw_bunch_queue_add(&receiver->unreliable, &item);
        payload += read;
        size -= read;
    }
    return true;
}

/* Adds the next part of the channel, which is here, to its bunch. Returns true when the bunch is
   complete. */
static bool add_part(struct cw_bunch_receiver *receiver, uint32_t channel)
{
    const struct cw_bunch_config *config = receiver->config;
    struct cw_bunch_inbox *inbox = &receiver->inboxes[channel];
    const uint32_t place = place_of(receiver, channel, inbox->next);
    struct cw_bunch_incoming *part = &receiver->incoming[place];
    uint8_t *bunch = receiver->bunch_bytes + (size_t)channel * config->max_bunch_size;
    if (part->tag & CW_BUNCH_FIRST) {
        inbox->open = true;
        inbox->size = 0;
    }
    if (part->size > config->max_bunch_size - inbox->size)
        inbox->open = false;
    if (inbox->open) {
        memcpy(bunch + inbox->size, receiver->part_bytes + (size_t)place * config->max_part_size,
               part->size);
        inbox->size += part->size;
    }
    const bool complete = inbox->open && part->tag & CW_BUNCH_LAST;
    if (part->tag & CW_BUNCH_LAST)
        inbox->open = false;
    part->present = false;
    inbox->parts--;
    inbox->next++;
    return complete;
}

static bool next_is_present(const struct cw_bunch_receiver *receiver, uint32_t channel)
{
    return receiver->incoming[place_of(receiver, channel, receiver->inboxes[channel].next)].present;
}

bool cw_bunch_receiver_next_bunch(struct cw_bunch_receiver *receiver, uint32_t *channel,
                                  const uint8_t **data, size_t *size)
{
    for (uint32_t i = 0; i < receiver->config->channels; i++) {
        while (next_is_present(receiver, i)) {
            if (!add_part(receiver, i))
                continue;
            *channel = i;
            *data = receiver->bunch_bytes + (size_t)i * receiver->config->max_bunch_size;
            *size = receiver->inboxes[i].size;
            receiver->bunches_received++;
            return true;
        }
    }
    return false;
}

bool cw_bunch_receiver_next_property(struct cw_bunch_receiver *receiver, uint32_t *property,
                                     const uint8_t **data, size_t *size)
{
    const uint32_t next = cw_bit_next(receiver->changed, 0, receiver->config->properties);
    if (next == CW_BIT_NONE)
        return false;
    cw_bit_clear(receiver->changed, next);
    *property = next;
    *data = receiver->property_bytes + (size_t)next * receiver->config->max_property_size;
    *size = receiver->property_sizes[next];
    return true;
}

bool cw_bunch_receiver_missing(const struct cw_bunch_receiver *receiver, uint32_t channel,
                               uint16_t *part)
{
    const struct cw_bunch_inbox *inbox = &receiver->inboxes[channel];
    if (!inbox->parts || next_is_present(receiver, channel))
        return false;
    *part = inbox->next;
    return true;
}
