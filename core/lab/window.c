#include "lab/window.h"

#include "base/little_endian.h"
#include "lab/window_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#define MAX_BUFFER       (UINT32_C(1) << 30)
#define MAX_SEGMENT_SIZE 65000
#define MAX_SEGMENTS     65536
#define MAX_RTO          3600
#define MAX_ACK_DELAY    0.5

/* Masks of the bits in a header's first byte. */
#define COUNT_BITS 0x03
#define PROBE_BIT  0x80

static_assert(CW_WINDOW_OVERHEAD == CW_WINDOW_HEADER_MAX, "the public name of the same size");

struct cw_window {
    struct cw_window_config config;
    size_t memory;
    struct cw_window_sender sender;
    struct cw_window_receiver receiver;
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t datagrams_malformed;
    uint64_t bytes_sent;
    uint64_t bytes_received;
};

struct cw_window_config cw_window_config_default(void)
{
    return (struct cw_window_config){
        .receive_buffer_bytes = 262144,
        .selective_acks = true,
        .max_segment_size = 1160,
        .send_buffer_bytes = 262144,
        .max_segments = 1024,
        .control = CW_WINDOW_CUBIC,
        .initial_window = 10,
        .initial_rto_seconds = 1,
        .min_variance_seconds = 0.2,
        .max_rto_seconds = 120,
        .ack_delay_seconds = 0.04,
    };
}

static bool within(uint32_t value, uint32_t most)
{
    return value >= 1 && value <= most;
}

static bool between(double value, double least, double most)
{
    return value >= least && value <= most; /* false for NaN */
}

const char *cw_window_config_error_field(const struct cw_window_config *config)
{
    if (!config)
        return NULL;
    if (!within(config->max_segment_size, MAX_SEGMENT_SIZE))
        return "max_segment_size";
    if (!within(config->send_buffer_bytes, MAX_BUFFER))
        return "send_buffer_bytes";
    if (!within(config->receive_buffer_bytes, MAX_BUFFER))
        return "receive_buffer_bytes";
    if (!within(config->max_segments, MAX_SEGMENTS))
        return "max_segments";
    if (!within(config->initial_window, config->max_segments))
        return "initial_window";
    if (config->control != CW_WINDOW_RENO && config->control != CW_WINDOW_CUBIC)
        return "control";
    if (!between(config->initial_rto_seconds, DBL_MIN, MAX_RTO))
        return "initial_rto_seconds";
    if (!between(config->min_variance_seconds, DBL_MIN, MAX_RTO))
        return "min_variance_seconds";
    if (!between(config->max_rto_seconds, config->initial_rto_seconds, MAX_RTO))
        return "max_rto_seconds";
    return between(config->ack_delay_seconds, 0, MAX_ACK_DELAY) ? NULL : "ack_delay_seconds";
}

size_t cw_window_header_write(const struct cw_window_header *header, uint8_t *out)
{
    uint8_t *at = out;
    *at++ = (uint8_t)(header->range_count | (header->probe ? PROBE_BIT : 0));
    cw_little_endian_put(&at, header->sequence, 4);
    cw_little_endian_put(&at, header->ack, 4);
    cw_little_endian_put(&at, header->window, 4);
    for (uint32_t i = 0; i < header->range_count; i++) {
        cw_little_endian_put(&at, header->ranges[i].begin, 4);
        cw_little_endian_put(&at, header->ranges[i].end, 4);
    }
    return (size_t)(at - out);
}

static bool read_range(const uint8_t **at, uint32_t ack, struct cw_window_range *range)
{
    range->begin = (uint32_t)cw_little_endian_get(at, 4);
    range->end = (uint32_t)cw_little_endian_get(at, 4);
    return cw_window_ahead(range->begin, ack) > 0 && cw_window_ahead(range->end, ack) > 0 &&
           cw_window_ahead(range->end, range->begin) > 0;
}

size_t cw_window_header_read(const uint8_t *data, size_t size, struct cw_window_header *header)
{
    const uint8_t *at = data;
    if (size < CW_WINDOW_HEADER_SIZE || *at & ~(COUNT_BITS | PROBE_BIT))
        return 0;
    header->range_count = *at & COUNT_BITS;
    header->probe = *at & PROBE_BIT;
    const size_t header_size = CW_WINDOW_HEADER_SIZE + 8 * (size_t)header->range_count;
    at++;
    header->sequence = (uint32_t)cw_little_endian_get(&at, 4);
    header->ack = (uint32_t)cw_little_endian_get(&at, 4);
    header->window = (uint32_t)cw_little_endian_get(&at, 4);
    if (size < header_size || header->window > MAX_BUFFER)
        return 0;
    for (uint32_t i = 0; i < header->range_count; i++)
        if (!read_range(&at, header->ack, &header->ranges[i]))
            return 0;
    return header_size;
}

static struct cw_window *lay_out(struct cw_arena *arena, const struct cw_window_config *config)
{
    struct cw_window measured = {0};
    struct cw_window *window = cw_arena_take(arena, sizeof *window);
    struct cw_window *target = window ? window : &measured;
    cw_window_sender_layout(&target->sender, arena, config);
    cw_window_receiver_layout(&target->receiver, arena, config);
    return window;
}

size_t cw_window_memory(const struct cw_window_config *config)
{
    struct cw_arena arena = {0};
    if (!config || cw_window_config_error_field(config))
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_protocol_error cw_window_create(const struct cw_window_config *config,
                                        struct cw_window **window)
{
    if (!config || !window)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (cw_window_config_error_field(config))
        return CW_PROTOCOL_ERROR_CONFIG;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_window_memory(config));
    if (!arena.base)
        return CW_PROTOCOL_ERROR_NO_MEMORY;
    struct cw_window *w = lay_out(&arena, config);
    w->config = *config;
    w->memory = arena.size;
    cw_window_reset(w);
    *window = w;
    return CW_PROTOCOL_OK;
}

void cw_window_destroy(struct cw_window *window)
{
    if (!window)
        return;
    const struct cw_allocator allocator = window->config.allocator;
    cw_release(&allocator, window, window->memory);
}

void cw_window_reset(struct cw_window *window)
{
    if (!window)
        return;
    cw_window_sender_init(&window->sender, &window->config);
    cw_window_receiver_init(&window->receiver, &window->config);
    window->datagrams_sent = window->datagrams_received = window->datagrams_malformed = 0;
    window->bytes_sent = window->bytes_received = 0;
}

enum cw_protocol_error cw_window_send(struct cw_window *window, const uint8_t *data, size_t size,
                                      double now, size_t *taken)
{
    if (!window || !data || size == 0 || !isfinite(now) || !taken)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    const size_t added = cw_window_sender_add(&window->sender, data, size, now);
    if (added == 0)
        return CW_PROTOCOL_ERROR_QUEUE_FULL;
    *taken = added;
    return CW_PROTOCOL_OK;
}

size_t cw_window_room(const struct cw_window *window)
{
    if (!window)
        return 0;
    return window->config.send_buffer_bytes - (window->sender.end - window->sender.acked);
}

enum cw_protocol_error cw_window_receive(struct cw_window *window, const uint8_t *data, size_t size,
                                         double now)
{
    struct cw_window_header header;
    if (!window || (!data && size > 0) || !isfinite(now))
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    window->datagrams_received++;
    window->bytes_received += size;
    const size_t header_size = cw_window_header_read(data, size, &header);
    const size_t payload = size - header_size;
    if (header_size == 0 || payload > UINT16_MAX ||
        !cw_window_sender_knows(&window->sender, &header)) {
        window->datagrams_malformed++;
        return CW_PROTOCOL_ERROR_MALFORMED;
    }
    cw_window_sender_acked(&window->sender, &header, payload == 0 && !header.probe, now);
    if (header.probe)
        cw_window_receiver_answer(&window->receiver);
    if (payload == 0)
        return CW_PROTOCOL_OK;
    return cw_window_receiver_take(&window->receiver, header.sequence, data + header_size,
                                   (uint32_t)payload, now);
}

void cw_window_update(struct cw_window *window, double now)
{
    if (window && isfinite(now))
        cw_window_sender_update(&window->sender, now);
}

/* Writes a datagram: the header, after filling in the acks, and size bytes of the stream. */
static size_t write_datagram(struct cw_window *window, struct cw_window_header *header,
                             uint32_t size, uint8_t *out)
{
    cw_window_receiver_ack(&window->receiver, header);
    const size_t header_size = cw_window_header_write(header, out);
    if (size > 0)
        cw_window_sender_copy(&window->sender, header->sequence, size, out + header_size);
    window->datagrams_sent++;
    window->bytes_sent += header_size + size;
    return header_size + size;
}

size_t cw_window_transmit(struct cw_window *window, uint8_t *out, size_t capacity, double now)
{
    if (!window || !out || !isfinite(now) ||
        capacity < CW_WINDOW_OVERHEAD + (size_t)window->config.max_segment_size)
        return 0;
    struct cw_window_sender *sender = &window->sender;
    struct cw_window_receiver *receiver = &window->receiver;
    struct cw_window_header header = {.sequence = sender->next};
    uint32_t size = 0;
    if (receiver->acks_owed > 0) {
        receiver->acks_owed--;
    } else if (!cw_window_sender_pick(sender, now, &header.sequence, &size)) {
        header.probe = cw_window_sender_probe(sender);
        if (!header.probe && !cw_window_receiver_due(receiver, now))
            return 0;
    }
    return write_datagram(window, &header, size, out);
}

size_t cw_window_read(struct cw_window *window, uint8_t *out, size_t capacity)
{
    if (!window || !out)
        return 0;
    return cw_window_receiver_read(&window->receiver, out, capacity);
}

void cw_window_get_stats(const struct cw_window *window, struct cw_window_stats *stats)
{
    if (!window || !stats)
        return;
    const struct cw_window_sender *sender = &window->sender;
    const struct cw_window_receiver *receiver = &window->receiver;
    const uint32_t unsent = sender->end - sender->next;
    *stats = (struct cw_window_stats){
        .datagrams_sent = window->datagrams_sent,
        .datagrams_received = window->datagrams_received,
        .datagrams_malformed = window->datagrams_malformed,
        .bytes_sent = window->bytes_sent,
        .bytes_received = window->bytes_received,
        .segments_sent = sender->segments_sent,
        .segments_resent = sender->segments_resent,
        .recoveries = sender->recoveries,
        .timeouts = sender->timeouts,
        .window_probes = sender->probes,
        .rtt = sender->rto.rtt,
        .rto = cw_window_rto_seconds(&sender->rto),
        .timer_due = sender->timer,
        .cwnd = sender->congestion.cwnd,
        .ssthresh = sender->congestion.ssthresh,
        .segments_in_flight = sender->count,
        .bytes_queued = sender->end - sender->acked,
        .bytes_unsent = unsent,
        .send_window_bytes = sender->limit - sender->next,
        .bytes_missing_at = receiver->next,
        .ranges_early = receiver->early_count,
        .bytes_readable = receiver->next - receiver->read,
        .window_full =
            unsent > 0 && (sender->limit == sender->next || !cw_window_sender_has_room(sender)),
        .timed_out = sender->state == CW_WINDOW_TIMED_OUT,
    };
}
