#include "rtc/held.h"

#include <stdlib.h>

static unsigned count_of(const struct held *held, const void *owner)
{
    unsigned count = 0;
    for (const struct held_datagram *each = held->first; each; each = each->next)
        count += each->owner == owner;
    return count;
}

bool held_add(struct held *held, void *owner, const struct udp_path *path, const uint8_t *data,
              size_t size)
{
    if (held->count >= HELD_MAX || count_of(held, owner) >= HELD_OF_ONE)
        return false;
    struct held_datagram *datagram = malloc(sizeof *datagram + size);
    if (!datagram)
        return false;
    *datagram = (struct held_datagram){.owner = owner, .path = *path, .size = size};
    memcpy(datagram->data, data, size);
    *(held->last ? &held->last->next : &held->first) = datagram;
    held->last = datagram;
    held->count++;
    return true;
}

struct held_datagram *held_take(struct held *held)
{
    struct held_datagram *first = held->first;
    if (!first)
        return NULL;
    held->first = first->next;
    if (!held->first)
        held->last = NULL;
    held->count--;
    return first;
}

void held_forget(struct held *held, const void *owner)
{
    struct held left = {0};
    struct held_datagram *each;
    while ((each = held_take(held))) {
        if (!owner || each->owner == owner) {
            free(each);
            continue;
        }
        each->next = NULL;
        *(left.last ? &left.last->next : &left.first) = each;
        left.last = each;
        left.count++;
    }
    *held = left;
}
