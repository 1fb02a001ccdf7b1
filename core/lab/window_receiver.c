#include "lab/window_internal.h"

#include <math.h>
#include <string.h>

void cw_window_receiver_layout(struct cw_window_receiver *r, struct cw_arena *arena,
                               const struct cw_window_config *config)
{
    r->buffer = cw_arena_take(arena, config->receive_buffer_bytes);
    r->early = cw_arena_take(arena, config->max_segments * sizeof *r->early);
}

void cw_window_receiver_init(struct cw_window_receiver *r, const struct cw_window_config *config)
{
    *r = (struct cw_window_receiver){
        .config = config,
        .buffer = r->buffer,
        .early = r->early,
        .read = config->first_sequence,
        .next = config->first_sequence,
        .advertised_end = config->first_sequence + config->receive_buffer_bytes,
        .ack_due = INFINITY,
    };
}

/* Returns the step by which the window opens: a smaller one would ask for small segments. */
static uint32_t opening(const struct cw_window_receiver *r)
{
    const uint32_t half = (r->config->receive_buffer_bytes + 1) / 2;
    const uint32_t segments = 2 * r->config->max_segment_size;
    return half < segments ? half : segments;
}

static uint32_t window_end(const struct cw_window_receiver *r)
{
    return r->read + r->config->receive_buffer_bytes;
}

static void copy_in(struct cw_window_receiver *r, uint32_t sequence, const uint8_t *data,
                    uint32_t size)
{
    const uint32_t capacity = r->config->receive_buffer_bytes;
    const uint32_t place = (r->head + (sequence - r->read)) % capacity;
    const uint32_t first = size < capacity - place ? size : capacity - place;
    memcpy(r->buffer + place, data, first);
    memcpy(r->buffer, data + first, size - first);
}

/* Adds a range beyond the first gap to those that came early, of which it may join several. Returns
   false when there are too many. */
static bool add_early(struct cw_window_receiver *r, struct cw_window_range range)
{
    uint32_t from = 0;
    while (from < r->early_count && cw_window_ahead(range.begin, r->early[from].range.end) > 0)
        from++;
    uint32_t to = from;
    for (; to < r->early_count && cw_window_ahead(range.end, r->early[to].range.begin) >= 0; to++) {
        const struct cw_window_range *other = &r->early[to].range;
        if (cw_window_ahead(range.begin, other->begin) > 0)
            range.begin = other->begin;
        if (cw_window_ahead(other->end, range.end) > 0)
            range.end = other->end;
    }
    if (from == to && r->early_count == r->config->max_segments)
        return false;
    memmove(&r->early[from + 1], &r->early[to], (r->early_count - to) * sizeof *r->early);
    r->early[from] = (struct cw_window_early){range, ++r->changes};
    r->early_count = r->early_count - (to - from) + 1;
    return true;
}

/* Takes the ranges over that the bytes in order have reached. */
static void join_early(struct cw_window_receiver *r)
{
    uint32_t joined = 0;
    while (joined < r->early_count && cw_window_ahead(r->next, r->early[joined].range.begin) >= 0) {
        if (cw_window_ahead(r->early[joined].range.end, r->next) > 0)
            r->next = r->early[joined].range.end;
        joined++;
    }
    r->early_count -= joined;
    memmove(r->early, r->early + joined, r->early_count * sizeof *r->early);
}

enum cw_protocol_error cw_window_receiver_take(struct cw_window_receiver *r, uint32_t sequence,
                                               const uint8_t *data, uint32_t size, double now)
{
    const uint32_t end = sequence + size;
    enum cw_protocol_error error = CW_PROTOCOL_OK;
    if (cw_window_ahead(end, r->next) <= 0)
        error = CW_PROTOCOL_ERROR_DUPLICATE;
    else if (cw_window_ahead(end, r->advertised_end) > 0)
        error = CW_PROTOCOL_ERROR_QUEUE_FULL;
    else if (cw_window_ahead(sequence, r->next) > 0 &&
             !add_early(r, (struct cw_window_range){sequence, end}))
        error = CW_PROTOCOL_ERROR_QUEUE_FULL;
    if (error != CW_PROTOCOL_OK) {
        r->acks_owed++;
        return error;
    }
    const int32_t known = cw_window_ahead(r->next, sequence);
    const uint32_t skipped = known > 0 ? (uint32_t)known : 0;
    copy_in(r, sequence + skipped, data + skipped, size - skipped);
    if (known < 0) {
        r->acks_owed++;
        return CW_PROTOCOL_OK;
    }
    const bool fills_gap = r->early_count > 0;
    r->next = end;
    join_early(r);
    r->unacked += size - skipped;
    if (fills_gap || r->unacked > r->config->max_segment_size)
        r->ack_due = now;
    else if (r->ack_due > now + r->config->ack_delay_seconds)
        r->ack_due = now + r->config->ack_delay_seconds;
    return CW_PROTOCOL_OK;
}

void cw_window_receiver_answer(struct cw_window_receiver *r)
{
    r->acks_owed++;
}

size_t cw_window_receiver_read(struct cw_window_receiver *r, uint8_t *out, size_t capacity)
{
    const uint32_t there = r->next - r->read;
    const uint32_t size = capacity < there ? (uint32_t)capacity : there;
    const uint32_t to_end = r->config->receive_buffer_bytes - r->head;
    const uint32_t first = size < to_end ? size : to_end;
    if (size == 0)
        return 0;
    memcpy(out, r->buffer + r->head, first);
    memcpy(out + first, r->buffer, size - first);
    r->head = (r->head + size) % r->config->receive_buffer_bytes;
    r->read += size;
    /* An ack is due when the window has opened far enough, because the other end may have stopped
       at its end. */
    if (r->advertised_end - r->next < opening(r) && window_end(r) - r->advertised_end >= opening(r))
        r->ack_due = -INFINITY;
    return size;
}

bool cw_window_receiver_due(const struct cw_window_receiver *r, double now)
{
    return r->ack_due <= now;
}

/* Fills in the ranges that changed last, the last one first. When several acks are owed, each names
   the ranges that had come by the time of the segment that it answers. Otherwise all would name the
   same three. */
static void tell_ranges(const struct cw_window_receiver *r, struct cw_window_header *header)
{
    uint64_t below = r->acks_owed < r->changes ? r->changes - r->acks_owed + 1 : 1;
    while (header->range_count < CW_WINDOW_RANGES) {
        const struct cw_window_early *latest = NULL;
        for (uint32_t i = 0; i < r->early_count; i++) {
            const struct cw_window_early *early = &r->early[i];
            if (early->changed < below && (!latest || early->changed > latest->changed))
                latest = early;
        }
        if (!latest)
            break;
        header->ranges[header->range_count++] = latest->range;
        below = latest->changed;
    }
}

void cw_window_receiver_ack(struct cw_window_receiver *r, struct cw_window_header *header)
{
    if (window_end(r) - r->advertised_end >= opening(r))
        r->advertised_end = window_end(r);
    header->ack = r->next;
    header->window = r->advertised_end - r->next;
    header->range_count = 0;
    if (r->config->selective_acks)
        tell_ranges(r, header);
    r->unacked = 0;
    r->ack_due = INFINITY;
}
