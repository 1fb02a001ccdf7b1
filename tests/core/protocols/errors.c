/* Tests of the sentences of the protocols' errors. */
#include "fixture.h"

#include "causeway/protocols/error.h"

#include <string.h>

TEST(each_error_has_a_sentence_of_its_own)
{
    for (int i = 0; i < CW_PROTOCOL_ERROR_COUNT; i++)
        for (int j = 0; j <= i; j++) {
            const char *one = cw_protocol_error_string((enum cw_protocol_error)i);
            const char *other = cw_protocol_error_string((enum cw_protocol_error)j);
            assert_true((strcmp(one, other) == 0) == (i == j));
        }
    assert_string_equal(cw_protocol_error_string(CW_PROTOCOL_ERROR_COUNT), "unknown error");
    assert_string_equal(cw_protocol_error_string((enum cw_protocol_error) - 1), "unknown error");
}
