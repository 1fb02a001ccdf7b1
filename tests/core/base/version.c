#include "causeway/version.h"

#include "unit.h"

/* CAUSEWAY_BUILD_VERSION is the version as CMake, and so the package for find_package, has it. */
static void test_headers_library_and_build_agree(void **state)
{
    (void)state;
    assert_string_equal(cw_version(), CAUSEWAY_VERSION);
    assert_string_equal(cw_version(), CAUSEWAY_BUILD_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_library_and_build_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
