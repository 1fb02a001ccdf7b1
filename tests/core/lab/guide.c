/* Tests that the code in the guide of the lab does what it says. */
#include "lab/column.h"

#include "fixture.h"

/* These functions stand in core/lab/README.md. */
double try_protocol(uint32_t protocol);
double time_of_moves(bool prediction, double slow_rtt_seconds);

TEST(the_guide_tries_a_protocol)
{
    for (uint32_t i = 0; i < cw_lab_protocol_count(); i++) {
        const double p99 = try_protocol(i);
        assert_true(p99 > 0.05 && p99 < 10);
    }
}

TEST(the_guide_compares_lockstep_with_prediction)
{
    assert_true(time_of_moves(false, 0.05) < 0.07);
    assert_true(time_of_moves(false, 0.5) > 0.27);
    assert_true(time_of_moves(true, 0.5) == 0);
}
