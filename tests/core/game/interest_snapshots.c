/* Tests of snapshots for clients that are interested in a small part of a world. */

#define EVERY_CODING
#include "snapshot_rig.h"

#define ENTITIES 10000
#define MOST     50

BEFORE_EACH_TEST
{
    rig_open();
    rig_config.max_entities = ENTITIES;
    rig_config.max_interest = MOST;
    rig_config.window = 8;
    rig_config.max_clients = 2;
    rig_start();
}

/* Lists the entities from one to another, with priority 1. */
static void want(uint32_t first, uint32_t end)
{
    struct cw_priority list[MOST];
    for (uint32_t i = first; i < end; i++)
        list[end - 1 - i] = (struct cw_priority){i, 1};
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, end - first), CW_OK);
}

static uint32_t known(void)
{
    struct cw_snapshot_client_stats stats;
    cw_snapshot_client_get_stats(rig_client, &stats);
    return stats.entities;
}

TEST(nobody_gets_what_he_does_not_want)
{
    set_body(3, 1);
    exchange();
    assert_int_equal(known(), 0);
    want(3, 4);
    exchange();
    assert_int_equal(body_at(3)->x, 1);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 3);
    const size_t nothing = exchange().size;
    set_body(4, 1);
    assert_int_equal(exchange().size, nothing);
    want(0, 0);
    exchange();
    assert_null(body_at(3));
    expect_event(CW_SNAPSHOT_EVENT_REMOVED, 3);
}

TEST(a_window_moves_over_the_world)
{
    for (uint32_t i = 9000; i < ENTITIES; i++)
        set_body(i, i - 9000);
    for (uint32_t first = 9000; first + MOST <= ENTITIES; first += 7) {
        want(first, first + MOST);
        exchange();
        assert_int_equal(known(), MOST);
        for (uint32_t i = first; i < first + MOST; i++)
            assert_int_equal(body_at(i)->x, i - 9000);
    }
}

TEST(what_is_not_acked_does_not_stay)
{
    set_body(3, 1);
    want(0, 0);
    exchange();
    for (int i = 0; i < 3; i++) {
        want(3, 4);
        next_tick();
        const struct sent with = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&with), CW_OK);
        assert_non_null(body_at(3));
        want(0, 0);
        next_tick();
        const struct sent without = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&without), CW_OK);
        assert_null(body_at(3));
    }
}

TEST(what_comes_back_before_an_ack_is_there)
{
    set_body(3, 1);
    want(3, 4);
    exchange();
    for (int i = 0; i < 3; i++) {
        want(0, 0);
        next_tick();
        const struct sent without = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&without), CW_OK);
        assert_null(body_at(3));
        want(3, 4);
        next_tick();
        const struct sent with = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&with), CW_OK);
        assert_non_null(body_at(3));
    }
}

TEST(a_removed_entity_goes_and_its_id_is_free)
{
    set_body(3, 1);
    want(3, 4);
    exchange();
    cw_snapshot_server_remove(rig_server, 3);
    exchange();
    assert_null(body_at(3));
    set_body(3, 2);
    exchange();
    assert_null(body_at(3));
    want(3, 4);
    exchange();
    assert_int_equal(body_at(3)->x, 2);
}

TEST(entities_may_be_wanted_before_they_are_there)
{
    want(3, 6);
    exchange();
    const size_t nothing = exchange().size;
    assert_int_equal(exchange().size, nothing);
    set_body(5, 1);
    exchange();
    assert_non_null(body_at(5));
}

TEST(of_two_entries_the_higher_counts)
{
    const struct cw_priority list[] = {{3, 0}, {7, 2}, {3, 1}, {7, 0}, {9, 0}};
    set_body(3, 1);
    set_body(7, 1);
    set_body(9, 1);
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, 5), CW_OK);
    exchange();
    assert_non_null(body_at(3));
    assert_non_null(body_at(7));
    assert_null(body_at(9));
}

TEST(single_priorities_work_as_without_lists)
{
    for (uint32_t i = 0; i < 10; i++)
        set_body(i, i);
    for (uint32_t i = 9; i < 10; i--)
        assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, i, (float)(i % 2)), CW_OK);
    exchange();
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(body_at(i) != NULL, i % 2);
    assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, 5, 0), CW_OK);
    assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, 6, 1), CW_OK);
    exchange();
    assert_null(body_at(5));
    assert_non_null(body_at(6));
    assert_non_null(body_at(7));
}

TEST(a_client_that_joins_wants_nothing)
{
    set_body(3, 1);
    want(3, 4);
    exchange();
    cw_snapshot_client_reset(rig_client);
    assert_int_equal(cw_snapshot_server_join(rig_server, 0), CW_OK);
    exchange();
    assert_int_equal(known(), 0);
}

TEST(a_restart_loses_no_wish)
{
    for (uint32_t i = 0; i < MOST; i++)
        set_body(i, i);
    want(0, MOST);
    exchange();
    cw_snapshot_client_reset(rig_client);
    assert_int_equal(cw_snapshot_server_restart(rig_server, 0), CW_OK);
    exchange();
    assert_int_equal(known(), MOST);
}

/* A client sees another place with every snapshot and acks none of them, until it does. */
TEST(who_jumps_about_gets_whole_snapshots)
{
    struct cw_snapshot_server_stats stats;
    for (uint32_t i = 0; i < 40 * MOST; i++)
        set_body(i, i);
    want(0, MOST);
    exchange();
    for (uint32_t jump = 1; jump < 40; jump++) {
        want(jump * MOST, (jump + 1) * MOST);
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&sent), CW_OK);
        assert_non_null(body_at(jump * MOST));
        if (jump % 10 == 0)
            cw_snapshot_server_acked(rig_server, 0, sent.number);
    }
    exchange();
    assert_int_equal(known(), MOST);
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_true(stats.whole > 1);
}

TEST(the_far_come_less_often_and_none_never)
{
    struct cw_priority list[MOST];
    uint32_t updates[MOST] = {0};
    struct cw_snapshot_event event;
    for (uint32_t i = 0; i < MOST; i++)
        list[i] = (struct cw_priority){i * 200, i < 5 ? 1 : 1 / 16.0f};
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, MOST), CW_OK);
    for (uint32_t tick = 1; tick <= 400; tick++) {
        for (uint32_t i = 0; i < MOST; i++)
            set_body(i * 200, tick * 9 % 1000 + i * 1000);
        next_tick();
        const struct sent sent = transmit_up_to(0, 100);
        assert_int_equal(receive_snapshot(&sent), CW_OK);
        cw_snapshot_server_acked(rig_server, 0, sent.number - 2);
        while (cw_snapshot_client_next(rig_client, &event))
            updates[event.entity / 200]++;
    }
    for (uint32_t i = 0; i < MOST; i++)
        assert_in_range(updates[i], i < 5 ? 390 : 10, i < 5 ? 400 : 150);
}

TEST(nonsense_is_refused)
{
    struct cw_priority list[MOST + 1];
    for (uint32_t i = 0; i <= MOST; i++)
        list[i] = (struct cw_priority){i, 1};
    set_body(0, 1);
    want(0, 1);
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, MOST + 1),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 2, list, 1),
                     CW_ERROR_INVALID_ARGUMENT);
    list[1] = (struct cw_priority){ENTITIES, 1};
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, 2),
                     CW_ERROR_INVALID_ARGUMENT);
    list[1] = (struct cw_priority){1, -1};
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, 2),
                     CW_ERROR_INVALID_ARGUMENT);
    for (uint32_t i = 1; i < MOST; i++)
        assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, i, 1), CW_OK);
    assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, 5, 2), CW_OK);
    assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, MOST, 1),
                     CW_ERROR_INVALID_ARGUMENT);
    exchange();
    assert_int_equal(known(), 1);
    rig_config.max_interest = 0;
    rig_config.max_entities = 100;
    rig_restart();
    assert_int_equal(cw_snapshot_server_set_interest(rig_server, 0, list, 1),
                     CW_ERROR_INVALID_ARGUMENT);
}
