#include "process/pending_commands.h"

#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Seconds for the workers to carry out a command; the operator does not wait for one that hangs. */
#define COMMAND_SECONDS 2.0

_Static_assert(OPTIONS_WORKERS_MAX <= SESSION_WORKERS_MAX, "ids have room for all workers");

static void close_pages(struct pending_command *pending)
{
    if (pending->pages)
        munmap(pending->pages, pending->pages_size);
    pending->pages = NULL;
}

static int by_id_and_age(const void *a, const void *b)
{
    const struct session_summary *first = a;
    const struct session_summary *second = b;
    if (first->id != second->id)
        return first->id > second->id ? 1 : -1;
    return (first->age_seconds > second->age_seconds) - (first->age_seconds < second->age_seconds);
}

/* Makes one page of the workers' pages: it has the sessions with the lowest ids, so that the next
   list leaves out none. */
static void merge(struct pending_command *pending)
{
    struct session_summary *pages = pending->pages;
    const size_t limit = pending->command.limit;
    size_t size = 0;
    for (unsigned i = 0; i < pending->owner->config.workers; i++) {
        for (unsigned s = 0; s < pending->page_counts[i]; s++)
            pages[size++] = pages[i * limit + s];
    }
    qsort(pages, size, sizeof *pages, by_id_and_age);
    pending->result.has_more = pending->result.has_more || size > limit;
    pending->result.count = (unsigned)(size < limit ? size : limit);
    pending->result.done = pending->command.kind == COMMAND_LIST || size > 0;
}

static void finish(struct pending_command *pending)
{
    const struct pending_commands_config *config = &pending->owner->config;
    const uint64_t ticket = pending->ticket;
    loop_timer_stop(&pending->timer);
    for (unsigned i = 0; i < config->workers; i++)
        pending->result.silent += pending->is_awaited[i];
    if (pending->pages)
        merge(pending);
    pending->ticket = 0;
    config->finish(config->context, ticket, &pending->command, &pending->result, pending->pages);
    close_pages(pending);
}

static void on_late(void *context)
{
    finish(context);
}

static bool is_waiting(const struct pending_command *pending)
{
    for (unsigned i = 0; i < pending->owner->config.workers; i++) {
        if (pending->is_awaited[i])
            return true;
    }
    return false;
}

/* Opens memory with a page for each worker; what is not written takes no memory. The mapping is
   private, so that a worker that is late does not write into the answer. Returns the descriptor; -1
   when the system refuses. */
static int open_pages(struct pending_command *pending)
{
    const int fd = memfd_create("causeway sessions", MFD_CLOEXEC);
    pending->pages_size =
        pending->owner->config.workers * pending->command.limit * sizeof *pending->pages;
    void *pages = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)pending->pages_size) == 0)
        pages = mmap(NULL, pending->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (pages != MAP_FAILED)
        pending->pages = pages;
    else if (fd >= 0)
        close(fd);
    return pending->pages ? fd : -1;
}

/* Returns whether a command names a session, so that it concerns only the worker that has it. */
static bool names_session(const struct command *command)
{
    return command->kind == COMMAND_END || command->kind == COMMAND_RECORD;
}

static bool concerns(const struct pending_command *pending, unsigned worker)
{
    const struct pending_commands_config *config = &pending->owner->config;
    return config->serves(config->context, worker) &&
           (!names_session(&pending->command) || session_id_worker(pending->command.id) == worker);
}

static void send_command(struct pending_command *pending, int fd)
{
    const struct pending_commands_config *config = &pending->owner->config;
    struct command_message message = {.ticket = pending->ticket, .command = pending->command};
    for (unsigned i = 0; i < config->workers; i++) {
        if (!concerns(pending, i + 1))
            continue;
        message.first = i * (unsigned)pending->command.limit;
        if (config->send(config->context, i + 1, &message, fd))
            pending->is_awaited[i] = true;
        else
            pending->result.silent++;
    }
}

static struct pending_command *find_free(struct pending_commands *commands)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        if (commands->list[i].ticket == 0)
            return &commands->list[i];
    }
    return NULL;
}

void pending_commands_start(struct pending_commands *commands, const struct command *command,
                            uint64_t ticket, bool done)
{
    const struct pending_commands_config *config = &commands->config;
    struct pending_command *pending = find_free(commands);
    int fd = -1;
    if (!pending) {
        const struct command_result none = {.silent = config->workers};
        config->finish(config->context, ticket, command, &none, NULL);
        return;
    }
    *pending = (struct pending_command){
        .owner = commands,
        .ticket = ticket,
        .command = *command,
        .timer = {.expired = on_late, .context = pending},
        .result = {.done = done},
    };
    if (command_has_page(command))
        fd = open_pages(pending);
    if (fd >= 0 || command->kind == COMMAND_END || done)
        send_command(pending, fd);
    if (fd >= 0)
        close(fd);
    if (is_waiting(pending))
        loop_timer_start(config->loop, &pending->timer, COMMAND_SECONDS);
    else
        finish(pending);
}

static void take(struct pending_command *pending, unsigned index,
                 const struct command_result *result)
{
    pending->is_awaited[index] = false;
    if (pending->command.kind == COMMAND_LIST && !result->done) {
        pending->result.silent++;
        return;
    }
    if (pending->pages && result->count <= pending->command.limit)
        pending->page_counts[index] = result->count;
    pending->result.count += result->count;
    pending->result.has_more = pending->result.has_more || result->has_more;
    pending->result.done = pending->result.done || result->done;
}

void pending_commands_take(struct pending_commands *commands, unsigned worker, const void *data,
                           size_t size)
{
    struct command_reply reply;
    if (size != sizeof reply)
        return;
    memcpy(&reply, data, sizeof reply);
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        struct pending_command *pending = &commands->list[i];
        if (pending->ticket == 0 || pending->ticket != reply.ticket ||
            !pending->is_awaited[worker - 1])
            continue;
        take(pending, worker - 1, &reply.result);
        if (!is_waiting(pending))
            finish(pending);
    }
}

void pending_commands_forgo(struct pending_commands *commands, unsigned worker)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        struct pending_command *pending = &commands->list[i];
        if (pending->ticket == 0 || !pending->is_awaited[worker - 1])
            continue;
        pending->is_awaited[worker - 1] = false;
        pending->result.silent++;
        if (!is_waiting(pending))
            finish(pending);
    }
}

void pending_commands_drop(struct pending_commands *commands)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        loop_timer_stop(&commands->list[i].timer);
        close_pages(&commands->list[i]);
    }
}
