/* Tests of messages: pool, references, blocks. */
#include "causeway/message.h"
#include "message/message_pool.h"

#include "config_error.h"
#include "fixture.h"

#include <stdlib.h>

#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(direction, CW_INT(0, 7))                                                                 \
    FIELD(name, CW_STRING(32))
CW_MESSAGE(move, MOVE_FIELDS)

struct fixture {
    struct cw_schema *schema;
    struct cw_message_pool *pool;
};

static void tear_down(void *object)
{
    struct fixture *fixture = object;
    assert_int_equal(cw_message_pool_used(fixture->pool), 0);
    cw_message_pool_destroy(fixture->pool);
    cw_schema_destroy(fixture->schema);
    free(fixture);
}

BEFORE_EACH_TEST
{
    const struct cw_message_type types[] = {{.name = "ping"}, move_type};
    const struct cw_schema_config schema = {.types = types, .count = 2};
    struct fixture *fixture = malloc(sizeof *fixture);
    assert_int_equal(cw_schema_create(&schema, &fixture->schema), CW_OK);
    struct cw_message_pool_config config = cw_message_pool_config_default();
    config.schema = fixture->schema;
    config.capacity = 3;
    assert_int_equal(cw_message_pool_create(&config, &fixture->pool), CW_OK);
    *state = own(fixture, tear_down);
}

static struct cw_message *make_move(struct fixture *fixture)
{
    struct cw_message *message;
    assert_int_equal(cw_message_create(fixture->pool, 1, &message), CW_OK);
    return message;
}

TEST(test_an_empty_pool_is_an_error)
{
    struct fixture *fixture = *state;
    struct cw_message *messages[3], *more = NULL;
    for (int i = 0; i < 3; i++)
        messages[i] = make_move(fixture);
    assert_int_equal(cw_message_create(fixture->pool, 1, &more), CW_ERROR_POOL_EMPTY);
    assert_null(more);
    cw_message_release(messages[1]);
    assert_int_equal(cw_message_create(fixture->pool, 0, &more), CW_OK);
    assert_int_equal(cw_message_pool_used(fixture->pool), 3);
    cw_message_release(more);
    cw_message_release(messages[0]);
    cw_message_release(messages[2]);
}

TEST(test_a_type_that_does_not_exist_is_an_error)
{
    struct fixture *fixture = *state;
    struct cw_message *message = NULL;
    assert_int_equal(cw_message_create(fixture->pool, 2, &message), CW_ERROR_MESSAGE_TYPE);
    assert_null(message);
    assert_int_equal(cw_message_create(fixture->pool, UINT32_MAX, &message), CW_ERROR_MESSAGE_TYPE);
}

TEST(test_the_last_reference_gives_the_message_back)
{
    struct fixture *fixture = *state;
    struct cw_message *message = make_move(fixture);
    cw_message_acquire(message);
    cw_message_release(message);
    assert_int_equal(cw_message_pool_used(fixture->pool), 1);
    cw_message_release(message);
    assert_int_equal(cw_message_pool_used(fixture->pool), 0);
    cw_message_release(NULL);
}

TEST(test_a_message_starts_as_zeros)
{
    struct fixture *fixture = *state;
    struct cw_message *message = make_move(fixture);
    memset(message->data, 0xff, sizeof(struct move));
    message->id = 7;
    cw_message_release(message);
    message = make_move(fixture);
    const struct move nothing = {0};
    assert_memory_equal(message->data, &nothing, sizeof nothing);
    assert_int_equal(message->type, 1);
    assert_int_equal(message->id, 0);
    assert_int_equal(message->references, 1);
    assert_null(message->block);
    cw_message_release(message);
}

TEST(test_messages_do_not_share_memory)
{
    struct fixture *fixture = *state;
    struct cw_message *messages[3];
    for (int i = 0; i < 3; i++) {
        messages[i] = make_move(fixture);
        memset(messages[i]->data, i + 1, sizeof(struct move));
    }
    for (int i = 0; i < 3; i++) {
        const char *bytes = messages[i]->data;
        for (size_t j = 0; j < sizeof(struct move); j++)
            assert_int_equal(bytes[j], i + 1);
        cw_message_release(messages[i]);
    }
}

struct released {
    int times;
    uint8_t *block;
    size_t size;
};

static void note_release(void *context, uint8_t *block, size_t size)
{
    struct released *released = context;
    released->times++;
    released->block = block;
    released->size = size;
}

TEST(test_a_block_goes_with_the_last_reference)
{
    struct fixture *fixture = *state;
    uint8_t block[100];
    struct released released = {0};
    struct cw_message *message = make_move(fixture);
    cw_message_attach(message, block, sizeof block, note_release, &released);
    assert_ptr_equal(message->block, block);
    assert_int_equal(message->block_size, 100);
    cw_message_acquire(message);
    cw_message_release(message);
    assert_int_equal(released.times, 0);
    cw_message_release(message);
    assert_int_equal(released.times, 1);
    assert_ptr_equal(released.block, block);
    assert_int_equal(released.size, 100);
}

TEST(test_another_block_takes_the_place_of_the_first)
{
    struct fixture *fixture = *state;
    uint8_t first[1], second[2];
    struct released released = {0};
    struct cw_message *message = make_move(fixture);
    cw_message_attach(message, first, 1, note_release, &released);
    cw_message_attach(message, second, 2, note_release, &released);
    assert_ptr_equal(released.block, first);
    cw_message_release(message);
    assert_int_equal(released.times, 2);
    assert_ptr_equal(released.block, second);
}

TEST(test_a_body_is_written_measured_and_read)
{
    struct fixture *fixture = *state;
    struct cw_message *sent = make_move(fixture), *received = make_move(fixture);
    struct move *move = sent->data;
    move->direction = 5;
    strcpy(move->name, "alice");
    uint8_t buffer[64];
    struct cw_stream writer = cw_stream_writer(buffer, sizeof buffer);
    assert_true(cw_message_serialize(&writer, sent));
    size_t bits;
    assert_true(cw_message_measure(sent, &bits));
    assert_true(bits >= cw_stream_position(&writer));
    struct cw_stream reader = cw_stream_reader(buffer, cw_stream_flush(&writer));
    assert_true(cw_message_serialize(&reader, received));
    assert_int_equal(((struct move *)received->data)->direction, 5);
    assert_string_equal(((struct move *)received->data)->name, "alice");
    cw_message_release(sent);
    cw_message_release(received);
}

TEST(test_a_value_out_of_range_is_named)
{
    struct fixture *fixture = *state;
    struct cw_message *message = make_move(fixture);
    struct move *move = message->data;
    size_t bits = 1;
    assert_int_equal(cw_message_check(message), CW_FIELD_NONE);
    move->name[0] = (char)0xff;
    assert_int_equal(cw_message_check(message), 1);
    move->direction = 8;
    assert_int_equal(cw_message_check(message), 0);
    assert_false(cw_message_measure(message, &bits));
    assert_int_equal(bits, 1);
    cw_message_release(message);
}

TEST(test_a_pool_needs_a_schema_and_a_capacity)
{
    struct fixture *fixture = *state;
    struct cw_message_pool *pool = NULL;
    struct cw_message_pool_config config = cw_message_pool_config_default();
    assert_error_names(cw_message_pool_create(&config, &pool), "schema");
    assert_null(pool);
    assert_int_equal(cw_message_pool_memory(&config), 0);
    config.schema = fixture->schema;
    assert_true(cw_message_pool_memory(&config) > 1024 * sizeof(struct move));
    config.capacity = 0;
    assert_error_names(cw_message_pool_create(&config, &pool), "capacity");
    config.capacity = 65537;
    assert_error_names(cw_message_pool_create(&config, &pool), "capacity");
    assert_int_equal(cw_message_pool_create(NULL, &pool), CW_ERROR_INVALID_ARGUMENT);
}

struct counted {
    size_t allocated, released;
    bool refuse;
};

static void *count_allocate(void *context, size_t size)
{
    struct counted *counted = context;
    counted->allocated += size;
    return counted->refuse ? NULL : malloc(size);
}

static void count_release(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    counted->released += size;
    free(memory);
}

TEST(test_a_pool_takes_the_memory_that_it_tells)
{
    struct fixture *fixture = *state;
    struct counted counted = {0};
    struct cw_message_pool *pool;
    struct cw_message_pool_config config = {.schema = fixture->schema,
                                            .capacity = 5,
                                            .allocator = {count_allocate, count_release, &counted}};
    assert_int_equal(cw_message_pool_create(&config, &pool), CW_OK);
    assert_int_equal(counted.allocated, cw_message_pool_memory(&config));
    cw_message_pool_destroy(pool);
    assert_int_equal(counted.released, counted.allocated);
    counted.refuse = true;
    pool = NULL;
    assert_int_equal(cw_message_pool_create(&config, &pool), CW_ERROR_NO_MEMORY);
    assert_null(pool);
}

/* A copy goes into a message of another pool, as when it is passed on to another connection. */
TEST(test_a_copy_has_the_struct_and_nothing_else)
{
    struct fixture *fixture = *state;
    struct cw_message_pool *pool;
    const struct cw_message_pool_config config = {.schema = fixture->schema, .capacity = 2};
    assert_int_equal(cw_message_pool_create(&config, &pool), CW_OK);
    struct cw_message *from = make_move(fixture), *to, *ping;
    assert_int_equal(cw_message_create(pool, 1, &to), CW_OK);
    assert_int_equal(cw_message_create(pool, 0, &ping), CW_OK);
    struct move *const value = from->data;
    *value = (struct move){.direction = 5, .name = "west"};
    uint8_t block = 1;
    from->receipt = 9;
    assert_int_equal(cw_message_attach(from, &block, 1, NULL, NULL), CW_OK);
    assert_int_equal(cw_message_copy(from, ping), CW_ERROR_MESSAGE_TYPE);
    assert_int_equal(cw_message_copy(from, to), CW_OK);
    value->direction = 6;
    assert_int_equal(((struct move *)to->data)->direction, 5);
    assert_string_equal(((struct move *)to->data)->name, "west");
    assert_int_equal(to->receipt, 0);
    assert_null(to->block);
    assert_int_equal(to->references, 1);
    cw_message_release(from);
    assert_int_equal(cw_message_copy(from, to), CW_ERROR_MESSAGE_NOT_OWNED);
    assert_int_equal(cw_message_copy(to, from), CW_ERROR_MESSAGE_NOT_OWNED);
    cw_message_release(to);
    cw_message_release(ping);
    cw_message_pool_destroy(pool);
}
