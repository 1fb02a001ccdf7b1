/* Tests of coded repair over whole connections: they are reliable-ordered at any loss, faster than
   without it, and cost nothing but a few bits where nothing is lost. */
#include "fixture.h"

#include "config_error.h"
#include "connection_pair.h"

#include <string.h>

#define RTT 0.1 /* seconds */

static struct cw_connection_config config_with(enum cw_recovery_kind recovery)
{
    struct cw_connection_config config = notes_config();
    config.channel_count = 1;
    config.max_messages = 2048;
    config.channels[0].recovery = recovery;
    return config;
}

/* Takes all that has arrived, which must go on from *next. Every 50th message is a parcel. */
static void take_in_order(struct cw_connection *at, uint32_t *next)
{
    for (struct cw_message *message; (message = next_message(at, NULL)) != NULL; ++*next) {
        if (message->block)
            check_parcel(message, *next, 3000);
        assert_int_equal(number_of(message), *next);
        cw_message_release(message);
    }
}

/* Returns false when the queue is full. */
static bool send_one(struct pair *pair, int side, uint32_t number, bool blocks)
{
    struct cw_connection *from = pair->sides[side];
    struct cw_message *message;
    if (!blocks || number % 50 != 49)
        return try_note(from, 0, number, number % 11 == 10 ? 400 : number % 7 * 8, pair->now);
    message = make_parcel(from, number, 3000);
    if (cw_connection_send(from, 0, message, pair->now) == CW_OK)
        return true;
    cw_message_release(message);
    return false;
}

/* Sends a few messages a tick each way, for 300 ticks, then waits until all have arrived. */
static void exchange(const struct cw_connection_config *config,
                     const struct cw_simulator_path *path, uint32_t per_tick)
{
    struct pair pair = pair_open(config, RTT, 0);
    uint32_t sent[2] = {0}, received[2] = {0};
    pair_change(&pair, path);
    for (int tick = 0; tick < 300 || received[0] < sent[1] || received[1] < sent[0]; tick++) {
        assert_true(tick < 30000);
        for (uint32_t i = 0; i < 2 * per_tick && tick < 300; i++)
            sent[i % 2] += send_one(&pair, i % 2, sent[i % 2], config->channels[0].blocks);
        pair_tick(&pair);
        for (int i = 0; i < 2; i++)
            take_in_order(pair.sides[i], &received[i]);
    }
    pair_set_loss(&pair, 0, RTT);
    pair_run(&pair, 600);
    for (int i = 0; i < 2; i++) {
        const struct cw_channel_stats stats = channel_of(pair.sides[i], 0);
        assert_null(next_message(pair.sides[i], NULL));
        assert_int_equal(stats.received, sent[!i]);
        assert_int_equal(stats.delivered, sent[i]);
        assert_int_equal(stats.queued + stats.in_flight, 0);
        assert_int_equal(stats_of(pair.sides[i]).messages_in_use, 0);
        assert_int_equal(stats_of(pair.sides[i]).packets_invalid, 0);
    }
}

TEST(test_all_messages_arrive_once_and_in_order)
{
    for (int percent = 0; percent <= 90; percent += 15) {
        for (uint32_t variant = 0; variant < 8; variant++) {
            struct cw_connection_config config = config_with(CW_RECOVERY_CODED);
            struct cw_simulator_path path = path_of(RTT, percent / 100.0);
            config.channels[0].blocks = variant & 1;
            config.channels[0].extra_bytes = variant & 2 ? 300 : 100;
            path.jitter_seconds = variant & 2 ? 0.03 : 0;
            path.duplicate = variant & 2 ? 0.1 : 0;
            exchange(&config, &path, variant & 4 ? 5 : 1);
        }
    }
}

TEST(test_and_where_losses_come_in_bursts)
{
    for (uint32_t per_tick = 1; per_tick <= 9; per_tick += 4) {
        const struct cw_connection_config config = config_with(CW_RECOVERY_CODED);
        struct cw_simulator_path path = path_of(RTT, 0);
        path.burst_start = 0.05;
        path.burst_end = 0.15;
        path.burst_loss = 1;
        exchange(&config, &path, per_tick);
    }
}

/* Sends one message each tick, with so many bytes of padding, and returns the sum of all ticks from
   send to arrival. */
static uint32_t ticks_late_of(uint32_t padding, enum cw_recovery_kind recovery, double loss,
                              uint64_t *bytes)
{
    const struct cw_connection_config config = config_with(recovery);
    struct pair pair = pair_open(&config, RTT, loss);
    uint32_t received = 0, late = 0;
    for (uint32_t tick = 0; tick < 3000; tick++) {
        send_note(pair.sides[0], 0, tick, padding, pair.now);
        pair_tick(&pair);
        for (struct cw_message *message; (message = next_message(pair.sides[1], NULL)) != NULL;) {
            assert_int_equal(number_of(message), received++);
            late += tick - number_of(message);
            cw_message_release(message);
        }
    }
    *bytes = stats_of(pair.sides[0]).endpoint.bytes_sent;
    if (recovery == CW_RECOVERY_CODED &&
        padding < 256) /* the sender hears what was repaired, and does not send it again */
        assert_in_range(channel_of(pair.sides[0], 0).resent, 0, 100);
    return late;
}

static uint32_t ticks_late(enum cw_recovery_kind recovery, double loss, uint64_t *bytes)
{
    return ticks_late_of(40, recovery, loss, bytes);
}

/* No combination holds them, so they are copied. */
TEST(test_long_messages_have_copies)
{
    static const double losses[] = {0.03, 0.15};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        uint64_t bytes, resent_bytes, copied_bytes;
        const uint32_t coded = ticks_late_of(500, CW_RECOVERY_CODED, losses[i], &bytes);
        const uint32_t copied = ticks_late_of(500, CW_RECOVERY_COPIES, losses[i], &copied_bytes);
        const uint32_t resent = ticks_late_of(500, CW_RECOVERY_RESEND, losses[i], &resent_bytes);
        if (coded > 1.05 * copied || coded > resent || bytes > 1.02 * (double)copied_bytes ||
            bytes > 2.1 * (double)resent_bytes)
            fail_msg("%u ticks late and %llu bytes coded, %u and %llu copied, %u and %llu resent",
                     coded, (unsigned long long)bytes, copied, (unsigned long long)copied_bytes,
                     resent, (unsigned long long)resent_bytes);
    }
}

TEST(test_a_loss_is_repaired_without_a_round_trip)
{
    uint64_t bytes;
    const uint32_t path = ticks_late(CW_RECOVERY_CODED, 0, &bytes);
    const uint32_t with = ticks_late(CW_RECOVERY_CODED, 0.2, &bytes) - path;
    const uint32_t without = ticks_late(CW_RECOVERY_RESEND, 0.2, &bytes) - path;
    if (with * 4 > without)
        fail_msg("%u ticks late with repair, %u without", with, without);
}

/* Repair costs three bits in a packet: no news, and no combinations. Messages begin at bytes. */
TEST(test_without_losses_nothing_is_repaired)
{
    uint64_t with, without;
    assert_int_equal(ticks_late(CW_RECOVERY_CODED, 0, &with),
                     ticks_late(CW_RECOVERY_RESEND, 0, &without));
    assert_in_range(with, without, without + 2 * 3000);
}

/* Repaired messages wait like others for an application that takes none, and nothing is lost. */
TEST(test_a_slow_reader_loses_nothing)
{
    struct cw_connection_config config = config_with(CW_RECOVERY_CODED);
    config.max_messages = 40;
    config.channels[0].receive_queue_size = 16;
    struct pair pair = pair_open(&config, RTT, 0.3);
    uint32_t sent = 0, received = 0;
    for (int tick = 0; received < 500; tick++) {
        assert_true(tick < 30000);
        if (sent < 500)
            sent += try_note(pair.sides[0], 0, sent, 20, pair.now);
        pair_tick(&pair);
        if (tick % 100 > 60)
            take_in_order(pair.sides[1], &received);
    }
}

TEST(test_both_ends_must_have_it)
{
    struct cw_connection_config with = config_with(CW_RECOVERY_CODED), without = with;
    struct cw_channel_config unreliable = cw_channel_config_default(CW_CHANNEL_UNRELIABLE);
    without.channels[0].recovery = CW_RECOVERY_COPIES;
    assert_int_not_equal(cw_connection_fingerprint(&with), cw_connection_fingerprint(&without));
    assert_in_range(cw_connection_memory(&with) - cw_connection_memory(&without), 20000, 45000);
    unreliable.recovery = CW_RECOVERY_CODED;
    assert_error_names(cw_channel_config_check(&unreliable, 1100), "recovery");
}
