#include "lab/column.h"

#include "base/memory.h"
#include "causeway/simulator.h"
#include "lab/peers.h"

#include <math.h>
#include <string.h>

/* The most datagrams that may be in transit each way, and that a peer may send in one turn. */
#define IN_TRANSIT 1024
#define PER_TURN   256

#define MOST_EVENTS 65536

/* Datagrams of others on the path. No peer sends one of that size, by which they are known when
   they arrive. */
#define FLOOD_SIZE (CW_LAB_MAX_DATAGRAM + 1)

struct end {
    void *peer;
    struct cw_simulator *path; /* from here to the other end */
    struct cw_lab_game game;
    uint32_t datagrams; /* datagrams sent since create */
    struct cw_lab_wire_stats stats;
    enum cw_lab_waiting waiting; /* the reason for waiting after its last turn */
    uint32_t waiting_for;
};

struct cw_lab_column {
    struct cw_lab_column_config config;
    struct cw_lab_settings settings;
    const struct cw_lab_peer_type *type;
    struct cw_arena arena; /* the one block; the peers and the paths lie behind first_peer */
    size_t first_peer;
    struct cw_lab_column_event *events;
    uint64_t ticks;
    uint64_t events_written, events_read, events_dropped;
    uint64_t hash;
    struct end ends[2];
    double flood_bytes; /* bytes of others that are due */
    uint8_t datagram[FLOOD_SIZE];
};

static const struct cw_lab_peer_type *const protocols[] = {
    &cw_lab_peer_plain,   &cw_lab_peer_copies, &cw_lab_peer_coded,  &cw_lab_peer_binary,
    &cw_lab_peer_rudp,    &cw_lab_peer_notify, &cw_lab_peer_window, &cw_lab_peer_nagle,
    &cw_lab_peer_unacked, &cw_lab_peer_thrice, &cw_lab_peer_tenth,
};

uint32_t cw_lab_protocol_count(void)
{
    return sizeof protocols / sizeof *protocols;
}

const struct cw_lab_peer_type *cw_lab_protocol(uint32_t protocol)
{
    return protocol < cw_lab_protocol_count() ? protocols[protocol] : NULL;
}

const char *cw_lab_protocol_name(uint32_t protocol)
{
    return protocol < cw_lab_protocol_count() ? protocols[protocol]->name : NULL;
}

struct cw_lab_column_config cw_lab_column_config_default(void)
{
    return (struct cw_lab_column_config){.seed = 1, .max_events = 4096};
}

struct cw_lab_settings cw_lab_settings_default(void)
{
    return (struct cw_lab_settings){.rtt_seconds = 0.1,
                                    .burst_length = 1,
                                    .queue_bytes = 65536,
                                    .states = true,
                                    .message_every = 1};
}

static bool is_valid(const struct cw_lab_column_config *config)
{
    return config && cw_lab_protocol(config->protocol) && config->max_events <= MOST_EVENTS;
}

static struct cw_simulator_config path_config(const struct cw_lab_column *column, uint32_t end)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.max_datagram_size = FLOOD_SIZE;
    config.max_datagrams = IN_TRANSIT;
    if (column)
        config.seed = column->config.seed * 2 + end;
    return config;
}

static struct cw_lab_column *lay_out(struct cw_arena *arena,
                                     const struct cw_lab_column_config *config)
{
    struct cw_lab_column *column = cw_arena_take(arena, sizeof *column);
    struct cw_lab_column_event *events = cw_arena_take(arena, config->max_events * sizeof *events);
    if (column) {
        column->config = *config;
        column->events = events;
        column->type = cw_lab_protocol(config->protocol);
        column->first_peer = arena->used;
        column->arena = *arena;
    }
    return column;
}

size_t cw_lab_column_memory(const struct cw_lab_column_config *config)
{
    struct cw_arena arena = {0};
    if (!is_valid(config))
        return 0;
    lay_out(&arena, config);
    const struct cw_simulator_config path = path_config(NULL, 0);
    for (uint32_t i = 0; i < 2; i++) {
        cw_arena_take(&arena, cw_simulator_memory(&path));
        cw_arena_take(&arena, cw_lab_peer_memory(cw_lab_protocol(config->protocol)));
    }
    return arena.used;
}

/* Makes the peers and the paths of a new column. */
static enum cw_error make_ends(struct cw_lab_column *column)
{
    column->arena.used = column->first_peer;
    const struct cw_allocator allocator = cw_arena_allocator(&column->arena);
    for (uint32_t i = 0; i < 2; i++) {
        struct cw_simulator_config path = path_config(column, i);
        path.allocator = allocator;
        const enum cw_error error = cw_simulator_create(&path, &column->ends[i].path);
        if (error != CW_OK)
            return error;
        column->ends[i].peer = cw_lab_peer_create(column->type, &allocator);
        if (!column->ends[i].peer)
            return CW_ERROR_NO_MEMORY;
    }
    return CW_OK;
}

static void destroy_ends(struct cw_lab_column *column)
{
    for (uint32_t i = 0; i < 2; i++) {
        cw_lab_peer_destroy(column->ends[i].peer);
        cw_simulator_destroy(column->ends[i].path);
        memset(&column->ends[i], 0, sizeof column->ends[i]);
    }
}

enum cw_error cw_lab_column_create(const struct cw_lab_column_config *config,
                                   struct cw_lab_column **column)
{
    if (!column || !is_valid(config))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_lab_column_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_lab_column *c = lay_out(&arena, config);
    const enum cw_error error = make_ends(c);
    if (error != CW_OK) {
        cw_lab_column_destroy(c);
        return error;
    }
    const struct cw_lab_settings settings = cw_lab_settings_default();
    cw_lab_column_change(c, &settings);
    *column = c;
    return CW_OK;
}

void cw_lab_column_destroy(struct cw_lab_column *column)
{
    if (!column)
        return;
    destroy_ends(column);
    const struct cw_allocator allocator = column->config.allocator;
    cw_release(&allocator, column, column->arena.size);
}

void cw_lab_column_reset(struct cw_lab_column *column)
{
    if (!column)
        return;
    destroy_ends(column);
    column->ticks = column->hash = 0;
    column->flood_bytes = 0;
    column->events_written = column->events_read = column->events_dropped = 0;
    make_ends(column); /* they fit, because they had this memory before */
    const struct cw_lab_settings settings = column->settings;
    cw_lab_column_change(column, &settings);
}

/* Returns the path for the settings. Loss in bursts is a bad state of the path in which everything
   is lost. */
static struct cw_simulator_path path_of(const struct cw_lab_settings *settings)
{
    struct cw_simulator_path path = {
        .latency_seconds = settings->rtt_seconds / 2,
        .jitter_seconds = settings->jitter_seconds,
        .loss = settings->loss,
        .bytes_per_second = settings->bytes_per_second,
        .queue_bytes = settings->queue_bytes,
    };
    if (settings->burst_length > 1 && settings->loss < 1) {
        const double start = settings->loss / (1 - settings->loss);
        path.loss = 0;
        path.burst_start = fmin(start / settings->burst_length, 1);
        path.burst_end = 1 / settings->burst_length;
        path.burst_loss = 1;
    }
    return path;
}

enum cw_error cw_lab_column_change(struct cw_lab_column *column,
                                   const struct cw_lab_settings *settings)
{
    if (!column || !settings)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!(settings->burst_length >= 1) ||
        !(settings->flood_bytes_per_second >= 0 && isfinite(settings->flood_bytes_per_second)))
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_simulator_path path = path_of(settings);
    const enum cw_error error = cw_simulator_change(column->ends[0].path, &path);
    if (error != CW_OK)
        return error;
    cw_simulator_change(column->ends[1].path, &path);
    column->settings = *settings;
    return CW_OK;
}

/* Adds bytes to the hash, which is FNV-1a. */
static void hash_bytes(struct cw_lab_column *column, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        column->hash = (column->hash ^ bytes[i]) * 0x100000001b3u;
}

static void hash_number(struct cw_lab_column *column, uint64_t value)
{
    for (int i = 0; i < 64; i += 8)
        column->hash = (column->hash ^ (value >> i & 0xff)) * 0x100000001b3u;
}

static void hash_time(struct cw_lab_column *column, double time)
{
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    hash_number(column, bits);
}

/* Adds an event to the hash, and to the events that the caller takes. */
static void tell(struct cw_lab_column *column, const struct cw_lab_column_event *event)
{
    const uint32_t room = column->config.max_events;
    hash_number(column, (uint64_t)event->type << 8 | event->sender);
    hash_number(column, (uint64_t)event->traffic << 32 | event->number);
    hash_number(column, event->size);
    hash_time(column, event->time);
    hash_time(column, event->seconds);
    if (room == 0) {
        column->events_dropped++;
        return;
    }
    if (column->events_written - column->events_read == room) {
        column->events_read++;
        column->events_dropped++;
    }
    column->events[column->events_written++ % room] = *event;
}

bool cw_lab_column_next(struct cw_lab_column *column, struct cw_lab_column_event *event)
{
    if (!column || !event || column->events_read == column->events_written)
        return false;
    *event = column->events[column->events_read++ % column->config.max_events];
    return true;
}

/* Puts a datagram on the path, where its fate is decided. */
static void send_datagram(struct cw_lab_column *column, uint32_t sender, size_t size, double now)
{
    struct end *end = &column->ends[sender];
    struct cw_simulator_stats before, after;
    cw_simulator_get_stats(end->path, &before);
    cw_simulator_receive(end->path, column->datagram, size, now);
    cw_simulator_get_stats(end->path, &after);
    const bool lost = after.datagrams_lost > before.datagrams_lost;
    const bool overflowed = after.datagrams_overflowed > before.datagrams_overflowed;
    struct cw_lab_column_event event = {.type = CW_LAB_COLUMN_EVENT_SENT,
                                        .sender = sender,
                                        .number = end->datagrams++,
                                        .size = (uint32_t)size,
                                        .time = now};
    if (lost) {
        event.type = CW_LAB_COLUMN_EVENT_LOST;
        event.seconds = column->settings.rtt_seconds / 2;
    } else if (overflowed) {
        event.type = CW_LAB_COLUMN_EVENT_OVERFLOWED;
    } else {
        event.seconds = cw_simulator_newest_due(end->path) - now;
    }
    end->stats.datagrams++;
    end->stats.bytes += size;
    end->stats.datagrams_lost += lost;
    end->stats.datagrams_overflowed += overflowed;
    hash_bytes(column, column->datagram, size);
    tell(column, &event);
}

static void transmit(struct cw_lab_column *column, uint32_t sender, double now)
{
    void *peer = column->ends[sender].peer;
    for (int i = 0; i < PER_TURN; i++) {
        const size_t size =
            column->type->transmit(peer, column->datagram, CW_LAB_MAX_DATAGRAM, now);
        if (size == 0)
            return;
        send_datagram(column, sender, size, now);
    }
}

/* Brings every datagram that is due by now to its end, in order and each at its own time. */
static void carry(struct cw_lab_column *column, double now)
{
    struct end *ends = column->ends;
    for (;;) {
        const double due[2] = {cw_simulator_due(ends[0].path), cw_simulator_due(ends[1].path)};
        const uint32_t sender = due[1] < due[0];
        const double time = due[sender];
        if (time > now)
            return;
        const size_t size = cw_simulator_transmit(ends[sender].path, column->datagram,
                                                  sizeof column->datagram, time);
        if (size == FLOOD_SIZE)
            continue;
        column->type->receive(ends[!sender].peer, column->datagram, size, time);
        if (column->type->answers_at_once)
            transmit(column, !sender, time);
    }
}

/* The application at an end takes what has arrived. */
static void take_arrivals(struct cw_lab_column *column, uint32_t end, double now)
{
    struct cw_lab_arrival arrival;
    while (column->type->next(column->ends[end].peer, &arrival)) {
        struct cw_lab_column_event event = {.type = arrival.lost ? CW_LAB_COLUMN_EVENT_GIVEN_UP
                                                                 : CW_LAB_COLUMN_EVENT_DELIVERED,
                                            .sender = !end,
                                            .traffic = arrival.item.traffic,
                                            .number = arrival.item.id,
                                            .size = arrival.lost ? 0 : arrival.item.size,
                                            .time = now};
        if (cw_lab_game_settle(&column->ends[!end].game, &arrival, now, &event.seconds))
            tell(column, &event);
    }
}

/* Puts the datagrams of others that are due on the path from end 0, between its turns, so that a
   queue that they fill has some room at those. */
static void flood(struct cw_lab_column *column, double now)
{
    column->flood_bytes += column->settings.flood_bytes_per_second / CW_LAB_TICKS_PER_SECOND;
    for (int i = 0; i < PER_TURN && column->flood_bytes >= FLOOD_SIZE; i++) {
        cw_simulator_receive(column->ends[0].path, column->datagram, FLOOD_SIZE, now);
        column->flood_bytes -= FLOOD_SIZE;
    }
    column->flood_bytes = fmin(column->flood_bytes, FLOOD_SIZE);
}

/* Does one end's part of a tick. */
static void take_turn(struct cw_lab_column *column, uint32_t end, double now)
{
    const struct cw_lab_settings *settings = &column->settings;
    const struct cw_lab_peer_type *type = column->type;
    struct end *e = &column->ends[end];
    const bool message = settings->message_every && column->ticks % settings->message_every == 0;
    carry(column, now);
    if (end == 1)
        flood(column, now);
    take_arrivals(column, end, now);
    cw_lab_game_send(&e->game, CW_LAB_STATE, settings->states, type, e->peer, now);
    cw_lab_game_send(&e->game, CW_LAB_MESSAGE, message, type, e->peer, now);
    cw_lab_game_send(&e->game, CW_LAB_BLOCK, settings->blocks && end == 0, type, e->peer, now);
    type->update(e->peer, now);
    transmit(column, end, now);
    e->waiting = type->waiting(e->peer, now, &e->waiting_for);
}

/* Returns the time of a tick, or of a part of one. */
static double time_of(double ticks)
{
    return ticks / CW_LAB_TICKS_PER_SECOND;
}

void cw_lab_column_step(struct cw_lab_column *column, uint32_t ticks)
{
    for (uint32_t i = 0; column && i < ticks; i++) {
        take_turn(column, 0, time_of((double)column->ticks));
        take_turn(column, 1, time_of((double)column->ticks + 0.5));
        column->ticks++;
    }
}

double cw_lab_column_time(const struct cw_lab_column *column)
{
    return column ? time_of((double)column->ticks) : 0;
}

uint64_t cw_lab_column_events_dropped(const struct cw_lab_column *column)
{
    return column ? column->events_dropped : 0;
}

void cw_lab_column_wire_stats(const struct cw_lab_column *column, uint32_t sender,
                              struct cw_lab_wire_stats *stats)
{
    if (column && stats)
        *stats = sender < 2 ? column->ends[sender].stats : (struct cw_lab_wire_stats){0};
}

void cw_lab_column_item_stats(const struct cw_lab_column *column, uint32_t sender,
                              enum cw_lab_traffic traffic, struct cw_lab_game_stats *stats)
{
    if (!column || !stats)
        return;
    *stats = (struct cw_lab_game_stats){0};
    if (sender < 2)
        cw_lab_game_get_stats(&column->ends[sender].game, traffic, cw_lab_column_time(column),
                              stats);
}

double cw_lab_column_quantile(const struct cw_lab_column *column, uint32_t sender,
                              enum cw_lab_traffic traffic, double share)
{
    if (!column || sender > 1 || traffic < CW_LAB_STATE || traffic > CW_LAB_BLOCK)
        return 0;
    return cw_lab_latencies_quantile(&column->ends[sender].game.flows[traffic].latencies, share);
}

void cw_lab_column_restart_stats(struct cw_lab_column *column)
{
    for (uint32_t i = 0; column && i < 2; i++) {
        cw_lab_game_restart_stats(&column->ends[i].game);
        column->ends[i].stats = (struct cw_lab_wire_stats){0};
    }
}

enum cw_lab_waiting cw_lab_column_waiting(const struct cw_lab_column *column, uint32_t end,
                                          uint32_t *number)
{
    if (!column || end > 1 || !number)
        return CW_LAB_WAITING_NOTHING;
    *number = column->ends[end].waiting_for;
    return column->ends[end].waiting;
}

void cw_lab_column_control(const struct cw_lab_column *column, uint32_t end,
                           struct cw_lab_control *control)
{
    if (!column || !control)
        return;
    *control = (struct cw_lab_control){0};
    if (end < 2 && column->type->control)
        column->type->control(column->ends[end].peer, control);
}

void cw_lab_column_packet(const struct cw_lab_column *column, uint32_t end,
                          struct cw_lab_packet *packet)
{
    if (!column || !packet)
        return;
    *packet = (struct cw_lab_packet){0};
    if (end < 2 && column->type->packet)
        column->type->packet(column->ends[end].peer, packet);
}

uint64_t cw_lab_column_hash(const struct cw_lab_column *column)
{
    return column ? column->hash : 0;
}
