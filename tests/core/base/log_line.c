/* Tests of lines put together: each is one line, and never longer than there is room. */
#include "base/log_line.h"

#include "kept_log.h"

static void pieces_follow_each_other(void **state)
{
    (void)state;
    struct kept_log log = {0};
    const struct cw_log at = kept_log_at(&log, CW_LOG_INFO);
    struct cw_log_line line = {0};
    cw_log_line_text(&line, "a\r\nb\x7f\x1b");
    cw_log_line_number(&line, 0);
    cw_log_line_text(&line, " ");
    cw_log_line_number(&line, UINT64_MAX);
    cw_log_line_address(&line, NULL);
    cw_log_line_write(&line, &at, CW_LOG_INFO);
    assert_string_equal(log.lines[0], "2 a  b  0 18446744073709551615none");
}

static void what_does_not_fit_is_cut_off(void **state)
{
    (void)state;
    struct cw_log_line line = {0};
    for (int i = 0; i < 1000; i++)
        cw_log_line_text(&line, "xy");
    assert_int_equal(line.size, sizeof line.text - 1);
    assert_int_equal(strlen(line.text), sizeof line.text - 1);
}

static void a_log_wants_what_its_level_includes(void **state)
{
    (void)state;
    struct kept_log log = {0};
    const struct cw_log at = kept_log_at(&log, CW_LOG_INFO), none = {.level = CW_LOG_DEBUG};
    assert_true(cw_log_wants(&at, CW_LOG_WARNING));
    assert_true(cw_log_wants(&at, CW_LOG_INFO));
    assert_false(cw_log_wants(&at, CW_LOG_DEBUG));
    assert_false(cw_log_wants(&none, CW_LOG_WARNING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(what_does_not_fit_is_cut_off),
        cmocka_unit_test(a_log_wants_what_its_level_includes),
    };
    return cmocka_run_group_tests_name("log_line", tests, NULL, NULL);
}
