#include "protocols/bunch_internal.h"

#include "base/little_endian.h"

#include <string.h>

/* The lists of items to be sent. They are followed by one for each channel, of parts that were
   never sent, and by those of the packets under way. */
enum { LOST, DIRTY, FRESH };
#define PACKETS (CW_NOTIFY_SEQUENCES / 2)

static uint32_t lists_to_send(const struct cw_bunch_sender *sender)
{
    return FRESH + sender->config->channels;
}

static uint32_t head_of(const struct cw_bunch_sender *sender, uint32_t list)
{
    return sender->items + list;
}

static uint32_t head_of_packet(const struct cw_bunch_sender *sender, uint16_t sequence)
{
    return head_of(sender, lists_to_send(sender) + sequence % PACKETS);
}

void cw_bunch_sender_init(struct cw_bunch_sender *sender, struct cw_arena *arena,
                          const struct cw_bunch_config *config)
{
    const uint32_t parts = config->channels * config->queue_parts;
    const size_t items = parts + config->properties;
    const size_t parts_size = (size_t)parts * config->max_part_size;
    *sender = (struct cw_bunch_sender){.config = config, .items = (uint32_t)items};
    const size_t links = items + lists_to_send(sender) + PACKETS;
    sender->links = cw_arena_take(arena, links * sizeof *sender->links);
    sender->outboxes = cw_arena_take(arena, config->channels * sizeof *sender->outboxes);
    sender->outgoing = cw_arena_take(arena, items * sizeof *sender->outgoing);
    sender->bytes =
        cw_arena_take(arena, parts_size + (size_t)config->properties * config->max_property_size);
    cw_bunch_queue_init(&sender->unreliable, arena, config);
}

void cw_bunch_sender_clear(struct cw_bunch_sender *sender)
{
    const uint32_t links = head_of_packet(sender, PACKETS - 1) + 1;
    for (uint32_t i = 0; i < links; i++)
        sender->links[i] = (struct cw_bunch_link){i, i};
    memset(sender->outboxes, 0, sender->config->channels * sizeof *sender->outboxes);
    for (uint32_t i = 0; i < sender->items; i++)
        sender->outgoing[i].queued = false;
    sender->turn = sender->queued_count = 0;
    sender->bunches_sent = sender->parts_sent = sender->parts_lost = 0;
    sender->properties_sent = sender->properties_lost = 0;
    cw_bunch_queue_clear(&sender->unreliable);
    sender->unreliable_sent = 0;
}

static bool is_alone(const struct cw_bunch_sender *sender, uint32_t link)
{
    return sender->links[link].next == link;
}

static void take_out(struct cw_bunch_sender *sender, uint32_t item)
{
    struct cw_bunch_link *const links = sender->links, *const link = &links[item];
    links[link->next].previous = link->previous;
    links[link->previous].next = link->next;
    link->next = link->previous = item;
}

/* Puts the item at the end of the list, out of the one in which it was. */
static void move(struct cw_bunch_sender *sender, uint32_t item, uint32_t head)
{
    struct cw_bunch_link *const links = sender->links;
    take_out(sender, item);
    links[item] = (struct cw_bunch_link){.next = head, .previous = links[head].previous};
    links[links[item].previous].next = item;
    links[head].previous = item;
}

static uint32_t part_count(const struct cw_bunch_sender *sender)
{
    return sender->config->channels * sender->config->queue_parts;
}

static uint32_t item_of_part(const struct cw_bunch_sender *sender, uint32_t channel, uint16_t id)
{
    return channel * sender->config->queue_parts + id % sender->config->queue_parts;
}

static uint8_t *bytes_of(const struct cw_bunch_sender *sender, uint32_t item)
{
    const struct cw_bunch_config *config = sender->config;
    const uint32_t parts = part_count(sender);
    const size_t before = (size_t)(item < parts ? item : parts) * config->max_part_size;
    return sender->bytes + before +
           (item < parts ? 0 : (size_t)(item - parts) * config->max_property_size);
}

static void fill(struct cw_bunch_sender *sender, uint32_t item, uint8_t tag, uint16_t number,
                 const uint8_t *data, size_t size)
{
    sender->outgoing[item].tag = tag;
    sender->outgoing[item].number = number;
    sender->outgoing[item].size = (uint16_t)size;
    if (size)
        memcpy(bytes_of(sender, item), data, size);
}

/* Puts an item into a list; one that waits already keeps its place. */
static void enqueue(struct cw_bunch_sender *sender, uint32_t item, uint32_t list)
{
    struct cw_bunch_outgoing *outgoing = &sender->outgoing[item];
    if (outgoing->queued)
        return;
    outgoing->queued = true;
    sender->queued_count++;
    move(sender, item, head_of(sender, list));
}

enum cw_protocol_error cw_bunch_sender_send(struct cw_bunch_sender *sender, uint32_t channel,
                                            const uint8_t *data, size_t size)
{
    const struct cw_bunch_config *config = sender->config;
    struct cw_bunch_outbox *outbox = &sender->outboxes[channel];
    if (size > config->max_bunch_size)
        return CW_PROTOCOL_ERROR_TOO_LARGE;
    const uint32_t parts = size ? (uint32_t)(size - 1) / config->max_part_size + 1 : 1;
    if (parts > config->queue_parts - (uint16_t)(outbox->next - outbox->first))
        return CW_PROTOCOL_ERROR_QUEUE_FULL;
    uint8_t tag = (uint8_t)(channel | CW_BUNCH_FIRST);
    for (uint32_t i = 0; i < parts; i++) {
        const bool last = i == parts - 1;
        const size_t part = last ? size : config->max_part_size;
        const uint32_t item = item_of_part(sender, channel, outbox->next);
        fill(sender, item, tag | (last ? CW_BUNCH_LAST : 0), outbox->next++, data, part);
        enqueue(sender, item, FRESH + channel);
        tag = (uint8_t)channel;
        data += part;
        size -= part;
    }
    sender->bunches_sent++;
    return CW_PROTOCOL_OK;
}

enum cw_protocol_error cw_bunch_sender_set(struct cw_bunch_sender *sender, uint32_t property,
                                           const uint8_t *data, size_t size)
{
    const uint32_t item = part_count(sender) + property;
    if (size > sender->config->max_property_size)
        return CW_PROTOCOL_ERROR_TOO_LARGE;
    fill(sender, item, CW_BUNCH_PROPERTY, (uint16_t)property, data, size);
    enqueue(sender, item, DIRTY);
    return CW_PROTOCOL_OK;
}

size_t cw_bunch_item_write(const struct cw_bunch_item *item, uint8_t *out)
{
    uint8_t *at = out;
    cw_little_endian_put(&at, item->tag, 1);
    cw_little_endian_put(&at, item->number, 2);
    cw_little_endian_put(&at, item->size, 2);
    cw_little_endian_put_bytes(&at, item->data, item->size);
    return (size_t)(at - out);
}

/* Writes the first item of the list and returns its size; 0 when none fits. */
static size_t write_first(struct cw_bunch_sender *sender, uint32_t list, uint16_t sequence,
                          uint8_t *out, size_t capacity)
{
    const uint32_t head = head_of(sender, list), item = sender->links[head].next;
    if (item == head || CW_BUNCH_ITEM_HEAD + (size_t)sender->outgoing[item].size > capacity)
        return 0;
    struct cw_bunch_outgoing *outgoing = &sender->outgoing[item];
    const struct cw_bunch_item written = {.tag = outgoing->tag,
                                          .number = outgoing->number,
                                          .size = outgoing->size,
                                          .data = bytes_of(sender, item)};
    outgoing->queued = false;
    sender->queued_count--;
    move(sender, item, head_of_packet(sender, sequence));
    if (list == DIRTY)
        sender->properties_sent++;
    else
        sender->parts_sent++;
    return cw_bunch_item_write(&written, out);
}

/* Writes the oldest unreliable bunch and returns its size; 0 when there is none or it does not
   fit. */
static size_t write_unreliable(struct cw_bunch_sender *sender, uint8_t *out, size_t capacity)
{
    const struct cw_bunch_item *const oldest = cw_bunch_queue_oldest(&sender->unreliable);
    if (!oldest || CW_BUNCH_ITEM_HEAD + (size_t)oldest->size > capacity)
        return 0;
    cw_bunch_queue_remove(&sender->unreliable);
    sender->unreliable_sent++;
    return cw_bunch_item_write(oldest, out);
}

bool cw_bunch_sender_waits(const struct cw_bunch_sender *sender)
{
    return sender->queued_count || sender->unreliable.count;
}

size_t cw_bunch_sender_write(struct cw_bunch_sender *sender, uint16_t sequence, uint8_t *out,
                             size_t capacity)
{
    const uint32_t lists = lists_to_send(sender), turns = lists + 1;
    size_t used = 0;
    for (uint32_t idle = 0; idle < turns && cw_bunch_sender_waits(sender);) {
        const size_t room = capacity - used;
        const size_t size = sender->turn == lists
                                ? write_unreliable(sender, out + used, room)
                                : write_first(sender, sender->turn, sequence, out + used, room);
        used += size;
        idle = size ? 0 : idle + 1;
        sender->turn = (sender->turn + 1) % turns;
    }
    return used;
}

/* The parts at the beginning that have arrived leave the outbox. */
static void advance(struct cw_bunch_sender *sender, uint32_t channel)
{
    struct cw_bunch_outbox *outbox = &sender->outboxes[channel];
    while (outbox->first != outbox->next &&
           is_alone(sender, item_of_part(sender, channel, outbox->first)))
        outbox->first++;
}

void cw_bunch_sender_settle(struct cw_bunch_sender *sender, uint16_t sequence, bool acked)
{
    const uint32_t head = head_of_packet(sender, sequence);
    while (!is_alone(sender, head)) {
        const uint32_t item = sender->links[head].next;
        const bool property = item >= part_count(sender);
        take_out(sender, item);
        if (!acked) {
            enqueue(sender, item, property ? DIRTY : LOST);
            if (property)
                sender->properties_lost++;
            else
                sender->parts_lost++;
        } else if (!property) {
            advance(sender, sender->outgoing[item].tag & CW_BUNCH_CHANNEL);
        }
    }
}
