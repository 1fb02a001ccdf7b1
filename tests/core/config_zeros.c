/* Tests that 0 in a config is a real zero: a field that is 0 is refused, or means none. A field
   that is too large is refused too, and the error names the field. Every field of every config
   stands here once. */
#include "causeway/causeway.h"
#include "causeway/native/socket.h"

#include "unit.h"

#include <math.h>
#include <string.h>

#define STATE_FIELDS(FIELD) FIELD(x, CW_FLOAT)
CW_MESSAGE(state, STATE_FIELDS)

static struct cw_schema *schema;
static const struct cw_address address = {CW_ADDRESS_IPV4, 40000, {127, 0, 0, 1}};

/* Fails unless the error is the expected one; CW_ERROR_CONFIG stands for one that names the field.
   The text of a field may be "channels[0].kind". */
static void says(enum cw_error error, enum cw_error expected, const char *text, const char *value)
{
    char name[CW_ERROR_FIELD_SIZE];
    const char *const dot = strrchr(text, '.');
    if (cw_error_field(error, name)
            ? expected != CW_ERROR_CONFIG || strcmp(name, dot ? dot + 1 : text) != 0
            : error != expected)
        fail_msg("%s %s: %s", text, value, cw_error_string(error));
}

static void extreme_uint(void *value)
{
    *(uint32_t *)value = UINT32_MAX - 1; /* UINT32_MAX is CW_AUTO */
}

static void extreme_double(void *value)
{
    *(double *)value = NAN;
}

static void no_extreme(void *value)
{
    (void)value;
}

#define EXTREME(value)                                                                             \
    _Generic((value), uint32_t                                                                     \
             : extreme_uint, double                                                                \
             : extreme_double, default                                                             \
             : no_extreme)(&(value))

/* Checks that create returns the expected error, and that memory agrees. A config belongs to one
   object, or to the two ends of one thing. */
#define CREATES(object, config, text, value, expected)                                             \
    do {                                                                                           \
        struct cw_##object *made = NULL;                                                           \
        const enum cw_error error = cw_##object##_create(&(config), &made);                        \
        says(error, expected, text, value);                                                        \
        if ((cw_##object##_memory(&(config)) > 0) != (error == CW_OK))                             \
            fail_msg(#object "." text " " value ": memory says another thing");                    \
        if (error == CW_OK)                                                                        \
            cw_##object##_destroy(made);                                                           \
    } while (0)
/* Tries a config with one field of 0. */
#define ZERO_ONLY(room, object, good, field, expected)                                             \
    do {                                                                                           \
        struct cw_##room##_config config = (good);                                                 \
        memset(&config.field, 0, sizeof config.field);                                             \
        CREATES(object, config, #field, "0", expected);                                            \
    } while (0)
/* Tries a config with one field of 0 and then, if the field is a number, one with a value far above
   what is allowed. */
#define ZERO_OF(room, object, good, field, expected)                                               \
    do {                                                                                           \
        ZERO_ONLY(room, object, good, field, expected);                                            \
        struct cw_##room##_config extreme = (good);                                                \
        EXTREME(extreme.field);                                                                    \
        if (memcmp(&extreme.field, &(good).field, sizeof extreme.field) != 0)                      \
            CREATES(object, extreme, #field, "too much", CW_ERROR_CONFIG);                         \
    } while (0)
#define ZERO(room, good, field, expected) ZERO_OF(room, room, good, field, expected)
/* Tries a field that takes any number. In the lists below, the comment behind a field says what 0
   means. */
#define ANY(room, good, field) ZERO_ONLY(room, room, good, field, CW_OK)
#define ZERO_BOTH(room, one, other, good, field, expected)                                         \
    do {                                                                                           \
        ZERO_OF(room, room##_##one, good, field, expected);                                        \
        ZERO_OF(room, room##_##other, good, field, expected);                                      \
    } while (0)
#define ZERO_INPUT(good, field, expected) ZERO_BOTH(input, sender, receiver, good, field, expected)
#define ZERO_SNAPSHOT(good, field, expected)                                                       \
    ZERO_BOTH(snapshot, server, client, good, field, expected)

static void endpoint(void **state)
{
    (void)state;
    const struct cw_endpoint_config good = cw_endpoint_config_default();
    ZERO(endpoint, good, allocator, CW_OK); /* malloc */
    ZERO(endpoint, good, max_packet_size, CW_ERROR_CONFIG);
    ZERO(endpoint, good, fragment_size, CW_ERROR_CONFIG);
    ZERO(endpoint, good, max_send_size, CW_ERROR_CONFIG);
    ZERO(endpoint, good, fragment_above, CW_ERROR_CONFIG);
    ZERO(endpoint, good, sent_window, CW_ERROR_CONFIG);
    ZERO(endpoint, good, received_window, CW_ERROR_CONFIG);
    ZERO(endpoint, good, max_reassemblies, CW_ERROR_CONFIG);
    ZERO(endpoint, good, rtt_smoothing, CW_ERROR_CONFIG);
    ZERO(endpoint, good, min_loss_timeout_seconds, CW_OK); /* none */
}

static void connection(void **state)
{
    (void)state;
    const struct cw_connection_config good = cw_connection_config_default(schema);
    ZERO(connection, good, allocator, CW_OK); /* malloc */
    ZERO(connection, good, schema, CW_ERROR_CONFIG);
    ZERO(connection, good, channel_count, CW_ERROR_CONFIG);
    ZERO(connection, good, max_messages, CW_ERROR_CONFIG);
    ZERO(connection, good, max_received_messages, CW_ERROR_CONFIG);
    ZERO(connection, good, max_receipts, CW_OK); /* none */
    ZERO(connection, good, max_packets_per_update, CW_ERROR_CONFIG);
    ZERO(connection, good, idle_interval_seconds, CW_OK); /* never idle */
    ZERO(connection, good, congestion.mode, CW_OK);       /* no congestion control */
    ZERO(connection, good, congestion.target_seconds, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.rtt_threshold_seconds, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.good_packets_per_second, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.bad_packets_per_second, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.penalty_seconds, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.min_penalty_seconds, CW_OK); /* none */
    ZERO(connection, good, congestion.max_penalty_seconds, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.good_period_seconds, CW_ERROR_CONFIG);
    ZERO(connection, good, congestion.burst_seconds, CW_OK); /* none */
}

static void channel(void **state)
{
    (void)state;
    struct cw_connection_config good = cw_connection_config_default(schema);
    good.channels[0].blocks = true;
    ZERO(connection, good, channels[0].kind, CW_OK); /* the first kind */
    ZERO(connection, good, channels[0].max_messages_per_packet, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].receive_queue_size, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].blocks, CW_OK); /* none */
    ZERO(connection, good, channels[0].max_block_size, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].block_fragment_size, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].send_queue_size, CW_ERROR_CONFIG);
    ZERO_ONLY(connection, connection, good, channels[0].packet_budget, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].weight, CW_ERROR_CONFIG);
    ZERO(connection, good, channels[0].redundancy, CW_OK); /* none */
    ZERO(connection, good, channels[0].repair, CW_OK);     /* none */
    ANY(connection, good, channels[0].redundancy_budget);  /* none */
}

static void client(void **state)
{
    (void)state;
    const struct cw_connection_config messages = cw_connection_config_default(schema);
    struct cw_client_config good = cw_client_config_default();
    good.connection = &messages;
    ZERO(client, good, allocator, CW_OK);   /* malloc */
    ZERO(client, good, connection, CW_OK);  /* none */
    ZERO(client, good, fingerprint, CW_OK); /* none */
    ZERO(client, good, resend_seconds, CW_ERROR_CONFIG);
    ZERO(client, good, keep_alive_seconds, CW_ERROR_CONFIG);
    ZERO(client, good, disconnect_packets, CW_ERROR_CONFIG);
}

static void server(void **state)
{
    (void)state;
    const struct cw_connection_config messages = cw_connection_config_default(schema);
    struct cw_server_config good = cw_server_config_default();
    good.connection = &messages;
    good.addresses = &address;
    good.address_count = 1;
    good.private_key[0] = 1;
    good.unix_offset_seconds = 1;
    ZERO(server, good, allocator, CW_OK);   /* malloc */
    ZERO(server, good, random, CW_OK);      /* the operating system's */
    ZERO(server, good, protocol_id, CW_OK); /* a number like any other */
    ZERO(server, good, private_key, CW_ERROR_KEY);
    ZERO(server, good, addresses, CW_ERROR_CONFIG);
    ZERO(server, good, address_count, CW_ERROR_CONFIG);
    ZERO(server, good, max_clients, CW_ERROR_CONFIG);
    ZERO(server, good, connection, CW_OK);          /* none */
    ZERO(server, good, fingerprint, CW_OK);         /* none */
    ZERO(server, good, unix_offset_seconds, CW_OK); /* none: now is the Unix time */
    ANY(server, good, max_token_life_seconds);      /* off */
    ZERO(server, good, max_pending, CW_ERROR_CONFIG);
    ZERO(server, good, token_history, CW_ERROR_CONFIG);
    ZERO(server, good, requests_per_second, CW_ERROR_CONFIG);
    ZERO(server, good, client_datagrams_per_second, CW_ERROR_CONFIG);
    ZERO(server, good, keep_alive_seconds, CW_ERROR_CONFIG);
    ZERO(server, good, disconnect_packets, CW_ERROR_CONFIG);
    ZERO(server, good, max_broadcasts, CW_ERROR_CONFIG);
    ZERO(server, good, takeover, CW_OK); /* off */
    ZERO(server, good, insecure, CW_OK); /* off */
    ZERO(server, good, log, CW_OK);      /* none */
}

static void simulator(void **state)
{
    (void)state;
    struct cw_simulator_config good = cw_simulator_config_default();
    ZERO(simulator, good, allocator, CW_OK); /* malloc */
    ZERO(simulator, good, seed, CW_OK);      /* a number like any other */
    ZERO(simulator, good, max_datagram_size, CW_ERROR_CONFIG);
    ZERO(simulator, good, max_datagrams, CW_ERROR_CONFIG);
    ZERO(simulator, good, path, CW_OK); /* perfect, as none of its numbers does anything */
    ZERO(simulator, good, path.latency_seconds, CW_OK);
    ZERO(simulator, good, path.jitter_seconds, CW_OK);
    ZERO(simulator, good, path.loss, CW_OK);
    ZERO(simulator, good, path.burst_start, CW_OK);
    ZERO(simulator, good, path.burst_end, CW_OK);
    ZERO(simulator, good, path.burst_loss, CW_OK);
    ZERO(simulator, good, path.duplicate, CW_OK);
    ZERO(simulator, good, path.reorder, CW_OK);
    ZERO(simulator, good, path.reorder_delay_seconds, CW_OK);
    ZERO(simulator, good, path.bytes_per_second, CW_OK);
    ZERO(simulator, good, path.queue_bytes, CW_OK);
}

static void schemas_and_messages(void **state)
{
    (void)state;
    const struct cw_schema_config good = {.types = &state_type, .count = 1};
    ZERO(schema, good, types, CW_ERROR_SCHEMA_TYPES);
    ZERO_ONLY(schema, schema, good, count, CW_ERROR_SCHEMA_TYPES);
    ZERO(schema, good, allocator, CW_OK); /* malloc */

    struct cw_message_pool_config pool = cw_message_pool_config_default();
    pool.schema = schema;
    ZERO(message_pool, pool, schema, CW_ERROR_CONFIG);
    ZERO(message_pool, pool, capacity, CW_ERROR_CONFIG);
    ZERO(message_pool, pool, allocator, CW_OK); /* malloc */
}

static void game(void **state)
{
    (void)state;
    const struct cw_interpolation_config views = cw_interpolation_config_default();
    ZERO(interpolation, views, allocator, CW_OK); /* malloc */
    ZERO(interpolation, views, ticks_per_second, CW_ERROR_CONFIG);
    ZERO(interpolation, views, entry_size, CW_OK); /* none */
    ZERO(interpolation, views, max_entries, CW_ERROR_CONFIG);
    ZERO(interpolation, views, min_delay_seconds, CW_OK);         /* none */
    ZERO(interpolation, views, max_delay_seconds, CW_OK);         /* none */
    ZERO(interpolation, views, max_extrapolation_seconds, CW_OK); /* none */

    struct cw_history_config history = cw_history_config_default();
    history.state_size = 4;
    ZERO(history, history, allocator, CW_OK); /* malloc */
    ZERO(history, history, state_size, CW_ERROR_CONFIG);
    ZERO(history, history, max_entities, CW_ERROR_CONFIG);
    ZERO(history, history, max_ticks, CW_ERROR_CONFIG);

    const struct cw_clock_sync_config times = cw_clock_sync_config_default();
    ZERO(clock_sync, times, allocator, CW_OK); /* malloc */
    ZERO(clock_sync, times, ticks_per_second, CW_ERROR_CONFIG);
    ZERO(clock_sync, times, slew, CW_ERROR_CONFIG);
    ZERO(clock_sync, times, jump_seconds, CW_ERROR_CONFIG);
    ZERO(clock_sync, times, max_lead_seconds, CW_OK);     /* none */
    ZERO(clock_sync, times, max_catch_up_seconds, CW_OK); /* none */

    struct cw_prediction_config prediction = cw_prediction_config_default(schema);
    prediction.state_type = 0;
    ZERO(prediction, prediction, allocator, CW_OK); /* malloc */
    ZERO(prediction, prediction, schema, CW_ERROR_CONFIG);
    ZERO(prediction, prediction, input_type, CW_OK); /* the first type */
    ZERO(prediction, prediction, state_type, CW_OK); /* the first type */
    ZERO(prediction, prediction, max_ticks, CW_ERROR_CONFIG);
    ZERO(prediction, prediction, tolerances, CW_OK);    /* none */
    ZERO(prediction, prediction, smooth_limits, CW_OK); /* none */
    ZERO(prediction, prediction, smooth_seconds, CW_ERROR_CONFIG);
    ZERO(prediction, prediction, stress, CW_OK); /* off */
}

static void inputs_and_snapshots(void **state)
{
    (void)state;
    const struct cw_input_config inputs = cw_input_config_default(schema);
    ZERO_INPUT(inputs, allocator, CW_OK); /* malloc */
    ZERO_INPUT(inputs, schema, CW_ERROR_CONFIG);
    ZERO_INPUT(inputs, type, CW_OK); /* the first type */
    ZERO_INPUT(inputs, copies, CW_ERROR_CONFIG);
    ZERO_INPUT(inputs, max_early_ticks, CW_ERROR_CONFIG);
    ZERO_ONLY(input, input_receiver, inputs, max_repeats, CW_OK); /* none */

    const struct cw_snapshot_config snapshots = cw_snapshot_config_default(schema);
    ZERO_SNAPSHOT(snapshots, allocator, CW_OK); /* malloc */
    ZERO_SNAPSHOT(snapshots, schema, CW_ERROR_CONFIG);
    ZERO_SNAPSHOT(snapshots, max_entities, CW_ERROR_CONFIG);
    ZERO_SNAPSHOT(snapshots, window, CW_ERROR_CONFIG);
    ZERO_SNAPSHOT(snapshots, coding, CW_OK); /* the first coding */
    ZERO_SNAPSHOT(snapshots, max_clients, CW_ERROR_CONFIG);
    ZERO_SNAPSHOT(snapshots, max_bytes, CW_ERROR_CONFIG);
}

/* A socket opens with the smallest buffers, since the system has a minimum of its own. */
static void a_socket_has_the_smallest_buffers(void **state)
{
    (void)state;
    struct cw_socket_config config = cw_socket_config_default();
    config.address = (struct cw_address){CW_ADDRESS_IPV4, 0, {127, 0, 0, 1}};
    config.send_buffer_size = config.receive_buffer_size = 0;
    struct cw_socket *socket;
    struct cw_socket_stats stats;
    assert_int_equal(cw_socket_open(&config, &socket), CW_OK);
    cw_socket_stats(socket, &stats);
    assert_in_range(stats.send_buffer_size, 1, 16384);
    assert_in_range(stats.receive_buffer_size, 1, 16384);
    cw_socket_close(socket);
}

static void a_fingerprint_of_0_compares_none(void **state)
{
    (void)state;
    const struct cw_connection_config messages = cw_connection_config_default(schema);
    const uint8_t key[CW_KEY_BYTES] = {1};
    struct cw_client_config config = cw_client_config_default();
    struct cw_token_grant grant = cw_token_grant_default();
    uint8_t token[CW_TOKEN_SIZE];
    grant.addresses = &address;
    grant.address_count = 1;
    grant.fingerprint = cw_connection_fingerprint(&messages) + 1;
    assert_int_equal(cw_token_generate(&grant, key, token), CW_OK);
    config.connection = &messages;
    for (int none = 0; none < 2; none++) {
        struct cw_client *made;
        config.fingerprint = none ? 0 : CW_FINGERPRINT_AUTO;
        assert_int_equal(cw_client_create(&config, &made), CW_OK);
        assert_int_equal(cw_client_connect(made, token, sizeof token, 0),
                         none ? CW_OK : CW_ERROR_SCHEMA);
        cw_client_destroy(made);
    }
}

/* CW_AUTO stands for the value that the other fields allow. */
static void auto_follows_other_fields(void **state)
{
    (void)state;
    struct cw_endpoint_config packets = cw_endpoint_config_default();
    packets.max_packet_size = packets.fragment_above = 700;
    const size_t longest = cw_endpoint_config_max_datagram_size(&packets);
    packets.max_send_size = 700;
    assert_int_equal(cw_endpoint_config_max_datagram_size(&packets), longest);
    packets.max_send_size = 699;
    assert_int_equal(cw_endpoint_config_max_datagram_size(&packets), longest - 1);

    struct cw_connection_config messages = cw_connection_config_default(schema);
    messages.max_messages = 100;
    const size_t memory = cw_connection_memory(&messages);
    messages.max_received_messages = 50;
    assert_int_equal(cw_connection_memory(&messages), memory);
    messages.max_received_messages = 49;
    assert_true(cw_connection_memory(&messages) < memory);
}

static int setup(void **state)
{
    (void)state;
    const struct cw_schema_config config = {.types = &state_type, .count = 1};
    return cw_schema_create(&config, &schema) != CW_OK;
}

static int teardown(void **state)
{
    (void)state;
    cw_schema_destroy(schema);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoint),
        cmocka_unit_test(connection),
        cmocka_unit_test(channel),
        cmocka_unit_test(client),
        cmocka_unit_test(server),
        cmocka_unit_test(simulator),
        cmocka_unit_test(schemas_and_messages),
        cmocka_unit_test(game),
        cmocka_unit_test(inputs_and_snapshots),
        cmocka_unit_test(a_socket_has_the_smallest_buffers),
        cmocka_unit_test(a_fingerprint_of_0_compares_none),
        cmocka_unit_test(auto_follows_other_fields),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
