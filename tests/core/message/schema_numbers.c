/* Tests of the list of numbers in a struct, at any depth. */
#include "message/schema_numbers.h"

#include "fixture.h"

#include <math.h>
#include <stddef.h>

#define RICH_FIELDS(FIELD)                                                                         \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(small, CW_INT(-5, 5))                                                                    \
    FIELD(count, CW_BITS(32))                                                                      \
    FIELD(wide, CW_INT_64(INT64_MIN, INT64_MAX))                                                   \
    FIELD(number, CW_FLOAT)                                                                        \
    FIELD(precise, CW_DOUBLE)                                                                      \
    FIELD(packed, CW_COMPRESSED_FLOAT(-1, 1, 0.1f))                                                \
    FIELD(name, CW_STRING(5))                                                                      \
    FIELD(list, CW_ARRAY(CW_INT(-9, 9), 3))                                                        \
    FIELD(maybe, CW_OPTIONAL(CW_DOUBLE))
CW_MESSAGE(rich, RICH_FIELDS)

#define MOST 16

struct rig {
    struct cw_schema *schema;
    struct cw_schema_number numbers[MOST];
    struct cw_schema_item items[MOST];
    struct cw_schema_numbers list;
};

static void rig_open(struct rig *rig, const struct cw_message_type *type)
{
    const struct cw_schema_config config = {.types = type, .count = 1};
    assert_int_equal(cw_schema_create(&config, &rig->schema), CW_OK);
    rig->list = (struct cw_schema_numbers){0};
    cw_schema_list_numbers(rig->schema, 0, &rig->list);
    const struct cw_schema_numbers counted = rig->list;
    assert_in_range(counted.count, 0, MOST);
    assert_in_range(counted.item_count, 0, MOST);
    rig->list.numbers = rig->numbers;
    rig->list.items = rig->items;
    cw_schema_list_numbers(rig->schema, 0, &rig->list);
    assert_int_equal(rig->list.count, counted.count);
    assert_int_equal(rig->list.item_count, counted.item_count);
}

TEST(all_numbers_are_listed)
{
    static const struct {
        uint32_t field;
        size_t offset;
    } expected[] = {
        {1, offsetof(struct rich, small)},         {2, offsetof(struct rich, count)},
        {4, offsetof(struct rich, number)},        {5, offsetof(struct rich, precise)},
        {6, offsetof(struct rich, packed)},        {8, offsetof(struct rich, list.items[0])},
        {8, offsetof(struct rich, list.items[1])}, {8, offsetof(struct rich, list.items[2])},
        {9, offsetof(struct rich, maybe.value)},
    };
    struct rig rig;
    rig_open(&rig, &rich_type);
    assert_int_equal(rig.list.count, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < rig.list.count; i++) {
        assert_int_equal(rig.numbers[i].field, expected[i].field);
        assert_int_equal(rig.numbers[i].offset, expected[i].offset);
    }
    cw_schema_list_numbers(rig.schema, 1, &rig.list);
    assert_int_equal(rig.list.count, 0);
    cw_schema_destroy(rig.schema);
}

TEST(values_come_and_go_exactly)
{
    struct rig rig;
    rig_open(&rig, &rich_type);
    const float number = 0.1f, packed = -0.7f;
    struct rich rich = {.small = -5,
                        .count = UINT32_MAX,
                        .number = number,
                        .precise = 0.1,
                        .packed = packed,
                        .list = {2, {-9, 9, 4}},
                        .maybe = {true, 1e300}};
    const double expected[] = {-5, UINT32_MAX, (double)number, 0.1, (double)packed, -9,
                               9,  4,          1e300};
    for (uint32_t i = 0; i < rig.list.count; i++) {
        assert_true(cw_schema_get_number(&rig.numbers[i], &rich) == expected[i]);
        assert_int_equal(cw_schema_has_number(&rig.list, &rig.numbers[i], &rich), i != 7);
        cw_schema_set_number(&rig.numbers[i], &rich, i);
        assert_true(cw_schema_get_number(&rig.numbers[i], &rich) == i);
    }
    rich.maybe.present = false;
    rich.list.count = 0;
    for (uint32_t i = 0; i < rig.list.count; i++)
        assert_int_equal(cw_schema_has_number(&rig.list, &rig.numbers[i], &rich), i < 5);
    cw_schema_destroy(rig.schema);
}

TEST(integers_are_rounded_and_bounded)
{
    struct rig rig;
    rig_open(&rig, &rich_type);
    struct rich rich = {0};
    static const struct {
        double value;
        int32_t small;
        uint32_t count;
    } expected[] = {{2.5, 3, 3},
                    {-2.6, -3, 0},
                    {1e10, INT32_MAX, UINT32_MAX},
                    {-INFINITY, INT32_MIN, 0},
                    {4294967295.0, INT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cw_schema_set_number(&rig.numbers[0], &rich, expected[i].value);
        cw_schema_set_number(&rig.numbers[1], &rich, expected[i].value);
        assert_int_equal(rich.small, expected[i].small);
        assert_int_equal(rich.count, expected[i].count);
    }
    cw_schema_destroy(rig.schema);
}

#define POINT_FIELDS(FIELD)                                                                        \
    FIELD(known, CW_BOOL)                                                                          \
    FIELD(x, CW_FLOAT)                                                                             \
    FIELD(y, CW_OPTIONAL(CW_DOUBLE))
CW_MESSAGE(point, POINT_FIELDS)

#define TRAIL_FIELDS(FIELD)                                                                        \
    FIELD(name, CW_STRING(3))                                                                      \
    FIELD(start, CW_STRUCT(point))                                                                 \
    FIELD(stops, CW_ARRAY(CW_STRUCT(point), 2))                                                    \
    FIELD(level, CW_INT(-9, 9))
CW_MESSAGE(trail, TRAIL_FIELDS)

TEST(numbers_in_structs_are_listed_with_what_they_hang_on)
{
    static const uint32_t fields[] = {1, 1, 2, 2, 2, 2, 3};
    struct rig rig;
    rig_open(&rig, &trail_type);
    assert_int_equal(rig.list.count, sizeof fields / sizeof *fields);
    assert_int_equal(rig.list.item_count, 5); /* y thrice, stops twice */
    struct trail trail = {.start = {.x = 1, .y = {true, 2}},
                          .stops = {2, {{.x = 3, .y = {false, 4}}, {.x = 5, .y = {true, 6}}}},
                          .level = 7};
    for (uint32_t i = 0; i < rig.list.count; i++) {
        assert_int_equal(rig.numbers[i].field, fields[i]);
        assert_true(cw_schema_get_number(&rig.numbers[i], &trail) == i + 1);
        assert_int_equal(cw_schema_has_number(&rig.list, &rig.numbers[i], &trail), i != 3);
    }
    /* An item that is not there has no option that is present. */
    trail.stops.count = 1;
    trail.start.y.present = false;
    for (uint32_t i = 0; i < rig.list.count; i++)
        assert_int_equal(cw_schema_has_number(&rig.list, &rig.numbers[i], &trail),
                         i == 0 || i == 2 || i == 6);
    cw_schema_destroy(rig.schema);
}
