/* Measures what the state of 16 entities costs a server per player and tick, when 64 players get
   the same: all messages are made, packed and acked, without encryption.
     bench_message_broadcast ROUNDS [1]    with 1, each player's messages are made separately
   The connections of the players are all in the same state, so that one other end is enough: its
   answers are given to each of them. Its work, a 64th of a player's, is counted too. Without
   arguments the program says what tests/bench/run shall count. */
#include "message/broadcast.h"
#include "message/message_pool.h"

#include <stdio.h>
#include <stdlib.h>

#define PLAYERS  64
#define ENTITIES 16
#define WARM_UP  100
#define ROUNDS   600
#define MOST     1100

#define ENTITY_FIELDS(FIELD)                                                                       \
    FIELD(id, CW_UINT(0, 1023))                                                                    \
    FIELD(x, CW_COMPRESSED_FLOAT(-500, 500, 0.01f))                                                \
    FIELD(y, CW_COMPRESSED_FLOAT(-500, 500, 0.01f))                                                \
    FIELD(health, CW_INT(0, 100))                                                                  \
    FIELD(firing, CW_BOOL)
CW_MESSAGE(entity, ENTITY_FIELDS)

static struct cw_connection *players[PLAYERS], *other;
static struct cw_broadcasts broadcasts;

static void check(bool good)
{
    if (!good) {
        fprintf(stderr, "something that must work failed\n");
        exit(1);
    }
}

static void fill_in(struct cw_message *message, uint32_t id, double now)
{
    *(struct entity *)message->data =
        (struct entity){.id = id, .x = (float)now, .y = 7, .health = 100};
}

static void send_one_by_one(uint32_t id, double now)
{
    struct cw_message *message;
    for (uint32_t i = 0; i < PLAYERS; i++) {
        check(cw_connection_create_message(players[i], 0, &message) == CW_OK);
        fill_in(message, id, now);
        check(cw_connection_send(players[i], 1, message, now) == CW_OK);
    }
}

static void send(uint32_t id, double now)
{
    struct cw_message *message;
    struct cw_broadcast broadcast;
    check(cw_message_create(broadcasts.pool, 0, &message) == CW_OK);
    fill_in(message, id, now);
    check(cw_broadcast_begin(&broadcasts, players[0], 1, message, &broadcast) == CW_OK);
    for (uint32_t i = 0; i < PLAYERS; i++)
        check(cw_broadcast_send(&broadcast, players[i], now) == CW_OK);
    cw_message_release(message);
}

static void tick(bool one_by_one, double now)
{
    static uint8_t datagram[MOST], answer[MOST];
    struct cw_connection_event event;
    uint32_t arrived = 0;
    size_t size;
    for (uint32_t i = 0; i < ENTITIES; i++)
        (one_by_one ? send_one_by_one : send)(i, now);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        cw_connection_update(players[i], now);
        while ((size = cw_connection_transmit(players[i], datagram, MOST, now)) > 0)
            if (i == 0)
                check(cw_connection_receive(other, datagram, size, now) == CW_OK);
    }
    while (cw_connection_next(other, &event)) {
        check(((const struct entity *)event.message->data)->id == arrived++);
        cw_message_release(event.message);
    }
    check(arrived == ENTITIES);
    cw_connection_update(other, now);
    while ((size = cw_connection_transmit(other, answer, MOST, now)) > 0)
        for (uint32_t i = 0; i < PLAYERS; i++)
            check(cw_connection_receive(players[i], answer, size, now) == CW_OK);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        const int count = (ROUNDS - WARM_UP) * PLAYERS;
        printf("count broadcast_16x64_instructions %d: %d - %d\n", count, ROUNDS, WARM_UP);
        printf("count one_by_one_16x64_instructions %d: %d 1 - %d 1\n", count, ROUNDS, WARM_UP);
        return 0;
    }
    const struct cw_schema_config types = {.types = &entity_type, .count = 1};
    struct cw_schema *schema;
    check(cw_schema_create(&types, &schema) == CW_OK);
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_arena measured = {0};
    check(cw_broadcasts_layout(&broadcasts, &measured, schema, 1) == CW_OK);
    broadcasts = (struct cw_broadcasts){0};
    const struct cw_allocator allocator = {0};
    struct cw_arena arena = cw_arena_create(&allocator, measured.used);
    check(cw_broadcasts_layout(&broadcasts, &arena, schema, 1) == CW_OK);
    check(cw_connection_create(&config, &other) == CW_OK);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        check(cw_connection_create(&config, &players[i]) == CW_OK);
        cw_broadcasts_join(&broadcasts, players[i]);
    }
    const long rounds = atol(argv[1]);
    for (long i = 0; i < rounds; i++)
        tick(argc > 2, (double)i / 60);
    for (uint32_t i = 0; i < PLAYERS; i++)
        cw_connection_destroy(players[i]);
    cw_connection_destroy(other);
    cw_message_pool_destroy(broadcasts.pool);
    cw_release(&allocator, arena.base, arena.size);
    cw_schema_destroy(schema);
    return 0;
}
