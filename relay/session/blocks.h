/* Prefixes of addresses that the operator has blocked for a time. */
#ifndef CAUSEWAY_RELAY_BLOCKS_H
#define CAUSEWAY_RELAY_BLOCKS_H

#include "os/prefix.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCKS_MAX 1024

/* All zero blocks nobody. */
struct blocks {
    struct block {
        struct prefix prefix;
        double until; /* by loop_now */
    } list[BLOCKS_MAX];
    unsigned count; /* some may be over */
};

/* Blocks a prefix, instead of until when it was blocked so far. False when there are too many. */
bool blocks_add(struct blocks *blocks, const struct prefix *prefix, double until, double now);

/* Takes a prefix out, exactly as it was added. False when it is not there. */
bool blocks_remove(struct blocks *blocks, const struct prefix *prefix);

/* Forgets those that are over. */
void blocks_expire(struct blocks *blocks, double now);

/* True when the address is blocked. */
bool blocks_hold(const struct blocks *blocks, const struct socket_address *address, double now);

#endif
