#include "os/socket_address.h"
#include "fixture.h"
#include "two_families.h"

#include <stdio.h>
#include <string.h>

TEST(form)
{
    assert_true(socket_address_valid("127.0.0.1:0", 0));
    assert_true(socket_address_valid("[::1]:65535", 1));
    assert_true(socket_address_valid("a.example:40000", 1));
    assert_true(socket_address_valid(":8080", 1));
    static const char *const bad[] = {"",       "127.0.0.1", "127.0.0.1:",   "::1:80",
                                      "[::1]",  "[::1:80",   "a:65536",      "a:123456",
                                      "a:-1",   "a:8o",      "a: 80",        "a:80 ",
                                      "a:0x50", "[a]b:80",   "a:99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(socket_address_valid(bad[i], 0));
    assert_false(socket_address_valid("a:0", 1));
    char long_name[400];
    memset(long_name, 'a', sizeof long_name);
    memcpy(long_name + 300, ":80", 4);
    assert_false(socket_address_valid(long_name, 0));
}

static void check_text(const char *text, const char *expected)
{
    struct socket_address address;
    const char *error = NULL;
    char out[SOCKET_ADDRESS_TEXT];
    assert_true(socket_address_resolve(text, &address, &error));
    socket_address_format(&address, out);
    assert_string_equal(out, expected);
}

TEST(text_and_back)
{
    check_text("127.0.0.1:40000", "127.0.0.1:40000");
    check_text("[::1]:1", "[::1]:1");
    check_text("[2001:db8::1]:65535", "[2001:db8::1]:65535");
    check_text("[::ffff:10.0.0.1]:7", "10.0.0.1:7");
    check_text(":8080", "[::]:8080");
    check_text("both.example:40000", "192.0.2.4:40000");
    check_text("six.example:0", "[2001:db8::6]:0");
    struct socket_address address;
    const char *error = NULL;
    assert_false(socket_address_resolve("no-such-host.invalid:1", &address, &error));
    assert_non_null(error);
}

static void owner_of(const char *text, unsigned char owner[16])
{
    struct socket_address address;
    const char *error;
    assert_true(socket_address_resolve(text, &address, &error));
    socket_address_owner(&address, owner);
}

TEST(owner)
{
    unsigned char a[16];
    unsigned char b[16];
    owner_of("10.0.0.1:1", a);
    owner_of("[::ffff:10.0.0.1]:2", b);
    assert_memory_equal(a, b, 16);
    owner_of("10.0.0.2:1", b);
    assert_memory_not_equal(a, b, 16);
    owner_of("[2001:db8:0:1::1]:1", a);
    owner_of("[2001:db8:0:1:ffff::2]:1", b);
    assert_memory_equal(a, b, 16);
    owner_of("[2001:db8:0:2::1]:1", b);
    assert_memory_not_equal(a, b, 16);
}

/* Neighbours spread over a table: 4,096 addresses over 1,024 rows, of IPv4 and of IPv6. */
TEST(neighbours_have_different_hashes)
{
    static const char *const forms[] = {"10.0.%u.%u", "[2001:db8:%x:%x::1]"};
    for (size_t form = 0; form < 2; form++) {
        unsigned rows[1024] = {0};
        unsigned most = 0;
        for (unsigned i = 0; i < 4096; i++) {
            char text[64];
            unsigned char owner[16];
            struct socket_address address;
            bool has_port;
            snprintf(text, sizeof text, forms[form], i >> 8, i & 255);
            assert_true(socket_address_parse(text, &address, &has_port));
            socket_address_owner(&address, owner);
            const unsigned row = ++rows[socket_address_owner_hash(owner, 12345) % 1024];
            most = row > most ? row : most;
        }
        assert_in_range(most, 4, 20);
    }
}
