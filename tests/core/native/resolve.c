/* A name with several addresses gives one of them. */
#define _POSIX_C_SOURCE 200809L

#include "causeway/native/socket.h"

#include "fixture.h"
#include "two_families.h"

static void check(const char *text, const char *expected)
{
    struct cw_address address;
    char out[CW_ADDRESS_TEXT_SIZE];
    assert_ok(cw_resolve(text, &address));
    assert_string_equal(cw_address_format(&address, out), expected);
}

TEST(ipv4_comes_before_ipv6)
{
    check("both.example:40000", "192.0.2.4:40000");
    check("both.example", "192.0.2.4");
    check("six.example:40000", "[2001:db8::6]:40000");
}

TEST(a_name_without_addresses_is_an_error)
{
    struct cw_address address;
    assert_int_equal(cw_resolve("none.example:40000", &address), CW_ERROR_HOST);
}
