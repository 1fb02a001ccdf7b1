/* Tests of lines put together: each is one line, and never longer than there is room. */
#include "fixture.h"

#include "base/log_line.h"

#include "kept_log.h"

TEST(pieces_follow_each_other)
{
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

TEST(what_does_not_fit_is_cut_off)
{
    struct cw_log_line line = {0};
    for (int i = 0; i < 1000; i++)
        cw_log_line_text(&line, "xy");
    assert_int_equal(line.size, sizeof line.text - 1);
    assert_int_equal(strlen(line.text), sizeof line.text - 1);
}

TEST(a_log_wants_what_its_level_includes)
{
    struct kept_log log = {0};
    const struct cw_log at = kept_log_at(&log, CW_LOG_INFO), none = {.level = CW_LOG_DEBUG};
    assert_true(cw_log_wants(&at, CW_LOG_WARNING));
    assert_true(cw_log_wants(&at, CW_LOG_INFO));
    assert_false(cw_log_wants(&at, CW_LOG_DEBUG));
    assert_false(cw_log_wants(&none, CW_LOG_WARNING));
}
