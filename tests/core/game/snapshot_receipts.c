/* Tests of snapshots as messages of a connection, acked by receipts: over a path that loses, and
   when the application lets messages lie until the connection throws them away. */
#define EVERY_CODING
#include "snapshot_rig.h"

#include "connection_pair.h"

#define SNAPSHOT_FIELDS(FIELD) FIELD(body, CW_BYTES(600))
CW_MESSAGE(snapshot, SNAPSHOT_FIELDS)

enum { UNRELIABLE = 1, ENTITIES = 20 };

static struct pair open_pair(double loss)
{
    const struct cw_schema_config types = {.types = &snapshot_type, .count = 1};
    const struct cw_connection_config config = cw_connection_config_default(schema_with(&types));
    return pair_open(&config, 0.1, loss);
}

static void send_snapshot(struct pair *pair)
{
    struct cw_message *message;
    next_tick();
    assert_int_equal(cw_connection_create_message(pair->sides[0], 0, &message), CW_OK);
    struct snapshot *const snapshot = message->data;
    snapshot->body.size = (uint32_t)cw_snapshot_server_transmit(
        rig_server, 0, snapshot->body.data, sizeof snapshot->body.data, &message->receipt);
    assert_true(snapshot->body.size > 0);
    assert_int_equal(cw_connection_send(pair->sides[0], UNRELIABLE, message, pair->now), CW_OK);
}

static void take_receipts(struct pair *pair)
{
    struct cw_connection_event event;
    while (cw_connection_next(pair->sides[0], &event))
        if (event.type == CW_CONNECTION_EVENT_ACKED)
            cw_snapshot_server_acked(rig_server, 0, event.receipt);
}

/* Takes all snapshots. Returns how many had no baseline here. */
static uint32_t take_snapshots(struct pair *pair)
{
    uint32_t missing = 0;
    struct cw_message *message;
    while ((message = next_message(pair->sides[1], NULL)) != NULL) {
        const struct snapshot *const snapshot = message->data;
        missing += cw_snapshot_client_receive(rig_client, snapshot->body.data,
                                              snapshot->body.size) == CW_ERROR_SNAPSHOT_BASELINE;
        cw_message_release(message);
    }
    return missing;
}

static void expect_x(uint32_t x)
{
    for (uint32_t i = 0; i < ENTITIES; i++)
        assert_int_equal(body_at(i)->x, i + x);
}

BEFORE_EACH_TEST
{
    rig_open();
    rig_start();
}

TEST(test_receipts_tell_the_baseline)
{
    struct pair pair = open_pair(0.2);
    uint32_t missing = 0;
    for (uint32_t tick = 0; tick < 600; tick++) {
        for (uint32_t i = 0; i < ENTITIES && tick < 550; i++)
            set_body(i, i + tick);
        send_snapshot(&pair);
        pair_tick(&pair);
        take_receipts(&pair);
        missing += take_snapshots(&pair);
    }
    expect_x(549);
    assert_int_equal(missing, 0);
    struct cw_snapshot_server_stats stats;
    cw_snapshot_server_get_stats(rig_server, &stats);
    assert_in_range(stats.whole, 1, 30);
}

/* There are more messages than the connection holds: the oldest are gone, although they were acked.
 */
TEST(test_a_client_that_slept_begins_anew)
{
    struct pair pair = open_pair(0);
    for (uint32_t tick = 0; tick < 400; tick++) {
        for (uint32_t i = 0; i < ENTITIES; i++)
            set_body(i, i + tick);
        send_snapshot(&pair);
        pair_tick(&pair);
        take_receipts(&pair);
        if (tick < 30)
            take_snapshots(&pair);
    }
    assert_true(take_snapshots(&pair) > 100);
    assert_true(body_at(0)->x < 100);
    assert_int_equal(cw_snapshot_server_restart(rig_server, 0), CW_OK);
    for (uint32_t tick = 0; tick < 20; tick++) {
        send_snapshot(&pair);
        pair_tick(&pair);
        take_receipts(&pair);
        take_snapshots(&pair);
    }
    expect_x(399);
}
