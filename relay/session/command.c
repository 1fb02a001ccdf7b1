#include "session/command.h"

#include "os/loop.h"
#include "session/session.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
    const unsigned long first = session_id(*(const struct session *const *)a);
    const unsigned long second = session_id(*(const struct session *const *)b);
    return (first > second) - (first < second);
}

/* Returns the sessions that are not ending; NULL when there is no memory, or there are none. */
static struct session **collect(const struct sessions *sessions,
                                bool (*chosen)(const struct session *, const struct command *),
                                const struct command *command, size_t *count)
{
    struct session **found = malloc(sessions_count(sessions) * sizeof *found);
    struct session *session;
    *count = 0;
    for (size_t i = 0; found && (session = sessions_at(sessions, i)); i++) {
        if (chosen(session, command))
            found[(*count)++] = session;
    }
    return found;
}

static bool comes_later(const struct session *session, const struct command *command)
{
    return session_id(session) > command->id;
}

static struct command_result list(const struct sessions *sessions, const struct command *command,
                                  struct session_summary *page)
{
    size_t count;
    struct session **found = collect(sessions, comes_later, command, &count);
    struct command_result result = {.done = true, .has_more = count > command->limit};
    if (count > 0)
        qsort(found, count, sizeof(struct session *), by_id);
    while (result.count < count && result.count < command->limit) {
        session_describe(found[result.count], &page[result.count]);
        result.count++;
    }
    free(found);
    return result;
}

static bool is_named(const struct session *session, const struct command *command)
{
    return session_id(session) == command->id;
}

static bool is_in_prefix(const struct session *session, const struct command *command)
{
    return prefix_holds(&command->block.prefix, session_client(session));
}

/* Ends the sessions that a command names. They are collected first, because the end of one changes
   the places of the others. */
static unsigned end(const struct sessions *sessions,
                    bool (*chosen)(const struct session *, const struct command *),
                    const struct command *command)
{
    size_t count;
    struct session **found = collect(sessions, chosen, command, &count);
    for (size_t i = 0; i < count; i++)
        session_end(found[i], SESSION_END_BLOCKED);
    free(found);
    return (unsigned)count;
}

struct command_result command_run(struct sessions *sessions, const struct command *command,
                                  struct session_summary *page)
{
    struct blocks *blocks = sessions_blocks(sessions);
    const struct prefix *prefix = &command->block.prefix;
    struct command_result result = {.done = true};
    switch (command->kind) {
    case COMMAND_LIST:
        return list(sessions, command, page);
    case COMMAND_RECORD:
        result.count = sessions_recorded(sessions, command->id, page);
        result.done = result.count > 0;
        break;
    case COMMAND_END:
        result.count = end(sessions, is_named, command);
        result.done = result.count > 0;
        break;
    case COMMAND_BLOCK:
        result.done = blocks_add(blocks, prefix, command->block.until, loop_now());
        if (result.done)
            result.count = end(sessions, is_in_prefix, command);
        break;
    case COMMAND_UNBLOCK:
        result.done = blocks_remove(blocks, prefix);
        break;
    }
    return result;
}
