#include "session/subflows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        .unconfirmed = {.limit_bytes = SUBFLOW_UNCONFIRMED_MAX, .limit_age_seconds = INFINITY},
    };
    link->subflow = subflow;
}

void subflow_close(struct subflow *subflow)
{
    if (!subflow)
        return;
    subflow->link->subflow = NULL;
    subflow->link = NULL;
    queue_free(&subflow->unconfirmed);
}

static uint8_t *put_16(uint8_t *out, size_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    return out + 2;
}

static uint16_t take_16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint8_t *put_bytes(uint8_t *out, const uint8_t *data, size_t size)
{
    memcpy(out, data, size);
    return out + size;
}

size_t subflow_put(struct subflow *subflow, const struct datagram *datagram, double now,
                   uint8_t out[SUBFLOW_MESSAGE_MAX])
{
    struct subflows *all = subflow->all;
    struct parity *parity = &all->parity;
    uint8_t *at = out + SUBFLOW_HEADER_SIZE;
    const bool protects = datagram->size > 0 && all->protect > 0 && parity_is_due(parity);
    if (protects)
        at = put_16(put_16(at, datagram->size), parity->sizes);
    at = put_bytes(at, datagram->data, datagram->size);
    if (protects)
        at = put_bytes(at, parity->mixed, parity->longest);
    if (datagram->size > 0) {
        struct queue_drops drops = {0};
        parity_add(parity, datagram);
        const uint8_t low = (uint8_t)parity->sent;
        queue_push(&subflow->unconfirmed, &low, sizeof low, now, &drops);
        all->protect -= all->protect > 0;
        subflow->turn = ++all->turns;
    }
    put_16(out, parity->sent | (protects ? SUBFLOW_PARITY : 0));
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        out[2 + i] = all->each[i].received;
    all->to_be_answered = 0;
    return (size_t)(at - out);
}

static bool is_late(const struct subflow *subflow)
{
    return subflow->unconfirmed.count > 0 &&
           subflow->all->confirmed - queue_time(&subflow->unconfirmed, 0) > SUBFLOW_LATE_SECONDS;
}

/* Takes the confirmation of a datagram, and so of all before it on the same subflow. A confirmation
   that was overtaken by a newer one is for a datagram that is confirmed already. */
static void confirm(struct subflow *subflow, uint8_t sequence)
{
    struct queue *unconfirmed = &subflow->unconfirmed;
    const uint8_t *sequences;
    size_t count;
    queue_peek(unconfirmed, SUBFLOW_UNCONFIRMED_MAX, &sequences, &count);
    while (count > 0 && sequences[count - 1] != sequence)
        count--;
    if (count == 0)
        return;
    double *confirmed = &subflow->all->confirmed;
    *confirmed = fmax(*confirmed, queue_time(unconfirmed, count - 1));
    queue_pop(unconfirmed, count);
}

/* Takes the datagram of a message, and of the pair before it the one that has not come. Returns
   false when their sizes are wrong. */
static bool take_datagrams(struct parity *parity, uint16_t sequence, const uint8_t *bytes,
                           size_t size, struct subflow_news *out)
{
    out->datagram = (struct datagram){bytes, size};
    if (sequence & SUBFLOW_PARITY) {
        if (size < SUBFLOW_PARITY_SIZES)
            return false;
        const size_t own = take_16(bytes);
        const size_t rest = size - SUBFLOW_PARITY_SIZES;
        if (own == 0 || own > rest || rest - own > SESSION_DATAGRAM_MAX)
            return false;
        out->datagram = (struct datagram){bytes + SUBFLOW_PARITY_SIZES, own};
        const struct datagram mixed = {out->datagram.data + own, rest - own};
        out->recovered =
            (struct datagram){out->bytes, parity_recover(parity, sequence & PARITY_SEQUENCE_MASK,
                                                         take_16(bytes + 2), &mixed, out->bytes)};
    }
    if (out->datagram.size <= SESSION_DATAGRAM_MAX)
        parity_keep(parity, sequence & PARITY_SEQUENCE_MASK, &out->datagram);
    return true;
}

bool subflow_take(struct subflow *subflow, const uint8_t *message, size_t size,
                  struct subflow_news *out)
{
    struct subflows *all = subflow->all;
    out->datagram.size = out->recovered.size = 0;
    if (size < SUBFLOW_HEADER_SIZE)
        return false;
    if (size > SUBFLOW_HEADER_SIZE) {
        if (!take_datagrams(&all->parity, take_16(message), message + SUBFLOW_HEADER_SIZE,
                            size - SUBFLOW_HEADER_SIZE, out))
            return false;
        subflow->received = message[0];
        all->to_be_answered++;
    }
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        confirm(&all->each[i], message[2 + i]);
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        if (is_late(&all->each[i]))
            all->protect = SUBFLOW_PROTECTED;
    return true;
}

/* Returns whether one of the last two datagrams went over a subflow. A pair and its parity go over
   three. */
static bool is_recent(const struct subflow *subflow)
{
    return subflow->turn + 2 > subflow->all->turns;
}

/* Returns when the oldest datagram went that is not confirmed. */
static double waits_since(const struct subflow *subflow)
{
    return subflow->unconfirmed.count > 0 ? queue_time(&subflow->unconfirmed, 0) : INFINITY;
}

/* Returns whether a datagram goes better over `a`. The one that has waited longest for a
   confirmation is the next that may turn out late. */
static bool is_better(const struct subflow *a, const struct subflow *b)
{
    const bool late = is_late(a);
    const bool recent = is_recent(a);
    return late != is_late(b)       ? !late
           : recent != is_recent(b) ? !recent
                                    : waits_since(a) > waits_since(b);
}

/* Returns the link over which something goes best, or the other when no subflow is ready. */
static struct session_link *choose(struct subflows *subflows, struct session_link *otherwise)
{
    struct subflow *best = NULL;
    for (size_t i = 0; i < SUBFLOWS_MAX; i++) {
        struct subflow *subflow = &subflows->each[i];
        if (subflow->link && subflow->link->transport->ready(subflow->link) &&
            (!best || is_better(subflow, best)))
            best = subflow;
    }
    return best ? best->link : otherwise;
}

void subflows_send(struct subflows *subflows, struct session_link *otherwise,
                   const struct datagram *datagrams, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct session_link *link = choose(subflows, otherwise);
        link->transport->send_batch(link, &datagrams[i], 1);
    }
}

size_t subflows_update(struct subflows *subflows)
{
    static const struct datagram nothing = {(const uint8_t *)"", 0};
    struct session_link *link =
        subflows->to_be_answered >= SUBFLOW_CONFIRM_AFTER ? choose(subflows, NULL) : NULL;
    if (!link)
        return 0;
    link->transport->send_batch(link, &nothing, 1);
    return 1;
}
