/* The division of the descriptors that the system allows. */
#define OWN_MAIN
#include "http/descriptors.h"

#include "fixture.h"
#include "os/linger.h"

#include <errno.h>
#include <sys/resource.h>

static bool refused; /* the system lets no process change limits */

/* Takes the place of the system's function. */
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    if (!refused)
        return prlimit(0, resource, limit, NULL);
    errno = EPERM;
    return -1;
}

static rlim_t hard;

static int remember_the_hard_limit(void **state)
{
    (void)state;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -1;
    hard = limit.rlim_max;
    return 0;
}

static void allow(rlim_t now, bool may_change)
{
    refused = false;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){now, hard}), 0);
    refused = !may_change;
}

static rlim_t allowed(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

/* Returns two for each session that there may ever be and for each connection that is not one, and
   the relay's own. */
static rlim_t needed(const struct descriptors *divided)
{
    return 2 * (rlim_t)divided->capacity + 2 * (rlim_t)divided->pre_session + 32 + LINGERS_MAX +
           DESCRIPTORS_ADMIN;
}

TEST(a_low_limit_is_raised)
{
    struct descriptors divided;
    allow(100, true);
    assert_true(descriptors_divide(200, &divided));
    assert_int_equal(divided.sessions, 200);
    assert_int_equal(divided.capacity, 400);
    assert_int_equal(divided.pre_session, 1024);
    assert_int_equal(allowed(), needed(&divided));
}

TEST(players_may_come_at_once)
{
    static const unsigned places[][2] = {{500, 1024}, {2000, 4000}, {3000, 4096}};
    struct descriptors divided;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        allow(100, true);
        assert_true(descriptors_divide(places[i][0], &divided));
        assert_int_equal(divided.sessions, places[i][0]);
        assert_int_equal(divided.pre_session, places[i][1]);
        assert_int_equal(allowed(), needed(&divided));
    }
}

TEST(a_limit_that_cannot_be_raised_is_divided)
{
    struct descriptors divided;
    allow(600, false);
    assert_true(descriptors_divide(1000, &divided));
    assert_true(divided.sessions > 0 && divided.sessions < 1000);
    assert_int_equal(divided.capacity, divided.sessions);
    assert_true(divided.pre_session >= 64);
    assert_in_range(needed(&divided), 598, 600);
    allow(100, false);
    assert_false(descriptors_divide(1000, &divided));
}

TEST(what_is_left_of_a_limit_is_for_more_sessions)
{
    struct descriptors divided;
    allow(3000, false);
    assert_true(descriptors_divide(300, &divided));
    assert_int_equal(divided.sessions, 300);
    assert_in_range(divided.capacity, 301, 599);
    assert_in_range(needed(&divided), 2998, 3000);
}

TEST(a_limit_that_cannot_be_lowered_does)
{
    struct descriptors divided;
    allow(3000, false);
    assert_true(descriptors_divide(100, &divided));
    assert_int_equal(divided.sessions, 100);
    assert_int_equal(divided.pre_session, 1024);
    assert_int_equal(allowed(), 3000);
}

int main(void)
{
    return cmocka_run_group_tests(fixture_tests, remember_the_hard_limit, NULL);
}
