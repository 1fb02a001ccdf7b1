/* Tests that a recording of a connection, read again, gives the statistics that the connection has,
   and that it tells what happened. */
#include "connection_pair.h"
#include "fixture.h"

#define FAR_CLOCK 1e6 /* seconds; a recording must not count on a clock that begins at 0 */

static struct cw_record *record_of(struct cw_connection *connection, uint32_t size)
{
    struct cw_record_config config = cw_record_config_default();
    config.size = size;
    struct cw_record *record = record_with(&config);
    cw_connection_set_record(connection, record);
    return record;
}

/* The events of a recording, by type. */
struct told {
    size_t size;
    uint32_t events[CW_RECORDING_DAMAGED + 1];
    uint32_t inexact; /* states at which the replay differed */
    char note[CW_RECORD_NOTE_SIZE];
    struct cw_endpoint_stats stats;
};

static struct told told_by(struct cw_record *record)
{
    struct told told = {0};
    struct cw_recording_event event;
    struct cw_recording *recording = NULL;
    uint8_t *data = own(malloc(65536), free);
    told.size = cw_record_write(record, data, 65536);
    assert_ok(cw_recording_create(data, told.size, NULL, &recording));
    while (cw_recording_next(recording, &event)) {
        told.events[event.type]++;
        told.inexact += event.type == CW_RECORDING_STATE && !event.exact;
        if (event.type == CW_RECORDING_NOTE)
            strcpy(told.note, event.text);
    }
    cw_recording_get_stats(recording, &told.stats);
    cw_recording_destroy(recording);
    assert_int_equal(told.events[CW_RECORDING_DAMAGED], 0);
    return told;
}

static void assert_same(const struct told *told, const struct cw_connection *connection)
{
    struct cw_connection_stats stats;
    cw_connection_get_stats(connection, &stats);
    assert_memory_equal(&told->stats, &stats.endpoint, sizeof told->stats);
}

/* A minute of messages both ways, with a block now and then, over a path that loses, delays and
   repeats packets. */
static void talk(struct pair *pair, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        struct cw_connection_event event;
        for (int side = 0; side < 2; side++) {
            try_note(pair->sides[side], (uint32_t)side, (uint32_t)i, 20, pair->now);
            while (cw_connection_next(pair->sides[side], &event))
                cw_message_release(event.message);
        }
        if (i % 600 == 300)
            send_parcel(pair->sides[0], 0, (uint32_t)i, 20000, pair->now);
        pair_tick(pair);
        pair->now += FAR_CLOCK;
    }
}

static struct pair talkative(bool fragments)
{
    struct cw_connection_config config = notes_config();
    config.channels[0].blocks = true;
    if (fragments)
        config.endpoint.fragment_above = config.endpoint.fragment_size = 40;
    struct pair pair = pair_open(&config, 0.08, 0.05);
    struct cw_simulator_path path = path_of(0.08, 0.05);
    path.jitter_seconds = 0.03;
    path.duplicate = 0.02;
    pair_change(&pair, &path);
    pair.now = FAR_CLOCK;
    return pair;
}

TEST(test_a_recording_replays_to_the_same_statistics)
{
    static const struct {
        uint32_t size;
        bool fragments, late;
        uint32_t inexact; /* at most: where the beginning is lost, the first two states */
    } rows[] = {
        {65536, false, false, 0},
        {8192, false, false, 2},
        {65536, true, false, 2}, /* packets in fragments fill it in less than a minute */
        {65536, false, true, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pair pair = talkative(rows[i].fragments);
        if (rows[i].late)
            talk(&pair, 600);
        struct cw_record *records[] = {record_of(pair.sides[0], rows[i].size),
                                       record_of(pair.sides[1], rows[i].size)};
        talk(&pair, 3600);
        for (int side = 0; side < 2; side++) {
            const struct told told = told_by(records[side]);
            assert_in_range(told.inexact, 0, rows[i].inexact);
            assert_same(&told, pair.sides[side]);
            assert_true(told.events[CW_RECORDING_LOST] > 0);
            assert_true(told.events[CW_RECORDING_CONGESTION] > 0);
        }
    }
}

TEST(test_a_reset_and_notes_are_recorded)
{
    struct pair pair = talkative(false);
    struct cw_record *record = record_of(pair.sides[0], 65536);
    talk(&pair, 60);
    cw_record_note(record, "by\nWebRTC\xc2\x9bm", pair.now);
    cw_connection_reset(pair.sides[0]);
    cw_connection_reset(pair.sides[1]);
    talk(&pair, 60);
    const struct told told = told_by(record);
    assert_same(&told, pair.sides[0]);
    assert_int_equal(told.events[CW_RECORDING_RESET], 1);
    assert_string_equal(told.note, "by?WebRTC?\x9bm");
    cw_connection_set_record(pair.sides[0], NULL);
    talk(&pair, 60);
    assert_int_equal(told_by(record).size, told.size);
    cw_connection_set_record(pair.sides[0], record);
    talk(&pair, 60);
}

TEST(test_a_record_outlives_its_connection)
{
    const struct cw_connection_config config = notes_config();
    struct cw_connection *connection;
    assert_ok(cw_connection_create(&config, &connection));
    struct cw_record *record = record_of(connection, 8192);
    cw_record_note(record, "before the end", 1);
    cw_connection_destroy(connection);
    cw_record_note(record, "after the end", 2);
    const struct told told = told_by(record);
    assert_string_equal(told.note, "before the end");
    assert_int_equal(told.events[CW_RECORDING_RESET], 0);
}

TEST(test_strangers_files_are_refused)
{
    struct pair pair = talkative(false);
    struct cw_record *record = record_of(pair.sides[0], 8192);
    struct cw_recording *recording = NULL;
    struct cw_recording_event event = {0};
    uint8_t data[8192];
    assert_int_equal(cw_record_write(record, data, sizeof data), 0); /* nothing yet */
    talk(&pair, 60);
    const size_t size = cw_record_write(record, data, sizeof data);
    assert_int_equal(cw_record_write(record, data, size - 1), 0);
    assert_int_equal(cw_recording_create(data, 51, NULL, &recording), CW_ERROR_MALFORMED);
    assert_ok(cw_recording_create(data, size - 1, NULL, &recording));
    enum cw_recording_event_type last = 0;
    while (cw_recording_next(recording, &event))
        last = event.type;
    assert_int_equal(last, CW_RECORDING_DAMAGED);
    cw_recording_destroy(recording);
    memset(data + 8, 0xFF, 8); /* the sizes of packets and fragments */
    assert_int_equal(cw_recording_create(data, size, NULL, &recording), CW_ERROR_MALFORMED);
}
