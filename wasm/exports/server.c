/* The server, which is only in causeway-server.wasm. */
#include "causeway/server.h"
#include "causeway/secure_packet.h"
#include "exports/exports.h"

#include <stdlib.h>
#include <string.h>

/* A server, with the number of its CONNECTED and DISCONNECTED events that were taken. */
struct server {
    struct cw_server *server;
    uint64_t changes_taken;
};

static void set_numbers(struct cw_server_config *config, const struct cw_server_numbers *numbers)
{
    cw_set_u32(&config->max_clients, numbers->max_clients);
    cw_set_u32_or_0(&config->max_token_life_seconds, numbers->max_token_life_seconds);
    cw_set_u32(&config->max_pending, numbers->max_pending);
    cw_set_u32(&config->token_history, numbers->token_history);
    cw_set_f64(&config->requests_per_second, numbers->requests_per_second);
    cw_set_f64(&config->client_datagrams_per_second, numbers->client_datagrams_per_second);
    cw_set_f64(&config->keep_alive_seconds, numbers->keep_alive_seconds);
    cw_set_u32(&config->disconnect_packets, numbers->disconnect_packets);
    cw_set_u32(&config->max_broadcasts, numbers->max_broadcasts);
    config->takeover = numbers->takeover == 1;
    config->insecure = numbers->insecure == 1;
}

/* The addresses of what this has made go to the scratch area. The text addresses has address_count
   addresses of the server itself; see cw_read_addresses. */
CW_EXPORT(server_create)
enum cw_error server_create(const struct cw_schema *schema,
                            const struct cw_connection_numbers *numbers, uint32_t channel_count,
                            const struct cw_server_options *options, const char *addresses,
                            uint32_t address_count)
{
    struct cw_address own[CW_TOKEN_MAX_ADDRESSES];
    enum cw_error error = cw_read_addresses(
        own, addresses, address_count <= CW_TOKEN_MAX_ADDRESSES ? address_count : 0);
    if (error)
        return error;
    const struct cw_connection_config connection =
        cw_make_connection_config(schema, numbers, channel_count);
    struct cw_server_config config = cw_server_config_default();
    set_numbers(&config, &options->numbers);
    config.connection = &connection;
    config.addresses = own;
    config.address_count = address_count;
    config.unix_offset_seconds = options->unix_offset_seconds;
    config.protocol_id = options->protocol_id;
    memcpy(config.private_key, options->private_key, CW_KEY_BYTES);
    struct server *made = calloc(1, sizeof *made);
    error = made ? cw_server_create(&config, &made->server) : CW_ERROR_NO_MEMORY;
    cw_crypto_wipe(&config, sizeof config);
    if (error)
        free(made);
    else
        cw_scratch.created = (struct cw_created){.object = cw_place(made)};
    return error;
}

CW_EXPORT(server_destroy) void server_destroy(struct server *server)
{
    cw_server_destroy(server->server);
    free(server);
}

/* host is the text of an IP address. The slot of the client at this address goes to the scratch
   area, or CW_SERVER_NOBODY. */
CW_EXPORT(server_receive)
enum cw_error server_receive(struct server *server, const char *host, uint32_t port,
                             const uint8_t *data, size_t size, double now)
{
    struct cw_address from;
    cw_scratch.number = CW_SERVER_NOBODY;
    enum cw_error error = cw_address_parse(host, &from);
    if (error)
        return error;
    from.port = (uint16_t)port;
    error = cw_server_receive(server->server, &from, data, size, now);
    cw_scratch.number = cw_server_client_at(server->server, &from);
    return error;
}

/* The address that the datagram is for goes to the scratch area. */
CW_EXPORT(server_transmit)
size_t server_transmit(struct server *server, uint8_t *out, size_t capacity, double now)
{
    static char host[CW_ADDRESS_TEXT_SIZE];
    struct cw_address to;
    const size_t size = cw_server_transmit(server->server, out, capacity, now, &to);
    if (size == 0)
        return 0;
    cw_scratch.server_destination = (struct cw_server_destination){.port = to.port};
    to.port = 0;
    cw_scratch.server_destination.host = cw_place(cw_address_format(&to, host));
    return size;
}

CW_EXPORT(server_update)
void server_update(struct server *server, double unix_offset_seconds, double now)
{
    cw_server_set_unix_offset(server->server, unix_offset_seconds);
    cw_server_update(server->server, now);
}

/* Returns the type of the next event while some client's CONNECTED or DISCONNECTED event is still
   to be taken, and 0 otherwise; then connection_next gives the events of each connection. The
   events of what a client has sent come before its DISCONNECTED event. The rest of the event goes
   to the scratch area. */
CW_EXPORT(server_next) uint32_t server_next(struct server *server)
{
    struct cw_server_stats stats;
    struct cw_server_event event;
    cw_server_stats(server->server, &stats);
    const uint64_t changes = 2 * stats.connections - stats.clients;
    if (server->changes_taken == changes || !cw_server_next(server->server, &event))
        return 0;
    if (event.type == CW_SERVER_EVENT_CONNECTED || event.type == CW_SERVER_EVENT_DISCONNECTED)
        server->changes_taken++;
    const struct cw_connection_event of_connection = {
        .message = event.message, .channel = event.channel, .receipt = event.receipt};
    cw_scratch.server_news = (struct cw_server_news){
        .connection = cw_tell_connection(&of_connection),
        .client = event.client,
        .reason = event.reason,
    };
    return event.type;
}

CW_EXPORT(server_connection)
struct cw_connection *server_connection(struct server *server, uint32_t client)
{
    return cw_server_connection(server->server, client);
}

/* Puts what is known of the client in a slot into the scratch area; false when there is no such
   client. */
CW_EXPORT(server_client) bool server_client(const struct server *server, uint32_t client)
{
    static char address[CW_ADDRESS_TEXT_SIZE];
    struct cw_server_client about;
    if (!cw_server_client(server->server, client, &about))
        return false;
    cw_scratch.server_about = (struct cw_server_about){
        .id = about.id,
        .address = cw_place(cw_address_format(&about.address, address)),
        .user_data = cw_place(about.user_data),
        .datagrams_refused = (double)about.datagrams_refused,
    };
    return true;
}

/* The message and its struct go to the scratch area. */
CW_EXPORT(server_create_message)
enum cw_error server_create_message(struct server *server, uint32_t type)
{
    struct cw_message *message = NULL;
    const enum cw_error error = cw_server_create_message(server->server, type, &message);
    cw_scratch.created_message = (struct cw_created_message){
        .message = cw_place(message),
        .data = message ? cw_place(message->data) : 0,
    };
    return error;
}

CW_EXPORT(server_broadcast)
enum cw_error server_broadcast(struct server *server, uint32_t channel, struct cw_message *message,
                               uint32_t except, double now)
{
    return cw_server_broadcast(server->server, channel, message, except, now);
}

CW_EXPORT(server_broadcast_to)
enum cw_error server_broadcast_to(struct server *server, uint32_t channel,
                                  struct cw_message *message, const uint32_t *clients,
                                  uint32_t count, double now)
{
    return cw_server_broadcast_to(server->server, channel, message, clients, count, now);
}

CW_EXPORT(server_broadcast_refused)
bool server_broadcast_refused(const struct server *server, uint32_t client)
{
    return cw_server_broadcast_refused(server->server, client);
}

/* Ends the connection when everything that was sent before has arrived, or after flush_seconds. */
CW_EXPORT(server_flush_and_disconnect)
void server_flush_and_disconnect(struct server *server, uint32_t client, uint32_t code,
                                 const char *text, double flush_seconds, double now)
{
    cw_server_flush_and_disconnect(server->server, client, code, text, flush_seconds, now);
}

CW_EXPORT(server_disconnect_all) void server_disconnect_all(struct server *server)
{
    cw_server_disconnect_all(server->server);
}

/* The struct goes to the scratch area unchanged. */
CW_EXPORT(server_stats) void server_stats(const struct server *server)
{
    cw_server_stats(server->server, &cw_scratch.server_stats);
}

/* Returns the number of received datagrams that were dropped because of this error. */
CW_EXPORT(server_dropped)
double server_dropped(const struct server *server, enum cw_error error)
{
    return (double)cw_server_dropped(server->server, error);
}
