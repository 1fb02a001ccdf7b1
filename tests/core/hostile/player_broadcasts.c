/* Tests that a player who acks nothing does not keep broadcasts from all others: what is kept for
   him is limited, and the server is told whom to kick. */
#include "hostile_player.h"

#define HONEST     2
#define ATTACKERS  16
#define APART      20
#define BLOCKS     500
#define BLOCK_SIZE 700

#define MAP_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_BLOCK_MESSAGE(map, MAP_FIELDS)

struct game {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_client *clients[HONEST];
    uint32_t received[HONEST];
    uint8_t block[BLOCK_SIZE];
    uint32_t released;
};

static void game_open(struct game *game, uint32_t max_clients)
{
    *game = (struct game){.schema = make_schema(&map_type)};
    game->connection = cw_connection_config_default(game->schema);
    game->connection.channels[RELIABLE].blocks = true;
    rig_init(&game->rig);
    game->rig.config.max_clients = max_clients;
    game->rig.connection = &game->connection;
    rig_start(&game->rig);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &game->connection;
    for (uint32_t i = 0; i < HONEST; i++) {
        struct cw_token_grant grant = rig_grant(&game->rig, i + 1);
        grant.fingerprint = cw_connection_fingerprint(&game->connection);
        game->clients[i] = rig_client_of(&game->rig, &config, &grant);
        const struct cw_address at = rig_client_address(i);
        assert_int_equal(rig_connect(&game->rig, game->clients[i], &at), i);
    }
}

static void take(struct game *game, uint32_t n)
{
    struct cw_client_event event;
    while (cw_client_next(game->clients[n], &event)) {
        assert_int_equal(event.type, CW_CLIENT_EVENT_MESSAGE);
        assert_int_equal(((struct map *)event.message->data)->number, game->received[n] % 1000);
        game->received[n]++;
        cw_message_release(event.message);
    }
}

/* Plays a tick of the server and the honest clients; what goes to attackers is thrown away. */
static void tick(struct game *game)
{
    struct rig *rig = &game->rig;
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    while ((size = cw_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to)) > 0)
        if (to.port - 1000 < HONEST)
            cw_client_receive(game->clients[to.port - 1000], &rig->address, datagram, size,
                              rig->now);
    for (uint32_t i = 0; i < HONEST; i++) {
        const struct cw_address at = rig_client_address(i);
        cw_client_update(game->clients[i], rig->now);
        rig_up(rig, game->clients[i], &at);
        take(game, i);
    }
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)block, (void)size;
    ++*(uint32_t *)context;
}

/* Returns false when the server has no message left for a broadcast. */
static bool broadcast(struct game *game, uint32_t number)
{
    struct cw_message *message;
    if (cw_server_create_message(game->rig.server, 0, &message) != CW_OK)
        return false;
    ((struct map *)message->data)->number = number % 1000;
    assert_ok(cw_message_attach(message, game->block, BLOCK_SIZE, release_block, &game->released));
    assert_ok(
        cw_server_broadcast(game->rig.server, RELIABLE, message, CW_SERVER_NOBODY, game->rig.now));
    return true;
}

static void keep_alive(struct player *player)
{
    const uint8_t body[CW_KEEP_ALIVE_SIZE] = {0};
    assert_ok(player_send(player, CW_SECURE_KEEP_ALIVE, body, sizeof body));
}

/* Broadcasts a block, which the honest clients get. */
static void broadcast_and_play(struct game *game, uint32_t number)
{
    assert_true(broadcast(game, number));
    for (uint32_t i = 0; i < HONEST; i++)
        assert_false(cw_server_broadcast_refused(game->rig.server, i));
    for (uint32_t i = 0; i < 6; i++)
        tick(game);
}

/* Ends the game, after a check that nothing is left of any block. */
static void end(struct game *game)
{
    for (uint32_t i = 0; i < 60; i++)
        tick(game);
    player_drain(&game->rig);
    tick(game);
    for (uint32_t i = 0; i < HONEST; i++)
        assert_int_equal(game->received[i], BLOCKS);
    assert_int_equal(game->released, BLOCKS);
}

TEST(test_one_who_acks_nothing_and_is_not_kicked)
{
    static struct game game;
    struct player player;
    uint32_t refused = 0;
    game_open(&game, HONEST + 1);
    player_connect(&player, &game.rig, HONEST, cw_connection_fingerprint(&game.connection));
    for (uint32_t sent = 0; sent < BLOCKS; sent++) {
        keep_alive(&player);
        broadcast_and_play(&game, sent);
        refused += cw_server_broadcast_refused(game.rig.server, player.slot);
    }
    assert_int_equal(refused, BLOCKS - cw_server_config_default().max_broadcasts / 2);
    cw_server_disconnect(game.rig.server, player.slot, 0, NULL);
    end(&game);
}

/* Attackers come one after the other while those before hold as much as they may. The server kicks
   each one that refuses a block. */
TEST(test_many_one_after_the_other)
{
    static struct game game;
    struct player players[ATTACKERS];
    uint32_t came = 0, kicked = 0;
    game_open(&game, HONEST + ATTACKERS);
    for (uint32_t sent = 0; sent < BLOCKS; sent++) {
        if (sent % APART == 0 && came < ATTACKERS) {
            player_connect(&players[came], &game.rig, HONEST + came,
                           cw_connection_fingerprint(&game.connection));
            came++;
        }
        broadcast_and_play(&game, sent);
        for (uint32_t i = kicked; i < came; i++) {
            keep_alive(&players[i]);
            if (!cw_server_broadcast_refused(game.rig.server, players[i].slot))
                continue;
            assert_int_equal(i, kicked++); /* the attacker who came first refuses first */
            cw_server_disconnect(game.rig.server, players[i].slot, 0, NULL);
        }
        player_drain(&game.rig);
    }
    assert_int_equal(kicked, ATTACKERS);
    end(&game);
}
