#include "os/deadlines.h"

#include <stdlib.h>

static void put(struct deadlines *deadlines, size_t place, struct deadline *entry)
{
    deadlines->heap[place - 1] = entry;
    entry->place = place;
}

static struct deadline *at(const struct deadlines *deadlines, size_t place)
{
    return deadlines->heap[place - 1];
}

/* Moves an entry to the place in the heap that its time gives it. */
static void settle(struct deadlines *deadlines, struct deadline *entry)
{
    size_t place = entry->place;
    while (place > 1 && at(deadlines, place / 2)->time > entry->time) {
        put(deadlines, place, at(deadlines, place / 2));
        place /= 2;
    }
    for (size_t child; (child = place * 2) <= deadlines->count; place = child) {
        if (child < deadlines->count && at(deadlines, child + 1)->time < at(deadlines, child)->time)
            child++;
        if (at(deadlines, child)->time >= entry->time)
            break;
        put(deadlines, place, at(deadlines, child));
    }
    put(deadlines, place, entry);
}

bool deadlines_reserve(struct deadlines *deadlines, size_t capacity)
{
    *deadlines = (struct deadlines){.heap = calloc(capacity, sizeof(struct deadline *))};
    return deadlines->heap != NULL;
}

void deadlines_set(struct deadlines *deadlines, struct deadline *entry, double time)
{
    entry->time = time;
    if (entry->place == 0)
        put(deadlines, ++deadlines->count, entry);
    settle(deadlines, entry);
}

void deadlines_remove(struct deadlines *deadlines, struct deadline *entry)
{
    const size_t place = entry->place;
    if (place == 0)
        return;
    struct deadline *last = at(deadlines, deadlines->count--);
    entry->place = 0;
    if (last == entry)
        return;
    put(deadlines, place, last);
    settle(deadlines, last);
}

struct deadline *deadlines_first(const struct deadlines *deadlines)
{
    return deadlines->count > 0 ? deadlines->heap[0] : NULL;
}

void deadlines_set_all(struct deadlines *deadlines, double time)
{
    for (size_t i = 0; i < deadlines->count; i++)
        deadlines->heap[i]->time = time;
}

void deadlines_free(struct deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct deadlines){0};
}
