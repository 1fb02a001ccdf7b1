/* Tests of recovery against yojimbo's blind resending, in virtual time: over long paths, messages
   come sooner on average and in all but one of a hundred cases, for fewer bytes. */
#include "fixture.h"

#include "path_yojimbo.h"

#define SECONDS 300
#define SHARE   0.8  /* a share of yojimbo's bytes */
#define CHANCE  1.01 /* the ratio of two means that may be equal */

/* The budgets make use of the bytes that there are: yojimbo sends the more, the longer the path. */
static const struct {
    double rtt;
    uint32_t extra_bytes;
} paths[] = {{0.25, 125}, {0.4, 200}, {0.6, 300}};

static struct traffic_result run_ours(const struct cw_simulator_path *path, uint32_t extra_bytes)
{
    struct cw_connection_config config = traffic_messages();
    config.channels[0].recovery = extra_bytes > 0 ? CW_RECOVERY_CODED : CW_RECOVERY_RESEND;
    config.channels[0].extra_bytes = extra_bytes > 0 ? extra_bytes : 1;
    return traffic_run(1, path, &config, SECONDS);
}

static void compare(const struct cw_simulator_path *path, uint32_t extra_bytes)
{
    const struct traffic_result ours = run_ours(path, extra_bytes);
    const struct traffic_result other = path_yojimbo_run(1, path, SECONDS);
    if (ours.mean_ms > other.mean_ms || ours.p99_ms > other.p99_ms + 1e-6 ||
        ours.bytes > SHARE * other.bytes)
        fail_msg("%.1f/%.0f ms at %.0f bytes, yojimbo %.1f/%.0f at %.0f", ours.mean_ms, ours.p99_ms,
                 ours.bytes, other.mean_ms, other.p99_ms, other.bytes);
}

TEST(test_recovery_is_ahead_of_blind_resending_where_losses_are_random)
{
    static const double losses[] = {0.01, 0.05, 0.2};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (size_t j = 0; j < sizeof losses / sizeof *losses; j++) {
            struct cw_simulator_path path = path_of_rtt(paths[i].rtt);
            path.loss = losses[j];
            compare(&path, paths[i].extra_bytes);
        }
    }
}

TEST(test_and_where_five_in_a_row_are_lost)
{
    static const double losses[] = {0.01, 0.05, 0.2};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (size_t j = 0; j < sizeof losses / sizeof *losses; j++) {
            struct cw_simulator_path path = path_of_rtt(paths[i].rtt);
            path.burst_end = 0.2;
            path.burst_start = path.burst_end * losses[j] / (1 - losses[j]);
            path.burst_loss = 1;
            compare(&path, paths[i].extra_bytes);
        }
    }
}

/* On short paths, an ack is back before a combination could help, and nothing has to wait for it.
 */
TEST(test_and_does_not_hurt_on_short_paths)
{
    static const double rtts[] = {0.02, 0.04, 0.08};
    for (size_t i = 0; i < sizeof rtts / sizeof *rtts; i++) {
        for (int bursts = 0; bursts < 2; bursts++) {
            struct cw_simulator_path path = path_of_rtt(rtts[i]);
            path.loss = bursts ? 0 : 0.05;
            path.burst_end = 0.2;
            path.burst_start = bursts ? path.burst_end * 0.05 / 0.95 : 0;
            path.burst_loss = 1;
            const struct traffic_result with = run_ours(&path, 100);
            const struct traffic_result without = run_ours(&path, 0);
            if (with.mean_ms > CHANCE * without.mean_ms)
                fail_msg("%g ms with recovery, %g without", with.mean_ms, without.mean_ms);
        }
    }
}
