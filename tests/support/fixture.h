/* Tests need no list, and objects need no destroy: TEST(name) { ... } adds itself to the tests that
   fixture_run runs, and the objects that a test owns are released when it ends, also by a failed
   assertion. */
#ifndef CAUSEWAY_TESTS_FIXTURE_H
#define CAUSEWAY_TESTS_FIXTURE_H

#include "unit.h"

#include <stdlib.h>

/* No program has more tests than this, and cmocka passes over those without a name. */
static struct CMUnitTest fixture_tests[48];
static size_t fixture_test_count;

/* The function that a program calls before each of its tests, or NULL. Its objects are owned
   too. */
static CMFixtureFunction fixture_before;

/* An object of the test that runs; they are listed in the order in which they were made. */
struct fixture_owned {
    void *object;
    void (*release)(void *object);
};
static struct fixture_owned *fixture_owned;
static size_t fixture_owned_count;

static inline int fixture_release(void **state)
{
    (void)state;
    while (fixture_owned_count > 0) {
        fixture_owned_count--;
        fixture_owned[fixture_owned_count].release(fixture_owned[fixture_owned_count].object);
    }
    free(fixture_owned);
    fixture_owned = NULL;
    return 0;
}

/* Has the object released when the test ends. */
static inline void *own(void *object, void (*release)(void *object))
{
    fixture_owned = realloc(fixture_owned, (fixture_owned_count + 1) * sizeof *fixture_owned);
    fixture_owned[fixture_owned_count++] = (struct fixture_owned){object, release};
    return object;
}

static inline int fixture_start(void **state)
{
    return fixture_before ? fixture_before(state) : 0;
}

static inline void fixture_add(const char *name, CMUnitTestFunction function)
{
    if (fixture_test_count == sizeof fixture_tests / sizeof *fixture_tests)
        abort();
    fixture_tests[fixture_test_count++] =
        (struct CMUnitTest){name, function, fixture_start, fixture_release, NULL};
}

#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        fixture_add(#name, name);                                                                  \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

/* The macro serves both kinds of errors: CW_OK and CW_PROTOCOL_OK are 0. */
#define assert_ok(call) assert_int_equal(call, 0)

static inline int fixture_run(void)
{
    return cmocka_run_group_tests(fixture_tests, NULL, NULL);
}

#endif
