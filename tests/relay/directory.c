/* The supervisor's knowledge of sessions: their owners, and how long those without an owner
   wait. */
#include "fixture.h"

#include "process/directory.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const uint8_t secret[SESSION_SECRET_SIZE] = {1};

static struct session_state state_of(uint8_t first)
{
    return (struct session_state){.hash = {first, 7}};
}

static int open_something(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* Publishes a session of a worker, which counts its hash in the filter. */
static bool keep(struct directory *directory, uint8_t first, unsigned worker, double until)
{
    const struct session_state session = state_of(first);
    if (worker != DIRECTORY_NO_WORKER)
        directory_filter_add(&directory->filter, session.hash);
    return directory_put(directory, &session, sizeof session, open_something(), worker, until);
}

static struct directory_entry *find(const struct directory *directory, uint8_t first)
{
    return directory_find(directory, state_of(first).hash);
}

/* The workers' view of the filter has the sessions of the directory. */
TEST(workers_see_which_sessions_it_has)
{
    struct directory directory;
    struct directory_filter seen;
    const struct session_state one = state_of(1);
    const struct session_state other = state_of(2);
    assert_true(directory_create(&directory, 10, secret));
    assert_true(directory_filter_open(&seen, directory.filter_fd));
    assert_false(directory_filter_may_contain(&seen, one.hash));
    assert_true(keep(&directory, 1, 1, INFINITY));
    assert_true(directory_filter_may_contain(&seen, one.hash));
    assert_false(directory_filter_may_contain(&seen, other.hash));
    assert_true(keep(&directory, 1, 2, INFINITY)); /* in the place of the first session */
    directory_remove(&directory, find(&directory, 1));
    assert_false(directory_filter_may_contain(&seen, one.hash));

    /* A worker counts a session before the directory has it, also one that finds no place there. */
    directory_filter_add(&seen, other.hash);
    assert_true(directory_filter_may_contain(&directory.filter, other.hash));
    assert_false(directory_put(&directory, &other, sizeof other, -1, 1, INFINITY));
    assert_false(directory_filter_may_contain(&seen, other.hash));
    assert_true(keep(&directory, 2, DIRECTORY_NO_WORKER, 1.0));
    assert_true(directory_filter_may_contain(&seen, other.hash));
    directory_expire(&directory, 1.0);
    assert_false(directory_filter_may_contain(&seen, other.hash));

    /* A place of the filter gets more entries than it can count, and then stays set. */
    for (int i = 0; i < 300; i++)
        directory_filter_add(&directory.filter, one.hash);
    for (int i = 0; i < 300; i++)
        directory_filter_remove(&directory.filter, one.hash);
    assert_true(directory_filter_may_contain(&seen, one.hash));
    directory_filter_close(&seen);
    directory_destroy(&directory);
}

TEST(what_was_given_in_vain_waits_for_others)
{
    struct directory directory;
    assert_true(directory_create(&directory, 10, secret));
    assert_true(keep(&directory, 1, 1, INFINITY));
    directory_assign(&directory, find(&directory, 1), 2);
    directory_release(&directory, find(&directory, 1), 20.0);
    assert_int_equal(find(&directory, 1)->worker, DIRECTORY_NO_WORKER);
    assert_true(directory_expire(&directory, 19.0) == 20.0);
    assert_true(directory_expire(&directory, 20.0) == INFINITY);
    assert_null(find(&directory, 1));
    directory_destroy(&directory);
}

TEST(sessions_of_the_dead_wait_for_a_while)
{
    struct directory directory;
    assert_true(directory_create(&directory, 10, secret));
    assert_true(keep(&directory, 1, 1, INFINITY));
    assert_true(keep(&directory, 2, 1, INFINITY));
    assert_true(keep(&directory, 3, 2, INFINITY));
    assert_true(directory_expire(&directory, 1e9) == INFINITY);

    directory_release_all(&directory, 1, 20.0);
    assert_int_equal(find(&directory, 1)->worker, DIRECTORY_NO_WORKER);
    assert_int_equal(find(&directory, 3)->worker, 2);
    directory_assign(&directory, find(&directory, 2), 2);
    assert_true(directory_expire(&directory, 19.9) == 20.0);
    assert_non_null(find(&directory, 1));
    const int fd = find(&directory, 1)->fd;
    assert_true(directory_expire(&directory, 20.0) == INFINITY);
    assert_null(find(&directory, 1));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(directory.count, 2);
    assert_non_null(find(&directory, 2));

    /* Sessions of a predecessor wait too. */
    assert_true(keep(&directory, 4, DIRECTORY_NO_WORKER, 30.0));
    assert_true(directory_expire(&directory, 20.0) == 30.0);
    directory_destroy(&directory);
}

TEST(the_latest_of_a_hash_stays)
{
    struct directory directory;
    assert_true(directory_create(&directory, 1, secret));
    assert_true(keep(&directory, 1, 1, INFINITY));
    assert_true(keep(&directory, 1, 2, INFINITY));
    assert_int_equal(find(&directory, 1)->worker, 2);
    assert_int_equal(directory.count, 1);
    directory_destroy(&directory);
}

TEST(what_has_no_place_is_closed)
{
    struct directory directory;
    assert_true(directory_create(&directory, 1, secret));
    struct session_state session = state_of(2);
    const int fd = open_something();
    session.opened = NAN;
    assert_false(directory_put(&directory, &session, sizeof session, fd, 1, INFINITY));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_false(directory_put(&directory, &session, 3, open_something(), 1, INFINITY));
    session.opened = 0.0;
    assert_false(directory_put(&directory, &session, sizeof session, -1, 1, INFINITY));
    assert_true(keep(&directory, 1, 1, INFINITY));
    assert_false(keep(&directory, 2, 1, INFINITY));
    assert_int_equal(directory.count, 1);
    directory_destroy(&directory);
}
