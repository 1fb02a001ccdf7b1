/* Tests of constants, enumerations, flags, fixed point and numbers of 128 bits: their bytes, and
   what is refused. */
#include "causeway/schema.h"

#include "fixture.h"

#include <stddef.h>
#include <string.h>

enum team { TEAM_NONE, TEAM_RED, TEAM_BLUE, TEAMS };

#define VALUES_FIELDS(FIELD)                                                                       \
    FIELD(team, CW_ENUMERATION(TEAMS))                                                             \
    FIELD(abilities, CW_FLAGS(6))                                                                  \
    FIELD(magic, CW_CONSTANT(0x12345678, 32))                                                      \
    FIELD(powers, CW_FLAGS_64(40))                                                                 \
    FIELD(end, CW_CONSTANT(UINT64_C(0x8000000000000001), 64))
CW_MESSAGE(values, VALUES_FIELDS)

#define WIDE_FIELDS(FIELD)                                                                         \
    FIELD(id, CW_UINT_128)                                                                         \
    FIELD(speed, CW_FIXED(8, 8, -100, 100))                                                        \
    FIELD(balance, CW_INT_128)                                                                     \
    FIELD(distance, CW_FIXED_64(48, 16, -1000000, 1000000))                                        \
    FIELD(levels, CW_ARRAY(CW_FIXED(2, 6, 0, 1), 4))                                               \
    FIELD(more, CW_OPTIONAL(CW_INT_128))
CW_MESSAGE(wide, WIDE_FIELDS)

static struct cw_schema *create(const struct cw_message_type *type)
{
    const struct cw_schema_config config = {.types = type, .count = 1};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    assert_int_equal(cw_schema_type(schema, 0)->size, type->size);
    return schema;
}

static bool values_by_hand(struct cw_stream *stream, struct values *m)
{
    uint32_t magic = 0x12345678;
    uint64_t end = UINT64_C(0x8000000000000001);
    return cw_stream_uint(stream, &m->team, 0, 2) && cw_stream_bits(stream, &m->abilities, 6) &&
           cw_stream_bits(stream, &magic, 32) && magic == 0x12345678 &&
           cw_stream_bits_64(stream, &m->powers, 40) && cw_stream_bits_64(stream, &end, 64) &&
           end == UINT64_C(0x8000000000000001);
}

/* Writes the message in both ways, which must give the same bytes, reads them, and returns their
   number. */
static size_t written(const struct cw_schema *schema, void *message, void *again, uint8_t *out)
{
    struct cw_stream writer = cw_stream_writer(out, 128), measurer = cw_stream_measurer();
    assert_int_equal(cw_schema_check(schema, 0, message), CW_FIELD_NONE);
    assert_true(cw_schema_serialize(schema, 0, &writer, message));
    assert_true(cw_schema_serialize(schema, 0, &measurer, message));
    const size_t size = cw_stream_flush(&writer);
    assert_int_equal((cw_stream_position(&measurer) + 7) / 8, size);
    struct cw_stream reader = cw_stream_reader(out, size);
    assert_true(cw_schema_serialize(schema, 0, &reader, again));
    return size;
}

TEST(test_constants_enumerations_and_flags_are_as_by_hand)
{
    struct cw_schema *schema = create(&values_type);
    struct values message = {TEAM_BLUE, 0x29, UINT64_C(0x9876543210)}, again = {0};
    uint8_t bytes[128], own[128];
    const size_t size = written(schema, &message, &again, bytes);
    struct cw_stream hand = cw_stream_writer(own, sizeof own);
    assert_true(values_by_hand(&hand, &message));
    assert_int_equal(cw_stream_flush(&hand), size);
    assert_memory_equal(bytes, own, size);
    assert_memory_equal(&message, &again, sizeof message);
    cw_schema_destroy(schema);
}

/* A bit of a constant that is another one must be refused, and no other bit. */
TEST(test_a_constant_that_differs_is_refused)
{
    struct cw_schema *schema = create(&values_type);
    struct values message = {TEAM_RED, 0, 0}, again;
    uint8_t bytes[128];
    const size_t size = written(schema, &message, &(struct values){0}, bytes);
    for (size_t bit = 2; bit < 2 + 6 + 32 + 40 + 64; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct cw_stream reader = cw_stream_reader(bytes, size), hand = reader;
        const bool is_constant = (bit >= 8 && bit < 40) || bit >= 80;
        memset(&again, 0, sizeof again);
        assert_int_equal(cw_schema_serialize(schema, 0, &reader, &again), !is_constant);
        assert_int_equal(cw_stream_failed(&reader), is_constant);
        assert_int_equal(values_by_hand(&hand, &again), !is_constant);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    /* the team takes two bits, and three of their values */
    bytes[0] |= 3;
    struct cw_stream reader = cw_stream_reader(bytes, size);
    assert_false(cw_schema_serialize(schema, 0, &reader, &again));
    message.team = TEAMS;
    assert_int_equal(cw_schema_check(schema, 0, &message), 0);
    cw_schema_destroy(schema);
}

TEST(test_wide_numbers_have_the_bytes_of_the_standard)
{
    struct cw_schema *schema = create(&wide_type);
    struct wide message = {.id = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)},
                           .speed = -832, /* -3.25 */
                           .balance = {UINT64_MAX, -1},
                           .distance = 1000000 * INT64_C(65536),
                           .levels = {.count = 2, .items = {0, 64}},
                           .more = {true, {5, INT64_MIN}}},
                again = {0};
    static const uint8_t begin[] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* id */
                                    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe,
                                    0xc0, 0x60, /* -832 + 25600 */
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 2^127 - 1 */
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    uint8_t bytes[128];
    const size_t size = written(schema, &message, &again, bytes);
    assert_memory_equal(bytes, begin, sizeof begin);
    assert_memory_equal(&message, &again, sizeof message);
    /* 38 bits of the distance, 3 of the count, 7 for each of two levels, 1 and 128 of the option */
    assert_int_equal(size, sizeof begin + (38 + 3 + 14 + 1 + 128 + 7) / 8);
    message.speed = 25601;
    assert_int_equal(cw_schema_check(schema, 0, &message), 1);
    cw_schema_destroy(schema);
}

TEST(test_a_constant_is_a_single_number_that_fits)
{
    static const struct cw_field good = {.name = "a", .kind = CW_KIND_CONSTANT, .min = 7, .max = 7};
    struct cw_field fields[] = {{.name = "b", .kind = CW_KIND_BOOL}, good};
    const struct cw_message_type type = {.name = "t", .fields = fields, .field_count = 2};
    const struct cw_schema_config config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    cw_schema_destroy(schema);
    fields[1].optional = true;
    assert_int_equal(cw_schema_create(&config, &schema), CW_ERROR_SCHEMA_FIELD);
    fields[1] = good;
    fields[1].array = 2;
    assert_int_equal(cw_schema_create(&config, &schema), CW_ERROR_SCHEMA_FIELD);
    fields[1] = good;
    fields[1].min = 8;
    assert_int_equal(cw_schema_create(&config, &schema), CW_ERROR_SCHEMA_FIELD);
}

TEST(test_constants_come_back_and_are_in_the_fingerprint)
{
    struct cw_schema *schema = create(&values_type), *decoded;
    uint8_t bytes[512], again[512];
    const size_t size = cw_schema_encode(schema, bytes, sizeof bytes);
    assert_true(size <= sizeof bytes);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
    assert_int_equal(cw_schema_encode(decoded, again, sizeof again), size);
    assert_memory_equal(bytes, again, size);
    cw_schema_destroy(decoded);
    const uint64_t fingerprint = cw_schema_fingerprint(schema, NULL, 0);
    size_t at = 0;
    while (at + 4 < size && memcmp(bytes + at, "\x78\x56\x34\x12", 4) != 0)
        at++;
    assert_true(at + 4 < size);
    bytes[at] = 0x79;
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
    assert_true(cw_schema_fingerprint(decoded, NULL, 0) != fingerprint);
    cw_schema_destroy(decoded);
    cw_schema_destroy(schema);
}
