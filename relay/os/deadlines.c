#include "os/deadlines.h"

#include <stdlib.h>

static void put(struct deadlines *all, size_t place, struct deadline *entry)
{
    all->heap[place - 1] = entry;
    entry->place = place;
}

static struct deadline *at(const struct deadlines *all, size_t place)
{
    return all->heap[place - 1];
}

/* Moves an entry to the place in the heap that its time gives it. */
static void settle(struct deadlines *all, struct deadline *entry)
{
    size_t place = entry->place;
    while (place > 1 && at(all, place / 2)->time > entry->time) {
        put(all, place, at(all, place / 2));
        place /= 2;
    }
    for (size_t child; (child = place * 2) <= all->count; place = child) {
        if (child < all->count && at(all, child + 1)->time < at(all, child)->time)
            child++;
        if (at(all, child)->time >= entry->time)
            break;
        put(all, place, at(all, child));
    }
    put(all, place, entry);
}

bool deadlines_reserve(struct deadlines *all, size_t capacity)
{
    *all = (struct deadlines){.heap = calloc(capacity, sizeof(struct deadline *))};
    return all->heap != NULL;
}

void deadlines_set(struct deadlines *all, struct deadline *entry, double time)
{
    entry->time = time;
    if (entry->place == 0)
        put(all, ++all->count, entry);
    settle(all, entry);
}

void deadlines_remove(struct deadlines *all, struct deadline *entry)
{
    const size_t place = entry->place;
    if (place == 0)
        return;
    struct deadline *last = at(all, all->count--);
    entry->place = 0;
    if (last == entry)
        return;
    put(all, place, last);
    settle(all, last);
}

struct deadline *deadlines_first(const struct deadlines *all)
{
    return all->count > 0 ? all->heap[0] : NULL;
}

void deadlines_set_all(struct deadlines *deadlines, double time)
{
    for (size_t i = 0; i < deadlines->count; i++)
        deadlines->heap[i]->time = time;
}

void deadlines_free(struct deadlines *all)
{
    free(all->heap);
    *all = (struct deadlines){0};
}
