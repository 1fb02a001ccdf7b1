/* Sorts by numbers in a time that depends on nothing but their count. Equal numbers stay in order.
 */
#ifndef CAUSEWAY_RADIX_SORT_H
#define CAUSEWAY_RADIX_SORT_H

#include <stdint.h>

struct cw_sorted {
    uint32_t key;
    uint32_t value;
};

/* Sorts items by the low bits of their keys, 1 to 32 of them. The other array has as much room. The
   result is in the array that is returned. */
static inline struct cw_sorted *cw_radix_sort(struct cw_sorted *items, struct cw_sorted *other,
                                              uint32_t count, unsigned bits)
{
    for (unsigned shift = 0; shift < bits; shift += 8) {
        uint32_t starts[256] = {0}, start = 0;
        for (uint32_t i = 0; i < count; ++i)
            ++starts[items[i].key >> shift & 255];
        if (count > 0 && starts[items[0].key >> shift & 255] == count)
            continue; /* this byte is the same in all */
        for (unsigned byte = 0; byte < 256; ++byte) {
            const uint32_t here = starts[byte];
            starts[byte] = start;
            start += here;
        }
        for (uint32_t i = 0; i < count; ++i)
            other[starts[items[i].key >> shift & 255]++] = items[i];
        struct cw_sorted *const swap = items;
        items = other;
        other = swap;
    }
    return items;
}

#endif
