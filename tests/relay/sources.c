/* The source addresses of sessions that share a socket: whose each is, and when it is free again.
 */
#include "session/sources.h"
#include "unit.h"

#include <string.h>

static char one; /* owners */
static char other;

static struct sources *create(const char *text)
{
    struct prefix prefix;
    assert_true(prefix_parse(text, &prefix));
    struct sources *sources = sources_create(&prefix, 4);
    assert_non_null(sources);
    return sources;
}

static struct socket_address address_of(const char *text)
{
    struct socket_address address;
    bool has_port;
    assert_true(socket_address_parse(text, &address, &has_port));
    return address;
}

static bool is(const struct source *source, const char *text)
{
    unsigned char bytes[16];
    const struct socket_address address = address_of(text);
    assert_true(socket_address_bytes(&address, bytes));
    return source && memcmp(source->address, bytes, sizeof bytes) == 0;
}

static void test_each_has_its_own(void **state)
{
    (void)state;
    struct sources *sources = create("127.1.2.0/29");
    const struct socket_address server = address_of("10.0.0.5:7000");
    unsigned seen = 0;
    for (unsigned i = 0; i < 6; i++) {
        const struct source *source = sources_take(sources, &server, &one, 0.0);
        assert_non_null(source);
        const unsigned last = source->address[15];
        assert_in_range(last, 1, 6); /* neither the network nor its broadcasts */
        assert_memory_equal(source->address + 12, "\x7f\x01\x02", 3);
        assert_int_equal(seen & 1u << last, 0);
        seen |= 1u << last;
        assert_ptr_equal(sources_find(sources, source->address, &server), source);
    }
    assert_int_equal(sources_count(sources), 6);
    assert_null(sources_take(sources, &server, &one, 0.0));
    sources_destroy(sources);
}

/* As a connected socket has datagrams only from where it is connected to. */
static void test_each_server_has_them_all(void **state)
{
    (void)state;
    struct sources *sources = create("127.1.2.3");
    static const char *const servers[] = {"10.0.0.5:7000", "10.0.0.5:7001", "10.0.0.6:7000"};
    for (unsigned i = 0; i < 3; i++) {
        const struct socket_address server = address_of(servers[i]);
        const struct source *source = sources_take(sources, &server, i == 0 ? &one : &other, 0.0);
        assert_true(is(source, "127.1.2.3"));
        assert_null(sources_take(sources, &server, &one, 0.0));
    }
    const struct socket_address first = address_of("10.0.0.5:7000");
    const struct socket_address inside = address_of("[::ffff:10.0.0.5]:7000");
    struct socket_address stranger = address_of("10.0.0.7:7000");
    unsigned char source[16];
    sources_last(sources, source);
    assert_ptr_equal(sources_find(sources, source, &first)->owner, &one);
    assert_ptr_equal(sources_find(sources, source, &inside)->owner, &one);
    for (unsigned port = 7000; port < 7100; port++) { /* far more than places in the table */
        socket_address_set_port(&stranger, port);
        assert_null(sources_find(sources, source, &stranger));
    }
    sources_destroy(sources);
}

static void test_one_rests_before_it_is_another_s(void **state)
{
    (void)state;
    struct sources *sources = create("127.1.2.3");
    const struct socket_address server = address_of("10.0.0.5:7000");
    struct source *source = sources_take(sources, &server, &one, 100.0);
    sources_release(sources, source, 110.0);
    assert_int_equal(sources_count(sources), 0);
    assert_null(sources_take(sources, &server, &other, 110.0));
    assert_null(sources_take_this(sources, source->address, &server, &other, 139.9));
    /* What comes late is known to be nobody's. */
    assert_ptr_equal(sources_find(sources, source->address, &server), source);
    assert_null(source->owner);
    source = sources_take(sources, &server, &other, 140.0);
    assert_true(is(source, "127.1.2.3"));
    assert_ptr_equal(source->owner, &other);
    sources_destroy(sources);
}

static void test_all_go_round_before_one_comes_again(void **state)
{
    (void)state;
    struct sources *sources = create("10.8.0.0/16");
    const struct socket_address server = address_of("10.0.0.5:7000");
    static bool seen[1 << 16];
    for (unsigned i = 0; i < (1 << 16) - 2; i++) {
        /* More rest than are remembered: none of them comes sooner for that. */
        struct source *source = sources_take(sources, &server, &one, 0.0);
        assert_non_null(source);
        bool *place = &seen[source->address[14] << 8 | source->address[15]];
        assert_false(*place);
        *place = true;
        sources_release(sources, source, 0.0);
    }
    assert_non_null(sources_take(sources, &server, &one, 0.0));
    sources_destroy(sources);
}

static void test_they_begin_anywhere(void **state)
{
    (void)state;
    const struct socket_address server = address_of("[2001:db8::5]:7000");
    unsigned char before[16];
    for (unsigned i = 0; i < 2; i++) {
        struct sources *sources = create("2001:db8:5::/64");
        const struct source *source = sources_take(sources, &server, &one, 0.0);
        assert_memory_equal(source->address, "\x20\x01\x0d\xb8\x00\x05\x00\x00", 8);
        if (i > 0)
            assert_memory_not_equal(source->address, before, sizeof before);
        memcpy(before, source->address, sizeof before);
        assert_int_equal(source->server.address.any.sa_family, AF_INET6);
        sources_destroy(sources);
    }
}

static void test_one_is_taken_over_from_another_process(void **state)
{
    (void)state;
    struct sources *sources = create("127.1.2.3");
    const struct socket_address server = address_of("10.0.0.5:7000");
    const struct socket_address old = address_of("127.9.9.9");
    unsigned char address[16];
    assert_true(socket_address_bytes(&old, address));
    assert_non_null(sources_take_this(sources, address, &server, &one, 0.0));
    assert_null(sources_take_this(sources, address, &server, &other, 0.0));
    assert_ptr_equal(sources_find(sources, address, &server)->owner, &one);
    assert_true(is(sources_take(sources, &server, &other, 0.0), "127.1.2.3"));
    sources_destroy(sources);
    sources_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_has_its_own),
        cmocka_unit_test(test_each_server_has_them_all),
        cmocka_unit_test(test_one_rests_before_it_is_another_s),
        cmocka_unit_test(test_all_go_round_before_one_comes_again),
        cmocka_unit_test(test_they_begin_anywhere),
        cmocka_unit_test(test_one_is_taken_over_from_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
