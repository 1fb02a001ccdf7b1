#include "net/per_address_limit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct address_count {
    struct address_count *next;
    unsigned char owner[16];
    unsigned sessions;
};

struct per_address_limit {
    size_t buckets; /* a power of two */
    uint64_t seed;
    struct address_count *bucket[];
};

struct per_address_limit *per_address_limit_create(unsigned expected)
{
    size_t buckets = 64;
    while (buckets < expected)
        buckets *= 2;
    struct per_address_limit *addresses = calloc(1, sizeof *addresses + buckets * sizeof(void *));
    if (!addresses)
        return NULL;
    addresses->buckets = buckets;
    if (getrandom(&addresses->seed, sizeof addresses->seed, 0) < 0)
        addresses->seed = (uint64_t)(uintptr_t)addresses;
    return addresses;
}

void per_address_limit_destroy(struct per_address_limit *addresses)
{
    free(addresses);
}

static struct address_count **bucket_of(struct per_address_limit *addresses,
                                        const unsigned char owner[16])
{
    return &addresses->bucket[socket_address_owner_hash(owner, addresses->seed) &
                              (addresses->buckets - 1)];
}

struct address_count *per_address_limit_enter(struct per_address_limit *addresses,
                                              const struct socket_address *client, unsigned limit,
                                              bool *full)
{
    unsigned char owner[16];
    socket_address_owner(client, owner);
    struct address_count **bucket = bucket_of(addresses, owner);
    struct address_count *count = *bucket;
    while (count && memcmp(count->owner, owner, sizeof owner) != 0)
        count = count->next;
    *full = count && limit > 0 && count->sessions >= limit;
    if (*full)
        return NULL;
    if (!count) {
        count = calloc(1, sizeof *count);
        if (!count)
            return NULL;
        memcpy(count->owner, owner, sizeof owner);
        count->next = *bucket;
        *bucket = count;
    }
    count->sessions++;
    return count;
}

unsigned addresses_count(const struct address_count *count)
{
    return count->sessions;
}

void per_address_limit_leave(struct per_address_limit *addresses, struct address_count *count)
{
    if (--count->sessions > 0)
        return;
    struct address_count **link = bucket_of(addresses, count->owner);
    while (*link != count)
        link = &(*link)->next;
    *link = count->next;
    free(count);
}
