/* The native side of tests/bench/wasm_messages.mjs, which defines a round: for each line "ROUNDS"
   on standard input it prints a line with the seconds that they took.
     messages_native move|update */
#include "causeway/connection.h"
#include "causeway/native/clock.h"

#include "world_update.h"

#include <stdio.h>

#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(id, CW_UINT(0, 1023))                                                                    \
    FIELD(x, CW_COMPRESSED_FLOAT(-500, 500, 0.01f))                                                \
    FIELD(y, CW_COMPRESSED_FLOAT(-500, 500, 0.01f))                                                \
    FIELD(yaw, CW_FLOAT)                                                                           \
    FIELD(jumping, CW_BOOL)
CW_MESSAGE(move, MOVE_FIELDS)

static double now;
static bool updates;
static struct update world;

static bool send(struct cw_connection *from)
{
    struct cw_message *message;
    if (cw_connection_create_message(from, 0, &message) != CW_OK)
        return false;
    if (updates)
        *(struct update *)message->data = world;
    else
        *(struct move *)message->data =
            (struct move){.id = 7, .x = 12.5f, .y = -3, .yaw = 1.5f, .jumping = true};
    return cw_connection_send(from, 0, message, now) == CW_OK;
}

static bool carry(struct cw_connection *from, struct cw_connection *to)
{
    uint8_t datagram[1100];
    struct cw_connection_event event;
    bool arrived = false;
    size_t size;
    cw_connection_update(from, now);
    while ((size = cw_connection_transmit(from, datagram, sizeof datagram, now)) > 0)
        cw_connection_receive(to, datagram, size, now);
    while (cw_connection_next(to, &event)) {
        arrived = updates ? ((const struct update *)event.message->data)->count == WORLD_BODIES
                          : ((const struct move *)event.message->data)->id == 7;
        cw_message_release(event.message);
    }
    return arrived;
}

int main(int argc, char **argv)
{
    updates = argc > 1 && strcmp(argv[1], "update") == 0;
    world = cw_world_update();
    const struct cw_message_type types[] = {updates ? update_type : move_type};
    const struct cw_schema_config schema_config = {.types = types, .count = 1};
    struct cw_schema *schema;
    if (cw_schema_create(&schema_config, &schema) != CW_OK)
        return 1;
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *a, *b;
    if (cw_connection_create(&config, &a) != CW_OK || cw_connection_create(&config, &b) != CW_OK)
        return 1;
    unsigned rounds;
    while (scanf("%u", &rounds) == 1) {
        const double begin = cw_clock_now();
        for (unsigned i = 0; i < rounds; i++) {
            now += 1.0 / 60;
            if (!send(a) || !send(b) || !carry(a, b) || !carry(b, a))
                return 1;
        }
        printf("%.9f\n", cw_clock_now() - begin);
        fflush(stdout);
    }
    cw_connection_destroy(a);
    cw_connection_destroy(b);
    cw_schema_destroy(schema);
    return 0;
}
