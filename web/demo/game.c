#include "game.h"

#include <string.h>

_Static_assert(sizeof(struct world){0}.players.items / sizeof(uint32_t) == MAX_PLAYERS,
               "MAX_PLAYERS is not that of schema.js");

static struct move positions[MAX_PLAYERS];

enum cw_error game_schema(struct cw_schema **schema)
{
    const struct cw_message_type types[] = MESSAGES_TYPES;
    const struct cw_schema_config config = {.types = types, .count = MESSAGES_TYPE_COUNT};
    return cw_schema_create(&config, schema);
}

static void send_to_all(struct cw_server *server, uint32_t channel, uint32_t type, const void *data,
                        size_t size, double now)
{
    for (uint32_t player = 0; player < MAX_PLAYERS; player++) {
        struct cw_connection *connection = cw_server_connection(server, player);
        struct cw_message *message;
        if (!connection || cw_connection_create_message(connection, type, &message) != CW_OK)
            continue;
        memcpy(message->data, data, size);
        if (cw_connection_send(connection, channel, message, now) != CW_OK)
            cw_message_release(message);
    }
}

void game_take(struct cw_server *server, const struct cw_server_event *event, double now)
{
    if (event->type == CW_SERVER_EVENT_CONNECTED)
        positions[event->client] = (struct move){0.5f, 0.5f};
    if (event->type != CW_SERVER_EVENT_MESSAGE)
        return;
    if (event->message->type == MESSAGES_SAY) {
        struct said said = {.player = event->client};
        memcpy(said.text, ((struct say *)event->message->data)->text, sizeof said.text);
        send_to_all(server, 0, MESSAGES_SAID, &said, sizeof said, now);
    } else if (event->message->type == MESSAGES_MOVE) {
        positions[event->client] = *(struct move *)event->message->data;
    }
    cw_message_release(event->message);
}

void game_tick(struct cw_server *server, double now)
{
    static struct world world;
    uint32_t count = 0;
    for (uint32_t player = 0; player < MAX_PLAYERS; player++) {
        if (!cw_server_connection(server, player))
            continue;
        world.players.items[count] = player;
        world.xs.items[count] = positions[player].x;
        world.ys.items[count++] = positions[player].y;
    }
    world.players.count = world.xs.count = world.ys.count = count;
    send_to_all(server, 1, MESSAGES_WORLD, &world, sizeof world, now);
}
