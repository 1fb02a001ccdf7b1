/* Datagrams that wait come out in their order, and no browser takes more than a share of the
   room. */
#include "rtc/held.h"
#include "unit.h"

#include <stdlib.h>

static const struct udp_path path = {.remote.port = 7};

static void take(struct held *held, void *owner, uint8_t byte)
{
    struct held_datagram *first = held_take(held);
    assert_non_null(first);
    assert_ptr_equal(first->owner, owner);
    assert_int_equal(first->size, 1);
    assert_int_equal(first->data[0], byte);
    assert_true(udp_address_same(&first->path.remote, &path.remote));
    free(first);
}

static void test_the_oldest_comes_first(void **state)
{
    (void)state;
    struct held held = {0};
    int owners[2];
    for (uint8_t i = 0; i < HELD_OF_ONE; i++)
        for (int j = 0; j < 2; j++)
            assert_true(held_add(&held, &owners[j], &path, &i, 1));
    assert_false(held_add(&held, &owners[0], &path, (const uint8_t *)"", 1));
    take(&held, &owners[0], 0);
    held_forget(&held, &owners[0]);
    for (uint8_t i = 0; i < HELD_OF_ONE; i++)
        take(&held, &owners[1], i);
    assert_null(held_take(&held));
    assert_true(held_add(&held, &owners[0], &path, (const uint8_t *)"", 1));
    held_forget(&held, NULL);
    assert_null(held_take(&held));
}

static void test_there_is_room_for_so_many(void **state)
{
    (void)state;
    static char owners[HELD_MAX + 1];
    struct held held = {0};
    for (unsigned i = 0; i <= HELD_MAX; i++)
        assert_int_equal(held_add(&held, &owners[i], &path, (const uint8_t *)"", 1), i < HELD_MAX);
    held_forget(&held, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_oldest_comes_first),
        cmocka_unit_test(test_there_is_room_for_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
