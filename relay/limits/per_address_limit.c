#include "limits/per_address_limit.h"

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
    struct per_address_limit *limit = calloc(1, sizeof *limit + buckets * sizeof(void *));
    if (!limit)
        return NULL;
    limit->buckets = buckets;
    if (getrandom(&limit->seed, sizeof limit->seed, 0) < 0)
        limit->seed = (uint64_t)(uintptr_t)limit;
    return limit;
}

void per_address_limit_destroy(struct per_address_limit *limit)
{
    free(limit);
}

static struct address_count **bucket_of(struct per_address_limit *limit,
                                        const unsigned char owner[16])
{
    return &limit->bucket[socket_address_owner_hash(owner, limit->seed) & (limit->buckets - 1)];
}

struct address_count *per_address_limit_enter(struct per_address_limit *limit,
                                              const struct socket_address *client, unsigned most,
                                              bool *full)
{
    unsigned char owner[16];
    socket_address_owner(client, owner);
    struct address_count **bucket = bucket_of(limit, owner);
    struct address_count *count = *bucket;
    while (count && memcmp(count->owner, owner, sizeof owner) != 0)
        count = count->next;
    *full = count && most > 0 && count->sessions >= most;
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

bool per_address_limit_counts(const struct address_count *count,
                              const struct socket_address *client)
{
    unsigned char owner[16];
    socket_address_owner(client, owner);
    return memcmp(count->owner, owner, sizeof owner) == 0;
}

unsigned per_address_limit_count(const struct address_count *count)
{
    return count->sessions;
}

void per_address_limit_leave(struct per_address_limit *limit, struct address_count *count)
{
    if (--count->sessions > 0)
        return;
    struct address_count **link = bucket_of(limit, count->owner);
    while (*link != count)
        link = &(*link)->next;
    *link = count->next;
    free(count);
}
