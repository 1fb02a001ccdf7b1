#include "rtc/half_open.h"

#include "limits/per_address_limit.h"

#include <stdlib.h>

struct half_open {
    struct per_address_limit *per_address;
    unsigned max_per_address;
    unsigned count;
    unsigned handshakes;
    struct half_open_entry *oldest;
    struct half_open_entry *newest;
};

struct half_open *half_open_create(unsigned max_per_address)
{
    struct half_open *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->max_per_address = max_per_address;
    set->per_address = per_address_limit_create(HALF_OPEN_MAX);
    if (set->per_address)
        return set;
    free(set);
    return NULL;
}

void half_open_set(struct half_open *set, unsigned max_per_address)
{
    set->max_per_address = max_per_address;
}

void half_open_destroy(struct half_open *set)
{
    if (!set)
        return;
    per_address_limit_destroy(set->per_address);
    free(set);
}

bool half_open_enter(struct half_open *set, struct half_open_entry *entry,
                     const struct socket_address *client)
{
    bool full;
    *entry = (struct half_open_entry){.older = set->newest};
    entry->address = per_address_limit_enter(set->per_address, client, set->max_per_address, &full);
    if (!entry->address)
        return false;
    *(set->newest ? &set->newest->newer : &set->oldest) = entry;
    set->newest = entry;
    set->count++;
    return true;
}

bool half_open_shake_hands(struct half_open *set, struct half_open_entry *entry, double now)
{
    if (!half_open_has(entry) || entry->shakes_hands)
        return false;
    entry->shakes_hands = true;
    entry->since = now;
    set->handshakes++;
    return true;
}

void half_open_leave(struct half_open *set, struct half_open_entry *entry)
{
    if (!half_open_has(entry))
        return;
    *(entry->older ? &entry->older->newer : &set->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &set->newest) = entry->older;
    per_address_limit_leave(set->per_address, entry->address);
    entry->address = NULL;
    set->handshakes -= entry->shakes_hands;
    set->count--;
}

static unsigned weight(const struct half_open_entry *entry)
{
    const unsigned count = per_address_limit_count(entry->address);
    return count > HALF_OPEN_FEW ? count : 0;
}

/* Returns the oldest offer of the address that has most. There are few enough offers to look at
   each: taking an offer costs more. */
static struct half_open_entry *heaviest(const struct half_open *set, bool only_handshakes)
{
    struct half_open_entry *found = NULL;
    for (struct half_open_entry *entry = set->oldest; entry; entry = entry->newer)
        if ((entry->shakes_hands || !only_handshakes) && (!found || weight(entry) > weight(found)))
            found = entry;
    return found;
}

struct half_open_entry *half_open_surplus(const struct half_open *set, double now)
{
    if (set->count > HALF_OPEN_MAX)
        return heaviest(set, false);
    if (set->handshakes <= HALF_OPEN_HANDSHAKES)
        return NULL;
    struct half_open_entry *entry = heaviest(set, true);
    const bool has_time = weight(entry) == 0 && now - entry->since < HALF_OPEN_SECONDS;
    return has_time && set->handshakes <= HALF_OPEN_HANDSHAKES_MAX ? NULL : entry;
}
