#include "rtc/offer_limit.h"

#include "net/bucket.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* About an eighth of a processor goes to their handshakes then. */
#define OFFERS_PER_SECOND 100.0
/* What an address has made counts so long, less and less. */
#define MEMORY_SECONDS 60.0
/* A page that is loaded again and again needs some. */
#define LEAST_PER_ADDRESS 10.0
/* Whoever has made none, or one three minutes ago, may always make one. */
#define ALWAYS_ALLOWED 1.05
/* The addresses that are remembered: half a megabyte. */
#define ROWS 2048
#define WAYS 8

struct memory {
    unsigned char owner[16];
    double count; /* of its offers, at the time of the last */
    double at;
};

struct offer_limit {
    double per_address; /* 0 = no limit */
    double most;        /* that all together may make at once */
    struct bucket left; /* of them */
    uint64_t seed;
    struct memory rows[ROWS][WAYS];
};

struct offer_limit *offer_limit_create(unsigned max_sessions, unsigned max_per_address)
{
    struct offer_limit *limit = calloc(1, sizeof *limit);
    if (!limit)
        return NULL;
    if (max_per_address > 0)
        limit->per_address = fmax(2.0 * max_per_address, LEAST_PER_ADDRESS);
    limit->most = fmax(max_sessions, OFFERS_PER_SECOND);
    limit->left.level = limit->most;
    if (getrandom(&limit->seed, sizeof limit->seed, 0) < 0)
        limit->seed = (uint64_t)(uintptr_t)limit;
    return limit;
}

void offer_limit_destroy(struct offer_limit *limit)
{
    free(limit);
}

static double count_now(const struct memory *memory, double now)
{
    return memory->count * exp((memory->at - now) / MEMORY_SECONDS);
}

/* What is remembered of an address. When it is nothing, that of another goes, of the one who has
   made the fewest: he loses nothing by it, and who has made many cannot have them forgotten. */
static struct memory *recall(struct offer_limit *limit, const struct socket_address *client,
                             double now)
{
    unsigned char owner[16];
    socket_address_owner(client, owner);
    struct memory *row = limit->rows[socket_address_owner_hash(owner, limit->seed) % ROWS];
    struct memory *least = NULL;
    double least_count = INFINITY;
    for (int i = 0; i < WAYS; i++)
        if (memcmp(row[i].owner, owner, sizeof owner) == 0)
            return &row[i];
    for (int i = 0; i < WAYS; i++) {
        const double count = count_now(&row[i], now);
        if (count < least_count) {
            least = &row[i];
            least_count = count;
        }
    }
    memcpy(least->owner, owner, sizeof owner);
    least->count = 0.0;
    return least;
}

bool offer_limit_pass(struct offer_limit *limit, const struct socket_address *client, double now,
                      unsigned *retry_after)
{
    const double left = bucket_fill(&limit->left, OFFERS_PER_SECOND, limit->most, now);
    if (left < 1.0) {
        *retry_after = 1;
        return false;
    }
    if (limit->per_address > 0.0) {
        struct memory *memory = recall(limit, client, now);
        const double count = count_now(memory, now);
        const double allowed = fmax(limit->per_address * left / limit->most, ALWAYS_ALLOWED);
        if (count + 1.0 > allowed) {
            *retry_after = (unsigned)ceil(MEMORY_SECONDS * log(count / (allowed - 1.0)));
            return false;
        }
        memory->count = count + 1.0;
        memory->at = now;
    }
    limit->left.level -= 1.0;
    return true;
}
