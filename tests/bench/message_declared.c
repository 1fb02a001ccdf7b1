/* Measures a declared message against the same one written by hand: it is written and read.
     message_declared hand|table ROUNDS
     message_declared    says what tests/bench/run shall count */
#include "world_update.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 200

CW_INLINE bool velocity_by_hand(struct cw_stream *stream, struct velocity *velocity)
{
    return cw_stream_int(stream, &velocity->x, -128, 127) &&
           cw_stream_int(stream, &velocity->y, -128, 127) &&
           cw_stream_int(stream, &velocity->z, -128, 127);
}

CW_INLINE bool body_by_hand(struct cw_stream *stream, struct body *body)
{
    if (!cw_stream_bits(stream, &body->kind, 3) || !cw_stream_int(stream, &body->x, -4096, 4095) ||
        !cw_stream_int(stream, &body->y, -4096, 4095) ||
        !cw_stream_uint(stream, &body->z, 0, 1000) || !cw_stream_bits(stream, &body->yaw, 9) ||
        !cw_stream_uint(stream, &body->health, 0, 100) || !cw_stream_bool(stream, &body->moves))
        return false;
    body->velocity.present = body->moves;
    return !body->moves || velocity_by_hand(stream, &body->velocity.value);
}

CW_SERIALIZE(update_by_hand, struct update, stream, update)
{
    if (!cw_stream_bits(stream, &update->tick, 32) || !cw_stream_bits(stream, &update->first, 16) ||
        !cw_stream_uint(stream, &update->count, 1, WORLD_BODIES))
        return false;
    update->ids.count = update->bodies.count = update->count;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t before = i > 0 ? update->ids.items[i - 1] : update->first;
        if (!cw_stream_relative(stream, before, &update->ids.items[i]))
            return false;
    }
    for (uint32_t i = 0; i < update->count; i++)
        if (!body_by_hand(stream, &update->bodies.items[i]))
            return false;
    update->key.size = 28;
    return cw_stream_bytes(stream, update->key.data, 28);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        printf("ratio declared_ratio: table %d - table 0 : hand %d - hand 0\n", ROUNDS, ROUNDS);
        return 0;
    }
    const struct cw_message_type types[] = {
        update_type,
        {.name = "update", .serialize = update_by_hand, .size = sizeof(struct update)}};
    const uint32_t type = strcmp(argv[1], "hand") == 0;
    const struct cw_schema_config config = {.types = types, .count = 2};
    struct cw_schema *schema;
    if (cw_schema_create(&config, &schema) != CW_OK)
        abort();
    static struct update read;
    struct update update = cw_world_update();
    uint8_t bytes[1024];
    struct cw_stream stream = cw_stream_writer(bytes, sizeof bytes);
    if (!cw_schema_serialize(schema, type, &stream, &update))
        abort();
    const size_t size = cw_stream_flush(&stream);
    if (size != 400)
        abort();
    for (long rounds = atol(argv[2]); rounds > 0; rounds--) {
        stream = cw_stream_writer(bytes, sizeof bytes);
        if (!cw_schema_serialize(schema, type, &stream, &update) ||
            cw_stream_flush(&stream) != size)
            abort();
        stream = cw_stream_reader(bytes, size);
        if (!cw_schema_serialize(schema, type, &stream, &read))
            abort();
    }
    cw_schema_destroy(schema);
    return 0;
}
