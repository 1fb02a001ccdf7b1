#include "causeway/base.h"

#include "fixture.h"

/* CAUSEWAY_BUILD_VERSION is the version as CMake, and so the package for find_package, has it. */
TEST(test_headers_library_and_build_agree)
{
    assert_string_equal(cw_version(), CAUSEWAY_VERSION);
    assert_string_equal(cw_version(), CAUSEWAY_BUILD_VERSION);
}
