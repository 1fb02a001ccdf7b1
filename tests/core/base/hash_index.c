/* Tests of an index that finds numbers by hash until they are removed. */
#include "base/hash_index.h"

#include "base/prng.h"
#include "fixture.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#define NUMBERS 32

static alignas(max_align_t) uint8_t memory[4096];

static struct cw_hash_index make_index(void)
{
    struct cw_arena arena = {.base = memory, .size = sizeof memory};
    struct cw_hash_index index;
    memset(memory, 0, sizeof memory);
    cw_hash_index_layout(&index, &arena, NUMBERS);
    assert_true(arena.used < sizeof memory);
    return index;
}

/* Returns a bit for each number that the index gives for a hash, and fails when one comes twice. */
static uint64_t find_all(const struct cw_hash_index *index, uint64_t hash)
{
    uint64_t found = 0;
    uint32_t number, probe = 0;
    while ((number = cw_hash_index_find(index, hash, &probe)) != CW_HASH_INDEX_NONE) {
        assert_true(number < NUMBERS);
        assert_false(found >> number & 1);
        found |= (uint64_t)1 << number;
    }
    return found;
}

TEST(an_empty_index_has_nothing)
{
    struct cw_hash_index index = make_index();
    for (uint64_t hash = 0; hash < 1000; hash++)
        assert_int_equal(find_all(&index, hash), 0);
}

TEST(numbers_may_share_a_hash)
{
    struct cw_hash_index index = make_index();
    for (uint32_t number = 0; number < 4; number++)
        cw_hash_index_add(&index, 7, number);
    assert_int_equal(find_all(&index, 7), 0xf);
    assert_int_equal(find_all(&index, 8), 0);
    cw_hash_index_remove(&index, 7, 1);
    assert_int_equal(find_all(&index, 7), 0xd);
}

/* The index is full of hashes that crowd into a few places, the last ones of the table among them:
   removed numbers are gone, and numbers behind them can still be found. */
TEST(removal_matches_a_model)
{
    static const uint64_t hashes[] = {0, 1, 2, 62, 63, 127, (uint64_t)1 << 40, UINT64_MAX};
    struct cw_hash_index index = make_index();
    struct cw_prng random = {11};
    uint64_t model[8] = {0};
    uint8_t hash_of[NUMBERS];
    uint32_t used = 0;
    for (int round = 0; round < 20000; round++) {
        const uint32_t number = cw_prng_below(&random, NUMBERS);
        const uint64_t bit = (uint64_t)1 << number;
        if (used >> number & 1) {
            cw_hash_index_remove(&index, hashes[hash_of[number]], number);
            model[hash_of[number]] &= ~bit;
        } else {
            hash_of[number] = (uint8_t)cw_prng_below(&random, 8);
            cw_hash_index_add(&index, hashes[hash_of[number]], number);
            model[hash_of[number]] |= bit;
        }
        used ^= 1u << number;
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(find_all(&index, hashes[i]), model[i]);
    }
}

TEST(hashes_depend_on_the_seed_and_all_of_an_address)
{
    static const char *const texts[] = {"10.0.0.1:1", "10.0.0.1:2", "10.0.0.2:1",         "[::1]:1",
                                        "[::1]:2",    "[1::1]:1",   "[::fffe:10.0.0.1]:1"};
    uint64_t hashes[14];
    for (size_t i = 0; i < 14; i++) {
        struct cw_address address;
        assert_int_equal(cw_address_parse(texts[i / 2], &address), CW_OK);
        hashes[i] = cw_hash_index_hash_address(i % 2, &address);
        assert_int_equal(hashes[i], cw_hash_index_hash_address(i % 2, &address));
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(hashes[i], hashes[k]);
    }
}
