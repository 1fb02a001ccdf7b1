/* A game of several players over bad paths, in virtual time: each end is one object of the game
   kit. Every end has a loop with a rate of its own and takes what has arrived once in each turn of
   it, as a program does. */
#ifndef CAUSEWAY_TESTS_PLAY_RIG_H
#define CAUSEWAY_TESTS_PLAY_RIG_H

#include "owned.h"

#include "base/prng.h"

#include <math.h>
#include <string.h>

#define PLAY_MOST  4
#define PLAY_LEVEL 800.0f
#define PLAY_SPEED 10.0 /* the highest */

/* Speed follows the keys slowly, so a state that is not rounded on both ends soon differs. */
#define PLAY_RUNNER(FIELD)                                                                         \
    FIELD(x, CW_COMPRESSED_FLOAT(-PLAY_LEVEL, PLAY_LEVEL, 0.01f))                                  \
    FIELD(speed, CW_COMPRESSED_FLOAT(-20, 20, 0.001f))                                             \
    FIELD(hits, CW_UINT(0, 1000))
CW_MESSAGE(play_runner, PLAY_RUNNER)

#define PLAY_KEYS(FIELD)                                                                           \
    FIELD(right, CW_COMPRESSED_FLOAT(-1, 1, 0.01f))                                                \
    FIELD(shoot, CW_BOOL)
CW_MESSAGE(play_keys, PLAY_KEYS)

enum { PLAY_INPUT, PLAY_PLAYER };
enum { PLAY_SHOT = 7 }; /* an event */

struct play_config {
    uint32_t players;
    double ticks_per_second, server_hz, client_hz;
    uint32_t ticks_per_snapshot, max_interest;
    struct cw_simulator_path path; /* each way */
    double drift;                  /* the server's clock is faster by this share */
    double step_seconds;           /* the time that the server takes to play a tick */
    double changes_per_second;     /* the changes of a player's keys */
    bool holds;                    /* the players hold their keys */
    double shots_per_second;       /* the shots of a player; each is an event */
    bool duds;                     /* the server lets nobody shoot */
    float reach;                   /* no player comes closer to another; 0: they do not touch */
    uint32_t max_group;            /* each client predicts as many others, if there are */
    uint64_t seed;
};

struct play_player {
    struct cw_game_client *client;
    struct cw_simulator *up, *down;
    struct play_keys keys;
    double next_frame;
    bool gone;       /* it has no frames */
    bool dead;       /* it has no entity */
    uint32_t entity; /* the one that it plays */

    uint64_t frames, shown; /* frames, and those in which all players were shown */
    bool was_shown;
    float own, other; /* where they were shown last, and when */
    double looked_at;
    /* The most by which each moved from one frame to the next beyond what time allows, in ticks. */
    double own_jump, other_jump;
    double delay; /* the longest delay of the others, in seconds */

    uint32_t shots;                                    /* in ticks played for the first time */
    uint32_t own_events[CW_GAME_EVENT_TAKEN_BACK + 1]; /* events of its own entity, by type */
    uint32_t other_events[CW_GAME_EVENT_TAKEN_BACK + 1];
    bool heard[PLAY_MOST][4096]; /* events that have happened, by entity and tick */
};

struct play {
    struct play_config config;
    struct cw_prng random;
    struct cw_schema *schema;
    struct cw_game_server *server;
    struct play_player players[PLAY_MOST];
    struct play_runner runners[PLAY_MOST];
    double now, next_turn;
    uint64_t steps;
    uint32_t up_bytes, down_bytes, up_bodies, down_bodies;
    bool wild; /* the steps of player 0 depend on chance, but not at the server */
    uint32_t verdicts[CW_GAME_VERDICT_DIVERGING + 1]; /* frames with each, of all players */

    /* `shown` is where player 0 was shown the other one when it made its inputs, by their ticks.
       worst_seen is how far from there the server saw it then, and worst_now how far it had it. */
    bool watch;
    float shown[256];
    uint32_t watched;
    double worst_seen, worst_now;
};

static inline struct play_config play_config(void)
{
    return (struct play_config){.players = 2,
                                .ticks_per_second = 60,
                                .server_hz = 60,
                                .client_hz = 60,
                                .ticks_per_snapshot = 2,
                                .path = {.latency_seconds = 0.05},
                                .changes_per_second = 4,
                                .seed = 1};
}

static inline void play_step(struct play_runner *runner, const struct play_keys *keys,
                             double ticks_per_second)
{
    const float seconds = 1 / (float)ticks_per_second;
    runner->speed += (keys->right * (float)PLAY_SPEED - runner->speed) * 0.15f;
    runner->x += runner->speed * seconds;
    if (runner->x > PLAY_LEVEL - 1 || runner->x < 1 - PLAY_LEVEL)
        runner->x -= runner->speed * seconds;
}

/* Plays a tick of the player with this entity; others are the places of all players. */
static inline void play_step_among(const struct play *play, uint32_t entity,
                                   struct play_runner *runner, const struct play_keys *keys,
                                   const float others[PLAY_MOST])
{
    const float before = runner->x;
    play_step(runner, keys, play->config.ticks_per_second);
    for (uint32_t i = 0; i < play->config.players; i++)
        if (i != entity && fabsf(others[i] - runner->x) < play->config.reach)
            runner->x = before;
}

static inline struct cw_game_config play_game(const struct play *play)
{
    static const float smooth[] = {5, 0, 0};
    struct cw_game_config config = cw_game_config_default(play->schema);
    config.ticks_per_second = play->config.ticks_per_second;
    config.ticks_per_snapshot = play->config.ticks_per_snapshot;
    config.max_interest = play->config.max_interest;
    config.max_entities = 16;
    config.max_clients = PLAY_MOST;
    config.max_group = play->config.max_group;
    config.smooth_limits = smooth;
    return config;
}

static inline void play_end(void *object)
{
    struct play *const play = object;
    for (uint32_t i = 0; i < play->config.players; i++) {
        cw_game_client_destroy(play->players[i].client);
        cw_simulator_destroy(play->players[i].up);
        cw_simulator_destroy(play->players[i].down);
    }
    cw_game_server_destroy(play->server);
    cw_schema_destroy(play->schema);
    free(play);
}

static inline struct cw_simulator *play_path(const struct play *play, uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *simulator;
    config.seed = seed;
    config.path = play->config.path;
    config.path.queue_bytes = 1e6;
    config.max_datagrams = 4096;
    assert_ok(cw_simulator_create(&config, &simulator));
    return simulator;
}

static inline struct play *play_start(const struct play_config *config)
{
    const struct cw_message_type types[] = {play_keys_type, play_runner_type};
    const struct cw_schema_config schema = {.types = types, .count = 2};
    struct play *const play = own(calloc(1, sizeof *play), play_end);
    play->config = *config;
    play->random.state = config->seed;
    play->now = 500;
    play->next_turn = play->now;
    assert_ok(cw_schema_create(&schema, &play->schema));
    const struct cw_game_config game = play_game(play);
    assert_ok(cw_game_server_create(&game, &play->server));
    for (uint32_t i = 0; i < config->players; i++) {
        struct play_player *const player = &play->players[i];
        assert_ok(cw_game_client_create(&game, &player->client));
        assert_ok(cw_game_client_set_group(player->client, (const uint32_t[]){0, 1, 2, 3},
                                           game.max_group));
        player->up = play_path(play, config->seed * 100 + 2 * i);
        player->down = play_path(play, config->seed * 100 + 2 * i + 1);
        player->next_frame = play->now + cw_prng_share(&play->random) / config->client_hz;
        play->runners[i] = (struct play_runner){.x = 10.0f * (float)i};
        player->entity = i;
        assert_ok(cw_game_server_join(play->server, i, i));
    }
    return play;
}

static inline double play_server_clock(const struct play *play)
{
    return (play->now - 500) * (1 + play->config.drift) + 77;
}

/* Compares what player 0 saw at its input of this tick with what the server finds. */
static inline void play_watch(struct play *play, uint32_t tick)
{
    struct cw_game_entity seen;
    if (!cw_game_server_seen(play->server, 0, 1, &seen))
        return;
    const struct play_runner *const from = seen.from, *const to = seen.to;
    const float x = cw_lerp(from->x, to->x, seen.fraction), shown = play->shown[tick % 256];
    play->watched++;
    play->worst_seen = fmax(play->worst_seen, (double)fabsf(x - shown));
    play->worst_now = fmax(play->worst_now, (double)fabsf(play->runners[1].x - shown));
}

/* Plays the ticks that are due. */
static inline void play_ticks(struct play *play)
{
    struct play_keys keys;
    uint32_t tick;
    cw_game_server_update(play->server, play_server_clock(play));
    while (cw_game_server_next_tick(play->server, &tick)) {
        for (uint32_t i = 0; i < play->config.players; i++) {
            struct play_runner *const runner = &play->runners[i];
            if (!cw_game_server_input(play->server, i, &keys) || play->players[i].dead)
                continue;
            if (i == 0 && play->watch)
                play_watch(play, tick);
            float others[PLAY_MOST];
            for (uint32_t other = 0; other < PLAY_MOST; other++)
                others[other] = play->runners[other].x;
            play_step_among(play, i, runner, &keys, others);
            if (keys.shoot && !play->config.duds)
                cw_game_server_emit(play->server, play->players[i].entity, PLAY_SHOT);
            cw_game_server_set(play->server, play->players[i].entity, PLAY_PLAYER, runner);
        }
        play->steps++;
        play->next_turn += play->config.step_seconds;
    }
}

static inline void play_turn(struct play *play)
{
    uint8_t body[CW_GAME_BODY_SIZE];
    const double clock = play_server_clock(play);
    for (uint32_t i = 0; i < play->config.players; i++)
        for (size_t size;
             (size = cw_simulator_transmit(play->players[i].up, body, sizeof body, play->now)) > 0;)
            cw_game_server_receive(play->server, i, body, size, clock);
    play_ticks(play);
    for (uint32_t i = 0; i < play->config.players; i++) {
        const size_t size = cw_game_server_transmit(play->server, i, body, sizeof body, clock);
        play->down_bytes += (uint32_t)size;
        play->down_bodies += size > 0;
        if (size > 0)
            assert_ok(cw_simulator_receive(play->players[i].down, body, size, play->now));
    }
}

static inline double play_client_clock(const struct play *play, uint32_t id)
{
    return play->now * 1.00002 + 1000.0 * id;
}

static inline void play_press(struct play *play, struct play_player *player)
{
    const double often = play->config.changes_per_second / play->config.ticks_per_second;
    const double shots = play->config.shots_per_second / play->config.ticks_per_second;
    player->keys.shoot = shots > 0 && cw_prng_chance(&play->random, shots);
    if (play->config.holds)
        player->keys.right = play->config.reach > 0 && player->entity == 3 ? -1 : 1;
    else if (cw_prng_chance(&play->random, often))
        player->keys.right = 2 * (float)cw_prng_share(&play->random) - 1;
}

static inline void play_look(struct play *play, uint32_t id, double clock)
{
    struct play_player *const player = &play->players[id];
    struct cw_game_entity entity;
    struct cw_game_client_stats stats;
    struct cw_game_verdict verdict;
    uint32_t count = 0, id_told = 0;
    float own = 0, other = 0;
    cw_game_client_view(player->client, clock);
    while (cw_game_client_next_entity(player->client, &entity)) {
        const struct play_runner *const from = entity.from, *const to = entity.to;
        const float x = cw_lerp(from->x, to->x, entity.fraction);
        assert_int_equal(entity.type, PLAY_PLAYER);
        assert_true(!entity.own ||
                    (cw_game_client_own(player->client, &id_told) && entity.entity == id_told));
        if (entity.own)
            own = x;
        else
            other = x;
        count++;
    }
    const bool all = count == play->config.players;
    player->frames++;
    player->shown += all;
    if (all && player->was_shown) {
        const double ticks = (play->now - player->looked_at) * play->config.ticks_per_second;
        const double stride = PLAY_SPEED / play->config.ticks_per_second;
        player->own_jump =
            fmax(player->own_jump, (double)fabsf(own - player->own) / stride - ticks);
        player->other_jump =
            fmax(player->other_jump, (double)fabsf(other - player->other) / stride - ticks);
    }
    player->was_shown = all;
    player->looked_at = play->now;
    player->own = own;
    player->other = other;
    cw_game_client_judge(player->client, clock, &verdict);
    play->verdicts[verdict.type]++;
    cw_game_client_get_stats(player->client, clock, &stats);
    player->delay = fmax(player->delay, stats.interpolation.delay_seconds);
}

/* Plays a STEP of a client's. Another one's keys are guessed: its speed stays. */
static inline void play_turn_step(const struct play *play, struct play_player *player,
                                  const struct cw_game_turn *turn)
{
    struct cw_game_client *const client = player->client;
    const struct play_keys *const keys = turn->input;
    struct play_runner *const runner = turn->state;
    const struct play_keys guess = {.right = runner->speed / (float)PLAY_SPEED};
    float others[PLAY_MOST];
    for (uint32_t i = 0; i < PLAY_MOST; i++) {
        const struct play_runner *const other = cw_game_client_state(client, i, NULL);
        others[i] = other ? other->x : (float)INFINITY;
    }
    play_step_among(play, turn->entity, runner, keys ? keys : &guess, others);
    player->shots += keys && keys->shoot && !turn->again;
    if (keys && keys->shoot)
        cw_game_client_emit(client, PLAY_SHOT);
}

/* Takes the events of a player, who hears each one once. */
static inline void play_hear(struct play_player *player)
{
    struct cw_game_event event;
    while (cw_game_client_next_event(player->client, &event)) {
        bool *const heard = &player->heard[event.entity % PLAY_MOST][event.tick % 4096];
        const bool happens = event.type == CW_GAME_EVENT_HAPPENED;
        assert_int_equal(event.kind, PLAY_SHOT);
        assert_int_equal(*heard, !happens);
        *heard = true;
        if (event.entity == player->entity)
            player->own_events[event.type]++;
        else
            player->other_events[event.type]++;
    }
}

static inline void play_frame(struct play *play, uint32_t id)
{
    struct play_player *const player = &play->players[id];
    const double clock = play_client_clock(play, id);
    uint8_t body[CW_GAME_BODY_SIZE];
    struct cw_game_turn turn;
    size_t size;
    while ((size = cw_simulator_transmit(player->down, body, sizeof body, play->now)) > 0)
        cw_game_client_receive(player->client, body, size, clock);
    cw_game_client_update(player->client, clock);
    while (cw_game_client_next_turn(player->client, &turn)) {
        if (turn.type == CW_GAME_TURN_INPUT) {
            play_press(play, player);
            memcpy(turn.input, &player->keys, sizeof player->keys);
            if (id == 0)
                play->shown[turn.tick % 256] = player->other;
        } else {
            play_turn_step(play, player, &turn);
            if (play->wild && id == 0)
                ((struct play_runner *)turn.state)->speed += (float)cw_prng_share(&play->random);
        }
    }
    size = cw_game_client_transmit(player->client, body, sizeof body, clock);
    play->up_bytes += (uint32_t)size;
    play->up_bodies += size > 0;
    if (size > 0)
        assert_ok(cw_simulator_receive(player->up, body, size, play->now));
    play_look(play, id, clock);
    play_hear(player);
}

static inline void play_run(struct play *play, double seconds)
{
    const double end = play->now + seconds;
    for (;;) {
        double next = play->next_turn;
        for (uint32_t i = 0; i < play->config.players; i++)
            next = fmin(next, play->players[i].next_frame);
        if (next >= end)
            break;
        play->now = next;
        if (next >= play->next_turn) {
            play->next_turn = next + 1 / play->config.server_hz;
            play_turn(play);
        }
        for (uint32_t i = 0; i < play->config.players; i++) {
            struct play_player *const player = &play->players[i];
            if (next < player->next_frame)
                continue;
            player->next_frame += 1 / play->config.client_hz;
            if (!player->gone)
                play_frame(play, i);
        }
    }
    play->now = end;
}

/* Forgets what was measured so far. */
static inline void play_measure(struct play *play)
{
    play->up_bytes = play->down_bytes = play->up_bodies = play->down_bodies = 0;
    memset(play->verdicts, 0, sizeof play->verdicts);
    for (uint32_t i = 0; i < play->config.players; i++) {
        struct play_player *const player = &play->players[i];
        player->frames = player->shown = 0;
        player->own_jump = player->other_jump = -(double)INFINITY;
        player->delay = 0;
    }
}

static inline struct cw_game_client_stats play_stats(const struct play *play, uint32_t id)
{
    struct cw_game_client_stats stats;
    cw_game_client_get_stats(play->players[id].client, play_client_clock(play, id), &stats);
    return stats;
}

static inline void play_change(struct play *play, const struct cw_simulator_path *path)
{
    struct cw_simulator_path to = *path;
    to.queue_bytes = 1e6;
    for (uint32_t i = 0; i < play->config.players; i++) {
        assert_ok(cw_simulator_change(play->players[i].up, &to));
        assert_ok(cw_simulator_change(play->players[i].down, &to));
    }
}

#endif
