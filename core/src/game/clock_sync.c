#include "causeway/clock_sync.h"

#include "base/config_fields.h"
#include "base/little_endian.h"
#include "base/memory.h"
#include "base/sequence.h"
#include "game/clock_offset.h"
#include "packet/measure.h"

/* On the wire a stamp is a number of 16 bits. An echo is the stamp, the time for which it was held,
   the server's tick, and the part of the tick that has passed. */
#define HOLD_UNIT  (1.0 / 16384) /* seconds */
#define HOLD_NONE  65535         /* no stamp, or one hold_seconds for longer than fits */
#define PART_UNITS 65536.0

#define STAMPS 256 /* questions that may wait for their answers */
#define LEADS  512 /* ticks on which the server's report may still come */

/* The seconds by which an answer may seem to precede its question, because clocks drift while the
   server holds it. */
#define DRIFTED       0.002
#define RTT_SMOOTHING 0.1
/* The longest RTT in seconds: an answer that took longer has waited for a hidden page, and tells
   little. */
#define LONGEST_RTT 5

/* Seconds within which a time gets to its goal, unless the slew is too slow for it. */
#define REACH 0.25
/* The slew for corrections that are not urgent: it is faster than clocks drift. */
#define SLOW_SLEW 0.0005

/* The need for lead is the greatest of this many seconds: at 60 inputs per second, these show what
   happens to one input in a thousand. */
#define NEEDS 16
/* The lead is above the need by this many ticks, and by this share of the need's variation. */
#define SPARE_TICKS 0.25
#define SPARE_SHARE 0.25
/* The ticks that an input is guessed to wait for its tick, until the server reports. */
#define GUESSED_TICKS 1.0
/* The seconds in which the longest of the client's frames is forgotten. */
#define FRAME_MEMORY 4

/* A time that runs with the client's clock, and for REACH seconds faster by the rate. */
struct course {
    double value; /* the time at start */
    double start;
    double rate;
};

struct lead {
    uint32_t tick;
    double seconds; /* NaN when there was no such tick */
};

struct need {
    double second; /* a second of the client's clock, an integer */
    double lead;   /* the greatest lateness within it, in seconds */
};

struct cw_clock_sync {
    struct cw_clock_sync_config config;
    size_t memory;
    double tick_seconds;

    double stamps[STAMPS]; /* when the stamps were made, by their number */
    uint32_t stamp_count;  /* up to STAMPS */
    uint16_t next_stamp;

    struct cw_offset offset; /* the server's time less the client's */
    double echoed; /* when the newest answer was sent, by the client's clock, had its stamp taken no
                      time */
    struct cw_rtt rtt;

    struct course server, client; /* seconds of the server's count */
    double lead;                  /* the lead that inputs should have when they are sent */
    double frame;  /* the longest recent time between updates, for which inputs may wait */
    bool adjusted; /* the lead follows the server's reports */
    struct lead leads[LEADS];
    struct need needs[NEEDS];

    bool synced;
    bool restarted;     /* the application has yet to learn of it */
    uint32_t next_tick; /* the first tick that the application has yet to get */
    uint32_t due_ticks; /* the number of such ticks */
    uint64_t answers;
    uint64_t restarts;
};

enum cw_error cw_clock_echo_receive(struct cw_clock_echo *echo, const uint8_t *data, size_t size,
                                    double now)
{
    if (!echo || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    if (size != CW_CLOCK_STAMP_SIZE)
        return CW_ERROR_MALFORMED;
    const uint16_t stamp = (uint16_t)cw_little_endian_get(&data, 2);
    if (echo->stamped && !cw_sequence_newer(stamp, echo->stamp))
        return CW_ERROR_STALE;
    *echo = (struct cw_clock_echo){.received = now, .stamp = stamp, .stamped = true};
    return CW_OK;
}

size_t cw_clock_echo_transmit(const struct cw_clock_echo *echo, double tick_time, uint8_t *out,
                              size_t capacity, double now)
{
    if (!echo || !out || !isfinite(now) || !cw_tick_time_valid(tick_time) ||
        capacity < CW_CLOCK_ECHO_SIZE)
        return 0;
    const double hold = floor((now - echo->received) / HOLD_UNIT + 0.5);
    const bool fits = echo->stamped && hold >= 0 && hold < HOLD_NONE;
    cw_little_endian_put(&out, echo->stamp, 2);
    cw_little_endian_put(&out, fits ? (uint64_t)hold : HOLD_NONE, 2);
    cw_little_endian_put(&out, cw_tick_of(tick_time), 4);
    cw_little_endian_put(&out, (uint64_t)((tick_time - floor(tick_time)) * PART_UNITS), 2);
    return CW_CLOCK_ECHO_SIZE;
}

struct cw_clock_sync_config cw_clock_sync_config_default(void)
{
    return (struct cw_clock_sync_config){
        .ticks_per_second = 60,
        .slew = 0.05,
        .jump_seconds = 0.5,
        .max_lead_seconds = 1.5,
        .max_catch_up_seconds = 0.25,
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    RANGE(__VA_ARGS__, REAL, ticks_per_second, 1, 1000)                                            \
    RANGE(__VA_ARGS__, ABOVE, slew, 0, 0.5)                                                        \
    OTHER(jump_seconds, "must be above 0 and finite")                                              \
    RANGE(__VA_ARGS__, AMOUNT, max_lead_seconds, 0, 0)                                             \
    RANGE(__VA_ARGS__, AMOUNT, max_catch_up_seconds, 0, 0)
CW_CONFIG_FIELDS(cw_clock_sync_config, 0x1400, FIELDS, cw_clock_sync_config_errors)

static enum cw_error check_config(const struct cw_clock_sync_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!(config->jump_seconds > 0 && isfinite(config->jump_seconds)))
        return CW_FIELD_ERROR(jump_seconds);
    return CW_CHECK_FIELDS(config);
}

size_t cw_clock_sync_memory(const struct cw_clock_sync_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    cw_arena_take(&arena, sizeof(struct cw_clock_sync));
    return arena.used;
}

enum cw_error cw_clock_sync_create(const struct cw_clock_sync_config *config,
                                   struct cw_clock_sync **sync)
{
    const enum cw_error error = sync ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_clock_sync_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_clock_sync *s = cw_arena_take(&arena, sizeof *s);
    s->config = *config;
    s->memory = arena.size;
    cw_clock_sync_reset(s);
    *sync = s;
    return CW_OK;
}

void cw_clock_sync_destroy(struct cw_clock_sync *sync)
{
    if (!sync)
        return;
    const struct cw_allocator allocator = sync->config.allocator;
    cw_release(&allocator, sync, sync->memory);
}

void cw_clock_sync_reset(struct cw_clock_sync *sync)
{
    if (!sync)
        return;
    *sync = (struct cw_clock_sync){
        .config = sync->config,
        .memory = sync->memory,
        .tick_seconds = 1 / sync->config.ticks_per_second,
        .next_stamp = sync->next_stamp, /* the server may have got earlier stamps */
    };
    cw_offset_reset(&sync->offset);
    sync->echoed = -(double)INFINITY;
    for (uint32_t i = 0; i < LEADS; i++)
        sync->leads[i].seconds = (double)NAN;
    for (uint32_t i = 0; i < NEEDS; i++)
        sync->needs[i].second = -(double)INFINITY;
}

static double course_at(const struct course *course, double now)
{
    const double elapsed = now > course->start ? now - course->start : 0;
    return course->value + elapsed + course->rate * (elapsed < REACH ? elapsed : REACH);
}

/* Steers a time from its value to the goal, both at now. */
static void steer(struct course *course, double goal, double slew, double now)
{
    const double value = course_at(course, now);
    const double rate = (goal - value) / REACH;
    *course = (struct course){
        .value = value,
        .start = now > course->start ? now : course->start,
        .rate = rate > slew    ? slew
                : rate < -slew ? -slew
                               : rate,
    };
}

/* Returns the server's time as far as it is known. */
static double known_server_time(const struct cw_clock_sync *sync, double now)
{
    return now + cw_offset_guess(&sync->offset);
}

static double limited_lead(const struct cw_clock_sync *sync, double lead)
{
    const double most = sync->config.max_lead_seconds;
    return lead < most ? lead : most;
}

/* Returns the goal for the client's time. */
static double client_goal(const struct cw_clock_sync *sync, double now)
{
    return course_at(&sync->server, now) + limited_lead(sync, sync->lead + sync->frame);
}

static void restart_client(struct cw_clock_sync *sync, double now)
{
    sync->client = (struct course){.value = client_goal(sync, now), .start = now};
    sync->restarted = true;
    sync->due_ticks = 0;
}

static void restart(struct cw_clock_sync *sync, double now)
{
    sync->synced = true;
    sync->server = (struct course){.value = known_server_time(sync, now), .start = now};
    restart_client(sync, now);
}

size_t cw_clock_sync_transmit(struct cw_clock_sync *sync, uint8_t *out, size_t capacity, double now)
{
    if (!sync || !out || !isfinite(now) || capacity < CW_CLOCK_STAMP_SIZE)
        return 0;
    const uint16_t stamp = sync->next_stamp++;
    sync->stamps[stamp % STAMPS] = now;
    sync->stamp_count += sync->stamp_count < STAMPS;
    cw_little_endian_put(&out, stamp, 2);
    return CW_CLOCK_STAMP_SIZE;
}

/* Returns the tick as the tick time that is nearest to the expected one. */
static double unwrap(const struct cw_clock_sync *sync, uint32_t tick, double now)
{
    const double expected = floor(cw_clock_sync_server_time(sync, now));
    return sync->synced ? expected + cw_tick_difference(tick, cw_tick_of(expected)) : tick;
}

enum cw_error cw_clock_sync_receive(struct cw_clock_sync *sync, const uint8_t *data, size_t size,
                                    double now)
{
    if (!sync || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    if (size != CW_CLOCK_ECHO_SIZE)
        return CW_ERROR_MALFORMED;
    const uint16_t stamp = (uint16_t)cw_little_endian_get(&data, 2);
    const uint32_t hold = (uint32_t)cw_little_endian_get(&data, 2);
    const uint32_t tick = (uint32_t)cw_little_endian_get(&data, 4);
    const double part = (double)cw_little_endian_get(&data, 2) / PART_UNITS;
    const uint16_t age = (uint16_t)(sync->next_stamp - 1 - stamp);
    if (hold == HOLD_NONE || age >= sync->stamp_count)
        return CW_ERROR_STALE;
    const double made = sync->stamps[stamp % STAMPS], hold_seconds = hold * HOLD_UNIT;
    const double rtt = now - made - hold_seconds;
    if (rtt < -DRIFTED)
        return CW_ERROR_MALFORMED;
    if (rtt > LONGEST_RTT)
        return CW_ERROR_STALE;

    const double sent = (unwrap(sync, tick, now) + part) * sync->tick_seconds;
    const struct cw_offset_limits limits =
        cw_offset_limits_make(sent - now, sent - hold_seconds - made, now);
    const bool overtaken = made + hold_seconds < sync->echoed;
    if (overtaken && cw_offset_contradicted(&sync->offset, &limits))
        return CW_ERROR_STALE; /* the answer is from before the jump that the newest one reported */
    if (!overtaken)
        sync->echoed = made + hold_seconds;
    cw_rtt_sample(&sync->rtt, rtt, RTT_SMOOTHING);
    cw_offset_learn(&sync->offset, &limits, sync->rtt.smoothed, now);
    sync->answers++;
    if (!sync->adjusted)
        sync->lead = limited_lead(sync, sync->rtt.smoothed / 2 + 2 * sync->rtt.jitter +
                                            GUESSED_TICKS * sync->tick_seconds);
    const double offset = course_at(&sync->server, now) - now;
    if (!sync->synced || cw_offset_outside(&sync->offset, offset) > sync->config.jump_seconds)
        restart(sync, now);
    return CW_OK;
}

enum cw_error cw_clock_sync_adjust(struct cw_clock_sync *sync, uint32_t tick, double early_ticks,
                                   double now)
{
    if (!sync || !isfinite(early_ticks) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    const struct lead *had = &sync->leads[tick % LEADS];
    if (had->tick != tick || isnan(had->seconds))
        return CW_ERROR_STALE;
    const double needed = limited_lead(sync, had->seconds - early_ticks * sync->tick_seconds);
    const double second = floor(now);
    struct need *need = &sync->needs[cw_ring_index(second, NEEDS)];
    if (need->second != second || need->lead < needed)
        *need = (struct need){.second = second, .lead = needed};

    double most = 0;
    for (uint32_t i = 0; i < NEEDS; i++)
        if (fabs(second - sync->needs[i].second) < NEEDS && sync->needs[i].lead > most)
            most = sync->needs[i].lead;
    const double least = cw_offset_error(&sync->offset, now); /* the shortest time to the server */
    const double varies = most > least ? most - least : 0;
    sync->lead = limited_lead(sync, most + SPARE_SHARE * varies + SPARE_TICKS * sync->tick_seconds);
    sync->adjusted = true;
    return CW_OK;
}

static void steer_server(struct cw_clock_sync *sync, double now)
{
    bool slow;
    const double offset = course_at(&sync->server, now) - now;
    const double goal = cw_offset_goal(&sync->offset, offset, now, &slow);
    const double slew = sync->config.slew;
    steer(&sync->server, now + goal, slow && slew > SLOW_SLEW ? SLOW_SLEW : slew, now);
}

static void note_frame(struct cw_clock_sync *sync, double seconds)
{
    const double most = sync->config.max_catch_up_seconds;
    const double frame = seconds < most ? seconds : most;
    if (frame > sync->frame)
        sync->frame = frame;
    else if (frame > 0)
        sync->frame += (frame - sync->frame) * (frame < FRAME_MEMORY ? frame / FRAME_MEMORY : 1);
}

void cw_clock_sync_update(struct cw_clock_sync *sync, double now)
{
    if (!sync || !isfinite(now) || !sync->synced)
        return;
    steer_server(sync, now);
    note_frame(sync, now - sync->client.start);
    const double goal = client_goal(sync, now);
    if (fabs(goal - course_at(&sync->client, now)) > sync->config.jump_seconds)
        restart_client(sync, now);
    else
        steer(&sync->client, goal, sync->config.slew, now);

    const double most = sync->config.max_catch_up_seconds * sync->config.ticks_per_second;
    const uint32_t newest = cw_tick_of(cw_clock_sync_client_time(sync, now));
    const int64_t due = (int64_t)cw_tick_difference(newest, sync->next_tick) + 1;
    if (sync->restarted || (due > 1 && (double)due > most)) {
        sync->restarted = true;
        sync->next_tick = newest;
        sync->due_ticks = 1;
    } else {
        sync->due_ticks = due > 0 ? (uint32_t)due : 0;
    }
}

bool cw_clock_sync_next(struct cw_clock_sync *sync, struct cw_clock_sync_event *event)
{
    if (!sync || !event || sync->due_ticks == 0)
        return false;
    const uint32_t tick = sync->next_tick;
    if (sync->restarted) {
        sync->restarted = false;
        sync->restarts++;
        *event = (struct cw_clock_sync_event){CW_CLOCK_SYNC_EVENT_RESTART, tick};
        return true;
    }
    const double at = floor(sync->client.value / sync->tick_seconds);
    const double tick_time = at - cw_tick_difference(cw_tick_of(at), tick);
    sync->leads[tick % LEADS] =
        (struct lead){.tick = tick, .seconds = tick_time * sync->tick_seconds - sync->server.value};
    sync->next_tick++;
    sync->due_ticks--;
    *event = (struct cw_clock_sync_event){CW_CLOCK_SYNC_EVENT_TICK, tick};
    return true;
}

double cw_clock_sync_server_time(const struct cw_clock_sync *sync, double now)
{
    if (!sync || !sync->synced || !isfinite(now))
        return 0;
    return course_at(&sync->server, now) / sync->tick_seconds;
}

double cw_clock_sync_client_time(const struct cw_clock_sync *sync, double now)
{
    if (!sync || !sync->synced || !isfinite(now))
        return 0;
    return course_at(&sync->client, now) / sync->tick_seconds;
}

void cw_clock_sync_get_stats(const struct cw_clock_sync *sync, double now,
                             struct cw_clock_sync_stats *stats)
{
    if (!sync || !stats || !isfinite(now))
        return;
    *stats = (struct cw_clock_sync_stats){.synced = sync->synced,
                                          .rtt_seconds = sync->rtt.smoothed,
                                          .jitter_seconds = sync->rtt.jitter,
                                          .answers = sync->answers,
                                          .restarts = sync->restarts};
    if (!sync->synced)
        return;
    const double server = course_at(&sync->server, now);
    stats->error_seconds =
        cw_offset_error(&sync->offset, now) + fabs(server - known_server_time(sync, now));
    stats->lead_seconds = course_at(&sync->client, now) - server;
}
