/* A client of the server in core/examples over Causeway, natively and in a page. The token of each
   connection is in a file, which the client removes.
     causeway_client TOKEN_FILE */
#include "echo.h"

#include <causeway/causeway.h>
#include <causeway/native/client_host.h>
#include <causeway/native/clock.h>

#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)

/* A text longer than this goes in parts of this size. */
#define PART 160

struct game {
    struct cw_client_host *host;
    struct echo echo;
    char back[BULK_SIZE];
    size_t back_size;
};

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

static void send_text(struct cw_connection *server, uint32_t channel, const char *text, size_t size)
{
    struct say say;
    memcpy(say.text, text, size);
    say.text[size] = '\0';
    check(cw_connection_send_value(server, channel, 0, &say, cw_clock_now()));
}

static void send_due(struct game *game, struct cw_connection *server)
{
    char text[BULK_SIZE];
    const size_t size = echo_next(&game->echo, text);
    if (size == ECHO_SIZE)
        send_text(server, 1, text, size);
    else
        for (size_t i = 0; i < size; i += PART)
            send_text(server, 0, text + i, PART);
}

static void take_text(struct game *game, uint32_t channel, const char *text)
{
    if (channel == 1) {
        echo_take(&game->echo, text, strlen(text));
        return;
    }
    memcpy(game->back + game->back_size, text, PART);
    game->back_size += PART;
    if (game->back_size < BULK_SIZE)
        return;
    game->back_size = 0;
    echo_take(&game->echo, game->back, BULK_SIZE);
}

static bool tick(void *context, double until)
{
    struct game *game = context;
    struct cw_client *client = cw_client_host_client(game->host);
    struct cw_client_event event;
    while (cw_client_host_next(game->host, until, &event)) {
        if (event.type == CW_CLIENT_EVENT_DISCONNECTED)
            printf("disconnected: %s\n", cw_client_state_string(event.state));
        if (event.type != CW_CLIENT_EVENT_MESSAGE)
            continue;
        take_text(game, event.channel, ((struct say *)event.message->data)->text);
        cw_message_release(event.message);
    }
    if (echo_done(&game->echo)) {
        cw_client_host_close(game->host);
        return false;
    }
    if (cw_client_state(client) == CW_CLIENT_CONNECTED)
        send_due(game, cw_client_connection(client));
    cw_client_host_update(game->host);
    return true;
}

int main(int argc, char **argv)
{
    static struct game game;
    struct cw_schema *schema;
    check(cw_schema_create(&(struct cw_schema_config){.types = &say_type, .count = 1}, &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &connection;
    config.token = cw_client_host_token_file;
    config.token_context = argc > 1 ? argv[1] : "token";
    check(cw_client_host_open(&config, &game.host));
    check(cw_run(tick, &game, 1 / 240.0));
    return 0;
}
