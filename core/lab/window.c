#include "causeway/lab/window.h"

#include "base/memory.h"
#include "causeway/lab/window_receiver.h"
#include "causeway/lab/window_sender.h"
#include "causeway/lab/window_wire.h"

#include <assert.h>
#include <math.h>

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
    if (cw_window_config_check(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_window_create(const struct cw_window_config *config, struct cw_window **window)
{
    const enum cw_error error = window ? cw_window_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_window_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_window *w = lay_out(&arena, config);
    w->config = *config;
    w->memory = arena.size;
    cw_window_reset(w);
    *window = w;
    return CW_OK;
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

enum cw_error cw_window_send(struct cw_window *window, const uint8_t *data, size_t size, double now,
                             size_t *taken)
{
    if (!window || !data || size == 0 || !isfinite(now) || !taken)
        return CW_ERROR_INVALID_ARGUMENT;
    const size_t added = cw_window_sender_add(&window->sender, data, size, now);
    if (added == 0)
        return CW_ERROR_QUEUE_FULL;
    *taken = added;
    return CW_OK;
}

size_t cw_window_room(const struct cw_window *window)
{
    if (!window)
        return 0;
    return window->config.send_buffer_bytes - (window->sender.end - window->sender.acked);
}

enum cw_error cw_window_receive(struct cw_window *window, const uint8_t *data, size_t size,
                                double now)
{
    struct cw_window_header header;
    if (!window || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    window->datagrams_received++;
    window->bytes_received += size;
    const size_t header_size = cw_window_header_read(data, size, &header);
    const size_t payload = size - header_size;
    if (header_size == 0 || payload > UINT16_MAX ||
        !cw_window_sender_knows(&window->sender, &header)) {
        window->datagrams_malformed++;
        return CW_ERROR_MALFORMED;
    }
    cw_window_sender_acked(&window->sender, &header, payload == 0 && !header.probe, now);
    if (header.probe)
        cw_window_receiver_answer(&window->receiver);
    if (payload == 0)
        return CW_OK;
    return cw_window_receiver_take(&window->receiver, header.sequence, data + header_size,
                                   (uint32_t)payload, now);
}

void cw_window_update(struct cw_window *window, double now)
{
    if (window && isfinite(now))
        cw_window_sender_update(&window->sender, now);
}

/* Writes a datagram of the header, into which the acks come, and size bytes of the stream. */
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

void cw_window_stats(const struct cw_window *window, struct cw_window_stats *stats)
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
