/* The heap of deadlines is compared with the plainest list there can be. */
#include "fixture.h"

#include "os/deadlines.h"

#include <math.h>
#include <stdint.h>

#define ENTRIES 200

TEST(the_first_is_the_earliest)
{
    struct deadlines deadlines;
    struct deadline entries[ENTRIES] = {0};
    uint32_t seed = 1;
    assert_true(deadlines_reserve(&deadlines, ENTRIES));
    assert_null(deadlines_first(&deadlines));
    for (int step = 0; step < 20000; step++) {
        seed = seed * 1664525u + 1013904223u;
        struct deadline *entry = &entries[(seed >> 8) % ENTRIES];
        if ((seed >> 24) % 3 == 0)
            deadlines_remove(&deadlines, entry);
        else
            deadlines_set(&deadlines, entry, (double)((seed >> 4) % 1000));

        double earliest = INFINITY;
        size_t count = 0;
        for (int i = 0; i < ENTRIES; i++) {
            if (entries[i].place == 0)
                continue;
            count++;
            earliest = fmin(earliest, entries[i].time);
        }
        assert_int_equal(deadlines.count, count);
        if (count > 0)
            assert_true(deadlines_first(&deadlines)->time == earliest);
        else
            assert_null(deadlines_first(&deadlines));
    }
    deadlines_free(&deadlines);
}
