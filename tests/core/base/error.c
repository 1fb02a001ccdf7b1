/* Tests of the texts of errors. */
#include "causeway/base.h"

#include "error_tables.h"

#include "causeway/endpoint.h"

#include "fixture.h"

#include <string.h>

TEST(test_every_error_has_a_sentence_of_its_own)
{
    const char *const unknown = cw_error_string(CW_ERROR_COUNT);
    for (int i = 0; i < CW_ERROR_COUNT; i++) {
        const char *const text = cw_error_string((enum cw_error)i);
        assert_non_null(text);
        assert_string_not_equal(text, unknown);
        assert_true(i == CW_OK || strlen(text) > 15);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, cw_error_string((enum cw_error)j));
    }
    assert_string_equal(cw_error_string((enum cw_error)(CW_ERROR_COUNT + 1)), unknown);
}

static const char *says(enum cw_error error, const char *field)
{
    char name[CW_ERROR_FIELD_SIZE];
    assert_true(cw_error_field(error, name));
    assert_string_equal(name, field);
    return cw_error_string(error);
}

TEST(test_a_config_is_refused_by_field_and_range)
{
    struct cw_endpoint *endpoint;
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_reassemblies = 65;
    assert_string_equal(says(cw_endpoint_create(&config, &endpoint), "max_reassemblies"),
                        "max_reassemblies must be from 1 to 64");
    config = cw_endpoint_config_default();
    config.rtt_smoothing = 0;
    assert_string_equal(says(cw_endpoint_create(&config, &endpoint), "rtt_smoothing"),
                        "rtt_smoothing must be above 0 and at most 1");
    config = cw_endpoint_config_default();
    config.sent_window = 100;
    assert_string_equal(says(cw_endpoint_create(&config, &endpoint), "sent_window"),
                        "sent_window must be a power of two from 32 to 16384");
    config = cw_endpoint_config_default();
    config.max_send_size = 5000;
    assert_string_equal(says(cw_endpoint_create(&config, &endpoint), "max_send_size"),
                        "max_send_size must be from 1 to max_packet_size");
}

TEST(test_no_two_modules_share_a_number)
{
    static const struct cw_error_texts *const tables[] = {CW_ERROR_TABLES(CW_ERROR_TABLE_ADDRESS)};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        uint32_t error = tables[i]->first;
        for (const char *text = tables[i]->texts; *text; text += strlen(text) + 1, error++) {
            char name[CW_ERROR_FIELD_SIZE];
            assert_string_equal(cw_error_string((enum cw_error)error), text);
            assert_int_equal(cw_error_field((enum cw_error)error, name), error >= CW_ERROR_CONFIG);
            assert_memory_equal(name, text, strlen(name));
            assert_true(strlen(name) < CW_ERROR_FIELD_SIZE - 1);
        }
    }
}

TEST(test_other_errors_have_no_field)
{
    char name[CW_ERROR_FIELD_SIZE] = "x";
    assert_false(cw_error_field(CW_ERROR_NO_MEMORY, name));
    assert_string_equal(name, "");
    assert_false(cw_error_field(CW_ERROR_CONFIG, NULL));
}
