/* Tests of schemas as bytes: a known encoding, there and back, damage, fingerprints. */
#include "causeway/schema.h"

#include "fixture.h"
#include "random_schema.h"

BEFORE_EACH_TEST
{
    printf("seed %llu\n", (unsigned long long)random_state);
}

#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(dir, CW_INT(-1, 7))                                                                      \
    FIELD(up, CW_OPTIONAL(CW_BOOL))                                                                \
    FIELD(name, CW_ARRAY(CW_STRING(32), 3))                                                        \
    FIELD(yaw, CW_COMPRESSED_FLOAT(0, 2, 0.5f))
CW_MESSAGE(move, MOVE_FIELDS)

static bool refuse(struct cw_stream *stream, void *message)
{
    (void)message;
    return cw_stream_fail(stream);
}

static struct cw_schema *create(const struct cw_message_type *types, uint32_t count)
{
    const struct cw_schema_config config = {.types = types, .count = count};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    return schema;
}

/* Encodes into a block of exactly its size, which the caller frees. */
static uint8_t *encode(const struct cw_schema *schema, size_t *size)
{
    *size = cw_schema_encode(schema, NULL, 0);
    uint8_t *bytes = malloc(*size);
    assert_int_equal(cw_schema_encode(schema, bytes, *size), *size);
    return bytes;
}

TEST(test_the_form_is_as_documented)
{
    const struct cw_message_type types[] = {
        {.name = "hi", .block = true}, move_type, {.name = "own", .serialize = refuse}};
    struct cw_schema *schema = create(types, 3);
    static const uint8_t expected[] =
        "\1\3\0\0\0"
        "hi\0\1\0\0\0\0"
        "move\0\0\4\0\0\0"
        "dir\0\1\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\7\0\0\0\0\0\0\0"
        "up\0\0\1\0\0\0\0"
        "name\0\11\0\3\0\0\0\40\0\0\0"
        "yaw\0\7\0\0\0\0\0\0\0\0\0\0\0\0\100\0\0\0\77"
        "own\0\0\xff\xff\xff\xff";
    size_t size;
    uint8_t *bytes = encode(schema, &size);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
    cw_schema_destroy(schema);
}

#define POINT_FIELDS(FIELD)                                                                        \
    FIELD(x, CW_BOOL)                                                                              \
    FIELD(y, CW_BITS(3))
CW_MESSAGE(point, POINT_FIELDS)

#define ROUTE_FIELDS(FIELD)                                                                        \
    FIELD(stops, CW_ARRAY(CW_STRUCT(point), 5))                                                    \
    FIELD(end, CW_OPTIONAL(CW_STRUCT(point)))
CW_MESSAGE(route, ROUTE_FIELDS)

#define TOUR_FIELDS(FIELD)                                                                         \
    FIELD(route, CW_STRUCT(route))                                                                 \
    FIELD(last, CW_BOOL)
CW_MESSAGE(tour, TOUR_FIELDS)

TEST(test_structs_are_followed_by_their_fields)
{
    struct cw_schema *schema = create(&tour_type, 1);
#define POINT                                                                                      \
    "\2\0\0\0"                                                                                     \
    "x\0\0\0\0\0\0\0"                                                                              \
    "y\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"
    static const uint8_t expected[] =
        "\1\1\0\0\0"
        "tour\0\0\2\0\0\0"
        "route\0\12\0\0\0\0\0\2\0\0\0"
        "stops\0\12\0\5\0\0\0" POINT "end\0\12\1\0\0\0\0" POINT "last\0\0\0\0\0\0\0";
    size_t size;
    uint8_t *bytes = encode(schema, &size);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
    cw_schema_destroy(schema);
}

/* Writes `depth` structs, one inside the other, the innermost with a bool. Returns the size. */
static size_t nest(uint8_t *out, uint32_t depth)
{
    static const uint8_t type[] = "\1\1\0\0\0t\0\0\1\0\0\0", part[] = "s\0\12\0\0\0\0\0\1\0\0\0",
                         leaf[] = "b\0\0\0\0\0\0\0";
    uint8_t *at = out;
    memcpy(at, type, sizeof type - 1);
    at += sizeof type - 1;
    for (uint32_t i = 0; i < depth; i++, at += sizeof part - 1)
        memcpy(at, part, sizeof part - 1);
    memcpy(at, leaf, sizeof leaf - 1);
    return (size_t)(at - out) + sizeof leaf - 1;
}

TEST(test_the_depth_of_structs_is_bounded)
{
    static uint8_t bytes[1 << 21];
    struct cw_schema *decoded;
    size_t size = nest(bytes, CW_STRUCT_MAX_DEPTH);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
    cw_schema_destroy(decoded);
    size = nest(bytes, CW_STRUCT_MAX_DEPTH + 1);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    /* No stack would do for this depth. */
    size = nest(bytes, 170000);
    assert_true(size <= sizeof bytes);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    /* The schema claims more fields than there are bytes. */
    size = nest(bytes, 1);
    bytes[size - 9] = 0x7f;
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    /* This struct has no fields. */
    bytes[size - 9] = bytes[size - 12] = 0;
    assert_int_equal(cw_schema_decode(bytes, size - 8, NULL, &decoded), CW_ERROR_SCHEMA_FIELD);
}

TEST(test_schemas_come_back)
{
    for (int round = 0; round < 500; round++) {
        struct cw_schema *schema = random_schema(), *decoded = NULL;
        size_t size, again;
        uint8_t *bytes = encode(schema, &size);
        assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
        uint8_t *second = encode(decoded, &again);
        assert_int_equal(size, again);
        assert_memory_equal(bytes, second, size);
        assert_int_equal(cw_schema_fingerprint(schema, NULL, 0),
                         cw_schema_fingerprint(decoded, NULL, 0));
        /* The decoded schema has names of its own. */
        memset(bytes, 0xff, size);
        free(bytes);
        for (uint32_t type = 0; type < cw_schema_count(schema); type++) {
            const struct cw_message_type *a = cw_schema_type(schema, type);
            const struct cw_message_type *b = cw_schema_type(decoded, type);
            assert_string_equal(a->name, b->name);
            assert_int_equal(a->size, b->size);
            assert_int_equal(a->block, b->block);
            for (uint32_t i = 0; i < a->field_count; i++) {
                assert_string_equal(a->fields[i].name, b->fields[i].name);
                assert_int_equal(a->fields[i].offset, b->fields[i].offset);
            }
        }
        free(second);
        cw_schema_destroy(decoded);
        cw_schema_destroy(schema);
    }
}

TEST(test_cut_or_prolonged_bytes_are_refused)
{
    const struct cw_message_type types[] = {move_type, tour_type};
    struct cw_schema *schema = create(types, 2), *decoded = NULL;
    size_t size;
    uint8_t *bytes = encode(schema, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *exact = malloc(cut);
        if (cut > 0)
            memcpy(exact, bytes, cut);
        assert_int_equal(cw_schema_decode(exact, cut, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
        assert_null(decoded);
        free(exact);
    }
    uint8_t *longer = calloc(1, size + 1);
    memcpy(longer, bytes, size);
    assert_int_equal(cw_schema_decode(longer, size + 1, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    longer[0] = 2;
    assert_int_equal(cw_schema_decode(longer, size, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    free(longer);
    free(bytes);
    cw_schema_destroy(schema);
}

TEST(test_a_function_of_its_own_cannot_be_decoded)
{
    const struct cw_message_type own = {.name = "own", .serialize = refuse};
    struct cw_schema *schema = create(&own, 1), *decoded = NULL;
    size_t size;
    uint8_t *bytes = encode(schema, &size);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    free(bytes);
    cw_schema_destroy(schema);
}

TEST(test_damaged_bytes_give_another_schema_or_none)
{
    for (int round = 0; round < 5000; round++) {
        struct cw_schema *schema = random_schema(), *decoded = NULL;
        size_t size;
        uint8_t *bytes = encode(schema, &size);
        bytes[random_below((uint32_t)size)] ^= (uint8_t)(1 << random_below(8));
        if (cw_schema_decode(bytes, size, NULL, &decoded) == CW_OK) {
            assert_true(cw_schema_fingerprint(decoded, NULL, 0) !=
                        cw_schema_fingerprint(schema, NULL, 0));
            cw_schema_destroy(decoded);
        } else {
            assert_null(decoded);
        }
        free(bytes);
        cw_schema_destroy(schema);
    }
}

struct counted {
    size_t taken, returned;
    int calls, refuse_at;
};

static void *count_allocate(void *context, size_t size)
{
    struct counted *counted = context;
    if (++counted->calls == counted->refuse_at)
        return NULL;
    counted->taken += size;
    return malloc(size);
}

static void count_release(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    counted->returned += size;
    free(memory);
}

TEST(test_decoding_gives_its_memory_back)
{
    struct cw_schema *schema = create(&tour_type, 1), *decoded = NULL;
    size_t size;
    uint8_t *bytes = encode(schema, &size);
    for (int refuse_at = 0; refuse_at <= 2; refuse_at++) {
        struct counted counted = {.refuse_at = refuse_at};
        const struct cw_allocator allocator = {count_allocate, count_release, &counted};
        decoded = NULL;
        const enum cw_error error = cw_schema_decode(bytes, size, &allocator, &decoded);
        assert_int_equal(error, refuse_at ? CW_ERROR_NO_MEMORY : CW_OK);
        cw_schema_destroy(decoded);
        assert_int_equal(counted.taken, counted.returned);
    }
    free(bytes);
    cw_schema_destroy(schema);
}

static uint64_t fingerprint(struct cw_field field, const char *name, const char *extra)
{
    const struct cw_message_type type = {.name = name, .fields = &field, .field_count = 1};
    struct cw_schema *schema = create(&type, 1);
    const uint64_t value = cw_schema_fingerprint(schema, (const uint8_t *)extra, strlen(extra));
    cw_schema_destroy(schema);
    return value;
}

TEST(test_a_fingerprint_tells_every_difference)
{
    const struct cw_field first = {.name = "x", .kind = CW_KIND_INT, .max = 7};
    const uint64_t base = fingerprint(first, "move", "");
    assert_true(base == fingerprint(first, "move", ""));
    assert_true(base != fingerprint(first, "mover", ""));
    assert_true(base != fingerprint(first, "move", "2 channels"));
    assert_true(fingerprint(first, "move", "1") != fingerprint(first, "move", "2"));
#define DIFFERS(statement)                                                                         \
    do {                                                                                           \
        struct cw_field field = first;                                                             \
        statement;                                                                                 \
        assert_true(base != fingerprint(field, "move", ""));                                       \
    } while (0)
    DIFFERS(field.name = "y");
    DIFFERS(field.kind = CW_KIND_UINT);
    DIFFERS(field.optional = true);
    DIFFERS(field.array = 1);
    DIFFERS(field.min = UINT64_MAX);
    DIFFERS(field.max = 8);
    /* The fields of a struct count, its name does not. */
    struct cw_field inner[] = {first, first};
    struct cw_message_type part = {.name = "part", .fields = inner, .field_count = 1};
    struct cw_field field = {.name = "x", .kind = CW_KIND_STRUCT, .type = &part};
    const uint64_t nested = fingerprint(field, "move", "");
    part.name = "other";
    assert_true(nested == fingerprint(field, "move", ""));
    inner[0].max = 8;
    assert_true(nested != fingerprint(field, "move", ""));
    inner[0].max = 7;
    part.field_count = 2;
    assert_true(nested != fingerprint(field, "move", ""));
    /* Members that do not matter for the kind do not count. */
    field = first;
    field.resolution = 3;
    field.offset = 8;
    assert_true(base == fingerprint(field, "move", ""));

    const struct cw_message_type types[] = {{.name = "a"}, {.name = "b"}};
    const struct cw_message_type swapped[] = {{.name = "b"}, {.name = "a"}};
    const struct cw_message_type block[] = {{.name = "a", .block = true}, {.name = "b"}};
    struct cw_schema *one = create(types, 2), *two = create(swapped, 2), *less = create(types, 1);
    struct cw_schema *with_block = create(block, 2);
    assert_true(cw_schema_fingerprint(one, NULL, 0) != cw_schema_fingerprint(two, NULL, 0));
    assert_true(cw_schema_fingerprint(one, NULL, 0) != cw_schema_fingerprint(less, NULL, 0));
    assert_true(cw_schema_fingerprint(one, NULL, 0) != cw_schema_fingerprint(with_block, NULL, 0));
    cw_schema_destroy(with_block);
    cw_schema_destroy(one);
    cw_schema_destroy(two);
    cw_schema_destroy(less);
}

/* The number is on the wire, in connect tokens: it must not change from release to release. */
TEST(test_a_fingerprint_is_the_same_for_ever)
{
    struct cw_schema *schema = create(&move_type, 1);
    assert_true(cw_schema_fingerprint(schema, (const uint8_t *)"channels", 8) ==
                0xe82e31d73c9617ef);
    cw_schema_destroy(schema);
    schema = create(&tour_type, 1);
    assert_true(cw_schema_fingerprint(schema, (const uint8_t *)"channels", 8) ==
                0x0c9c037af51f6ec0);
    cw_schema_destroy(schema);
}
