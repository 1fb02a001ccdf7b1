/* Any bytes arrive at the modules that keep time and inputs. They read no byte too many, give only
   inputs that are in range, and tell finite times.

   An input is a list of calls, each of which is a byte for the function, a byte for the size, and
   the bytes. The client has ticks and stamps of its own, so that what refers to them can be right.
   */
#include "causeway/input.h"
#include "causeway/clock_sync.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define PLAY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-3, 3))                                                                        \
    FIELD(angle, CW_COMPRESSED_FLOAT(-4, 4, 0.01f))                                                \
    FIELD(name, CW_STRING(5))                                                                      \
    FIELD(target, CW_OPTIONAL(CW_BITS(10)))                                                        \
    FIELD(path, CW_ARRAY(CW_UINT(0, 99), 3))
CW_MESSAGE(play, PLAY_FIELDS)

struct ends {
    struct cw_schema *schema;
    struct cw_input_sender *sender;
    struct cw_input_receiver *receiver;
    struct cw_clock_sync *sync;
    struct cw_clock_echo echo;
    double now;
    uint32_t tick;
};

static void take_events(struct ends *ends)
{
    struct play play;
    memset(&play, 0xAA, sizeof play);
    cw_input_receiver_take(ends->receiver, ends->tick++, &play);
    expect(cw_schema_check(ends->schema, 0, &play) == CW_FIELD_NONE);
}

/* Plays a frame of the client. */
static void step(struct ends *ends, double seconds)
{
    struct cw_clock_sync_event event;
    struct play play = {.x = 1};
    uint8_t stamp[CW_CLOCK_STAMP_SIZE];
    ends->now += seconds;
    cw_clock_sync_transmit(ends->sync, stamp, sizeof stamp, ends->now);
    cw_clock_sync_update(ends->sync, ends->now);
    for (int ticks = 0; cw_clock_sync_next(ends->sync, &event); ticks++) {
        expect(ticks <= 16);
        if (event.type == CW_CLOCK_SYNC_EVENT_TICK)
            expect(cw_input_sender_add(ends->sender, event.tick, &play) == CW_OK);
    }
    const double server = cw_clock_sync_server_time(ends->sync, ends->now);
    const double client = cw_clock_sync_client_time(ends->sync, ends->now);
    expect(cw_tick_time_valid(server) && cw_tick_time_valid(client));
}

static void call(struct ends *ends, uint8_t what, const uint8_t *data, size_t size)
{
    struct cw_input_report report;
    switch (what % 6) {
    case 0:
        cw_input_receiver_receive(ends->receiver, data, size, ends->tick - 0.5);
        break;
    case 1:
        if (cw_input_sender_receive(ends->sender, data, size, &report) == CW_OK)
            cw_clock_sync_adjust(ends->sync, report.tick, report.early_ticks, ends->now);
        break;
    case 2:
        cw_clock_sync_receive(ends->sync, data, size, ends->now);
        break;
    case 3:
        cw_clock_echo_receive(&ends->echo, data, size, ends->now);
        break;
    case 4:
        take_events(ends);
        break;
    default:
        step(ends, (double)size / 64);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_schema_config schema_config = {.types = &play_type, .count = 1};
    const struct cw_clock_sync_config clock = cw_clock_sync_config_default();
    struct ends ends = {.now = 100, .tick = 40000};
    expect(cw_schema_create(&schema_config, &ends.schema) == CW_OK);
    const struct cw_input_config config = cw_input_config_default(ends.schema);
    expect(cw_input_sender_create(&config, &ends.sender) == CW_OK);
    expect(cw_input_receiver_create(&config, &ends.receiver) == CW_OK);
    expect(cw_clock_sync_create(&clock, &ends.sync) == CW_OK);
    step(&ends, 0.1);
    while (size >= 2) {
        const size_t next = data[1] < size - 2 ? data[1] : size - 2;
        uint8_t *const exact = malloc(next + 1);
        memcpy(exact + 1, data + 2, next);
        call(&ends, data[0], exact + 1, next);
        free(exact);
        data += 2 + next;
        size -= 2 + next;
    }
    cw_clock_sync_destroy(ends.sync);
    cw_input_receiver_destroy(ends.receiver);
    cw_input_sender_destroy(ends.sender);
    cw_schema_destroy(ends.schema);
    return 0;
}
