#include "game/game_body.h"
#include "game/game_server_internal.h"

#include <math.h>
#include <string.h>

/* A client's own entity is to be in every snapshot. */
#define OWN_PRIORITY 100

/* An echo of the clock and a report about inputs go this often. */
#define ECHO_SECONDS 0.045

/* The least capacity in which a snapshot can be begun; see snapshot.h. */
#define LEAST_SNAPSHOT 32
/* The least room for events: a head and one of them. */
#define LEAST_EVENTS (CW_GAME_EVENTS_HEAD + CW_GAME_EVENT_SIZE)

static bool has_history(const struct cw_game_config *config)
{
    return config->max_rewind_seconds > 0;
}

/* Creates the parts in the arena, or measures them when it has no memory. */
static enum cw_error create_parts(struct cw_game_server *server, struct cw_arena *arena,
                                  const struct cw_game_config *config)
{
    struct cw_game_stand_in stand_in;
    struct cw_snapshot_config snapshots = cw_game_snapshot_config(config);
    const double ticks = config->max_rewind_seconds * config->ticks_per_second + 2;
    struct cw_history_config history = cw_game_history_config(config, ticks);
    const struct cw_input_config inputs = cw_game_input_config(config, arena, &stand_in);
    snapshots.allocator = history.allocator = inputs.allocator;
    if (!arena->base) {
        cw_arena_take(arena, cw_snapshot_server_memory(&snapshots));
        cw_arena_take(arena, has_history(config) ? cw_history_memory(&history) : 0);
        for (uint32_t i = 0; i < config->max_clients; i++)
            cw_arena_take(arena, cw_input_receiver_memory(&inputs));
        return CW_OK;
    }
    server->carried = inputs.schema;
    enum cw_error error = cw_snapshot_server_create(&snapshots, &server->snapshots);
    if (error == CW_OK && has_history(config))
        error = cw_history_create(&history, &server->history);
    for (uint32_t i = 0; i < config->max_clients && error == CW_OK; i++)
        error = cw_input_receiver_create(&inputs, &server->seats[i].inputs);
    return error;
}

static void lay_out(struct cw_game_server *server, struct cw_arena *arena,
                    const struct cw_game_config *config)
{
    const size_t clients = config->max_clients, entities = config->max_entities;
    const size_t input = cw_game_carried_size(config);
    struct cw_game_server parts = {.config = *config, .memory = arena->size};
    parts.stride = (cw_game_kept_size(config->schema) + 15) / 16 * 16;
    parts.seats = cw_snapshot_take(arena, clients, sizeof *parts.seats);
    parts.states = cw_snapshot_take(arena, entities, parts.stride);
    parts.there = cw_snapshot_take(arena, entities, sizeof *parts.there);
    uint8_t *const inputs = cw_snapshot_take(arena, clients, input);
    if (!server)
        return;
    *server = parts;
    for (uint32_t i = 0; i < config->max_clients; i++)
        server->seats[i].input = inputs + i * input;
}

size_t cw_game_server_memory(const struct cw_game_config *config)
{
    struct cw_arena arena = {0};
    if (cw_game_config_check(config) != CW_OK)
        return 0;
    cw_arena_take(&arena, sizeof(struct cw_game_server));
    lay_out(NULL, &arena, config);
    (void)create_parts(NULL, &arena, config);
    return arena.used;
}

enum cw_error cw_game_server_create(const struct cw_game_config *config,
                                    struct cw_game_server **server)
{
    enum cw_error error = server ? cw_game_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_game_server_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_game_server *const made = cw_arena_take(&arena, sizeof *made);
    lay_out(made, &arena, config);
    error = create_parts(made, &arena, config);
    if (error != CW_OK) {
        cw_release(&config->allocator, made, arena.size);
        return error;
    }
    cw_game_server_reset(made);
    *server = made;
    return CW_OK;
}

void cw_game_server_destroy(struct cw_game_server *server)
{
    if (!server)
        return;
    const struct cw_allocator allocator = server->config.allocator;
    cw_release(&allocator, server, server->memory); /* the parts are in the same block */
}

void cw_game_server_reset(struct cw_game_server *server)
{
    if (!server)
        return;
    struct cw_game_server *const s = server;
    cw_snapshot_server_reset(s->snapshots);
    cw_history_reset(s->history);
    for (uint32_t i = 0; i < s->config.max_clients; i++)
        s->seats[i].taken = false;
    memset(s->there, 0, s->config.max_entities * sizeof *s->there);
    s->used = 0;
    s->time = (struct cw_game_server_time){.rates = {1, 1, 1}};
    s->playing = false;
    s->tick = s->snapshot_tick = 0;
    s->log.count = 0;
    s->malformed = 0;
    s->fault = (struct cw_game_fault){.entity = CW_FIELD_NONE, .field = CW_FIELD_NONE};
}

static struct cw_game_seat *seat_of(const struct cw_game_server *server, uint32_t client)
{
    return server && client < server->config.max_clients ? &server->seats[client] : NULL;
}

static struct cw_game_seat *taken_seat(const struct cw_game_server *server, uint32_t client)
{
    struct cw_game_seat *const seat = seat_of(server, client);
    return seat && seat->taken ? seat : NULL;
}

enum cw_error cw_game_server_join(struct cw_game_server *server, uint32_t client, uint32_t entity)
{
    struct cw_game_seat *const seat = seat_of(server, client);
    if (!seat || entity >= server->config.max_entities)
        return CW_ERROR_INVALID_ARGUMENT;
    cw_input_receiver_reset(seat->inputs);
    cw_snapshot_server_join(server->snapshots, client);
    cw_snapshot_server_set_priority(server->snapshots, client, entity, OWN_PRIORITY);
    memset(seat->input, 0, cw_game_carried_size(&server->config));
    *seat = (struct cw_game_seat){.inputs = seat->inputs,
                                  .input = seat->input,
                                  .taken = true,
                                  .entity = entity,
                                  .events.acked = server->log.count,
                                  .echoed = -(double)INFINITY};
    return CW_OK;
}

void cw_game_server_leave(struct cw_game_server *server, uint32_t client)
{
    struct cw_game_seat *const seat = seat_of(server, client);
    if (seat)
        seat->taken = false;
}

enum cw_error cw_game_server_receive(struct cw_game_server *server, uint32_t client,
                                     const uint8_t *data, size_t size, double now)
{
    struct cw_game_seat *const seat = taken_seat(server, client);
    if (!seat || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_game_up head;
    const double tick_time = cw_game_server_tick_time(server, now);
    const size_t used = cw_game_read_up(data, size, &head);
    const enum cw_error error =
        used > 0 ? cw_input_receiver_receive(seat->inputs, data + used, size - used, tick_time)
                 : CW_ERROR_MALFORMED;
    if (error == CW_ERROR_MALFORMED) {
        server->malformed++;
        return error;
    }
    cw_clock_echo_receive(&seat->echo, head.stamp, CW_CLOCK_STAMP_SIZE,
                          tick_time / server->config.ticks_per_second);
    if (head.has_snapshot)
        cw_snapshot_server_acked(server->snapshots, client, head.snapshot);
    if (head.has_snapshot)
        cw_game_log_acked(&seat->events, head.snapshot);
    return error;
}

bool cw_game_server_input(struct cw_game_server *server, uint32_t client, void *input)
{
    struct cw_game_seat *const seat = taken_seat(server, client);
    if (!seat || !input || !server->playing)
        return false;
    if (!seat->given || seat->given_tick != server->tick)
        cw_input_receiver_take(seat->inputs, server->tick, seat->input);
    seat->given = true;
    seat->given_tick = server->tick;
    memcpy(input, seat->input,
           cw_schema_type(server->config.schema, server->config.input_type)->size);
    return true;
}

bool cw_game_server_seen(const struct cw_game_server *server, uint32_t client, uint32_t entity,
                         struct cw_game_entity *seen)
{
    const struct cw_game_seat *const seat = taken_seat(server, client);
    if (!seat || !seen || !server->history)
        return false;
    struct cw_view view;
    const struct cw_view told = cw_game_get_view(server->carried, seat->input, server->tick);
    return cw_history_rewind(server->history, &told, &view) &&
           cw_game_find(server->config.schema, server->history, &view, entity, seen);
}

enum cw_error cw_game_server_set_priority(struct cw_game_server *server, uint32_t client,
                                          uint32_t entity, float priority)
{
    return server ? cw_snapshot_server_set_priority(server->snapshots, client, entity, priority)
                  : CW_ERROR_INVALID_ARGUMENT;
}

enum cw_error cw_game_server_set_interest(struct cw_game_server *server, uint32_t client,
                                          const struct cw_priority *entities, size_t count)
{
    const struct cw_game_seat *const seat = taken_seat(server, client);
    if (!seat || count > server->config.max_interest)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error =
        cw_snapshot_server_set_interest(server->snapshots, client, entities, count);
    return error == CW_OK ? cw_snapshot_server_set_priority(server->snapshots, client, seat->entity,
                                                            OWN_PRIORITY)
                          : error;
}

void cw_game_server_remove(struct cw_game_server *server, uint32_t entity)
{
    if (!server || entity >= server->config.max_entities)
        return;
    server->there[entity] = false;
    cw_snapshot_server_remove(server->snapshots, entity);
    for (uint32_t i = 0; i < server->config.max_clients; i++)
        if (server->seats[i].taken && server->seats[i].entity == entity)
            cw_snapshot_server_set_priority(server->snapshots, i, entity, OWN_PRIORITY);
}

/* Writes what the clock and the inputs need, where it is time for that. */
static size_t write_head(struct cw_game_server *server, struct cw_game_seat *seat, bool has_events,
                         uint8_t *out, double now)
{
    uint8_t echo[CW_CLOCK_ECHO_SIZE], report[CW_INPUT_REPORT_SIZE];
    struct cw_input_receiver_stats inputs;
    const double tick_time = cw_game_server_tick_time(server, now);
    const double time = tick_time / server->config.ticks_per_second;
    cw_input_receiver_get_stats(seat->inputs, &inputs);
    struct cw_game_down head = {.entity = (uint16_t)seat->entity,
                                .starved = (uint8_t)inputs.starved,
                                .has_events = has_events,
                                .rate = cw_game_server_rate(server)};
    if (now - seat->echoed >= ECHO_SECONDS) {
        seat->echoed = now;
        if (cw_clock_echo_transmit(&seat->echo, tick_time, echo, sizeof echo, time) > 0)
            head.echo = echo;
        if (cw_input_receiver_transmit(seat->inputs, report, sizeof report) > 0)
            head.report = report;
    }
    return cw_game_write_down(&head, out);
}

size_t cw_game_server_transmit(struct cw_game_server *server, uint32_t client, uint8_t *out,
                               size_t capacity, double now)
{
    struct cw_game_seat *const seat = taken_seat(server, client);
    if (!seat || !out || !isfinite(now) || server->snapshot_tick == seat->sent_tick)
        return 0;
    uint8_t events[CW_GAME_EVENTS_HEAD + CW_GAME_MOST_EVENTS * CW_GAME_EVENT_SIZE];
    uint32_t number, end;
    const size_t most = capacity < server->config.max_bytes ? capacity : server->config.max_bytes;
    if (most < CW_GAME_DOWN_HEAD + LEAST_EVENTS + LEAST_SNAPSHOT)
        return 0;
    seat->sent_tick = server->snapshot_tick;
    const size_t length =
        cw_game_log_write(&server->log, &seat->events, server->snapshot_tick, events,
                          most - CW_GAME_DOWN_HEAD - LEAST_SNAPSHOT, &end);
    const size_t head = write_head(server, seat, length > 0, out, now);
    memcpy(out + head, events, length);
    const size_t before = head + length;
    const size_t size = cw_snapshot_server_transmit(server->snapshots, client, out + before,
                                                    most - before, &number);
    if (size > 0)
        cw_game_log_sent(&seat->events, number, end);
    return before + size;
}

void cw_game_server_emit(struct cw_game_server *server, uint32_t entity, uint8_t kind)
{
    if (server && server->playing && entity < server->config.max_entities)
        cw_game_log_add(&server->log, server->tick, entity, kind);
}

void cw_game_server_get_stats(const struct cw_game_server *server,
                              struct cw_game_server_stats *stats)
{
    if (!server || !stats)
        return;
    *stats = (struct cw_game_server_stats){.tick = server->tick,
                                           .rate = (double)cw_game_server_rate(server) /
                                                   CW_GAME_FULL_RATE,
                                           .ticks = server->time.ticks,
                                           .skipped = server->time.skipped,
                                           .malformed = server->malformed,
                                           .fault = server->fault};
    cw_snapshot_server_get_stats(server->snapshots, &stats->snapshots);
}

void cw_game_server_get_inputs(const struct cw_game_server *server, uint32_t client,
                               struct cw_input_receiver_stats *stats)
{
    const struct cw_game_seat *const seat = taken_seat(server, client);
    if (seat)
        cw_input_receiver_get_stats(seat->inputs, stats);
}
