#include "lab/line.h"

#include "base/little_endian.h"
#include "base/memory.h"
#include "lab/line_turn.h"

#include <math.h>
#include <string.h>

#define MOST_EVENTS 65536

/* The datagrams whose time is remembered, for the round trip. */
#define SENT 256

_Static_assert(CW_LAB_LINE_MAX_DATAGRAM == CW_LAB_MAX_DATAGRAM + CW_LAB_LINE_SERVER_HEADER,
               "the longest datagram of a peer fits");

struct cw_lab_line {
    struct cw_lab_line_config config;
    const struct cw_lab_peer_type *type;
    size_t size; /* bytes of the allocation */
    void *peer;
    struct cw_lab_game game;
    struct cw_lab_column_event *events;
    uint64_t events_written, events_read;
    uint32_t ticks;
    uint32_t left; /* datagrams that may still be sent in this turn */

    uint32_t sent; /* datagrams to the server */
    double times[SENT];
    uint64_t bytes_sent, bytes_came;
    struct cw_lab_came came;
    uint32_t there, newest_there; /* datagrams that came to the server, and the newest of them */
    enum cw_lab_waiting waiting[2];
    uint32_t waiting_for[2];
    struct cw_lab_line_stats stats;
};

struct cw_lab_line_config cw_lab_line_config_default(void)
{
    return (struct cw_lab_line_config){.states = true, .message_every = 1, .max_events = 4096};
}

static bool is_valid(const struct cw_lab_line_config *config)
{
    return config && cw_lab_protocol(config->protocol) && config->max_events <= MOST_EVENTS;
}

static struct cw_lab_line *lay_out(struct cw_arena *arena, const struct cw_lab_line_config *config)
{
    struct cw_lab_line *line = cw_arena_take(arena, sizeof *line);
    struct cw_lab_column_event *events = cw_arena_take(arena, config->max_events * sizeof *events);
    if (line) {
        line->config = *config;
        line->events = events;
        line->type = cw_lab_protocol(config->protocol);
        line->size = arena->size;
    }
    return line;
}

size_t cw_lab_line_memory(const struct cw_lab_line_config *config)
{
    struct cw_arena arena = {0};
    if (!is_valid(config))
        return 0;
    lay_out(&arena, config);
    cw_arena_take(&arena, cw_lab_peer_memory(cw_lab_protocol(config->protocol)));
    return arena.used;
}

enum cw_error cw_lab_line_create(const struct cw_lab_line_config *config, struct cw_lab_line **line)
{
    if (!line || !is_valid(config))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_lab_line_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_lab_line *l = lay_out(&arena, config);
    const struct cw_allocator rest = cw_arena_allocator(&arena);
    l->peer = cw_lab_peer_create(l->type, &rest);
    if (!l->peer) {
        cw_lab_line_destroy(l);
        return CW_ERROR_NO_MEMORY;
    }
    *line = l;
    return CW_OK;
}

void cw_lab_line_destroy(struct cw_lab_line *line)
{
    if (!line)
        return;
    cw_lab_peer_destroy(line->peer);
    const struct cw_allocator allocator = line->config.allocator;
    cw_release(&allocator, line, line->size);
}

static void tell(struct cw_lab_line *line, const struct cw_lab_column_event *event)
{
    const uint32_t room = line->config.max_events;
    if (room == 0)
        return;
    if (line->events_written - line->events_read == room)
        line->events_read++;
    line->events[line->events_written++ % room] = *event;
}

bool cw_lab_line_next(struct cw_lab_line *line, struct cw_lab_column_event *event)
{
    if (!line || !event || line->events_read == line->events_written)
        return false;
    *event = line->events[line->events_read++ % line->config.max_events];
    return true;
}

/* The application takes the items that have come back. */
static void take_arrivals(struct cw_lab_line *line, double now)
{
    struct cw_lab_arrival arrival;
    for (int i = 0; i < CW_LAB_LINE_ARRIVALS && line->type->next(line->peer, &arrival); i++) {
        struct cw_lab_column_event event = {.type = arrival.lost ? CW_LAB_COLUMN_EVENT_GIVEN_UP
                                                                 : CW_LAB_COLUMN_EVENT_DELIVERED,
                                            .sender = 1,
                                            .traffic = arrival.item.traffic,
                                            .number = arrival.item.id,
                                            .size = arrival.lost ? 0 : arrival.item.size,
                                            .time = now};
        if (cw_lab_game_settle(&line->game, &arrival, now, &event.seconds))
            tell(line, &event);
    }
}

static void measure(struct cw_lab_line *line, uint32_t newest, double held, double now)
{
    struct cw_lab_line_stats *stats = &line->stats;
    if (line->sent - newest > SENT)
        return;
    const double rtt = fmax(now - line->times[newest % SENT] - held, 0);
    stats->rtt = stats->rtt > 0 ? stats->rtt + (rtt - stats->rtt) / 8 : rtt;
    stats->least_rtt = stats->least_rtt > 0 ? fmin(stats->least_rtt, rtt) : rtt;
}

/* Takes what the server says of the datagrams that came to it. */
static void take_report(struct cw_lab_line *line, const uint8_t *at, double now)
{
    const uint32_t there = (uint32_t)cw_little_endian_get(&at, 4);
    const uint32_t newest = (uint32_t)cw_little_endian_get(&at, 4);
    const double held = (double)cw_little_endian_get(&at, 4) / 1e6;
    const uint32_t waiting = (uint32_t)cw_little_endian_get(&at, 1);
    if (there == 0 || newest >= line->sent)
        return;
    line->waiting[0] =
        waiting <= CW_LAB_WAITING_RATE ? (enum cw_lab_waiting)waiting : CW_LAB_WAITING_NOTHING;
    line->waiting_for[0] = (uint32_t)cw_little_endian_get(&at, 4);
    if (line->there > 0 && newest <= line->newest_there && there <= line->there)
        return;
    if (line->there == 0 || newest > line->newest_there)
        measure(line, newest, held, now);
    line->there = there;
    line->newest_there = newest;
}

bool cw_lab_line_receive(struct cw_lab_line *line, const uint8_t *data, size_t size, double now)
{
    if (!line || !data || size < CW_LAB_LINE_SERVER_HEADER || !isfinite(now) ||
        data[0] != CW_LAB_LINE_VERSION || data[1] < CW_LAB_ANSWER_ECHO ||
        data[1] > CW_LAB_ANSWER_FOREIGN)
        return false;
    const uint8_t *at = data + 2;
    if (cw_little_endian_get(&at, 4) != line->config.key)
        return false;
    line->stats.answer = (enum cw_lab_answer)data[1];
    line->stats.heard = now;
    if (line->stats.answer != CW_LAB_ANSWER_ECHO || size == CW_LAB_LINE_SERVER_HEADER)
        return true;
    cw_lab_came_add(&line->came, (uint32_t)cw_little_endian_get(&at, 4), now);
    take_report(line, at, now);
    size -= CW_LAB_LINE_SERVER_HEADER;
    line->bytes_came += size;
    line->type->receive(line->peer, data + CW_LAB_LINE_SERVER_HEADER, size, now);
    take_arrivals(line, now);
    if (line->type->answers_at_once)
        line->left = CW_LAB_LINE_PER_TURN;
    return true;
}

void cw_lab_line_step(struct cw_lab_line *line, double now)
{
    if (!line || !isfinite(now))
        return;
    const struct cw_lab_line_config *config = &line->config;
    const bool message = config->message_every && line->ticks % config->message_every == 0;
    line->ticks++;
    take_arrivals(line, now);
    cw_lab_game_send(&line->game, CW_LAB_STATE, config->states, line->type, line->peer, now);
    cw_lab_game_send(&line->game, CW_LAB_MESSAGE, message, line->type, line->peer, now);
    cw_lab_game_send(&line->game, CW_LAB_BLOCK, config->blocks, line->type, line->peer, now);
    line->type->update(line->peer, now);
    line->waiting[1] = line->type->waiting(line->peer, now, &line->waiting_for[1]);
    line->left = CW_LAB_LINE_PER_TURN;
}

size_t cw_lab_line_transmit(struct cw_lab_line *line, uint8_t *out, size_t capacity, double now)
{
    if (!line || !out || capacity < CW_LAB_LINE_MAX_DATAGRAM || !isfinite(now) || line->left == 0)
        return 0;
    const size_t size =
        line->type->transmit(line->peer, out + CW_LAB_LINE_CLIENT_HEADER, CW_LAB_MAX_DATAGRAM, now);
    line->left = size > 0 ? line->left - 1 : 0;
    if (size == 0)
        return 0;
    *out++ = CW_LAB_LINE_VERSION;
    *out++ = (uint8_t)line->config.protocol;
    cw_little_endian_put(&out, line->config.key, 4);
    cw_little_endian_put(&out, line->sent, 4);
    line->times[line->sent++ % SENT] = now;
    line->bytes_sent += size;
    return CW_LAB_LINE_CLIENT_HEADER + size;
}

void cw_lab_line_wire_stats(const struct cw_lab_line *line, uint32_t sender,
                            struct cw_lab_wire_stats *stats)
{
    if (!line || !stats)
        return;
    *stats = (struct cw_lab_wire_stats){0};
    if (sender == 0) {
        stats->datagrams_lost = cw_lab_came_missing(line->came.count, line->came.newest);
        stats->datagrams = line->came.count + stats->datagrams_lost;
        stats->bytes = line->bytes_came;
    } else if (sender == 1) {
        stats->datagrams_lost = cw_lab_came_missing(line->there, line->newest_there);
        stats->datagrams = line->there + stats->datagrams_lost;
        stats->bytes = line->bytes_sent;
    }
}

void cw_lab_line_item_stats(const struct cw_lab_line *line, enum cw_lab_traffic traffic, double now,
                            struct cw_lab_game_stats *stats)
{
    if (line)
        cw_lab_game_get_stats(&line->game, traffic, now, stats);
}

enum cw_lab_waiting cw_lab_line_waiting(const struct cw_lab_line *line, uint32_t end,
                                        uint32_t *number)
{
    if (!line || end > 1 || !number)
        return CW_LAB_WAITING_NOTHING;
    *number = line->waiting_for[end];
    return line->waiting[end];
}

void cw_lab_line_control(const struct cw_lab_line *line, struct cw_lab_control *control)
{
    if (!line || !control)
        return;
    *control = (struct cw_lab_control){0};
    if (line->type->control)
        line->type->control(line->peer, control);
}

void cw_lab_line_get_stats(const struct cw_lab_line *line, struct cw_lab_line_stats *stats)
{
    if (line && stats)
        *stats = line->stats;
}
