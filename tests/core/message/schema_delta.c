/* Tests of structs as differences: random ones come back, small changes are cheap, bytes are not
   trusted. */
#include "message/schema_delta.h"

#include "fixture.h"
#include "random_schema.h"

static void change(const struct cw_schema *schema, uint32_t type, uint8_t *message)
{
    const struct cw_message_type *const of = cw_schema_type(schema, type);
    uint8_t *const other = random_message(schema, type);
    /* The message takes over some fields as a whole. */
    for (uint32_t i = 0; i < of->field_count; i++) {
        const uint32_t end = i + 1 < of->field_count ? of->fields[i + 1].offset : of->size;
        const uint32_t start = of->fields[i].offset;
        if (random_below(3) == 0)
            memcpy(message + start, other + start, end - start);
    }
    free(other);
}

static size_t write(const struct cw_schema *schema, uint32_t type, const uint8_t *baseline,
                    uint8_t *message, uint8_t *out, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    assert_true(cw_schema_delta(schema, type, &stream, baseline, message));
    struct cw_stream measurer = cw_stream_measurer();
    assert_true(cw_schema_delta(schema, type, &measurer, baseline, message));
    assert_true(cw_stream_position(&measurer) >= cw_stream_position(&stream));
    return cw_stream_flush(&stream);
}

static bool read(const struct cw_schema *schema, uint32_t type, const uint8_t *baseline,
                 uint8_t *message, const uint8_t *data, size_t size)
{
    struct cw_stream stream = cw_stream_reader(data, size);
    return cw_schema_delta(schema, type, &stream, baseline, message);
}

TEST(test_random_structs_come_back)
{
    static uint8_t out[2 * RANDOM_MOST_BYTES];
    random_state = 7;
    for (int round = 0; round < 3000; round++) {
        struct cw_schema *const schema = random_schema();
        const uint32_t type = random_below(cw_schema_count(schema));
        const uint32_t size = cw_schema_type(schema, type)->size;
        uint8_t *const baseline = random_message(schema, type);
        uint8_t *const message = random_message(schema, type);
        uint8_t *const received = calloc(1, size + 1u);
        if (round % 2)
            memcpy(message, baseline, size);
        if (round % 4 > 1)
            change(schema, type, message);
        const size_t written = write(schema, type, baseline, message, out, sizeof out);
        assert_true(read(schema, type, baseline, received, out, written));
        assert_true(cw_schema_equal(schema, type, message, received));
        /* Reading also works in place. */
        memcpy(received, baseline, size);
        assert_true(read(schema, type, received, received, out, written));
        assert_true(cw_schema_equal(schema, type, message, received));
        free(received);
        free(message);
        free(baseline);
        cw_schema_destroy(schema);
    }
}

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_BITS(18))                                                                          \
    FIELD(small, CW_INT(-3, 3))                                                                    \
    FIELD(large, CW_INT_64(INT64_MIN, INT64_MAX))                                                  \
    FIELD(angle, CW_COMPRESSED_FLOAT(-1, 1, 0.5f))                                                 \
    FIELD(touched, CW_BOOL)                                                                        \
    FIELD(name, CW_STRING(7))                                                                      \
    FIELD(data, CW_BYTES(4))                                                                       \
    FIELD(target, CW_OPTIONAL(CW_BITS(8)))                                                         \
    FIELD(path, CW_ARRAY(CW_BITS(8), 4))
CW_MESSAGE(body, BODY_FIELDS)
#define BODY_FIELD_COUNT 9

static struct cw_schema *body_schema(void)
{
    struct cw_schema *schema;
    const struct cw_schema_config config = {.types = &body_type, .count = 1};
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    return schema;
}

static const struct body still = {.x = 1000, .name = "eve", .path = {2, {1, 2}}};

static size_t bits_of(const struct body *message)
{
    struct cw_schema *const schema = body_schema();
    struct body to = *message;
    struct cw_stream stream = cw_stream_measurer();
    assert_true(cw_schema_delta(schema, 0, &stream, &still, &to));
    cw_schema_destroy(schema);
    return cw_stream_position(&stream);
}

TEST(test_what_is_the_same_costs_a_bit)
{
    struct body body = still;
    assert_int_equal(bits_of(&body), 1);
    /* These bytes are beyond the count, behind an absent option, after a string's end, and within a
       step. */
    body.path.items[3] = 9;
    body.target.value = 9;
    strcpy(body.name + 4, "x");
    body.data.data[0] = 9;
    body.angle = 0.1f;
    assert_int_equal(bits_of(&body), 1);
}

TEST(test_a_small_difference_costs_few_bits)
{
    const size_t head = 1 + BODY_FIELD_COUNT;
    struct body body = still;
    for (int by = 1; by <= 16; by++) {
        body.x = still.x + (uint32_t)by;
        assert_int_equal(bits_of(&body), head + 1 + 5);
        body.x = still.x - (uint32_t)by;
        assert_int_equal(bits_of(&body), head + 1 + 5);
    }
    body.x = still.x - 17;
    assert_int_equal(bits_of(&body), head + 2 + 10);
    body.x = still.x + 16 + 512;
    assert_int_equal(bits_of(&body), head + 2 + 10);
    body.x = still.x + 16 + 513;
    assert_int_equal(bits_of(&body), head + 2 + 18);
    body = still;
    body.small = 3;
    assert_int_equal(bits_of(&body), head + 3);
    body = still;
    body.touched = true;
    assert_int_equal(bits_of(&body), head);
    body = still;
    body.path.items[1] = 3;
    assert_int_equal(bits_of(&body), head + 3 + 2 + 1 + 3);
}

#define POINT_FIELDS(FIELD)                                                                        \
    FIELD(x, CW_BITS(18))                                                                          \
    FIELD(y, CW_BITS(18))
CW_MESSAGE(point, POINT_FIELDS)

#define TRAIL_FIELDS(FIELD)                                                                        \
    FIELD(start, CW_STRUCT(point))                                                                 \
    FIELD(stops, CW_ARRAY(CW_STRUCT(point), 7))                                                    \
    FIELD(end, CW_OPTIONAL(CW_STRUCT(point)))
CW_MESSAGE(trail, TRAIL_FIELDS)

static size_t trail_bits(const struct trail *baseline, const struct trail *message)
{
    struct cw_schema *schema;
    const struct cw_schema_config config = {.types = &trail_type, .count = 1};
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    struct trail to = *message, received;
    uint8_t out[64];
    const size_t size = write(schema, 0, (const void *)baseline, (void *)&to, out, sizeof out);
    memset(&received, 0, sizeof received);
    assert_true(read(schema, 0, (const void *)baseline, (void *)&received, out, size));
    assert_memory_equal(&received, message, sizeof received);
    struct cw_stream stream = cw_stream_measurer();
    assert_true(cw_schema_delta(schema, 0, &stream, baseline, &to));
    cw_schema_destroy(schema);
    return cw_stream_position(&stream);
}

TEST(test_of_a_struct_goes_what_has_changed)
{
    /* The head says that something has changed, and which of x and y of start, stops, and end; a
       step says one up in the short form. */
    const size_t head = 1 + 4, step = 1 + 5;
    struct trail from, to;
    memset(&from, 0, sizeof from);
    from.stops.count = 5;
    from.end.present = true;
    to = from;
    assert_int_equal(trail_bits(&from, &to), 1);
    to.start.y = 1;
    assert_int_equal(trail_bits(&from, &to), head + step);
    to = from;
    to.end.value.x = 1; /* present, changed, x and y */
    assert_int_equal(trail_bits(&from, &to), head + 1 + 1 + 2 + step);
    to = from;
    to.stops.items[3].y = 1; /* the count, a bit for each, x and y */
    assert_int_equal(trail_bits(&from, &to), head + 3 + 5 + 2 + step);
    to = from;
    to.stops.count = 6; /* a whole item, which has no baseline */
    to.stops.items[5].x = 9;
    assert_int_equal(trail_bits(&from, &to), head + 3 + 5 + 2 * 18);
}

TEST(test_every_integer_comes_back_from_every_other)
{
    static const uint64_t edges[] = {0, 1, 2, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX};
    struct cw_schema *const schema = body_schema();
    uint8_t out[64];
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (size_t j = 0; j < sizeof edges / sizeof *edges; j++) {
            struct body from = still, to = still, received = {0};
            from.large = (int64_t)edges[i];
            to.large = (int64_t)edges[j];
            from.small = (int32_t)(i % 7) - 3;
            to.small = (int32_t)(j % 7) - 3;
            const size_t size = write(schema, 0, (void *)&from, (void *)&to, out, sizeof out);
            assert_true(read(schema, 0, (void *)&from, (void *)&received, out, size));
            assert_memory_equal(&received, &to, sizeof to);
        }
    cw_schema_destroy(schema);
}

TEST(test_a_difference_does_not_leave_the_range)
{
    struct cw_schema *const schema = body_schema();
    /* The bits say changed, x of the fields, small, and one down or up: from 0, and from the
       largest. */
    const uint8_t down[] = {3, 1 << 2, 0, 0}, up[] = {3, 3 << 2, 0, 0};
    struct body from = still, received = {0};
    assert_true(read(schema, 0, (void *)&from, (void *)&received, down, sizeof down));
    assert_int_equal(received.x, still.x - 1);
    from.x = 0;
    assert_false(read(schema, 0, (void *)&from, (void *)&received, down, sizeof down));
    assert_true(read(schema, 0, (void *)&from, (void *)&received, up, sizeof up));
    from.x = (1 << 18) - 1;
    assert_false(read(schema, 0, (void *)&from, (void *)&received, up, sizeof up));
    assert_true(read(schema, 0, (void *)&from, (void *)&received, down, sizeof down));
    cw_schema_destroy(schema);
}

TEST(test_what_is_read_is_in_range_whatever_the_bytes)
{
    uint32_t accepted = 0;
    random_state = 11;
    for (int round = 0; round < 20000; round++) {
        struct cw_schema *const schema = random_schema();
        const uint32_t type = random_below(cw_schema_count(schema));
        uint8_t *const baseline = random_message(schema, type);
        uint8_t *const received = calloc(1, cw_schema_type(schema, type)->size + 1u);
        uint8_t bytes[64];
        /* The block has exactly that size, for the sanitizer. */
        const size_t size = random_below(sizeof bytes);
        uint8_t *const data = malloc(size + 1);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)random_32();
        if (read(schema, type, baseline, received, data, size)) {
            assert_int_equal(cw_schema_check(schema, type, received), CW_FIELD_NONE);
            accepted++;
        }
        free(data);
        free(received);
        free(baseline);
        cw_schema_destroy(schema);
    }
    assert_true(accepted > 1000);
}

static bool refuse(struct cw_stream *stream, void *message)
{
    (void)message;
    return cw_stream_fail(stream);
}

TEST(test_types_without_a_table_are_refused)
{
    const struct cw_message_type own = {.name = "own", .size = 4, .serialize = refuse};
    const struct cw_schema_config config = {.types = &own, .count = 1};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    uint32_t number = 0;
    struct cw_stream stream = cw_stream_measurer();
    assert_false(cw_schema_equal(schema, 0, &number, &number));
    assert_false(cw_schema_equal(schema, 1, &number, &number));
    assert_false(cw_schema_equal(NULL, 0, &number, &number));
    assert_false(cw_schema_delta(schema, 0, &stream, &number, &number));
    assert_true(cw_stream_failed(&stream));
    assert_false(cw_schema_delta(schema, 0, NULL, &number, &number));
    cw_schema_destroy(schema);
}
