#include "session/queue.h"

#include <stdlib.h>
#include <string.h>

static struct queue_entry *entry_at(const struct queue *queue, size_t index)
{
    return &queue->entries[(queue->first + index) & (queue->entry_capacity - 1)];
}

double queue_time(const struct queue *queue, size_t index)
{
    return entry_at(queue, index)->time;
}

size_t queue_size(const struct queue *queue, size_t index)
{
    return entry_at(queue, index)->size;
}

void queue_pop(struct queue *queue, size_t frames)
{
    for (; frames > 0 && queue->count > 0; frames--) {
        size_t size = entry_at(queue, 0)->size;
        queue->head += size;
        queue->used -= size;
        queue->first = (queue->first + 1) & (queue->entry_capacity - 1);
        queue->count--;
    }
    if (queue->count == 0)
        queue->head = 0;
}

void queue_expire(struct queue *queue, double now, struct queue_drops *drops)
{
    while (queue->count > 0 && now - entry_at(queue, 0)->time > queue->limit_age_seconds) {
        queue_pop(queue, 1);
        drops->age++;
    }
}

static bool reserve_entry(struct queue *queue)
{
    if (queue->count < queue->entry_capacity)
        return true;
    size_t capacity = queue->entry_capacity ? queue->entry_capacity * 2 : 16;
    struct queue_entry *entries = malloc(capacity * sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < queue->count; i++)
        entries[i] = *entry_at(queue, i);
    free(queue->entries);
    queue->entries = entries;
    queue->entry_capacity = capacity;
    queue->first = 0;
    return true;
}

/* Makes room for more bytes. The capacity is kept at twice the bytes that may wait, so that the
   frames are moved to the front only after that many bytes have gone through. */
static bool reserve_bytes(struct queue *queue, size_t size)
{
    if (queue->head + queue->used + size <= queue->capacity)
        return true;
    size_t needed = 2 * (queue->used + size);
    if (needed > queue->capacity) {
        size_t capacity = queue->capacity ? queue->capacity : 2048;
        while (capacity < needed)
            capacity *= 2;
        uint8_t *bytes = malloc(capacity);
        if (!bytes)
            return false;
        if (queue->used > 0)
            memcpy(bytes, queue->bytes + queue->head, queue->used);
        free(queue->bytes);
        queue->bytes = bytes;
        queue->capacity = capacity;
    } else {
        memmove(queue->bytes, queue->bytes + queue->head, queue->used);
    }
    queue->head = 0;
    return true;
}

void queue_push(struct queue *queue, const uint8_t *frame, size_t size, double now,
                struct queue_drops *drops)
{
    queue_expire(queue, now, drops);
    while (queue->count > 0 && queue->used + size > queue->limit_bytes) {
        queue_pop(queue, 1);
        drops->bytes++;
    }
    if (size > queue->limit_bytes || !reserve_entry(queue) || !reserve_bytes(queue, size)) {
        drops->bytes++;
        return;
    }
    memcpy(queue->bytes + queue->head + queue->used, frame, size);
    *entry_at(queue, queue->count) = (struct queue_entry){.time = now, .size = size};
    queue->used += size;
    queue->count++;
}

size_t queue_peek(const struct queue *queue, size_t most, const uint8_t **bytes, size_t *frames)
{
    size_t size = 0;
    *frames = 0;
    while (*frames < queue->count) {
        size_t next = entry_at(queue, *frames)->size;
        if (*frames > 0 && size + next > most)
            break;
        size += next;
        ++*frames;
    }
    *bytes = queue->count > 0 ? queue->bytes + queue->head : NULL;
    return size;
}

void queue_free(struct queue *queue)
{
    free(queue->bytes);
    free(queue->entries);
    *queue = (struct queue){.limit_bytes = queue->limit_bytes,
                            .limit_age_seconds = queue->limit_age_seconds};
}
