/* Tests of arguments that make no sense: every public function gets NULL wherever it takes a
   pointer, and NaN or an infinity wherever it takes a time. Nothing happens, and each function that
   can return an error does so. */
#include "secure_message_rig.h"

#include "arguments.h"

#include "causeway/causeway.h"
#include "causeway/native/client_host.h"
#include "causeway/native/clock.h"
#include "causeway/native/host.h"
#include "causeway/native/resolve.h"
#include "causeway/native/run.h"
#include "causeway/native/socket.h"

#include <math.h>
#include <stdio.h>

static uint8_t bytes[4096];
static const double no_times[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};

static void test_base(void **state)
{
    (void)state;
    struct cw_address address = {0};
    char text[CW_ADDRESS_TEXT_SIZE];
    REFUSES(cw_address_parse, "1.2.3.4:5", nothing);
    REFUSES(cw_address_parse, nothing, &address);
    assert_string_equal(cw_address_format(nothing, text), "none");
    note("cw_address_format");
    assert_string_equal(cw_address_format(&address, nothing), "none");
    address.type = CW_ADDRESS_IPV4;
    assert_string_equal(cw_address_format(&address, nothing), "none");
    GIVES(0, cw_address_compare, nothing, nothing);
    GIVES(-1, cw_address_compare, nothing, &address);
    GIVES_NOTHING(cw_address_equal, &address, nothing);
    GIVES_NOTHING(cw_text_valid, nothing, 1);
}

static void test_endpoint(void **state)
{
    (void)state;
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    struct cw_endpoint *endpoint = NULL;
    struct cw_endpoint_event event;
    struct cw_endpoint_stats stats;
    uint8_t *payload;
    REFUSES(cw_endpoint_config_check, nothing);
    GIVES_NOTHING(cw_endpoint_config_max_datagram_size, nothing);
    GIVES_NOTHING(cw_endpoint_memory, nothing);
    REFUSES(cw_endpoint_create, &config, nothing);
    REFUSES(cw_endpoint_create, nothing, &endpoint);
    assert_null(endpoint);
    DOES_NOTHING(cw_endpoint_destroy, nothing);
    DOES_NOTHING(cw_endpoint_reset, nothing);
    GIVES_NOTHING(cw_endpoint_max_datagram_size, nothing);
    REFUSES(cw_endpoint_begin, nothing, 1, bytes, sizeof bytes, &payload);
    GIVES_NOTHING(cw_endpoint_commit, nothing, 1, 0, NULL);
    GIVES_NOTHING(cw_endpoint_transmit, nothing, bytes, sizeof bytes, 0);
    REFUSES(cw_endpoint_receive, nothing, bytes, 1, 0);
    DOES_NOTHING(cw_endpoint_update, nothing, 0);
    GIVES_NOTHING(cw_endpoint_next, nothing, &event);
    DOES_NOTHING(cw_endpoint_accept, nothing, 0);
    GIVES_NOTHING(cw_endpoint_next_sequence, nothing);
    DOES_NOTHING(cw_endpoint_stats, nothing, &stats);

    assert_int_equal(cw_endpoint_create(&config, &endpoint), CW_OK);
    REFUSES(cw_endpoint_begin, endpoint, 1, nothing, sizeof bytes, &payload);
    REFUSES(cw_endpoint_begin, endpoint, 1, bytes, sizeof bytes, nothing);
    REFUSES(cw_endpoint_receive, endpoint, nothing, 1, 0);
    assert_int_equal(cw_endpoint_begin(endpoint, 2000, bytes, sizeof bytes, &payload), CW_OK);
    memset(payload, 0, 2000);
    assert_true(cw_endpoint_commit(endpoint, 2000, 0, NULL) > 0);
    GIVES_NOTHING(cw_endpoint_transmit, endpoint, nothing, sizeof bytes, 0);
    assert_true(cw_endpoint_transmit(endpoint, bytes, sizeof bytes, 0) > 0);
    GIVES_NOTHING(cw_endpoint_next, endpoint, nothing);
    DOES_NOTHING(cw_endpoint_stats, endpoint, nothing);
    cw_endpoint_destroy(endpoint);
}

static void test_simulator(void **state)
{
    (void)state;
    const struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *simulator = NULL;
    struct cw_simulator_stats stats;
    GIVES_NOTHING(cw_simulator_memory, nothing);
    REFUSES(cw_simulator_create, &config, nothing);
    REFUSES(cw_simulator_create, nothing, &simulator);
    assert_null(simulator);
    DOES_NOTHING(cw_simulator_destroy, nothing);
    REFUSES(cw_simulator_change, nothing, &config.path);
    REFUSES(cw_simulator_receive, nothing, bytes, 1, 0);
    GIVES_NOTHING(cw_simulator_transmit, nothing, bytes, sizeof bytes, 0);
    GIVES((double)INFINITY, cw_simulator_due, nothing);
    GIVES((double)INFINITY, cw_simulator_newest_due, nothing);
    DOES_NOTHING(cw_simulator_stats, nothing, &stats);
    assert_int_equal(cw_simulator_create(&config, &simulator), CW_OK);
    REFUSES(cw_simulator_change, simulator, nothing);
    REFUSES(cw_simulator_receive, simulator, nothing, 1, 0);
    assert_int_equal(cw_simulator_receive(simulator, bytes, 1, 0), CW_OK);
    GIVES_NOTHING(cw_simulator_transmit, simulator, nothing, sizeof bytes, 9);
    DOES_NOTHING(cw_simulator_stats, simulator, nothing);
    assert_int_equal(cw_simulator_transmit(simulator, bytes, sizeof bytes, 9), 1);
    cw_simulator_destroy(simulator);
}

static void test_schema_and_messages(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    struct cw_schema *other = NULL;
    const struct cw_schema_config config = {.types = &note_type, .count = 1};
    struct cw_stream stream = cw_stream_measurer();
    struct note value = {0};
    REFUSES(cw_schema_create, &config, nothing);
    GIVES(CW_ERROR_SCHEMA_TYPES, cw_schema_create, nothing, &other);
    DOES_NOTHING(cw_schema_destroy, nothing);
    GIVES_NOTHING(cw_schema_memory, nothing);
    GIVES_NOTHING(cw_schema_count, nothing);
    GIVES_NOTHING(cw_schema_type, nothing, 0);
    GIVES_NOTHING(cw_schema_message_size, nothing);
    GIVES_NOTHING(cw_schema_serialize, schema, 0, nothing, &value);
    GIVES_NOTHING(cw_schema_serialize, schema, 0, &stream, nothing);
    GIVES_NOTHING(cw_schema_serialize, nothing, 0, &stream, &value);
    GIVES_NOTHING(cw_schema_check, nothing, 0, &value);
    GIVES_NOTHING(cw_schema_check, schema, 0, nothing);
    GIVES_NOTHING(cw_schema_encode, nothing, bytes, sizeof bytes);
    const size_t size = cw_schema_encode(schema, nothing, sizeof bytes);
    assert_true(size > 0);
    assert_int_equal(cw_schema_encode(schema, bytes, sizeof bytes), size);
    REFUSES(cw_schema_decode, bytes, size, NULL, nothing);
    REFUSES(cw_schema_decode, nothing, size, NULL, &other);
    assert_null(other);
    GIVES_NOTHING(cw_schema_fingerprint, nothing, NULL, 0);
    assert_true(cw_schema_fingerprint(schema, nothing, 9) ==
                cw_schema_fingerprint(schema, NULL, 0));

    struct cw_message_pool_config pool_config = cw_message_pool_config_default();
    struct cw_message_pool *pool;
    struct cw_message *message = NULL;
    size_t bits;
    pool_config.schema = schema;
    REFUSES(cw_message_pool_create, &pool_config, nothing);
    REFUSES(cw_message_pool_create, nothing, &pool);
    GIVES_NOTHING(cw_message_pool_memory, nothing);
    DOES_NOTHING(cw_message_pool_destroy, nothing);
    GIVES_NOTHING(cw_message_pool_used, nothing);
    GIVES_NOTHING(cw_message_pool_schema, nothing);
    REFUSES(cw_message_create, nothing, 0, &message);
    assert_int_equal(cw_message_pool_create(&pool_config, &pool), CW_OK);
    REFUSES(cw_message_create, pool, 0, nothing);
    assert_int_equal(cw_message_pool_used(pool), 0);
    assert_int_equal(cw_message_create(pool, 0, &message), CW_OK);
    REFUSES(cw_message_acquire, nothing);
    REFUSES(cw_message_copy, nothing, message);
    REFUSES(cw_message_copy, message, nothing);
    GIVES(CW_OK, cw_message_release, nothing); /* does nothing, like free */
    REFUSES(cw_message_attach, nothing, bytes, 1, NULL, NULL);
    REFUSES(cw_message_attach, message, nothing, 1, NULL, NULL);
    GIVES_NOTHING(cw_message_serialize, nothing, message);
    GIVES_NOTHING(cw_message_serialize, &stream, nothing);
    GIVES_NOTHING(cw_message_measure, nothing, &bits);
    GIVES_NOTHING(cw_message_measure, message, nothing);
    GIVES_NOTHING(cw_message_check, nothing);
    assert_int_equal(cw_message_release(message), CW_OK);
    cw_message_pool_destroy(pool);
    cw_schema_destroy(schema);
}

static void test_connection(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *connection = NULL;
    struct cw_connection_stats stats;
    struct cw_channel_stats channel_stats;
    struct cw_connection_event event;
    struct cw_message *message = NULL;
    REFUSES(cw_channel_config_check, nothing, 1000);

    const struct cw_connection_config no_schema = cw_connection_config_default(nothing);
    REFUSES(cw_connection_config_check, nothing);
    GIVES_NOTHING(cw_connection_memory, nothing);
    REFUSES(cw_connection_create, &config, nothing);
    REFUSES(cw_connection_create, nothing, &connection);
    assert_null(connection);
    DOES_NOTHING(cw_connection_destroy, nothing);
    DOES_NOTHING(cw_connection_reset, nothing);
    GIVES_NOTHING(cw_connection_fingerprint, nothing);
    GIVES_NOTHING(cw_connection_fingerprint, &no_schema);
    REFUSES(cw_connection_create_message, nothing, 0, &message);
    REFUSES(cw_connection_receive, nothing, bytes, 1, 0);
    GIVES_NOTHING(cw_connection_next, nothing, &event);
    GIVES_NOTHING(cw_connection_receipt_waits, nothing);
    DOES_NOTHING(cw_connection_update, nothing, 0);
    GIVES_NOTHING(cw_connection_transmit, nothing, bytes, sizeof bytes, 0);
    GIVES_NOTHING(cw_connection_max_datagram_size, nothing);
    DOES_NOTHING(cw_connection_stats, nothing, &stats);
    REFUSES(cw_connection_channel_stats, nothing, 0, &channel_stats);

    assert_int_equal(cw_connection_create(&config, &connection), CW_OK);
    REFUSES(cw_connection_create_message, connection, 0, nothing);
    REFUSES(cw_connection_send, connection, 0, nothing, 0);
    assert_int_equal(cw_connection_create_message(connection, 0, &message), CW_OK);
    REFUSES(cw_connection_send, nothing, 0, message, 0);
    REFUSES(cw_connection_send_value, nothing, 0, 0, message->data, 0);
    REFUSES(cw_connection_send_value, connection, 0, 0, nothing, 0);
    assert_int_equal(cw_message_release(message), CW_OK);
    REFUSES(cw_connection_receive, connection, nothing, 1, 0);
    GIVES_NOTHING(cw_connection_next, connection, nothing);
    cw_connection_update(connection, 0);
    GIVES_NOTHING(cw_connection_transmit, connection, nothing, sizeof bytes, 0);
    assert_true(cw_connection_transmit(connection, bytes, sizeof bytes, 0) > 0);
    DOES_NOTHING(cw_connection_stats, connection, nothing);
    REFUSES(cw_connection_channel_stats, connection, 0, nothing);
    cw_connection_destroy(connection);
    cw_schema_destroy(schema);
}

static void test_interpolation(void **state)
{
    (void)state;
    const float rotation[4] = {0, 0, 0, 1};
    float out[4] = {5, 5, 5, 5};
    DOES_NOTHING(cw_slerp, nothing, rotation, 0.5f, out);
    DOES_NOTHING(cw_slerp, rotation, nothing, 0.5f, out);
    DOES_NOTHING(cw_slerp, rotation, rotation, 0.5f, nothing);
    assert_true(out[0] == 5);

    struct cw_interpolation_config config = cw_interpolation_config_default();
    struct cw_interpolation *interpolation = NULL;
    struct cw_interpolation_stats stats;
    struct cw_view view;
    config.entry_size = 4;
    GIVES_NOTHING(cw_interpolation_memory, nothing);
    REFUSES(cw_interpolation_create, nothing, &interpolation);
    REFUSES(cw_interpolation_create, &config, nothing);
    assert_null(interpolation);
    DOES_NOTHING(cw_interpolation_destroy, nothing);
    DOES_NOTHING(cw_interpolation_reset, nothing);
    REFUSES(cw_interpolation_receive, nothing, 1, bytes, 0);
    GIVES_NOTHING(cw_interpolation_view, nothing, 0, &view);
    GIVES_NOTHING(cw_interpolation_entry, nothing, 1);
    DOES_NOTHING(cw_interpolation_stats, nothing, &stats);
    assert_int_equal(cw_interpolation_create(&config, &interpolation), CW_OK);
    REFUSES(cw_interpolation_receive, interpolation, 1, nothing, 0);
    assert_int_equal(cw_interpolation_receive(interpolation, 1, bytes, 0), CW_OK);
    for (size_t i = 0; i < 3; i++) {
        REFUSES(cw_interpolation_receive, interpolation, 2, bytes, no_times[i]);
        GIVES_NOTHING(cw_interpolation_view, interpolation, no_times[i], &view);
    }
    GIVES_NOTHING(cw_interpolation_view, interpolation, 0, nothing);
    DOES_NOTHING(cw_interpolation_stats, interpolation, nothing);
    cw_interpolation_destroy(interpolation);
}

static void test_clock_sync(void **state)
{
    (void)state;
    const struct cw_clock_sync_config config = cw_clock_sync_config_default();
    struct cw_clock_sync *sync = NULL;
    struct cw_clock_sync_event event;
    struct cw_clock_sync_stats stats;
    struct cw_clock_echo echo = {0};
    REFUSES(cw_clock_echo_receive, nothing, bytes, 2, 0);
    REFUSES(cw_clock_echo_receive, &echo, nothing, 2, 0);
    GIVES_NOTHING(cw_clock_echo_transmit, nothing, 1, bytes, sizeof bytes, 0);
    GIVES_NOTHING(cw_clock_echo_transmit, &echo, 1, nothing, sizeof bytes, 0);
    GIVES_NOTHING(cw_clock_sync_memory, nothing);
    REFUSES(cw_clock_sync_create, nothing, &sync);
    REFUSES(cw_clock_sync_create, &config, nothing);
    assert_null(sync);
    DOES_NOTHING(cw_clock_sync_destroy, nothing);
    DOES_NOTHING(cw_clock_sync_reset, nothing);
    GIVES_NOTHING(cw_clock_sync_transmit, nothing, bytes, sizeof bytes, 0);
    REFUSES(cw_clock_sync_receive, nothing, bytes, CW_CLOCK_ECHO_SIZE, 0);
    REFUSES(cw_clock_sync_adjust, nothing, 1, 0, 0);
    DOES_NOTHING(cw_clock_sync_update, nothing, 0);
    GIVES_NOTHING(cw_clock_sync_next, nothing, &event);
    GIVES(0.0, cw_clock_sync_server_time, nothing, 0);
    GIVES(0.0, cw_clock_sync_client_time, nothing, 0);
    DOES_NOTHING(cw_clock_sync_stats, nothing, 0, &stats);

    assert_int_equal(cw_clock_sync_create(&config, &sync), CW_OK);
    GIVES_NOTHING(cw_clock_sync_transmit, sync, nothing, 2, 0);
    assert_int_equal(cw_clock_sync_transmit(sync, bytes, 2, 0), 2);
    assert_int_equal(cw_clock_echo_receive(&echo, bytes, 2, 0), CW_OK);
    assert_int_equal(cw_clock_echo_transmit(&echo, 1, bytes, CW_CLOCK_ECHO_SIZE, 0),
                     CW_CLOCK_ECHO_SIZE);
    REFUSES(cw_clock_sync_receive, sync, nothing, CW_CLOCK_ECHO_SIZE, 0);
    assert_int_equal(cw_clock_sync_receive(sync, bytes, CW_CLOCK_ECHO_SIZE, 0), CW_OK);
    for (size_t i = 0; i < 3; i++) {
        const double no = no_times[i];
        REFUSES(cw_clock_echo_receive, &echo, bytes, 2, no);
        GIVES_NOTHING(cw_clock_echo_transmit, &echo, 1, bytes, sizeof bytes, no);
        GIVES_NOTHING(cw_clock_echo_transmit, &echo, no, bytes, sizeof bytes, 0);
        GIVES_NOTHING(cw_clock_sync_transmit, sync, bytes, 2, no);
        REFUSES(cw_clock_sync_receive, sync, bytes, CW_CLOCK_ECHO_SIZE, no);
        REFUSES(cw_clock_sync_adjust, sync, 1, no, 0);
        REFUSES(cw_clock_sync_adjust, sync, 1, 0, no);
        cw_clock_sync_update(sync, no);
        GIVES(0.0, cw_clock_sync_server_time, sync, no);
        GIVES(0.0, cw_clock_sync_client_time, sync, no);
    }
    assert_false(cw_clock_sync_next(sync, &event));
    cw_clock_sync_update(sync, 0);
    GIVES_NOTHING(cw_clock_sync_next, sync, nothing);
    assert_true(cw_clock_sync_next(sync, &event));
    DOES_NOTHING(cw_clock_sync_stats, sync, 0, nothing);
    cw_clock_sync_destroy(sync);
}

static void test_input(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    const struct cw_input_config config = cw_input_config_default(schema);
    const struct cw_input_config no_schema = cw_input_config_default(nothing);
    struct cw_input_sender *sender = NULL;
    struct cw_input_receiver *receiver = NULL;
    struct cw_input_receiver_stats stats;
    struct cw_input_report report;
    struct note input = {0};
    GIVES_NOTHING(cw_input_sender_memory, nothing);
    GIVES_NOTHING(cw_input_sender_memory, &no_schema);
    REFUSES(cw_input_sender_create, nothing, &sender);
    REFUSES(cw_input_sender_create, &config, nothing);
    assert_null(sender);
    DOES_NOTHING(cw_input_sender_destroy, nothing);
    DOES_NOTHING(cw_input_sender_reset, nothing);
    REFUSES(cw_input_sender_add, nothing, 1, &input);
    GIVES_NOTHING(cw_input_sender_transmit, nothing, bytes, sizeof bytes);
    REFUSES(cw_input_sender_receive, nothing, bytes, CW_INPUT_REPORT_SIZE, &report);
    GIVES_NOTHING(cw_input_receiver_memory, nothing);
    GIVES_NOTHING(cw_input_receiver_memory, &no_schema);
    REFUSES(cw_input_receiver_create, nothing, &receiver);
    REFUSES(cw_input_receiver_create, &config, nothing);
    assert_null(receiver);
    DOES_NOTHING(cw_input_receiver_destroy, nothing);
    DOES_NOTHING(cw_input_receiver_reset, nothing);
    REFUSES(cw_input_receiver_receive, nothing, bytes, 8, 1);
    GIVES_NOTHING(cw_input_receiver_take, nothing, 1, &input);
    GIVES_NOTHING(cw_input_receiver_transmit, nothing, bytes, sizeof bytes);
    DOES_NOTHING(cw_input_receiver_stats, nothing, &stats);

    assert_int_equal(cw_input_sender_create(&config, &sender), CW_OK);
    assert_int_equal(cw_input_receiver_create(&config, &receiver), CW_OK);
    REFUSES(cw_input_sender_add, sender, 1, nothing);
    assert_int_equal(cw_input_sender_add(sender, 1, &input), CW_OK);
    GIVES_NOTHING(cw_input_sender_transmit, sender, nothing, sizeof bytes);
    const size_t size = cw_input_sender_transmit(sender, bytes, sizeof bytes);
    REFUSES(cw_input_receiver_receive, receiver, nothing, size, 1);
    for (size_t i = 0; i < 3; i++)
        REFUSES(cw_input_receiver_receive, receiver, bytes, size, no_times[i]);
    assert_int_equal(cw_input_receiver_receive(receiver, bytes, size, 1), CW_OK);
    GIVES_NOTHING(cw_input_receiver_take, receiver, 1, nothing);
    assert_true(cw_input_receiver_take(receiver, 1, &input));
    GIVES_NOTHING(cw_input_receiver_transmit, receiver, nothing, sizeof bytes);
    assert_int_equal(cw_input_receiver_transmit(receiver, bytes, sizeof bytes),
                     CW_INPUT_REPORT_SIZE);
    REFUSES(cw_input_sender_receive, sender, nothing, CW_INPUT_REPORT_SIZE, &report);
    REFUSES(cw_input_sender_receive, sender, bytes, CW_INPUT_REPORT_SIZE, nothing);
    DOES_NOTHING(cw_input_receiver_stats, receiver, nothing);
    cw_input_sender_destroy(sender);
    cw_input_receiver_destroy(receiver);
    cw_schema_destroy(schema);
}

static void test_history(void **state)
{
    (void)state;
    struct cw_history_config config = cw_history_config_default();
    struct cw_history *history = NULL;
    const struct cw_view seen = {1, 1, 0};
    struct cw_view view;
    const void *from, *to;
    config.state_size = 4;
    GIVES_NOTHING(cw_history_memory, nothing);
    REFUSES(cw_history_create, nothing, &history);
    REFUSES(cw_history_create, &config, nothing);
    assert_null(history);
    DOES_NOTHING(cw_history_destroy, nothing);
    DOES_NOTHING(cw_history_reset, nothing);
    REFUSES(cw_history_begin, nothing, 1);
    REFUSES(cw_history_add, nothing, 5, bytes);
    GIVES_NOTHING(cw_history_rewind, nothing, &seen, &view);
    GIVES_NOTHING(cw_history_count, nothing, 1);
    GIVES_NOTHING(cw_history_entity, nothing, 1, 0);
    GIVES_NOTHING(cw_history_find, nothing, &seen, 5, &from, &to);
    assert_int_equal(cw_history_create(&config, &history), CW_OK);
    assert_int_equal(cw_history_begin(history, 1), CW_OK);
    REFUSES(cw_history_add, history, 5, nothing);
    assert_int_equal(cw_history_add(history, 5, bytes), CW_OK);
    GIVES_NOTHING(cw_history_rewind, history, nothing, &view);
    GIVES_NOTHING(cw_history_rewind, history, &seen, nothing);
    GIVES_NOTHING(cw_history_find, history, nothing, 5, &from, &to);
    GIVES_NOTHING(cw_history_find, history, &seen, 5, nothing, &to);
    GIVES_NOTHING(cw_history_find, history, &seen, 5, &from, nothing);
    assert_true(cw_history_find(history, &seen, 5, &from, &to));
    cw_history_destroy(history);
}

static void test_prediction(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    struct cw_prediction_config config = cw_prediction_config_default(schema);
    struct cw_prediction *prediction = NULL;
    struct cw_prediction_stats stats;
    struct note value = {0};
    uint32_t tick;
    config.state_type = 0;
    GIVES_NOTHING(cw_prediction_memory, nothing);
    REFUSES(cw_prediction_create, nothing, &prediction);
    REFUSES(cw_prediction_create, &config, nothing);
    assert_null(prediction);
    DOES_NOTHING(cw_prediction_destroy, nothing);
    DOES_NOTHING(cw_prediction_reset, nothing);
    REFUSES(cw_prediction_add, nothing, 1, &value, &value);
    GIVES_NOTHING(cw_prediction_correct, nothing, 1, &value);
    GIVES_NOTHING(cw_prediction_replay, nothing, &value, &tick, &value);
    DOES_NOTHING(cw_prediction_smooth, nothing, &value, 0);
    DOES_NOTHING(cw_prediction_stats, nothing, &stats);
    assert_int_equal(cw_prediction_create(&config, &prediction), CW_OK);
    REFUSES(cw_prediction_add, prediction, 1, nothing, &value);
    REFUSES(cw_prediction_add, prediction, 1, &value, nothing);
    assert_int_equal(cw_prediction_add(prediction, 1, &value, &value), CW_OK);
    assert_int_equal(cw_prediction_add(prediction, 2, &value, &value), CW_OK);
    GIVES_NOTHING(cw_prediction_correct, prediction, 1, nothing);
    value.number = 7;
    assert_true(cw_prediction_correct(prediction, 1, &value));
    GIVES_NOTHING(cw_prediction_replay, prediction, nothing, &tick, &value);
    GIVES_NOTHING(cw_prediction_replay, prediction, &value, nothing, &value);
    GIVES_NOTHING(cw_prediction_replay, prediction, &value, &tick, nothing);
    DOES_NOTHING(cw_prediction_smooth, prediction, nothing, 0);
    for (size_t i = 0; i < 3; i++)
        DOES_NOTHING(cw_prediction_smooth, prediction, &value, no_times[i]);
    DOES_NOTHING(cw_prediction_stats, prediction, nothing);
    cw_prediction_destroy(prediction);
    cw_schema_destroy(schema);
}

static void test_snapshots(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    const struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    struct cw_snapshot_server *server = NULL;
    struct cw_snapshot_client *client = NULL;
    struct cw_snapshot_server_stats server_stats;
    struct cw_snapshot_client_stats client_stats;
    struct cw_snapshot_event event;
    uint32_t number;
    uint16_t newest;
    REFUSES(cw_snapshot_server_create, nothing, &server);
    REFUSES(cw_snapshot_server_create, &config, nothing);
    GIVES_NOTHING(cw_snapshot_server_memory, nothing);
    DOES_NOTHING(cw_snapshot_server_destroy, nothing);
    DOES_NOTHING(cw_snapshot_server_reset, nothing);
    REFUSES(cw_snapshot_server_set, nothing, 0, 0, bytes);
    DOES_NOTHING(cw_snapshot_server_remove, nothing, 0);
    REFUSES(cw_snapshot_server_tick, nothing, 0);
    REFUSES(cw_snapshot_server_join, nothing, 0);
    REFUSES(cw_snapshot_server_restart, nothing, 0);
    REFUSES(cw_snapshot_server_set_priority, nothing, 0, 0, 1);
    GIVES_NOTHING(cw_snapshot_server_transmit, nothing, 0, bytes, sizeof bytes, &number);
    DOES_NOTHING(cw_snapshot_server_acked, nothing, 0, 1);
    DOES_NOTHING(cw_snapshot_server_stats, nothing, &server_stats);
    REFUSES(cw_snapshot_client_create, nothing, &client);
    REFUSES(cw_snapshot_client_create, &config, nothing);
    GIVES_NOTHING(cw_snapshot_client_memory, nothing);
    DOES_NOTHING(cw_snapshot_client_destroy, nothing);
    DOES_NOTHING(cw_snapshot_client_reset, nothing);
    REFUSES(cw_snapshot_client_receive, nothing, bytes, 8);
    GIVES_NOTHING(cw_snapshot_client_newest, nothing, &newest);
    GIVES_NOTHING(cw_snapshot_client_tick, nothing, &number);
    GIVES_NOTHING(cw_snapshot_client_state, nothing, 0, &number);
    GIVES_NOTHING(cw_snapshot_client_next, nothing, &event);
    DOES_NOTHING(cw_snapshot_client_stats, nothing, &client_stats);
    assert_null(server);
    assert_null(client);

    assert_int_equal(cw_snapshot_server_create(&config, &server), CW_OK);
    REFUSES(cw_snapshot_server_set, server, 0, 0, nothing);
    REFUSES(cw_snapshot_server_set_priority, server, 0, 0, NAN);
    REFUSES(cw_snapshot_server_set_priority, server, 0, 0, -1);
    REFUSES(cw_snapshot_server_set_priority, server, 0, 0, INFINITY);
    REFUSES(cw_snapshot_server_set_priority, server, 0, config.max_entities, 1);
    REFUSES(cw_snapshot_server_set_priority, server, config.max_clients, 0, 1);
    REFUSES(cw_snapshot_server_join, server, config.max_clients);
    REFUSES(cw_snapshot_server_restart, server, config.max_clients);
    DOES_NOTHING(cw_snapshot_server_acked, server, config.max_clients, 1);
    assert_int_equal(cw_snapshot_server_tick(server, 1), CW_OK);
    GIVES_NOTHING(cw_snapshot_server_transmit, server, 0, nothing, sizeof bytes, &number);
    GIVES_NOTHING(cw_snapshot_server_transmit, server, 0, bytes, sizeof bytes, nothing);
    GIVES_NOTHING(cw_snapshot_server_transmit, server, 0, bytes, 31, &number);
    GIVES_NOTHING(cw_snapshot_server_transmit, server, config.max_clients, bytes, sizeof bytes,
                  &number);
    DOES_NOTHING(cw_snapshot_server_stats, server, nothing);
    const size_t size = cw_snapshot_server_transmit(server, 0, bytes, sizeof bytes, &number);
    assert_int_equal(cw_snapshot_client_create(&config, &client), CW_OK);
    REFUSES(cw_snapshot_client_receive, client, nothing, size);
    assert_int_equal(cw_snapshot_client_receive(client, bytes, size), CW_OK);
    GIVES_NOTHING(cw_snapshot_client_newest, client, nothing);
    GIVES_NOTHING(cw_snapshot_client_tick, client, nothing);
    GIVES_NOTHING(cw_snapshot_client_next, client, nothing);
    DOES_NOTHING(cw_snapshot_client_stats, client, nothing);
    cw_snapshot_client_destroy(client);
    cw_snapshot_server_destroy(server);
    cw_schema_destroy(schema);
}

static void test_crypto_and_tokens(void **state)
{
    (void)state;
    const uint8_t key[CW_LONG_NONCE_BYTES + CW_KEY_BYTES] = {1};
    const struct cw_random random = {0};
    memset(bytes, 7, sizeof bytes);
    const struct cw_seal seal = {.key = key, .nonce = key};
    const struct cw_seal broken[] = {
        {.nonce = key}, {.key = key}, {.key = key, .nonce = key, .associated_size = 1}};
    DOES_NOTHING(cw_crypto_seal, &seal, bytes, 8, nothing);
    DOES_NOTHING(cw_crypto_seal, &seal, nothing, 8, bytes);
    DOES_NOTHING(cw_crypto_seal, nothing, bytes, 8, bytes);
    DOES_NOTHING(cw_crypto_seal_long, &seal, bytes, 8, nothing);
    DOES_NOTHING(cw_crypto_seal_long, &seal, nothing, 8, bytes);
    DOES_NOTHING(cw_crypto_seal_long, nothing, bytes, 8, bytes);
    GIVES_NOTHING(cw_crypto_open, &seal, nothing, 32, bytes);
    GIVES_NOTHING(cw_crypto_open, nothing, bytes, 32, bytes);
    GIVES_NOTHING(cw_crypto_open_long, &seal, nothing, 32, bytes);
    GIVES_NOTHING(cw_crypto_open_long, nothing, bytes, 32, bytes);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        DOES_NOTHING(cw_crypto_seal, &broken[i], bytes, 8, bytes);
        DOES_NOTHING(cw_crypto_seal_long, &broken[i], bytes, 8, bytes);
        GIVES_NOTHING(cw_crypto_open, &broken[i], bytes, 32, bytes);
        GIVES_NOTHING(cw_crypto_open_long, &broken[i], bytes, 32, bytes);
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 7);
    DOES_NOTHING(cw_crypto_wipe, nothing, 8);
    GIVES_NOTHING(cw_crypto_equal, nothing, bytes, 8);
    GIVES_NOTHING(cw_crypto_equal, bytes, nothing, 8);
    GIVES(true, cw_crypto_is_zero, nothing, 8);
    DOES_NOTHING(cw_random_fill, &random, nothing, 8);
    DOES_NOTHING(cw_random_fill, nothing, bytes, 8);
    uint8_t parsed[CW_KEY_BYTES];
    REFUSES(cw_key_parse, "00", nothing);
    GIVES(CW_ERROR_KEY, cw_key_parse, nothing, parsed);

    struct cw_token_grant grant = cw_token_grant_default();
    struct cw_token token = {0};
    struct cw_token_private inner = {0};
    struct cw_challenge_token challenge = {0};
    REFUSES(cw_token_generate, &grant, key, nothing);
    REFUSES(cw_token_generate, nothing, key, bytes);
    REFUSES(cw_token_generate, &grant, nothing, bytes);
    REFUSES(cw_token_insecure, &grant, nothing);
    REFUSES(cw_token_insecure, nothing, bytes);
    REFUSES(cw_token_read, bytes, CW_TOKEN_SIZE, nothing);
    REFUSES(cw_token_read, nothing, CW_TOKEN_SIZE, &token);
    REFUSES(cw_token_write, &token, nothing);
    REFUSES(cw_token_write, nothing, bytes);
    REFUSES(cw_token_seal, &inner, 1, 2, key, key, nothing);
    REFUSES(cw_token_seal, nothing, 1, 2, key, key, bytes);
    REFUSES(cw_token_seal, &inner, 1, 2, nothing, key, bytes);
    REFUSES(cw_token_seal, &inner, 1, 2, key, nothing, bytes);
    REFUSES(cw_token_open, bytes, 1, 2, key, key, nothing);
    REFUSES(cw_token_open, nothing, 1, 2, key, key, &inner);
    REFUSES(cw_token_open, bytes, 1, 2, nothing, key, &inner);
    REFUSES(cw_token_open, bytes, 1, 2, key, nothing, &inner);
    DOES_NOTHING(cw_challenge_token_seal, &challenge, 1, key, nothing);
    DOES_NOTHING(cw_challenge_token_seal, nothing, 1, key, bytes);
    DOES_NOTHING(cw_challenge_token_seal, &challenge, 1, nothing, bytes);
    GIVES_NOTHING(cw_challenge_token_open, bytes, 1, key, nothing);
    GIVES_NOTHING(cw_challenge_token_open, nothing, 1, key, &challenge);
    GIVES_NOTHING(cw_challenge_token_open, bytes, 1, nothing, &challenge);
    DOES_NOTHING(cw_user_data_set_fingerprint, nothing, 1);
    GIVES_NOTHING(cw_user_data_fingerprint, nothing);
}

static void test_secure_packets(void **state)
{
    (void)state;
    const uint8_t key[CW_KEY_BYTES] = {1};
    struct cw_secure_packet packet;
    struct cw_replay replay = {0};
    struct cw_request request = {0};
    struct cw_token_private inner = {0};
    struct cw_token token = {0};
    const struct cw_address address = {0};
    uint32_t number;
    uint64_t sequence;
    REFUSES(cw_replay_check, nothing, 1);
    DOES_NOTHING(cw_replay_advance, nothing, 1);
    const struct cw_secure_key with = {1, CW_TO_CLIENT, key}, without = {.protocol_id = 1};
    const struct cw_secure_packet whole = {CW_SECURE_PAYLOAD, 1, bytes, 8},
                                  empty = {CW_SECURE_PAYLOAD, 1, NULL, 8};
    GIVES_NOTHING(cw_secure_write, &whole, &with, nothing, 1300);
    GIVES_NOTHING(cw_secure_write, nothing, &with, bytes, 1300);
    GIVES_NOTHING(cw_secure_write, &empty, &with, bytes, 1300);
    GIVES_NOTHING(cw_secure_write, &whole, nothing, bytes, 1300);
    GIVES_NOTHING(cw_secure_write, &whole, &without, bytes, 1300);
    REFUSES(cw_secure_read, bytes, 40, &with, &replay, bytes, nothing);
    REFUSES(cw_secure_read, bytes, 40, &with, &replay, nothing, &packet);
    REFUSES(cw_secure_read, nothing, 40, &with, &replay, bytes, &packet);
    REFUSES(cw_secure_read, bytes, 40, nothing, &replay, bytes, &packet);
    REFUSES(cw_secure_read, bytes, 40, &without, &replay, bytes, &packet);
    REFUSES(cw_secure_shape, nothing, 40, CW_TO_SERVER, NULL);
    DOES_NOTHING(cw_request_write, &token, nothing);
    DOES_NOTHING(cw_request_write, nothing, bytes);
    REFUSES(cw_request_parse, bytes, CW_REQUEST_SIZE, nothing);
    REFUSES(cw_request_parse, nothing, CW_REQUEST_SIZE, &request);
    REFUSES(cw_request_check, nothing, 1, 1);
    REFUSES(cw_request_open, nothing, key, &inner);
    REFUSES(cw_request_open, &request, key, &inner);
    GIVES_NOTHING(cw_token_names, nothing, &address, 1);
    GIVES_NOTHING(cw_token_names, &inner, nothing, 1);
    DOES_NOTHING(cw_keep_alive_put, 1, 2, nothing);
    DOES_NOTHING(cw_keep_alive_get, nothing, &number, &number);
    DOES_NOTHING(cw_keep_alive_get, bytes, nothing, &number);
    DOES_NOTHING(cw_keep_alive_get, bytes, &number, nothing);
    DOES_NOTHING(cw_challenge_put, 1, bytes, nothing);
    DOES_NOTHING(cw_challenge_put, 1, nothing, bytes);
    GIVES_NOTHING(cw_challenge_get, nothing, &sequence);
    GIVES_NOTHING(cw_challenge_get, bytes, nothing);
    struct cw_farewell farewell = {.reason = CW_DISCONNECT_BY_SERVER};
    DOES_NOTHING(cw_farewell_make, CW_DISCONNECT_BY_SERVER, 0, nothing);
    GIVES_NOTHING(cw_farewell_put, nothing, bytes);
    GIVES_NOTHING(cw_farewell_put, &farewell, nothing);
    GIVES_NOTHING(cw_farewell_get, nothing, CW_FAREWELL_SIZE_MIN, &farewell);
    GIVES_NOTHING(cw_farewell_get, bytes, CW_FAREWELL_SIZE_MIN, nothing);
}

static void test_client(void **state)
{
    (void)state;
    const struct cw_client_config config = cw_client_config_default();
    struct cw_client *client = NULL;
    struct cw_client_event event;
    struct cw_client_stats stats;
    GIVES_NOTHING(cw_client_memory, nothing);
    REFUSES(cw_client_create, &config, nothing);
    REFUSES(cw_client_create, nothing, &client);
    assert_null(client);
    DOES_NOTHING(cw_client_destroy, nothing);
    REFUSES(cw_client_connect, nothing, bytes, CW_TOKEN_SIZE, 0);
    REFUSES(cw_client_receive, nothing, NULL, bytes, 40, 0);
    GIVES_NOTHING(cw_client_transmit, nothing, bytes, sizeof bytes, 0, NULL);
    DOES_NOTHING(cw_client_update, nothing, 0);
    GIVES_NOTHING(cw_client_next, nothing, &event);
    GIVES_NOTHING(cw_client_connection, nothing);
    REFUSES(cw_client_send, nothing, bytes, 8);
    REFUSES(cw_client_move, nothing, 0);
    REFUSES(cw_client_try_server, nothing, 0, 0);
    GIVES_NOTHING(cw_client_moving, nothing);
    DOES_NOTHING(cw_client_disconnect, nothing);
    GIVES(CW_CLIENT_DISCONNECTED, cw_client_state, nothing);
    GIVES_NOTHING(cw_client_farewell, nothing);
    GIVES_NOTHING(cw_client_server_address, nothing);
    GIVES_NOTHING(cw_client_server_index, nothing);
    GIVES_NOTHING(cw_client_index, nothing);
    GIVES_NOTHING(cw_client_max_clients, nothing);
    DOES_NOTHING(cw_client_stats, nothing, &stats);
    GIVES_NOTHING(cw_client_dropped, nothing, CW_ERROR_MALFORMED);

    assert_int_equal(cw_client_create(&config, &client), CW_OK);
    REFUSES(cw_client_connect, client, nothing, CW_TOKEN_SIZE, 0);
    REFUSES(cw_client_receive, client, NULL, nothing, 40, 0);
    REFUSES(cw_client_send, client, nothing, 8);
    REFUSES(cw_client_move, client, (double)NAN);
    REFUSES(cw_client_try_server, client, 0, (double)NAN);
    GIVES_NOTHING(cw_client_transmit, client, nothing, sizeof bytes, 0, NULL);
    GIVES_NOTHING(cw_client_next, client, nothing);
    DOES_NOTHING(cw_client_stats, client, nothing);
    cw_client_destroy(client);
}

static void test_server(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig);
    struct cw_server *server = NULL;
    struct cw_server_event event;
    struct cw_server_client about;
    struct cw_server_stats stats;
    struct cw_address address = rig_client_address(1);
    GIVES_NOTHING(cw_server_memory, nothing);
    REFUSES(cw_server_create, &rig.config, nothing);
    REFUSES(cw_server_create, nothing, &server);
    assert_null(server);
    DOES_NOTHING(cw_server_destroy, nothing);
    DOES_NOTHING(cw_server_set_unix_offset, nothing, 1);
    REFUSES(cw_server_receive, nothing, &address, bytes, 40, 0);
    REFUSES(cw_server_receive, rig.server, nothing, bytes, 40, rig.now);
    REFUSES(cw_server_receive, rig.server, &address, nothing, 40, rig.now);
    GIVES_NOTHING(cw_server_transmit, nothing, bytes, sizeof bytes, 0, &address);
    DOES_NOTHING(cw_server_update, nothing, 0);
    GIVES_NOTHING(cw_server_next, nothing, &event);
    GIVES_NOTHING(cw_server_connection, nothing, 0);
    REFUSES(cw_server_send, nothing, 0, bytes, 8);
    REFUSES(cw_server_send, rig.server, 0, nothing, 8);
    struct cw_message *message = NULL;
    const uint32_t client_0 = 0;
    REFUSES(cw_server_create_message, nothing, 0, &message);
    GIVES(CW_ERROR_CARRIES_PAYLOADS, cw_server_create_message, rig.server, 0, &message);
    assert_null(message);
    REFUSES(cw_server_broadcast, nothing, 0, nothing, CW_SERVER_NOBODY, 0);
    REFUSES(cw_server_broadcast, rig.server, 0, nothing, CW_SERVER_NOBODY, 0);
    REFUSES(cw_server_broadcast, rig.server, 0, nothing, CW_SERVER_NOBODY, (double)NAN);
    REFUSES(cw_server_broadcast_to, nothing, 0, nothing, &client_0, 1, 0);
    REFUSES(cw_server_broadcast_to, rig.server, 0, nothing, &client_0, 1, 0);
    REFUSES(cw_server_broadcast_to, rig.server, 0, nothing, nothing, 1, 0);
    GIVES_NOTHING(cw_server_broadcast_refused, nothing, 0);
    DOES_NOTHING(cw_server_disconnect, nothing, 0, 0, NULL);
    DOES_NOTHING(cw_server_disconnect, rig.server, 0, 0, nothing);
    DOES_NOTHING(cw_server_flush_and_disconnect, nothing, 0, 0, NULL, 1.0, 0);
    DOES_NOTHING(cw_server_disconnect_all, nothing);
    GIVES_NOTHING(cw_server_client, nothing, 0, &about);
    DOES_NOTHING(cw_server_set_user, nothing, 0, &stats);
    DOES_NOTHING(cw_server_set_user, rig.server, 0, nothing);
    DOES_NOTHING(cw_server_set_user, rig.server, UINT32_MAX, &stats);
    GIVES_NOTHING(cw_server_user, nothing, 0);
    GIVES_NOTHING(cw_server_user, rig.server, UINT32_MAX);
    GIVES(CW_SERVER_NOBODY, cw_server_client_at, nothing, &address);
    GIVES(CW_SERVER_NOBODY, cw_server_client_at, rig.server, nothing);
    DOES_NOTHING(cw_server_stats, nothing, &stats);
    GIVES_NOTHING(cw_server_dropped, nothing, CW_ERROR_MALFORMED);
    assert_int_equal(cw_server_dropped(rig.server, CW_ERROR_COUNT), 0);
    assert_int_equal(cw_server_dropped(rig.server, (enum cw_error) - 1), 0);
    DOES_NOTHING(cw_server_stats, rig.server, nothing);

    /* The next calls need a client, and something to be taken. */
    struct cw_client *client = rig_client(&rig, 1);
    for (int i = 0; i < 4; i++)
        rig_tick(&rig, client, &address);
    GIVES_NOTHING(cw_server_next, rig.server, nothing);
    GIVES_NOTHING(cw_server_client, rig.server, 0, nothing);
    rig.now += 1;
    cw_server_update(rig.server, rig.now);
    GIVES_NOTHING(cw_server_transmit, rig.server, bytes, sizeof bytes, rig.now, nothing);
    GIVES_NOTHING(cw_server_transmit, rig.server, nothing, sizeof bytes, rig.now, &address);
    assert_true(cw_server_transmit(rig.server, bytes, sizeof bytes, rig.now, &address) > 0);
    assert_true(cw_server_next(rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_CONNECTED);
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void test_native(void **state)
{
    (void)state;
    struct cw_host_config config = cw_host_config_default();
    struct cw_host *host = NULL;
    struct cw_server_event event;
    config.server.private_key[0] = 1;
    config.payloads = true;
    config.trusted_proxy_count = 1;
    REFUSES(cw_host_open, "127.0.0.1:0", &config, &host);
    config.trusted_proxy_count = 0;
    REFUSES(cw_host_open, "127.0.0.1:0", &config, nothing);
    REFUSES(cw_host_open, nothing, &config, &host);
    REFUSES(cw_host_open, "127.0.0.1:0", nothing, &host);
    assert_null(host);
    DOES_NOTHING(cw_host_close, nothing);
    GIVES_NOTHING(cw_host_server, nothing);
    GIVES_NOTHING(cw_host_address, nothing);
    GIVES_NOTHING(cw_host_next, nothing, 0, &event);
    DOES_NOTHING(cw_host_update, nothing);
    assert_int_equal(cw_host_open("127.0.0.1:0", &config, &host), CW_OK);
    GIVES_NOTHING(cw_host_next, host, cw_clock_now() + 60, nothing);
    /* NaN and the infinities count as times that have come. */
    GIVES_NOTHING(cw_host_next, host, (double)NAN, &event);
    GIVES_NOTHING(cw_host_next, host, (double)-INFINITY, &event);
    GIVES_NOTHING(cw_host_next, host, (double)INFINITY, &event);
    cw_host_close(host);

    struct cw_client_host_config client_config = cw_client_host_config_default();
    client_config.payloads = true;
    struct cw_client_host *client = NULL;
    struct cw_client_event client_event;
    REFUSES(cw_client_host_open, nothing, &client);
    REFUSES(cw_client_host_open, &client_config, nothing);
    assert_null(client);
    DOES_NOTHING(cw_client_host_close, nothing);
    REFUSES(cw_client_host_connect, nothing, bytes, CW_TOKEN_SIZE);
    REFUSES(cw_client_host_connect_insecure, nothing, "127.0.0.1:1", 1, 1);
    GIVES_NOTHING(cw_client_host_token_file, nothing, bytes, sizeof bytes);
    GIVES_NOTHING(cw_client_host_token_file, "none", nothing, sizeof bytes);
    GIVES_NOTHING(cw_client_host_client, nothing);
    GIVES_NOTHING(cw_client_host_reconnects, nothing);
    GIVES_NOTHING(cw_client_host_next, nothing, 0, &client_event);
    DOES_NOTHING(cw_client_host_update, nothing);
    DOES_NOTHING(cw_client_host_flush_and_disconnect, nothing, 1.0);
    assert_int_equal(cw_client_host_open(&client_config, &client), CW_OK);
    REFUSES(cw_client_host_connect, client, nothing, CW_TOKEN_SIZE);
    REFUSES(cw_client_host_connect_insecure, client, nothing, 1, 1);
    DOES_NOTHING(cw_client_host_flush_and_disconnect, client, (double)NAN);
    GIVES_NOTHING(cw_client_host_next, client, cw_clock_now() + 60, nothing);
    GIVES_NOTHING(cw_client_host_next, client, (double)NAN, &client_event);
    GIVES_NOTHING(cw_client_host_next, client, (double)INFINITY, &client_event);
    cw_client_host_close(client);

    struct cw_address address;
    bool (*const no_tick)(void *, double) = NULL;
    REFUSES(cw_run, no_tick, nothing, 1);
    REFUSES(cw_resolve, "127.0.0.1", nothing);
    REFUSES(cw_resolve, nothing, &address);
    const struct cw_socket_config socket_config = cw_socket_config_default();
    struct cw_socket *socket = NULL;
    struct cw_socket_stats stats;
    struct cw_socket_datagram datagram = {.data = bytes, .size = 1, .capacity = sizeof bytes};
    REFUSES(cw_socket_open, &socket_config, nothing);
    REFUSES(cw_socket_open, nothing, &socket);
    assert_null(socket);
    DOES_NOTHING(cw_socket_close, nothing);
    DOES_NOTHING(cw_socket_address, nothing, &address);
    REFUSES(cw_socket_source, nothing, &address);
    REFUSES(cw_socket_source, &address, nothing);
    GIVES(-1, cw_socket_handle, nothing);
    REFUSES(cw_socket_send, nothing, &address, bytes, 1);
    GIVES_NOTHING(cw_socket_receive, nothing, bytes, sizeof bytes, &address);
    GIVES_NOTHING(cw_socket_send_batch, nothing, &datagram, 1);
    GIVES_NOTHING(cw_socket_receive_batch, nothing, &datagram, 1);
    GIVES_NOTHING(cw_socket_wait, nothing, 60);
    DOES_NOTHING(cw_socket_stats, nothing, &stats);
    assert_int_equal(cw_socket_open(&socket_config, &socket), CW_OK);
    DOES_NOTHING(cw_socket_address, socket, nothing);
    REFUSES(cw_socket_send, socket, nothing, bytes, 1);
    REFUSES(cw_socket_send, socket, &address, nothing, 1);
    GIVES_NOTHING(cw_socket_receive, socket, bytes, sizeof bytes, nothing);
    GIVES_NOTHING(cw_socket_receive, socket, nothing, sizeof bytes, &address);
    GIVES_NOTHING(cw_socket_send_batch, socket, nothing, 1);
    GIVES_NOTHING(cw_socket_receive_batch, socket, nothing, 1);
    GIVES_NOTHING(cw_socket_wait, socket, (double)NAN);
    DOES_NOTHING(cw_socket_stats, socket, nothing);
    cw_socket_close(socket);
}

/* The functions that take no pointer, and those inside a message's function, whose stream and
   values are always there. */
static const char *const without_pointers =
    " cw_version cw_connection_config_yojimbo cw_error_string cw_error_field cw_clock_now "
    "cw_clock_unix "
    "cw_clock_next_tick cw_lerp cw_lerp_angle cw_hermite "
    "cw_client_state_string"
    " cw_secure_body_offset cw_crypto_init"
    " cw_bits_load_end cw_stream_far_uint cw_stream_far_uint_64"
    " cw_stream_far_bytes cw_stream_far_string cw_stream_far_compressed_float"
    " cw_stream_far_relative cw_stream_far_relative_sequence ";

/* This test comes after all others, which call the functions. */
static void test_no_function_was_left_out(void **state)
{
    (void)state;
    const size_t count = check_headers(CAUSEWAY_CORE "/include/causeway", without_pointers) +
                         check_headers(CAUSEWAY_CORE "/include/causeway/native", without_pointers);
    print_message("%zu functions\n", count);
    assert_true(count > 170);
}

/* A conversation in which every call also comes with a time of NaN or infinity goes on as if it had
   not. */
static void test_times_that_are_none_change_nothing(void **state)
{
    (void)state;
    struct message_rig messages;
    message_rig_start(&messages, 1);
    struct rig *rig = &messages.rig;
    const struct cw_address at = rig_client_address(0);
    struct cw_client *client = message_rig_client(&messages, 1, &messages.connection);
    struct cw_address to;
    uint32_t up = 0, down = 0;
    for (uint32_t tick = 0; tick < 60; tick++) {
        for (size_t i = 0; i < 3; i++) {
            const double no = no_times[i];
            assert_int_equal(cw_client_connect(client, bytes, CW_TOKEN_SIZE, no),
                             CW_ERROR_INVALID_ARGUMENT);
            cw_client_update(client, no);
            assert_int_equal(cw_client_transmit(client, bytes, sizeof bytes, no, NULL), 0);
            assert_int_equal(cw_client_receive(client, NULL, bytes, 40, no),
                             CW_ERROR_INVALID_ARGUMENT);
            cw_server_update(rig->server, no);
            cw_server_set_unix_offset(rig->server, no);
            assert_int_equal(cw_server_transmit(rig->server, bytes, sizeof bytes, no, &to), 0);
            assert_int_equal(cw_server_receive(rig->server, &at, bytes, 40, no),
                             CW_ERROR_INVALID_ARGUMENT);
        }
        rig_tick(rig, client, &at);
        if (tick > 10 && tick < 50) {
            send_note(cw_client_connection(client), RELIABLE, tick, 0, rig->now);
            send_note(cw_server_connection(rig->server, 0), RELIABLE, tick, 0, rig->now);
        }
        struct cw_server_event event;
        struct cw_client_event own;
        while (cw_server_next(rig->server, &event))
            if (event.type == CW_SERVER_EVENT_MESSAGE)
                up += take_note(event.message).number > 0;
        while (cw_client_next(client, &own))
            if (own.type == CW_CLIENT_EVENT_MESSAGE)
                down += take_note(own.message).number > 0;
    }
    assert_int_equal(up, 39);
    assert_int_equal(down, 39);
    assert_int_equal(cw_client_state(client), CW_CLIENT_CONNECTED);
    cw_client_destroy(client);
    message_rig_stop(&messages);
}

static void test_an_endpoint_and_a_connection_take_no_such_times(void **state)
{
    (void)state;
    struct cw_schema *schema = make_schema(&note_type);
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *connection;
    struct cw_endpoint *endpoint;
    struct cw_simulator *simulator;
    struct cw_message *message;
    const struct cw_simulator_config simulator_config = cw_simulator_config_default();
    assert_int_equal(cw_connection_create(&config, &connection), CW_OK);
    assert_int_equal(cw_endpoint_create(&config.endpoint, &endpoint), CW_OK);
    assert_int_equal(cw_simulator_create(&simulator_config, &simulator), CW_OK);
    assert_int_equal(cw_connection_create_message(connection, 0, &message), CW_OK);
    uint8_t *payload;
    assert_int_equal(cw_endpoint_begin(endpoint, 8, bytes, sizeof bytes, &payload), CW_OK);
    assert_int_equal(cw_simulator_receive(simulator, bytes, 8, 1), CW_OK);
    cw_connection_update(connection, 1);
    for (size_t i = 0; i < 3; i++) {
        const double no = no_times[i];
        cw_connection_update(connection, no);
        assert_int_equal(cw_connection_send(connection, 0, message, no), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_connection_send_value(connection, 0, 0, message->data, no),
                         CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_connection_receive(connection, bytes, 8, no),
                         CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_connection_transmit(connection, bytes, sizeof bytes, no), 0);
        cw_endpoint_update(endpoint, no);
        assert_int_equal(cw_endpoint_commit(endpoint, 8, no, NULL), 0);
        assert_int_equal(cw_endpoint_receive(endpoint, bytes, 8, no), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_endpoint_transmit(endpoint, bytes, sizeof bytes, no), 0);
        assert_int_equal(cw_simulator_receive(simulator, bytes, 8, no), CW_ERROR_INVALID_ARGUMENT);
        assert_int_equal(cw_simulator_transmit(simulator, bytes, sizeof bytes, no), 0);
    }
    assert_int_equal(cw_connection_send(connection, 0, message, 1), CW_OK);
    assert_true(cw_connection_transmit(connection, bytes, sizeof bytes, 1) > 0);
    assert_true(cw_endpoint_commit(endpoint, 8, 1, NULL) > 0);
    assert_int_equal(cw_simulator_transmit(simulator, bytes, sizeof bytes, 1), 8);
    cw_simulator_destroy(simulator);
    cw_endpoint_destroy(endpoint);
    cw_connection_destroy(connection);
    cw_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_endpoint),
        cmocka_unit_test(test_simulator),
        cmocka_unit_test(test_schema_and_messages),
        cmocka_unit_test(test_connection),
        cmocka_unit_test(test_interpolation),
        cmocka_unit_test(test_clock_sync),
        cmocka_unit_test(test_input),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_prediction),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_crypto_and_tokens),
        cmocka_unit_test(test_secure_packets),
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_native),
        cmocka_unit_test(test_no_function_was_left_out),
        cmocka_unit_test(test_times_that_are_none_change_nothing),
        cmocka_unit_test(test_an_endpoint_and_a_connection_take_no_such_times),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
