/* Tests that the code in the guide of the lab does what it says. */
#include "lab/column.h"

#include "fixture.h"

/* This function stands in core/lab/README.md. */
double try_protocol(uint32_t protocol);

TEST(the_guide_tries_a_protocol)
{
    for (uint32_t i = 0; i < cw_lab_protocol_count(); i++) {
        const double p99 = try_protocol(i);
        assert_true(p99 > 0.05 && p99 < 10);
    }
}
