#include "game.h"

#include "entities.h"
#include "messages.h"

#include "causeway/clock_sync.h"
#include "causeway/history.h"
#include "causeway/input.h"
#include "causeway/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMANDS, STATE };    /* channels */
#define TICKS_PER_SNAPSHOT 2 /* 30 snapshots per second */
/* entities: the players, then the bodies, the names of players, and the round */
#define FIRST_BODY MAX_PLAYERS
#define FIRST_NAME (FIRST_BODY + BODIES)
#define ROUND      (FIRST_NAME + MAX_PLAYERS)

struct game {
    struct cw_schema *messages, *entities;
    struct cw_snapshot_server *snapshots;
    struct cw_history *history;
    struct cw_input_receiver *inputs[MAX_HUMANS];
    struct cw_clock_echo clocks[MAX_HUMANS];
    struct arena arena;
    struct name names[MAX_PLAYERS];
    uint32_t tick;
    double tick_began;
};

static enum cw_error create_kit(struct game *game)
{
    const struct cw_message_type messages[] = MESSAGES_TYPES, entities[] = ENTITIES_TYPES;
    enum cw_error error = cw_schema_create(
        &(struct cw_schema_config){.types = messages, .count = MESSAGES_TYPE_COUNT},
        &game->messages);
    if (error == CW_OK)
        error = cw_schema_create(
            &(struct cw_schema_config){.types = entities, .count = ENTITIES_TYPE_COUNT},
            &game->entities);
    if (error != CW_OK)
        return error;

    struct cw_snapshot_config snapshots = cw_snapshot_config_default(game->entities);
    snapshots.max_entities = ROUND + 1;
    snapshots.max_clients = MAX_HUMANS;
    snapshots.max_bytes = sizeof(struct world){0}.snapshot.data;
    error = cw_snapshot_server_create(&snapshots, &game->snapshots);

    struct cw_history_config history = cw_history_config_default();
    history.state_size = sizeof(struct place);
    history.max_entities = FIRST_BODY + BODIES;
    if (error == CW_OK)
        error = cw_history_create(&history, &game->history);

    struct cw_input_config inputs = cw_input_config_default(game->entities);
    inputs.type = ENTITIES_COMMAND;
    for (uint32_t i = 0; error == CW_OK && i < MAX_HUMANS; i++)
        error = cw_input_receiver_create(&inputs, &game->inputs[i]);
    return error;
}

enum cw_error game_create(struct game **game)
{
    struct game *created = calloc(1, sizeof *created);
    if (!created)
        return CW_ERROR_NO_MEMORY;
    const enum cw_error error = create_kit(created);
    if (error != CW_OK) {
        game_destroy(created);
        return error;
    }
    arena_init(&created->arena);
    *game = created;
    return CW_OK;
}

void game_destroy(struct game *game)
{
    for (uint32_t i = 0; i < MAX_HUMANS; i++)
        cw_input_receiver_destroy(game->inputs[i]);
    cw_history_destroy(game->history);
    cw_snapshot_server_destroy(game->snapshots);
    cw_schema_destroy(game->entities);
    cw_schema_destroy(game->messages);
    free(game);
}

const struct cw_schema *game_messages(const struct game *game)
{
    return game->messages;
}

/* Returns the time in ticks: the last tick that ran, plus the part of the next that has passed. */
static double tick_time(const struct game *game, double now)
{
    return game->tick + fmin((now - game->tick_began) * TICKS_PER_SECOND, 1);
}

static struct cw_message *message_to(struct cw_server *server, uint32_t player, uint32_t type)
{
    struct cw_message *message;
    return cw_connection_create_message(cw_server_connection(server, player), type, &message) ==
                   CW_OK
               ? message
               : NULL;
}

static void send(struct cw_server *server, uint32_t player, uint32_t channel,
                 struct cw_message *message, double now)
{
    if (cw_connection_send(cw_server_connection(server, player), channel, message, now) != CW_OK)
        cw_message_release(message);
}

static void join(struct game *game, struct cw_server *server, uint32_t player, double now)
{
    arena_join(&game->arena, player);
    game->names[player] = (struct name){0};
    cw_input_receiver_reset(game->inputs[player]);
    game->clocks[player] = (struct cw_clock_echo){0};
    cw_snapshot_server_join(game->snapshots, player);
    /* his own state comes first, because he corrects his prediction by it */
    cw_snapshot_server_set_priority(game->snapshots, player, player, 100);
    struct cw_message *welcome = message_to(server, player, MESSAGES_WELCOME);
    if (!welcome)
        return;
    ((struct welcome *)welcome->data)->player = player;
    send(server, player, COMMANDS, welcome, now);
}

/* Answers a client that says where it is: with the place and speed that the arena has, which follow
   from the player's commands alone. The claim itself is read by nobody. */
static void answer_claim(const struct game *game, struct cw_server *server, uint32_t player,
                         double now)
{
    const struct player *from = &game->arena.players[player];
    struct cw_message *answer = message_to(server, player, MESSAGES_ANSWER);
    if (!answer)
        return;
    *(struct answer *)answer->data =
        (struct answer){.at = {from->at.x, from->at.y}, .speed = {from->speed.x, from->speed.y}};
    send(server, player, COMMANDS, answer, now);
}

void game_take(struct game *game, struct cw_server *server, const struct cw_server_event *event,
               double now)
{
    const uint32_t player = event->client;
    switch (event->type) {
    case CW_SERVER_EVENT_CONNECTED:
        join(game, server, player, now);
        break;
    case CW_SERVER_EVENT_DISCONNECTED:
        arena_leave(&game->arena, player);
        break;
    case CW_SERVER_EVENT_ACKED:
        cw_snapshot_server_acked(game->snapshots, player, event->receipt);
        break;
    case CW_SERVER_EVENT_MESSAGE:
        if (event->message->type == MESSAGES_INPUTS) {
            const struct inputs *inputs = event->message->data;
            cw_clock_echo_receive(&game->clocks[player], inputs->stamp.data, inputs->stamp.size,
                                  now);
            cw_input_receiver_receive(game->inputs[player], inputs->body.data, inputs->body.size,
                                      tick_time(game, now));
        } else if (event->message->type == MESSAGES_CLAIM) {
            answer_claim(game, server, player, now);
        } else if (event->message->type == MESSAGES_CALL) {
            const struct call *call = event->message->data;
            memcpy(game->names[player].name, call->name, sizeof call->name);
        }
        cw_message_release(event->message);
        break;
    default:
        break;
    }
}

/* Fills in the places that a player saw when he gave his command, age quarters of a tick ago. */
static void look_back(const struct game *game, uint32_t age, struct targets *targets)
{
    memset(targets, 0, sizeof *targets);
    const uint32_t ticks = (age + 3) / 4;
    const struct cw_view seen = {.from = game->tick - ticks,
                                 .to = game->tick - ticks + (age > 0),
                                 .fraction = (float)(ticks * 4 - age) / 4};
    struct cw_view view;
    if (!cw_history_rewind(game->history, &seen, &view))
        return;
    for (uint32_t i = 0; i < FIRST_BODY + BODIES; i++) {
        const void *from, *to;
        if (!cw_history_find(game->history, &view, i, &from, &to))
            continue;
        const struct place *a = from, *b = to;
        const struct place at = {a->x + (int32_t)((float)(b->x - a->x) * view.fraction),
                                 a->y + (int32_t)((float)(b->y - a->y) * view.fraction)};
        if (i >= FIRST_BODY) {
            targets->bodies[i - FIRST_BODY] = at;
        } else {
            targets->here[i] = true;
            targets->players[i] = at;
        }
    }
}

static void tell_shot(const struct game *game, struct cw_server *server, uint32_t shooter,
                      int32_t distance, double now)
{
    const struct player *from = &game->arena.players[shooter];
    const double scale = hypot(from->aim.x, from->aim.y), metre = METRE / BODY_METRE;
    const struct shot shot = {
        .player = shooter,
        .from = {.x = from->at.x * BODY_METRE / METRE, .y = from->at.y * BODY_METRE / METRE},
        .to = {.x = (uint32_t)fmax(0, fmin((from->at.x + from->aim.x / scale * distance) / metre,
                                           ARENA_WIDTH / metre)),
               .y = (uint32_t)fmax(0, fmin((from->at.y + from->aim.y / scale * distance) / metre,
                                           ARENA_HEIGHT / metre))}};
    for (uint32_t i = 0; i < MAX_HUMANS; i++) {
        struct cw_message *message =
            cw_server_connection(server, i) ? message_to(server, i, MESSAGES_SHOT) : NULL;
        if (!message)
            continue;
        *(struct shot *)message->data = shot;
        send(server, i, STATE, message, now);
    }
}

static void play(struct game *game, struct cw_server *server, uint32_t number, double now)
{
    struct command command;
    if (number < MAX_HUMANS)
        cw_input_receiver_take(game->inputs[number], game->tick, &command);
    else
        command = arena_bot(&game->arena, number);
    struct player *player = &game->arena.players[number];
    if (!arena_step_player(player, &command))
        return;
    struct targets targets;
    int32_t distance;
    look_back(game, command.age, &targets);
    arena_hit(&game->arena, number, arena_aim(player, number, &targets, &distance));
    tell_shot(game, server, number, distance, now);
}

static const char *const bot_names[BOTS] = {"Rook", "Pixel", "Nimbus"};

/* Adds bots while one person plays alone, and removes them otherwise. */
static void call_bots(struct game *game)
{
    uint32_t humans = 0;
    for (uint32_t i = 0; i < MAX_HUMANS; i++)
        humans += game->arena.here[i];
    for (uint32_t i = MAX_HUMANS; i < MAX_PLAYERS; i++) {
        if (humans == 1 && !game->arena.here[i]) {
            arena_join(&game->arena, i);
            game->arena.players[i].bot = true;
            strcpy(game->names[i].name, bot_names[i - MAX_HUMANS]);
        } else if (humans != 1 && game->arena.here[i]) {
            arena_leave(&game->arena, i);
        }
    }
}

static void remember(struct game *game)
{
    const struct arena *arena = &game->arena;
    cw_history_begin(game->history, game->tick);
    for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
        const struct place at = {(int32_t)arena->players[i].at.x, (int32_t)arena->players[i].at.y};
        if (arena->here[i])
            cw_history_add(game->history, i, &at);
    }
    for (uint32_t i = 0; i < BODIES; i++)
        cw_history_add(game->history, FIRST_BODY + i, &arena->bodies[i].at);
}

static void describe(struct game *game)
{
    const struct arena *arena = &game->arena;
    for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
        if (arena->here[i])
            cw_snapshot_server_set(game->snapshots, i, ENTITIES_PLAYER, &arena->players[i]);
        else
            cw_snapshot_server_remove(game->snapshots, i);
        if (arena->here[i] && game->names[i].name[0])
            cw_snapshot_server_set(game->snapshots, FIRST_NAME + i, ENTITIES_NAME, &game->names[i]);
        else
            cw_snapshot_server_remove(game->snapshots, FIRST_NAME + i);
    }
    cw_snapshot_server_set(game->snapshots, ROUND, ENTITIES_ROUND, &arena->round);
    for (uint32_t i = 0; i < BODIES; i++) {
        const struct loose_body *from = &arena->bodies[i];
        const struct body body = {.at = {.x = (uint32_t)from->at.x * BODY_METRE / METRE,
                                         .y = (uint32_t)from->at.y * BODY_METRE / METRE},
                                  .owner = from->owner};
        cw_snapshot_server_set(game->snapshots, FIRST_BODY + i, ENTITIES_BODY, &body);
    }
    cw_snapshot_server_tick(game->snapshots, game->tick);
}

static void send_world(struct game *game, struct cw_server *server, uint32_t player, double now)
{
    struct cw_message *message = message_to(server, player, MESSAGES_WORLD);
    if (!message)
        return;
    struct world *world = message->data;
    world->echo.size =
        (uint32_t)cw_clock_echo_transmit(&game->clocks[player], tick_time(game, now),
                                         world->echo.data, sizeof world->echo.data, now);
    world->report.size = (uint32_t)cw_input_receiver_transmit(
        game->inputs[player], world->report.data, sizeof world->report.data);
    world->snapshot.size =
        (uint32_t)cw_snapshot_server_transmit(game->snapshots, player, world->snapshot.data,
                                              sizeof world->snapshot.data, &message->receipt);
    send(server, player, STATE, message, now);
}

void game_tick(struct game *game, struct cw_server *server, double now)
{
    game->tick++;
    game->tick_began = now;
    call_bots(game);
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        if (game->arena.here[i])
            play(game, server, i, now);
    arena_step(&game->arena);
    remember(game);
    if (game->tick % TICKS_PER_SNAPSHOT != 0)
        return;
    describe(game);
    for (uint32_t i = 0; i < MAX_HUMANS; i++)
        if (cw_server_connection(server, i))
            send_world(game, server, i, now);
}
