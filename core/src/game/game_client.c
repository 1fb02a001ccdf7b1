#include "game/game_client_internal.h"

#include "game/game_body.h"

#include <math.h>
#include <string.h>

/* The time for which predicted ticks are kept: the server's answer to a tick comes sooner, or the
   client cannot play. */
#define KEPT_SECONDS 6

/* The client's ticks run ahead by at most this: enough for a round trip of 5 seconds. */
#define LEAD_SECONDS 3

/* A path that stalls for half a second asks for as much more lead, which comes slowly. */
#define JUMP_SECONDS 1

/* The time that the states of others are kept beyond the longest delay. */
#define SPARE_SECONDS 0.5

/* Without a new input, the clock's stamps go this often. */
#define STAMP_SECONDS 0.05

static struct cw_clock_sync_config clock_config(const struct cw_game_config *config)
{
    struct cw_clock_sync_config clock = cw_clock_sync_config_default();
    clock.ticks_per_second = config->ticks_per_second;
    clock.max_lead_seconds = LEAD_SECONDS;
    clock.jump_seconds = JUMP_SECONDS;
    return clock;
}

uint32_t cw_game_kept_ticks(const struct cw_game_config *config)
{
    return (uint32_t)cw_game_limit(KEPT_SECONDS * config->ticks_per_second, 64, 4096);
}

static struct cw_prediction_config prediction_config(const struct cw_game_config *config)
{
    struct cw_prediction_config prediction = cw_prediction_config_default(config->schema);
    prediction.input_type = config->input_type;
    prediction.state_type = config->player_type;
    prediction.max_ticks = cw_game_kept_ticks(config);
    prediction.tolerances = config->tolerances;
    prediction.smooth_limits = config->smooth_limits;
    prediction.smooth_seconds = config->smooth_seconds;
    return prediction;
}

static struct cw_interpolation_config interpolation_config(const struct cw_game_config *config)
{
    struct cw_interpolation_config interpolation = cw_interpolation_config_default();
    const double seconds = config->max_delay_seconds + SPARE_SECONDS;
    interpolation.ticks_per_second = config->ticks_per_second;
    interpolation.max_entries =
        (uint32_t)cw_game_limit(seconds * config->ticks_per_second, 64, 1024);
    interpolation.max_delay_seconds = config->max_delay_seconds;
    /* So the view runs evenly also when snapshots are twice as far apart as the longest delay. */
    if (interpolation.max_extrapolation_seconds < config->max_delay_seconds)
        interpolation.max_extrapolation_seconds = config->max_delay_seconds;
    return interpolation;
}

/* Creates the parts in the arena, or measures them when it has no memory. */
static enum cw_error create_parts(struct cw_game_client *client, struct cw_arena *arena,
                                  const struct cw_game_config *config)
{
    struct cw_game_stand_in stand_in;
    struct cw_clock_sync_config clock = clock_config(config);
    struct cw_prediction_config prediction = prediction_config(config);
    struct cw_snapshot_config snapshots = cw_game_snapshot_config(config);
    struct cw_interpolation_config interpolation = interpolation_config(config);
    struct cw_history_config seen = cw_game_history_config(config, interpolation.max_entries);
    const struct cw_input_config inputs = cw_game_input_config(config, arena, &stand_in);
    clock.allocator = prediction.allocator = snapshots.allocator = inputs.allocator;
    interpolation.allocator = seen.allocator = inputs.allocator;
    if (!arena->base) {
        cw_arena_take(arena, cw_clock_sync_memory(&clock));
        cw_arena_take(arena, cw_prediction_memory(&prediction));
        cw_arena_take(arena, cw_snapshot_client_memory(&snapshots));
        cw_arena_take(arena, cw_interpolation_memory(&interpolation));
        cw_arena_take(arena, cw_history_memory(&seen));
        cw_arena_take(arena, cw_input_sender_memory(&inputs));
        return CW_OK;
    }
    client->carried = inputs.schema;
    enum cw_error error = cw_clock_sync_create(&clock, &client->clock);
    if (error == CW_OK)
        error = cw_prediction_create(&prediction, &client->prediction);
    if (error == CW_OK)
        error = cw_snapshot_client_create(&snapshots, &client->snapshots);
    if (error == CW_OK)
        error = cw_interpolation_create(&interpolation, &client->interpolation);
    if (error == CW_OK)
        error = cw_history_create(&seen, &client->seen);
    return error == CW_OK ? cw_input_sender_create(&inputs, &client->inputs) : error;
}

static void lay_out(struct cw_game_client *client, struct cw_arena *arena,
                    const struct cw_game_config *config)
{
    const size_t state = cw_schema_message_size(config->schema);
    struct cw_game_client parts = {.config = *config, .memory = arena->size};
    parts.kept = cw_arena_take(arena, cw_game_kept_size(config->schema));
    cw_game_group_layout(client ? &parts.group : NULL, arena, config);
    parts.shown[0] = cw_arena_take(arena, state);
    parts.shown[1] = cw_arena_take(arena, state);
    parts.input = cw_arena_take(arena, cw_game_carried_size(config));
    parts.again = cw_arena_take(arena, cw_game_carried_size(config));
    if (!client)
        return;
    parts.state = parts.group.members->state;
    parts.before = parts.group.members->before;
    *client = parts;
    client->group.config = &client->config;
}

size_t cw_game_client_memory(const struct cw_game_config *config)
{
    struct cw_arena arena = {0};
    if (cw_game_config_check(config) != CW_OK)
        return 0;
    cw_arena_take(&arena, sizeof(struct cw_game_client));
    lay_out(NULL, &arena, config);
    (void)create_parts(NULL, &arena, config);
    return arena.used;
}

enum cw_error cw_game_client_create(const struct cw_game_config *config,
                                    struct cw_game_client **client)
{
    enum cw_error error = client ? cw_game_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_game_client_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_game_client *const made = cw_arena_take(&arena, sizeof *made);
    lay_out(made, &arena, config);
    error = create_parts(made, &arena, config);
    if (error != CW_OK) {
        cw_release(&config->allocator, made, arena.size);
        return error;
    }
    /* The parts have copies of these. */
    made->config.tolerances = made->config.smooth_limits = NULL;
    made->config.group_limits = NULL;
    cw_game_client_reset(made);
    *client = made;
    return CW_OK;
}

void cw_game_client_destroy(struct cw_game_client *client)
{
    if (!client)
        return;
    const struct cw_allocator allocator = client->config.allocator;
    cw_release(&allocator, client, client->memory); /* the parts are in the same block */
}

void cw_game_client_reset(struct cw_game_client *client)
{
    if (!client)
        return;
    struct cw_game_client *const c = client;
    cw_clock_sync_reset(c->clock);
    cw_input_sender_reset(c->inputs);
    cw_prediction_reset(c->prediction);
    cw_snapshot_client_reset(c->snapshots);
    cw_interpolation_reset(c->interpolation);
    cw_history_reset(c->seen);
    cw_game_group_reset(&c->group);
    cw_game_events_reset(&c->events);
    c->timed = c->told = c->playing = c->due = c->filled = c->stamped = c->viewed = false;
    c->rate = 1;
    c->open = CW_GAME_OPEN_NOTHING;
    c->missed = c->input_tick = c->stamped_tick = 0;
    c->starved_low = 0;
    c->malformed = c->starved = 0;
    cw_game_client_forget_notes(c);
    c->view = (struct cw_view){0};
    c->fault = (struct cw_game_fault){.entity = CW_FIELD_NONE, .field = CW_FIELD_NONE};
    memset(c->input, 0, cw_game_carried_size(&c->config));
}

double cw_game_client_time(const struct cw_game_client *client, double now)
{
    return client->timed ? client->timed_from + (now - client->timed_at) * client->rate : now;
}

static void set_rate(struct cw_game_client *c, double rate, double now)
{
    c->timed_from = cw_game_client_time(c, now);
    c->timed_at = now;
    c->timed = true;
    c->rate = rate;
}

/* Takes the world of a snapshot that is newer than the last. */
static void take_world(struct cw_game_client *c, uint32_t tick, double now)
{
    const double time = cw_game_client_time(c, now);
    const void *own = NULL;
    struct cw_prediction_stats before;
    struct cw_snapshot_client_stats known;
    cw_snapshot_client_get_stats(c->snapshots, &known);
    uint32_t left = known.entities;
    cw_interpolation_receive(c->interpolation, tick, NULL, time);
    cw_history_begin(c->seen, tick);
    for (uint32_t entity = 0; left > 0 && entity < c->config.max_entities; entity++) {
        uint32_t type;
        const void *const state = cw_snapshot_client_state(c->snapshots, entity, &type);
        if (!state)
            continue;
        left--;
        cw_game_keep(c->config.schema, c->kept, type, state);
        cw_history_add(c->seen, entity, c->kept);
        if (entity == c->own && type == c->config.player_type)
            own = state;
    }
    cw_prediction_get_stats(c->prediction, &before);
    cw_game_client_correct(c, tick, own);
    cw_game_client_note_state(c, before.corrections, now);
}

static void take_head(struct cw_game_client *c, const struct cw_game_down *head, double now)
{
    if (!c->told || head->entity != c->own)
        cw_game_client_correct(c, 0, NULL);
    if (c->told)
        c->starved += (uint8_t)(head->starved - c->starved_low);
    c->told = true;
    c->own = head->entity;
    c->starved_low = head->starved;
    set_rate(c, (double)head->rate / CW_GAME_FULL_RATE, now);
}

static void take_times(struct cw_game_client *c, const struct cw_game_down *head, double time)
{
    struct cw_input_report report;
    if (head->echo)
        cw_clock_sync_receive(c->clock, head->echo, CW_CLOCK_ECHO_SIZE, time);
    if (head->report &&
        cw_input_sender_receive(c->inputs, head->report, CW_INPUT_REPORT_SIZE, &report) == CW_OK)
        cw_clock_sync_adjust(c->clock, report.tick, report.early_ticks, time);
}

enum cw_error cw_game_client_receive(struct cw_game_client *client, const uint8_t *data,
                                     size_t size, double now)
{
    struct cw_game_client *const c = client;
    if (!c || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_game_down head;
    uint32_t last = 0, tick = 0;
    const size_t used = cw_game_read_down(data, size, &head);
    const bool first = !cw_snapshot_client_tick(c->snapshots, &last);
    const enum cw_error error =
        used > 0 ? cw_snapshot_client_receive(c->snapshots, data + used, size - used)
                 : CW_ERROR_MALFORMED;
    if (error == CW_ERROR_MALFORMED) {
        c->malformed++;
        return error;
    }
    cw_game_client_close(c);
    take_times(c, &head, cw_game_client_time(c, now));
    if (error == CW_OK && cw_snapshot_client_tick(c->snapshots, &tick) && (first || tick != last)) {
        take_head(c, &head, now);
        take_world(c, tick, now);
        cw_game_events_receive(&c->events, head.events, tick, c->config.max_entities);
    }
    return error;
}

size_t cw_game_client_transmit(struct cw_game_client *client, uint8_t *out, size_t capacity,
                               double now)
{
    struct cw_game_client *const c = client;
    if (!c || !out || !isfinite(now) || capacity < CW_GAME_UP_HEAD)
        return 0;
    if (c->stamped && now - c->stamped_at < STAMP_SECONDS &&
        c->input_tick - c->stamped_tick < c->config.ticks_per_input)
        return 0;
    uint8_t stamp[CW_CLOCK_STAMP_SIZE];
    struct cw_game_up head = {.stamp = stamp};
    cw_clock_sync_transmit(c->clock, stamp, sizeof stamp, cw_game_client_time(c, now));
    head.has_snapshot = cw_snapshot_client_newest(c->snapshots, &head.snapshot);
    const size_t size = cw_game_write_up(&head, out);
    c->stamped = true;
    c->stamped_at = now;
    c->stamped_tick = c->input_tick;
    return size + cw_input_sender_transmit(c->inputs, out + size, capacity - size);
}

bool cw_game_client_view(struct cw_game_client *client, double now)
{
    struct cw_game_client *const c = client;
    if (!c || !isfinite(now))
        return false;
    c->viewed = cw_interpolation_view(c->interpolation, cw_game_client_time(c, now), &c->view);
    c->view_time = now;
    c->next_member = c->next_place = 0;
    cw_game_group_fade(&c->group, now);
    cw_game_client_note_view(c, now);
    return c->viewed;
}

bool cw_game_client_view_newest(struct cw_game_client *client, double now)
{
    uint32_t tick;
    if (!cw_game_client_view(client, now) || !cw_snapshot_client_tick(client->snapshots, &tick))
        return false;
    client->view = (struct cw_view){.from = tick, .to = tick};
    return true;
}

/* Shows a predicted entity between its last two ticks. */
static void show_member(struct cw_game_client *c, const struct cw_game_member *member,
                        struct cw_game_entity *entity)
{
    const double time = cw_game_client_time(c, c->view_time);
    const double at = cw_clock_sync_client_time(c->clock, time);
    const double since = at - floor(at) + cw_tick_difference(cw_tick_of(at), c->tick);
    const bool own = member == c->group.members;
    cw_game_group_show(&c->group, member, c->shown[0], c->shown[1]);
    for (int i = 0; own && i < 2; i++)
        cw_prediction_smooth(c->prediction, c->shown[i], c->view_time);
    *entity = (struct cw_game_entity){.entity = member->entity,
                                      .type = member->type,
                                      .own = own,
                                      .predicted = true,
                                      .fraction = (float)cw_game_limit(since, 0, 1),
                                      .from = c->shown[0],
                                      .to = c->shown[1]};
}

bool cw_game_client_next_entity(struct cw_game_client *client, struct cw_game_entity *entity)
{
    struct cw_game_client *const c = client;
    if (!c || !entity || !c->viewed)
        return false;
    if (c->next_member < c->group.count) {
        show_member(c, c->group.order[c->next_member++], entity);
        return true;
    }
    while (c->next_place < cw_history_count(c->seen, c->view.from)) {
        const uint32_t id = cw_history_entity(c->seen, c->view.from, c->next_place++);
        if (!cw_game_group_find(&c->group, id) &&
            cw_game_find(c->config.schema, c->seen, &c->view, id, entity))
            return true;
    }
    return false;
}

enum cw_error cw_game_client_set_group(struct cw_game_client *client, const uint32_t *entities,
                                       size_t count)
{
    if (!client || (!entities && count > 0) || count > client->config.max_group)
        return CW_ERROR_INVALID_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (entities[i] >= client->config.max_entities)
            return CW_ERROR_INVALID_ARGUMENT;
    cw_game_client_close(client);
    cw_game_group_choose(&client->group, entities, count);
    return CW_OK;
}

const void *cw_game_client_state(const struct cw_game_client *client, uint32_t entity,
                                 uint32_t *type)
{
    const struct cw_game_member *const member =
        client ? cw_game_group_find(&client->group, entity) : NULL;
    if (!member)
        return client ? cw_snapshot_client_state(client->snapshots, entity, type) : NULL;
    if (type)
        *type = member->type;
    return member->state;
}

bool cw_game_client_next_event(struct cw_game_client *client, struct cw_game_event *event)
{
    return client && event && cw_game_events_next(&client->events, event);
}

bool cw_game_client_own(const struct cw_game_client *client, uint32_t *entity)
{
    if (!client || !entity || !client->told)
        return false;
    *entity = client->own;
    return true;
}

const void *cw_game_client_newest(const struct cw_game_client *client, uint32_t entity,
                                  uint32_t *type)
{
    return client ? cw_snapshot_client_state(client->snapshots, entity, type) : NULL;
}

void cw_game_client_get_stats(const struct cw_game_client *client, double now,
                              struct cw_game_client_stats *stats)
{
    if (!client || !stats || !isfinite(now))
        return;
    *stats = (struct cw_game_client_stats){.server_rate = client->rate,
                                           .malformed = client->malformed,
                                           .starved = client->starved,
                                           .tick = client->playing ? client->tick : 0,
                                           .view = client->view,
                                           .fault = client->fault};
    const double time = cw_game_client_time(client, now);
    cw_clock_sync_get_stats(client->clock, time, &stats->clock);
    if (stats->clock.synced)
        stats->server_tick = cw_clock_sync_server_time(client->clock, time);
    cw_prediction_get_stats(client->prediction, &stats->prediction);
    cw_snapshot_client_get_stats(client->snapshots, &stats->snapshots);
    cw_interpolation_get_stats(client->interpolation, &stats->interpolation);
}
