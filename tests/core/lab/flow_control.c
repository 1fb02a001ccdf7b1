/* Tests of the flow control that columns show: good and bad mode and the delay-based control, while
   others flood the path. */
#include "lab/peers.h"

#include "column_rig.h"

#define BANDWIDTH 125000 /* bytes per second */

static struct cw_lab_control control_of(const struct cw_lab_column *column)
{
    struct cw_lab_control control;
    cw_lab_column_control(column, 0, &control);
    return control;
}

/* Runs with a bottleneck of 1 Mbit/s, blocks, and as much flood as a share of it. */
static struct cw_lab_control after(struct cw_lab_column *column, double flood, uint32_t seconds)
{
    struct cw_lab_settings settings = cw_lab_settings_default();
    settings.bytes_per_second = BANDWIDTH;
    settings.flood_bytes_per_second = flood * BANDWIDTH;
    settings.blocks = true;
    column_change(column, &settings);
    cw_lab_column_step(column, seconds * SECOND);
    return control_of(column);
}

TEST(a_flood_ends_the_good_mode_until_the_penalty_time_has_passed)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_binary);
    struct cw_lab_control is = after(column, 0, 2);
    assert_false(is.good);
    assert_true(is.penalty_seconds == 4 && is.good_seconds > 1 && is.good_seconds < 2);
    is = after(column, 0, 4);
    assert_true(is.good && is.packets_per_second == 30 && is.rtt_threshold_seconds == 0.25);

    is = after(column, 1.2, 5);
    assert_false(is.good);
    assert_true(is.packets_per_second == 10 && is.penalty_seconds == 8 && is.good_seconds == 0);
    assert_true(is.rtt > is.rtt_threshold_seconds);
    is = after(column, 0, 8);
    assert_true(!is.good && is.good_seconds > 4 && is.good_seconds < 8);
    assert_true(is.rtt < is.rtt_threshold_seconds);
    assert_true(after(column, 0, 4).good);
}

/* It has no modes. Against others that keep the queue long its window grows, so that blocks go on,
   and when they have gone it makes the queue short again. */
TEST(the_delay_based_control_holds_its_own_in_a_flood)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_plain);
    const struct cw_lab_control calm = after(column, 0, 10);
    assert_true(calm.rtt_threshold_seconds == 0 && calm.packets_per_second == 0 && !calm.good);
    assert_true(calm.rtt < 0.15 && calm.window_bytes > 0.1 * BANDWIDTH);
    assert_true(calm.in_flight_bytes > 0.05 * BANDWIDTH);
    const struct cw_lab_control flooded = after(column, 1.2, 10);
    assert_true(flooded.window_bytes > 1.5 * calm.window_bytes && flooded.rtt > 0.5);
    const struct cw_lab_control again = after(column, 0, 10);
    assert_true(again.window_bytes < 1.7 * calm.window_bytes && again.rtt < 0.15);
}

/* Its datagrams are not those of the ends, which get none of them. */
TEST(a_flood_delays_what_end_0_sends)
{
    struct cw_lab_column *column = column_of(&cw_lab_peer_notify);
    struct cw_lab_settings settings = cw_lab_settings_default();
    struct cw_lab_wire_stats calm, flooded;
    settings.bytes_per_second = BANDWIDTH;
    column_change(column, &settings);
    cw_lab_column_step(column, 10 * SECOND);
    cw_lab_column_wire_stats(column, 0, &calm);
    cw_lab_column_restart_stats(column);
    assert_true(cw_lab_column_quantile(column, 1, CW_LAB_MESSAGE, 1) < 0.07);
    settings.flood_bytes_per_second = 2 * BANDWIDTH;
    column_change(column, &settings);
    cw_lab_column_step(column, 10 * SECOND);
    cw_lab_column_wire_stats(column, 0, &flooded);
    assert_true(flooded.datagrams < 1.1 * calm.datagrams);
    assert_true(items_of(column, 0, CW_LAB_MESSAGE).mean_seconds > 0.4);
    assert_true(items_of(column, 1, CW_LAB_MESSAGE).mean_seconds < 0.07);
    assert_true(control_of(column).rtt == 0); /* it has no flow control */
}
