#include "lab/peers.h"

#include "causeway/protocols/bunch.h"

enum { MESSAGES, BLOCKS, CHANNELS };

struct notify_peer {
    struct cw_bunch *bunch;
    uint32_t state_id;               /* the id of the next state, or an earlier one */
    uint32_t message_id;             /* the id of the next message */
    bool queue_full;                 /* the last message has been refused */
    uint8_t bytes[CW_LAB_BLOCK_MAX]; /* the bytes of an item that is sent */
};

/* Each message is one part. */
static struct cw_bunch_config bunch_config(void)
{
    struct cw_bunch_config config = cw_bunch_config_default();
    config.channels = CHANNELS;
    config.max_part_size = CW_LAB_MESSAGE_MAX;
    config.max_bunch_size = CW_LAB_BLOCK_MAX;
    config.properties = 1;
    config.max_property_size = CW_LAB_MESSAGE_MAX;
    return config;
}

static size_t memory(const void *mode)
{
    const struct cw_bunch_config config = bunch_config();
    (void)mode;
    return cw_bunch_memory(&config);
}

static bool begin(void *peer, const void *mode, const struct cw_allocator *allocator)
{
    struct notify_peer *p = peer;
    struct cw_bunch_config config = bunch_config();
    (void)mode;
    config.allocator = *allocator;
    return cw_bunch_create(&config, &p->bunch) == CW_PROTOCOL_OK;
}

static bool send(void *peer, const struct cw_lab_item *item, double now)
{
    struct notify_peer *p = peer;
    (void)now;
    cw_lab_item_write(item, 0, p->bytes, item->size);
    if (item->traffic == CW_LAB_STATE)
        return cw_bunch_set(p->bunch, 0, p->bytes, item->size) == CW_PROTOCOL_OK;
    const uint32_t channel = item->traffic == CW_LAB_BLOCK ? BLOCKS : MESSAGES;
    const enum cw_protocol_error error = cw_bunch_send(p->bunch, channel, p->bytes, item->size);
    if (channel == MESSAGES)
        p->queue_full = error == CW_PROTOCOL_ERROR_QUEUE_FULL;
    return error == CW_PROTOCOL_OK;
}

static void receive(void *peer, const uint8_t *data, size_t size, double now)
{
    struct notify_peer *p = peer;
    (void)now;
    cw_bunch_receive(p->bunch, data, size);
}

static void update(void *peer, double now)
{
    struct notify_peer *p = peer;
    cw_bunch_update(p->bunch, now);
}

static size_t transmit(void *peer, uint8_t *out, size_t capacity, double now)
{
    struct notify_peer *p = peer;
    (void)now;
    return cw_bunch_transmit(p->bunch, out, capacity);
}

/* Returns whether an item is new. A state comes again when its packet was reported lost although it
   was not. */
static bool is_news(struct notify_peer *p, const struct cw_lab_item *item)
{
    if (item->traffic == CW_LAB_MESSAGE)
        p->message_id = item->id + 1;
    if (item->traffic != CW_LAB_STATE)
        return true;
    if (item->id < p->state_id)
        return false;
    p->state_id = item->id + 1;
    return true;
}

static bool next(void *peer, struct cw_lab_arrival *arrival)
{
    struct notify_peer *p = peer;
    struct cw_bunch_event event;
    struct cw_lab_item item;
    while (cw_bunch_next(p->bunch, &event)) {
        if (!cw_lab_item_read(event.data, event.size, &item) || event.size != item.size ||
            !cw_lab_item_check(&item, 0, event.data, event.size) || !is_news(p, &item))
            continue;
        *arrival = (struct cw_lab_arrival){.item = item};
        return true;
    }
    return false;
}

static enum cw_lab_waiting waiting(const void *peer, double now, uint32_t *number)
{
    const struct notify_peer *p = peer;
    struct cw_bunch_stats stats;
    uint16_t part;
    (void)now;
    if (cw_bunch_missing(p->bunch, MESSAGES, &part)) {
        *number = p->message_id;
        return CW_LAB_WAITING_MESSAGE;
    }
    if (p->queue_full) {
        cw_bunch_get_stats(p->bunch, &stats);
        *number = (uint32_t)(stats.notify.packets_acked + stats.notify.packets_nakked);
        return CW_LAB_WAITING_ACK;
    }
    *number = 0;
    return CW_LAB_WAITING_NOTHING;
}

CW_LAB_PEER(notify, notify_peer, .name = "notify")
