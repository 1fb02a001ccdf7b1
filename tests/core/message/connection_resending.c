/* When messages are sent again. */
#include "connection_pair.h"

#include "notes_schema.h"

struct outcome {
    double resent;  /* a message */
    double latency; /* from send to receive, on average, in seconds */
};

/* A note a tick one way over that path. */
static struct outcome send_over(const struct cw_simulator_path *path, uint32_t redundancy,
                                uint32_t notes)
{
    struct cw_connection_config config = cw_connection_config_default(notes_schema());
    config.max_messages = 2048;
    config.channels[0].redundancy = redundancy;
    struct pair pair = pair_open(&config, 0.1, 0);
    double latency = 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(cw_simulator_change(pair.paths[i], path), CW_OK);
    for (uint32_t i = 0; i < notes; i++) {
        send_note(pair.sides[0], 0, i, 50, pair.now);
        pair_tick(&pair);
        for (struct cw_message *note; (note = next_message(pair.sides[1], NULL));) {
            latency += pair.now - number_of(note) * TICK;
            cw_message_release(note);
        }
    }
    const struct cw_channel_stats stats = channel_of(pair.sides[0], 0);
    const double received = (double)channel_of(pair.sides[1], 0).received;
    assert_true(received > 0.98 * notes);
    pair_close(&pair);
    return (struct outcome){.resent = (double)stats.resent / notes, .latency = latency / received};
}

static void test_rare_losses_that_go_on_keep_redundancy_on(void **state)
{
    (void)state;
    struct cw_simulator_path path = path_of(0.1, 0.01);
    assert_true(send_over(&path, 1, 20000).resent > 0.8);
    path.loss = 0.002;
    assert_true(send_over(&path, 1, 20000).resent < 0.2);
}

/* A fifth is lost on both paths. Where four in a row are lost on average, the next packet is lost
   with the one before, and a copy in it is of little use. */
static void test_copies_keep_away_from_bursts_of_losses(void **state)
{
    (void)state;
    struct cw_simulator_path path = path_of(0.2, 0);
    path.burst_end = 0.25;
    path.burst_start = path.burst_end * 0.2 / 0.8;
    path.burst_loss = 1;
    const struct outcome bursts = send_over(&path, 1, 20000);
    assert_true(bursts.latency < 0.19); /* 0.24 with the copy in the next packet */
    assert_true(bursts.resent < 1.6);
    path = path_of(0.2, 0.2);
    const struct outcome random = send_over(&path, 1, 20000);
    assert_true(random.latency < 0.18);
    assert_true(random.resent < 1.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rare_losses_that_go_on_keep_redundancy_on),
        cmocka_unit_test(test_copies_keep_away_from_bursts_of_losses),
    };
    return cmocka_run_group_tests_name("connection_resending", tests, NULL, NULL);
}
