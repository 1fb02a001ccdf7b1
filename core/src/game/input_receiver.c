#include "base/little_endian.h"
#include "base/memory.h"
#include "causeway/clock_sync.h"
#include "game/input_internal.h"

/* The ticks of a period. The statistics on how early inputs are cover the current one and the one
   before. */
#define PERIOD_TICKS 32

enum state {
    NOTHING,
    RECEIVED,
    MISSED, /* the tick was taken before the input came */
    LATE    /* the input came after its tick was taken */
};

struct entry {
    uint32_t tick;
    enum state state;
};

/* The input of a period that came closest to being late. */
struct closest {
    uint32_t period; /* tick / PERIOD_TICKS */
    bool any;
    uint32_t tick;
    double early;
};

struct cw_input_receiver {
    struct cw_input_config config;
    size_t memory;
    size_t size, stride;   /* bytes of an input's struct, and from one to the next */
    uint32_t kept;         /* ticks, before and after the one taken; a power of two */
    struct entry *entries; /* a ring of `kept` entries */
    uint8_t *inputs;       /* the inputs of that ring */
    uint8_t *decoded;      /* the inputs of a packet */
    uint8_t *last;         /* the input that was given last */

    bool started;
    uint32_t taken; /* the newest tick that was taken */
    uint32_t acked; /* all ticks up to this one were taken or have their input */
    struct closest now, before;
    struct cw_input_receiver_stats stats;
};

static uint32_t ring_size(const struct cw_input_config *config)
{
    uint32_t size = 2 * CW_INPUT_MAX_COPIES;
    while (size < 2 * config->max_early_ticks)
        size *= 2;
    return size;
}

static struct cw_input_receiver *lay_out(struct cw_arena *arena,
                                         const struct cw_input_config *config)
{
    const size_t stride = cw_input_stride(config);
    const uint32_t kept = ring_size(config);
    struct cw_input_receiver *receiver = cw_arena_take(arena, sizeof *receiver);
    struct entry *entries = cw_arena_take(arena, kept * sizeof *entries);
    uint8_t *inputs = cw_arena_take(arena, kept * stride);
    uint8_t *decoded = cw_arena_take(arena, CW_INPUT_MAX_COPIES * stride);
    uint8_t *last = cw_arena_take(arena, stride);
    if (receiver)
        *receiver = (struct cw_input_receiver){
            .config = *config,
            .memory = arena->size,
            .size = cw_schema_type(config->schema, config->type)->size,
            .stride = stride,
            .kept = kept,
            .entries = entries,
            .inputs = inputs,
            .decoded = decoded,
            .last = last,
        };
    return receiver;
}

size_t cw_input_receiver_memory(const struct cw_input_config *config)
{
    struct cw_arena arena = {0};
    if (cw_input_config_check(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_input_receiver_create(const struct cw_input_config *config,
                                       struct cw_input_receiver **receiver)
{
    const enum cw_error error =
        receiver ? cw_input_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_input_receiver_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *receiver = lay_out(&arena, config);
    return CW_OK;
}

void cw_input_receiver_destroy(struct cw_input_receiver *receiver)
{
    if (!receiver)
        return;
    const struct cw_allocator allocator = receiver->config.allocator;
    cw_release(&allocator, receiver, receiver->memory);
}

/* Begins anew, with tick to be taken next. */
static void start(struct cw_input_receiver *receiver, uint32_t tick)
{
    memset(receiver->entries, 0, receiver->kept * sizeof *receiver->entries);
    receiver->started = true;
    receiver->taken = receiver->acked = tick - 1;
    receiver->now = receiver->before = (struct closest){0};
}

void cw_input_receiver_reset(struct cw_input_receiver *receiver)
{
    if (!receiver)
        return;
    start(receiver, 0);
    receiver->started = false;
    memset(receiver->last, 0, receiver->size);
    receiver->stats = (struct cw_input_receiver_stats){0};
}

static struct entry *entry_of(const struct cw_input_receiver *receiver, uint32_t tick)
{
    return &receiver->entries[tick % receiver->kept];
}

static enum state state_of(const struct cw_input_receiver *receiver, uint32_t tick)
{
    const struct entry *entry = entry_of(receiver, tick);
    return entry->tick == tick ? entry->state : NOTHING;
}

static void set_state(struct cw_input_receiver *receiver, uint32_t tick, enum state state)
{
    *entry_of(receiver, tick) = (struct entry){.tick = tick, .state = state};
}

static uint8_t *input_of(const struct cw_input_receiver *receiver, uint32_t tick)
{
    return receiver->inputs + receiver->stride * (tick % receiver->kept);
}

/* Notes that an input arrived at a tick of the server, early by this many ticks. */
static void note_early(struct cw_input_receiver *receiver, uint32_t tick, double early,
                       uint32_t server_tick)
{
    struct closest *now = &receiver->now;
    const uint32_t period = server_tick / PERIOD_TICKS;
    if (!now->any || period != now->period) {
        receiver->before = now->any && period == now->period + 1 ? *now : (struct closest){0};
        *now = (struct closest){.period = period};
    }
    if (!now->any || early < now->early)
        *now = (struct closest){.period = period, .any = true, .tick = tick, .early = early};
}

/* Returns whether the input of a tick is new and still needed. */
static bool is_news(const struct cw_input_receiver *receiver, uint32_t tick)
{
    const int32_t ahead = cw_tick_difference(tick, receiver->taken);
    const enum state state = state_of(receiver, tick);
    return ahead > 0 ? state == NOTHING : state == MISSED;
}

static bool any_news(const struct cw_input_receiver *receiver, uint32_t newest, uint32_t count)
{
    for (uint32_t age = 0; age < count; age++)
        if (is_news(receiver, newest - age))
            return true;
    return false;
}

/* Reads all inputs of a body behind its head. Returns false when any is malformed. */
static bool decode(struct cw_input_receiver *receiver, struct cw_stream *stream, uint32_t count,
                   size_t size)
{
    const void *before = NULL;
    memset(receiver->decoded, 0, count * receiver->stride);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *input = receiver->decoded + receiver->stride * i;
        if (!cw_input_serialize(&receiver->config, stream, before, input))
            return false;
        before = input;
    }
    return (cw_stream_position(stream) + 7) / 8 == size;
}

static void keep(struct cw_input_receiver *receiver, uint32_t tick, const uint8_t *input,
                 double early, uint32_t server_tick)
{
    if (!is_news(receiver, tick))
        return;
    if (cw_tick_difference(tick, receiver->taken) <= 0) {
        set_state(receiver, tick, LATE);
        receiver->stats.late++;
        note_early(receiver, tick, early < 0 ? early : 0, server_tick);
        return;
    }
    set_state(receiver, tick, RECEIVED);
    memcpy(input_of(receiver, tick), input, receiver->size);
    note_early(receiver, tick, early > 0 ? early : 0, server_tick);
}

static void advance_acked(struct cw_input_receiver *receiver)
{
    if (cw_tick_difference(receiver->taken, receiver->acked) > 0)
        receiver->acked = receiver->taken;
    while (state_of(receiver, receiver->acked + 1) == RECEIVED)
        receiver->acked++;
}

static enum cw_error take_body(struct cw_input_receiver *receiver, const uint8_t *data, size_t size,
                               double tick_time)
{
    struct cw_stream stream = cw_stream_reader(data, size);
    const uint32_t server_tick = cw_tick_of(tick_time);
    uint16_t low = 0;
    uint32_t count = 0;
    if (!cw_input_serialize_head(&stream, &low, &count))
        return CW_ERROR_MALFORMED;
    if (!receiver->started)
        start(receiver, server_tick);
    const uint32_t newest = cw_input_unwrap(low, server_tick);
    const double part = tick_time - floor(tick_time);
    const double early = cw_tick_difference(newest, server_tick) - part;
    const int32_t ahead = cw_tick_difference(newest, receiver->taken);
    if (ahead < -(int32_t)(receiver->kept / 2))
        return CW_ERROR_STALE;
    if (ahead > (int32_t)receiver->config.max_early_ticks) {
        note_early(receiver, newest, early, server_tick);
        return CW_ERROR_TOO_EARLY;
    }
    if (!any_news(receiver, newest, count))
        return CW_ERROR_DUPLICATE;
    if (!decode(receiver, &stream, count, size))
        return CW_ERROR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t age = count - 1 - i;
        keep(receiver, newest - age, receiver->decoded + receiver->stride * i, early - age,
             server_tick);
    }
    advance_acked(receiver);
    return CW_OK;
}

enum cw_error cw_input_receiver_receive(struct cw_input_receiver *receiver, const uint8_t *data,
                                        size_t size, double tick_time)
{
    if (!receiver || (!data && size > 0) || !cw_tick_time_valid(tick_time))
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = size == 0 ? CW_OK : take_body(receiver, data, size, tick_time);
    receiver->stats.refused += error != CW_OK && error != CW_ERROR_DUPLICATE;
    return error;
}

bool cw_input_receiver_take(struct cw_input_receiver *receiver, uint32_t tick, void *input)
{
    if (!receiver || !input)
        return false;
    const int32_t ahead = cw_tick_difference(tick, receiver->taken);
    if (!receiver->started || ahead <= 0)
        start(receiver, tick);
    receiver->taken = tick;
    const bool own = state_of(receiver, tick) == RECEIVED;
    struct cw_input_receiver_stats *stats = &receiver->stats;
    if (own) {
        memcpy(receiver->last, input_of(receiver, tick), receiver->size);
        stats->taken++;
        stats->starved_in_row = 0;
    } else {
        set_state(receiver, tick, MISSED);
        stats->starved++;
        stats->starved_in_row++;
        if (stats->starved_in_row > receiver->config.max_repeats)
            memset(receiver->last, 0, receiver->size);
    }
    memcpy(input, receiver->last, receiver->size);
    advance_acked(receiver);
    return own;
}

size_t cw_input_receiver_transmit(const struct cw_input_receiver *receiver, uint8_t *out,
                                  size_t capacity)
{
    if (!receiver || !out || capacity < CW_INPUT_REPORT_SIZE || !receiver->now.any)
        return 0;
    const struct closest *now = &receiver->now, *before = &receiver->before;
    const struct closest *closest = before->any && before->early < now->early ? before : now;
    double early = floor(closest->early * CW_INPUT_EARLY_PARTS);
    early = early < INT16_MIN ? INT16_MIN : early > INT16_MAX ? INT16_MAX : early;
    cw_little_endian_put(&out, receiver->acked, 2);
    cw_little_endian_put(&out, closest->tick, 2);
    cw_little_endian_put(&out, (uint16_t)(int16_t)early, 2);
    return CW_INPUT_REPORT_SIZE;
}

void cw_input_receiver_get_stats(const struct cw_input_receiver *receiver,
                                 struct cw_input_receiver_stats *stats)
{
    if (!receiver || !stats)
        return;
    *stats = receiver->stats;
    const int32_t waiting = cw_tick_difference(receiver->acked, receiver->taken);
    stats->waiting = waiting > 0 ? (uint32_t)waiting : 0;
}
