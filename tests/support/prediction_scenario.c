#include "prediction_scenario.h"

#include "causeway/prediction.h"
#include "causeway/simulator.h"

#include <string.h>

#define RATE 60.0
/* The number of ticks by which the client's tick is ahead of the server's, a little less than the
   path takes at worst. */
#define LEAD 6
/* The number of inputs in a packet, at most. */
#define REDUNDANCY 32
/* The number of ticks that both sides remember; more than are ever under way. */
#define KEPT 256

#define INPUT_FIELDS(FIELD)                                                                        \
    FIELD(right, CW_INT(-1, 1))                                                                    \
    FIELD(up, CW_INT(-1, 1))                                                                       \
    FIELD(jump, CW_BOOL)
CW_MESSAGE(input, INPUT_FIELDS)

#define PLAYER_FIELDS(FIELD)                                                                       \
    FIELD(x, CW_INT(-1000000, 1000000))                                                            \
    FIELD(y, CW_INT(-1000000, 1000000))                                                            \
    FIELD(speed_x, CW_INT(-100000, 100000))                                                        \
    FIELD(speed_y, CW_INT(-100000, 100000))                                                        \
    FIELD(energy, CW_UINT(0, 1000))                                                                \
    FIELD(height, CW_FLOAT)                                                                        \
    FIELD(luck, CW_BITS(32))
CW_MESSAGE(player, PLAYER_FIELDS)

enum { INPUT, PLAYER };

struct server {
    struct player player;
    struct player past[KEPT];
    struct input inputs[KEPT];
    uint32_t input_ticks[KEPT];
    struct input last;
};

struct client {
    struct player player;
    struct input inputs[KEPT];
    uint32_t acked_tick;
    struct cw_prediction *prediction;
};

struct game {
    struct cw_schema *schema;
    struct cw_simulator *up, *down;
    struct server server;
    struct client client;
    uint64_t random;
    struct prediction_result result;
};

/* Returns the next random number of a xorshift64. */
static uint64_t next_random(struct game *game)
{
    game->random ^= game->random << 13;
    game->random ^= game->random >> 7;
    game->random ^= game->random << 17;
    return game->random;
}

static void bounce(int32_t *place, int32_t *speed)
{
    *place += *speed;
    if (*place < -1000000 || *place > 1000000) {
        *place = *place < 0 ? -1000000 : 1000000;
        *speed = -*speed / 2;
    }
}

/* Moves the player by a tick: the rules of the game, which both sides play. */
static void step(struct player *player, const struct input *input)
{
    player->luck = player->luck * 1664525 + 1013904223;
    if (input->jump && player->energy >= 100) {
        player->energy -= 100;
        player->height += 1.5f;
        player->speed_y += 3000 + (int32_t)(player->luck >> 22);
    }
    player->energy += player->energy < 1000;
    player->height *= 0.875f;
    player->speed_x += input->right * 400 - player->speed_x / 32;
    player->speed_y += input->up * 400 - player->speed_y / 32;
    bounce(&player->x, &player->speed_x);
    bounce(&player->y, &player->speed_y);
}

/* Adds a word to the FNV-1a hash. */
static void hash_word(struct game *game, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        game->result.hash = (game->result.hash ^ (uint8_t)(word >> 8 * i)) * 0x100000001b3;
}

static void hash_player(struct game *game, const struct player *player)
{
    uint32_t height;
    memcpy(&height, &player->height, sizeof height);
    hash_word(game, (uint32_t)player->x);
    hash_word(game, (uint32_t)player->y);
    hash_word(game, (uint32_t)player->speed_x);
    hash_word(game, (uint32_t)player->speed_y);
    hash_word(game, player->energy);
    hash_word(game, height);
    hash_word(game, player->luck);
}

static size_t write(struct game *game, uint32_t type, void *value, uint8_t *out, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(out, capacity);
    cw_schema_serialize(game->schema, type, &stream, value);
    return cw_stream_flush(&stream);
}

static void read(struct game *game, uint32_t type, void *value, const uint8_t *data, size_t size)
{
    struct cw_stream stream = cw_stream_reader(data, size);
    cw_schema_serialize(game->schema, type, &stream, value);
}

/* Sends every input that the server may not have: the newest tick, their number, then the inputs,
   the oldest first. */
static void send_inputs(struct game *game, uint32_t newest, double now)
{
    const uint32_t open = newest - game->client.acked_tick;
    const uint32_t count = open < REDUNDANCY ? open : REDUNDANCY;
    uint8_t data[8 + REDUNDANCY];
    memcpy(data, &newest, 4);
    memcpy(data + 4, &count, 4);
    for (uint32_t i = 0; i < count; i++)
        write(game, INPUT, &game->client.inputs[(newest - count + 1 + i) % KEPT], data + 8 + i, 1);
    cw_simulator_receive(game->up, data, 8 + count, now);
}

static void receive_inputs(struct game *game, double now)
{
    uint8_t data[8 + REDUNDANCY];
    uint32_t newest, count;
    while (cw_simulator_transmit(game->up, data, sizeof data, now) > 0) {
        memcpy(&newest, data, 4);
        memcpy(&count, data + 4, 4);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t tick = newest - count + 1 + i;
            struct input input = {0};
            read(game, INPUT, &input, data + 8 + i, 1);
            game->server.inputs[tick % KEPT] = input;
            game->server.input_ticks[tick % KEPT] = tick;
        }
    }
}

static void send_state(struct game *game, uint32_t tick, double now)
{
    uint8_t data[64];
    memcpy(data, &tick, 4);
    const size_t size = write(game, PLAYER, &game->server.player, data + 4, sizeof data - 4);
    cw_simulator_receive(game->down, data, 4 + size, now);
}

static void step_server(struct game *game, uint32_t tick, double now)
{
    struct server *const server = &game->server;
    receive_inputs(game, now);
    if (server->input_ticks[tick % KEPT] == tick)
        server->last = server->inputs[tick % KEPT];
    step(&server->player, &server->last);
    if (next_random(game) % 90 == 0)
        server->player.speed_x += (int32_t)(next_random(game) % 8192) - 4096;
    server->past[tick % KEPT] = server->player;
    hash_player(game, &server->player);
    send_state(game, tick, now);
}

static void replay(struct game *game)
{
    struct input input;
    uint32_t tick;
    while (cw_prediction_replay(game->client.prediction, &game->client.player, &tick, &input))
        step(&game->client.player, &input);
}

static bool same_player(const struct player *a, const struct player *b)
{
    return a->x == b->x && a->y == b->y && a->speed_x == b->speed_x && a->speed_y == b->speed_y &&
           a->energy == b->energy && a->height == b->height && a->luck == b->luck;
}

/* Checks that the client is where the server's state and its own inputs since then lead to. */
static void check_client(struct game *game, uint32_t acked, uint32_t newest)
{
    struct player expected = game->server.past[acked % KEPT];
    for (uint32_t tick = acked + 1; tick != newest + 1; tick++)
        step(&expected, &game->client.inputs[tick % KEPT]);
    game->result.acked++;
    game->result.failed += !same_player(&expected, &game->client.player);
}

static void receive_states(struct game *game, uint32_t newest, double now)
{
    uint8_t data[64];
    size_t size;
    while ((size = cw_simulator_transmit(game->down, data, sizeof data, now)) > 0) {
        struct player player = {0};
        uint32_t tick;
        memcpy(&tick, data, 4);
        read(game, PLAYER, &player, data + 4, size - 4);
        cw_prediction_correct(game->client.prediction, tick, &player);
        replay(game);
        if (tick <= game->client.acked_tick)
            continue;
        game->client.acked_tick = tick;
        check_client(game, tick, newest);
    }
}

static void step_client(struct game *game, uint32_t tick, double now)
{
    struct client *const client = &game->client;
    receive_states(game, tick - 1, now);
    struct input *const input = &client->inputs[tick % KEPT];
    const uint64_t random = next_random(game);
    *input = client->inputs[(tick - 1) % KEPT];
    if (random % 16 == 0)
        *input = (struct input){.right = (int32_t)(random >> 8 & 0xff) % 3 - 1,
                                .up = (int32_t)(random >> 16 & 0xff) % 3 - 1,
                                .jump = (random >> 24) % 4 == 0};
    step(&client->player, input);
    cw_prediction_add(client->prediction, tick, input, &client->player);
    replay(game);
    hash_player(game, &client->player);
    send_inputs(game, tick, now);
}

static bool create(struct game *game, uint64_t seed)
{
    const struct cw_message_type types[] = {input_type, player_type};
    const struct cw_schema_config schema = {.types = types, .count = 2};
    if (cw_schema_create(&schema, &game->schema) != CW_OK)
        return false;
    struct cw_prediction_config prediction = cw_prediction_config_default(game->schema);
    prediction.stress = true;
    struct cw_simulator_config path = cw_simulator_config_default();
    path.path = (struct cw_simulator_path){
        .latency_seconds = 0.04, .jitter_seconds = 0.03, .loss = 0.2, .duplicate = 0.1};
    path.seed = seed * 2;
    if (cw_simulator_create(&path, &game->up) != CW_OK)
        return false;
    path.seed++;
    return cw_simulator_create(&path, &game->down) == CW_OK &&
           cw_prediction_create(&prediction, &game->client.prediction) == CW_OK;
}

struct prediction_result prediction_scenario_run(uint64_t seed, uint32_t ticks)
{
    static struct game game;
    game = (struct game){.random = seed * 2 + 1, .result.hash = 0xcbf29ce484222325};
    const bool ready = create(&game, seed);
    /* Both begin at tick 0; the client has played its first ones already. */
    for (uint32_t tick = 1; ready && tick < LEAD; tick++)
        step_client(&game, tick, 0);
    for (uint32_t tick = 1; ready && tick <= ticks; tick++) {
        step_server(&game, tick, tick / RATE);
        step_client(&game, tick + LEAD - 1, tick / RATE);
    }
    struct cw_prediction_stats stats = {0};
    cw_prediction_get_stats(game.client.prediction, &stats);
    game.result.corrections = stats.corrections;
    game.result.replayed = stats.replayed;
    game.result.desyncs = stats.desyncs;
    game.result.max_depth = stats.max_depth;
    if (!ready || game.result.failed > 0 || stats.desyncs > 0)
        game.result.hash = 0;
    cw_prediction_destroy(game.client.prediction);
    cw_simulator_destroy(game.up);
    cw_simulator_destroy(game.down);
    cw_schema_destroy(game.schema);
    return game.result;
}
