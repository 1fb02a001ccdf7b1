/* The ticks of a game's server, and its world in them. */
#include "game/game_body.h"
#include "game/game_fit.h"
#include "game/game_server_internal.h"
#include "message/schema_delta.h"

#include <math.h>

/* A server that is late plays this many seconds of its ticks, and then lets a snapshot leave before
   it plays the rest. When it played all that were due, one that manages 40 ticks of 60 sent one
   snapshot a second. Shorter turns cost a loop more that sleeps after each. */
#define TURN_SECONDS 0.15

/* The seconds in which one rate is measured. When it was a second, and the server recovered, the
   views of the clients fell half a second behind and jumped. */
#define RATE_SECONDS 0.25

static double rate_of(const struct cw_game_server *s)
{
    return s->config.ticks_per_second;
}

/* Returns the most ticks that may be due at once. */
static double most_due(const struct cw_game_server *s)
{
    const double most = floor(s->config.max_catch_up_seconds * rate_of(s));
    return most > 1 ? most : 1;
}

/* Returns the most ticks that are played before a snapshot can leave. */
static double most_at_once(const struct cw_game_server *s)
{
    const double most = floor(TURN_SECONDS * rate_of(s));
    return most > 1 ? most : 1;
}

/* Returns the tick time by the clock alone. */
static double clock_ticks(const struct cw_game_server *s, double now)
{
    return 1 + (now - s->time.start) * rate_of(s) - (double)s->time.skipped;
}

double cw_game_server_tick_time(const struct cw_game_server *server, double now)
{
    const struct cw_game_server *const s = server;
    if (!s->time.started)
        return 0;
    const double most = (double)s->time.ticks + most_due(s) + 1;
    return cw_game_limit(clock_ticks(s, now), (double)s->time.ticks, most);
}

/* Notes the share of the last ticks that were played. */
static void note_rate(struct cw_game_server *s, double now)
{
    struct cw_game_server_time *const time = &s->time;
    const double seconds = now - time->measured;
    if (seconds < RATE_SECONDS)
        return;
    const double skipped = (double)(time->skipped - time->measured_skipped);
    time->rates[time->next_rate++ % CW_GAME_RATES] =
        cw_game_limit(1 - skipped / (seconds * rate_of(s)), 0, 1);
    time->measured = now;
    time->measured_skipped = time->skipped;
}

uint16_t cw_game_server_rate(const struct cw_game_server *server)
{
    const double *const r = server->time.rates;
    const double last = r[(server->time.next_rate + CW_GAME_RATES - 1) % CW_GAME_RATES];
    if (last >= 1)
        return CW_GAME_FULL_RATE;
    const double high = fmax(r[0], r[1]), low = fmin(r[0], r[1]);
    const double middle = fmax(low, fmin(high, r[2]));
    return (uint16_t)cw_game_limit(floor(middle * CW_GAME_FULL_RATE + 0.5), 1, CW_GAME_FULL_RATE);
}

void cw_game_server_update(struct cw_game_server *server, double now)
{
    struct cw_game_server *const s = server;
    if (!s || !isfinite(now))
        return;
    struct cw_game_server_time *const time = &s->time;
    if (!time->started) {
        time->started = true;
        time->updated = time->measured = now;
        /* A tick is due half an interval early, so that a loop at the rate of the ticks plays one
           in each turn, whether that comes a little early or late. */
        time->start = now - 0.5 / rate_of(s);
    }
    if (now < time->updated)
        return;
    time->updated = now;
    const double ahead = floor(clock_ticks(s, now)) - (double)time->ticks - most_due(s);
    if (ahead > 0)
        time->skipped += (uint64_t)ahead;
    time->due = (uint64_t)fmin(clock_ticks(s, now), (double)time->ticks + most_at_once(s));
    note_rate(s, now);
}

/* Ends the tick that the application has played. */
static void end_tick(struct cw_game_server *s)
{
    s->playing = false;
    if (!s->history)
        return;
    cw_history_begin(s->history, s->tick);
    for (uint32_t entity = 0; entity < s->used; entity++)
        if (s->there[entity])
            cw_history_add(s->history, entity, s->states + entity * s->stride);
}

/* Makes a snapshot when it is time for one, of the newest tick. */
static void take_snapshot(struct cw_game_server *s)
{
    const uint64_t every = s->config.ticks_per_snapshot;
    if (s->time.ticks / every == s->time.snapshots)
        return;
    s->time.snapshots = s->time.ticks / every;
    if (cw_snapshot_server_tick(s->snapshots, s->tick) == CW_OK)
        s->snapshot_tick = s->tick;
}

bool cw_game_server_next_tick(struct cw_game_server *server, uint32_t *tick)
{
    struct cw_game_server *const s = server;
    if (!s || !tick)
        return false;
    if (s->playing)
        end_tick(s);
    if (s->time.ticks >= s->time.due) {
        take_snapshot(s);
        return false;
    }
    s->playing = true;
    s->tick = (uint32_t)++s->time.ticks;
    *tick = s->tick;
    return true;
}

enum cw_error cw_game_server_set(struct cw_game_server *server, uint32_t entity, uint32_t type,
                                 void *state)
{
    struct cw_game_server *const s = server;
    if (!s || !state || entity >= s->config.max_entities)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!cw_schema_comparable(s->config.schema, type))
        return CW_ERROR_MESSAGE_TYPE;
    uint32_t field;
    bool mended = true;
    const enum cw_error error = cw_game_fit(s->config.schema, type, state, &field, &mended);
    if (error != CW_OK)
        cw_game_blame(&s->fault, s->tick, entity, type, field);
    if (!mended)
        return error;
    cw_game_keep(s->config.schema, s->states + entity * s->stride, type, state);
    s->there[entity] = true;
    if (s->used <= entity)
        s->used = entity + 1;
    const enum cw_error set = cw_snapshot_server_set(s->snapshots, entity, type, state);
    return error == CW_OK ? set : error;
}

const void *cw_game_server_state(const struct cw_game_server *server, uint32_t entity,
                                 uint32_t *type)
{
    if (!server || entity >= server->config.max_entities || !server->there[entity])
        return NULL;
    const void *const kept = server->states + entity * server->stride;
    if (type)
        *type = cw_game_kept_type(server->config.schema, kept);
    return kept;
}
