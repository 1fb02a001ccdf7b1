#include "rtc/offer_limit.h"

#include "limits/address_memory.h"
#include "limits/bucket.h"

#include <math.h>
#include <stdlib.h>

/* All addresses together may make this many offers per second. Their handshakes, 1.2 ms each
   (rtc.setup_cpu_ms), then take about an eighth of a processor. */
#define OFFERS_PER_SECOND 100.0
/* After this many seconds, a third of what an offer counted for its address is left. */
#define MEMORY_SECONDS 60.0
/* The limit of an address is never lower than this, because a page that is loaded again and again
   needs some offers. */
#define LEAST_PER_ADDRESS 10.0
/* However few offers are left for all, an address may make one while its count, with this one, is
   below this limit: it has made none, or one three minutes ago. */
#define ALWAYS_ALLOWED 1.05

struct offer_limit {
    double per_address; /* 0 = no limit */
    double most;        /* the offers that all addresses together may make at once */
    struct bucket left; /* the offers that all addresses together may make now */
    struct address_memory *memory;
};

void offer_limit_set(struct offer_limit *limit, unsigned max_sessions, unsigned max_per_address)
{
    limit->most = fmax(max_sessions, OFFERS_PER_SECOND);
    limit->per_address = max_per_address > 0 ? fmax(2.0 * max_per_address, LEAST_PER_ADDRESS) : 0.0;
}

struct offer_limit *offer_limit_create(unsigned max_sessions, unsigned max_per_address)
{
    struct offer_limit *limit = calloc(1, sizeof *limit);
    if (!limit)
        return NULL;
    offer_limit_set(limit, max_sessions, max_per_address);
    limit->left.level = limit->most;
    limit->memory = address_memory_create(MEMORY_SECONDS);
    if (limit->memory)
        return limit;
    free(limit);
    return NULL;
}

void offer_limit_destroy(struct offer_limit *limit)
{
    if (!limit)
        return;
    address_memory_destroy(limit->memory);
    free(limit);
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
        unsigned char owner[16];
        socket_address_owner(client, owner);
        const double count = address_memory_count(limit->memory, owner, now);
        const double allowed = fmax(limit->per_address * left / limit->most, ALWAYS_ALLOWED);
        if (count + 1.0 > allowed) {
            *retry_after = (unsigned)ceil(MEMORY_SECONDS * log(count / (allowed - 1.0)));
            return false;
        }
        address_memory_add(limit->memory, owner, now);
    }
    limit->left.level -= 1.0;
    return true;
}
