#include "process/message.h"
#include "process/supervisor_internal.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* For the workers to carry out an order; the operator does not wait for one that hangs. */
#define ANSWER_SECONDS 2.0

_Static_assert(OPTIONS_WORKERS_MAX <= SESSION_WORKERS_MAX, "ids have room for all workers");

static void close_pages(struct errand *errand)
{
    if (errand->pages)
        munmap(errand->pages, errand->pages_size);
    errand->pages = NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct session_facts *first = a;
    const struct session_facts *second = b;
    return (first->id > second->id) - (first->id < second->id);
}

/* The workers' pages become one: those with the lowest ids, so that the next list leaves out none.
 */
static void merge(struct errand *errand)
{
    struct session_facts *pages = errand->pages;
    const size_t limit = errand->order.limit;
    size_t size = 0;
    for (unsigned i = 0; i < errand->all->count; i++) {
        for (unsigned s = 0; s < errand->counts[i]; s++)
            pages[size++] = pages[i * limit + s];
    }
    qsort(pages, size, sizeof *pages, by_id);
    errand->result.more = errand->result.more || size > limit;
    errand->result.count = (unsigned)(size < limit ? size : limit);
    errand->result.done = true;
}

static void finish(struct errand *errand)
{
    struct supervisor *all = errand->all;
    const uint64_t ticket = errand->ticket;
    loop_timer_stop(&errand->timer);
    for (unsigned i = 0; i < all->count; i++)
        errand->result.silent += errand->waits[i];
    if (errand->pages)
        merge(errand);
    errand->ticket = 0;
    admin_tell(all->admin, ticket, &errand->order, &errand->result, errand->pages);
    close_pages(errand);
}

static void on_late(void *context)
{
    finish(context);
}

static bool is_waiting(const struct errand *errand)
{
    for (unsigned i = 0; i < errand->all->count; i++) {
        if (errand->waits[i])
            return true;
    }
    return false;
}

/* Room for a page of each worker; what is not written takes no memory. The mapping is private, so
   that a worker that is late does not write into what is told. Gives the descriptor, -1 = the
   system refuses. */
static int open_pages(struct errand *errand)
{
    const int fd = memfd_create("causeway sessions", MFD_CLOEXEC);
    errand->pages_size = errand->all->count * errand->order.limit * sizeof *errand->pages;
    void *pages = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)errand->pages_size) == 0)
        pages = mmap(NULL, errand->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (pages != MAP_FAILED)
        errand->pages = pages;
    else if (fd >= 0)
        close(fd);
    return errand->pages ? fd : -1;
}

/* Only the worker whose session it is, if it is one's. */
static bool concerns(const struct order *order, const struct worker *worker)
{
    return worker->serving &&
           (order->kind != ORDER_END || session_id_worker(order->id) == worker->number);
}

static void send_order(struct errand *errand, int fd)
{
    struct supervisor *all = errand->all;
    struct order_message message = {.ticket = errand->ticket, .order = errand->order};
    for (unsigned i = 0; i < all->count; i++) {
        struct worker *worker = &all->workers[i];
        if (!concerns(&errand->order, worker))
            continue;
        message.first = i * (unsigned)errand->order.limit;
        if (message_send(worker->child.channel, MESSAGE_COMMAND, &message, sizeof message, fd))
            errand->waits[i] = true;
        else
            errand->result.silent++;
    }
}

/* The supervisor's own list is what new workers get. */
static bool heed(struct blocks *blocks, const struct order *order)
{
    const struct block *block = &order->block;
    if (order->kind == ORDER_BLOCK)
        return blocks_add(blocks, &block->prefix, block->until, loop_now());
    return order->kind == ORDER_UNBLOCK && blocks_remove(blocks, &block->prefix);
}

static struct errand *free_errand(struct supervisor *all)
{
    for (unsigned i = 0; i < ERRANDS_MAX; i++) {
        if (all->errands[i].ticket == 0)
            return &all->errands[i];
    }
    return NULL;
}

void supervisor_carry_out(void *context, const struct order *order, uint64_t ticket)
{
    struct supervisor *all = context;
    struct errand *errand = free_errand(all);
    int fd = -1;
    if (!errand) {
        const struct order_result none = {.silent = all->count};
        admin_tell(all->admin, ticket, order, &none, NULL);
        return;
    }
    *errand = (struct errand){
        .all = all,
        .ticket = ticket,
        .order = *order,
        .timer = {.expired = on_late, .context = errand},
        .result = {.done = heed(&all->blocks, order)},
    };
    if (order->kind == ORDER_LIST)
        fd = open_pages(errand);
    if (fd >= 0 || order->kind == ORDER_END || errand->result.done)
        send_order(errand, fd);
    if (fd >= 0)
        close(fd);
    if (is_waiting(errand))
        loop_timer_start(all->loop, &errand->timer, ANSWER_SECONDS);
    else
        finish(errand);
}

static void take(struct errand *errand, unsigned index, const struct order_result *result)
{
    errand->waits[index] = false;
    if (errand->order.kind == ORDER_LIST && !result->done) {
        errand->result.silent++;
        return;
    }
    errand->counts[index] = result->count;
    errand->result.count += result->count;
    errand->result.more = errand->result.more || result->more;
    errand->result.done = errand->result.done || result->done;
}

void supervisor_take_reply(struct worker *worker, const void *data, size_t size)
{
    struct supervisor *all = worker->all;
    const unsigned index = worker->number - 1;
    struct order_reply reply;
    if (size != sizeof reply)
        return;
    memcpy(&reply, data, sizeof reply);
    for (unsigned i = 0; i < ERRANDS_MAX; i++) {
        struct errand *errand = &all->errands[i];
        if (errand->ticket == 0 || errand->ticket != reply.ticket || !errand->waits[index])
            continue;
        take(errand, index, &reply.result);
        if (!is_waiting(errand))
            finish(errand);
    }
}

/* It has no sessions any more. */
void supervisor_forgo_replies(struct worker *worker)
{
    for (unsigned i = 0; i < ERRANDS_MAX; i++) {
        struct errand *errand = &worker->all->errands[i];
        if (errand->ticket == 0 || !errand->waits[worker->number - 1])
            continue;
        errand->waits[worker->number - 1] = false;
        if (!is_waiting(errand))
            finish(errand);
    }
}

void supervisor_drop_orders(struct supervisor *all)
{
    for (unsigned i = 0; i < ERRANDS_MAX; i++) {
        loop_timer_stop(&all->errands[i].timer);
        close_pages(&all->errands[i]);
    }
}
