#include "causeway/protocols/notify.h"

#include "base/bit_set.h"
#include "base/memory.h"
#include "protocols/notify_internal.h"

#include <string.h>

/* The rings of packets sent have one place more than there can be packets without a fate. */
#define PLACES (CW_NOTIFY_WINDOW + 1)

/* A packet waits here from its arrival until it is taken. */
struct cached {
    uint16_t sequence;
    uint16_t slot; /* the place of its bytes */
    uint32_t size;
};

/* The packets are in the order of their numbers. Early ones wait until the ones before
   them arrive or are given up. */
struct cache {
    uint32_t capacity;    /* packets */
    uint32_t max_missing; /* a longer gap is not waited for */
    uint32_t slot_size;   /* bytes of the longest packet */
    uint32_t count;
    uint32_t released;      /* the first of the count packets that wait for nothing */
    struct cached *packets; /* the ones after count have the free slots */
    uint8_t *slots;
};

struct cw_notify {
    struct cw_notify_config config;
    size_t memory;

    /* These concern packets sent: newest_taken <= newest_settled < next. */
    uint16_t next;               /* the next packet to be sent */
    uint16_t newest_settled;     /* the newest packet whose fate is known */
    uint16_t newest_taken;       /* the newest packet whose fate has been taken */
    bool pending;                /* the packet before next has not been transmitted */
    uint64_t fates[PLACES / 64]; /* a bit for each packet between the two: set if delivered */
    uint16_t acked_with[PLACES]; /* the value of acked when the packet was sent */
    uint8_t *payload;            /* the payload of the packet before next */
    size_t payload_size;

    /* These concern packets that arrive: known <= acked <= last. */
    uint16_t last;      /* the newest packet looked at */
    uint16_t acked;     /* the newest packet whose fate is in the history */
    uint16_t known;     /* the newest packet whose fate the other end surely knows */
    uint16_t delivered; /* the newest packet that was delivered */
    bool refusable;     /* nothing has happened since it was taken */
    struct cw_notify_history history;
    struct cache cache;

    struct cw_notify_stats stats;
};

/* Takes its memory from the arena, which may only measure. */
static void lay_out_cache(struct cache *cache, struct cw_arena *arena, uint32_t capacity,
                          uint32_t max_missing, uint32_t slot_size)
{
    *cache =
        (struct cache){.capacity = capacity, .max_missing = max_missing, .slot_size = slot_size};
    cache->packets = cw_arena_take(arena, capacity * sizeof *cache->packets);
    cache->slots = cw_arena_take(arena, (size_t)capacity * slot_size);
    for (uint32_t i = 0; cache->packets && i < capacity; i++)
        cache->packets[i].slot = (uint16_t)i;
}

static void clear_cache(struct cache *cache)
{
    cache->count = 0;
    cache->released = 0;
}

/* Returns the number of packets that are missing right before the one at place. */
static uint32_t missing_before(const struct cache *cache, uint16_t last, uint32_t place)
{
    const uint16_t previous = place ? cache->packets[place - 1].sequence : last;
    return cw_notify_ahead(cache->packets[place].sequence, previous) - 1;
}

static bool any_waits(const struct cache *cache, uint16_t last)
{
    for (uint32_t i = cache->released; i < cache->count; i++)
        if (missing_before(cache, last, i))
            return true;
    return false;
}

/* Ends the waiting of all packets. */
static void release_cache(struct cache *cache)
{
    cache->released = cache->count;
}

/* Adds a packet (copied) that is newer than last, the last one taken. A packet that is capacity or
   more ahead of last ends the waiting of all. Errors: CW_PROTOCOL_ERROR_DUPLICATE,
   CW_PROTOCOL_ERROR_EVENTS_PENDING when it is full. */
static enum cw_protocol_error add_to_cache(struct cache *cache, uint16_t last, uint16_t sequence,
                                           const uint8_t *data, size_t size)
{
    struct cached *const packets = cache->packets;
    uint32_t place = cache->count;
    while (place && cw_notify_newer(packets[place - 1].sequence, sequence))
        place--;
    if (place && packets[place - 1].sequence == sequence)
        return CW_PROTOCOL_ERROR_DUPLICATE;
    if (cache->count == cache->capacity)
        return CW_PROTOCOL_ERROR_EVENTS_PENDING;
    const bool waiting = any_waits(cache, last);
    struct cached packet = packets[cache->count];
    packet.sequence = sequence;
    packet.size = (uint32_t)size;
    memcpy(cache->slots + (size_t)packet.slot * cache->slot_size, data, size);
    memmove(packets + place + 1, packets + place, (cache->count - place) * sizeof *packets);
    packets[place] = packet;
    cache->count++;
    if (place < cache->released)
        cache->released++;
    const bool hopeless = !waiting && missing_before(cache, last, place) > cache->max_missing;
    if (hopeless || cw_notify_ahead(sequence, last) >= cache->capacity)
        release_cache(cache);
    return CW_PROTOCOL_OK;
}

/* Returns the first packet when it waits for nothing, with its bytes in *data; otherwise NULL. */
static const struct cached *first_in_cache(const struct cache *cache, uint16_t last,
                                           const uint8_t **data)
{
    if (!cache->count || (!cache->released && missing_before(cache, last, 0)))
        return NULL;
    *data = cache->slots + (size_t)cache->packets->slot * cache->slot_size;
    return cache->packets;
}

/* Drops the first packet. Its bytes stay until the next add. */
static void drop_from_cache(struct cache *cache)
{
    const struct cached first = cache->packets[0];
    cache->count--;
    memmove(cache->packets, cache->packets + 1, cache->count * sizeof *cache->packets);
    cache->packets[cache->count] = first;
    if (cache->released)
        cache->released--;
}

struct cw_notify_config cw_notify_config_default(void)
{
    return (struct cw_notify_config){
        .max_packet_size = 1024, .early_packets = 32, .max_missing = 3};
}

const char *cw_notify_config_error_field(const struct cw_notify_config *config)
{
    if (!config)
        return NULL;
    if (config->first_sequence >= CW_NOTIFY_SEQUENCES)
        return "first_sequence";
    if (config->first_peer_sequence >= CW_NOTIFY_SEQUENCES)
        return "first_peer_sequence";
    if (config->max_packet_size < 1 || config->max_packet_size > 65000)
        return "max_packet_size";
    if (config->early_packets < 1 || config->early_packets > 256)
        return "early_packets";
    return config->max_missing > config->early_packets ? "max_missing" : NULL;
}

static struct cw_notify *lay_out(struct cw_arena *arena, const struct cw_notify_config *config)
{
    struct cache cache;
    struct cw_notify *notify = cw_arena_take(arena, sizeof *notify);
    uint8_t *payload = cw_arena_take(arena, config->max_packet_size);
    lay_out_cache(&cache, arena, config->early_packets, config->max_missing,
                  config->max_packet_size + CW_NOTIFY_HEADER_SIZE);
    if (notify) {
        notify->config = *config;
        notify->memory = arena->size;
        notify->payload = payload;
        notify->cache = cache;
    }
    return notify;
}

size_t cw_notify_memory(const struct cw_notify_config *config)
{
    struct cw_arena arena = {0};
    if (!config || cw_notify_config_error_field(config))
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_protocol_error cw_notify_create(const struct cw_notify_config *config,
                                        struct cw_notify **notify)
{
    if (!config || !notify)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (cw_notify_config_error_field(config))
        return CW_PROTOCOL_ERROR_CONFIG;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_notify_memory(config));
    if (!arena.base)
        return CW_PROTOCOL_ERROR_NO_MEMORY;
    *notify = lay_out(&arena, config);
    cw_notify_reset(*notify);
    return CW_PROTOCOL_OK;
}

void cw_notify_destroy(struct cw_notify *notify)
{
    if (!notify)
        return;
    const struct cw_allocator allocator = notify->config.allocator;
    cw_release(&allocator, notify, notify->memory);
}

void cw_notify_reset(struct cw_notify *notify)
{
    if (!notify)
        return;
    notify->next = notify->config.first_sequence;
    notify->newest_settled = notify->newest_taken = cw_notify_after(notify->next, -1);
    notify->pending = false;
    notify->last = cw_notify_after(notify->config.first_peer_sequence, -1);
    notify->acked = notify->known = notify->delivered = notify->last;
    notify->refusable = false;
    notify->history = (struct cw_notify_history){0};
    clear_cache(&notify->cache);
    notify->stats = (struct cw_notify_stats){0};
}

uint16_t cw_notify_next_sequence(const struct cw_notify *notify)
{
    return notify ? notify->next : 0;
}

uint32_t cw_notify_room(const struct cw_notify *notify)
{
    if (!notify)
        return 0;
    return CW_NOTIFY_WINDOW + 1 - cw_notify_ahead(notify->next, notify->newest_taken);
}

enum cw_protocol_error cw_notify_send(struct cw_notify *notify, const uint8_t *payload, size_t size,
                                      uint16_t *sequence)
{
    if (!notify || (!payload && size))
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (size > notify->config.max_packet_size)
        return CW_PROTOCOL_ERROR_TOO_LARGE;
    if (notify->pending)
        return CW_PROTOCOL_ERROR_TRANSMIT_PENDING;
    if (!cw_notify_room(notify))
        return CW_PROTOCOL_ERROR_EVENTS_PENDING;
    if (size)
        memcpy(notify->payload, payload, size);
    notify->payload_size = size;
    notify->pending = true;
    notify->acked_with[notify->next % PLACES] = notify->acked;
    if (sequence)
        *sequence = notify->next;
    notify->next = cw_notify_after(notify->next, 1);
    notify->refusable = false;
    notify->stats.packets_sent++;
    return CW_PROTOCOL_OK;
}

/* Returns the number of packets whose fate the next history has to tell. */
static uint32_t history_size(const struct cw_notify *notify)
{
    return cw_notify_ahead(notify->acked, notify->known);
}

size_t cw_notify_transmit(struct cw_notify *notify, uint8_t *out, size_t capacity)
{
    if (!notify || !out || !notify->pending ||
        capacity < CW_NOTIFY_HEADER_SIZE + (size_t)notify->config.max_packet_size)
        return 0;
    const uint32_t words = (history_size(notify) + 31) / 32;
    const struct cw_notify_header header = {.sequence = cw_notify_after(notify->next, -1),
                                            .acked = notify->acked,
                                            .words = words ? words : 1,
                                            .history = notify->history};
    const size_t header_size = cw_notify_header_write(&header, out);
    memcpy(out + header_size, notify->payload, notify->payload_size);
    notify->pending = false;
    notify->refusable = false;
    return header_size + notify->payload_size;
}

/* Returns whether a header acks nothing that was acked before or was not sent. */
static bool acks_valid(const struct cw_notify *notify, const struct cw_notify_header *header)
{
    return cw_notify_ahead(header->acked, notify->newest_settled) <
           cw_notify_ahead(notify->next, notify->newest_settled);
}

enum cw_protocol_error cw_notify_receive(struct cw_notify *notify, const uint8_t *data, size_t size)
{
    if (!notify || !data)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    struct cw_notify_header header;
    const size_t header_size = cw_notify_header_read(data, size, &header);
    enum cw_protocol_error error = CW_PROTOCOL_OK;
    if (!header_size || size - header_size > notify->config.max_packet_size)
        error = CW_PROTOCOL_ERROR_MALFORMED;
    else if (!cw_notify_newer(header.sequence, notify->last))
        error = CW_PROTOCOL_ERROR_STALE;
    else if (!acks_valid(notify, &header))
        error = CW_PROTOCOL_ERROR_MALFORMED;
    else
        error = add_to_cache(&notify->cache, notify->last, header.sequence, data, size);
    notify->refusable = false;
    notify->stats.packets_malformed += error == CW_PROTOCOL_ERROR_MALFORMED;
    notify->stats.packets_stale +=
        error == CW_PROTOCOL_ERROR_STALE || error == CW_PROTOCOL_ERROR_DUPLICATE;
    return error;
}

void cw_notify_update(struct cw_notify *notify)
{
    if (!notify)
        return;
    release_cache(&notify->cache);
    notify->refusable = false;
}

/* Notes that a packet that told all fates up to acked was delivered. If acked is older than known,
   this changes nothing. */
static void know(struct cw_notify *notify, uint16_t acked)
{
    if (cw_notify_ahead(acked, notify->known) <= history_size(notify))
        notify->known = acked;
}

/* Learns the fates that a header tells. */
static void settle(struct cw_notify *notify, const struct cw_notify_header *header)
{
    uint32_t age = cw_notify_ahead(header->acked, notify->newest_settled);
    while (age-- > 0) {
        notify->newest_settled = cw_notify_after(notify->newest_settled, 1);
        const uint32_t place = notify->newest_settled % PLACES;
        if (cw_notify_history_has(&header->history, age)) {
            cw_bit_set(notify->fates, place);
            know(notify, notify->acked_with[place]);
        } else {
            cw_bit_clear(notify->fates, place);
        }
    }
}

static bool tell_fate(struct cw_notify *notify, struct cw_notify_event *event)
{
    if (notify->newest_taken == notify->newest_settled)
        return false;
    notify->newest_taken = cw_notify_after(notify->newest_taken, 1);
    const uint32_t place = notify->newest_taken % PLACES;
    const bool acked = notify->fates[place / 64] >> place % 64 & 1;
    *event = (struct cw_notify_event){.type = acked ? CW_NOTIFY_EVENT_ACK : CW_NOTIFY_EVENT_NAK,
                                      .sequence = notify->newest_taken};
    notify->stats.packets_acked += acked;
    notify->stats.packets_nakked += !acked;
    return true;
}

/* Adds the fates up to sequence, all lost. */
static void lose_up_to(struct cw_notify *notify, uint16_t sequence)
{
    cw_notify_history_advance(&notify->history, cw_notify_ahead(sequence, notify->acked));
    notify->acked = sequence;
}

/* Returns whether the history can tell the packet's fate without losing that of one that was
   delivered. When the other end waits for us as well, fates that were not told are given up. */
static bool fits(struct cw_notify *notify, const struct cw_notify_header *header)
{
    if (cw_notify_ahead(header->sequence, notify->known) <= CW_NOTIFY_HISTORY)
        return true;
    if (cw_notify_newer(notify->delivered, notify->known) && header->words < CW_NOTIFY_WORDS)
        return false;
    notify->known = cw_notify_after(header->sequence, -1);
    return true;
}

/* Delivers a packet, or lets it be lost for want of history. */
static bool deliver(struct cw_notify *notify, const struct cw_notify_header *header)
{
    notify->last = header->sequence;
    if (!fits(notify, header)) {
        lose_up_to(notify, cw_notify_after(notify->known, CW_NOTIFY_HISTORY));
        notify->stats.packets_overflowed++;
        return false;
    }
    lose_up_to(notify, header->sequence);
    notify->history.words[0] |= 1;
    notify->delivered = header->sequence;
    notify->refusable = true;
    notify->stats.packets_delivered++;
    return true;
}

bool cw_notify_next(struct cw_notify *notify, struct cw_notify_event *event)
{
    if (!notify || !event)
        return false;
    notify->refusable = false;
    const struct cached *packet;
    const uint8_t *data;
    while ((packet = first_in_cache(&notify->cache, notify->last, &data)) != NULL) {
        struct cw_notify_header header;
        const size_t size = packet->size;
        const size_t header_size = cw_notify_header_read(data, size, &header);
        const bool valid = acks_valid(notify, &header);
        if (valid)
            settle(notify, &header); /* changes nothing when these fates were settled before */
        if (tell_fate(notify, event))
            return true;
        drop_from_cache(&notify->cache);
        notify->stats.packets_malformed += !valid;
        if (!valid || !deliver(notify, &header))
            continue;
        *event = (struct cw_notify_event){.type = CW_NOTIFY_EVENT_PACKET,
                                          .sequence = header.sequence,
                                          .payload = data + header_size,
                                          .size = size - header_size};
        return true;
    }
    return false;
}

void cw_notify_refuse(struct cw_notify *notify)
{
    if (!notify || !notify->refusable)
        return;
    notify->history.words[0] &= ~(uint32_t)1;
    notify->refusable = false;
    notify->stats.packets_delivered--;
}

void cw_notify_get_stats(const struct cw_notify *notify, struct cw_notify_stats *stats)
{
    if (!notify || !stats)
        return;
    *stats = notify->stats;
    stats->packets_early = notify->cache.count;
    stats->history_size = history_size(notify);
}
