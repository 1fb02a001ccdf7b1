/* Tests of snapshots: what arrives, what it costs, and which baseline it refers to. */

#include "config_error.h"
#include "snapshot_rig.h"

#include "counted.h"

BEFORE_EACH_TEST
{
    rig_open();
    rig_start();
}

TEST(test_a_config_that_cannot_work_is_refused)
{
    struct counted counted = {0};
    struct cw_snapshot_server *server = NULL;
    struct cw_snapshot_client *client = NULL;
    struct cw_snapshot_config good = cw_snapshot_config_default(rig_schema);
    good.allocator = counted_allocator(&counted);
#define REFUSED(statement)                                                                         \
    do {                                                                                           \
        struct cw_snapshot_config config = good;                                                   \
        statement;                                                                                 \
        assert_error_names(cw_snapshot_server_create(&config, &server), #statement);               \
        assert_error_names(cw_snapshot_client_create(&config, &client), #statement);               \
        assert_int_equal(cw_snapshot_server_memory(&config), 0);                                   \
        assert_int_equal(cw_snapshot_client_memory(&config), 0);                                   \
    } while (0)
    REFUSED(config.window = 256);
    REFUSED(config.coding = CW_SNAPSHOT_CODING_COUNT);
    assert_int_equal(counted.allocations, 0);
    counted.refuse = true;
    assert_int_equal(cw_snapshot_server_create(&good, &server), CW_ERROR_NO_MEMORY);
    assert_int_equal(cw_snapshot_client_create(&good, &client), CW_ERROR_NO_MEMORY);
    assert_null(server);
    assert_null(client);
}

TEST(test_a_world_arrives)
{
    const struct body body = {1, 2, 0.123f, true, 9};
    const struct player player = {"eve", -3, {true, 5}, {2, {7, 8}}, 9};
    uint32_t tick, type = 9;
    uint16_t number;
    assert_false(cw_snapshot_client_tick(rig_client, &tick));
    assert_false(cw_snapshot_client_newest(rig_client, &number));
    assert_int_equal(cw_snapshot_server_set(rig_server, 3, BODY, &body), CW_OK);
    assert_int_equal(cw_snapshot_server_set(rig_server, 1000, PLAYER, &player), CW_OK);
    const struct sent sent = exchange();
    const struct body *const there = cw_snapshot_client_state(rig_client, 3, &type);
    assert_int_equal(type, BODY);
    assert_int_equal(there->x, 1);
    assert_true(there->touched);
    assert_float_equal(there->angle, 0.123f, 0.00501f);
    const struct player *const who = cw_snapshot_client_state(rig_client, 1000, &type);
    assert_int_equal(type, PLAYER);
    assert_string_equal(who->name, "eve");
    assert_memory_equal(&who->items, &player.items, sizeof player.items);
    assert_null(cw_snapshot_client_state(rig_client, 0, NULL));
    assert_null(cw_snapshot_client_state(rig_client, 1024, NULL));
    assert_true(cw_snapshot_client_tick(rig_client, &tick));
    assert_int_equal(tick, rig_tick);
    assert_true(cw_snapshot_client_newest(rig_client, &number));
    assert_int_equal(number, sent.number);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 3);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 1000);
    expect_no_event();
}

TEST(test_states_are_checked)
{
    struct body body = {.x = 1};
    assert_int_equal(cw_snapshot_server_set(rig_server, 1024, BODY, &body),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_set(rig_server, 1, 2, &body), CW_ERROR_MESSAGE_TYPE);
    body.x = 1 << 18;
    assert_int_equal(cw_snapshot_server_set(rig_server, 1, BODY, &body), CW_ERROR_MESSAGE_VALUE);
    struct cw_snapshot_server_stats stats;
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_int_equal(stats.entities, 0);
}

TEST(test_what_has_not_changed_costs_nothing)
{
    for (uint32_t i = 0; i < 40; i++)
        set_body(i, i);
    exchange();
    /* A snapshot has the numbers, the tick, a bit, and the count. */
    assert_int_equal(exchange().size, 3 + 3);
    /* The entities are set to the values that they have. */
    for (uint32_t i = 0; i < 40; i++) {
        struct body body = *body_at(i);
        body.angle += 0.001f;
        assert_int_equal(cw_snapshot_server_set(rig_server, i, BODY, &body), CW_OK);
    }
    assert_int_equal(exchange().size, 3 + 3);
    struct body body = *body_at(20);
    body.x += 5;
    assert_int_equal(cw_snapshot_server_set(rig_server, 20, BODY, &body), CW_OK);
    /* A change takes 7 bits for the id, 1 for what happened, 5 for what has changed, 6 for a small
       difference. */
    assert_int_equal(exchange().size, 3 + 5);
    assert_int_equal(body_at(20)->x, 25);
}

TEST(test_a_change_is_told_until_it_is_acked)
{
    set_body(0, 1);
    exchange();
    const size_t nothing = exchange().size;
    set_body(0, 2);
    next_tick();
    struct sent first = transmit_snapshot(0);
    next_tick();
    struct sent second = transmit_snapshot(0);
    assert_true(first.size > nothing);
    assert_true(second.size > nothing);
    cw_snapshot_server_acked(rig_server, 0, first.number);
    next_tick();
    struct sent third = transmit_snapshot(0);
    assert_int_equal(third.size, nothing);
    /* The baseline was lost on the way, although somebody has acked it. */
    assert_int_equal(receive_snapshot(&third), CW_ERROR_SNAPSHOT_BASELINE);
    assert_int_equal(body_at(0)->x, 1);
    assert_int_equal(receive_snapshot(&second), CW_OK);
    assert_int_equal(body_at(0)->x, 2);
    assert_int_equal(receive_snapshot(&third), CW_ERROR_SNAPSHOT_BASELINE);
}

TEST(test_the_newest_ack_counts)
{
    set_body(0, 1);
    next_tick();
    const struct sent first = transmit_snapshot(0);
    set_body(0, 2);
    next_tick();
    const struct sent second = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&first), CW_OK);
    assert_int_equal(receive_snapshot(&second), CW_OK);
    cw_snapshot_server_acked(rig_server, 0, second.number);
    cw_snapshot_server_acked(rig_server, 0, first.number);
    cw_snapshot_server_acked(rig_server, 0, 77);
    cw_snapshot_server_acked(rig_server, 0, 0);
    assert_int_equal(exchange().size, 3 + 3);
}

TEST(test_snapshots_come_in_any_order_and_number)
{
    struct sent sent[40];
    for (uint32_t i = 0; i < 40; i++) {
        set_body(i % 2, 100 + i);
        next_tick();
        sent[i] = transmit_snapshot(0);
        if (i == 0) {
            assert_int_equal(receive_snapshot(&sent[0]), CW_OK);
            cw_snapshot_server_acked(rig_server, 0, sent[0].number);
        }
    }
    assert_int_equal(receive_snapshot(&sent[20]), CW_OK);
    assert_int_equal(receive_snapshot(&sent[20]), CW_ERROR_DUPLICATE);
    assert_int_equal(body_at(0)->x, 120);
    /* This snapshot is older, but has nothing that is newer. */
    assert_int_equal(receive_snapshot(&sent[11]), CW_OK);
    assert_int_equal(body_at(1)->x, 119);
    uint32_t tick;
    assert_true(cw_snapshot_client_tick(rig_client, &tick));
    assert_int_equal(tick, 1021);
    set_body(0, 1);
    cw_snapshot_server_acked(rig_server, 0, sent[20].number);
    next_tick();
    struct sent last = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&last), CW_OK);
    assert_int_equal(receive_snapshot(&sent[5]), CW_ERROR_STALE);
    assert_int_equal(body_at(0)->x, 1);
    struct cw_snapshot_client_stats stats;
    cw_snapshot_client_get_stats(rig_client, &stats);
    assert_int_equal(stats.snapshots, 4);
    assert_int_equal(stats.duplicate, 1);
    assert_int_equal(stats.stale, 1);
    assert_int_equal(stats.entities, 2);
}

TEST(test_an_entity_is_removed)
{
    set_body(4, 1);
    set_body(5, 1);
    exchange();
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 4);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 5);
    cw_snapshot_server_remove(rig_server, 4);
    cw_snapshot_server_remove(rig_server, 4);
    exchange();
    assert_null(body_at(4));
    assert_non_null(body_at(5));
    expect_event(CW_SNAPSHOT_EVENT_REMOVED, 4);
    expect_no_event();
    assert_int_equal(exchange().size, 3 + 3);
}

TEST(test_another_entity_under_the_same_id_is_a_new_one)
{
    set_body(4, 1);
    exchange();
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 4);
    cw_snapshot_server_remove(rig_server, 4);
    set_body(4, 2);
    exchange();
    expect_event(CW_SNAPSHOT_EVENT_REMOVED, 4);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 4);
    const struct player player = {.name = "x"};
    assert_int_equal(cw_snapshot_server_set(rig_server, 4, PLAYER, &player), CW_OK);
    exchange();
    expect_event(CW_SNAPSHOT_EVENT_REMOVED, 4);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 4);
    /* The entity is sent whole until it is acked, and stays the same one. */
    set_body(5, 1);
    next_tick();
    struct sent sent = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&sent), CW_OK);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 5);
    next_tick();
    sent = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&sent), CW_OK);
    expect_event(CW_SNAPSHOT_EVENT_UPDATED, 5);
    expect_no_event();
}

TEST(test_what_comes_and_goes_before_an_ack_does_not_stay)
{
    exchange();
    set_body(4, 1);
    next_tick();
    const struct sent with = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&with), CW_OK);
    assert_non_null(body_at(4));
    cw_snapshot_server_remove(rig_server, 4);
    next_tick();
    const struct sent without = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&without), CW_OK);
    assert_null(body_at(4));
    /* The application is not told of it. */
    expect_no_event();
}

TEST(test_a_client_that_lacks_the_baseline_begins_anew)
{
    set_body(1, 1);
    set_body(2, 1);
    exchange();
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 1);
    expect_event(CW_SNAPSHOT_EVENT_CREATED, 2);
    next_tick();
    cw_snapshot_server_acked(rig_server, 0, transmit_snapshot(0).number);
    cw_snapshot_server_remove(rig_server, 2);
    for (int i = 0; i < 3; i++) {
        next_tick();
        const struct sent sent = transmit_snapshot(0);
        cw_snapshot_server_acked(rig_server, 0, sent.number);
        assert_int_equal(receive_snapshot(&sent), CW_ERROR_SNAPSHOT_BASELINE);
    }
    expect_no_event();
    assert_int_equal(cw_snapshot_server_restart(rig_server, 0), CW_OK);
    exchange();
    assert_null(body_at(2));
    expect_event(CW_SNAPSHOT_EVENT_UPDATED, 1);
    expect_event(CW_SNAPSHOT_EVENT_REMOVED, 2);
    expect_no_event();
}

TEST(test_without_acks_the_server_begins_anew_by_itself)
{
    set_body(1, 1);
    exchange();
    struct sent sent;
    uint32_t refused = 0;
    cw_snapshot_client_reset(rig_client);
    for (uint32_t i = 0; i < rig_config.window; i++) {
        next_tick();
        sent = transmit_snapshot(0);
        refused += receive_snapshot(&sent) == CW_ERROR_SNAPSHOT_BASELINE;
    }
    assert_int_equal(refused, rig_config.window - 1);
    assert_int_equal(body_at(1)->x, 1);
    struct cw_snapshot_server_stats stats;
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_int_equal(stats.whole, 2);
}

/* A baseline is not too old when many snapshots are sent in one tick, either. */
TEST(test_a_baseline_is_not_older_than_the_window)
{
    set_body(1, 1);
    const uint32_t acked = exchange().number;
    next_tick();
    for (uint32_t i = 0; i < 2 * rig_config.window; i++) {
        const struct sent sent = transmit_snapshot(0);
        const uint32_t distance = sent.number - acked;
        assert_int_equal(sent.bytes[2], distance < rig_config.window ? distance : 0);
        assert_int_equal(receive_snapshot(&sent), CW_OK);
    }
    assert_int_equal(body_at(1)->x, 1);
}

TEST(test_clients_with_the_same_baseline_share_the_bytes)
{
    struct sent sent[3];
    struct cw_snapshot_server_stats stats;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < 20; i++)
            set_body(i, round * 100 + i);
        next_tick();
        for (uint32_t i = 0; i < 3; i++)
            sent[i] = transmit_snapshot(i);
        /* The third client is one behind from the second round on. */
        for (uint32_t i = 0; i < 3; i++)
            if (i < 2 || round % 2 == 0)
                cw_snapshot_server_acked(rig_server, i, sent[i].number);
        if (round % 2 == 0) {
            assert_int_equal(sent[0].size, sent[2].size);
            assert_int_equal(receive_snapshot(&sent[1]),
                             round == 0 ? CW_OK : CW_ERROR_SNAPSHOT_BASELINE);
        }
        assert_int_equal(sent[0].size, sent[1].size);
        assert_memory_equal(sent[0].bytes + 3, sent[1].bytes + 3, sent[0].size - 3);
    }
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_int_equal(stats.snapshots, 12);
    assert_int_equal(stats.shared, 2 + 2 + 1 + 2);
}

TEST(test_numbers_and_ticks_wrap)
{
    rig_tick = UINT32_MAX - 100;
    set_body(0, 1);
    for (uint32_t i = 0; i < 70000; i++) {
        set_body(0, i % 100);
        exchange();
        uint32_t tick = 0;
        assert_true(cw_snapshot_client_tick(rig_client, &tick));
        assert_int_equal(tick, rig_tick);
        assert_int_equal(body_at(0)->x, i % 100);
    }
    assert_int_equal(cw_snapshot_server_tick(rig_server, rig_tick), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_tick(rig_server, rig_tick - 1), CW_ERROR_INVALID_ARGUMENT);
}

TEST(test_a_reset_forgets_everything)
{
    set_body(3, 1);
    exchange();
    cw_snapshot_server_reset(rig_server);
    cw_snapshot_client_reset(rig_client);
    uint8_t bytes[64];
    uint32_t number;
    assert_int_equal(cw_snapshot_server_transmit(rig_server, 0, bytes, sizeof bytes, &number), 0);
    assert_null(body_at(3));
    expect_no_event();
    rig_tick = 5;
    set_body(9, 1);
    assert_int_equal(exchange().number, 1);
    assert_null(body_at(3));
    assert_non_null(body_at(9));
}
