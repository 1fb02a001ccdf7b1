#include "limits/address_memory.h"

#include "os/socket_address.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The memory is a table of ROWS rows with places for WAYS addresses each: half a megabyte. An
   address has its row by a hash. */
#define ROWS 2048
#define WAYS 8

struct way {
    unsigned char owner[16];
    double count; /* the count at the time of the last addition */
    double at;
};

struct address_memory {
    double seconds;
    uint64_t seed;
    struct way rows[ROWS][WAYS];
};

struct address_memory *address_memory_create(double seconds)
{
    struct address_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->seconds = seconds;
    if (getrandom(&memory->seed, sizeof memory->seed, 0) < 0)
        memory->seed = (uint64_t)(uintptr_t)memory;
    return memory;
}

void address_memory_destroy(struct address_memory *memory)
{
    free(memory);
}

static size_t row_of(const struct address_memory *memory, const unsigned char owner[16])
{
    return socket_address_owner_hash(owner, memory->seed) % ROWS;
}

static double count_of(const struct address_memory *memory, const struct way *way, double now)
{
    return way->count * exp((way->at - now) / memory->seconds);
}

static int find(const struct way row[WAYS], const unsigned char owner[16])
{
    for (int i = 0; i < WAYS; i++)
        if (memcmp(row[i].owner, owner, sizeof row[i].owner) == 0)
            return i;
    return -1;
}

static int least_of(const struct address_memory *memory, const struct way row[WAYS], double now)
{
    int least = 0;
    for (int i = 1; i < WAYS; i++)
        if (count_of(memory, &row[i], now) < count_of(memory, &row[least], now))
            least = i;
    return least;
}

double address_memory_count(const struct address_memory *memory, const unsigned char owner[16],
                            double now)
{
    const struct way *row = memory->rows[row_of(memory, owner)];
    const int found = find(row, owner);
    return found < 0 ? 0.0 : count_of(memory, &row[found], now);
}

void address_memory_add(struct address_memory *memory, const unsigned char owner[16], double now)
{
    struct way *row = memory->rows[row_of(memory, owner)];
    int found = find(row, owner);
    if (found < 0) {
        found = least_of(memory, row, now);
        row[found] = (struct way){0};
        memcpy(row[found].owner, owner, sizeof row[found].owner);
    }
    row[found].count = count_of(memory, &row[found], now) + 1.0;
    row[found].at = now;
}
