/* Many deadlines, with the earliest at hand: a binary heap whose entries are embedded in their
   owners. */
#ifndef CAUSEWAY_RELAY_DEADLINES_H
#define CAUSEWAY_RELAY_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>

struct deadline {
    double time;
    size_t place; /* the place in the heap, from 1 on; 0 = not in it */
};

struct deadlines {
    struct deadline **heap;
    size_t count;
};

/* Creates an empty heap with room for this many entries. Returns false when there is no memory. */
bool deadlines_reserve(struct deadlines *deadlines, size_t capacity);

/* Adds an entry, or moves it. */
void deadlines_set(struct deadlines *deadlines, struct deadline *entry, double time);

/* Moves all entries to the same time. */
void deadlines_set_all(struct deadlines *deadlines, double time);

/* Removes an entry, which need not be in the heap. */
void deadlines_remove(struct deadlines *deadlines, struct deadline *entry);

/* Returns the earliest entry; NULL when there is none. */
struct deadline *deadlines_first(const struct deadlines *deadlines);

/* Frees the heap, not the entries. */
void deadlines_free(struct deadlines *deadlines);

#endif
