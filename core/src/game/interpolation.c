#include "causeway/interpolation.h"

#include "base/config_fields.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* The arrivals from which the delay follows: those of the last second at 60 per second, of six
   seconds at 10. Older ones count no more, but for the last SETTLED. The second worst counts; as
   long as there are fewer, the worst. */
#define ARRIVALS        64
#define ARRIVAL_SECONDS 6
/* Until there are this many arrivals, the view jumps to its place at once. */
#define SETTLED 8

/* The shares by which the view runs faster or slower than the clock at most. */
#define FASTER 0.1
#define SLOWER 0.2

/* Snapshots further apart, in seconds, do not belong to the same count of ticks: no connection
   lives through such a gap. */
#define FARTHEST 10

/* Times of the caller's clock minus times of ticks, in seconds. */
struct arrival {
    double fast; /* the tick of this snapshot */
    double late; /* the tick of the newest snapshot before it, the only one to show until now */
    double at;   /* when it came; no difference */
};

struct cw_interpolation {
    struct cw_interpolation_config config;
    size_t memory;
    size_t stride; /* bytes from one entry to the next */

    /* The snapshots that are kept, oldest first. Ticks are unwrapped. The slots from slots[count]
       on are free. */
    uint32_t count;
    int64_t *ticks;
    uint32_t *slots;
    uint8_t *entries;

    struct arrival arrivals[ARRIVALS];
    uint64_t arrival_count;
    double received_at; /* when the last one arrived */
    double fast;        /* the least of the arrivals */
    double lag;         /* the clock minus the tick that should be shown, in seconds */

    bool started;
    double position; /* the tick shown */
    double viewed_at;
    struct cw_interpolation_stats stats;
};

struct cw_interpolation_config cw_interpolation_config_default(void)
{
    return (struct cw_interpolation_config){
        .ticks_per_second = 60,
        .max_entries = 64,
        .max_delay_seconds = 0.5,
        .max_extrapolation_seconds = 0.25,
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    RANGE(__VA_ARGS__, ABOVE, ticks_per_second, 0, 1000)                                           \
    RANGE(__VA_ARGS__, UINT, entry_size, 0, 1048576)                                               \
    RANGE(__VA_ARGS__, UINT, max_entries, 2, 1024)                                                 \
    OTHER(min_delay_seconds, "must be from 0 to max_delay_seconds")                                \
    RANGE(__VA_ARGS__, REAL, max_delay_seconds, 0, 60)                                             \
    RANGE(__VA_ARGS__, REAL, max_extrapolation_seconds, 0, 60)
CW_CONFIG_FIELDS(cw_interpolation_config, 0x1430, FIELDS, cw_interpolation_config_errors)

static enum cw_error check_config(const struct cw_interpolation_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = CW_CHECK_FIELDS(config);
    if (error != CW_OK)
        return error;
    const bool valid =
        config->min_delay_seconds >= 0 && config->min_delay_seconds <= config->max_delay_seconds;
    return valid ? CW_OK : CW_FIELD_ERROR(min_delay_seconds);
}

static struct cw_interpolation *lay_out(struct cw_arena *arena,
                                        const struct cw_interpolation_config *config)
{
    const size_t count = config->max_entries;
    const size_t stride = ((size_t)config->entry_size + 15) / 16 * 16;
    struct cw_interpolation *x = cw_arena_take(arena, sizeof *x);
    int64_t *ticks = cw_arena_take(arena, count * sizeof *ticks);
    uint32_t *slots = cw_arena_take(arena, count * sizeof *slots);
    uint8_t *entries = cw_arena_take(arena, count * stride);
    if (x)
        *x = (struct cw_interpolation){.config = *config,
                                       .memory = arena->size,
                                       .stride = stride,
                                       .ticks = ticks,
                                       .slots = slots,
                                       .entries = entries};
    return x;
}

size_t cw_interpolation_memory(const struct cw_interpolation_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_interpolation_create(const struct cw_interpolation_config *config,
                                      struct cw_interpolation **interpolation)
{
    const enum cw_error error = interpolation ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_interpolation_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_interpolation *const x = lay_out(&arena, config);
    cw_interpolation_reset(x);
    *interpolation = x;
    return CW_OK;
}

void cw_interpolation_destroy(struct cw_interpolation *interpolation)
{
    if (!interpolation)
        return;
    const struct cw_allocator allocator = interpolation->config.allocator;
    cw_release(&allocator, interpolation, interpolation->memory);
}

/* Forgets all snapshots. The slots stay as they are: all of them are free. */
static void begin_anew(struct cw_interpolation *x)
{
    x->count = 0;
    x->arrival_count = 0;
    x->started = false;
}

void cw_interpolation_reset(struct cw_interpolation *interpolation)
{
    if (!interpolation)
        return;
    begin_anew(interpolation);
    interpolation->stats = (struct cw_interpolation_stats){0};
    for (uint32_t i = 0; i < interpolation->config.max_entries; i++)
        interpolation->slots[i] = i;
}

static int64_t newest_tick(const struct cw_interpolation *x)
{
    return x->ticks[x->count - 1];
}

/* Returns the tick as a number that does not wrap, near the ticks that are kept. */
static int64_t unwrap(const struct cw_interpolation *x, uint32_t tick)
{
    return x->count == 0 ? tick : newest_tick(x) + (int32_t)(tick - (uint32_t)newest_tick(x));
}

static bool is_far(const struct cw_interpolation *x, int64_t tick)
{
    const double seconds = (double)(tick - newest_tick(x)) / x->config.ticks_per_second;
    return fabs(seconds) > FARTHEST;
}

/* Returns the number of kept snapshots that are older than the tick. */
static uint32_t count_older(const struct cw_interpolation *x, double tick)
{
    uint32_t older = x->count;
    while (older > 0 && (double)x->ticks[older - 1] >= tick)
        older--;
    return older;
}

/* Sets the lag that would have shown almost all of the last arrivals in time. */
static void follow_arrivals(struct cw_interpolation *x)
{
    const uint32_t known = x->arrival_count < ARRIVALS ? (uint32_t)x->arrival_count : ARRIVALS;
    double worst = -INFINITY, second = -INFINITY, fast = INFINITY;
    for (uint32_t age = 0; age < known; age++) {
        const struct arrival *const arrival = &x->arrivals[(x->arrival_count - 1 - age) % ARRIVALS];
        if (age >= SETTLED && arrival->at < x->received_at - ARRIVAL_SECONDS)
            break;
        second = fmax(second, fmin(worst, arrival->late));
        worst = fmax(worst, arrival->late);
        fast = fmin(fast, arrival->fast);
    }
    const double lag = known < ARRIVALS ? worst : second;
    x->fast = fast;
    x->lag =
        fmin(fmax(lag, fast + x->config.min_delay_seconds), fast + x->config.max_delay_seconds);
}

/* Notes an arrival before its tick is put among the others. Snapshots that arrive together waited
   for the same frame, so only the first of them tells how late the view had to be. */
static void note_arrival(struct cw_interpolation *x, int64_t tick, double now)
{
    const double rate = x->config.ticks_per_second;
    const double fast = now - (double)tick / rate;
    if (x->count > 0 && now <= x->received_at && x->arrival_count > 0) {
        struct arrival *const last = &x->arrivals[(x->arrival_count - 1) % ARRIVALS];
        last->fast = fmin(last->fast, fast);
    } else {
        const double late = x->count > 0 ? now - (double)newest_tick(x) / rate : fast;
        x->arrivals[x->arrival_count++ % ARRIVALS] = (struct arrival){fast, late, now};
    }
    x->received_at = now;
    follow_arrivals(x);
}

static void drop_oldest(struct cw_interpolation *x)
{
    const uint32_t slot = x->slots[0];
    x->count--;
    memmove(x->ticks, x->ticks + 1, x->count * sizeof *x->ticks);
    memmove(x->slots, x->slots + 1, x->count * sizeof *x->slots);
    x->slots[x->count] = slot;
}

static void insert(struct cw_interpolation *x, uint32_t at, int64_t tick, const void *entry)
{
    const uint32_t slot = x->slots[x->count];
    const uint32_t behind = x->count - at;
    memmove(x->ticks + at + 1, x->ticks + at, behind * sizeof *x->ticks);
    memmove(x->slots + at + 1, x->slots + at, behind * sizeof *x->slots);
    x->ticks[at] = tick;
    x->slots[at] = slot;
    x->count++;
    if (x->config.entry_size > 0)
        memcpy(x->entries + slot * x->stride, entry, x->config.entry_size);
}

enum cw_error cw_interpolation_receive(struct cw_interpolation *interpolation, uint32_t tick,
                                       const void *entry, double now)
{
    struct cw_interpolation *const x = interpolation;
    if (!x || (!entry && x->config.entry_size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    if (x->count > 0 && is_far(x, unwrap(x, tick)))
        begin_anew(x);
    const int64_t unwrapped = unwrap(x, tick);
    uint32_t at = count_older(x, (double)unwrapped);
    const bool full = x->count == x->config.max_entries;
    const bool known = at < x->count && x->ticks[at] == unwrapped;
    if (known || (full && at == 0)) {
        x->stats.refused++;
        return known ? CW_ERROR_DUPLICATE : CW_ERROR_STALE;
    }
    note_arrival(x, unwrapped, now);
    if (full) {
        drop_oldest(x);
        at--;
    }
    insert(x, at, unwrapped, entry);
    x->stats.received++;
    return CW_OK;
}

static double clamp(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static void advance(struct cw_interpolation *x, double now)
{
    const double rate = x->config.ticks_per_second;
    const double beyond = x->count > 1 ? x->config.max_extrapolation_seconds * rate : 0;
    const double oldest = (double)x->ticks[0], end = (double)newest_tick(x) + beyond;
    const double target = clamp((now - x->lag) * rate, oldest, end);
    if (!x->started) {
        x->position = target;
        x->viewed_at = now;
        x->started = true;
    }
    const double elapsed = fmax(now - x->viewed_at, 0) * rate;
    const double error = target - (x->position + elapsed);
    double step = elapsed + error;
    if (error > x->config.max_delay_seconds * rate)
        x->stats.jumps++;
    else if (x->arrival_count >= SETTLED)
        step = elapsed + clamp(error, -SLOWER * elapsed, FASTER * elapsed);
    x->position = fmax(x->position, clamp(x->position + step, oldest, end));
    x->viewed_at = fmax(x->viewed_at, now);
}

bool cw_interpolation_view(struct cw_interpolation *interpolation, double now, struct cw_view *view)
{
    struct cw_interpolation *const x = interpolation;
    if (!x || !view || !isfinite(now) || x->count == 0)
        return false;
    advance(x, now);
    uint32_t to = count_older(x, x->position);
    const double beyond = x->position - (double)newest_tick(x);
    x->stats.views++;
    x->stats.extrapolated += beyond > 0;
    x->stats.frozen += beyond >= x->config.max_extrapolation_seconds * x->config.ticks_per_second;
    to = to < x->count ? to : x->count - 1;
    const uint32_t from = to > 0 ? to - 1 : 0;
    const double span = (double)(x->ticks[to] - x->ticks[from]);
    *view = (struct cw_view){
        .from = (uint32_t)x->ticks[from],
        .to = (uint32_t)x->ticks[to],
        .fraction = span > 0 ? (float)((x->position - (double)x->ticks[from]) / span) : 0,
    };
    return true;
}

const void *cw_interpolation_entry(const struct cw_interpolation *interpolation, uint32_t tick)
{
    const struct cw_interpolation *const x = interpolation;
    if (!x || x->count == 0 || x->config.entry_size == 0)
        return NULL;
    const int64_t unwrapped = unwrap(x, tick);
    const uint32_t at = count_older(x, (double)unwrapped);
    return at < x->count && x->ticks[at] == unwrapped ? x->entries + x->slots[at] * x->stride
                                                      : NULL;
}

void cw_interpolation_get_stats(const struct cw_interpolation *interpolation,
                                struct cw_interpolation_stats *stats)
{
    if (!interpolation || !stats)
        return;
    const struct cw_interpolation *const x = interpolation;
    *stats = x->stats;
    if (x->count > 0)
        stats->target_seconds = x->lag - x->fast;
    if (x->started)
        stats->delay_seconds = x->viewed_at - x->position / x->config.ticks_per_second - x->fast;
}
