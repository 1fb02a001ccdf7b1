#include "base/little_endian.h"
#include "base/memory.h"
#include "causeway/clock_sync.h"
#include "game/input_internal.h"

struct cw_input_sender {
    struct cw_input_config config;
    size_t memory;
    size_t stride;
    uint8_t *inputs; /* a ring of CW_INPUT_MAX_COPIES */
    uint8_t *wire;   /* room to serialize an input and read it back */
    size_t wire_size;
    uint32_t newest;
    uint32_t count;   /* ticks in a row up to newest, CW_INPUT_MAX_COPIES at most */
    uint32_t unacked; /* the number of inputs that are not acked */
};

/* Returns the most bytes of an input on the wire: no field takes more than twice its bytes, and
   none has less than one. */
static size_t most_wire_bytes(size_t stride)
{
    return 2 * stride + 16;
}

static struct cw_input_sender *lay_out(struct cw_arena *arena, const struct cw_input_config *config)
{
    const size_t stride = cw_input_stride(config);
    const size_t wire_size = most_wire_bytes(stride);
    struct cw_input_sender *sender = cw_arena_take(arena, sizeof *sender);
    uint8_t *inputs = cw_arena_take(arena, stride * CW_INPUT_MAX_COPIES);
    uint8_t *wire = cw_arena_take(arena, wire_size);
    if (sender)
        *sender = (struct cw_input_sender){.config = *config,
                                           .memory = arena->size,
                                           .stride = stride,
                                           .inputs = inputs,
                                           .wire = wire,
                                           .wire_size = wire_size};
    return sender;
}

size_t cw_input_sender_memory(const struct cw_input_config *config)
{
    struct cw_arena arena = {0};
    if (cw_input_config_check(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_input_sender_create(const struct cw_input_config *config,
                                     struct cw_input_sender **sender)
{
    const enum cw_error error = sender ? cw_input_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_input_sender_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *sender = lay_out(&arena, config);
    return CW_OK;
}

void cw_input_sender_destroy(struct cw_input_sender *sender)
{
    if (!sender)
        return;
    const struct cw_allocator allocator = sender->config.allocator;
    cw_release(&allocator, sender, sender->memory);
}

void cw_input_sender_reset(struct cw_input_sender *sender)
{
    if (sender)
        sender->newest = sender->count = sender->unacked = 0;
}

static uint8_t *slot(const struct cw_input_sender *sender, uint32_t tick)
{
    return sender->inputs + sender->stride * (tick % CW_INPUT_MAX_COPIES);
}

enum cw_error cw_input_sender_add(struct cw_input_sender *sender, uint32_t tick, void *input)
{
    if (!sender || !input)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_input_config *config = &sender->config;
    if (cw_schema_check(config->schema, config->type, input) != CW_FIELD_NONE)
        return CW_ERROR_MESSAGE_VALUE;
    struct cw_stream writer = cw_stream_writer(sender->wire, sender->wire_size);
    if (!cw_input_serialize(config, &writer, NULL, input))
        return CW_ERROR_MESSAGE_VALUE;
    struct cw_stream reader = cw_stream_reader(sender->wire, cw_stream_flush(&writer));
    const size_t size = cw_schema_type(config->schema, config->type)->size;
    memset(input, 0, size);
    cw_input_serialize(config, &reader, NULL, input);

    if (tick != sender->newest + 1)
        sender->count = sender->unacked = 0;
    sender->newest = tick;
    sender->count += sender->count < CW_INPUT_MAX_COPIES;
    sender->unacked += sender->unacked < CW_INPUT_MAX_COPIES;
    memcpy(slot(sender, tick), input, size);
    return CW_OK;
}

/* Writes the newest inputs, count of them, and returns the size; 0 when they do not fit. */
static size_t write_inputs(const struct cw_input_sender *sender, uint32_t count, uint8_t *out,
                           size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    uint16_t newest = (uint16_t)sender->newest;
    const void *before = NULL;
    cw_input_serialize_head(&stream, &newest, &count);
    for (uint32_t age = count; age > 0; age--) {
        void *input = slot(sender, sender->newest - age + 1);
        if (!cw_input_serialize(&sender->config, &stream, before, input))
            return 0;
        before = input;
    }
    return cw_stream_flush(&stream);
}

size_t cw_input_sender_transmit(struct cw_input_sender *sender, uint8_t *out, size_t capacity)
{
    if (!sender || !out)
        return 0;
    const uint32_t copies = sender->config.copies;
    size_t size = 0;
    for (uint32_t count = sender->unacked < copies ? sender->unacked : copies;
         count > 0 && size == 0; count--)
        size = write_inputs(sender, count, out, capacity);
    return size;
}

enum cw_error cw_input_sender_receive(struct cw_input_sender *sender, const uint8_t *data,
                                      size_t size, struct cw_input_report *report)
{
    if (!sender || (!data && size > 0) || !report)
        return CW_ERROR_INVALID_ARGUMENT;
    if (size != CW_INPUT_REPORT_SIZE)
        return CW_ERROR_MALFORMED;
    const uint32_t acked =
        cw_input_unwrap((uint16_t)cw_little_endian_get(&data, 2), sender->newest);
    const uint32_t tick = cw_input_unwrap((uint16_t)cw_little_endian_get(&data, 2), sender->newest);
    const int16_t early = (int16_t)cw_little_endian_get(&data, 2);
    if (sender->count == 0 || cw_tick_difference(tick, sender->newest) > 0)
        return CW_ERROR_STALE;
    const int32_t lacks = cw_tick_difference(sender->newest, acked);
    if (lacks < (int32_t)sender->unacked)
        sender->unacked = lacks > 0 ? (uint32_t)lacks : 0;
    *report = (struct cw_input_report){
        .acked = acked, .tick = tick, .early_ticks = early / CW_INPUT_EARLY_PARTS};
    return CW_OK;
}
