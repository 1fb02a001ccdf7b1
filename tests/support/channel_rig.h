/* The things that a channel needs of a connection: a schema, a pool for what arrives, receipts and
   widths. */
#ifndef CAUSEWAY_TESTS_CHANNEL_RIG_H
#define CAUSEWAY_TESTS_CHANNEL_RIG_H

#include "message/channel_common.h"
#include "message/message_pool.h"
#include "unit.h"

#include <stdalign.h>
#include <stdlib.h>

#define RIG_QUEUE      8
#define RIG_MESSAGES   16
#define RIG_PER_PACKET 4

enum { RIG_NUMBER, RIG_BLOCK };

#define RIG_FIELDS(FIELD) FIELD(number, CW_UINT(0, 65535))
CW_MESSAGE(rig_number, RIG_FIELDS)
CW_BLOCK_MESSAGE(rig_block, RIG_FIELDS)

struct channel_rig {
    struct cw_schema *schema;
    struct cw_message_pool *made;
    struct cw_message_pool *arrived;
    struct cw_receipts receipts;
    alignas(max_align_t) uint8_t receipt_memory[256];
    uint16_t selection[RIG_PER_PACKET + 1];
    uint8_t scratch[64];
};

static inline void channel_rig_start(struct channel_rig *rig)
{
    const struct cw_message_type types[] = {rig_number_type, rig_block_type};
    const struct cw_schema_config schema = {.types = types, .count = 2};
    *rig = (struct channel_rig){0};
    assert_int_equal(cw_schema_create(&schema, &rig->schema), CW_OK);
    struct cw_message_pool_config pool = cw_message_pool_config_default();
    pool.schema = rig->schema;
    pool.capacity = RIG_MESSAGES;
    assert_int_equal(cw_message_pool_create(&pool, &rig->made), CW_OK);
    assert_int_equal(cw_message_pool_create(&pool, &rig->arrived), CW_OK);
    struct cw_arena arena = {.base = rig->receipt_memory, .size = sizeof rig->receipt_memory};
    cw_receipts_layout(&rig->receipts, &arena, 8);
    cw_receipts_reset(&rig->receipts);
}

/* Frees the rig; every message must have come back to its pool. */
static inline void channel_rig_stop(struct channel_rig *rig)
{
    assert_int_equal(cw_message_pool_used(rig->made), 0);
    assert_int_equal(cw_message_pool_used(rig->arrived), 0);
    cw_message_pool_destroy(rig->made);
    cw_message_pool_destroy(rig->arrived);
    cw_schema_destroy(rig->schema);
}

/* Returns the first of three channels, which may fill a packet of 100 bytes. */
static inline struct cw_channel_common channel_rig_common(struct channel_rig *rig,
                                                          enum cw_channel_kind kind)
{
    struct cw_channel_common common = {
        .config = cw_channel_config_default(kind),
        .schema = rig->schema,
        .pool = rig->arrived,
        .pool_room = RIG_MESSAGES,
        .ahead_room = RIG_MESSAGES,
        .receipts = &rig->receipts,
        .scratch = rig->scratch,
        .packet_bits = 800,
        .fragment_bits = 800,
        .whole_bits = 800,
        .selection = rig->selection,
    };
    common.config.send_queue_size = common.config.receive_queue_size = RIG_QUEUE;
    common.most_queued = RIG_QUEUE;
    common.config.max_messages_per_packet = RIG_PER_PACKET;
    common.config.blocks = true;
    common.config.max_block_size = 25;
    common.config.block_fragment_size = 10;
    cw_channel_set_widths(&common, 3);
    return common;
}

/* Makes a message to send; with a block, it is of the type that has one. */
static inline struct cw_message *channel_rig_message(struct channel_rig *rig, uint32_t number,
                                                     const char *block, uint32_t block_size)
{
    struct cw_message *message;
    assert_int_equal(cw_message_create_owned(rig->made, block ? RIG_BLOCK : RIG_NUMBER, &message),
                     CW_OK);
    ((struct rig_number *)message->data)->number = number;
    if (block)
        cw_message_attach_owned(message, (uint8_t *)(uintptr_t)block, block_size, NULL, NULL);
    return message;
}

static inline uint32_t channel_rig_bits(const struct cw_channel_common *common,
                                        struct cw_message *message)
{
    size_t body;
    assert_true(cw_message_measure(message, &body));
    return common->type_bits + (uint32_t)body;
}

/* Skips the part of an entry that a connection reads: the channel and whether a fragment
   follows. */
static inline bool channel_rig_is_fragment(struct cw_stream *stream)
{
    uint32_t index = 0;
    bool is_fragment = false;
    assert_true(cw_stream_uint(stream, &index, 0, 2) && cw_stream_bool(stream, &is_fragment));
    assert_int_equal(index, 1);
    return is_fragment;
}

/* Takes a message for the application, and lets it go. */
static inline uint32_t channel_rig_number(struct cw_message *message)
{
    assert_non_null(message);
    const uint32_t number = ((const struct rig_number *)message->data)->number;
    cw_message_drop(message);
    return number;
}

#endif
