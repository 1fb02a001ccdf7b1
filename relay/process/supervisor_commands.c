#include "process/message.h"
#include "process/supervisor_internal.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* For the workers to carry out a command; the operator does not wait for one that hangs. */
#define ANSWER_SECONDS 2.0

_Static_assert(OPTIONS_WORKERS_MAX <= SESSION_WORKERS_MAX, "ids have room for all workers");

static void close_pages(struct pending_command *pending)
{
    if (pending->pages)
        munmap(pending->pages, pending->pages_size);
    pending->pages = NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct session_facts *first = a;
    const struct session_facts *second = b;
    return (first->id > second->id) - (first->id < second->id);
}

/* The workers' pages become one: those with the lowest ids, so that the next list leaves out none.
 */
static void merge(struct pending_command *pending)
{
    struct session_facts *pages = pending->pages;
    const size_t limit = pending->command.limit;
    size_t size = 0;
    for (unsigned i = 0; i < pending->all->count; i++) {
        for (unsigned s = 0; s < pending->counts[i]; s++)
            pages[size++] = pages[i * limit + s];
    }
    qsort(pages, size, sizeof *pages, by_id);
    pending->result.has_more = pending->result.has_more || size > limit;
    pending->result.count = (unsigned)(size < limit ? size : limit);
    pending->result.done = true;
}

static void finish(struct pending_command *pending)
{
    struct supervisor *all = pending->all;
    const uint64_t ticket = pending->ticket;
    loop_timer_stop(&pending->timer);
    for (unsigned i = 0; i < all->count; i++)
        pending->result.silent += pending->waits[i];
    if (pending->pages)
        merge(pending);
    pending->ticket = 0;
    admin_tell(all->admin, ticket, &pending->command, &pending->result, pending->pages);
    close_pages(pending);
}

static void on_late(void *context)
{
    finish(context);
}

static bool is_waiting(const struct pending_command *pending)
{
    for (unsigned i = 0; i < pending->all->count; i++) {
        if (pending->waits[i])
            return true;
    }
    return false;
}

/* Room for a page of each worker; what is not written takes no memory. The mapping is private, so
   that a worker that is late does not write into what is told. Gives the descriptor, -1 = the
   system refuses. */
static int open_pages(struct pending_command *pending)
{
    const int fd = memfd_create("causeway sessions", MFD_CLOEXEC);
    pending->pages_size = pending->all->count * pending->command.limit * sizeof *pending->pages;
    void *pages = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)pending->pages_size) == 0)
        pages = mmap(NULL, pending->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (pages != MAP_FAILED)
        pending->pages = pages;
    else if (fd >= 0)
        close(fd);
    return pending->pages ? fd : -1;
}

/* Only the worker whose session it is, if it is one's. */
static bool concerns(const struct command *command, const struct worker *worker)
{
    return worker->serving &&
           (command->kind != COMMAND_END || session_id_worker(command->id) == worker->number);
}

static void send_command(struct pending_command *pending, int fd)
{
    struct supervisor *all = pending->all;
    struct command_message message = {.ticket = pending->ticket, .command = pending->command};
    for (unsigned i = 0; i < all->count; i++) {
        struct worker *worker = &all->workers[i];
        if (!concerns(&pending->command, worker))
            continue;
        message.first = i * (unsigned)pending->command.limit;
        if (message_send(worker->child.channel, MESSAGE_COMMAND, &message, sizeof message, fd))
            pending->waits[i] = true;
        else
            pending->result.silent++;
    }
}

/* The supervisor's own list is what new workers get. */
static bool heed(struct blocks *blocks, const struct command *command)
{
    const struct block *block = &command->block;
    if (command->kind == COMMAND_BLOCK)
        return blocks_add(blocks, &block->prefix, block->until, loop_now());
    return command->kind == COMMAND_UNBLOCK && blocks_remove(blocks, &block->prefix);
}

static struct pending_command *free_pending(struct supervisor *all)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        if (all->pending[i].ticket == 0)
            return &all->pending[i];
    }
    return NULL;
}

void supervisor_carry_out(void *context, const struct command *command, uint64_t ticket)
{
    struct supervisor *all = context;
    struct pending_command *pending = free_pending(all);
    int fd = -1;
    if (!pending) {
        const struct command_result none = {.silent = all->count};
        admin_tell(all->admin, ticket, command, &none, NULL);
        return;
    }
    *pending = (struct pending_command){
        .all = all,
        .ticket = ticket,
        .command = *command,
        .timer = {.expired = on_late, .context = pending},
        .result = {.done = heed(&all->blocks, command)},
    };
    if (command->kind == COMMAND_LIST)
        fd = open_pages(pending);
    if (fd >= 0 || command->kind == COMMAND_END || pending->result.done)
        send_command(pending, fd);
    if (fd >= 0)
        close(fd);
    if (is_waiting(pending))
        loop_timer_start(all->loop, &pending->timer, ANSWER_SECONDS);
    else
        finish(pending);
}

static void take(struct pending_command *pending, unsigned index,
                 const struct command_result *result)
{
    pending->waits[index] = false;
    if (pending->command.kind == COMMAND_LIST && !result->done) {
        pending->result.silent++;
        return;
    }
    pending->counts[index] = result->count;
    pending->result.count += result->count;
    pending->result.has_more = pending->result.has_more || result->has_more;
    pending->result.done = pending->result.done || result->done;
}

void supervisor_take_reply(struct worker *worker, const void *data, size_t size)
{
    struct supervisor *all = worker->all;
    const unsigned index = worker->number - 1;
    struct command_reply reply;
    if (size != sizeof reply)
        return;
    memcpy(&reply, data, sizeof reply);
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        struct pending_command *pending = &all->pending[i];
        if (pending->ticket == 0 || pending->ticket != reply.ticket || !pending->waits[index])
            continue;
        take(pending, index, &reply.result);
        if (!is_waiting(pending))
            finish(pending);
    }
}

/* It has no sessions any more. */
void supervisor_forgo_replies(struct worker *worker)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        struct pending_command *pending = &worker->all->pending[i];
        if (pending->ticket == 0 || !pending->waits[worker->number - 1])
            continue;
        pending->waits[worker->number - 1] = false;
        if (!is_waiting(pending))
            finish(pending);
    }
}

void supervisor_drop_commands(struct supervisor *all)
{
    for (unsigned i = 0; i < PENDING_COMMANDS_MAX; i++) {
        loop_timer_stop(&all->pending[i].timer);
        close_pages(&all->pending[i]);
    }
}
