/* Datagrams that wait come out in their order, and no browser takes more than a share of the
   room. */
#include "fixture.h"
#include "rtc/deferred.h"

#include <stdlib.h>

static const struct udp_path path = {.remote.port = 7};

static void take(struct deferred *deferred, void *owner, uint8_t byte)
{
    struct deferred_datagram *first = deferred_take(deferred);
    assert_non_null(first);
    assert_ptr_equal(first->owner, owner);
    assert_int_equal(first->size, 1);
    assert_int_equal(first->data[0], byte);
    assert_true(udp_address_same(&first->path.remote, &path.remote));
    free(first);
}

TEST(the_oldest_comes_first)
{
    struct deferred deferred = {0};
    int owners[2];
    for (uint8_t i = 0; i < DEFERRED_OF_ONE; i++)
        for (int j = 0; j < 2; j++)
            assert_true(deferred_add(&deferred, &owners[j], &path, &i, 1));
    assert_false(deferred_add(&deferred, &owners[0], &path, (const uint8_t *)"", 1));
    take(&deferred, &owners[0], 0);
    deferred_forget(&deferred, &owners[0]);
    for (uint8_t i = 0; i < DEFERRED_OF_ONE; i++)
        take(&deferred, &owners[1], i);
    assert_null(deferred_take(&deferred));
    assert_true(deferred_add(&deferred, &owners[0], &path, (const uint8_t *)"", 1));
    deferred_forget(&deferred, NULL);
    assert_null(deferred_take(&deferred));
}

TEST(there_is_room_for_so_many)
{
    static char owners[DEFERRED_MAX + 1];
    struct deferred deferred = {0};
    for (unsigned i = 0; i <= DEFERRED_MAX; i++)
        assert_int_equal(deferred_add(&deferred, &owners[i], &path, (const uint8_t *)"", 1),
                         i < DEFERRED_MAX);
    deferred_forget(&deferred, NULL);
}
