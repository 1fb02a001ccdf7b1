#include "packet/endpoint_internal.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "packet/sent_packets.h"

#include "causeway/record.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RATE_REFRESH_SECONDS 0.25
#define MAX_DATAGRAM_PAYLOAD 65507 /* bytes of a UDP datagram over IPv4 */

#define SENT_WINDOW 256 /* packets, by default */

struct cw_endpoint_config cw_endpoint_config_default(void)
{
    return (struct cw_endpoint_config){
        .max_packet_size = 4096,
        .fragment_size = 1024,
        .max_send_size = CW_AUTO,
        .fragment_above = 1024,
        .sent_window = SENT_WINDOW,
        .received_window = 256,
        .max_reassemblies = 4,
        .rtt_smoothing = 0.1,
        .min_loss_timeout_seconds = 0.1,
    };
}

static uint32_t sent_window_of(const struct cw_endpoint_config *config)
{
    return config->sent_window == CW_AUTO ? SENT_WINDOW : config->sent_window;
}

static uint32_t max_fragments(const struct cw_endpoint_config *config)
{
    return config->max_packet_size / config->fragment_size +
           (config->max_packet_size % config->fragment_size != 0);
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(max_packet_size, "must be from 1 to 256 times fragment_size")                            \
    OTHER(max_send_size, "must be from 1 to max_packet_size")                                      \
    RANGE(__VA_ARGS__, UINT, fragment_size, 1, 65493)                                              \
    RANGE(__VA_ARGS__, UINT, fragment_above, 1, 65493)                                             \
    RANGE(__VA_ARGS__, POWER, sent_window, CW_ACKS_PER_HEADER, 16384)                              \
    RANGE(__VA_ARGS__, POWER, received_window, CW_ACKS_PER_HEADER, 16384)                          \
    RANGE(__VA_ARGS__, UINT, max_reassemblies, 1, CW_REASSEMBLY_MAX_SLOTS)                         \
    RANGE(__VA_ARGS__, ABOVE, rtt_smoothing, 0, 1)                                                 \
    RANGE(__VA_ARGS__, REAL, min_loss_timeout_seconds, 0, 60)
CW_CONFIG_FIELDS(cw_endpoint_config, 0x1000, FIELDS, cw_endpoint_config_errors)

_Static_assert(CW_SEQUENCE_BUFFER_MAX_SIZE == 16384 && CW_REASSEMBLY_MAX_FRAGMENTS == 256 &&
                   MAX_DATAGRAM_PAYLOAD - CW_FRAGMENT_HEADER_SIZE - CW_PACKET_HEADER_MAX_SIZE ==
                       65493,
               "the limits above");

enum cw_error cw_endpoint_config_check(const struct cw_endpoint_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_endpoint_config checked = *config;
    checked.sent_window = sent_window_of(config);
    const enum cw_error error = CW_CHECK_FIELDS(&checked);
    if (error != CW_OK)
        return error;
    if (config->max_packet_size < 1 || max_fragments(config) > CW_REASSEMBLY_MAX_FRAGMENTS)
        return CW_FIELD_ERROR(max_packet_size);
    const uint32_t max_send_size = cw_endpoint_max_send_size(config);
    return max_send_size < 1 || max_send_size > config->max_packet_size
               ? CW_FIELD_ERROR(max_send_size)
               : CW_OK;
}

size_t cw_endpoint_config_max_datagram_size(const struct cw_endpoint_config *config)
{
    if (!config)
        return 0;
    const size_t max_send_size = cw_endpoint_max_send_size(config);
    if (max_send_size <= config->fragment_above)
        return CW_PACKET_HEADER_MAX_SIZE + max_send_size;
    const size_t whole = CW_PACKET_HEADER_MAX_SIZE + (size_t)config->fragment_above;
    const size_t fragment =
        CW_FRAGMENT_HEADER_SIZE + CW_PACKET_HEADER_MAX_SIZE + (size_t)config->fragment_size;
    return whole > fragment ? whole : fragment;
}

/* Takes every part from the arena. Returns NULL while measuring. */
static struct cw_endpoint *lay_out(struct cw_arena *arena, const struct cw_endpoint_config *config)
{
    const bool fragments =
        max_fragments(config) > 1 || config->max_packet_size > config->fragment_above;
    const uint32_t sent_window = sent_window_of(config);
    const uint32_t slots = fragments ? config->max_reassemblies : 0;
    struct cw_endpoint *e = cw_arena_take(arena, sizeof *e);
    uint32_t *events =
        cw_arena_take(arena, sizeof *events * CW_SENT_EVENTS_PER_PACKET * sent_window);
    const uint32_t longest = cw_endpoint_max_send_size(config);
    uint8_t *outgoing = longest > config->fragment_above ? cw_arena_take(arena, longest) : NULL;
    struct cw_reassembly *reassemblies = cw_arena_take(arena, sizeof *reassemblies * slots);
    uint8_t *payloads = cw_arena_take(arena, (size_t)config->max_packet_size * slots);
    struct cw_sent_packet *packets = cw_arena_take(arena, sizeof *packets * sent_window);
    uint32_t *sent = cw_arena_take(arena, sizeof *sent * sent_window);
    uint32_t *received = cw_arena_take(arena, sizeof *received * config->received_window);
    if (!e)
        return NULL;

    e->config = *config;
    e->config.max_send_size = longest;
    e->config.sent_window = sent_window;
    e->packet.type = CW_ENDPOINT_EVENT_PACKET;
    e->max_datagram_size = cw_endpoint_config_max_datagram_size(config);
    e->sent.window = (struct cw_sequence_buffer){.sequences = sent, .mask = sent_window - 1};
    e->sent.packets = packets;
    e->received.window =
        (struct cw_sequence_buffer){.sequences = received, .mask = config->received_window - 1};
    e->sent.events = events;
    e->sent.events_mask = CW_SENT_EVENTS_PER_PACKET * sent_window - 1;
    e->outgoing = outgoing;
    e->sent.rtt_smoothing = config->rtt_smoothing;
    e->sent.min_loss_timeout_seconds = config->min_loss_timeout_seconds;
    e->reassemblies.slots = reassemblies;
    e->reassemblies.capacity = slots;
    e->reassemblies.fragment_size = config->fragment_size;
    e->reassemblies.max_fragments = slots > 0 ? max_fragments(config) : 0;
    e->reassemblies.max_packet_size = config->max_packet_size;
    for (uint32_t i = 0; i < slots; i++)
        reassemblies[i].payload = payloads + (size_t)i * config->max_packet_size;
    return e;
}

size_t cw_endpoint_memory(const struct cw_endpoint_config *config)
{
    struct cw_arena arena = {0};
    if (cw_endpoint_config_check(config) != CW_OK)
        return 0;
    (void)lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_endpoint_create(const struct cw_endpoint_config *config,
                                 struct cw_endpoint **endpoint)
{
    const enum cw_error error =
        endpoint ? cw_endpoint_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_endpoint_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_endpoint *e = lay_out(&arena, config);
    cw_endpoint_reset(e);
    *endpoint = e;
    return CW_OK;
}

void cw_endpoint_destroy(struct cw_endpoint *endpoint)
{
    CW_ONE_THREAD_LAST(endpoint);
    if (!endpoint)
        return;
    if (cw_endpoint_is_recorded(endpoint))
        cw_endpoint_set_record(endpoint, NULL);
    const struct cw_allocator allocator = endpoint->config.allocator;
    cw_release(&allocator, endpoint, cw_endpoint_memory(&endpoint->config));
}

void cw_endpoint_reset(struct cw_endpoint *e)
{
    CW_ONE_THREAD(e);
    if (!e)
        return;
    if (cw_endpoint_is_recorded(e))
        cw_endpoint_record(e, CW_ENDPOINT_RESET, NULL, 0, -INFINITY);
    cw_sent_packets_reset(&e->sent);
    cw_received_packets_reset(&e->received);
    cw_reassemblies_reset(&e->reassemblies);
    e->begun = NULL;
    e->outgoing_fragments = e->outgoing_next = 0;
    e->packet_waits = e->packet_offered = false;
    e->packet_owner = NULL;
    e->rate_sent = e->rate_received = e->rate_acked = (struct cw_rate){0};
    e->rates_started = false;
    e->stats = (struct cw_endpoint_stats){0};
}

size_t cw_endpoint_max_datagram_size(const struct cw_endpoint *e)
{
    return e ? e->max_datagram_size : 0;
}

uint16_t cw_endpoint_next_sequence(const struct cw_endpoint *e)
{
    return e ? e->sent.window.next : 0;
}

/* Returns whether a call can be carried out at all: there is an endpoint, and now is a time. */
static bool can_run(const struct cw_endpoint *e, double now)
{
    return e && isfinite(now);
}

static inline void advance(struct cw_endpoint *e, double now)
{
    cw_sent_packets_update(&e->sent, now);
    if (!e->rates_started) {
        e->rates_started = true;
        e->rates_refreshed = now;
    }
    const double elapsed = now - e->rates_refreshed;
    if (elapsed >= RATE_REFRESH_SECONDS) {
        cw_rate_refresh(&e->rate_sent, e->stats.bytes_sent, elapsed);
        cw_rate_refresh(&e->rate_received, e->stats.bytes_received, elapsed);
        cw_rate_refresh(&e->rate_acked, e->sent.bytes_acked, elapsed);
        e->rates_refreshed = now;
    }
}

CW_OUTLINE static void advance_recorded(struct cw_endpoint *e, double now)
{
    advance(e, cw_endpoint_record(e, CW_ENDPOINT_UPDATE, NULL, 0, now));
}

void cw_endpoint_advance(struct cw_endpoint *e, double now)
{
    if (cw_endpoint_is_recorded(e))
        advance_recorded(e, now);
    else
        advance(e, now);
}

void cw_endpoint_update(struct cw_endpoint *e, double now)
{
    CW_ONE_THREAD(e);
    if (can_run(e, now))
        cw_endpoint_advance(e, now);
}

/* Sending */

enum cw_error cw_endpoint_begin(struct cw_endpoint *e, size_t size, uint8_t *out, size_t capacity,
                                uint8_t **payload)
{
    CW_ONE_THREAD(e);
    if (!e || !out || !payload)
        return CW_ERROR_INVALID_ARGUMENT;
    if (size > e->config.max_send_size)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (capacity < e->max_datagram_size)
        return CW_ERROR_BUFFER_TOO_SMALL;
    if (cw_endpoint_fragments_wait(e))
        return CW_ERROR_TRANSMIT_PENDING;
    if (!cw_sent_packets_have_room(&e->sent))
        return CW_ERROR_EVENTS_PENDING;
    *payload = cw_endpoint_begin_inline(e, size, out);
    return CW_OK;
}

size_t cw_endpoint_commit(struct cw_endpoint *e, size_t size, double now, uint16_t *sequence)
{
    CW_ONE_THREAD(e);
    if (!can_run(e, now) || !e->begun || size > e->begun_size)
        return 0;
    assert(cw_sent_packets_have_room(&e->sent)); /* since begin */
    if (sequence)
        *sequence = e->sent.window.next;
    return cw_endpoint_commit_inline(e, size, now);
}

size_t cw_endpoint_transmit(struct cw_endpoint *e, uint8_t *out, size_t capacity, double now)
{
    CW_ONE_THREAD(e);
    if (!can_run(e, now) || !out || !cw_endpoint_fragments_wait(e))
        return 0;
    assert(capacity >= e->max_datagram_size);
    if (capacity < e->max_datagram_size)
        return 0;
    if (cw_endpoint_is_recorded(e))
        cw_endpoint_record(e, CW_ENDPOINT_TRANSMIT, NULL, 0, now);
    const size_t written = cw_endpoint_write_fragment(e, out, (uint16_t)(e->sent.window.next - 1));
    cw_endpoint_count_datagram(e, e->outgoing_packet, written);
    return written;
}

/* Receiving */

enum cw_error cw_endpoint_count_refused(struct cw_endpoint *e, enum cw_error error)
{
    e->stats.packets_malformed += error == CW_ERROR_MALFORMED;
    e->stats.packets_stale += error == CW_ERROR_STALE;
    e->stats.packets_duplicate += error == CW_ERROR_DUPLICATE;
    return error;
}

enum cw_error cw_endpoint_receive(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                  double now)
{
    CW_ONE_THREAD(e);
    if (!can_run(e, now) || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (e->packet_waits)
        return CW_ERROR_EVENTS_PENDING;
    if (cw_endpoint_is_recorded(e))
        now = cw_endpoint_record(e, CW_ENDPOINT_RECEIVE, data, size, now);
    e->packet_offered = false;
    if (e->packet_owner)
        cw_endpoint_release_packet(e);
    e->stats.datagrams_received++;
    e->stats.bytes_received += size;
    if (size < CW_PACKET_HEADER_MIN_SIZE)
        return cw_endpoint_count_refused(e, CW_ERROR_MALFORMED);
    if (data[0] & CW_PACKET_PREFIX_FRAGMENT)
        return cw_endpoint_receive_fragment(e, data, size, now);
    struct cw_packet_header header;
    const size_t header_size = cw_packet_header_read(&header, data, size);
    if (header_size == 0 || size - header_size > e->config.max_packet_size)
        return cw_endpoint_count_refused(e, CW_ERROR_MALFORMED);
    const bool is_next = header.sequence == e->received.window.next; /* nearly every packet is */
    if (!is_next && cw_sequence_buffer_stale(&e->received.window, header.sequence))
        return cw_endpoint_count_refused(e, CW_ERROR_STALE);
    if (!is_next && cw_sequence_buffer_exists(&e->received.window, header.sequence))
        return cw_endpoint_count_refused(e, CW_ERROR_DUPLICATE);
    e->packet.payload = data + header_size;
    e->packet.size = size - header_size;
    cw_endpoint_offer(e, &header, now);
    return CW_OK;
}

bool cw_endpoint_next(struct cw_endpoint *e, struct cw_endpoint_event *event)
{
    CW_ONE_THREAD(e);
    if (!e || !event)
        return false;
    if (e->packet_waits) {
        *event = *cw_endpoint_next_packet(e);
        return true;
    }
    uint16_t sequence;
    bool acked;
    if (!cw_endpoint_next_fate(e, &sequence, &acked))
        return false;
    *event = (struct cw_endpoint_event){
        .type = acked ? CW_ENDPOINT_EVENT_ACKED : CW_ENDPOINT_EVENT_LOST, .sequence = sequence};
    return true;
}

void cw_endpoint_accept(struct cw_endpoint *e, uint16_t sequence)
{
    CW_ONE_THREAD(e);
    if (!e || !e->packet_offered || e->packet.sequence != sequence)
        return;
    e->packet_offered = false;
    cw_received_packets_accept(&e->received, e->packet.sequence);
    e->stats.packets_received++;
}

void cw_endpoint_get_stats(const struct cw_endpoint *e, struct cw_endpoint_stats *stats)
{
    if (!e || !stats)
        return;
    *stats = e->stats;
    stats->packets_acked = e->sent.acked;
    stats->packets_lost = e->sent.lost;
    stats->packets_missed = e->received.missed;
    stats->packets_abandoned = e->reassemblies.abandoned;
    stats->fragments_received = e->reassemblies.fragments;
    stats->rtt = e->sent.rtt.smoothed;
    stats->rtt_min = e->sent.rtt.min;
    stats->rtt_deviation = e->sent.rtt.deviation;
    stats->jitter = e->sent.rtt.jitter;
    stats->loss_sent = e->sent.loss;
    stats->loss_received = e->received.loss;
    stats->sent_bytes_per_second = e->rate_sent.bytes_per_second;
    stats->received_bytes_per_second = e->rate_received.bytes_per_second;
    stats->acked_bytes_per_second = e->rate_acked.bytes_per_second;
}
