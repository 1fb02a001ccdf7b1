/* Tests of connections: making them, sending and its errors, rounds of packets, reset. */
#include "fixture.h"

#include "config_error.h"
#include "connections.h"
#include "counted.h"

#include "causeway/schema.h"

#include <math.h>

TEST(test_the_defaults_are_as_told)
{
    struct cw_schema *schema = notes_schema();
    const struct cw_connection_config config = cw_connection_config_default(schema);
    assert_ptr_equal(config.schema, schema);
    assert_int_equal(config.channel_count, 2);
    assert_int_equal(config.channels[0].kind, CW_CHANNEL_RELIABLE_ORDERED);
    for (int i = 1; i < CW_MAX_CHANNELS; i++)
        assert_int_equal(config.channels[i].kind, CW_CHANNEL_UNRELIABLE);
    assert_int_equal(config.endpoint.max_packet_size, 8192);
    assert_int_equal(config.endpoint.fragment_size, 1024);
    assert_int_equal(config.endpoint.fragment_above, 1064);
    assert_int_equal(config.endpoint.max_reassemblies, 3);
    assert_int_equal(config.max_messages, 256);
    assert_int_equal(config.max_received_messages, CW_AUTO);
    assert_int_equal(config.max_packets_per_update, 128);
    assert_true(unit_same(config.idle_interval_seconds, 0.5));
}

static void use(struct cw_connection *a, struct cw_connection *b)
{
    for (uint32_t i = 0; i < 300; i++) {
        const double now = i * TICK;
        send_note(a, 0, i, 20, now);
        send_note(a, 1, i, 20, now);
        round_of(a, b, now);
        drain(b);
        round_of(b, a, now);
    }
}

TEST(test_all_memory_is_one_allocation_of_the_size_that_is_told)
{
    for (int blocks = 0; blocks < 2; blocks++) {
        struct counted memory = {0};
        struct cw_connection_config used = notes_config();
        used.channels[0].blocks = used.channels[1].blocks = blocks;
        used.allocator = counted_allocator(&memory);
        struct cw_connection *a = connection_with(&used), *b = connection_with(&used);
        use(a, b);
        cw_connection_reset(a);
        assert_int_equal(memory.allocations, 2);
        fixture_release(NULL);
        assert_int_equal(memory.releases, 2);
    }
    cw_connection_destroy(NULL);
}

TEST(test_a_default_connection_of_64_byte_messages_takes_at_most_136_kb)
{
    static const struct cw_field field = {
        .name = "bytes", .kind = CW_KIND_BYTES, .max = 60}; /* with 4 bytes for their count */
    const struct cw_message_type type = {.name = "state", .fields = &field, .field_count = 1};
    const struct cw_schema_config schema_config = {.types = &type, .count = 1};
    struct cw_schema *states = schema_with(&schema_config);
    assert_int_equal(cw_schema_message_size(states), 64);
    const struct cw_connection_config config = cw_connection_config_default(states);
    print_message("%zu bytes\n", cw_connection_memory(&config));
    assert_true(cw_connection_memory(&config) <= 136 * 1024);
}

static void check_refused(const struct cw_connection_config *config, const char *field)
{
    struct cw_connection *connection = NULL;
    assert_error_names(cw_connection_create(config, &connection), field);
    assert_null(connection);
    assert_int_equal(cw_connection_memory(config), 0);
}

TEST(test_a_config_that_cannot_work_is_refused)
{
    const struct cw_connection_config good = notes_config();
    struct cw_connection_config config = good;
    config.schema = NULL;
    check_refused(&config, "schema");
#define REFUSED(member, value)                                                                     \
    config = good;                                                                                 \
    config.member = (value);                                                                       \
    check_refused(&config, #member)
    REFUSED(channel_count, 0);
    REFUSED(channel_count, CW_MAX_CHANNELS + 1);
    REFUSED(max_messages, 0);
    REFUSED(max_messages, 32769);
    REFUSED(max_received_messages, 0);
    REFUSED(max_received_messages, 32769);
    REFUSED(max_packets_per_update, 0);
    REFUSED(max_packets_per_update, 257);
    REFUSED(idle_interval_seconds, -0.1);
    REFUSED(idle_interval_seconds, 10.1);
    REFUSED(idle_interval_seconds, (double)NAN);
    REFUSED(endpoint.sent_window, 100);
    REFUSED(channels[1].weight, 0);
    REFUSED(channels[0].send_queue_size, 3);
    config = good;
    config.channels[0].blocks = true;
    config.channels[0].block_fragment_size = config.endpoint.max_packet_size - 15;
    check_refused(&config, "block_fragment_size");
    /* The config of a channel that is not used may have any values. */
    config = good;
    config.channels[2].weight = 0;
    assert_true(cw_connection_memory(&config) > 0);
}

TEST(test_messages_come_from_a_pool_of_a_fixed_size)
{
    struct cw_connection_config config = notes_config();
    config.max_messages = 2;
    struct cw_connection *connection = connection_with(&config);
    struct cw_message *first = make_note(connection, NOTE, 1, 2), *second = NULL, *third = NULL;
    assert_int_equal(cw_connection_create_message(connection, 3, &second), CW_ERROR_MESSAGE_TYPE);
    assert_null(second);
    second = make_note(connection, PARCEL, 1, 2);
    assert_int_equal(stats_of(connection).messages_in_use, 2);
    assert_int_equal(cw_connection_create_message(connection, NOTE, &third), CW_ERROR_POOL_EMPTY);
    assert_null(third);
    assert_int_equal(cw_connection_create_message(connection, 3, &third), CW_ERROR_MESSAGE_TYPE);
    cw_message_release(first);
    assert_int_equal(cw_connection_create_message(connection, NOTE, &first), CW_OK);
    const struct note zero = {0};
    assert_memory_equal(first->data, &zero, sizeof zero);
    cw_message_release(first);
    cw_message_release(second);
    assert_int_equal(stats_of(connection).messages_in_use, 0);
}

/* Sends a message that must be refused; nothing may have changed, and it must still be the
   caller's. */
static void check_send(struct cw_connection *connection, uint32_t channel,
                       struct cw_message *message, enum cw_error error)
{
    struct cw_channel_stats before[2], after[2];
    const struct cw_message copy = *message;
    for (uint32_t i = 0; i < 2; i++)
        before[i] = channel_of(connection, i);
    assert_int_equal(cw_connection_send(connection, channel, message, 0), error);
    for (uint32_t i = 0; i < 2; i++) {
        after[i] = channel_of(connection, i);
        assert_memory_equal(&before[i], &after[i], sizeof before[i]);
    }
    assert_int_equal(message->references, 1);
    assert_ptr_equal(message->block, copy.block);
    assert_int_equal(message->block_size, copy.block_size);
    const int released = parcels_released + (copy.block != NULL);
    cw_message_release(message);
    assert_int_equal(parcels_released, released);
}

TEST(test_every_error_of_send_changes_nothing)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].packet_budget = 500;
    struct cw_connection *plain = connection_with(&config), *other = connection_with(&config);
    config.channels[0].blocks = config.channels[1].blocks = true;
    config.channels[0].max_block_size = config.channels[1].max_block_size = 3000;
    config.channels[0].block_fragment_size = 400;
    struct cw_connection *blocks = connection_with(&config);

    check_send(plain, 2, make_note(plain, NOTE, 1, 0), CW_ERROR_CHANNEL);
    check_send(plain, 0, make_note(other, NOTE, 1, 0), CW_ERROR_OTHER_CONNECTION);
    assert_int_equal(cw_connection_send(plain, 0, NULL, 0), CW_ERROR_INVALID_ARGUMENT);
    check_send(plain, 0, make_note(plain, NOTE, 1, MAX_NOTE_PADDING + 1), CW_ERROR_MESSAGE_VALUE);
    check_send(plain, 1, make_note(plain, SMALL_NOTE, 2, 0), CW_ERROR_MESSAGE_VALUE);
    check_send(plain, 0, make_note(plain, NOTE, 1, 500), CW_ERROR_MESSAGE_TOO_LARGE);
    check_send(plain, 1, make_note(plain, NOTE, 1, 1064), CW_ERROR_MESSAGE_TOO_LARGE);
    for (uint32_t channel = 0; channel < 2; channel++) {
        check_send(plain, channel, make_parcel(plain, 1, 10), CW_ERROR_BLOCK_NOT_ALLOWED);
        check_send(blocks, channel, make_note(blocks, PARCEL, 1, 0), CW_ERROR_BLOCK_MISSING);
        struct cw_message *note = make_note(blocks, NOTE, 1, 0);
        cw_message_attach(note, malloc(1), 1, release_parcel, NULL);
        check_send(blocks, channel, note, CW_ERROR_BLOCK_NOT_ALLOWED);
        check_send(blocks, channel, make_parcel(blocks, 1, 3001), CW_ERROR_BLOCK_TOO_LARGE);
        struct cw_message *empty = make_parcel(blocks, 1, 1);
        empty->block_size = 0;
        check_send(blocks, channel, empty, CW_ERROR_BLOCK_MISSING);
    }
    check_send(blocks, 1, make_parcel(blocks, 1, 1064), CW_ERROR_BLOCK_TOO_LARGE);
    struct cw_message *long_body = make_parcel(blocks, 1, 3000);
    ((struct note *)long_body->data)->padding = 100;
    check_send(blocks, 0, long_body, CW_ERROR_MESSAGE_TOO_LARGE);
}

TEST(test_a_value_is_sent_as_a_copy_or_nothing_is_left_of_it)
{
    struct cw_connection_config config = notes_config();
    config.max_messages = 1;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    struct note note = {7, 20};
    assert_int_equal(cw_connection_send_value(a, 2, NOTE, &note, 0), CW_ERROR_CHANNEL);
    assert_int_equal(cw_connection_send_value(a, 0, 99, &note, 0), CW_ERROR_MESSAGE_TYPE);
    assert_int_equal(cw_connection_send_value(a, 0, PARCEL, &note, 0), CW_ERROR_BLOCK_MISSING);
    assert_int_equal(cw_connection_send_value(a, 0, NOTE, &(struct note){7, UINT32_MAX}, 0),
                     CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(cw_connection_send_value(a, 0, NOTE, &note, 0), CW_OK);
    note.number = 8; /* the change comes too late */
    assert_int_equal(cw_connection_send_value(a, 0, NOTE, &note, 0), CW_ERROR_POOL_EMPTY);
    round_of(a, b, 0);
    expect_note(b, 0, 7);
    round_of(b, a, TICK);
    assert_int_equal(cw_connection_send_value(a, 0, NOTE, &note, TICK), CW_OK);
    round_of(a, b, 2 * TICK);
    expect_note(b, 0, 8);
}

TEST(test_a_full_queue_refuses_and_recovers)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].send_queue_size = config.channels[1].send_queue_size = 8;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t channel = 0; channel < 2; channel++) {
        for (uint32_t i = 0; i < 8; i++)
            send_note(a, channel, i, 0, 0);
        check_send(a, channel, make_note(a, NOTE, 8, 0), CW_ERROR_QUEUE_FULL);
    }
    round_of(a, b, 0);
    check_send(a, 0, make_note(a, NOTE, 8, 0), CW_ERROR_QUEUE_FULL); /* none is acked yet */
    send_note(a, 1, 8, 0, 0);
    round_of(b, a, 0);
    send_note(a, 0, 8, 0, 0);
    assert_int_equal(drain(b), 16);
}

/* The default limits keep this rule too, where each queue is as long as all that may be made. */
TEST(test_a_full_channel_starves_no_other)
{
    static const uint32_t most[] = {256, 4, 1000, 64, 2};
    static const uint32_t counts[] = {2, 4, 5, 64, 2};
    for (int i = 0; i < 5; i++) {
        struct cw_connection_config config = notes_config();
        config.channel_count = counts[i];
        config.max_messages = most[i];
        for (uint32_t full = 0; full < counts[i]; full += 1 + counts[i] / 5) {
            struct cw_connection *a = connection_with(&config);
            const uint32_t capacity = channel_of(a, full).capacity;
            for (uint32_t j = 0; j < capacity; j++)
                send_note(a, full, j, 0, 0);
            check_send(a, full, make_note(a, NOTE, 0, 0), CW_ERROR_QUEUE_FULL);
            assert_int_equal(channel_of(a, full).room, 0);
            for (uint32_t j = 0; j < counts[i]; j++)
                if (j != full)
                    send_note(a, j, j, 0, 0);
        }
    }
}

TEST(test_the_room_of_a_channel_is_what_it_still_takes)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].send_queue_size = 16;
    config.channels[1].send_queue_size = 8;
    config.max_messages = 20;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    assert_int_equal(channel_of(a, 0).room, 16);
    assert_int_equal(channel_of(a, 1).room, 8);
    assert_int_equal(channel_of(a, 0).capacity, 16);
    assert_int_equal(channel_of(a, 1).capacity, 8);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint32_t channel = i % 2, most = i * 7 % 30;
        const uint32_t room = channel_of(a, channel).room;
        uint32_t sent = 0;
        while (sent < most && try_note(a, channel, i, 0, i * TICK))
            sent++;
        assert_int_equal(sent, most < room ? most : room);
        assert_int_equal(channel_of(a, channel).room, room - sent);
        round_of(a, i % 3 ? b : NULL, i * TICK);
        round_of(b, i % 5 ? a : NULL, i * TICK);
        drain(b);
    }
}

/* Other libraries took a message too large for its channel, which clogged it for ever. */
TEST(test_whatever_send_accepts_fits_into_a_packet)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = config.channels[1].blocks = true;
    for (uint32_t budget = 0; budget < 1200; budget += budget < 30 ? 1 : 97) {
        config.channels[0].packet_budget = config.channels[1].packet_budget =
            budget > 0 ? budget : CW_AUTO;
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        for (uint32_t size = 0; size <= 1100; size += size < 40 || size > 980 ? 1 : 61) {
            for (uint32_t channel = 0; channel < 2; channel++) {
                struct cw_message *note = make_note(a, NOTE, size, size);
                struct cw_message *parcel = make_parcel(a, size, size + 1);
                ((struct note *)parcel->data)->padding = size % 50;
                if (cw_connection_send(a, channel, note, 0) != CW_OK)
                    cw_message_release(note);
                if (cw_connection_send(a, channel, parcel, 0) != CW_OK)
                    cw_message_release(parcel);
                for (int i = 0; i < 4; i++) {
                    round_of(a, b, 0);
                    round_of(b, a, 0);
                    drain(b);
                }
                const struct cw_channel_stats stats = channel_of(a, channel);
                assert_int_equal(stats.queued + stats.in_flight + stats.dropped, 0);
                assert_int_equal(channel_of(b, channel).received, stats.sent);
            }
        }
        assert_int_equal(stats_of(a).messages_in_use, 0);
    }
}

TEST(test_the_budget_may_be_any_number)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].packet_budget = config.channels[1].packet_budget = 0x20000001;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    send_note(a, 0, 1, 900, 0);
    round_of(a, b, 0);
    expect_note(b, 0, 1);
}
