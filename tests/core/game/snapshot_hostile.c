/* Tests of bytes that no server has sent: they are read within their size or refused whole. */

#define EVERY_CODING
#include "snapshot_rig.h"

#include "random_schema.h"

#include <stdlib.h>

#define ENTITIES 24

BEFORE_EACH_TEST
{
    rig_open();
    rig_config.max_entities = ENTITIES;
    rig_config.window = 4;
    rig_start();
}

/* Receives from memory of exactly that size, for the sanitizer. */
static enum cw_error receive_exactly(const uint8_t *data, size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    const enum cw_error error = cw_snapshot_client_receive(rig_client, exact + 1, size);
    free(exact);
    return error;
}

static void change_some(void)
{
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t entity = random_below(ENTITIES);
        struct player player = {.score = (int32_t)random_below(100), .stamp = rig_tick};
        player.items.count = random_below(7);
        strcpy(player.name, "eve");
        if (random_below(4) == 0)
            cw_snapshot_server_remove(rig_server, entity);
        else if (entity % 2 == 0)
            set_body(entity, random_below(1 << 18));
        else
            assert_int_equal(cw_snapshot_server_set(rig_server, entity, PLAYER, &player), CW_OK);
    }
}

/* The parts of a client's state that the application sees. */
struct view {
    bool present[ENTITIES];
    uint32_t type[ENTITIES];
    union {
        struct body body;
        struct player player;
    } states[ENTITIES];
    uint32_t tick;
    uint16_t newest;
};

static struct view look(void)
{
    struct view view;
    memset(&view, 0, sizeof view);
    cw_snapshot_client_tick(rig_client, &view.tick);
    cw_snapshot_client_newest(rig_client, &view.newest);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        const void *const state = cw_snapshot_client_state(rig_client, i, &view.type[i]);
        view.present[i] = state != NULL;
        if (!state)
            continue;
        assert_int_equal(cw_schema_check(rig_schema, view.type[i], state), CW_FIELD_NONE);
        memcpy(&view.states[i], state, cw_schema_type(rig_schema, view.type[i])->size);
    }
    return view;
}

static void take_events(void)
{
    struct cw_snapshot_event event;
    while (cw_snapshot_client_next(rig_client, &event))
        assert_true(event.entity < ENTITIES);
}

/* Gives the bytes to the client. Unless it takes them, nothing but the count of drops may change.
 */
static void refuse_or_take(const uint8_t *data, size_t size, uint32_t *taken)
{
    take_events();
    const struct view before = look();
    const enum cw_error error = receive_exactly(data, size);
    const struct view after = look();
    if (error == CW_OK) {
        ++*taken;
        return;
    }
    assert_memory_equal(&before, &after, sizeof before);
    expect_no_event();
}

TEST(test_random_bytes)
{
    uint32_t taken = 0;
    random_state = 3;
    for (int i = 0; i < 40000; i++) {
        uint8_t bytes[40];
        const size_t size = random_below(sizeof bytes + 1);
        for (size_t j = 0; j < size; j++)
            bytes[j] = (uint8_t)random_32();
        if (size > 2 && random_below(2))
            bytes[2] = 0; /* no baseline */
        if (size > 4 && rig_coding == CW_SNAPSHOT_RANGE_CODED && random_below(2))
            bytes[3] = bytes[4] = 0xff; /* nor a range coder */
        refuse_or_take(bytes, size, &taken);
    }
    assert_true(taken > 0);
    struct cw_snapshot_client_stats stats;
    cw_snapshot_client_get_stats(rig_client, &stats);
    assert_int_equal(stats.snapshots, taken);
    assert_int_equal(stats.snapshots + stats.malformed + stats.duplicate + stats.stale +
                         stats.baseline_missing,
                     40000);
}

static void mutate(struct sent *sent)
{
    const uint32_t how = random_below(4);
    if (how == 0)
        sent->size = random_below((uint32_t)sent->size);
    else if (how == 1)
        sent->bytes[sent->size++] = (uint8_t)random_below(3);
    else
        for (uint32_t i = 0; i <= random_below(3); i++)
            sent->bytes[2 + random_below((uint32_t)sent->size - 2)] ^=
                (uint8_t)(1 << random_below(8));
}

/* A snapshot that was changed on the way is refused, and then the real one is taken; or it is
   taken, and then the two ends begin again. */
TEST(test_snapshots_that_were_changed_on_the_way)
{
    uint32_t taken = 0, refused = 0;
    random_state = 5;
    for (int i = 0; i < 5000; i++) {
        change_some();
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        struct sent changed = sent;
        const uint32_t before = taken;
        mutate(&changed);
        refuse_or_take(changed.bytes, changed.size, &taken);
        if (taken > before) {
            cw_snapshot_client_reset(rig_client);
            cw_snapshot_server_restart(rig_server, 0);
            continue;
        }
        refused++;
        assert_int_equal(receive_snapshot(&sent), CW_OK);
        cw_snapshot_server_acked(rig_server, 0, sent.number);
        if (i % 50 == 0) {
            /* A client that got only real snapshots knows the same. */
            const struct view view = look();
            cw_snapshot_client_reset(rig_client);
            cw_snapshot_server_restart(rig_server, 0);
            const struct sent whole = transmit_snapshot(0);
            assert_int_equal(receive_snapshot(&whole), CW_OK);
            cw_snapshot_server_acked(rig_server, 0, whole.number);
            const struct view truth = look();
            assert_memory_equal(view.present, truth.present, sizeof view.present);
            for (uint32_t j = 0; j < ENTITIES; j++)
                assert_int_equal(view.type[j], truth.type[j]);
        }
    }
    assert_true(taken > 300);
    assert_true(refused > 300);
}

TEST(test_every_truncation_is_refused)
{
    for (uint32_t i = 0; i < ENTITIES; i++)
        set_body(i, i);
    next_tick();
    const struct sent sent = transmit_snapshot(0);
    for (size_t size = 0; size < sent.size; size++)
        assert_int_equal(receive_exactly(sent.bytes, size), CW_ERROR_MALFORMED);
    uint8_t longer[8001] = {0};
    memcpy(longer, sent.bytes, sent.size);
    assert_int_equal(receive_exactly(longer, sent.size + 1), CW_ERROR_MALFORMED);
    assert_int_equal(receive_exactly(sent.bytes, sent.size), CW_OK);
}

TEST(test_an_id_beyond_the_end_is_refused)
{
    /* The other end has another config: more entities, with as many bits for the count. */
    rig_config.max_entities = 31;
    cw_snapshot_server_destroy(rig_server);
    assert_int_equal(cw_snapshot_server_create(&rig_config, &rig_server), CW_OK);
    set_body(ENTITIES - 1, 1);
    next_tick();
    const struct sent last = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&last), CW_OK);
    for (uint32_t i = ENTITIES; i < 31; i++) {
        cw_snapshot_server_restart(rig_server, 0);
        set_body(i, 1);
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        assert_int_equal(receive_exactly(sent.bytes, sent.size), CW_ERROR_MALFORMED);
        cw_snapshot_server_remove(rig_server, i);
    }
}

/* The count of entities is known twice. Only the tick, whether the snapshot is complete and how
   many entities without a change follow the last one may be different from what was sent. */
TEST(test_what_comes_before_the_range_coder_agrees_with_it)
{
    uint32_t taken = 0;
    if (rig_coding != CW_SNAPSHOT_RANGE_CODED)
        return;
    for (uint32_t bit = 0; bit < 16; bit++) {
        for (uint32_t round = 0; round < 2; round++) {
            for (uint32_t i = 0; i < ENTITIES; i += 3)
                set_body(i, 100 * round + bit + i);
            if (round == 0)
                exchange();
        }
        next_tick();
        struct sent sent = transmit_snapshot(0);
        const uint32_t split = sent.bytes[3] | (uint32_t)sent.bytes[4] << 8;
        assert_int_equal(split, 2);
        sent.bytes[5 + bit / 8] ^= (uint8_t)(1 << bit % 8);
        taken += receive_exactly(sent.bytes, sent.size) == CW_OK;
        cw_snapshot_client_reset(rig_client);
        cw_snapshot_server_restart(rig_server, 0);
    }
    assert_in_range(taken, 1, 5);
}
