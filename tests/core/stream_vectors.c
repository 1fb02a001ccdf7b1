/* The stream against the reference: what it writes, what it reads, what it refuses. */
#include "operations.h"
#include "unit.h"
#include "vectors.h"

static uint64_t number(const cJSON *object, const char *key)
{
    const cJSON *item = vectors_get(object, key);
    if (!item || cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? 1 : 0;
    if (cJSON_IsString(item)) {
        const char *text = cJSON_GetStringValue(item);
        return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
    }
    /* a larger one is the decimal of a float, whose bits are read instead */
    const double value = cJSON_GetNumberValue(item);
    return value > -1e18 && value < 1e18 ? (uint64_t)(int64_t)value : 0;
}

static uint64_t pattern(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(vectors_get(object, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

static struct operation parse(const cJSON *object)
{
    const char *name = cJSON_GetStringValue(vectors_get(object, "op"));
    struct operation o = {.kind = OPERATION_COUNT,
                          .value = number(object, "value"),
                          .min = number(object, "min"),
                          .max = number(object, "max")};
    for (int kind = 0; kind < OPERATION_COUNT; kind++)
        if (strcmp(name, operation_names[kind]) == 0)
            o.kind = (enum operation_kind)kind;
    switch (o.kind) {
    case OPERATION_BITS:
        o.min = number(object, "bits");
        break;
    case OPERATION_UINT_64:
        o.max = UINT64_MAX;
        break;
    case OPERATION_FLOAT:
    case OPERATION_DOUBLE:
        o.value = pattern(object, "hex");
        break;
    case OPERATION_COMPRESSED_FLOAT:
        o.value = pattern(object, "value_hex");
        o.min = pattern(object, "min_hex");
        o.max = pattern(object, "max_hex");
        o.resolution = pattern(object, "res_hex");
        break;
    case OPERATION_BYTES:
    case OPERATION_STRING: {
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(object, "hex"), &size);
        memcpy(o.data, bytes, size);
        free(bytes);
        o.value = size;
        o.min = number(object, o.kind == OPERATION_BYTES ? "count" : "buffer_size");
        break;
    }
    case OPERATION_RELATIVE:
    case OPERATION_RELATIVE_SEQUENCE:
        o.value = number(object, "current");
        o.min = number(object, "previous");
        break;
    default:
        break;
    }
    return o;
}

static struct operation parse_decoded(const cJSON *object)
{
    struct operation o = parse(object);
    if (o.kind == OPERATION_COMPRESSED_FLOAT)
        o.value = pattern(object, "decoded_hex");
    return o;
}

static void test_writes_and_measures_as_the_reference(void **state)
{
    (void)state;
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    const cJSON *item, *op;
    cJSON_ArrayForEach(item, vectors_get(file, "cases"))
    {
        size_t size;
        uint8_t *expected = vectors_bytes(vectors_get(item, "bytes"), &size);
        uint8_t *written = malloc(size);
        struct cw_stream writer = cw_stream_writer(written, size);
        struct cw_stream measurer = cw_stream_measurer();
        int index = 0;
        cJSON_ArrayForEach(op, vectors_get(item, "ops"))
        {
            struct operation o = parse(op);
            assert_true(operation_run(&writer, &o));
            const cJSON *after = cJSON_GetArrayItem(vectors_get(item, "bits_after"), index++);
            assert_int_equal(cw_stream_position(&writer), after->valueint);
            assert_true(operation_run(&measurer, &o));
        }
        assert_int_equal(cw_stream_flush(&writer), size);
        assert_memory_equal(written, expected, size);
        assert_int_equal(cw_stream_position(&writer), vectors_int(item, "bits"));
        assert_int_equal(cw_stream_position(&measurer), vectors_int(item, "measure_bits"));
        free(written);
        free(expected);
    }
    cJSON_Delete(file);
}

static void read_list(const cJSON *list)
{
    const cJSON *item, *op;
    cJSON_ArrayForEach(item, list)
    {
        const cJSON *note = vectors_get(item, "note");
        if (note && strstr(note->valuestring, "wraps to 0 in the reference"))
            continue; /* the standard allows to refuse it, and the test below wants that */
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "bytes"), &size);
        struct cw_stream reader = cw_stream_reader(bytes, size);
        cJSON_ArrayForEach(op, vectors_get(item, "ops"))
        {
            const struct operation expected = parse_decoded(op);
            struct operation o = operation_without_value(&expected);
            assert_true(operation_run(&reader, &o));
            assert_true(operation_same_value(&o, &expected));
        }
        free(bytes);
    }
}

static void test_reads_as_the_reference(void **state)
{
    (void)state;
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    read_list(vectors_get(file, "cases"));
    read_list(vectors_get(file, "accept"));
    cJSON_Delete(file);
}

static void test_refuses_as_the_standard(void **state)
{
    (void)state;
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    const cJSON *item, *op;
    cJSON_ArrayForEach(item, vectors_get(file, "refuse"))
    {
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "bytes"), &size);
        struct cw_stream reader = cw_stream_reader(bytes, size);
        int index = 0;
        cJSON_ArrayForEach(op, vectors_get(item, "ops"))
        {
            struct operation o = parse(op);
            const bool done = operation_run(&reader, &o);
            assert_int_equal(done, index++ < vectors_int(item, "fails_at"));
            if (!done)
                break;
        }
        assert_true(cw_stream_failed(&reader));
        free(bytes);
    }
    cJSON_Delete(file);
}

static void test_refuses_a_relative_number_that_wraps(void **state)
{
    (void)state;
    const uint8_t next = 1;
    struct cw_stream reader = cw_stream_reader(&next, 1);
    uint32_t current = 7;
    assert_false(cw_stream_relative(&reader, UINT32_MAX, &current));
    assert_int_equal(current, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_and_measures_as_the_reference),
        cmocka_unit_test(test_reads_as_the_reference),
        cmocka_unit_test(test_refuses_as_the_standard),
        cmocka_unit_test(test_refuses_a_relative_number_that_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
