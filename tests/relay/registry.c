/* What the supervisor knows of sessions: whose they are, and how long those of nobody wait. */
#include "unit.h"

#include "session/registry.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const uint8_t secret[NAMES_SECRET_SIZE] = {1};

static struct parcel parcel_named(uint8_t name)
{
    return (struct parcel){.name = {name, 7}};
}

static int open_something(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static bool keep(struct registry *registry, uint8_t name, unsigned owner, double until)
{
    const struct parcel parcel = parcel_named(name);
    return registry_keep(registry, &parcel, sizeof parcel, open_something(), owner, until);
}

static struct registration *find(const struct registry *registry, uint8_t name)
{
    return registry_find(registry, parcel_named(name).name);
}

/* What a worker sees of the names. */
static void test_workers_see_which_names_are_kept(void **state)
{
    (void)state;
    struct registry registry;
    struct known_names seen;
    const struct parcel one = parcel_named(1);
    const struct parcel other = parcel_named(2);
    assert_true(registry_create(&registry, 10, secret));
    assert_true(known_names_open(&seen, registry.known_fd));
    assert_false(known_names_may_have(&seen, one.name));
    assert_true(keep(&registry, 1, 1, INFINITY));
    assert_true(known_names_may_have(&seen, one.name));
    assert_false(known_names_may_have(&seen, other.name));
    assert_true(keep(&registry, 1, 2, INFINITY)); /* in the first one's place */
    registry_forget(&registry, find(&registry, 1));
    assert_false(known_names_may_have(&seen, one.name));

    /* More than it can count on one place, which then stays. */
    for (int i = 0; i < 300; i++)
        known_names_add(&registry.known, one.name);
    for (int i = 0; i < 300; i++)
        known_names_remove(&registry.known, one.name);
    assert_true(known_names_may_have(&seen, one.name));
    known_names_close(&seen);
    registry_destroy(&registry);
}

static void test_what_was_given_in_vain_waits_for_others(void **state)
{
    (void)state;
    struct registry registry;
    assert_true(registry_create(&registry, 10, secret));
    assert_true(keep(&registry, 1, 1, INFINITY));
    registry_give(&registry, find(&registry, 1), 2);
    registry_release(&registry, find(&registry, 1), 20.0);
    assert_int_equal(find(&registry, 1)->owner, REGISTRY_NOBODY);
    assert_true(registry_expire(&registry, 19.0) == 20.0);
    assert_true(registry_expire(&registry, 20.0) == INFINITY);
    assert_null(find(&registry, 1));
    registry_destroy(&registry);
}

static void test_sessions_of_the_dead_wait_for_a_while(void **state)
{
    (void)state;
    struct registry registry;
    assert_true(registry_create(&registry, 10, secret));
    assert_true(keep(&registry, 1, 1, INFINITY));
    assert_true(keep(&registry, 2, 1, INFINITY));
    assert_true(keep(&registry, 3, 2, INFINITY));
    assert_true(registry_expire(&registry, 1e9) == INFINITY);

    registry_orphan(&registry, 1, 20.0);
    assert_int_equal(find(&registry, 1)->owner, REGISTRY_NOBODY);
    assert_int_equal(find(&registry, 3)->owner, 2);
    registry_give(&registry, find(&registry, 2), 2);
    assert_true(registry_expire(&registry, 19.9) == 20.0);
    assert_non_null(find(&registry, 1));
    const int fd = find(&registry, 1)->fd;
    assert_true(registry_expire(&registry, 20.0) == INFINITY);
    assert_null(find(&registry, 1));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(registry.count, 2);
    assert_non_null(find(&registry, 2));

    /* Those of a predecessor wait too. */
    assert_true(keep(&registry, 4, REGISTRY_NOBODY, 30.0));
    assert_true(registry_expire(&registry, 20.0) == 30.0);
    registry_destroy(&registry);
}

static void test_the_latest_of_a_name_stays(void **state)
{
    (void)state;
    struct registry registry;
    assert_true(registry_create(&registry, 1, secret));
    assert_true(keep(&registry, 1, 1, INFINITY));
    assert_true(keep(&registry, 1, 2, INFINITY));
    assert_int_equal(find(&registry, 1)->owner, 2);
    assert_int_equal(registry.count, 1);
    registry_destroy(&registry);
}

static void test_what_has_no_place_is_closed(void **state)
{
    (void)state;
    struct registry registry;
    assert_true(registry_create(&registry, 1, secret));
    struct parcel parcel = parcel_named(2);
    const int fd = open_something();
    parcel.opened = NAN;
    assert_false(registry_keep(&registry, &parcel, sizeof parcel, fd, 1, INFINITY));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_false(registry_keep(&registry, &parcel, 3, open_something(), 1, INFINITY));
    parcel.opened = 0.0;
    assert_false(registry_keep(&registry, &parcel, sizeof parcel, -1, 1, INFINITY));
    assert_true(keep(&registry, 1, 1, INFINITY));
    assert_false(keep(&registry, 2, 1, INFINITY));
    assert_int_equal(registry.count, 1);
    registry_destroy(&registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_see_which_names_are_kept),
        cmocka_unit_test(test_what_was_given_in_vain_waits_for_others),
        cmocka_unit_test(test_sessions_of_the_dead_wait_for_a_while),
        cmocka_unit_test(test_the_latest_of_a_name_stays),
        cmocka_unit_test(test_what_has_no_place_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
