#include "protocols/bunch_internal.h"

#include <string.h>

void cw_bunch_queue_init(struct cw_bunch_queue *queue, struct cw_arena *arena,
                         const struct cw_bunch_config *config)
{
    const uint32_t places = config->unreliable_bunches;
    *queue = (struct cw_bunch_queue){.places = places, .max_size = config->max_part_size};
    queue->waiting = cw_arena_take(arena, places * sizeof *queue->waiting);
    queue->bytes = cw_arena_take(arena, (size_t)places * config->max_part_size);
}

void cw_bunch_queue_clear(struct cw_bunch_queue *queue)
{
    queue->first = queue->count = 0;
    queue->added = queue->dropped = 0;
}

void cw_bunch_queue_add(struct cw_bunch_queue *queue, const struct cw_bunch_item *item)
{
    if (queue->count == queue->places) {
        cw_bunch_queue_remove(queue);
        queue->dropped++;
    }
    const uint32_t place = (queue->first + queue->count) % queue->places;
    uint8_t *bytes = queue->bytes + (size_t)place * queue->max_size;
    queue->waiting[place] = *item;
    queue->waiting[place].data = bytes;
    if (item->size)
        memcpy(bytes, item->data, item->size);
    queue->count++;
    queue->added++;
}

const struct cw_bunch_item *cw_bunch_queue_oldest(const struct cw_bunch_queue *queue)
{
    return queue->count ? &queue->waiting[queue->first] : NULL;
}

void cw_bunch_queue_remove(struct cw_bunch_queue *queue)
{
    queue->first = (queue->first + 1) % queue->places;
    queue->count--;
}
