/* The paths to one browser: the bytes that each is allowed, its proof, and the path that makes
   room. */
#include "fixture.h"

#include "relay/rtc/paths.h"

#include <math.h>
#include <string.h>

#define PROBES 3

static struct udp_path at_port(uint16_t port)
{
    return (struct udp_path){.remote = {.ip = {0x20, 0x01}, .port = port}};
}

static struct path *check(struct paths *paths, uint16_t port, double now)
{
    const struct udp_path ends = at_port(port);
    struct path *path = paths_add(paths, &ends, now);
    paths_hear(paths, path, false, now);
    return path;
}

static bool knows(struct paths *paths, uint16_t port)
{
    const struct udp_path ends = at_port(port);
    return paths_find(paths, &ends) != NULL;
}

static bool probed(struct paths *paths, const struct path *path, double now)
{
    return paths_probe(paths, now) == path;
}

static void prove(struct paths *paths, struct path *path, double now)
{
    assert_true(probed(paths, path, now));
    paths_answer(paths, path, path->nonce, PATHS_NONCE_SIZE, now);
    assert_true(path->proven);
    assert_ptr_equal(paths->current, path);
}

TEST(nothing_goes_before_something_came)
{
    struct paths paths;
    paths_init(&paths);
    assert_true(paths.deadline == INFINITY);
    struct path *path = check(&paths, 1, 10.0);
    assert_false(paths_spend(path, 1));
    paths_receive(path, 100);
    assert_true(paths_spend(path, 200));
    assert_true(paths_allow(path, 100));
    assert_false(paths_allow(path, 101));
    assert_false(paths_spend(path, 101));
    assert_true(paths_spend(path, 100));
    assert_false(paths_spend(path, 1));
    prove(&paths, path, 10.0);
    assert_true(paths_spend(path, 1 << 20));
}

TEST(the_ends_are_both_addresses)
{
    struct paths paths;
    paths_init(&paths);
    struct udp_path ends = at_port(1);
    struct path *path = paths_add(&paths, &ends, 10.0);
    assert_ptr_equal(paths_find(&paths, &ends), path);
    ends.local[15] = 1;
    assert_null(paths_find(&paths, &ends));
    ends.local[15] = 0;
    ends.interface = 1;
    assert_null(paths_find(&paths, &ends));
}

TEST(a_check_is_followed_by_few_probes)
{
    struct paths paths;
    paths_init(&paths);
    struct path *path = check(&paths, 1, 10.0);
    unsigned probes = 0;
    double now = 10.0;
    for (; paths.deadline < INFINITY; now = paths.deadline) {
        assert_true(probed(&paths, path, now));
        assert_null(paths_probe(&paths, now));
        probes++;
    }
    assert_int_equal(probes, PROBES);
    /* A flood of checks brings no more of them than time allows. */
    probes = 0;
    now = 20.0;
    for (int i = 0; i < 1000; i++) {
        now += 0.001;
        check(&paths, 1, now);
        probes += paths_probe(&paths, now) != NULL;
    }
    assert_in_range(probes, 4, 5);
}

TEST(only_the_nonce_of_a_path_proves_it_and_only_in_time)
{
    struct paths paths;
    uint8_t nonce[PATHS_NONCE_SIZE];
    paths_init(&paths);
    struct path *first = check(&paths, 1, 10.0);
    /* No probe was sent yet, so there is nothing to answer. */
    paths_answer(&paths, first, first->nonce, sizeof nonce, 10.0);
    assert_false(first->proven);
    prove(&paths, first, 10.0);
    /* A second answer with the same nonce is worth nothing. */
    memcpy(nonce, first->nonce, sizeof nonce);
    check(&paths, 1, 25.0);
    paths_answer(&paths, first, nonce, sizeof nonce, 25.0);
    assert_true(first->proven_at == 10.0);
    assert_true(probed(&paths, first, 25.0));
    assert_memory_not_equal(first->nonce, nonce, sizeof nonce);

    /* Another path's nonce is no proof, nor is a part of its own. */
    struct path *second = check(&paths, 2, 26.0);
    assert_true(probed(&paths, first, 26.0));
    assert_true(probed(&paths, second, 26.0));
    paths_answer(&paths, second, first->nonce, sizeof nonce, 26.0);
    paths_answer(&paths, second, second->nonce, sizeof nonce - 1, 26.0);
    assert_false(second->proven);
    /* Repeated probes carry the same nonce for a while, so that an answer may take its time. */
    memcpy(nonce, second->nonce, sizeof nonce);
    assert_true(probed(&paths, first, 26.5));
    assert_true(probed(&paths, second, 26.5));
    assert_memory_equal(second->nonce, nonce, sizeof nonce);
    /* The answer comes too late. */
    paths_answer(&paths, second, nonce, sizeof nonce, 31.0);
    assert_false(second->proven);
    assert_ptr_equal(paths.current, first);
    check(&paths, 2, 32.0);
    assert_true(probed(&paths, second, 32.0));
    assert_memory_not_equal(second->nonce, nonce, sizeof nonce);
}

TEST(a_proof_is_renewed_or_runs_out)
{
    struct paths paths;
    paths_init(&paths);
    struct path *path = check(&paths, 1, 10.0);
    prove(&paths, path, 10.0);
    assert_true(paths.deadline == 10.0 + PATHS_PROOF_SECONDS);
    check(&paths, 1, 19.0);
    assert_null(paths_probe(&paths, 19.0));
    check(&paths, 1, 20.5);
    prove(&paths, path, 20.5);
    assert_true(paths.deadline == 20.5 + PATHS_PROOF_SECONDS);
    paths_receive(path, 1000);
    paths_update(&paths, paths.deadline - 0.1);
    assert_true(paths_spend(path, 5000));
    paths_update(&paths, paths.deadline);
    /* Bytes that came while the path was proven allow nothing now. */
    assert_false(paths_spend(path, 1));
    assert_true(paths.deadline == INFINITY);
}

TEST(an_unproven_browser_is_where_it_speaks)
{
    struct paths paths;
    paths_init(&paths);
    struct path *first = check(&paths, 1, 10.0);
    struct path *second = check(&paths, 2, 10.0);
    assert_ptr_equal(paths.current, first);
    paths_speak(&paths, second);
    assert_ptr_equal(paths.current, second);
    assert_true(probed(&paths, first, 10.0));
    paths_answer(&paths, first, first->nonce, PATHS_NONCE_SIZE, 10.0);
    paths_speak(&paths, second);
    assert_ptr_equal(paths.current, first);
}

TEST(what_only_checks_makes_room)
{
    struct paths paths;
    paths_init(&paths);
    struct path *first = check(&paths, 1, 10.0);
    prove(&paths, first, 10.0);
    check(&paths, 2, 10.1);
    struct path *moved = check(&paths, 3, 10.2);
    paths_hear(&paths, moved, true, 10.2);
    for (uint16_t port = 100; port < 1000; port++)
        check(&paths, port, 10.3 + port * 1e-6);
    assert_true(knows(&paths, 1));
    assert_false(knows(&paths, 2));
    assert_true(knows(&paths, 3));
    assert_false(knows(&paths, 900));
    assert_true(knows(&paths, 999));
    /* A path that the browser left long ago is no better than another. */
    check(&paths, 1, 30.0);
    for (uint16_t port = 100; port < 200; port++)
        check(&paths, port, 30.0 + port * 1e-6);
    assert_true(knows(&paths, 1));
    assert_false(knows(&paths, 3));
    /* The current path stays, whatever else is alive. */
    for (uint16_t port = 200; port < 300; port++)
        paths_hear(&paths, check(&paths, port, 40.0), true, 40.0 + port * 1e-6);
    assert_ptr_equal(paths.current, first);
    assert_true(knows(&paths, 1));
    assert_true(knows(&paths, 299));
    assert_false(knows(&paths, 200));
}
