#include "game.h"

#include "entities.h"
#include "messages.h"

#include "causeway/game_server.h"
#include "causeway/interpolation.h"

#include <stdlib.h>
#include <string.h>

enum { RELIABLE, UNRELIABLE }; /* channels */
/* The entities: the players, then the bodies, and the round. */
enum { FIRST_BODY = MAX_PLAYERS, ROUND = FIRST_BODY + BODIES };

struct game {
    struct cw_schema *messages, *entities;
    struct cw_game_server *kit;
    struct arena arena;
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
    struct cw_game_config config = cw_game_config_default(game->entities);
    config.input_type = ENTITIES_COMMAND;
    config.player_type = ENTITIES_PLAYER;
    config.max_entities = ROUND + 1;
    config.max_clients = MAX_HUMANS;
    return cw_game_server_create(&config, &game->kit);
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
    cw_game_server_destroy(game->kit);
    cw_schema_destroy(game->entities);
    cw_schema_destroy(game->messages);
    free(game);
}

const struct cw_schema *game_messages(const struct game *game)
{
    return game->messages;
}

/* Answers a client that says where it is: with the place and speed that the arena has, which follow
   from the player's commands alone. The claim itself is read by nobody. */
static void answer_claim(const struct player *player, struct cw_connection *to, double now)
{
    const struct answer answer = {.at = {player->at.x, player->at.y},
                                  .speed = {player->speed.x, player->speed.y}};
    cw_connection_send_value(to, RELIABLE, MESSAGES_ANSWER, &answer, now);
}

static void take_message(struct game *game, struct cw_server *server,
                         const struct cw_server_event *event, double now)
{
    struct player *player = &game->arena.players[event->client];
    const void *data = event->message->data;
    if (event->message->type == MESSAGES_GAME_BODY) {
        const struct game_body *in = data;
        cw_game_server_receive(game->kit, event->client, in->body.data, in->body.size, now);
    } else if (event->message->type == MESSAGES_CLAIM) {
        answer_claim(player, cw_server_connection(server, event->client), now);
    } else if (event->message->type == MESSAGES_CALL) {
        memcpy(player->name, ((const struct call *)data)->name, sizeof player->name);
    }
    cw_message_release(event->message);
}

void game_take(struct game *game, struct cw_server *server, const struct cw_server_event *event,
               double now)
{
    if (event->type == CW_SERVER_EVENT_CONNECTED) {
        cw_game_server_join(game->kit, event->client, event->client);
        arena_join(&game->arena, event->client);
    } else if (event->type == CW_SERVER_EVENT_DISCONNECTED) {
        cw_game_server_leave(game->kit, event->client);
        arena_leave(&game->arena, event->client);
    } else if (event->type == CW_SERVER_EVENT_MESSAGE) {
        take_message(game, server, event, now);
    }
}

/* Finds an entity where a player saw it when he gave his command, or else where it is now. */
static bool find(const struct game *game, uint32_t player, bool as_seen, uint32_t entity,
                 struct cw_game_entity *found)
{
    if (as_seen)
        return cw_game_server_seen(game->kit, player, entity, found);
    found->from = found->to = cw_game_server_state(game->kit, entity, NULL);
    found->fraction = 0;
    return found->from != NULL;
}

static int32_t between(uint32_t from, uint32_t to, float fraction)
{
    return (int32_t)cw_lerp((float)from, (float)to, fraction);
}

static void find_targets(const struct game *game, uint32_t shooter, bool as_seen,
                         struct targets *targets)
{
    struct cw_game_entity found;
    memset(targets, 0, sizeof *targets);
    for (uint32_t i = 0; i < MAX_PLAYERS; i++) {
        targets->here[i] = find(game, shooter, as_seen, i, &found);
        if (!targets->here[i])
            continue;
        const struct player *from = found.from, *to = found.to;
        targets->players[i].x = between(from->at.x, to->at.x, found.fraction);
        targets->players[i].y = between(from->at.y, to->at.y, found.fraction);
    }
    for (uint32_t i = 0; i < BODIES; i++) {
        if (!find(game, shooter, as_seen, FIRST_BODY + i, &found))
            continue;
        const struct body *from = found.from, *to = found.to;
        const int32_t scale = METRE / BODY_METRE;
        targets->bodies[i].x = scale * between(from->at.x, to->at.x, found.fraction);
        targets->bodies[i].y = scale * between(from->at.y, to->at.y, found.fraction);
    }
}

/* Returns a place in the units of the bodies. */
static uint32_t coarse(int32_t units)
{
    return (uint32_t)units * BODY_METRE / METRE;
}

static void shoot(struct game *game, struct cw_server *server, uint32_t shooter, bool as_seen,
                  double now)
{
    const struct player *from = &game->arena.players[shooter];
    struct targets targets;
    struct place end;
    find_targets(game, shooter, as_seen, &targets);
    arena_hit(&game->arena, shooter, arena_aim(from, shooter, &targets, &end));
    const struct shot shot = {.player = shooter,
                              .from = {coarse((int32_t)from->at.x), coarse((int32_t)from->at.y)},
                              .to = {coarse(end.x), coarse(end.y)}};
    for (uint32_t i = 0; i < MAX_HUMANS; i++)
        cw_connection_send_value(cw_server_connection(server, i), UNRELIABLE, MESSAGES_SHOT, &shot,
                                 now);
}

static void play(struct game *game, struct cw_server *server, uint32_t number, double now)
{
    struct command command;
    const bool human = cw_game_server_input(game->kit, number, &command);
    if (!human)
        command = arena_bot(&game->arena, number);
    if (arena_step_player(&game->arena.players[number], &command))
        shoot(game, server, number, human && command.compensate, now);
}

static const char *const bot_names[BOTS] = {"Rook", "Pixel", "Nimbus"};

/* Adds bots while one person plays alone, and removes them otherwise. */
static void call_bots(struct arena *arena)
{
    uint32_t humans = 0;
    for (uint32_t i = 0; i < MAX_HUMANS; i++)
        humans += arena->here[i];
    for (uint32_t i = MAX_HUMANS; i < MAX_PLAYERS; i++) {
        if (humans == 1 && !arena->here[i]) {
            arena_join(arena, i);
            arena->players[i].bot = true;
            strcpy(arena->players[i].name, bot_names[i - MAX_HUMANS]);
        } else if (humans != 1 && arena->here[i]) {
            arena_leave(arena, i);
        }
    }
}

/* Sets all entities to what the arena has. */
static void show(struct game *game)
{
    struct arena *arena = &game->arena;
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        if (arena->here[i])
            cw_game_server_set(game->kit, i, ENTITIES_PLAYER, &arena->players[i]);
        else
            cw_game_server_remove(game->kit, i);
    for (uint32_t i = 0; i < BODIES; i++) {
        const struct loose_body *from = &arena->bodies[i];
        struct body body = {.at = {coarse(from->at.x), coarse(from->at.y)}, .owner = from->owner};
        cw_game_server_set(game->kit, FIRST_BODY + i, ENTITIES_BODY, &body);
    }
    cw_game_server_set(game->kit, ROUND, ENTITIES_ROUND, &arena->round);
}

void game_play(struct game *game, struct cw_server *server, double now)
{
    uint32_t tick;
    struct game_body out;
    cw_game_server_update(game->kit, now);
    while (cw_game_server_next_tick(game->kit, &tick)) {
        call_bots(&game->arena);
        for (uint32_t i = 0; i < MAX_PLAYERS; i++)
            if (game->arena.here[i])
                play(game, server, i, now);
        arena_step(&game->arena);
        show(game);
    }
    for (uint32_t i = 0; i < MAX_HUMANS; i++) {
        out.body.size = (uint32_t)cw_game_server_transmit(game->kit, i, out.body.data,
                                                          sizeof out.body.data, now);
        if (out.body.size > 0)
            cw_connection_send_value(cw_server_connection(server, i), UNRELIABLE,
                                     MESSAGES_GAME_BODY, &out, now);
    }
}
