/* A name with several addresses gives one of them. */
#define _POSIX_C_SOURCE 200809L

#include "causeway/native/socket.h"

#include "two_families.h"
#include "unit.h"

static void check(const char *text, const char *expected)
{
    struct cw_address address;
    char out[CW_ADDRESS_TEXT_SIZE];
    assert_int_equal(cw_resolve(text, &address), CW_OK);
    assert_string_equal(cw_address_format(&address, out), expected);
}

static void ipv4_comes_before_ipv6(void **state)
{
    (void)state;
    check("both.example:40000", "192.0.2.4:40000");
    check("both.example", "192.0.2.4");
    check("six.example:40000", "[2001:db8::6]:40000");
}

static void a_name_without_addresses_is_an_error(void **state)
{
    (void)state;
    struct cw_address address;
    assert_int_equal(cw_resolve("none.example:40000", &address), CW_ERROR_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4_comes_before_ipv6),
        cmocka_unit_test(a_name_without_addresses_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
