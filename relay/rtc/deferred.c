#include "rtc/deferred.h"

#include <stdlib.h>

static unsigned count_of(const struct deferred *deferred, const void *owner)
{
    unsigned count = 0;
    for (const struct deferred_datagram *each = deferred->first; each; each = each->next)
        count += each->owner == owner;
    return count;
}

bool deferred_add(struct deferred *deferred, void *owner, const struct udp_path *path,
                  const uint8_t *data, size_t size)
{
    if (deferred->count >= DEFERRED_MAX || count_of(deferred, owner) >= DEFERRED_OF_ONE)
        return false;
    struct deferred_datagram *datagram = malloc(sizeof *datagram + size);
    if (!datagram)
        return false;
    *datagram = (struct deferred_datagram){.owner = owner, .path = *path, .size = size};
    memcpy(datagram->data, data, size);
    *(deferred->last ? &deferred->last->next : &deferred->first) = datagram;
    deferred->last = datagram;
    deferred->count++;
    return true;
}

struct deferred_datagram *deferred_take(struct deferred *deferred)
{
    struct deferred_datagram *first = deferred->first;
    if (!first)
        return NULL;
    deferred->first = first->next;
    if (!deferred->first)
        deferred->last = NULL;
    deferred->count--;
    return first;
}

void deferred_forget(struct deferred *deferred, const void *owner)
{
    struct deferred left = {0};
    struct deferred_datagram *each;
    while ((each = deferred_take(deferred))) {
        if (!owner || each->owner == owner) {
            free(each);
            continue;
        }
        each->next = NULL;
        *(left.last ? &left.last->next : &left.first) = each;
        left.last = each;
        left.count++;
    }
    *deferred = left;
}
