#include "session/command.h"

#include "os/loop.h"

struct command_result command_run(struct sessions *sessions, const struct command *command,
                                  struct session_facts *page)
{
    struct blocks *blocks = sessions_blocks(sessions);
    const struct prefix *prefix = &command->block.prefix;
    struct command_result result = {.done = true};
    switch (command->kind) {
    case COMMAND_LIST:
        result.count = sessions_list(sessions, command->id, command->limit, page, &result.more);
        break;
    case COMMAND_END:
        result.done = sessions_end_one(sessions, command->id);
        result.count = result.done;
        break;
    case COMMAND_BLOCK:
        result.done = blocks_add(blocks, prefix, command->block.until, loop_now());
        if (result.done)
            result.count = sessions_end_of(sessions, prefix);
        break;
    case COMMAND_UNBLOCK:
        result.done = blocks_remove(blocks, prefix);
        break;
    }
    return result;
}
