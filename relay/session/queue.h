/* Frames that wait for a slow connection, bounded in bytes and in age, oldest dropped first. */
#ifndef CAUSEWAY_RELAY_QUEUE_H
#define CAUSEWAY_RELAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero it but for the two bounds. It has no memory until something waits, and after queue_free. */
struct queue {
    size_t limit_bytes; /* of all waiting frames */
    double limit_age_seconds;
    uint8_t *bytes; /* the frames, one after the other, from `head` on */
    size_t capacity;
    size_t head;
    size_t used;
    struct queue_entry *entries; /* their sizes and times, a ring of a power of two */
    size_t entry_capacity;
    size_t first;
    size_t count;
};

struct queue_entry {
    double time;
    size_t size;
};

/* What one call had to drop. */
struct queue_drops {
    unsigned age;
    unsigned bytes;
};

/* Makes room by dropping the oldest, then copies the frame in. A frame that fits in no queue of
   this bound, or finds no memory, is itself dropped and counted by bytes. */
void queue_push(struct queue *queue, const uint8_t *frame, size_t size, double now,
                struct queue_drops *drops);

/* Drops every frame that has waited longer than limit_age_seconds. */
void queue_expire(struct queue *queue, double now, struct queue_drops *drops);

/* The oldest whole frames that lie side by side in at most `most` bytes, but at least one frame.
   The bytes stay valid until the next call; 0 when the queue is empty. *frames tells how many. */
size_t queue_peek(const struct queue *queue, size_t most, const uint8_t **bytes, size_t *frames);

/* Takes that many frames out. */
void queue_pop(struct queue *queue, size_t frames);

/* Gives its memory back; what waited is gone. */
void queue_free(struct queue *queue);

#endif
