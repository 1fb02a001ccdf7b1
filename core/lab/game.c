#include "lab/game.h"

#include <math.h>

static struct cw_lab_sent_item *remembered(struct cw_lab_flow *flow, uint32_t id)
{
    return &flow->items[id % CW_LAB_GAME_REMEMBERED];
}

static uint32_t size_of(enum cw_lab_traffic traffic)
{
    if (traffic == CW_LAB_BLOCK)
        return CW_LAB_BLOCK_SIZE;
    return traffic == CW_LAB_STATE ? CW_LAB_STATE_SIZE : CW_LAB_MESSAGE_SIZE;
}

static bool is_traffic(enum cw_lab_traffic traffic)
{
    return traffic >= CW_LAB_STATE && traffic <= CW_LAB_BLOCK;
}

static void make(struct cw_lab_flow *flow, enum cw_lab_traffic traffic, double now)
{
    const uint32_t under_way = flow->made - flow->settled;
    if (traffic == CW_LAB_BLOCK && under_way > 0)
        return;
    if (traffic == CW_LAB_MESSAGE && under_way == CW_LAB_GAME_REMEMBERED) {
        flow->stats.refused++;
        return;
    }
    *remembered(flow, flow->made) =
        (struct cw_lab_sent_item){.id = flow->made, .under_way = true, .sent = now};
    flow->made++;
    flow->stats.sent++;
}

void cw_lab_game_send(struct cw_lab_game *game, enum cw_lab_traffic traffic, bool due,
                      const struct cw_lab_peer_type *type, void *peer, double now)
{
    if (!game || !is_traffic(traffic) || !type || !peer || !isfinite(now))
        return;
    struct cw_lab_flow *flow = &game->flows[traffic];
    if (due)
        make(flow, traffic, now);
    for (; flow->accepted < flow->made; flow->accepted++) {
        const struct cw_lab_item item = {traffic, flow->accepted, size_of(traffic)};
        if (type->send(peer, &item, now))
            continue;
        if (traffic == CW_LAB_STATE) {
            flow->stats.refused++;
            flow->made--; /* otherwise the messages that wait would be forgotten */
        }
        return;
    }
}

/* Returns whether an item came in order: messages and blocks must, states need not. */
static bool is_in_order(struct cw_lab_flow *flow, const struct cw_lab_item *item)
{
    if (item->traffic == CW_LAB_STATE)
        return true;
    if (item->id != flow->settled)
        return false;
    flow->settled++;
    return true;
}

bool cw_lab_game_settle(struct cw_lab_game *game, const struct cw_lab_arrival *arrival, double now,
                        double *seconds)
{
    if (!game || !arrival || !is_traffic(arrival->item.traffic) || !isfinite(now) || !seconds)
        return false;
    const struct cw_lab_item *item = &arrival->item;
    struct cw_lab_flow *flow = &game->flows[item->traffic];
    struct cw_lab_sent_item *sent = remembered(flow, item->id);
    if (item->id >= flow->made || sent->id != item->id || !sent->under_way ||
        !is_in_order(flow, item)) {
        flow->stats.faults++;
        return false;
    }
    sent->under_way = false;
    *seconds = now - sent->sent;
    if (arrival->lost) {
        flow->stats.lost++;
    } else {
        flow->stats.delivered++;
        cw_lab_latencies_add(&flow->latencies, *seconds);
    }
    return true;
}

void cw_lab_game_get_stats(const struct cw_lab_game *game, enum cw_lab_traffic traffic, double now,
                           struct cw_lab_game_stats *stats)
{
    if (!game || !isfinite(now) || !stats)
        return;
    *stats = (struct cw_lab_game_stats){0};
    if (!is_traffic(traffic))
        return;
    const struct cw_lab_flow *flow = &game->flows[traffic];
    *stats = flow->stats;
    stats->mean_seconds = cw_lab_latencies_mean(&flow->latencies);
    if (traffic != CW_LAB_STATE && flow->settled < flow->made)
        stats->oldest_seconds = now - flow->items[flow->settled % CW_LAB_GAME_REMEMBERED].sent;
}

void cw_lab_game_restart_stats(struct cw_lab_game *game)
{
    for (int i = 0; game && i <= CW_LAB_BLOCK; i++) {
        game->flows[i].stats = (struct cw_lab_game_stats){0};
        game->flows[i].latencies = (struct cw_lab_latencies){0};
    }
}
