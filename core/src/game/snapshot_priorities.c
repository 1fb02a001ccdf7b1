#include "game/snapshot_server_internal.h"

#include <math.h>

/* Returns whether the client may have an entity: the baseline or a snapshot after it has it. */
static bool may_have(const struct cw_snapshot_server *server, const struct cw_snapshot_peer *client,
                     uint32_t entity)
{
    const struct cw_snapshot_record *const baseline = cw_snapshot_baseline_of(server, client);
    const uint32_t first = baseline ? baseline->number : client->first;
    if (first == 0 || (client->number >= first && client->number - first >= server->config.window))
        return true;
    for (uint32_t number = first; number <= client->number; ++number) {
        const struct cw_snapshot_record *const record =
            &client->records[number % server->config.window];
        if (record->complete && !cw_snapshot_world_knows(&server->world, record->version))
            return true;
        const uint32_t *const had = record->complete
                                        ? cw_snapshot_world_changes(&server->world, record->version)
                                        : cw_snapshot_had_of(server, client, number);
        if (cw_change_is_present(had[entity]))
            return true;
    }
    return false;
}

static void hide(const struct cw_snapshot_server *server, struct cw_snapshot_peer *client,
                 uint32_t entity)
{
    client->hidden[entity] = 0;
    if (may_have(server, client, entity))
        client->hidden[entity] = ++client->times_hidden * CW_CHANGE_STEP | CW_CHANGE_HIDDEN;
}

/* Returns whether a snapshot after the baseline has told the client that an entity is hidden. One
   that is made from the baseline, which has the entity, would not bring it back. */
static bool has_told(const struct cw_snapshot_server *server, const struct cw_snapshot_peer *client,
                     uint32_t entity)
{
    const struct cw_snapshot_record *const baseline = cw_snapshot_baseline_of(server, client);
    if (!baseline || client->hidden[entity] == 0)
        return false;
    for (uint32_t number = baseline->number + 1; number <= client->number; ++number) {
        const struct cw_snapshot_record *const record =
            &client->records[number % server->config.window];
        if (record->number == number && !record->complete &&
            cw_snapshot_had_of(server, client, number)[entity] == client->hidden[entity])
            return true;
    }
    return false;
}

/* Makes the priorities in the list the client's wishes. */
static void set_wishes(struct cw_snapshot_server *server, struct cw_snapshot_peer *client,
                       const struct cw_priority *list, uint32_t count)
{
    const struct cw_snapshot_interest_scratch *const scratch = &server->interest_scratch;
    count = cw_snapshot_interest_sort(scratch, list, count, server->config.max_entities);
    if (!cw_snapshot_interest_set(&client->interest, scratch, count, client->number + 1))
        cw_snapshot_forget(server, client);
}

/* Sets one of the client's wishes. */
static enum cw_error set_wish(struct cw_snapshot_server *server, struct cw_snapshot_peer *client,
                              const struct cw_priority *wish)
{
    struct cw_priority *const list = server->interest_scratch.sorted;
    uint32_t count =
        cw_snapshot_interest_copy(&client->interest, &server->interest_scratch, wish->entity);
    if (wish->priority > 0) {
        if (count == server->config.max_interest)
            return CW_ERROR_INVALID_ARGUMENT;
        list[count++] = *wish;
    }
    set_wishes(server, client, list, count);
    return CW_OK;
}

static bool is_priority(const struct cw_snapshot_server *server, uint32_t entity, float priority)
{
    return entity < server->config.max_entities && priority >= 0 && priority < INFINITY;
}

enum cw_error cw_snapshot_server_set_interest(struct cw_snapshot_server *server, uint32_t client,
                                              const struct cw_priority *entities, size_t count)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c || (!entities && count > 0) || count > server->config.max_interest ||
        server->config.max_interest == 0)
        return CW_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; ++i)
        if (!is_priority(server, entities[i].entity, entities[i].priority))
            return CW_ERROR_INVALID_ARGUMENT;
    set_wishes(server, c, entities, (uint32_t)count);
    return CW_OK;
}

enum cw_error cw_snapshot_server_set_priority(struct cw_snapshot_server *server, uint32_t client,
                                              uint32_t entity, float priority)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c || !is_priority(server, entity, priority))
        return CW_ERROR_INVALID_ARGUMENT;
    if (server->config.max_interest > 0)
        return set_wish(server, c, &(struct cw_priority){entity, priority});
    const bool was_hidden = c->priority[entity] <= 0, is_hidden = priority <= 0;
    c->hidden_count -= was_hidden;
    c->hidden_count += is_hidden;
    c->priority[entity] = priority;
    if (is_hidden && !was_hidden)
        hide(server, c, entity);
    else if (was_hidden && !is_hidden && cw_change_is_present(server->world.last[entity]) &&
             has_told(server, c, entity))
        cw_snapshot_forget(server, c);
    return CW_OK;
}
