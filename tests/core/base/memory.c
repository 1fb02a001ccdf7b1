/* Tests of one block and its parts. */
#include "base/memory.h"

#include "counted.h"
#include "fixture.h"

#include <stdalign.h>

TEST(parts_are_apart_and_aligned)
{
    alignas(max_align_t) uint8_t memory[256];
    struct cw_arena arena = {.base = memory, .size = sizeof memory};
    uint8_t *end = memory;
    for (size_t size = 0; size < 8; size++) {
        uint8_t *part = cw_arena_take(&arena, size);
        assert_true(part >= end);
        assert_int_equal((uintptr_t)part % alignof(max_align_t), 0);
        end = part + size;
    }
    assert_true(end <= memory + arena.used);
}

TEST(what_was_measured_suffices_exactly)
{
    alignas(max_align_t) uint8_t memory[256];
    const size_t sizes[] = {1, 17, 64, 0, 3};
    struct cw_arena measure = {0};
    for (size_t i = 0; i < 5; i++)
        assert_null(cw_arena_take(&measure, sizes[i]));
    struct cw_arena arena = {.base = memory, .size = measure.used};
    for (size_t i = 0; i < 5; i++)
        assert_non_null(cw_arena_take(&arena, sizes[i]));
    assert_int_equal(arena.used, measure.used);
    assert_null(cw_arena_take(&arena, 1));
    assert_int_equal(arena.used, measure.used);
}

TEST(a_sum_too_large_stays_so)
{
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < 3; i++) {
        struct cw_arena measure = {0};
        cw_arena_take(&measure, sizes[i]);
        cw_arena_take(&measure, sizes[i]);
        assert_int_equal(measure.used, SIZE_MAX);
        cw_arena_take(&measure, 1);
        assert_int_equal(measure.used, SIZE_MAX);
    }
}

TEST(an_allocator_over_an_arena)
{
    alignas(max_align_t) uint8_t memory[64];
    struct cw_arena arena = {.base = memory, .size = sizeof memory};
    const struct cw_allocator allocator = cw_arena_allocator(&arena);
    void *part = cw_allocate(&allocator, 40);
    assert_ptr_equal(part, memory);
    cw_release(&allocator, part, 40);
    assert_null(cw_allocate(&allocator, 40));
}

TEST(memory_goes_back_where_it_came_from)
{
    struct counted counted = {0};
    const struct cw_allocator allocators[] = {counted_allocator(&counted), {0}};
    for (size_t i = 0; i < 2; i++) {
        uint8_t *memory = cw_allocate(&allocators[i], 100);
        assert_non_null(memory);
        memset(memory, 1, 100);
        cw_release(&allocators[i], memory, 100);
    }
    assert_int_equal(counted.allocations, 1);
    assert_int_equal(counted.releases, 1);
    assert_int_equal(counted.released, 100);
}

static void *allocate_used(void *context, size_t size)
{
    return memset(context, 0xa5, size);
}

static void *allocate_nothing(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

TEST(an_arena_begins_with_zeros)
{
    alignas(max_align_t) uint8_t memory[65];
    const uint8_t zeros[64] = {0};
    memory[64] = 1;
    const struct cw_allocator used = {.allocate = allocate_used, .context = memory};
    struct cw_arena arena = cw_arena_create(&used, 64);
    assert_ptr_equal(cw_arena_take(&arena, 64), memory);
    assert_memory_equal(memory, zeros, 64);
    assert_int_equal(memory[64], 1);
    const struct cw_allocator none = {.allocate = allocate_nothing};
    assert_null(cw_arena_create(&none, 64).base);
}
