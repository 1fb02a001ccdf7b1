/* An echo server: it sends each message of a player back to that player.
     CAUSEWAY_KEY=... echo_server [ADDRESS:PORT]
   With the key "insecure" it lets everybody in, without a backend that makes tokens. */
#include <causeway/causeway.h>
#include <causeway/native/clock.h>
#include <causeway/native/host.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The schema must be that of the clients, because the server refuses those with another one. */
#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)

static volatile sig_atomic_t stopping;

static void stop(int signal)
{
    (void)signal;
    stopping = 1;
}

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *key = getenv("CAUSEWAY_KEY");
    if (!key) {
        fprintf(stderr, "CAUSEWAY_KEY is not set: causeway-token --new-key makes a key\n");
        return 1;
    }
    struct cw_schema *schema;
    check(cw_schema_create(&(struct cw_schema_config){.types = &say_type, .count = 1}, &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);

    struct cw_host_config config = cw_host_config_default();
    config.server.connection = &connection;
    /* This number tells your game from others. The backend puts the same one into its tokens. */
    config.server.netcode.protocol_id = 0x1122334455667788;
    config.server.netcode.insecure = strcmp(key, "insecure") == 0;
    if (config.server.netcode.insecure)
        fprintf(stderr, "insecure: anybody can connect as any player, and forge packets\n");
    else
        check(cw_key_parse(key, config.server.netcode.private_key));

    struct cw_host *host;
    check(cw_host_open(argc > 1 ? argv[1] : "127.0.0.1:40000", &config, &host));
    char text[CW_ADDRESS_TEXT_SIZE];
    printf("listening on %s\n", cw_address_format(cw_host_address(host), text));
    fflush(stdout);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);

    struct cw_server_event event;
    for (double tick = cw_clock_now(); !stopping; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
        while (cw_host_next(host, tick, &event)) { /* events of players, until the tick is due */
            if (event.type != CW_SERVER_EVENT_MESSAGE)
                continue;
            struct cw_connection *player = cw_server_connection(cw_host_server(host), event.client);
            if (cw_connection_send(player, event.channel, event.message, cw_clock_now()) != CW_OK)
                cw_message_release(event.message); /* it was not sent, so it is still ours */
        }
        cw_host_update(host); /* sends what is due */
    }
    cw_host_close(host); /* tells the players that the server stops */
    cw_schema_destroy(schema);
    return 0;
}
