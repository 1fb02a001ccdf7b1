/* Tests of arguments that make no sense, as in core.arguments, for the functions of the protocols.
 */
#include "unit.h"

#include "arguments.h"

#include "causeway/protocols/bunch.h"
#include "causeway/protocols/rudp.h"

#include <math.h>

#define REFUSED(...) GIVES(CW_PROTOCOL_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uint8_t bytes[2048];

static void test_errors(void **state)
{
    (void)state;
    for (int i = 0; i < CW_PROTOCOL_ERROR_COUNT; i++)
        for (int j = 0; j <= i; j++) {
            const char *one = cw_protocol_error_string((enum cw_protocol_error)i);
            const char *other = cw_protocol_error_string((enum cw_protocol_error)j);
            assert_true((strcmp(one, other) == 0) == (i == j));
        }
    assert_string_equal(cw_protocol_error_string(CW_PROTOCOL_ERROR_COUNT), "unknown error");
    assert_string_equal(cw_protocol_error_string((enum cw_protocol_error) - 1), "unknown error");
}

static void test_rudp(void **state)
{
    (void)state;
    const struct cw_rudp_config config = cw_rudp_config_default();
    struct cw_rudp *rudp = NULL;
    struct cw_rudp_event event;
    struct cw_rudp_stats stats;
    uint64_t id;
    GIVES_NOTHING(cw_rudp_memory, nothing);
    GIVES_NOTHING(cw_rudp_config_error_field, nothing);
    REFUSED(cw_rudp_create, nothing, &rudp);
    REFUSED(cw_rudp_create, &config, nothing);
    assert_null(rudp);
    DOES_NOTHING(cw_rudp_destroy, nothing);
    DOES_NOTHING(cw_rudp_reset, nothing);
    REFUSED(cw_rudp_send, nothing, bytes, 1);
    DOES_NOTHING(cw_rudp_update, nothing, 1);
    GIVES_NOTHING(cw_rudp_transmit, nothing, bytes, sizeof bytes);
    REFUSED(cw_rudp_receive, nothing, bytes, 1);
    GIVES_NOTHING(cw_rudp_next, nothing, &event);
    GIVES_NOTHING(cw_rudp_waiting, nothing, &id);
    DOES_NOTHING(cw_rudp_stats, nothing, &stats);
    assert_int_equal(cw_rudp_create(&config, &rudp), CW_PROTOCOL_OK);
    REFUSED(cw_rudp_send, rudp, nothing, 1);
    GIVES_NOTHING(cw_rudp_transmit, rudp, nothing, sizeof bytes);
    REFUSED(cw_rudp_receive, rudp, nothing, 0);
    GIVES(CW_PROTOCOL_OK, cw_rudp_send, rudp, nothing, 0);
    GIVES_NOTHING(cw_rudp_next, rudp, nothing);
    GIVES_NOTHING(cw_rudp_waiting, rudp, nothing);
    DOES_NOTHING(cw_rudp_stats, rudp, nothing);
    cw_rudp_destroy(rudp);
}

static void test_notify(void **state)
{
    (void)state;
    const struct cw_notify_config config = cw_notify_config_default();
    struct cw_notify *notify = NULL;
    struct cw_notify_event event;
    struct cw_notify_stats stats;
    GIVES_NOTHING(cw_notify_memory, nothing);
    GIVES_NOTHING(cw_notify_config_error_field, nothing);
    REFUSED(cw_notify_create, nothing, &notify);
    REFUSED(cw_notify_create, &config, nothing);
    assert_null(notify);
    DOES_NOTHING(cw_notify_destroy, nothing);
    DOES_NOTHING(cw_notify_reset, nothing);
    REFUSED(cw_notify_send, nothing, bytes, 1, NULL);
    GIVES_NOTHING(cw_notify_transmit, nothing, bytes, sizeof bytes);
    REFUSED(cw_notify_receive, nothing, bytes, 1);
    DOES_NOTHING(cw_notify_update, nothing);
    GIVES_NOTHING(cw_notify_next, nothing, &event);
    DOES_NOTHING(cw_notify_refuse, nothing);
    GIVES_NOTHING(cw_notify_next_sequence, nothing);
    GIVES_NOTHING(cw_notify_room, nothing);
    DOES_NOTHING(cw_notify_stats, nothing, &stats);
    assert_int_equal(cw_notify_create(&config, &notify), CW_PROTOCOL_OK);
    REFUSED(cw_notify_send, notify, nothing, 1, NULL);
    GIVES_NOTHING(cw_notify_transmit, notify, nothing, sizeof bytes);
    REFUSED(cw_notify_receive, notify, nothing, 1);
    GIVES(CW_PROTOCOL_OK, cw_notify_send, notify, nothing, 0, NULL);
    GIVES_NOTHING(cw_notify_next, notify, nothing);
    DOES_NOTHING(cw_notify_stats, notify, nothing);
    cw_notify_destroy(notify);
}

static void test_bunch(void **state)
{
    (void)state;
    const struct cw_bunch_config config = cw_bunch_config_default();
    struct cw_bunch *bunch = NULL;
    struct cw_bunch_event event;
    struct cw_bunch_stats stats;
    uint16_t part;
    GIVES_NOTHING(cw_bunch_memory, nothing);
    GIVES_NOTHING(cw_bunch_config_error_field, nothing);
    REFUSED(cw_bunch_create, nothing, &bunch);
    REFUSED(cw_bunch_create, &config, nothing);
    assert_null(bunch);
    DOES_NOTHING(cw_bunch_destroy, nothing);
    DOES_NOTHING(cw_bunch_reset, nothing);
    REFUSED(cw_bunch_send, nothing, 0, bytes, 1);
    REFUSED(cw_bunch_set, nothing, 0, bytes, 1);
    REFUSED(cw_bunch_receive, nothing, bytes, 1);
    DOES_NOTHING(cw_bunch_update, nothing, 0);
    GIVES_NOTHING(cw_bunch_transmit, nothing, bytes, sizeof bytes);
    GIVES_NOTHING(cw_bunch_next, nothing, &event);
    GIVES_NOTHING(cw_bunch_missing, nothing, 0, &part);
    DOES_NOTHING(cw_bunch_stats, nothing, &stats);
    assert_int_equal(cw_bunch_create(&config, &bunch), CW_PROTOCOL_OK);
    REFUSED(cw_bunch_send, bunch, 0, nothing, 1);
    REFUSED(cw_bunch_set, bunch, 0, nothing, 1);
    REFUSED(cw_bunch_receive, bunch, nothing, 1);
    REFUSED(cw_bunch_send, bunch, 2, bytes, 1);
    REFUSED(cw_bunch_set, bunch, 0, bytes, 1);
    GIVES(CW_PROTOCOL_OK, cw_bunch_send, bunch, 0, nothing, 0);
    GIVES_NOTHING(cw_bunch_missing, bunch, 2, &part);
    DOES_NOTHING(cw_bunch_update, bunch, (double)NAN);
    GIVES_NOTHING(cw_bunch_transmit, bunch, nothing, sizeof bytes);
    GIVES_NOTHING(cw_bunch_next, bunch, nothing);
    GIVES_NOTHING(cw_bunch_missing, bunch, 0, nothing);
    DOES_NOTHING(cw_bunch_stats, bunch, nothing);
    cw_bunch_destroy(bunch);
}

/* This test comes after all others, which call the functions. */
static void test_no_function_was_left_out(void **state)
{
    (void)state;
    const size_t count = check_headers(CAUSEWAY_CORE "/protocols/include/causeway/protocols",
                                       " cw_protocol_error_string ");
    print_message("%zu functions\n", count);
    assert_true(count > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_rudp),
        cmocka_unit_test(test_notify),
        cmocka_unit_test(test_bunch),
        cmocka_unit_test(test_no_function_was_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
