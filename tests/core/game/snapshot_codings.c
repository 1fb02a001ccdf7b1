/* Tests of the codings with motion: what goes on as before costs next to nothing, and every other
   motion arrives all the same. */

#include "snapshot_rig.h"

#include "random_schema.h"

#include <stdlib.h>

#define ENTITIES 40

BEFORE_EACH_TEST
{
    rig_open();
    rig_config.max_entities = ENTITIES;
    rig_start();
}

static void use(enum cw_snapshot_coding coding)
{
    rig_config.coding = coding;
    rig_restart();
    rig_tick = 1000;
}

static void set_place(uint32_t entity, uint32_t x, uint32_t y, bool touched)
{
    const struct body body = {.x = x, .y = y, .angle = 1, .touched = touched};
    assert_int_equal(cw_snapshot_server_set(rig_server, entity, BODY, &body), CW_OK);
}

static void expect_place(uint32_t entity, uint32_t x, uint32_t y)
{
    const struct body *const body = body_at(entity);
    assert_non_null(body);
    assert_int_equal(body->x, x);
    assert_int_equal(body->y, y);
}

/* Moves all entities in lines of their own, and returns the size of the last of some snapshots. */
static size_t size_of_lines(enum cw_snapshot_coding coding)
{
    size_t size = 0;
    use(coding);
    for (uint32_t tick = 1; tick < 12; tick++) {
        for (uint32_t i = 0; i < ENTITIES; i++)
            set_place(i, 100000 + tick * 40 * i, 100000 - tick * (1000 - 25 * i), false);
        size = exchange().size;
        for (uint32_t i = 0; i < ENTITIES; i++)
            expect_place(i, 100000 + tick * 40 * i, 100000 - tick * (1000 - 25 * i));
    }
    return size;
}

TEST(test_lines_cost_next_to_nothing)
{
    /* An id and what happened take 2 bits, and each of 5 fields takes one. */
    const size_t least = ENTITIES * 7 / 8;
    assert_in_range(size_of_lines(CW_SNAPSHOT_PREDICTED), least, least + 10);
    assert_true(size_of_lines(CW_SNAPSHOT_DIFFERENCES) > 3 * least);
    assert_true(size_of_lines(CW_SNAPSHOT_RANGE_CODED) < least);
}

/* Snapshots are sent some ticks apart, and the last of them is not acked at once. */
TEST(test_lines_are_foreseen_over_any_number_of_ticks)
{
    static const uint32_t steps[] = {1, 2, 5, 1, 300, 7, 1000};
    uint32_t acked = 0;
    use(CW_SNAPSHOT_PREDICTED);
    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        rig_tick += steps[i];
        for (uint32_t j = 0; j < ENTITIES; j++)
            set_place(j, 3 * (rig_tick + 1) + j, 90000 - 2 * (rig_tick + 1), false);
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&sent), CW_OK);
        for (uint32_t j = 0; j < ENTITIES; j++)
            expect_place(j, 3 * rig_tick + j, 90000 - 2 * rig_tick);
        if (i >= 4) /* from here on the baseline has a baseline */
            assert_true(sent.size < ENTITIES * 7 / 8 + 12);
        cw_snapshot_server_acked(rig_server, 0, acked);
        acked = sent.number;
    }
}

/* A number that would leave the range is expected at its end, and no small field is expected to
   move. */
TEST(test_lines_end_at_the_limits)
{
    const uint32_t last = (1 << 18) - 1;
    for (rig_coding = CW_SNAPSHOT_DIFFERENCES; rig_coding < CW_SNAPSHOT_CODING_COUNT;
         rig_coding++) {
        use(rig_coding);
        for (uint32_t tick = 0; tick < 8; tick++) {
            const uint32_t away = tick < 4 ? 200000 - 60000 * tick : 0;
            for (uint32_t i = 0; i < ENTITIES; i++)
                set_place(i, away, last - away, tick % 2);
            exchange();
            for (uint32_t i = 0; i < ENTITIES; i++) {
                expect_place(i, away, last - away);
                assert_int_equal(body_at(i)->touched, tick % 2);
            }
        }
    }
    rig_coding = CW_SNAPSHOT_DIFFERENCES;
}

/* Any number may follow any other, wherever it was expected. */
TEST(test_every_jump_arrives)
{
    random_state = 1;
    for (rig_coding = CW_SNAPSHOT_DIFFERENCES; rig_coding < CW_SNAPSHOT_CODING_COUNT;
         rig_coding++) {
        use(rig_coding);
        for (uint32_t tick = 0; tick < 300; tick++) {
            struct body bodies[ENTITIES] = {{0}};
            for (uint32_t i = 0; i < ENTITIES; i++) {
                const uint32_t bits = random_below(19);
                bodies[i].x = random_below(1 << bits);
                bodies[i].y = (1 << 18) - 1 - random_below(1 << bits);
                bodies[i].touched = random_below(2);
                bodies[i].stamp = random_32() >> random_below(32);
                assert_int_equal(cw_snapshot_server_set(rig_server, i, BODY, &bodies[i]), CW_OK);
            }
            exchange();
            for (uint32_t i = 0; i < ENTITIES; i++) {
                expect_place(i, bodies[i].x, bodies[i].y);
                assert_int_equal(body_at(i)->touched, bodies[i].touched);
                assert_int_equal(body_at(i)->stamp, bodies[i].stamp);
            }
        }
    }
    rig_coding = CW_SNAPSHOT_DIFFERENCES;
}

/* Bodies are shared by clients whose last two baselines are the same, and only by those. */
TEST(test_bodies_are_shared_with_both_baselines)
{
    struct sent sent[3];
    struct cw_snapshot_server_stats stats;
    use(CW_SNAPSHOT_PREDICTED);
    for (uint32_t tick = 0; tick < 4; tick++) {
        for (uint32_t i = 0; i < ENTITIES; i++)
            set_place(i, tick * 100, tick * tick * 100, false);
        next_tick();
        for (uint32_t i = 0; i < 3; i++) {
            sent[i] = transmit_snapshot(i);
            /* The third client has not got the second snapshot, and comes to the third in another
               way. */
            if (i < 2 || tick != 1)
                cw_snapshot_server_acked(rig_server, i, sent[i].number);
        }
        assert_int_equal(sent[0].size, sent[1].size);
        assert_memory_equal(sent[0].bytes, sent[1].bytes, sent[0].size);
    }
    assert_memory_not_equal(sent[0].bytes + 3, sent[2].bytes + 3, 12);
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_int_equal(stats.shared, 2 + 2 + 1 + 1);
}
