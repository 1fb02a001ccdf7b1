/* Tests of structs with steps in place of floats: there and back, at every depth. */
#include "message/schema_quantized.h"

#include "fixture.h"
#include "random_schema.h"

TEST(test_random_structs_come_back_through_their_steps)
{
    static uint8_t out[2 * RANDOM_MOST_BYTES];
    const struct cw_allocator allocator = {0};
    uint32_t other = 0;
    for (int round = 0; round < 1000; round++) {
        struct cw_schema *const schema = random_schema();
        struct cw_arena arena = {NULL, 0, 0};
        cw_schema_quantized(schema, &arena);
        arena = cw_arena_create(&allocator, arena.used);
        struct cw_schema *const quantized = cw_schema_quantized(schema, &arena);
        for (uint32_t type = 0; type < cw_schema_count(schema); type++) {
            const uint32_t size = cw_schema_type(schema, type)->size;
            uint8_t *const message = random_message(schema, type);
            uint8_t *const steps = calloc(1, size + 1u), *const received = calloc(1, size + 1u);
            memcpy(steps, message, size);
            cw_schema_quantize(schema, type, steps);
            other += memcmp(steps, message, size) != 0;
            /* The steps are in range, and are written as whole numbers. */
            assert_int_equal(cw_schema_check(quantized, type, steps), CW_FIELD_NONE);
            struct cw_stream stream = cw_stream_writer(out, sizeof out);
            assert_true(cw_schema_serialize(quantized, type, &stream, steps));
            stream = cw_stream_reader(out, cw_stream_flush(&stream));
            assert_true(cw_schema_serialize(quantized, type, &stream, received));
            assert_memory_equal(received, steps, size);
            cw_schema_dequantize(schema, type, received);
            assert_memory_equal(received, message, size);
            free(received);
            free(steps);
            free(message);
        }
        cw_release(&allocator, arena.base, arena.size);
        cw_schema_destroy(schema);
    }
    assert_true(other > 100);
}
