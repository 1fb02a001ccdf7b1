/* Tests of tables of fields against the reference: operations of serialize.json that a field can
   hold are written, measured and read by a schema, the others, on the same stream, by hand. */
#include "fixture.h"
#include "serialize_vectors.h"

#include "causeway/schema.h"

#define MOST_OPERATIONS 64

/* Returns false for operations that no table has: alignment, relative numbers, bytes without a
   count before them, and a string that is always empty. */
static bool field_of(const struct operation *o, struct cw_field *field)
{
    *field = (struct cw_field){.name = "field", .min = o->min, .max = o->max};
    switch (o->kind) {
    case OPERATION_BITS:
        field->kind = o->min <= 32 ? CW_KIND_UINT : CW_KIND_UINT_64;
        field->max = UINT64_MAX >> (64 - o->min);
        field->min = 0;
        return true;
    case OPERATION_BOOL:
        field->kind = CW_KIND_BOOL;
        return true;
    case OPERATION_INT:
        field->kind = CW_KIND_INT;
        return true;
    case OPERATION_INT_64:
        field->kind = CW_KIND_INT_64;
        return true;
    case OPERATION_UINT_64:
        field->kind = CW_KIND_UINT_64;
        return true;
    case OPERATION_FLOAT:
        field->kind = CW_KIND_FLOAT;
        return true;
    case OPERATION_DOUBLE:
        field->kind = CW_KIND_DOUBLE;
        return true;
    case OPERATION_COMPRESSED_FLOAT:
        field->kind = CW_KIND_COMPRESSED_FLOAT;
        field->float_min = operation_float(o->min);
        field->float_max = operation_float(o->max);
        field->resolution = operation_float(o->resolution);
        return true;
    case OPERATION_STRING:
        field->kind = CW_KIND_STRING;
        field->max = o->min - 1;
        return o->min > 1;
    default:
        return false;
    }
}

/* Operations that follow each other as the one type of a schema; there is none when the first of
   them can be no field. */
struct run {
    uint32_t count;
    struct cw_schema *schema;
    const struct cw_message_type *type;
};

static struct run run_of(const struct operation *operations, uint32_t count)
{
    struct cw_field fields[MOST_OPERATIONS];
    struct run run = {0};
    while (run.count < count && field_of(&operations[run.count], &fields[run.count]))
        run.count++;
    if (run.count > 0) {
        const struct cw_message_type type = {
            .name = "run", .fields = fields, .field_count = run.count};
        const struct cw_schema_config config = {.types = &type, .count = 1};
        assert_int_equal(cw_schema_create(&config, &run.schema), CW_OK);
        run.type = cw_schema_type(run.schema, 0);
    }
    return run;
}

/* Makes the struct of the run's type, which the caller frees. */
static uint8_t *empty_message(const struct run *run)
{
    return calloc(1, run->type->size);
}

static uint8_t *message_of(const struct run *run, const struct operation *operations)
{
    uint8_t *message = empty_message(run);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct cw_field *field = &run->type->fields[i];
        const struct operation *o = &operations[i];
        const bool wide = field->kind == CW_KIND_INT_64 || field->kind == CW_KIND_UINT_64 ||
                          field->kind == CW_KIND_DOUBLE;
        uint8_t *member = message + field->offset;
        const uint32_t narrow = (uint32_t)o->value;
        if (field->kind == CW_KIND_STRING)
            memcpy(member, o->data, o->value);
        else if (field->kind == CW_KIND_BOOL)
            *member = (uint8_t)narrow;
        else if (wide)
            memcpy(member, &o->value, sizeof o->value);
        else
            memcpy(member, &narrow, sizeof narrow);
    }
    return message;
}

static uint32_t operations_of(const cJSON *item, struct operation *operations,
                              struct operation (*parse)(const cJSON *))
{
    uint32_t count = 0;
    const cJSON *op;
    cJSON_ArrayForEach(op, vectors_get(item, "ops"))
    {
        assert_true(count < MOST_OPERATIONS);
        operations[count++] = parse(op);
    }
    return count;
}

/* The count of operations that a schema took, and of each kind that none can take. */
struct tally {
    size_t fields;
    size_t by_hand[OPERATION_COUNT];
};

/* Checks that every operation was a field except the kinds that cannot be one. */
static void expect_tally(const struct tally *tally, size_t fields)
{
    print_message("%zu operations are fields; by hand:", tally->fields);
    for (int kind = 0; kind < OPERATION_COUNT; kind++) {
        if (tally->by_hand[kind] == 0)
            continue;
        print_message(" %zu %s", tally->by_hand[kind], operation_names[kind]);
        assert_true(kind == OPERATION_ALIGN || kind == OPERATION_BYTES ||
                    kind == OPERATION_RELATIVE || kind == OPERATION_RELATIVE_SEQUENCE ||
                    kind == OPERATION_STRING);
    }
    print_message("\n");
    assert_true(tally->fields >= fields);
}

TEST(test_a_schema_writes_and_measures_as_the_reference)
{
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    static struct operation operations[MOST_OPERATIONS];
    struct tally tally = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "cases"))
    {
        size_t size;
        uint8_t *expected = vectors_bytes(vectors_get(item, "bytes"), &size);
        uint8_t *written = malloc(size);
        struct cw_stream writer = cw_stream_writer(written, size);
        struct cw_stream measurer = cw_stream_measurer();
        const uint32_t count = operations_of(item, operations, vector_operation);
        for (uint32_t i = 0; i < count;) {
            struct run run = run_of(operations + i, count - i);
            if (run.count == 0) {
                assert_true(operation_run(&writer, &operations[i]));
                assert_true(operation_run(&measurer, &operations[i]));
                tally.by_hand[operations[i++].kind]++;
                continue;
            }
            uint8_t *message = message_of(&run, operations + i);
            assert_true(cw_schema_serialize(run.schema, 0, &writer, message));
            assert_true(cw_schema_serialize(run.schema, 0, &measurer, message));
            free(message);
            cw_schema_destroy(run.schema);
            i += run.count;
            tally.fields += run.count;
            const cJSON *after = cJSON_GetArrayItem(vectors_get(item, "bits_after"), (int)i - 1);
            assert_int_equal(cw_stream_position(&writer), after->valueint);
        }
        assert_int_equal(cw_stream_flush(&writer), size);
        assert_memory_equal(written, expected, size);
        assert_int_equal(cw_stream_position(&measurer), vectors_int(item, "measure_bits"));
        free(written);
        free(expected);
    }
    expect_tally(&tally, 1000);
    cJSON_Delete(file);
}

/* Reads the operations, those that are fields by a schema, and checks their values. */
static void read_by_schema(struct cw_stream *reader, const struct operation *operations,
                           uint32_t count, struct tally *tally)
{
    for (uint32_t i = 0; i < count;) {
        struct run run = run_of(operations + i, count - i);
        if (run.count == 0) {
            struct operation o = operation_without_value(&operations[i]);
            assert_true(operation_run(reader, &o));
            assert_true(operation_same_value(&o, &operations[i]));
            tally->by_hand[operations[i++].kind]++;
            continue;
        }
        uint8_t *expected = message_of(&run, operations + i), *message = empty_message(&run);
        assert_true(cw_schema_serialize(run.schema, 0, reader, message));
        assert_memory_equal(message, expected, run.type->size);
        free(expected);
        free(message);
        cw_schema_destroy(run.schema);
        i += run.count;
        tally->fields += run.count;
    }
}

static void read_list(const cJSON *list, struct tally *tally)
{
    static struct operation operations[MOST_OPERATIONS];
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (vector_refused_by_choice(item))
            continue;
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "bytes"), &size);
        struct cw_stream reader = cw_stream_reader(bytes, size);
        const uint32_t count = operations_of(item, operations, vector_operation_decoded);
        read_by_schema(&reader, operations, count, tally);
        free(bytes);
    }
}

TEST(test_a_schema_reads_as_the_reference)
{
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    struct tally cases = {0}, accept = {0};
    read_list(vectors_get(file, "cases"), &cases);
    read_list(vectors_get(file, "accept"), &accept);
    expect_tally(&cases, 1000);
    expect_tally(&accept, 6);
    cJSON_Delete(file);
}

/* The operations before the one that is to fail have no values in the file, so that a schema
   without that one shows that they do not fail. */
TEST(test_a_schema_refuses_as_the_standard)
{
    cJSON *file = vectors_load("serialize.json");
    if (!file)
        skip();
    static struct operation operations[MOST_OPERATIONS];
    struct tally tally = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "refuse"))
    {
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "bytes"), &size);
        struct cw_stream reader = cw_stream_reader(bytes, size);
        const uint32_t last = (uint32_t)vectors_int(item, "fails_at");
        assert_true(operations_of(item, operations, vector_operation) > last);
        for (uint32_t i = 0; i <= last;) {
            struct run run = run_of(operations + i, i < last ? last - i : 1);
            const uint32_t next = i + (run.count > 0 ? run.count : 1);
            bool done;
            if (run.count > 0) {
                uint8_t *message = empty_message(&run);
                done = cw_schema_serialize(run.schema, 0, &reader, message);
                free(message);
                cw_schema_destroy(run.schema);
                tally.fields += run.count;
            } else {
                done = operation_run(&reader, &operations[i]);
                tally.by_hand[operations[i].kind]++;
            }
            assert_int_equal(done, next <= last);
            i = next;
        }
        assert_true(cw_stream_failed(&reader));
        free(bytes);
    }
    expect_tally(&tally, 60);
    cJSON_Delete(file);
}
