/* A native client of chat servers that are insecure:
     chat_client ADDRESS:PORT ID
   It says ten numbers, one per tick, prints what the server sends it, and how it ends. */
#include "chat_schema.h"

#include "causeway/native/client_host.h"
#include "causeway/native/clock.h"

#include <stdio.h>
#include <stdlib.h>

/* The same number as in chat_schema.mjs. */
#define PROTOCOL_ID 0xca05e3a7de400001

static void check(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "chat_client: %s\n", cw_error_string(error));
    exit(1);
}

static void say(struct cw_connection *server, int number)
{
    struct say say;
    snprintf(say.text, sizeof say.text, "%d", number);
    check(cw_connection_send_value(server, 0, MESSAGES_SAY, &say, cw_clock_now()));
}

/* Returns false when the client has ended. */
static bool take(const struct cw_client_event *event)
{
    if (event->type == CW_CLIENT_EVENT_MESSAGE) {
        if (event->message->type == MESSAGES_SAID)
            printf("said %s\n", ((struct said *)event->message->data)->text);
        cw_message_release(event->message);
    } else if (event->type == CW_CLIENT_EVENT_DISCONNECTED) {
        printf("%s %u %s\n", event->state == CW_CLIENT_KICKED ? "kicked" : "ended", event->code,
               event->text);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct cw_schema *schema;
    const struct cw_message_type types[] = MESSAGES_TYPES;
    check(cw_schema_create(&(struct cw_schema_config){.types = types, .count = MESSAGES_TYPE_COUNT},
                           &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &connection;
    struct cw_client_host *host;
    check(cw_client_host_open(&config, &host));
    check(cw_client_host_connect_insecure(host, argv[1], PROTOCOL_ID, strtoull(argv[2], NULL, 10)));

    struct cw_client *client = cw_client_host_client(host);
    struct cw_client_event event;
    int said = 0;
    bool goes_on = true;
    for (double tick = cw_clock_now(); goes_on; tick = cw_clock_next_tick(tick, 1 / 60.0)) {
        while (goes_on && cw_client_host_next(host, tick, &event))
            goes_on = take(&event);
        if (cw_client_state(client) == CW_CLIENT_CONNECTED && said < 10)
            say(cw_client_connection(client), said++);
        cw_client_host_update(host);
    }
    cw_client_host_close(host);
    cw_schema_destroy(schema);
    return 0;
}
