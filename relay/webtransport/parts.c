#include "webtransport/parts.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1

static void forget(struct parts *parts)
{
    free(parts->data);
    parts->data = NULL;
}

/* Keeps a part, in the place of one whose other half has not come. */
static void keep(struct parts *parts, uint8_t head, const uint8_t *data, size_t size, double now)
{
    forget(parts);
    parts->data = malloc(size);
    if (!parts->data)
        return;
    memcpy(parts->data, data, size);
    parts->size = size;
    parts->head = head;
    parts->since = now;
}

bool parts_take(struct parts *parts, const uint8_t *data, size_t size, double now, uint8_t *joined,
                struct datagram *out)
{
    if (size < 2)
        return false;
    const uint8_t head = *data++;
    size--;
    *out = (struct datagram){data, size};
    if (head == 0)
        return true;
    if (size > SESSION_DATAGRAM_MAX)
        return false;
    if (!parts->data || parts->head != (head ^ SECOND) || now - parts->since > PARTS_SECONDS ||
        parts->size + size > SESSION_DATAGRAM_MAX) {
        keep(parts, head, data, size, now);
        return false;
    }
    const bool is_second = head & SECOND;
    memcpy(joined + (is_second ? parts->size : 0), data, size);
    memcpy(joined + (is_second ? 0 : size), parts->data, parts->size);
    *out = (struct datagram){joined, parts->size + size};
    forget(parts);
    return true;
}
