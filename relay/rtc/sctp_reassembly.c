#include "rtc/sctp_reassembly.h"

#include "rtc/tsn_map.h"

#include <stdlib.h>
#include <string.h>

static void drop(struct reassembly *reassembly, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        reassembly->bytes -= reassembly->fragments[i].size;
        free(reassembly->fragments[i].data);
    }
    memmove(&reassembly->fragments[first], &reassembly->fragments[first + count],
            (reassembly->count - first - count) * sizeof reassembly->fragments[0]);
    reassembly->count -= count;
}

/* Returns true when b carries on where a stops. */
static bool joins(const struct fragment *a, const struct fragment *b)
{
    return a->tsn + 1 == b->tsn && !a->ends && !b->begins && a->stream == b->stream &&
           a->unordered == b->unordered;
}

static size_t insert(struct reassembly *reassembly, const struct fragment *fragment)
{
    size_t at = reassembly->count;
    while (at > 0 && tsn_ahead(reassembly->fragments[at - 1].tsn, fragment->tsn) > 0)
        at--;
    memmove(&reassembly->fragments[at + 1], &reassembly->fragments[at],
            (reassembly->count - at) * sizeof reassembly->fragments[0]);
    reassembly->fragments[at] = *fragment;
    reassembly->count++;
    reassembly->bytes += fragment->size;
    return at;
}

static size_t join(struct reassembly *reassembly, size_t first, size_t last, uint8_t *out,
                   size_t capacity, bool *too_long)
{
    size_t size = 0;
    for (size_t i = first; i <= last; i++) {
        const struct fragment *fragment = &reassembly->fragments[i];
        if (fragment->size > capacity - size) {
            *too_long = true;
            size = 0;
            break;
        }
        memcpy(out + size, fragment->data, fragment->size);
        size += fragment->size;
    }
    drop(reassembly, first, last - first + 1);
    return size;
}

size_t reassembly_add(struct reassembly *reassembly, const struct fragment *fragment, uint8_t *out,
                      size_t capacity, bool *too_long)
{
    *too_long = fragment->size > REASSEMBLY_BYTES;
    if (fragment->size == 0 || *too_long)
        return 0;
    struct fragment kept = *fragment;
    kept.data = malloc(fragment->size);
    if (!kept.data)
        return 0;
    memcpy(kept.data, fragment->data, fragment->size);

    while (reassembly->count == REASSEMBLY_FRAGMENTS ||
           reassembly->bytes + fragment->size > REASSEMBLY_BYTES) {
        drop(reassembly, 0, 1);
        reassembly->evicted++;
    }

    size_t first = insert(reassembly, &kept);
    size_t last = first;
    while (first > 0 && joins(&reassembly->fragments[first - 1], &reassembly->fragments[first]))
        first--;
    while (last + 1 < reassembly->count &&
           joins(&reassembly->fragments[last], &reassembly->fragments[last + 1]))
        last++;
    if (!reassembly->fragments[first].begins || !reassembly->fragments[last].ends)
        return 0;
    return join(reassembly, first, last, out, capacity, too_long);
}

void reassembly_forward(struct reassembly *reassembly, uint32_t tsn)
{
    size_t count = 0;
    while (count < reassembly->count && tsn_ahead(reassembly->fragments[count].tsn, tsn) <= 0)
        count++;
    drop(reassembly, 0, count);
}

void reassembly_clear(struct reassembly *reassembly)
{
    drop(reassembly, 0, reassembly->count);
}
