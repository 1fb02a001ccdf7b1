/* Prefixes of addresses that the operator has blocked for a time. */
#ifndef CAUSEWAY_RELAY_BLOCKS_H
#define CAUSEWAY_RELAY_BLOCKS_H

#include "os/prefix.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCKS_MAX 1024

/* The list of blocks; all zero blocks nobody. */
struct blocks {
    struct block {
        struct prefix prefix;
        double until; /* the time by loop_now at which the block is over; INFINITY: never, as long
                         as the list of --blocks-from has it */
    } list[BLOCKS_MAX];
    unsigned count; /* the number of blocks, of which some may be over */
};

/* Blocks a prefix, in place of an earlier block of it. Returns false when there are too many. */
bool blocks_add(struct blocks *blocks, const struct prefix *prefix, double until, double now);

/* Removes the block of a prefix, exactly as it was added. Returns false when there is none. */
bool blocks_remove(struct blocks *blocks, const struct prefix *prefix);

/* Removes the blocks that are over. */
void blocks_expire(struct blocks *blocks, double now);

/* Returns true when the address is blocked. */
bool blocks_hold(const struct blocks *blocks, const struct socket_address *address, double now);

#endif
