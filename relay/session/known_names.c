#include "session/known_names.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* For each name, so that one in so many names that are not kept is asked for. */
#define PLACES_PER_NAME 8

static bool map(struct known_names *known, int fd, size_t size, int protection)
{
    void *counts = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED)
        return false;
    *known = (struct known_names){.counts = counts, .size = size};
    return true;
}

bool known_names_create(struct known_names *known, unsigned most, int *fd)
{
    const size_t size = (size_t)most * PLACES_PER_NAME;
    *fd = memfd_create("causeway names", MFD_CLOEXEC);
    if (*fd < 0)
        return false;
    if (ftruncate(*fd, (off_t)size) == 0 && map(known, *fd, size, PROT_READ | PROT_WRITE))
        return true;
    close(*fd);
    *fd = -1;
    return false;
}

bool known_names_open(struct known_names *known, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && map(known, fd, (size_t)status.st_size, PROT_READ);
}

void known_names_close(struct known_names *known)
{
    if (known->counts)
        munmap(known->counts, known->size);
    *known = (struct known_names){0};
}

static atomic_uchar *place_of(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE])
{
    uint64_t number;
    memcpy(&number, name, sizeof number);
    return &known->counts[number % known->size];
}

/* Only the supervisor writes. */
void known_names_add(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE])
{
    atomic_uchar *place = place_of(known, name);
    if (*place < UCHAR_MAX)
        ++*place;
}

void known_names_remove(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE])
{
    atomic_uchar *place = place_of(known, name);
    if (*place < UCHAR_MAX)
        --*place;
}

bool known_names_may_have(const struct known_names *known, const uint8_t name[PARCEL_NAME_SIZE])
{
    return *place_of(known, name) > 0;
}
