/* Tests need no list and no main, and objects need no destroy: TEST(name) { ... } adds itself to
   the tests of its program, and the objects that a test owns are released when it ends, also by a
   failed assertion. A program that does more than run its tests defines OWN_MAIN and calls
   fixture_run. */
#ifndef CAUSEWAY_TESTS_FIXTURE_H
#define CAUSEWAY_TESTS_FIXTURE_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* No program has more tests than this, and cmocka passes over those without a name. */
static struct CMUnitTest fixture_tests[48];
static size_t fixture_test_count;

/* The function that a program calls before each of its tests, or NULL. Its objects are owned
   too. */
static void (*fixture_before)(void **state);

/* An object of the test that runs; they are listed in the order in which they were made. A thread
   has objects of its own, and calls fixture_release when it ends. */
struct fixture_owned {
    void *object;
    void (*release)(void *object);
};
static _Thread_local struct fixture_owned *fixture_owned;
static _Thread_local size_t fixture_owned_count;

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

/* Releases an object that the test owns before the test ends. */
static inline void end_owned(void *object)
{
    size_t i = fixture_owned_count - 1;
    while (fixture_owned[i].object != object)
        i--;
    fixture_owned[i].release(object);
    memmove(&fixture_owned[i], &fixture_owned[i + 1],
            (--fixture_owned_count - i) * sizeof *fixture_owned);
}

static inline int fixture_start(void **state)
{
    if (fixture_before)
        fixture_before(state);
    return 0;
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

/* BEFORE_EACH_TEST { ... } runs before each test of the program. */
#define BEFORE_EACH_TEST                                                                           \
    static void before_each_test(void **state);                                                    \
    __attribute__((constructor)) static void set_before_each_test(void)                            \
    {                                                                                              \
        fixture_before = before_each_test;                                                         \
    }                                                                                              \
    static void before_each_test(__attribute__((unused)) void **state)

static inline int fixture_run(void)
{
    return cmocka_run_group_tests(fixture_tests, NULL, NULL);
}

#ifndef OWN_MAIN
int main(void)
{
    return fixture_run();
}
#endif

#endif
