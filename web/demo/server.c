/* A small game server; the game itself is in game.c.
     demo_server [ADDRESS:PORT [PLAYERS]]     default 127.0.0.1:0, any free port; it says which
   The environment variable CAUSEWAY_KEY holds the key with which the backend makes tokens. */
#include "game.h"

#include "causeway/native/clock.h"
#include "causeway/native/host.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void check(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "demo_server: %s\n", cw_error_string(error));
    exit(1);
}

int main(int argc, char **argv)
{
    struct game *game;
    check(game_create(&game));
    const struct cw_connection_config connection =
        cw_connection_config_default(game_messages(game));
    struct cw_host_config config = cw_host_config_default();
    config.server.connection = &connection;
    config.server.netcode.protocol_id = PROTOCOL_ID;
    config.server.netcode.max_clients =
        argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : MAX_HUMANS;
    config.server.netcode.max_token_life_seconds = 0; /* no token is older than the demo's key */
    if (config.server.netcode.max_clients > MAX_HUMANS) {
        fprintf(stderr, "demo_server: there may be %d players at most\n", MAX_HUMANS);
        return 1;
    }
    check(cw_key_parse(getenv("CAUSEWAY_KEY"), config.server.netcode.private_key));

    struct cw_host *host;
    check(cw_host_open(argc > 1 ? argv[1] : "127.0.0.1:0", &config, &host));
    char text[CW_ADDRESS_TEXT_SIZE];
    printf("game server on %s\n", cw_address_format(cw_host_address(host), text));
    fflush(stdout);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);

    struct cw_server_event event;
    for (double tick = cw_clock_now(); !stopped;
         tick = cw_clock_next_tick(tick, 1.0 / TICKS_PER_SECOND)) {
        while (cw_host_next(host, tick, &event))
            game_take(game, cw_host_server(host), &event, cw_clock_now());
        game_play(game, cw_host_server(host), cw_clock_now());
        cw_host_update(host);
    }
    cw_host_close(host);
    game_destroy(game);
    return 0;
}
