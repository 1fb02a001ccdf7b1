/* Columns of the lab and single peers, which the test owns. */
#ifndef CAUSEWAY_TESTS_COLUMN_RIG_H
#define CAUSEWAY_TESTS_COLUMN_RIG_H

#include "lab/column.h"

#include "fixture.h"

#define SECOND CW_LAB_TICKS_PER_SECOND

static inline void column_release(void *column)
{
    cw_lab_column_destroy(column);
}

static inline struct cw_lab_column *column_with(const struct cw_lab_column_config *config)
{
    struct cw_lab_column *column = NULL;
    assert_ok(cw_lab_column_create(config, &column));
    return own(column, column_release);
}

/* A column of the protocol that has this type. */
static inline struct cw_lab_column *column_of(const struct cw_lab_peer_type *type)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    while (cw_lab_protocol(config.protocol) != type)
        config.protocol++;
    return column_with(&config);
}

static inline void column_change(struct cw_lab_column *column,
                                 const struct cw_lab_settings *settings)
{
    assert_ok(cw_lab_column_change(column, settings));
}

/* Runs the column with the default settings but for these two. */
static inline void column_run(struct cw_lab_column *column, uint32_t seconds, double loss,
                              bool blocks)
{
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.loss = loss;
    settings.blocks = blocks;
    column_change(column, &settings);
    cw_lab_column_step(column, seconds * SECOND);
}

static inline struct cw_lab_game_stats items_of(const struct cw_lab_column *column, uint32_t sender,
                                                enum cw_lab_traffic traffic)
{
    struct cw_lab_game_stats stats;
    cw_lab_column_item_stats(column, sender, traffic, &stats);
    assert_int_equal(stats.faults, 0);
    return stats;
}

/* Checks that all messages have come in both directions, but those of the last half round trip. */
static inline void all_messages_came(const struct cw_lab_column *column)
{
    for (uint32_t sender = 0; sender < 2; sender++) {
        const struct cw_lab_game_stats messages = items_of(column, sender, CW_LAB_MESSAGE);
        assert_int_equal(messages.lost, 0);
        assert_true(messages.sent - messages.delivered < 8);
    }
}

static inline void *peer_of(const struct cw_lab_peer_type *type)
{
    const struct cw_allocator allocator = {0};
    void *peer = cw_lab_peer_create(type, &allocator);
    assert_non_null(peer);
    return own(peer, cw_lab_peer_destroy);
}

#endif
