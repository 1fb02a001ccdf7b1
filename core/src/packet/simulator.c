#include "causeway/simulator.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "base/prng.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A datagram under way. The entries are a heap with the one that is due first on top. */
struct entry {
    double due;
    uint64_t number; /* the number of datagrams received before it; a copy has its original's */
    uint32_t slot;
    uint32_t size;
};

struct cw_simulator {
    struct cw_simulator_config config;
    size_t memory;
    struct cw_prng random;
    bool bad_state;
    double backlog;      /* bytes that wait for the bandwidth limit */
    double backlog_time; /* when backlog was right */
    uint64_t newest;     /* the highest number transmitted */
    double newest_due;   /* the arrival of the datagram received last; infinity when it will not
                            arrive */
    uint32_t count;
    struct entry *heap;
    uint32_t *free_slots; /* max_datagrams - count slots */
    uint8_t *slots;
    struct cw_simulator_stats stats;
};

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(max_datagram_size, "must be from 1 to 65535")                                            \
    OTHER(max_datagrams, "must be from 1 to 65536")                                                \
    RANGE(__VA_ARGS__, AMOUNT, latency_seconds, 0, 0)                                              \
    RANGE(__VA_ARGS__, AMOUNT, jitter_seconds, 0, 0)                                               \
    RANGE(__VA_ARGS__, REAL, loss, 0, 1)                                                           \
    RANGE(__VA_ARGS__, REAL, burst_start, 0, 1)                                                    \
    RANGE(__VA_ARGS__, REAL, burst_end, 0, 1)                                                      \
    RANGE(__VA_ARGS__, REAL, burst_loss, 0, 1)                                                     \
    RANGE(__VA_ARGS__, REAL, duplicate, 0, 1)                                                      \
    RANGE(__VA_ARGS__, REAL, reorder, 0, 1)                                                        \
    RANGE(__VA_ARGS__, AMOUNT, reorder_delay_seconds, 0, 0)                                        \
    RANGE(__VA_ARGS__, AMOUNT, bytes_per_second, 0, 0)                                             \
    RANGE(__VA_ARGS__, AMOUNT, queue_bytes, 0, 0)
CW_CONFIG_FIELDS(cw_simulator_path, 0x1040, FIELDS, cw_simulator_config_errors)

static enum cw_error check_config(const struct cw_simulator_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (config->max_datagram_size < 1 || config->max_datagram_size > 65535)
        return CW_FIELD_ERROR(max_datagram_size);
    if (config->max_datagrams < 1 || config->max_datagrams > 65536)
        return CW_FIELD_ERROR(max_datagrams);
    return CW_CHECK_FIELDS(&config->path);
}

struct cw_simulator_config cw_simulator_config_default(void)
{
    return (struct cw_simulator_config){
        .max_datagram_size = 1400,
        .max_datagrams = 256,
        .path = {.queue_bytes = 65536},
    };
}

static struct cw_simulator *lay_out(struct cw_arena *arena,
                                    const struct cw_simulator_config *config)
{
    const size_t count = config->max_datagrams;
    struct cw_simulator *simulator = cw_arena_take(arena, sizeof *simulator);
    struct entry *heap = cw_arena_take(arena, count * sizeof *heap);
    uint32_t *free_slots = cw_arena_take(arena, count * sizeof *free_slots);
    uint8_t *slots = cw_arena_take(arena, count * config->max_datagram_size);
    if (simulator)
        *simulator = (struct cw_simulator){.backlog_time = -INFINITY,
                                           .newest_due = INFINITY,
                                           .heap = heap,
                                           .free_slots = free_slots,
                                           .slots = slots};
    return simulator;
}

size_t cw_simulator_memory(const struct cw_simulator_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_simulator_create(const struct cw_simulator_config *config,
                                  struct cw_simulator **simulator)
{
    const enum cw_error error = simulator ? check_config(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_simulator_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_simulator *s = lay_out(&arena, config);
    s->config = *config;
    s->memory = arena.size;
    s->random.state = config->seed;
    for (uint32_t i = 0; i < config->max_datagrams; i++)
        s->free_slots[i] = i;
    *simulator = s;
    return CW_OK;
}

void cw_simulator_destroy(struct cw_simulator *simulator)
{
    if (!simulator)
        return;
    const struct cw_allocator allocator = simulator->config.allocator;
    cw_release(&allocator, simulator, simulator->memory);
}

enum cw_error cw_simulator_change(struct cw_simulator *simulator,
                                  const struct cw_simulator_path *path)
{
    const enum cw_error error =
        simulator && path ? CW_CHECK_FIELDS(path) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    simulator->config.path = *path;
    if (path->burst_start <= 0)
        simulator->bad_state = false;
    return CW_OK;
}

static bool earlier(const struct entry *a, const struct entry *b)
{
    return a->due != b->due ? a->due < b->due : a->number < b->number;
}

static void push(struct cw_simulator *simulator, struct entry entry)
{
    struct entry *heap = simulator->heap;
    uint32_t at = simulator->count++;
    while (at > 0 && earlier(&entry, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

static void pop(struct cw_simulator *simulator)
{
    struct entry *heap = simulator->heap;
    const uint32_t count = --simulator->count;
    const struct entry last = heap[count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && earlier(&heap[child + 1], &heap[child]))
            child++;
        if (!earlier(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

static bool is_lost(struct cw_simulator *simulator)
{
    const struct cw_simulator_path *path = &simulator->config.path;
    const double change = simulator->bad_state ? path->burst_end : path->burst_start;
    if (cw_prng_chance(&simulator->random, change))
        simulator->bad_state = !simulator->bad_state;
    return cw_prng_chance(&simulator->random, simulator->bad_state ? path->burst_loss : path->loss);
}

/* Puts size bytes behind those that wait already and stores in *passed when the last of them is
   through. Returns false when too many wait. */
static bool pass_limit(struct cw_simulator *simulator, size_t size, double now, double *passed)
{
    const struct cw_simulator_path *path = &simulator->config.path;
    *passed = now;
    if (path->bytes_per_second <= 0) {
        simulator->backlog = 0;
        simulator->backlog_time = now;
        return true;
    }
    /* Each statement has one operation: otherwise a compiler may fuse them, and machines would
       differ. */
    if (now > simulator->backlog_time) {
        const double drained = (now - simulator->backlog_time) * path->bytes_per_second;
        simulator->backlog = drained < simulator->backlog ? simulator->backlog - drained : 0;
        simulator->backlog_time = now;
    }
    if (simulator->backlog > path->queue_bytes)
        return false;
    simulator->backlog += (double)size;
    const double wait = simulator->backlog / path->bytes_per_second;
    *passed = simulator->backlog_time + wait;
    return true;
}

static double with_jitter(struct cw_simulator *simulator, double due)
{
    const double extra = simulator->config.path.jitter_seconds * cw_prng_share(&simulator->random);
    return due + extra;
}

/* Puts a datagram under way. Returns false when no place is left. */
static bool put_under_way(struct cw_simulator *simulator, const uint8_t *data, size_t size,
                          double due)
{
    const struct cw_simulator_config *config = &simulator->config;
    if (simulator->count == config->max_datagrams)
        return false;
    const struct entry entry = {
        .due = due,
        .number = simulator->stats.datagrams_received,
        .slot = simulator->free_slots[config->max_datagrams - simulator->count - 1],
        .size = (uint32_t)size,
    };
    memcpy(simulator->slots + (size_t)entry.slot * config->max_datagram_size, data, size);
    push(simulator, entry);
    simulator->newest_due = fmin(simulator->newest_due, due);
    return true;
}

enum cw_error cw_simulator_receive(struct cw_simulator *simulator, const uint8_t *data, size_t size,
                                   double now)
{
    if (!simulator || (!data && size > 0) || !isfinite(now))
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_simulator_path *path = &simulator->config.path;
    double due;
    if (size == 0)
        return CW_ERROR_MALFORMED;
    if (size > simulator->config.max_datagram_size)
        return CW_ERROR_PACKET_TOO_LARGE;
    simulator->stats.datagrams_received++;
    simulator->stats.bytes_received += size;
    simulator->newest_due = INFINITY;
    if (!pass_limit(simulator, size, now, &due)) {
        simulator->stats.datagrams_overflowed++;
        return CW_OK;
    }
    if (is_lost(simulator)) {
        simulator->stats.datagrams_lost++;
        return CW_OK;
    }
    due += path->latency_seconds;
    const bool held_up = cw_prng_chance(&simulator->random, path->reorder);
    const double first = held_up ? due + path->reorder_delay_seconds : due;
    if (!put_under_way(simulator, data, size, with_jitter(simulator, first)))
        simulator->stats.datagrams_overflowed++;
    else if (cw_prng_chance(&simulator->random, path->duplicate) &&
             put_under_way(simulator, data, size, with_jitter(simulator, due)))
        simulator->stats.datagrams_duplicated++;
    return CW_OK;
}

size_t cw_simulator_transmit(struct cw_simulator *simulator, uint8_t *out, size_t capacity,
                             double now)
{
    if (!out || !isfinite(now) || cw_simulator_due(simulator) > now)
        return 0;
    const struct entry entry = simulator->heap[0];
    if (entry.size > capacity)
        return 0;
    memcpy(out, simulator->slots + (size_t)entry.slot * simulator->config.max_datagram_size,
           entry.size);
    pop(simulator);
    simulator->free_slots[simulator->config.max_datagrams - simulator->count - 1] = entry.slot;

    simulator->stats.datagrams_transmitted++;
    simulator->stats.bytes_transmitted += entry.size;
    if (entry.number < simulator->newest)
        simulator->stats.datagrams_reordered++;
    else
        simulator->newest = entry.number;
    return entry.size;
}

double cw_simulator_due(const struct cw_simulator *simulator)
{
    return simulator && simulator->count ? simulator->heap[0].due : INFINITY;
}

double cw_simulator_newest_due(const struct cw_simulator *simulator)
{
    return simulator ? simulator->newest_due : INFINITY;
}

void cw_simulator_get_stats(const struct cw_simulator *simulator, struct cw_simulator_stats *stats)
{
    if (!simulator || !stats)
        return;
    *stats = simulator->stats;
    stats->datagrams_under_way = simulator->count;
}
