#include "process/directory_filter.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The filter has this many counters for each hash of a full directory. The supervisor is then asked
   for one in this many of the hashes that are not in the directory (upgrade.workers). */
#define PLACES_PER_HASH 8

static bool map(struct directory_filter *filter, int fd, size_t size)
{
    void *counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        return false;
    *filter = (struct directory_filter){.counts = counts, .size = size};
    return true;
}

bool directory_filter_create(struct directory_filter *filter, unsigned capacity, int *fd)
{
    const size_t size = (size_t)capacity * PLACES_PER_HASH;
    *fd = memfd_create("causeway directory", MFD_CLOEXEC);
    if (*fd < 0)
        return false;
    if (ftruncate(*fd, (off_t)size) == 0 && map(filter, *fd, size))
        return true;
    close(*fd);
    *fd = -1;
    return false;
}

bool directory_filter_open(struct directory_filter *filter, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && map(filter, fd, (size_t)status.st_size);
}

void directory_filter_close(struct directory_filter *filter)
{
    if (filter->counts)
        munmap(filter->counts, filter->size);
    *filter = (struct directory_filter){0};
}

static atomic_uchar *place_of(const struct directory_filter *filter,
                              const uint8_t hash[SESSION_HASH_SIZE])
{
    uint64_t number;
    memcpy(&number, hash, sizeof number);
    return &filter->counts[number % filter->size];
}

/* Changes a count, unless it is full. Other processes change it too, so a change is tried again
   when it has met another. */
static void change(const struct directory_filter *filter, const uint8_t hash[SESSION_HASH_SIZE],
                   int by)
{
    atomic_uchar *place = place_of(filter, hash);
    unsigned char count = *place;
    while (count < UCHAR_MAX &&
           !atomic_compare_exchange_weak(place, &count, (unsigned char)(count + by)))
        continue;
}

void directory_filter_add(const struct directory_filter *filter,
                          const uint8_t hash[SESSION_HASH_SIZE])
{
    change(filter, hash, 1);
}

void directory_filter_remove(const struct directory_filter *filter,
                             const uint8_t hash[SESSION_HASH_SIZE])
{
    change(filter, hash, -1);
}

bool directory_filter_may_contain(const struct directory_filter *filter,
                                  const uint8_t hash[SESSION_HASH_SIZE])
{
    return *place_of(filter, hash) > 0;
}
