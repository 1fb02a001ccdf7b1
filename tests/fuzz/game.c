/* Any bytes arrive at both ends of a game, among true bodies, some of them with a byte changed.
   Neither reads a byte too many, the server takes only inputs that are in range, and the client's
   turns come to an end.

   An input is a list of calls, each of which is a byte for the function, a byte for the size or the
   place, and the bytes. */
#include "causeway/game_client.h"
#include "causeway/game_server.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-3, 3))                                                                        \
    FIELD(angle, CW_COMPRESSED_FLOAT(-4, 4, 0.01f))                                                \
    FIELD(name, CW_STRING(5))                                                                      \
    FIELD(target, CW_OPTIONAL(CW_BITS(10)))
CW_MESSAGE(keys, KEYS_FIELDS)

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-1000, 1000))                                                                  \
    FIELD(angle, CW_COMPRESSED_FLOAT(-4, 4, 0.01f))                                                \
    FIELD(path, CW_ARRAY(CW_UINT(0, 99), 3))
CW_MESSAGE(body, BODY_FIELDS)

#define ENTITIES 8

struct ends {
    struct cw_schema *schema;
    struct cw_game_client *client;
    struct cw_game_server *server;
    double now;
    struct body body;
};

static void deliver(struct ends *ends, bool up, const uint8_t *data, size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    if (up)
        cw_game_server_receive(ends->server, 0, exact + 1, size, ends->now);
    else
        cw_game_client_receive(ends->client, exact + 1, size, ends->now);
    free(exact);
}

static void serve(struct ends *ends)
{
    struct keys keys;
    struct cw_game_entity seen;
    uint32_t tick;
    cw_game_server_update(ends->server, ends->now);
    while (cw_game_server_next_tick(ends->server, &tick)) {
        memset(&keys, 0xAA, sizeof keys);
        expect(cw_game_server_input(ends->server, 0, &keys));
        expect(cw_schema_check(ends->schema, 0, &keys) == CW_FIELD_NONE);
        if (cw_game_server_seen(ends->server, 0, 0, &seen))
            expect(seen.fraction >= 0 && seen.from && seen.to);
        ends->body.x += keys.x;
        ends->body.angle = keys.angle;
        cw_game_server_set(ends->server, 0, 1, &ends->body);
    }
}

/* Plays a frame of the client. */
static void play(struct ends *ends)
{
    struct cw_game_turn turn;
    struct cw_game_entity entity;
    struct cw_game_verdict verdict;
    uint32_t shown = 0, turns = 0;
    cw_game_client_update(ends->client, ends->now);
    while (cw_game_client_next_turn(ends->client, &turn)) {
        expect(turns++ < 2000);
        if (turn.type == CW_GAME_TURN_INPUT) {
            ((struct keys *)turn.input)->x = (int32_t)(turn.tick % 7) - 3;
        } else {
            expect(cw_schema_check(ends->schema, 0, turn.input) == CW_FIELD_NONE);
            expect(cw_schema_check(ends->schema, 1, turn.state) == CW_FIELD_NONE);
            ((struct body *)turn.state)->x += ((struct keys *)turn.input)->x;
        }
    }
    cw_game_client_view(ends->client, ends->now);
    while (cw_game_client_next_entity(ends->client, &entity)) {
        expect(shown++ <= ENTITIES);
        expect(cw_schema_check(ends->schema, entity.type, entity.from) == CW_FIELD_NONE);
        expect(cw_schema_check(ends->schema, entity.type, entity.to) == CW_FIELD_NONE);
    }
    cw_game_client_judge(ends->client, ends->now, &verdict);
}

/* Delivers a true body with a byte changed at a place, or as it is. */
static void exchange(struct ends *ends, bool up, uint8_t place, uint8_t change)
{
    uint8_t data[CW_GAME_BODY_SIZE];
    const size_t size = up ? cw_game_client_transmit(ends->client, data, sizeof data, ends->now)
                           : cw_game_server_transmit(ends->server, 0, data, sizeof data, ends->now);
    if (size > 0)
        data[place % size] ^= change;
    deliver(ends, up, data, size);
}

static void call(struct ends *ends, uint8_t what, uint8_t number, const uint8_t *data, size_t size)
{
    const uint8_t change = what & 8 && size > 0 ? data[0] : 0;
    switch (what % 8) {
    case 0:
    case 1:
        deliver(ends, what % 8 == 0, data, size);
        break;
    case 2:
    case 3:
        exchange(ends, what % 8 == 2, number, change);
        break;
    case 4:
        ends->now += number / 1024.0;
        break;
    case 5:
        serve(ends);
        break;
    case 6:
        play(ends);
        break;
    default:
        if (number % 2)
            cw_game_client_reset(ends->client);
        else
            expect(cw_game_server_join(ends->server, 0, number % ENTITIES) == CW_OK);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_message_type types[] = {keys_type, body_type};
    const struct cw_schema_config schema_config = {.types = types, .count = 2};
    struct ends ends = {.now = 1};
    expect(cw_schema_create(&schema_config, &ends.schema) == CW_OK);
    struct cw_game_config config = cw_game_config_default(ends.schema);
    config.max_clients = 1;
    config.max_entities = ENTITIES;
    config.window = 4;
    expect(cw_game_client_create(&config, &ends.client) == CW_OK);
    expect(cw_game_server_create(&config, &ends.server) == CW_OK);
    expect(cw_game_server_join(ends.server, 0, 0) == CW_OK);
    while (size >= 2) {
        const bool has_bytes = data[0] % 8 < 2 || data[0] & 8;
        const size_t rest = size - 2;
        const size_t next = !has_bytes ? 0 : data[0] % 8 >= 2 ? 1 : data[1];
        const size_t taken = next < rest ? next : rest;
        call(&ends, data[0], data[1], data + 2, taken);
        data += 2 + taken;
        size -= 2 + taken;
    }
    cw_game_client_destroy(ends.client);
    cw_game_server_destroy(ends.server);
    cw_schema_destroy(ends.schema);
    return 0;
}
