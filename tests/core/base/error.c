/* What errors say. */
#include "causeway/error.h"

#include "unit.h"

#include <string.h>

static void test_every_error_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    const char *const unknown = cw_error_string(CW_ERROR_COUNT);
    for (int i = 0; i < CW_ERROR_COUNT; i++) {
        const char *const text = cw_error_string((enum cw_error)i);
        assert_non_null(text);
        assert_string_not_equal(text, unknown);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, cw_error_string((enum cw_error)j));
    }
    assert_string_equal(cw_error_string((enum cw_error)(CW_ERROR_COUNT + 1)), unknown);
}

/* Who reads them sets the config right. */
static void test_limits_are_told_as_they_are_checked(void **state)
{
    (void)state;
    static const struct {
        enum cw_error error;
        const char *part;
    } told[] = {
        {CW_ERROR_CONFIG_PACKET_SIZE, "at least 1,"},
        {CW_ERROR_CONFIG_POOL, "max_broadcasts must be from 1 to 32768"},
        {CW_ERROR_CONFIG_ADDRESSES, "a trusted proxy is an address without a port, or a prefix"},
        {CW_ERROR_CONFIG_PACKET_SIZE, "max_send_size from 1 to max_packet_size"},
        {CW_ERROR_CONFIG_PACKET_SIZE, "1200 bytes"},
        {CW_ERROR_CONFIG_CONNECTION, "channel_count must be from 1 to 64"},
        {CW_ERROR_CONFIG_CONNECTION, "max_messages from 1 to 32768"},
        {CW_ERROR_CONFIG_CONNECTION, "max_received_messages from 1 to 32768"},
        {CW_ERROR_CONFIG_CONNECTION, "max_packets_per_update from 1 to 64"},
        {CW_ERROR_CONFIG_BLOCK, "from 1 byte to 64 MB"},
        {CW_ERROR_CONFIG_BLOCK, "65535 fragments"},
        {CW_ERROR_CONFIG_BLOCK, "16 bytes below the size of a packet"},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (!strstr(cw_error_string(told[i].error), told[i].part))
            fail_msg("\"%s\" is not in \"%s\"", told[i].part, cw_error_string(told[i].error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_error_has_a_sentence_of_its_own),
        cmocka_unit_test(test_limits_are_told_as_they_are_checked),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
