#include "http/origin.h"
#include "fixture.h"

TEST(default_is_the_same_host)
{
    struct origin_list list = {0};
    assert_true(origin_allowed(&list, "http://a.example:8080", "a.example:8080"));
    assert_true(origin_allowed(&list, "https://A.example:8080", "a.EXAMPLE:8080"));
    assert_true(origin_allowed(&list, "http://[::1]:8080", "[::1]:8080"));
    assert_true(origin_allowed(&list, "", "a.example"));
    assert_false(origin_allowed(&list, "http://a.example", "a.example:8080"));
    assert_false(origin_allowed(&list, "http://a.example:8080", "a.example"));
    assert_false(origin_allowed(&list, "http://b.example", "a.example"));
    assert_false(origin_allowed(&list, "http://a.example.b", "a.example"));
    assert_false(origin_allowed(&list, "http://a.exampl", "a.example"));
    assert_false(origin_allowed(&list, "null", "null"));
    assert_false(origin_allowed(&list, "null", ""));
    assert_false(origin_allowed(&list, "http://", ""));
    assert_false(origin_allowed(&list, "://a.example", "a.example"));
    assert_false(origin_allowed(&list, "http://a.example", ""));
}

TEST(implied_ports)
{
    struct origin_list list = {0};
    assert_true(origin_allowed(&list, "http://a.example", "a.example:80"));
    assert_true(origin_allowed(&list, "https://a.example", "a.example:443"));
    assert_true(origin_allowed(&list, "https://a.example", "a.example"));
    assert_false(origin_allowed(&list, "https://a.example", "a.example:80"));
    assert_false(origin_allowed(&list, "http://a.example", "a.example:443"));
}

TEST(list_replaces_default)
{
    struct origin_list list = {0};
    assert_true(origin_list_add(&list, "https://game.example"));
    assert_true(origin_list_add(&list, "http://localhost:5173"));
    assert_true(origin_list_add(&list, "https://implied.example:443")); /* no browser says it so */
    assert_true(origin_allowed(&list, "https://game.example", "relay.example"));
    assert_true(origin_allowed(&list, "http://LOCALHOST:5173", "relay.example"));
    assert_true(origin_allowed(&list, "", "relay.example"));
    assert_false(origin_allowed(&list, "https://relay.example", "relay.example"));
    assert_false(origin_allowed(&list, "http://game.example", "game.example"));
    assert_false(origin_allowed(&list, "https://game.example:444", "relay.example"));
    assert_true(origin_allowed(&list, "https://implied.example", "relay.example"));
    assert_false(origin_allowed(&list, "http://implied.example:443", "relay.example"));
    assert_false(origin_allowed(&list, "https://implied.example:80", "relay.example"));
    assert_false(origin_allowed(&list, "https://localhost:5173", "relay.example"));
    assert_false(origin_allowed(&list, "null", "relay.example"));
    assert_true(origin_list_add(&list, "*"));
    assert_true(origin_allowed(&list, "null", "relay.example"));
}

TEST(bad_entries)
{
    struct origin_list list = {0};
    assert_false(origin_list_add(&list, ""));
    assert_false(origin_list_add(&list, "game.example"));
    assert_false(origin_list_add(&list, "https://"));
    assert_false(origin_list_add(&list, "https://game.example/"));
    assert_false(origin_list_add(&list, "https://game.example# the page"));
    assert_false(origin_list_add(&list, "https://game.example https://beta.game.example"));
    assert_false(origin_list_add(&list, "https://game.example,https://beta.game.example"));
    assert_false(origin_list_add(&list, "https://game.example?page"));
    assert_false(origin_list_add(&list, "https://me@game.example"));
    for (int i = 0; i < ORIGIN_LIST_MAX; i++)
        assert_true(origin_list_add(&list, "https://game.example"));
    assert_false(origin_list_add(&list, "https://game.example"));
}
