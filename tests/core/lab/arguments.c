/* Tests of arguments that make no sense, as in core.arguments, for the functions of the lab. */
#include "unit.h"

#include "arguments.h"

#include "lab/column.h"
#include "lab/window.h"

#include <math.h>

#define REFUSED(...) GIVES(CW_PROTOCOL_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uint8_t bytes[2048];
static const double no_time = (double)NAN;

static void test_items(void **state)
{
    (void)state;
    const struct cw_lab_item item = {CW_LAB_MESSAGE, 1, 64};
    struct cw_lab_item read;
    DOES_NOTHING(cw_lab_item_write, nothing, 0, bytes, 64);
    DOES_NOTHING(cw_lab_item_write, &item, 0, nothing, 64);
    GIVES_NOTHING(cw_lab_item_read, nothing, 64, &read);
    GIVES_NOTHING(cw_lab_item_read, bytes, 64, nothing);
    GIVES_NOTHING(cw_lab_item_check, nothing, 0, bytes, 64);
    GIVES_NOTHING(cw_lab_item_check, &item, 0, nothing, 64);
}

static void test_peers(void **state)
{
    (void)state;
    const struct cw_allocator allocator = {0};
    GIVES_NOTHING(cw_lab_peer_memory, nothing);
    GIVES_NOTHING(cw_lab_peer_create, nothing, &allocator);
    GIVES_NOTHING(cw_lab_peer_create, cw_lab_protocol(0), nothing);
    DOES_NOTHING(cw_lab_peer_destroy, nothing);
}

static void test_latencies(void **state)
{
    (void)state;
    const struct cw_lab_latencies one = {.count = 1};
    DOES_NOTHING(cw_lab_latencies_add, nothing, 1);
    GIVES(0, cw_lab_latencies_mean, nothing);
    GIVES(0, cw_lab_latencies_quantile, nothing, 0.5);
    GIVES(0, cw_lab_latencies_quantile, &one, no_time);
}

static void test_game(void **state)
{
    (void)state;
    static struct cw_lab_game game;
    static const struct cw_lab_game untouched;
    const struct cw_lab_peer_type *type = cw_lab_protocol(0);
    const struct cw_lab_arrival arrival = {.item = {CW_LAB_MESSAGE, 0, 64}};
    struct cw_lab_game_stats stats;
    double seconds;
    DOES_NOTHING(cw_lab_game_send, nothing, CW_LAB_MESSAGE, true, type, &game, 0);
    DOES_NOTHING(cw_lab_game_send, &game, CW_LAB_MESSAGE, true, nothing, &game, 0);
    DOES_NOTHING(cw_lab_game_send, &game, CW_LAB_MESSAGE, true, type, nothing, 0);
    DOES_NOTHING(cw_lab_game_send, &game, CW_LAB_MESSAGE, true, type, &game, no_time);
    DOES_NOTHING(cw_lab_game_send, &game, (enum cw_lab_traffic)0, true, type, &game, 0);
    GIVES_NOTHING(cw_lab_game_settle, nothing, &arrival, 0, &seconds);
    GIVES_NOTHING(cw_lab_game_settle, &game, nothing, 0, &seconds);
    GIVES_NOTHING(cw_lab_game_settle, &game, &arrival, no_time, &seconds);
    GIVES_NOTHING(cw_lab_game_settle, &game, &arrival, 0, nothing);
    DOES_NOTHING(cw_lab_game_stats, nothing, CW_LAB_MESSAGE, 0, &stats);
    DOES_NOTHING(cw_lab_game_stats, &game, CW_LAB_MESSAGE, 0, nothing);
    DOES_NOTHING(cw_lab_game_stats, &game, CW_LAB_MESSAGE, no_time, &stats);
    DOES_NOTHING(cw_lab_game_restart_stats, nothing);
    assert_memory_equal(&game, &untouched, sizeof game);
}

static void test_column_without_a_column(void **state)
{
    (void)state;
    const struct cw_lab_column_config config = cw_lab_column_config_default();
    const struct cw_lab_settings settings = cw_lab_settings_default();
    struct cw_lab_column *column = NULL;
    struct cw_lab_column_event event;
    struct cw_lab_wire_stats wire;
    struct cw_lab_game_stats items;
    uint32_t number;
    GIVES_NOTHING(cw_lab_column_memory, nothing);
    REFUSES(cw_lab_column_create, nothing, &column);
    REFUSES(cw_lab_column_create, &config, nothing);
    assert_null(column);
    DOES_NOTHING(cw_lab_column_destroy, nothing);
    DOES_NOTHING(cw_lab_column_reset, nothing);
    REFUSES(cw_lab_column_change, nothing, &settings);
    DOES_NOTHING(cw_lab_column_step, nothing, 1);
    GIVES(0, cw_lab_column_time, nothing);
    GIVES_NOTHING(cw_lab_column_next, nothing, &event);
    GIVES_NOTHING(cw_lab_column_events_dropped, nothing);
    DOES_NOTHING(cw_lab_column_wire_stats, nothing, 0, &wire);
    DOES_NOTHING(cw_lab_column_item_stats, nothing, 0, CW_LAB_MESSAGE, &items);
    GIVES(0, cw_lab_column_quantile, nothing, 0, CW_LAB_MESSAGE, 0.5);
    DOES_NOTHING(cw_lab_column_restart_stats, nothing);
    GIVES_NOTHING(cw_lab_column_waiting, nothing, 0, &number);
    GIVES_NOTHING(cw_lab_column_hash, nothing);
}

static void test_column(void **state)
{
    (void)state;
    const struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_column *column;
    struct cw_lab_wire_stats wire;
    struct cw_lab_game_stats items;
    uint32_t number;
    assert_int_equal(cw_lab_column_create(&config, &column), CW_OK);
    cw_lab_column_step(column, 60);
    const uint64_t hash = cw_lab_column_hash(column);
    REFUSES(cw_lab_column_change, column, nothing);
    GIVES_NOTHING(cw_lab_column_next, column, nothing);
    DOES_NOTHING(cw_lab_column_wire_stats, column, 0, nothing);
    DOES_NOTHING(cw_lab_column_item_stats, column, 0, CW_LAB_MESSAGE, nothing);
    GIVES(0, cw_lab_column_quantile, column, 0, CW_LAB_MESSAGE, no_time);
    GIVES(0, cw_lab_column_quantile, column, 2, CW_LAB_MESSAGE, 0.5);
    GIVES(0, cw_lab_column_quantile, column, 0, (enum cw_lab_traffic)0, 0.5);
    GIVES_NOTHING(cw_lab_column_waiting, column, 0, nothing);
    GIVES_NOTHING(cw_lab_column_waiting, column, 2, &number);
    cw_lab_column_wire_stats(column, 2, &wire);
    assert_int_equal(wire.datagrams, 0);
    cw_lab_column_item_stats(column, 2, CW_LAB_MESSAGE, &items);
    assert_int_equal(items.sent, 0);
    cw_lab_column_item_stats(column, 0, (enum cw_lab_traffic)0, &items);
    assert_int_equal(items.sent, 0);
    assert_true(cw_lab_column_hash(column) == hash);
    cw_lab_column_destroy(column);
}

static void test_window(void **state)
{
    (void)state;
    const struct cw_window_config config = cw_window_config_default();
    struct cw_window *window = NULL;
    struct cw_window_stats stats;
    size_t taken;
    GIVES_NOTHING(cw_window_memory, nothing);
    GIVES_NOTHING(cw_window_config_error_field, nothing);
    REFUSED(cw_window_create, nothing, &window);
    REFUSED(cw_window_create, &config, nothing);
    assert_null(window);
    DOES_NOTHING(cw_window_destroy, nothing);
    DOES_NOTHING(cw_window_reset, nothing);
    REFUSED(cw_window_send, nothing, bytes, 1, 0, &taken);
    GIVES_NOTHING(cw_window_room, nothing);
    REFUSED(cw_window_receive, nothing, bytes, 1, 0);
    DOES_NOTHING(cw_window_update, nothing, 0);
    GIVES_NOTHING(cw_window_transmit, nothing, bytes, sizeof bytes, 0);
    GIVES_NOTHING(cw_window_read, nothing, bytes, sizeof bytes);
    DOES_NOTHING(cw_window_stats, nothing, &stats);
    assert_int_equal(cw_window_create(&config, &window), CW_PROTOCOL_OK);
    REFUSED(cw_window_send, window, nothing, 1, 0, &taken);
    REFUSED(cw_window_send, window, bytes, 1, 0, nothing);
    REFUSED(cw_window_send, window, bytes, 1, no_time, &taken);
    REFUSED(cw_window_receive, window, nothing, 1, 0);
    REFUSED(cw_window_receive, window, bytes, 1, no_time);
    DOES_NOTHING(cw_window_update, window, no_time);
    GIVES_NOTHING(cw_window_transmit, window, nothing, sizeof bytes, 0);
    GIVES_NOTHING(cw_window_transmit, window, bytes, sizeof bytes, no_time);
    GIVES_NOTHING(cw_window_read, window, nothing, sizeof bytes);
    DOES_NOTHING(cw_window_stats, window, nothing);
    cw_window_destroy(window);
}

/* The functions that are not called here take no pointer but from the table of a protocol. */
static const char *const without_pointers =
    " cw_lab_settings_default cw_lab_protocol_count cw_lab_protocol cw_lab_protocol_name ";

/* This test comes after all others, which call the functions. */
static void test_no_function_was_left_out(void **state)
{
    (void)state;
    const size_t count = check_headers(CAUSEWAY_CORE "/lab", without_pointers);
    print_message("%zu functions\n", count);
    assert_true(count > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_latencies),
        cmocka_unit_test(test_game),
        cmocka_unit_test(test_column_without_a_column),
        cmocka_unit_test(test_column),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_no_function_was_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
