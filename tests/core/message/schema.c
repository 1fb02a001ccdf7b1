/* Tests of tables of fields: layout, every kind, random schemas with random messages. */
#include "causeway/schema.h"

#include "fixture.h"
#include "random_schema.h"
#include "stream_fields.h"

#include <math.h>
#include <stdio.h>

BEFORE_EACH_TEST
{
    printf("seed %llu\n", (unsigned long long)random_state);
}

#define ALL_FIELDS(FIELD)                                                                          \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(small, CW_INT(-100, 100))                                                                \
    FIELD(byte, CW_BITS(8))                                                                        \
    FIELD(word, CW_BITS(32))                                                                       \
    FIELD(constant, CW_UINT(7, 7))                                                                 \
    FIELD(bits_64, CW_BITS_64(40))                                                                 \
    FIELD(flag_2, CW_BOOL)                                                                         \
    FIELD(large, CW_INT_64(INT64_MIN, 0))                                                          \
    FIELD(unsigned_large, CW_UINT_64(1, UINT64_MAX))                                               \
    FIELD(real, CW_FLOAT)                                                                          \
    FIELD(real_64, CW_DOUBLE)                                                                      \
    FIELD(angle, CW_COMPRESSED_FLOAT(0, 360, 0.5f))                                                \
    FIELD(name, CW_STRING(5))                                                                      \
    FIELD(data, CW_BYTES(6))                                                                       \
    FIELD(maybe_flag, CW_OPTIONAL(CW_BOOL))                                                        \
    FIELD(maybe_small, CW_OPTIONAL(CW_INT(-1, 1)))                                                 \
    FIELD(maybe_real_64, CW_OPTIONAL(CW_DOUBLE))                                                   \
    FIELD(maybe_name, CW_OPTIONAL(CW_STRING(2)))                                                   \
    FIELD(maybe_data, CW_OPTIONAL(CW_BYTES(3)))                                                    \
    FIELD(flags, CW_ARRAY(CW_BOOL, 3))                                                             \
    FIELD(path, CW_ARRAY(CW_INT(-100, 100), 4))                                                    \
    FIELD(large_numbers, CW_ARRAY(CW_UINT_64(0, UINT64_MAX), 2))                                   \
    FIELD(names, CW_ARRAY(CW_STRING(4), 3))                                                        \
    FIELD(blobs, CW_ARRAY(CW_BYTES(1), 2))                                                         \
    FIELD(angles, CW_ARRAY(CW_COMPRESSED_FLOAT(-1, 1, 0.25f), 2))                                  \
    FIELD(last, CW_BOOL)
CW_MESSAGE(all, ALL_FIELDS)

struct own {
    int32_t level;
};

CW_SERIALIZE(serialize_own, struct own, stream, own)
{
    return cw_stream_int(stream, &own->level, 0, 9);
}

static const struct cw_message_type own_type = {
    .name = "own", .size = sizeof(struct own), .serialize = serialize_own};

static struct cw_schema *create(const struct cw_message_type *types, uint32_t count)
{
    const struct cw_schema_config config = {.types = types, .count = count};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    return schema;
}

TEST(test_a_table_places_fields_where_the_struct_has_them)
{
    struct cw_schema *schema = create(&all_type, 1);
    const struct cw_message_type *type = cw_schema_type(schema, 0);
    assert_string_equal(type->name, "all");
    assert_int_equal(type->size, sizeof(struct all));
    assert_int_equal(cw_schema_message_size(schema), sizeof(struct all));
    uint32_t i = 0;
#define SAME_PLACE(field, ...)                                                                     \
    assert_string_equal(type->fields[i].name, #field);                                             \
    assert_int_equal(type->fields[i++].offset, offsetof(struct all, field));
    ALL_FIELDS(SAME_PLACE)
    assert_int_equal(i, type->field_count);
    cw_schema_destroy(schema);
}

static struct all make_all(void)
{
    struct all all;
    memset(&all, 0, sizeof all);
    all.flag = true;
    all.small = -100;
    all.byte = 255;
    all.word = 0xdeadbeef;
    all.constant = 7;
    all.bits_64 = ((uint64_t)1 << 40) - 1;
    all.large = INT64_MIN + 1;
    all.unsigned_large = UINT64_MAX;
    all.real = -0.5f;
    all.real_64 = 1e300;
    all.angle = 90;
    strcpy(all.name, "hello");
    all.data.size = 6;
    memcpy(all.data.data, "\1\2\3\4\5\6", 6);
    all.maybe_flag.present = all.maybe_flag.value = true;
    all.maybe_real_64.present = true;
    all.maybe_real_64.value = -1;
    all.maybe_name.present = true;
    strcpy(all.maybe_name.value, "\xc3\xa9");
    all.maybe_data.present = true;
    all.maybe_data.value.size = 3;
    memcpy(all.maybe_data.value.data, "abc", 3);
    all.flags.count = 3;
    all.flags.items[1] = true;
    all.path.count = 4;
    for (int i = 0; i < 4; i++)
        all.path.items[i] = 100 - 66 * i;
    all.large_numbers.count = 2;
    all.large_numbers.items[1] = (uint64_t)1 << 63;
    all.names.count = 2;
    strcpy(all.names.items[0], "four");
    strcpy(all.names.items[1], "x");
    all.blobs.count = 2;
    all.blobs.items[1].size = 1;
    all.blobs.items[1].data[0] = 9;
    all.angles.count = 1;
    all.angles.items[0] = -0.25f;
    all.last = true;
    return all;
}

TEST(test_every_kind_comes_back)
{
    struct cw_schema *schema = create(&all_type, 1);
    struct all sent = make_all(), received;
    assert_int_equal(cw_schema_check(schema, 0, &sent), CW_FIELD_NONE);
    uint8_t out[512];
    struct cw_stream writer = cw_stream_writer(out, sizeof out);
    assert_true(cw_schema_serialize(schema, 0, &writer, &sent));
    memset(&received, 0, sizeof received);
    struct cw_stream reader = cw_stream_reader(out, cw_stream_flush(&writer));
    assert_true(cw_schema_serialize(schema, 0, &reader, &received));
    assert_memory_equal(&sent, &received, sizeof sent);
    assert_int_equal(cw_stream_position(&reader), cw_stream_position(&writer));
    cw_schema_destroy(schema);
}

#define LIKE_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-100, 100))                                                                    \
    FIELD(up, CW_BOOL)                                                                             \
    FIELD(path, CW_ARRAY(CW_UINT(1, 6), 4))                                                        \
    FIELD(speed, CW_OPTIONAL(CW_FLOAT))                                                            \
    FIELD(data, CW_BYTES(20))                                                                      \
    FIELD(name, CW_STRING(31))
CW_MESSAGE(like, LIKE_FIELDS)

CW_SERIALIZE(serialize_like, struct like, stream, like)
{
    if (!cw_stream_int(stream, &like->x, -100, 100) || !cw_stream_bool(stream, &like->up) ||
        !cw_stream_count(stream, &like->path.count, 4))
        return false;
    for (uint32_t i = 0; i < like->path.count; i++)
        if (!cw_stream_uint(stream, &like->path.items[i], 1, 6))
            return false;
    return cw_stream_bool(stream, &like->speed.present) &&
           (!like->speed.present || cw_stream_float(stream, &like->speed.value)) &&
           cw_stream_count(stream, &like->data.size, 20) &&
           cw_stream_bytes(stream, like->data.data, like->data.size) &&
           cw_stream_string(stream, like->name, sizeof like->name);
}

TEST(test_a_table_writes_what_a_function_writes)
{
    const struct cw_message_type by_hand = {
        .name = "like", .size = sizeof(struct like), .serialize = serialize_like};
    const struct cw_message_type types[] = {like_type, by_hand};
    struct cw_schema *schema = create(types, 2);
    struct like like = {-3, true, {2, {1, 6}}, {true, 2.5f}, {2, {8, 9}}, "eve"};
    uint8_t out[2][64];
    size_t size[2], bits[2];
    for (uint32_t type = 0; type < 2; type++) {
        struct cw_stream stream = cw_stream_writer(out[type], sizeof out[type]);
        assert_true(cw_schema_serialize(schema, type, &stream, &like));
        size[type] = cw_stream_flush(&stream);
        stream = cw_stream_measurer();
        assert_true(cw_schema_serialize(schema, type, &stream, &like));
        bits[type] = cw_stream_position(&stream);
    }
    assert_int_equal(size[0], size[1]);
    assert_int_equal(bits[0], bits[1]);
    assert_memory_equal(out[0], out[1], size[0]);
    cw_schema_destroy(schema);
}

/* Spoils one field and expects check to name it, and writer and measurer to refuse it. */
#define REFUSED(field, statement)                                                                  \
    do {                                                                                           \
        struct all all = make_all();                                                               \
        statement;                                                                                 \
        const uint32_t index = cw_schema_check(schema, 0, &all);                                   \
        assert_true(index != CW_FIELD_NONE);                                                       \
        assert_string_equal(cw_schema_type(schema, 0)->fields[index].name, #field);                \
        struct cw_stream stream = cw_stream_writer(out, sizeof out);                               \
        const bool written = cw_schema_serialize(schema, 0, &stream, &all);                        \
        const bool floats = strncmp(#field, "angle", 5) == 0;                                      \
        assert_int_equal(written, floats);                                                         \
        stream = cw_stream_measurer();                                                             \
        assert_int_equal(cw_schema_serialize(schema, 0, &stream, &all), floats);                   \
    } while (0)

TEST(test_check_names_the_field_that_is_out_of_range)
{
    uint8_t out[512];
    struct cw_schema *schema = create(&all_type, 1);
    REFUSED(small, all.small = 101);
    REFUSED(small, all.small = -101);
    REFUSED(small, all.small = INT32_MIN);
    REFUSED(byte, all.byte = 256);
    REFUSED(constant, all.constant = 6);
    REFUSED(bits_64, all.bits_64++);
    REFUSED(large, all.large = 1);
    REFUSED(unsigned_large, all.unsigned_large = 0);
    REFUSED(angle, all.angle = 360.25f);
    REFUSED(angle, all.angle = -0.25f);
    REFUSED(angle, all.angle = NAN);
    REFUSED(name, memset(all.name, 'x', sizeof all.name));
    REFUSED(name, all.name[4] = (char)0x80);
    REFUSED(data, all.data.size = 7);
    REFUSED(data, all.data.size = UINT32_MAX);
    REFUSED(maybe_small, (all.maybe_small.present = true, all.maybe_small.value = 2));
    REFUSED(maybe_name, all.maybe_name.value[0] = (char)0xff);
    REFUSED(maybe_data, all.maybe_data.value.size = 4);
    REFUSED(flags, all.flags.count = 4);
    REFUSED(path, all.path.count = UINT32_MAX);
    REFUSED(path, all.path.items[3] = 101);
    REFUSED(large_numbers, all.large_numbers.count = 3);
    REFUSED(names, memset(all.names.items[1], 'y', 5));
    REFUSED(blobs, all.blobs.items[0].size = 2);
    REFUSED(angles, all.angles.items[0] = 1.5f);
    /* Values that are not present are not looked at. */
    struct all all = make_all();
    all.maybe_small.value = 99;
    all.path.count = 3;
    all.path.items[3] = 101;
    assert_int_equal(cw_schema_check(schema, 0, &all), CW_FIELD_NONE);
    cw_schema_destroy(schema);
}

TEST(test_a_bool_may_be_any_byte)
{
    struct cw_schema *schema = create(&all_type, 1);
    struct all sent = make_all(), received;
    memset(&sent.flag_2, 2, 1);
    uint8_t out[512];
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    assert_true(cw_schema_serialize(schema, 0, &stream, &sent));
    memset(&received, 0, sizeof received);
    stream = cw_stream_reader(out, cw_stream_flush(&stream));
    assert_true(cw_schema_serialize(schema, 0, &stream, &received));
    assert_true(received.flag_2);
    cw_schema_destroy(schema);
}

TEST(test_a_type_may_have_a_function_of_its_own)
{
    const struct cw_message_type types[] = {{.name = "ping"}, own_type};
    struct cw_schema *schema = create(types, 2);
    struct own own = {9}, received = {0};
    uint8_t out[1];
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    assert_true(cw_schema_serialize(schema, 0, &stream, NULL));
    assert_true(cw_schema_serialize(schema, 1, &stream, &own));
    assert_int_equal(cw_stream_position(&stream), 4);
    stream = cw_stream_reader(out, cw_stream_flush(&stream));
    assert_true(cw_schema_serialize(schema, 1, &stream, &received));
    assert_int_equal(received.level, 9);
    assert_int_equal(cw_schema_check(schema, 1, &own), CW_FIELD_NONE);
    own.level = 10;
    assert_int_equal(cw_schema_check(schema, 1, &own), 0);
    assert_int_equal(cw_schema_message_size(schema), sizeof own);
    assert_int_equal(cw_schema_count(schema), 2);
    assert_null(cw_schema_type(schema, 2));
    stream = cw_stream_reader(out, 1);
    assert_false(cw_schema_serialize(schema, 2, &stream, &received));
    assert_true(cw_stream_failed(&stream));
    cw_schema_destroy(schema);
}

static enum cw_error create_field(struct cw_field field)
{
    const struct cw_message_type type = {.name = "t", .fields = &field, .field_count = 1};
    const struct cw_schema_config config = {.types = &type, .count = 1};
    struct cw_schema *schema = NULL;
    const enum cw_error error = cw_schema_create(&config, &schema);
    assert_int_equal(cw_schema_memory(&config) > 0, error == CW_OK);
    assert_int_equal(schema != NULL, error == CW_OK);
    cw_schema_destroy(schema);
    return error;
}

TEST(test_fields_that_cannot_work_are_refused)
{
    const uint64_t minus_1 = UINT64_MAX, huge = (uint64_t)1 << 32;
    const enum cw_error wrong = CW_ERROR_SCHEMA_FIELD;
#define FIELD_ERROR(...) create_field((struct cw_field){.name = "f", __VA_ARGS__})
    assert_int_equal(create_field((struct cw_field){.kind = CW_KIND_BOOL}), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_COUNT), wrong);
    assert_int_equal(FIELD_ERROR(.kind = (enum cw_kind)77), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_BOOL, .optional = true, .array = 2), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_INT, .min = 1, .max = minus_1), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_INT, .min = minus_1, .max = 1), CW_OK);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_INT, .min = 0, .max = huge / 2), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_INT, .min = 0 - huge, .max = 1), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_UINT, .min = 2, .max = 1), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_UINT, .max = huge), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_UINT, .max = huge - 1), CW_OK);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_INT_64, .min = 1, .max = minus_1), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_UINT_64, .min = minus_1, .max = 1), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_BYTES), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_STRING), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_STRING, .max = huge), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_COMPRESSED_FLOAT, .float_max = 1, .resolution = 0),
                     wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_COMPRESSED_FLOAT, .float_max = 0, .resolution = 1),
                     wrong);
    assert_int_equal(
        FIELD_ERROR(.kind = CW_KIND_COMPRESSED_FLOAT, .float_max = INFINITY, .resolution = 1),
        wrong);
    assert_int_equal(
        FIELD_ERROR(.kind = CW_KIND_COMPRESSED_FLOAT, .float_max = 1, .resolution = NAN), wrong);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_COMPRESSED_FLOAT, .float_max = 1, .resolution = 1),
                     CW_OK);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_STRING, .max = CW_MESSAGE_MAX_SIZE),
                     CW_ERROR_SCHEMA_SIZE);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_DOUBLE, .array = UINT32_MAX),
                     CW_ERROR_SCHEMA_SIZE);
    assert_int_equal(FIELD_ERROR(.kind = CW_KIND_BOOL, .array = CW_MESSAGE_MAX_SIZE - 4), CW_OK);
}

static enum cw_error create_type(struct cw_message_type type)
{
    const struct cw_schema_config config = {.types = &type, .count = 1};
    struct cw_schema *schema = NULL;
    const enum cw_error error = cw_schema_create(&config, &schema);
    cw_schema_destroy(schema);
    return error;
}

TEST(test_types_that_cannot_work_are_refused)
{
    struct cw_message_type type = all_type;
    type.size += 4;
    assert_int_equal(create_type(type), CW_ERROR_SCHEMA_SIZE);
    type = all_type;
    type.name = NULL;
    assert_int_equal(create_type(type), CW_ERROR_SCHEMA_TYPES);
    type = all_type;
    type.fields = NULL;
    assert_int_equal(create_type(type), CW_ERROR_SCHEMA_TYPES);
    type = all_type;
    type.serialize = serialize_own;
    assert_int_equal(create_type(type), CW_ERROR_SCHEMA_TYPES);
    type = own_type;
    type.size = CW_MESSAGE_MAX_SIZE + 1;
    assert_int_equal(create_type(type), CW_ERROR_SCHEMA_SIZE);
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&(struct cw_schema_config){.types = &type}, &schema),
                     CW_ERROR_SCHEMA_TYPES);
    assert_int_equal(
        cw_schema_create(&(struct cw_schema_config){.types = &type, .count = 65537}, &schema),
        CW_ERROR_SCHEMA_TYPES);
    assert_int_equal(cw_schema_create(&(struct cw_schema_config){.count = 1}, &schema),
                     CW_ERROR_SCHEMA_TYPES);
    assert_int_equal(cw_schema_create(NULL, &schema), CW_ERROR_SCHEMA_TYPES);
    assert_int_equal(cw_schema_memory(NULL), 0);
}

static void *no_memory(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

TEST(test_no_memory_is_an_error)
{
    const struct cw_schema_config config = {
        .types = &all_type, .count = 1, .allocator = {.allocate = no_memory}};
    struct cw_schema *schema = NULL;
    assert_int_equal(cw_schema_create(&config, &schema), CW_ERROR_NO_MEMORY);
    assert_null(schema);
}

/* Random messages of random schemas take no more bytes than were measured, fit a block of exactly
   their size, and come back; cut short they do not. */
TEST(test_random_messages_come_back)
{
    for (int round = 0; round < 400; round++) {
        struct cw_schema *schema = random_schema();
        for (uint32_t type = 0; type < cw_schema_count(schema); type++) {
            const uint32_t bytes = cw_schema_type(schema, type)->size;
            uint8_t *sent = random_message(schema, type), *received = calloc(1, bytes + 1);
            assert_int_equal(cw_schema_check(schema, type, sent), CW_FIELD_NONE);
            struct cw_stream stream = cw_stream_measurer();
            assert_true(cw_schema_serialize(schema, type, &stream, sent));
            const size_t bits = cw_stream_position(&stream), most = (bits + 7) / 8;
            uint8_t *roomy = malloc(most);
            stream = cw_stream_writer(roomy, most);
            assert_true(cw_schema_serialize(schema, type, &stream, sent));
            assert_true(cw_stream_position(&stream) <= bits);
            const size_t size = cw_stream_flush(&stream);
            uint8_t *exact = malloc(size);
            stream = cw_stream_writer(exact, size);
            assert_true(cw_schema_serialize(schema, type, &stream, sent));
            assert_int_equal(cw_stream_flush(&stream), size);
            assert_memory_equal(exact, roomy, size);
            stream = cw_stream_reader(exact, size);
            assert_true(cw_schema_serialize(schema, type, &stream, received));
            assert_memory_equal(sent, received, bytes);
            if (size > 0) {
                uint8_t *cut = malloc(size - 1);
                if (size > 1)
                    memcpy(cut, exact, size - 1);
                stream = cw_stream_reader(cut, size - 1);
                assert_false(cw_schema_serialize(schema, type, &stream, received));
                stream = cw_stream_writer(cut, size - 1);
                assert_false(cw_schema_serialize(schema, type, &stream, sent));
                free(cut);
            }
            free(exact);
            free(roomy);
            free(received);
            free(sent);
        }
        cw_schema_destroy(schema);
    }
}

/* The functions of a stream write, measure and read what the table does, whatever the ranges and
   values, edges of every kind among them. */
TEST(test_random_tables_write_what_stream_functions_write)
{
    for (int round = 0; round < 4000; round++) {
        struct cw_schema *schema = random_schema();
        for (uint32_t i = 0; i < cw_schema_count(schema); i++) {
            const struct cw_message_type *type = cw_schema_type(schema, i);
            uint8_t *sent = random_message(schema, i), *received = calloc(1, type->size + 1u);
            static uint8_t table[RANDOM_MOST_BYTES], functions[RANDOM_MOST_BYTES];
            struct cw_stream stream = cw_stream_writer(table, sizeof table);
            assert_true(cw_schema_serialize(schema, i, &stream, sent));
            const size_t size = cw_stream_flush(&stream);
            stream = cw_stream_writer(functions, sizeof functions);
            assert_true(stream_fields(&stream, type, sent));
            assert_int_equal(cw_stream_flush(&stream), size);
            assert_memory_equal(table, functions, size);
            stream = cw_stream_reader(table, size);
            assert_true(stream_fields(&stream, type, received));
            assert_memory_equal(sent, received, type->size);
            size_t bits[2];
            for (int way = 0; way < 2; way++) {
                stream = cw_stream_measurer();
                assert_true(way ? stream_fields(&stream, type, sent)
                                : cw_schema_serialize(schema, i, &stream, sent));
                bits[way] = cw_stream_position(&stream);
            }
            assert_int_equal(bits[0], bits[1]);
            free(received);
            free(sent);
        }
        cw_schema_destroy(schema);
    }
}

/* A message that was read from any bytes can be sent. */
TEST(test_random_bytes_give_valid_messages_or_none)
{
    for (int round = 0; round < 2000; round++) {
        struct cw_schema *schema = random_schema();
        for (uint32_t type = 0; type < cw_schema_count(schema); type++) {
            const size_t size = random_below(64);
            uint8_t *bytes = malloc(size);
            for (size_t i = 0; i < size; i++)
                bytes[i] = (uint8_t)random_below(4) ? (uint8_t)random_below(256) : 0;
            uint8_t *received = calloc(1, cw_schema_type(schema, type)->size + 1u);
            struct cw_stream stream = cw_stream_reader(bytes, size);
            if (cw_schema_serialize(schema, type, &stream, received))
                assert_int_equal(cw_schema_check(schema, type, received), CW_FIELD_NONE);
            free(received);
            free(bytes);
        }
        cw_schema_destroy(schema);
    }
}
