/* Tests of entities that do not fit, and of those that a client is not interested in. */

#define EVERY_CODING
#include "snapshot_rig.h"

#define ENTITIES 300

BEFORE_EACH_TEST
{
    rig_open();
    rig_config.max_entities = ENTITIES;
    rig_config.max_bytes = 6000;
    rig_start();
}

static uint32_t known(void)
{
    struct cw_snapshot_client_stats stats;
    cw_snapshot_client_get_stats(rig_client, &stats);
    return stats.entities;
}

static void move_all(uint32_t by)
{
    for (uint32_t i = 0; i < ENTITIES; i++)
        set_body(i, i * 100 + by);
}

/* Exchanges a snapshot, which is read, and acked `lag` snapshots later. */
static struct sent exchange_up_to(size_t capacity, uint32_t lag)
{
    next_tick();
    const struct sent sent = transmit_up_to(0, capacity);
    assert_int_equal(receive_snapshot(&sent), CW_OK);
    if (sent.number > lag)
        cw_snapshot_server_acked(rig_server, 0, sent.number - lag);
    return sent;
}

TEST(test_a_world_arrives_in_small_pieces)
{
    /* The range coder takes two bytes at the start. */
    const size_t least = rig_coding == CW_SNAPSHOT_RANGE_CODED ? 34 : 32;
    for (size_t capacity = least; capacity <= 800; capacity += 96) {
        cw_snapshot_server_reset(rig_server);
        cw_snapshot_client_reset(rig_client);
        move_all(1);
        uint32_t before = 0;
        for (int i = 0; known() < ENTITIES; i++) {
            exchange_up_to(capacity, 0);
            assert_true(known() > before);
            before = known();
            assert_true(i < 200);
        }
        for (uint32_t i = 0; i < ENTITIES; i++)
            assert_int_equal(body_at(i)->x, i * 100 + 1);
    }
}

TEST(test_the_budget_is_used)
{
    /* The server learns how much the range coder saves, so that it leaves more room unused, most at
       first. */
    static const struct {
        uint32_t most, least, from;
    } budgets[] = {{400, 390, 1}, {400, 385, 1}, {120, 80, 10}};
    const uint32_t most = budgets[rig_coding].most;
    move_all(0);
    exchange();
    for (uint32_t tick = 1; tick < 50; tick++) {
        move_all(tick * 7);
        const struct sent sent = exchange_up_to(most, 3);
        if (tick >= budgets[rig_coding].from)
            assert_in_range(sent.size, budgets[rig_coding].least, most);
    }
    struct cw_snapshot_server_stats stats;
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_true(stats.entities_cut > stats.entities_sent / (rig_coding == 0 ? 1 : 2));
}

TEST(test_max_bytes_is_a_budget_too)
{
    rig_config.max_bytes = 500;
    rig_restart();
    move_all(0);
    next_tick();
    assert_in_range(transmit_snapshot(0).size, 490, 500);
}

TEST(test_the_urgent_come_more_often_and_none_never)
{
    uint32_t updates[ENTITIES] = {0};
    move_all(0);
    exchange();
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, i, 8), CW_OK);
    struct cw_snapshot_event event;
    while (cw_snapshot_client_next(rig_client, &event))
        ;
    for (uint32_t tick = 1; tick <= 300; tick++) {
        move_all(tick % 50);
        exchange_up_to(200, 4);
        while (cw_snapshot_client_next(rig_client, &event))
            updates[event.entity]++;
    }
    for (uint32_t i = 0; i < ENTITIES; i++)
        assert_in_range(updates[i], i < 10 ? 100 : 10, 300);
    for (uint32_t i = 10; i < ENTITIES; i++)
        assert_true(updates[i] < updates[i % 10]);
}

TEST(test_a_removal_goes_first)
{
    move_all(0);
    exchange();
    move_all(9);
    for (uint32_t i = 0; i < ENTITIES; i += 10)
        cw_snapshot_server_remove(rig_server, i);
    exchange_up_to(100, 0);
    assert_int_equal(known(), ENTITIES - ENTITIES / 10);
}

TEST(test_who_is_not_interested_has_no_such_entity)
{
    for (uint32_t i = 0; i < 10; i++)
        set_body(i, i);
    for (uint32_t i = 0; i < 10; i += 2)
        assert_int_equal(cw_snapshot_server_set_priority(rig_server, 0, i, 0), CW_OK);
    exchange();
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(body_at(i) != NULL, i % 2);
    const size_t nothing = exchange().size;
    /* A change of an entity with priority 0 is not sent. */
    set_body(4, 100);
    assert_int_equal(exchange().size, nothing);
    cw_snapshot_server_set_priority(rig_server, 0, 1, 0);
    cw_snapshot_server_set_priority(rig_server, 0, 4, 1);
    exchange();
    assert_null(body_at(1));
    assert_int_equal(body_at(4)->x, 100);
    /* Other clients see the entities as before. */
    next_tick();
    assert_true(transmit_snapshot(1).size > 100);
}

TEST(test_what_is_hidden_before_an_ack_does_not_stay)
{
    set_body(3, 1);
    cw_snapshot_server_set_priority(rig_server, 0, 3, 0);
    exchange();
    for (int i = 0; i < 3; i++) {
        cw_snapshot_server_set_priority(rig_server, 0, 3, 1);
        next_tick();
        const struct sent with = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&with), CW_OK);
        assert_non_null(body_at(3));
        cw_snapshot_server_set_priority(rig_server, 0, 3, 0);
        next_tick();
        const struct sent without = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&without), CW_OK);
        assert_null(body_at(3));
    }
}

TEST(test_what_is_hidden_and_shown_again_before_an_ack_is_there)
{
    set_body(3, 1);
    exchange();
    for (float priority = 0; priority <= 1; priority++) {
        cw_snapshot_server_set_priority(rig_server, 0, 3, priority);
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        assert_int_equal(receive_snapshot(&sent), CW_OK);
        assert_true((body_at(3) != NULL) == (priority > 0));
    }
}

TEST(test_an_id_that_is_used_again_interests_again)
{
    set_body(3, 1);
    cw_snapshot_server_set_priority(rig_server, 0, 3, 0);
    exchange();
    cw_snapshot_server_remove(rig_server, 3);
    set_body(3, 2);
    exchange();
    assert_int_equal(body_at(3)->x, 2);
}

TEST(test_a_client_that_joins_has_nothing_and_wants_everything)
{
    set_body(3, 1);
    set_body(4, 1);
    cw_snapshot_server_set_priority(rig_server, 0, 3, 0);
    exchange();
    cw_snapshot_client_reset(rig_client);
    assert_int_equal(cw_snapshot_server_join(rig_server, 0), CW_OK);
    exchange();
    assert_non_null(body_at(3));
    assert_non_null(body_at(4));
}

TEST(test_an_old_state_is_told_whole)
{
    move_all(0);
    exchange();
    /* This entity changes all the time and never gets its turn. */
    cw_snapshot_server_set_priority(rig_server, 0, 0, 1e-6f);
    for (uint32_t tick = 1; tick < 3 * rig_config.window; tick++) {
        move_all(tick * 9);
        exchange_up_to(200, 0);
        assert_int_equal(body_at(0)->x, 0);
    }
    for (uint32_t tick = 0; tick < 60; tick++)
        exchange_up_to(200, 0);
    assert_int_equal(body_at(0)->x, (3 * rig_config.window - 1) * 9);
}
