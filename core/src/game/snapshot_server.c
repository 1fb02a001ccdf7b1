#include "game/snapshot_server_internal.h"

#include <math.h>

#define LEAST_CAPACITY 32 /* bytes in which a snapshot can be begun; see snapshot.h */

/* The baselines of a snapshot: NULL for nothing. The baseline's own baseline is set only when it is
   used to predict. */
struct ground {
    const struct cw_snapshot_record *baseline, *before;
};

static void lay_out_client(struct cw_snapshot_peer *client, struct cw_arena *arena,
                           const struct cw_snapshot_config *config)
{
    const uint64_t entities = config->max_interest > 0 ? 0 : config->max_entities;
    struct cw_snapshot_peer parts = {0};
    parts.records = cw_snapshot_take(arena, config->window, sizeof *parts.records);
    cw_snapshot_interest_layout(&parts.interest, arena, config->max_interest, config->window);
    parts.had = cw_snapshot_take(arena, entities * config->window, sizeof *parts.had);
    parts.priority = cw_snapshot_take(arena, entities, sizeof *parts.priority);
    parts.waited = cw_snapshot_take(arena, entities, sizeof *parts.waited);
    parts.hidden = cw_snapshot_take(arena, entities, sizeof *parts.hidden);
    if (client)
        *client = parts;
}

static struct cw_snapshot_server *lay_out(struct cw_arena *arena,
                                          const struct cw_snapshot_config *config)
{
    struct cw_snapshot_server *const server = cw_arena_take(arena, sizeof *server);
    struct cw_snapshot_peer *const clients =
        cw_snapshot_take(arena, config->max_clients, sizeof *clients);
    for (uint32_t i = 0; i < config->max_clients; ++i)
        lay_out_client(server ? &clients[i] : NULL, arena, config);
    const uint64_t bodies = config->window + 1;
    struct cw_snapshot_shared *const shared = cw_snapshot_take(arena, bodies, sizeof *shared);
    uint8_t *const bytes = cw_snapshot_take(arena, bodies, config->max_bytes);
    uint32_t *const nothing = cw_snapshot_take(arena, config->max_entities, sizeof *nothing);
    uint32_t *const wanted = cw_snapshot_take(arena, config->max_entities, sizeof *wanted);
    if (server)
        *server = (struct cw_snapshot_server){.config = *config,
                                              .memory = arena->size,
                                              .clients = clients,
                                              .shared = shared,
                                              .shared_bytes = bytes,
                                              .nothing = nothing,
                                              .wanted = wanted};
    cw_snapshot_interest_scratch_layout(server ? &server->interest_scratch : NULL, arena,
                                        config->max_interest);
    cw_snapshot_scratch_layout(server ? &server->scratch : NULL, arena, config);
    cw_snapshot_world_layout(server ? &server->world : NULL, arena, config->schema,
                             config->max_entities, config->window);
    if (server)
        server->wire = cw_snapshot_wire_make(server->world.quantized, config);
    return server;
}

size_t cw_snapshot_server_memory(const struct cw_snapshot_config *config)
{
    struct cw_arena arena = {0};
    if (cw_snapshot_config_check(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_snapshot_server_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_server **server)
{
    const enum cw_error error =
        server ? cw_snapshot_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_snapshot_server_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *server = lay_out(&arena, config);
    cw_snapshot_server_reset(*server);
    return CW_OK;
}

void cw_snapshot_server_destroy(struct cw_snapshot_server *server)
{
    if (!server)
        return;
    const struct cw_allocator allocator = server->config.allocator;
    cw_release(&allocator, server, server->memory);
}

void cw_snapshot_server_reset(struct cw_snapshot_server *server)
{
    if (!server)
        return;
    const size_t bodies = (size_t)server->config.window + 1;
    cw_snapshot_world_reset(&server->world);
    server->scratch.extra = 0;
    memset(server->shared, 0, bodies * sizeof *server->shared);
    memset(&server->stats, 0, sizeof server->stats);
    for (uint32_t i = 0; i < server->config.max_clients; ++i) {
        struct cw_snapshot_peer *const client = &server->clients[i];
        const size_t entities = server->config.max_entities;
        if (server->config.max_interest == 0)
            memset(client->had, 0, entities * server->config.window * sizeof *client->had);
        client->number = 0;
        client->times_hidden = 0;
        cw_snapshot_server_join(server, i);
    }
}

enum cw_error cw_snapshot_server_set(struct cw_snapshot_server *server, uint32_t entity,
                                     uint32_t type, const void *state)
{
    return server ? cw_snapshot_world_set(&server->world, entity, type, state)
                  : CW_ERROR_INVALID_ARGUMENT;
}

void cw_snapshot_server_remove(struct cw_snapshot_server *server, uint32_t entity)
{
    if (!server || !cw_snapshot_world_remove(&server->world, entity) ||
        server->config.max_interest > 0)
        return;
    for (uint32_t i = 0; i < server->config.max_clients; ++i)
        cw_snapshot_server_set_priority(server, i, entity, 1);
}

enum cw_error cw_snapshot_server_tick(struct cw_snapshot_server *server, uint32_t tick)
{
    return server ? cw_snapshot_world_tick(&server->world, tick) : CW_ERROR_INVALID_ARGUMENT;
}

enum cw_error cw_snapshot_server_join(struct cw_snapshot_server *server, uint32_t client)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c)
        return CW_ERROR_INVALID_ARGUMENT;
    cw_snapshot_forget(server, c);
    c->interest.count = 0;
    for (uint32_t i = 0; i < server->config.max_entities && server->config.max_interest == 0; ++i) {
        c->priority[i] = 1;
        c->waited[i] = 0;
    }
    c->hidden_count = 0;
    c->all_sent = true;
    c->first = c->number + 1;
    return CW_OK;
}

enum cw_error cw_snapshot_server_restart(struct cw_snapshot_server *server, uint32_t client)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c)
        return CW_ERROR_INVALID_ARGUMENT;
    cw_snapshot_forget(server, c);
    return CW_OK;
}

/* Returns the client's entities as of a record, whose version is known. */
static const uint32_t *changes_of(const struct cw_snapshot_server *server,
                                  const struct cw_snapshot_peer *client,
                                  const struct cw_snapshot_record *record)
{
    return record->complete ? cw_snapshot_world_changes(&server->world, record->version)
                            : cw_snapshot_had_of(server, client, record->number);
}

/* Returns the baseline of the baseline, if it can serve to predict. */
static const struct cw_snapshot_record *before_of(const struct cw_snapshot_server *server,
                                                  const struct cw_snapshot_peer *client,
                                                  const struct cw_snapshot_record *baseline)
{
    const struct cw_snapshot_world *const world = &server->world;
    if (server->config.coding == CW_SNAPSHOT_DIFFERENCES || !baseline || baseline->baseline == 0)
        return NULL;
    const struct cw_snapshot_record *const before =
        &client->records[baseline->baseline % server->config.window];
    if (before->number != baseline->baseline ||
        client->number + 1 - before->number >= server->config.window ||
        !cw_snapshot_world_knows(world, before->version))
        return NULL;
    const uint32_t at = cw_snapshot_world_tick_of(world, baseline->version);
    const uint32_t took = at - cw_snapshot_world_tick_of(world, before->version);
    const uint32_t ahead = cw_snapshot_world_tick_of(world, world->version) - at;
    return cw_snapshot_can_predict(took, ahead) ? before : NULL;
}

static struct cw_snapshot_body start_body(struct cw_snapshot_server *server,
                                          const struct cw_snapshot_peer *client,
                                          const struct ground *ground)
{
    struct cw_snapshot_world *const world = &server->world;
    const struct cw_snapshot_record *const baseline = ground->baseline, *const before =
                                                                            ground->before;
    struct cw_snapshot_body body = {
        .world = world,
        .wire = &server->wire,
        .scratch = &server->scratch,
        .head = {.tick = cw_snapshot_world_tick_of(world, world->version)},
    };
    if (baseline) {
        body.head.has_baseline = true;
        body.head.baseline_tick = cw_snapshot_world_tick_of(world, baseline->version);
    }
    if (server->config.max_interest == 0) {
        body.has = cw_snapshot_world_changes(world, world->version);
        body.had = baseline ? changes_of(server, client, baseline) : server->nothing;
        body.before = before ? changes_of(server, client, before) : NULL;
    }
    if (before) {
        body.took = body.head.baseline_tick - cw_snapshot_world_tick_of(world, before->version);
        body.ahead = body.head.tick - body.head.baseline_tick;
    }
    return body;
}

/* Writes the body that is the same for all clients who have exactly what the baseline had. Returns
   the size, 0 when it is above capacity. */
static size_t write_shared(struct cw_snapshot_server *server, const struct ground *ground,
                           uint8_t *out, size_t capacity)
{
    const uint32_t from = ground->baseline ? ground->baseline->version : 0;
    const uint32_t before = ground->before ? ground->before->version : 0;
    const uint32_t window = server->config.window, slot = from > 0 ? from % window : window;
    struct cw_snapshot_shared *const shared = &server->shared[slot];
    uint8_t *const bytes = server->shared_bytes + (size_t)slot * server->config.max_bytes;
    if (shared->from == from && shared->before == before && shared->to == server->world.version) {
        server->stats.shared += shared->size > 0 && shared->size <= capacity;
    } else {
        struct cw_snapshot_body body = start_body(server, NULL, ground);
        cw_snapshot_body_list(&body);
        const size_t size = cw_snapshot_body_write(
            &body, bytes, server->config.max_bytes - CW_SNAPSHOT_HEADER_SIZE);
        *shared = (struct cw_snapshot_shared){from, before, server->world.version, (uint32_t)size,
                                              body.head.count};
    }
    if (shared->size == 0 || shared->size > capacity)
        return 0;
    memcpy(out, bytes, shared->size);
    server->stats.entities_sent += shared->count;
    return shared->size;
}

/* Returns the entities for a client that is not interested in all of them. */
static const uint32_t *wanted_by(struct cw_snapshot_server *server,
                                 const struct cw_snapshot_peer *client, const uint32_t *changes)
{
    if (client->hidden_count == 0)
        return changes;
    for (uint32_t i = 0; i < server->world.used; ++i)
        server->wanted[i] = client->priority[i] > 0 ? changes[i] : client->hidden[i];
    return server->wanted;
}

/* Fills in the changes that a client has once it gets the body. */
static void note_had(const struct cw_snapshot_server *server, const struct cw_snapshot_body *body,
                     uint32_t *had)
{
    const uint32_t used = server->world.used;
    if (body->head.has_baseline)
        memcpy(had, body->had, used * sizeof *had);
    else /* a client that has nothing need not learn what is not there */
        for (uint32_t i = 0; i < used; ++i)
            had[i] = cw_change_is_present(body->has[i]) ? 0 : body->has[i];
    for (uint32_t i = 0; i < body->differing; ++i)
        if (server->scratch.differences[i].chosen)
            had[server->scratch.differences[i].id] = server->scratch.differences[i].has;
}

/* Adds the priority of each entity that differs to what it waited. Removals come before everything
   else. */
static void gain(const struct cw_snapshot_body *body, struct cw_snapshot_peer *client)
{
    for (uint32_t i = 0; i < body->differing; ++i) {
        struct cw_snapshot_difference *const difference = &body->scratch->differences[i];
        float *const waited = &client->waited[difference->id];
        *waited += client->priority[difference->id];
        difference->urgency = cw_change_is_present(difference->has) ? *waited : INFINITY;
    }
}

/* Writes a body for this client alone, and notes the changes that the client then has. */
static size_t write_own(struct cw_snapshot_server *server, struct cw_snapshot_peer *client,
                        const struct ground *ground, struct cw_snapshot_record *record,
                        uint8_t *out, size_t capacity)
{
    struct cw_snapshot_body body = start_body(server, client, ground);
    body.has = wanted_by(server, client, body.has);
    cw_snapshot_body_list(&body);
    size_t size = cw_snapshot_body_write(&body, out, capacity);
    const bool all = size > 0;
    if (!all) {
        if (client->all_sent)
            memset(client->waited, 0, server->world.used * sizeof *client->waited);
        gain(&body, client);
        size = cw_snapshot_body_write_some(&body, out, capacity);
        for (uint32_t i = 0; i < body.differing; ++i)
            if (server->scratch.differences[i].chosen)
                client->waited[server->scratch.differences[i].id] = 0;
    }
    client->all_sent = all;
    record->complete = all && client->hidden_count == 0;
    server->stats.entities_sent += body.head.count;
    server->stats.entities_cut += body.differing - body.head.count;
    if (record->complete)
        return size;
    note_had(server, &body, cw_snapshot_had_of(server, client, record->number));
    return size;
}

/* Writes a body for a client with wishes, and notes what the client then has. */
static size_t write_wishes(struct cw_snapshot_server *server, struct cw_snapshot_peer *client,
                           const struct ground *ground, struct cw_snapshot_record *record,
                           uint8_t *out, size_t capacity)
{
    struct cw_snapshot_body body = start_body(server, client, ground);
    const struct cw_snapshot_numbers numbers = {record->number, record->baseline,
                                                ground->before ? ground->before->number : 0};
    const uint32_t number = record->number;
    if (!cw_snapshot_interest_list(&client->interest, &numbers, &body))
        record->number = 0; /* nobody can tell what the client then has */
    size_t size = client->all_sent ? cw_snapshot_body_write(&body, out, capacity) : 0;
    if (size == 0)
        size = cw_snapshot_body_write_some(&body, out, capacity);
    if (size > 0)
        cw_snapshot_interest_note(&client->interest, number, &body);
    client->all_sent = body.head.count == body.differing;
    server->stats.entities_sent += body.head.count;
    server->stats.entities_cut += body.differing - body.head.count;
    return size;
}

size_t cw_snapshot_server_transmit(struct cw_snapshot_server *server, uint32_t client, uint8_t *out,
                                   size_t capacity, uint32_t *number)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c || !out || !number || capacity < LEAST_CAPACITY || server->world.version == 0)
        return 0;
    if (capacity > server->config.max_bytes)
        capacity = server->config.max_bytes;
    capacity -= CW_SNAPSHOT_HEADER_SIZE;
    const struct cw_snapshot_record *const baseline = cw_snapshot_baseline_of(server, c);
    struct ground ground = {baseline, before_of(server, c, baseline)};
    struct cw_snapshot_record record = {.number = c->number + 1,
                                        .version = server->world.version,
                                        .baseline = baseline ? baseline->number : 0};
    uint8_t *const body = out + CW_SNAPSHOT_HEADER_SIZE;
    size_t size = 0;
    if (server->config.max_interest > 0) {
        size = write_wishes(server, c, &ground, &record, body, capacity);
    } else if (c->hidden_count == 0 && (!baseline || baseline->complete)) {
        if (ground.before && !ground.before->complete)
            ground.before = NULL;
        size = write_shared(server, &ground, body, capacity);
        record.complete = size > 0;
        c->all_sent |= record.complete;
    }
    if (size == 0 && server->config.max_interest == 0)
        size = write_own(server, c, &ground, &record, body, capacity);
    if (size == 0)
        return 0;
    const uint32_t next = ++c->number;
    out[0] = (uint8_t)next;
    out[1] = (uint8_t)(next >> 8);
    out[2] = (uint8_t)(baseline ? next - baseline->number : 0);
    if (ground.before)
        out[2] |= CW_SNAPSHOT_PREDICTS;
    c->records[next % server->config.window] = record;
    *number = next;
    size += CW_SNAPSHOT_HEADER_SIZE;
    server->stats.snapshots++;
    server->stats.bytes += size;
    server->stats.whole += !baseline;
    return size;
}

void cw_snapshot_server_acked(struct cw_snapshot_server *server, uint32_t client, uint32_t number)
{
    struct cw_snapshot_peer *const c = cw_snapshot_peer_of(server, client);
    if (!c)
        return;
    /* the number of snapshots that were sent since */
    const uint32_t since = (uint16_t)(c->number - number);
    const uint32_t acked = c->number - since;
    if (since >= server->config.window || since >= c->number)
        return;
    if (c->records[acked % server->config.window].number == acked && acked > c->acked)
        c->acked = acked;
}

void cw_snapshot_server_get_stats(const struct cw_snapshot_server *server,
                                  struct cw_snapshot_server_stats *stats)
{
    if (!server || !stats)
        return;
    *stats = server->stats;
    stats->entities = server->world.alive;
}
