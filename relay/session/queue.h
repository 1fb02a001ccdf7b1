/* This queue has the frames that wait for a slow connection. It bounds their bytes and their age,
   and drops the oldest first. */
#ifndef CAUSEWAY_RELAY_QUEUE_H
#define CAUSEWAY_RELAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A queue. Zero it except for the two bounds. It has no memory until something waits, nor after
   queue_free. */
struct queue {
    size_t limit_bytes; /* the most bytes of all waiting frames */
    double limit_age_seconds;
    uint8_t *bytes; /* the frames one after another, from `head` on */
    size_t capacity;
    size_t head;
    size_t used;
    struct queue_entry *entries; /* the sizes and times of the frames, a ring of a power of two */
    size_t entry_capacity;
    size_t first;
    size_t count;
};

struct queue_entry {
    double time;
    size_t size;
};

/* The frames that one call has dropped. */
struct queue_drops {
    unsigned age;
    unsigned bytes;
};

/* Makes room by dropping the oldest frames, then copies the frame. A frame that is larger than the
   bound, or for which there is no memory, is itself dropped and counted in drops->bytes. */
void queue_push(struct queue *queue, const uint8_t *frame, size_t size, double now,
                struct queue_drops *drops);

/* Drops every frame that has waited longer than limit_age_seconds. */
void queue_expire(struct queue *queue, double now, struct queue_drops *drops);

/* Finds the oldest whole frames that lie side by side within `most` bytes, but at least one frame.
   Returns their size, and their number in *frames. The bytes stay valid until the next call.
   Returns 0 when the queue is empty. */
size_t queue_peek(const struct queue *queue, size_t most, const uint8_t **bytes, size_t *frames);

/* Return when a waiting frame was pushed, and its size; counted from the oldest. */
double queue_time(const struct queue *queue, size_t index);
size_t queue_size(const struct queue *queue, size_t index);

/* Removes this many frames. */
void queue_pop(struct queue *queue, size_t frames);

/* Frees the memory of the queue, and the frames that waited in it. */
void queue_free(struct queue *queue);

#endif
