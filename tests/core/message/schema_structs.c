/* Tests of structs within structs: layout, what they are on the wire, what is refused. */
#include "causeway/schema.h"

#include "fixture.h"

/* The fields bring every alignment before and behind every other. */
#define SMALL_FIELDS(FIELD)                                                                        \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(name, CW_STRING(2))
CW_MESSAGE(small, SMALL_FIELDS)

#define WIDE_FIELDS(FIELD)                                                                         \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(level, CW_INT(-5, 5))                                                                    \
    FIELD(time, CW_DOUBLE)                                                                         \
    FIELD(angle, CW_COMPRESSED_FLOAT(-1, 1, 0.25f))                                                \
    FIELD(small, CW_STRUCT(small))
CW_MESSAGE(wide, WIDE_FIELDS)

#define MIDDLE_FIELDS(FIELD)                                                                       \
    FIELD(small, CW_STRUCT(small))                                                                 \
    FIELD(wide, CW_ARRAY(CW_STRUCT(wide), 3))                                                      \
    FIELD(maybe, CW_OPTIONAL(CW_STRUCT(wide)))                                                     \
    FIELD(letters, CW_ARRAY(CW_STRUCT(small), 4))                                                  \
    FIELD(letter, CW_OPTIONAL(CW_STRUCT(small)))                                                   \
    FIELD(data, CW_BYTES(3))
CW_MESSAGE(middle, MIDDLE_FIELDS)

#define OUTER_FIELDS(FIELD)                                                                        \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(small, CW_STRUCT(small))                                                                 \
    FIELD(wide, CW_STRUCT(wide))                                                                   \
    FIELD(middle, CW_STRUCT(middle))                                                               \
    FIELD(rows, CW_ARRAY(CW_STRUCT(middle), 2))                                                    \
    FIELD(row, CW_OPTIONAL(CW_STRUCT(middle)))                                                     \
    FIELD(last, CW_BITS(3))
CW_MESSAGE(outer, OUTER_FIELDS)

static enum cw_error try(struct cw_schema **schema, const struct cw_message_type *type)
{
    const struct cw_schema_config config = {.types = type, .count = 1};
    return cw_schema_create(&config, schema);
}

static struct cw_schema *create(const struct cw_message_type *type)
{
    struct cw_schema *schema;
    assert_int_equal(try(&schema, type), CW_OK);
    return schema;
}

#define SAME_PLACE(field, ...)                                                                     \
    assert_string_equal(type->fields[i].name, #field);                                             \
    assert_int_equal(type->fields[i++].offset, offsetof(struct STRUCT, field));

static void expect_small(const struct cw_message_type *type)
{
    uint32_t i = 0;
    assert_int_equal(type->size, sizeof(struct small));
#define STRUCT small
    SMALL_FIELDS(SAME_PLACE)
#undef STRUCT
    assert_int_equal(i, type->field_count);
}

static void expect_wide(const struct cw_message_type *type)
{
    uint32_t i = 0;
    assert_int_equal(type->size, sizeof(struct wide));
#define STRUCT wide
    WIDE_FIELDS(SAME_PLACE)
#undef STRUCT
    assert_int_equal(i, type->field_count);
    expect_small(type->fields[4].type);
}

static void expect_middle(const struct cw_message_type *type)
{
    uint32_t i = 0;
    assert_int_equal(type->size, sizeof(struct middle));
#define STRUCT middle
    MIDDLE_FIELDS(SAME_PLACE)
#undef STRUCT
    assert_int_equal(i, type->field_count);
    expect_small(type->fields[0].type);
    expect_wide(type->fields[1].type);
    expect_wide(type->fields[2].type);
    expect_small(type->fields[3].type);
    expect_small(type->fields[4].type);
}

TEST(test_structs_are_where_the_compiler_has_them)
{
    struct cw_schema *schema = create(&outer_type);
    const struct cw_message_type *type = cw_schema_type(schema, 0);
    uint32_t i = 0;
    assert_int_equal(type->size, sizeof(struct outer));
#define STRUCT outer
    OUTER_FIELDS(SAME_PLACE)
#undef STRUCT
    assert_int_equal(i, type->field_count);
    expect_small(type->fields[1].type);
    expect_wide(type->fields[2].type);
    for (i = 3; i < 6; i++)
        expect_middle(type->fields[i].type);
    /* The type is a copy, since the caller's types may go. */
    assert_true(type->fields[1].type != &small_type);
    cw_schema_destroy(schema);
}

static struct small make_small(int seed)
{
    struct small small;
    memset(&small, 0, sizeof small);
    small.flag = seed % 2 == 0;
    memset(small.name, 'a' + seed % 26, (size_t)(seed % 3));
    return small;
}

static struct wide make_wide(int seed)
{
    struct wide wide;
    memset(&wide, 0, sizeof wide);
    wide.flag = seed % 2 == 1;
    wide.level = seed % 11 - 5;
    wide.time = seed * 1.5;
    wide.angle = (float)(seed % 9 - 4) / 4;
    wide.small = make_small(seed + 1);
    return wide;
}

static struct middle make_middle(int seed)
{
    struct middle middle;
    memset(&middle, 0, sizeof middle);
    middle.small = make_small(seed);
    middle.wide.count = (uint32_t)seed % 4;
    for (uint32_t i = 0; i < middle.wide.count; i++)
        middle.wide.items[i] = make_wide(seed + (int)i);
    middle.maybe.present = seed % 2 == 0;
    if (middle.maybe.present)
        middle.maybe.value = make_wide(seed + 5);
    middle.letters.count = (uint32_t)seed % 5;
    for (uint32_t i = 0; i < middle.letters.count; i++)
        middle.letters.items[i] = make_small(seed + (int)i);
    middle.letter.present = seed % 3 == 0;
    if (middle.letter.present)
        middle.letter.value = make_small(seed + 7);
    middle.data.size = 2;
    memcpy(middle.data.data, "xy", 2);
    return middle;
}

static struct outer make_outer(int seed)
{
    struct outer outer;
    memset(&outer, 0, sizeof outer);
    outer.flag = true;
    outer.small = make_small(seed);
    outer.wide = make_wide(seed);
    outer.middle = make_middle(seed);
    outer.rows.count = (uint32_t)seed % 3;
    for (uint32_t i = 0; i < outer.rows.count; i++)
        outer.rows.items[i] = make_middle(seed + 1 + (int)i);
    outer.row.present = seed % 2 == 1;
    if (outer.row.present)
        outer.row.value = make_middle(seed + 3);
    outer.last = 5;
    return outer;
}

/* Writes what a program without tables writes: each struct's fields in order, nothing between. */
static bool stream_small(struct cw_stream *stream, struct small *small)
{
    return cw_stream_bool(stream, &small->flag) &&
           cw_stream_string(stream, small->name, sizeof small->name);
}

static bool stream_wide(struct cw_stream *stream, struct wide *wide)
{
    return cw_stream_bool(stream, &wide->flag) && cw_stream_int(stream, &wide->level, -5, 5) &&
           cw_stream_double(stream, &wide->time) &&
           cw_stream_compressed_float(stream, &wide->angle, -1, 1, 0.25f) &&
           stream_small(stream, &wide->small);
}

static bool stream_middle(struct cw_stream *stream, struct middle *middle)
{
    if (!stream_small(stream, &middle->small) || !cw_stream_count(stream, &middle->wide.count, 3))
        return false;
    for (uint32_t i = 0; i < middle->wide.count; i++)
        if (!stream_wide(stream, &middle->wide.items[i]))
            return false;
    if (!cw_stream_bool(stream, &middle->maybe.present) ||
        (middle->maybe.present && !stream_wide(stream, &middle->maybe.value)) ||
        !cw_stream_count(stream, &middle->letters.count, 4))
        return false;
    for (uint32_t i = 0; i < middle->letters.count; i++)
        if (!stream_small(stream, &middle->letters.items[i]))
            return false;
    return cw_stream_bool(stream, &middle->letter.present) &&
           (!middle->letter.present || stream_small(stream, &middle->letter.value)) &&
           cw_stream_count(stream, &middle->data.size, 3) &&
           cw_stream_bytes(stream, middle->data.data, middle->data.size);
}

static bool stream_outer(struct cw_stream *stream, struct outer *outer)
{
    if (!cw_stream_bool(stream, &outer->flag) || !stream_small(stream, &outer->small) ||
        !stream_wide(stream, &outer->wide) || !stream_middle(stream, &outer->middle) ||
        !cw_stream_count(stream, &outer->rows.count, 2))
        return false;
    for (uint32_t i = 0; i < outer->rows.count; i++)
        if (!stream_middle(stream, &outer->rows.items[i]))
            return false;
    return cw_stream_bool(stream, &outer->row.present) &&
           (!outer->row.present || stream_middle(stream, &outer->row.value)) &&
           cw_stream_bits(stream, &outer->last, 3);
}

TEST(test_a_struct_is_its_fields_on_the_wire_and_comes_back)
{
    struct cw_schema *schema = create(&outer_type);
    for (int seed = 0; seed < 60; seed++) {
        struct outer sent = make_outer(seed), received;
        static uint8_t table[2048], by_hand[2048];
        assert_int_equal(cw_schema_check(schema, 0, &sent), CW_FIELD_NONE);
        struct cw_stream stream = cw_stream_writer(table, sizeof table);
        assert_true(cw_schema_serialize(schema, 0, &stream, &sent));
        const size_t size = cw_stream_flush(&stream);
        stream = cw_stream_writer(by_hand, sizeof by_hand);
        assert_true(stream_outer(&stream, &sent));
        assert_int_equal(cw_stream_flush(&stream), size);
        assert_memory_equal(table, by_hand, size);
        memset(&received, 0, sizeof received);
        stream = cw_stream_reader(table, size);
        assert_true(cw_schema_serialize(schema, 0, &stream, &received));
        assert_memory_equal(&sent, &received, sizeof sent);
        size_t bits[2];
        stream = cw_stream_measurer();
        assert_true(cw_schema_serialize(schema, 0, &stream, &sent));
        bits[0] = cw_stream_position(&stream);
        stream = cw_stream_measurer();
        assert_true(stream_outer(&stream, &sent));
        bits[1] = cw_stream_position(&stream);
        assert_int_equal(bits[0], bits[1]);
    }
    cw_schema_destroy(schema);
}

/* Spoils a value and expects check to name the field of the message that it is in. */
#define REFUSED(field, statement)                                                                  \
    do {                                                                                           \
        struct outer outer = make_outer(5);                                                        \
        outer.rows.count = 2;                                                                      \
        outer.rows.items[1] = make_middle(7);                                                      \
        assert_int_equal(cw_schema_check(schema, 0, &outer), CW_FIELD_NONE);                       \
        statement;                                                                                 \
        const uint32_t index = cw_schema_check(schema, 0, &outer);                                 \
        assert_true(index != CW_FIELD_NONE);                                                       \
        assert_string_equal(cw_schema_type(schema, 0)->fields[index].name, #field);                \
    } while (0)

TEST(test_check_names_the_field_of_the_message)
{
    struct cw_schema *schema = create(&outer_type);
    REFUSED(small, memset(outer.small.name, 'x', 3));
    REFUSED(wide, outer.wide.level = 6);
    REFUSED(wide, outer.wide.angle = 1.5f);
    REFUSED(wide, outer.wide.small.name[0] = (char)0xff);
    REFUSED(middle, outer.middle.wide.count = 4);
    REFUSED(middle, outer.middle.wide.items[0].level = -6);
    REFUSED(rows, outer.rows.count = 3);
    REFUSED(rows, outer.rows.items[1].wide.items[2].level = 6);
    REFUSED(rows, outer.rows.items[1].wide.items[2].angle = -2);
    REFUSED(rows, outer.rows.items[1].data.size = 4);
    REFUSED(row, outer.row.value.letters.count = UINT32_MAX);
    REFUSED(row, outer.row.value.maybe.value.angle = 2);
    REFUSED(last, outer.last = 8);
    /* Values that are not present are not looked at. */
    struct outer outer = make_outer(5);
    outer.row.value.wide.items[2].level = 99;
    outer.middle.maybe.value.angle = 99;
    outer.row.present = false;
    outer.row.value.maybe.value.angle = 99;
    assert_int_equal(cw_schema_check(schema, 0, &outer), CW_FIELD_NONE);
    cw_schema_destroy(schema);
}

static enum cw_error try_struct(struct cw_field field)
{
    const struct cw_message_type type = {.name = "t", .fields = &field, .field_count = 1};
    struct cw_schema *schema = NULL;
    const enum cw_error error = try(&schema, &type);
    assert_int_equal(schema != NULL, error == CW_OK);
    cw_schema_destroy(schema);
    return error;
}

static bool refuse(struct cw_stream *stream, void *message)
{
    (void)message;
    return cw_stream_fail(stream);
}

TEST(test_structs_that_cannot_work_are_refused)
{
    const enum cw_error wrong = CW_ERROR_SCHEMA_FIELD;
    const struct cw_message_type own = {.name = "own", .size = 4, .serialize = refuse};
    const struct cw_message_type empty = {.name = "empty"};
    struct cw_message_type part = small_type;
    struct cw_field field = {.name = "part", .kind = CW_KIND_STRUCT};
    assert_int_equal(try_struct(field), wrong);
    field.type = &own;
    assert_int_equal(try_struct(field), wrong);
    field.type = &empty;
    assert_int_equal(try_struct(field), wrong);
    field.type = &part;
    assert_int_equal(try_struct(field), CW_OK);
    part.block = true;
    assert_int_equal(try_struct(field), wrong);
    part = small_type;
    part.fields = NULL;
    assert_int_equal(try_struct(field), wrong);
    part = small_type;
    part.field_count = 0;
    part.size = 0;
    assert_int_equal(try_struct(field), wrong);
    part = small_type;
    part.name = NULL;
    assert_int_equal(try_struct(field), CW_OK);
    part.size++;
    assert_int_equal(try_struct(field), CW_ERROR_SCHEMA_SIZE);
    part.size = 0;
    assert_int_equal(try_struct(field), CW_OK);
    field.array = CW_MESSAGE_MAX_SIZE / 4 - 1;
    assert_int_equal(try_struct(field), CW_OK);
    field.array = CW_MESSAGE_MAX_SIZE / 4;
    assert_int_equal(try_struct(field), CW_ERROR_SCHEMA_SIZE);
    field.array = UINT32_MAX;
    assert_int_equal(try_struct(field), CW_ERROR_SCHEMA_SIZE);
    field.optional = true;
    assert_int_equal(try_struct(field), wrong);
    struct cw_field inner = {.name = NULL, .kind = CW_KIND_BOOL};
    part = (struct cw_message_type){.fields = &inner, .field_count = 1};
    assert_int_equal(
        try_struct((struct cw_field){.name = "f", .kind = CW_KIND_STRUCT, .type = &part}), wrong);
}

TEST(test_structs_are_only_so_deep)
{
    struct cw_field fields[CW_STRUCT_MAX_DEPTH + 2] = {{.name = "bottom", .kind = CW_KIND_BOOL}};
    struct cw_message_type types[CW_STRUCT_MAX_DEPTH + 2];
    for (int i = 0; i < CW_STRUCT_MAX_DEPTH + 2; i++) {
        if (i > 0)
            fields[i] =
                (struct cw_field){.name = "f", .kind = CW_KIND_STRUCT, .type = &types[i - 1]};
        types[i] = (struct cw_message_type){.name = "t", .fields = &fields[i], .field_count = 1};
    }
    struct cw_schema *schema = create(&types[CW_STRUCT_MAX_DEPTH]);
    cw_schema_destroy(schema);
    assert_int_equal(try(&schema, &types[CW_STRUCT_MAX_DEPTH + 1]), CW_ERROR_SCHEMA_FIELD);
    /* A struct cannot hold itself either. */
    fields[0] = (struct cw_field){.name = "self", .kind = CW_KIND_STRUCT, .type = &types[0]};
    assert_int_equal(try(&schema, &types[0]), CW_ERROR_SCHEMA_FIELD);
}
