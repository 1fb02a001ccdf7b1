/* The operator's commands to the sessions. They are plain data, so that they reach the sessions
   of other processes too. */
#ifndef CAUSEWAY_RELAY_COMMAND_H
#define CAUSEWAY_RELAY_COMMAND_H

#include "session/blocks.h"
#include "session/session_summary.h"

#include <stdbool.h>
#include <stdint.h>

/* The most sessions in one list. */
#define COMMAND_LIST_MAX 1000

struct sessions;

enum command_kind { COMMAND_LIST, COMMAND_RECORD, COMMAND_END, COMMAND_BLOCK, COMMAND_UNBLOCK };

struct command {
    enum command_kind kind;
    /* the session to end or whose record is wanted, or after which the list begins */
    unsigned long id;
    unsigned long limit; /* the most summaries that are wanted: 1 to COMMAND_LIST_MAX */
    struct block block;  /* the block, or in it the prefix whose block is taken back */
};

struct command_result {
    bool done;     /* false: there is no such session or block, or no place for the block or list */
    bool has_more; /* the list goes on after these sessions */
    unsigned count;  /* summaries in the list or record, or sessions ended */
    unsigned silent; /* processes that have not answered */
};

/* Returns whether the result of a command is a page of summaries. */
static inline bool command_has_page(const struct command *command)
{
    return command->kind == COMMAND_LIST || command->kind == COMMAND_RECORD;
}

/* Carries out a command; `page` must take command->limit summaries if it has a page. */
struct command_result command_run(struct sessions *sessions, const struct command *command,
                                  struct session_summary *page);

#endif
