/* The code in the guide of the lab does what it says. */

#include "lab/column.h"

#include "unit.h"

/* In core/lab/README.md. */
double try_protocol(uint32_t protocol);

static void the_guide_tries_a_protocol(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < cw_lab_protocol_count(); i++) {
        const double p99 = try_protocol(i);
        assert_true(p99 > 0.1 && p99 < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_guide_tries_a_protocol)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
