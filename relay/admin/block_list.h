/* The list of --blocks-from: blocks that several relays share. It is read from a URL again and
   again; when that fails, the blocks stay as they are. */
#ifndef CAUSEWAY_RELAY_BLOCK_LIST_H
#define CAUSEWAY_RELAY_BLOCK_LIST_H

#include "os/loop.h"
#include "session/command.h"
#include "stats/stats.h"

struct block_list;

struct block_list_config {
    const char *url;
    double seconds; /* the time between two looks at it */
    struct loop *loop;
    const struct blocks *blocks; /* the blocks in force; until is INFINITY in those of the list */
    /* Carries out a COMMAND_BLOCK or COMMAND_UNBLOCK, and returns whether it could. */
    bool (*carry_out)(void *context, const struct command *command);
    void *context;
    struct stats *stats; /* NULL = nothing is counted, and logged */
};

/* Begins to read the list. Returns NULL without memory. */
struct block_list *block_list_create(const struct block_list_config *config);

/* Stops reading; the blocks stay. NULL is allowed. It must come before the end of the loop. */
void block_list_destroy(struct block_list *list);

#endif
