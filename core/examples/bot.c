/* Bots: players who connect to an echo server that lets everybody in, and talk now and then.
     bot ADDRESS:PORT [PLAYERS]
   Once a second it prints how many are connected, and what they have said and heard. The key of
   such a server is public, so that strangers can read the packets, forge them, and connect too. */
#include <causeway/causeway.h>
#include <causeway/native/client_host.h>
#include <causeway/native/clock.h>

#include <stdio.h>
#include <stdlib.h>

#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)
enum { SAY };
enum { RELIABLE };
enum { MOST = 1000 };

static struct cw_client_host *bots[MOST];
static unsigned said, received;

static void check(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "%s\n", cw_error_string(error));
    exit(1);
}

/* Plays a tick of one bot, and returns whether it is connected. */
static bool play(struct cw_client_host *bot, double until)
{
    struct cw_client *client = cw_client_host_client(bot);
    struct cw_client_event event;
    while (cw_client_host_next(bot, until, &event)) {
        if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            received++;
            cw_message_release(event.message);
        } else if (event.type == CW_CLIENT_EVENT_DISCONNECTED) {
            fprintf(stderr, "%s %s\n", cw_client_state_string(event.state), event.text);
        }
    }
    const bool connected = cw_client_state(client) == CW_CLIENT_CONNECTED;
    if (connected && rand() % 30 == 0) {
        struct say word;
        snprintf(word.text, sizeof word.text, "this is word %u", said);
        said += cw_connection_send_value(cw_client_connection(client), RELIABLE, SAY, &word,
                                         cw_clock_now()) == CW_OK;
    }
    cw_client_host_update(bot);
    return connected;
}

int main(int argc, char **argv)
{
    const unsigned wanted = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    const unsigned players = wanted < MOST ? wanted : MOST;
    struct cw_schema *schema;
    check(argc > 1 ? CW_OK : CW_ERROR_ADDRESS);
    check(cw_schema_create(&(struct cw_schema_config){.types = &say_type, .count = 1}, &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &connection;
    for (unsigned i = 0; i < players; i++) {
        check(cw_client_host_open(&config, &bots[i]));
        check(cw_client_host_connect_insecure(bots[i], argv[1], 0x1122334455667788, i + 1));
    }
    double tick = cw_clock_now();
    for (unsigned ticks = 0;; ticks++, tick = cw_clock_next_tick(tick, 1 / 30.0)) {
        unsigned connected = 0;
        for (unsigned i = 0; i < players; i++) /* the first one waits until the tick is due */
            connected += play(bots[i], i == 0 ? tick : cw_clock_now());
        if (ticks % 30 == 0)
            printf("%u connected, %u said, %u heard\n", connected, said, received);
        fflush(stdout);
    }
}
