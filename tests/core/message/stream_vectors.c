/* Tests of the stream against the reference: what it writes, what it reads, what it refuses. */
#include "fixture.h"
#include "serialize_vectors.h"

TEST(test_writes_and_measures_as_the_reference)
{
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
            struct operation o = vector_operation(op);
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
        if (vector_refused_by_choice(item))
            continue; /* the test below covers these */
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "bytes"), &size);
        struct cw_stream reader = cw_stream_reader(bytes, size);
        cJSON_ArrayForEach(op, vectors_get(item, "ops"))
        {
            const struct operation expected = vector_operation_decoded(op);
            struct operation o = operation_without_value(&expected);
            assert_true(operation_run(&reader, &o));
            assert_true(operation_same_value(&o, &expected));
        }
        free(bytes);
    }
}

TEST(test_reads_as_the_reference)
{
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    read_list(vectors_get(file, "cases"));
    read_list(vectors_get(file, "accept"));
    cJSON_Delete(file);
}

TEST(test_refuses_as_the_standard)
{
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
            struct operation o = vector_operation(op);
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

TEST(test_refuses_a_relative_number_that_wraps)
{
    const uint8_t next = 1;
    struct cw_stream reader = cw_stream_reader(&next, 1);
    uint32_t current = 7;
    assert_false(cw_stream_relative(&reader, UINT32_MAX, &current));
    assert_int_equal(current, 7);
}
