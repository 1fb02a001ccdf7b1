/* A native client whose payloads come from the program that drives it.
     netcode_client ADDRESS:PORT       where to send from
   It takes the lines "connect TOKEN", "send HEX" and "disconnect", ends with its input, and says
     connected INDEX MAX_CLIENTS
     payload HEX
     disconnected STATE              the number of its cw_netcode_client_state
     dropped WHY                     a datagram */
#include "causeway/netcode_client.h"
#include "causeway/native/clock.h"
#include "netcode_lines.h"

#include <inttypes.h>

static void transmit(struct cw_netcode_client *client, struct cw_socket *socket)
{
    struct cw_address to;
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_netcode_client_transmit(client, data, sizeof data, cw_clock_now(), &to)) > 0)
        cw_socket_send(socket, &to, data, size);
}

static void obey(struct cw_netcode_client *client, const char *line)
{
    uint8_t bytes[CW_TOKEN_SIZE];
    enum cw_error error = CW_OK;
    if (strncmp(line, "connect ", 8) == 0) {
        const size_t size = bytes_from_hex(bytes, sizeof bytes, line + 8);
        error = cw_netcode_client_connect(client, bytes, size, cw_clock_now());
    } else if (strncmp(line, "send ", 5) == 0) {
        error =
            cw_netcode_client_send(client, bytes, bytes_from_hex(bytes, sizeof bytes, line + 5));
    } else {
        check(strcmp(line, "disconnect\n") == 0, "an unknown line");
        cw_netcode_client_disconnect(client);
    }
    check(error == CW_OK, cw_error_string(error));
}

static void tell(struct cw_netcode_client *client)
{
    struct cw_netcode_client_event event;
    while (cw_netcode_client_next(client, &event)) {
        if (event.type == CW_NETCODE_CLIENT_EVENT_CONNECTED) {
            printf("connected %" PRIu32 " %" PRIu32 "\n", cw_netcode_client_index(client),
                   cw_netcode_client_max_clients(client));
        } else if (event.type == CW_NETCODE_CLIENT_EVENT_PAYLOAD) {
            printf("payload");
            print_hex_line(event.payload, event.size);
        } else if (event.type == CW_NETCODE_CLIENT_EVENT_DISCONNECTED) {
            printf("disconnected %d\n", (int)event.state);
        }
    }
}

static void receive(struct cw_netcode_client *client, struct cw_socket *socket)
{
    struct cw_address from;
    uint8_t data[2 * CW_SECURE_MAX];
    size_t size;
    while ((size = cw_socket_receive(socket, data, sizeof data, &from)) > 0) {
        const enum cw_error error =
            cw_netcode_client_receive(client, &from, data, size, cw_clock_now());
        if (error != CW_OK)
            printf("dropped %s\n", cw_error_string(error));
        tell(client);
    }
}

int main(int argc, char **argv)
{
    check(argc == 2, "netcode_client ADDRESS:PORT");
    lines_begin();
    struct cw_socket *socket = open_socket(argv[1]);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *client = NULL;
    const enum cw_error error = cw_netcode_client_create(&config, &client);
    check(error == CW_OK, cw_error_string(error));

    char line[LINE_SIZE];
    for (enum line got; (got = lines_wait(socket, line)) != LINE_END;) {
        receive(client, socket);
        if (got == LINE_ONE)
            obey(client, line);
        transmit(client, socket);
        cw_netcode_client_update(client, cw_clock_now());
        tell(client);
        transmit(client, socket);
    }
    cw_netcode_client_destroy(client);
    cw_socket_close(socket);
    return 0;
}
