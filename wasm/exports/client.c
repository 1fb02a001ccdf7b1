#include "causeway/client.h"
#include "causeway/secure_packet.h"
#include "exports/exports.h"

/* The addresses of what this has made go to the scratch area. Without a schema there is no
   connection: the client carries the caller's own payloads. */
CW_EXPORT(client_create)
enum cw_error client_create(const struct cw_schema *schema,
                            const struct cw_connection_numbers *numbers, uint32_t channel_count)
{
    struct cw_connection_config connection;
    struct cw_client_config config = cw_client_config_default();
    if (schema) {
        connection = cw_make_connection_config(schema, numbers, channel_count);
        config.connection = &connection;
    }
    struct cw_client *client = NULL;
    const enum cw_error error = cw_client_create(&config, &client);
    if (error)
        return error;
    struct cw_connection *made = cw_client_connection(client);
    const size_t payload = made ? cw_connection_max_datagram_size(made) : CW_PAYLOAD_MAX;
    const size_t datagram = payload + CW_SECURE_OVERHEAD;
    cw_scratch.created = (struct cw_created){
        .object = cw_place(client),
        .connection = cw_place(made),
        .max_datagram_size = (uint32_t)(datagram > CW_REQUEST_SIZE ? datagram : CW_REQUEST_SIZE),
    };
    return CW_OK;
}

CW_EXPORT(client_destroy) void client_destroy(struct cw_client *client)
{
    cw_client_destroy(client);
}

CW_EXPORT(client_connect)
enum cw_error client_connect(struct cw_client *client, const uint8_t *token, size_t size,
                             double now)
{
    return cw_client_connect(client, token, size, now);
}

CW_EXPORT(client_receive)
enum cw_error client_receive(struct cw_client *client, const uint8_t *data, size_t size, double now)
{
    return cw_client_receive(client, NULL, data, size, now);
}

CW_EXPORT(client_transmit)
size_t client_transmit(struct cw_client *client, uint8_t *out, size_t capacity, double now)
{
    return cw_client_transmit(client, out, capacity, now, NULL);
}

CW_EXPORT(client_update) void client_update(struct cw_client *client, double now)
{
    cw_client_update(client, now);
}

CW_EXPORT(client_move) enum cw_error client_move(struct cw_client *client, double now)
{
    return cw_client_move(client, now);
}

CW_EXPORT(client_try_server)
enum cw_error client_try_server(struct cw_client *client, uint32_t index, double now)
{
    return cw_client_try_server(client, index, now);
}

CW_EXPORT(client_server_index) uint32_t client_server_index(const struct cw_client *client)
{
    return cw_client_server_index(client);
}

CW_EXPORT(client_disconnect) void client_disconnect(struct cw_client *client)
{
    cw_client_disconnect(client);
}

CW_EXPORT(client_send)
enum cw_error client_send(struct cw_client *client, const uint8_t *payload, size_t size)
{
    return cw_client_send(client, payload, size);
}

/* Takes the events up to the next payload and returns its size, 0 when there is none. The payload's
   address goes to the scratch area. */
CW_EXPORT(client_next_payload) size_t client_next_payload(struct cw_client *client)
{
    struct cw_client_event event;
    while (cw_client_next(client, &event)) {
        if (event.type == CW_CLIENT_EVENT_PAYLOAD) {
            cw_scratch.number = cw_place(event.payload);
            return event.size;
        }
    }
    return 0;
}

/* Returns the state. The slot and the number of slots go to the scratch area. */
CW_EXPORT(client_state) enum cw_client_state client_state(const struct cw_client *client)
{
    cw_scratch.client_slot = (struct cw_client_slot){
        .index = cw_client_index(client),
        .count = cw_client_max_clients(client),
    };
    return cw_client_state(client);
}

/* The code and the address of the text go to the scratch area. */
CW_EXPORT(client_farewell) void client_farewell(const struct cw_client *client)
{
    const struct cw_farewell *farewell = cw_client_farewell(client);
    cw_scratch.client_farewell = (struct cw_client_farewell){
        .code = farewell->code,
        .text = cw_place(farewell->text),
    };
}

CW_EXPORT(client_state_string) const char *client_state_string(enum cw_client_state state)
{
    return cw_client_state_string(state);
}

/* The struct goes to the scratch area unchanged. */
CW_EXPORT(client_stats) void client_stats(const struct cw_client *client)
{
    cw_client_stats(client, &cw_scratch.client_stats);
}

/* Returns the number of received datagrams that were dropped because of this error. */
CW_EXPORT(client_dropped)
double client_dropped(const struct cw_client *client, enum cw_error error)
{
    return (double)cw_client_dropped(client, error);
}
