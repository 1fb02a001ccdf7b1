/* A message of 400 bytes that has what formats of games have: numbers of few bits,
   conditions, counts and relative numbers. */
#ifndef CAUSEWAY_TEST_WORLD_UPDATE_H
#define CAUSEWAY_TEST_WORLD_UPDATE_H

#include "causeway/schema.h"

#define WORLD_BODIES 40

#define VELOCITY_FIELDS(FIELD)                                                                     \
    FIELD(x, CW_INT(-128, 127))                                                                    \
    FIELD(y, CW_INT(-128, 127))                                                                    \
    FIELD(z, CW_INT(-128, 127))
CW_MESSAGE(velocity, VELOCITY_FIELDS)

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(kind, CW_BITS(3))                                                                        \
    FIELD(x, CW_INT(-4096, 4095))                                                                  \
    FIELD(y, CW_INT(-4096, 4095))                                                                  \
    FIELD(z, CW_UINT(0, 1000))                                                                     \
    FIELD(yaw, CW_BITS(9))                                                                         \
    FIELD(health, CW_UINT(0, 100))                                                                 \
    FIELD(moves, CW_BOOL)                                                                          \
    FIELD(velocity, CW_WHEN(moves, CW_STRUCT(velocity)))
CW_MESSAGE(body, BODY_FIELDS)

#define UPDATE_FIELDS(FIELD)                                                                       \
    FIELD(tick, CW_BITS(32))                                                                       \
    FIELD(first, CW_BITS(16))                                                                      \
    FIELD(count, CW_UINT(1, WORLD_BODIES))                                                         \
    FIELD(ids, CW_REPEAT(count, CW_RELATIVE(first), WORLD_BODIES))                                 \
    FIELD(bodies, CW_REPEAT(count, CW_STRUCT(body), WORLD_BODIES))                                 \
    FIELD(key, CW_FIXED_BYTES(28))
CW_MESSAGE(update, UPDATE_FIELDS)

/* Returns an update of which every second body moves. */
CW_INLINE struct update cw_world_update(void)
{
    struct update update = {.tick = 123456, .first = 100, .count = WORLD_BODIES};
    update.ids.count = update.bodies.count = WORLD_BODIES;
    for (uint32_t i = 0; i < WORLD_BODIES; i++) {
        update.ids.items[i] = 101 + 3 * i + i % 2;
        struct body *const body = &update.bodies.items[i];
        *body = (struct body){.kind = i % 8, .x = (int32_t)i * 100 - 2000, .y = 7, .z = i * 20};
        body->yaw = i * 9;
        body->health = i;
        body->moves = body->velocity.present = i % 2 != 0;
        body->velocity.value = (struct velocity){-(int32_t)i, (int32_t)i, 3};
    }
    update.key.size = 28;
    return update;
}

#endif
