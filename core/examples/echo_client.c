/* An echo client, natively and in a page: it says hello to the server and prints what comes back.
   Then it prints once a second how the connection is.
     echo_client [TOKEN-FILE | ADDRESS:PORT]
   An address is that of a server that lets everybody in: its key is public, so that strangers can
   read the packets, forge them, and connect as any player. */
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
    if (error == CW_OK)
        return;
    fprintf(stderr, "%s\n", cw_error_string(error));
    exit(1);
}

static bool tick(void *context, double until)
{
    struct cw_client_host *host = context;
    struct cw_connection *server = cw_client_connection(cw_client_host_client(host));
    struct cw_connection_stats is;
    struct cw_client_event event;
    static unsigned ticks;
    while (cw_client_host_next(host, until, &event)) {
        if (event.type == CW_CLIENT_EVENT_CONNECTED) {
            const struct say hello = {"hello"};
            check(cw_connection_send_value(server, RELIABLE, SAY, &hello, cw_clock_now()));
        } else if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            printf("the server says %s\n", ((struct say *)event.message->data)->text);
            cw_message_release(event.message);
        } else if (event.type == CW_CLIENT_EVENT_DISCONNECTED) {
            fprintf(stderr, "%s %s\n", cw_client_state_string(event.state), event.text);
            if (!cw_client_host_reconnects(host))
                exit(1); /* the server has kicked, replaced or refused this player */
        }
    }
    cw_client_host_update(host); /* sends what is due */
    cw_connection_get_stats(server, &is);
    if (++ticks % 30 == 0)
        printf("RTT %.0f ms, %.0f sent, %.0f acked, %.0f lost, %s mode\n", 1000 * is.endpoint.rtt,
               (double)is.endpoint.packets_sent, (double)is.endpoint.packets_acked,
               (double)is.endpoint.packets_lost, is.congestion_state ? "good" : "bad");
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    struct cw_schema *schema;
    check(cw_schema_create(&(struct cw_schema_config){.types = &say_type, .count = 1}, &schema));
    struct cw_connection_config connection = cw_connection_config_default(schema);
    /* As in the articles: a packet in each tick, and fewer while the RTT is above 250 ms. */
    connection.idle_interval_seconds = 0;
    connection.congestion.mode = CW_CONGESTION_BINARY;
    struct cw_client_host_config config = cw_client_host_config_default();
    config.client.connection = &connection;
    struct cw_address address;
    const bool insecure = argc > 1 && cw_address_parse(argv[1], &address) == CW_OK;
    /* Every connection takes a new token from your backend, here through a file. */
    config.token = insecure ? NULL : cw_client_host_token_file;
    config.token_context = argc > 1 ? argv[1] : "token";
    struct cw_client_host *host;
    check(cw_client_host_open(&config, &host));
    if (insecure)
        check(cw_client_host_connect_insecure(host, argv[1], 0x1122334455667788, 1));
    check(cw_run(tick, host, 1 / 30.0)); /* in a page it does not return */
    return 0;
}
