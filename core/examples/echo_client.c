/* An echo client, natively and in a page: it says hello to the server and prints what comes back.
     echo_client [TOKEN-FILE] */
#include <causeway/causeway.h>
#include <causeway/native/client_host.h>
#include <causeway/native/clock.h>

#include <stdio.h>
#include <stdlib.h>

/* The schema must be that of the server, which refuses clients with another one. */
#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(say, SAY_FIELDS)

enum { SAY };      /* types, by their place in the schema */
enum { RELIABLE }; /* channels: 0 is reliable and in order, 1 is not */

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

static bool tick(void *context, double until)
{
    struct cw_client_host *host = context;
    struct cw_client_event event;
    while (cw_client_host_next(host, until, &event)) {
        if (event.type == CW_CLIENT_EVENT_CONNECTED) {
            struct cw_connection *server = cw_client_connection(cw_client_host_client(host));
            const struct say hello = {"hello"};
            check(cw_connection_send_value(server, RELIABLE, SAY, &hello, cw_clock_now()));
        } else if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            printf("the server says %s\n", ((struct say *)event.message->data)->text);
            fflush(stdout);
            cw_message_release(event.message);
        } else if (event.type == CW_CLIENT_EVENT_DISCONNECTED) {
            fprintf(stderr, "%s %s\n", cw_client_state_string(event.state), event.text);
            if (!cw_client_host_reconnects(host))
                exit(1); /* the server has kicked, replaced or refused this player */
        }
    }
    cw_client_host_update(host); /* sends what is due */
    return true;
}

int main(int argc, char **argv)
{
    struct cw_schema *schema;
    check(cw_schema_create(&(struct cw_schema_config){.types = &say_type, .count = 1}, &schema));
    const struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &connection;
    /* Every connection takes a new token from your backend, here through a file. */
    config.token = cw_client_host_token_file;
    config.token_context = argc > 1 ? argv[1] : "token";
    struct cw_client_host *host;
    check(cw_client_host_open(&config, &host));
    check(cw_run(tick, host, 1 / 60.0)); /* in a page it does not return */
    return 0;
}
