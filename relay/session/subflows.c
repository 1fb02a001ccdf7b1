#include "session/subflows.h"

#include <math.h>
#include <stdlib.h>

struct subflows *subflows_create(void)
{
    return calloc(1, sizeof(struct subflows));
}

void subflows_free(struct subflows *subflows)
{
    free(subflows);
}

void subflow_open(struct subflows *subflows, unsigned number, struct session_link *link)
{
    struct subflow *subflow = &subflows->each[number - 1];
    *subflow = (struct subflow){
        .all = subflows,
        .link = link,
        .kept = {.limit_bytes = SUBFLOW_KEPT_BYTES, .limit_age_seconds = INFINITY},
    };
    link->subflow = subflow;
}

void subflow_close(struct subflow *subflow)
{
    if (!subflow)
        return;
    subflow->link->subflow = NULL;
    subflow->link = NULL;
    queue_free(&subflow->kept);
}

static void forget(struct subflow *subflow, size_t count)
{
    queue_pop(&subflow->kept, count);
    subflow->repeated -= count < subflow->repeated ? count : subflow->repeated;
}

void subflow_put_header(struct subflow *subflow, const struct datagram *datagram, double now,
                        uint8_t out[SUBFLOW_HEADER_SIZE])
{
    struct subflows *all = subflow->all;
    if (datagram->size > 0) {
        struct queue_drops drops = {0};
        if (subflow->kept.count == SUBFLOW_KEPT_MAX)
            forget(subflow, 1);
        queue_push(&subflow->kept, datagram->data, datagram->size, now, &drops);
        subflow->repeated -= drops.bytes < subflow->repeated ? drops.bytes : subflow->repeated;
        subflow->sent = (subflow->sent + 1) & SUBFLOW_SEQUENCE_MASK;
        all->allowance = all->repeating
                             ? all->allowance - 1.0
                             : fmin(all->allowance + SUBFLOW_REPEAT_SHARE, SUBFLOW_REPEAT_MOST);
    }
    *out++ = subflow->sent | (all->repeating ? SUBFLOW_REPEATED : 0);
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        out[i] = all->each[i].received;
    all->unconfirmed = 0;
    subflow->unanswered = 0;
}

/* Takes a confirmation of the datagrams up to this sequence number. One that was overtaken by a
   newer one is for a datagram that is no longer kept. */
static void confirm(struct subflow *subflow, uint8_t sequence)
{
    const size_t left = (subflow->sent - sequence) & SUBFLOW_SEQUENCE_MASK;
    if (left >= subflow->kept.count)
        return;
    const size_t count = subflow->kept.count - left;
    double *confirmed = &subflow->all->confirmed;
    *confirmed = fmax(*confirmed, queue_time(&subflow->kept, count - 1));
    forget(subflow, count);
}

bool subflow_take_header(struct subflow *subflow, const uint8_t *message, size_t size)
{
    if (size < SUBFLOW_HEADER_SIZE)
        return false;
    subflow->received = message[0] & SUBFLOW_SEQUENCE_MASK;
    if (size > SUBFLOW_HEADER_SIZE) {
        subflow->all->unconfirmed++;
        subflow->all->came++;
        if (subflow->unanswered == 0)
            subflow->unanswered = subflow->all->came;
    }
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        confirm(&subflow->all->each[i], message[1 + i]);
    return true;
}

static bool is_late(const struct subflow *subflow)
{
    return subflow->kept.count > 0 &&
           subflow->all->confirmed - queue_time(&subflow->kept, 0) > SUBFLOW_LATE_SECONDS;
}

/* Returns whether a datagram goes better over `a`: over one that is in time, with as little before
   the datagram as there can be, since each before it may get lost. If that is the same, an answer
   to what came first saves TCP a packet that only acknowledges it. */
static bool is_better(const struct subflow *a, const struct subflow *b)
{
    const bool late = is_late(a);
    if (late != is_late(b))
        return !late;
    if (a->kept.count != b->kept.count)
        return a->kept.count < b->kept.count;
    return a->unanswered - 1 < b->unanswered - 1; /* none, which is 0, comes last */
}

struct subflow *subflows_choose(struct subflows *subflows, const struct subflow *but)
{
    struct subflow *best = NULL;
    for (size_t i = 0; i < SUBFLOWS_MAX; i++) {
        struct subflow *subflow = &subflows->each[i];
        if (subflow != but && subflow->link && subflow->link->transport->ready(subflow->link) &&
            (!best || is_better(subflow, best)))
            best = subflow;
    }
    return best;
}

static size_t send(struct subflow *subflow, const struct datagram *datagrams, size_t count)
{
    if (!subflow || count == 0)
        return 0;
    subflow->link->transport->send_batch(subflow->link, datagrams, count);
    return count;
}

/* Sends what waits on a subflow over another. Returns the number of datagrams. */
static size_t repeat(struct subflow *subflow)
{
    struct subflows *all = subflow->all;
    struct datagram datagrams[(size_t)SUBFLOW_REPEAT_MOST];
    size_t count = 0;
    const uint8_t *bytes;
    size_t frames;
    struct subflow *other = subflows_choose(all, subflow);
    if (!other || is_late(other))
        return 0;
    queue_peek(&subflow->kept, SUBFLOW_KEPT_BYTES, &bytes, &frames);
    for (size_t i = 0; i < frames && all->allowance >= (double)(count + 1); i++) {
        const size_t size = queue_size(&subflow->kept, i);
        if (i >= subflow->repeated)
            datagrams[count++] = (struct datagram){bytes, size};
        bytes += size;
    }
    all->repeating = true;
    send(other, datagrams, count);
    all->repeating = false;
    subflow->repeated += count;
    return count;
}

size_t subflows_update(struct subflows *subflows)
{
    static const struct datagram nothing = {(const uint8_t *)"", 0};
    size_t sent = 0;
    for (size_t i = 0; i < SUBFLOWS_MAX; i++) {
        struct subflow *subflow = &subflows->each[i];
        if (subflow->kept.count > subflow->repeated && is_late(subflow))
            sent += repeat(subflow);
    }
    if (subflows->unconfirmed >= SUBFLOW_UNCONFIRMED_MAX)
        sent += send(subflows_choose(subflows, NULL), &nothing, 1);
    return sent;
}
