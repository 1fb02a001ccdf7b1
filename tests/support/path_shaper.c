#include "path_shaper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET   0.005 /* seconds, as RFC 8289 has it */
#define INTERVAL 0.1
#define SEGMENT  1064.0 /* bytes; a queue of no more than that is short */

void path_shaper_begin(struct path_shaper *shaper, enum path_shaper_kind kind,
                       double bytes_per_second, double depth)
{
    *shaper = (struct path_shaper){.kind = kind,
                                   .bytes_per_second = bytes_per_second,
                                   .depth = depth,
                                   .tokens = depth,
                                   .done = INFINITY};
    if (kind != PATH_SHAPER_CODEL)
        return;
    shaper->queue = calloc(SHAPER_QUEUE, sizeof *shaper->queue);
    if (!shaper->queue)
        exit(1);
}

void path_shaper_end(struct path_shaper *shaper)
{
    free(shaper->queue);
    shaper->queue = NULL;
}

bool path_shaper_passes(struct path_shaper *shaper, size_t size, double now)
{
    shaper->tokens += (now - shaper->filled) * shaper->bytes_per_second;
    shaper->tokens = fmin(shaper->tokens, shaper->depth);
    shaper->filled = now;
    if (shaper->tokens < (double)size)
        return false;
    shaper->tokens -= (double)size;
    return true;
}

static struct path_shaped *head(struct path_shaper *shaper)
{
    return &shaper->queue[shaper->read % SHAPER_QUEUE];
}

static void drop_head(struct path_shaper *shaper)
{
    shaper->backlog -= (double)head(shaper)->size;
    shaper->read++;
    shaper->dropped++;
}

/* Returns whether the head has waited too long, and the queue has been too long for an interval. */
static bool is_too_long(struct path_shaper *shaper, double now)
{
    if (shaper->read == shaper->written || now - head(shaper)->arrived < TARGET ||
        shaper->backlog <= SEGMENT) {
        shaper->above = 0;
        return false;
    }
    if (shaper->above <= 0) {
        shaper->above = now + INTERVAL;
        return false;
    }
    return now >= shaper->above;
}

/* Drops as CoDel does, then begins to send the head. */
static void serve(struct path_shaper *shaper, double now)
{
    bool too_long = is_too_long(shaper, now);
    if (shaper->dropping && !too_long) {
        shaper->dropping = false;
    } else if (shaper->dropping) {
        while (shaper->dropping && now >= shaper->next_drop) {
            drop_head(shaper);
            shaper->drops++;
            shaper->dropping = is_too_long(shaper, now);
            shaper->next_drop += INTERVAL / sqrt(shaper->drops);
        }
    } else if (too_long) {
        drop_head(shaper);
        (void)is_too_long(shaper, now);
        shaper->dropping = true;
        const bool soon = now - shaper->next_drop < INTERVAL * 16 && shaper->drops > 2;
        shaper->drops = soon ? shaper->drops - 2 : 1;
        shaper->next_drop = now + INTERVAL / sqrt(shaper->drops);
    }
    shaper->done = shaper->read == shaper->written
                       ? INFINITY
                       : now + (double)head(shaper)->size / shaper->bytes_per_second;
}

bool path_shaper_put(struct path_shaper *shaper, const uint8_t *data, size_t size, double now)
{
    if (shaper->backlog > shaper->depth || shaper->written - shaper->read == SHAPER_QUEUE)
        return false;
    struct path_shaped *entry = &shaper->queue[shaper->written++ % SHAPER_QUEUE];
    entry->arrived = now;
    entry->size = size;
    memcpy(entry->data, data, size);
    shaper->backlog += (double)size;
    if (isinf(shaper->done))
        serve(shaper, now);
    return true;
}

size_t path_shaper_take(struct path_shaper *shaper, uint8_t *out)
{
    const double now = shaper->done;
    const size_t size = head(shaper)->size;
    memcpy(out, head(shaper)->data, size);
    shaper->backlog -= (double)size;
    shaper->read++;
    serve(shaper, now);
    return size;
}
