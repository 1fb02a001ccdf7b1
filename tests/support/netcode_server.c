/* A native server whose payloads come from the program that drives it.
     netcode_server ADDRESS:PORT PROTOCOL_ID SLOTS      the key is in CAUSEWAY_KEY
   It takes the lines "send SLOT HEX" and "disconnect SLOT", ends with its input, and says
     listening ADDRESS
     connected SLOT CLIENT_ID USER_DATA
     payload SLOT HEX
     disconnected SLOT REASON        the number of its cw_disconnect_reason
     dropped WHY                     a datagram */
#include "causeway/netcode_server.h"
#include "causeway/native/clock.h"
#include "netcode_lines.h"

#include <inttypes.h>
#include <time.h>

static struct cw_netcode_server *create_server(const struct cw_address *address, char **arguments)
{
    struct cw_netcode_server_config config = cw_netcode_server_config_default();
    config.addresses = address;
    config.address_count = 1;
    config.protocol_id = strtoull(arguments[0], NULL, 10);
    config.max_clients = (uint32_t)strtoul(arguments[1], NULL, 10);
    config.unix_offset_seconds = (double)time(NULL) - cw_clock_now();
    config.max_token_life_seconds = 0; /* the key is new at every start */
    const char *key = getenv("CAUSEWAY_KEY");
    check(key && bytes_from_hex(config.private_key, CW_KEY_BYTES, key) == CW_KEY_BYTES,
          "CAUSEWAY_KEY holds no key");
    struct cw_netcode_server *server = NULL;
    const enum cw_error error = cw_netcode_server_create(&config, &server);
    check(error == CW_OK, cw_error_string(error));
    return server;
}

static void transmit(struct cw_netcode_server *server, struct cw_socket *socket)
{
    struct cw_address to;
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_netcode_server_transmit(server, data, sizeof data, cw_clock_now(), &to)) > 0)
        cw_socket_send(socket, &to, data, size);
}

static void obey(struct cw_netcode_server *server, const char *line)
{
    uint8_t payload[CW_PAYLOAD_MAX];
    uint32_t slot;
    int digits = 0;
    if (sscanf(line, "send %" SCNu32 " %n", &slot, &digits) == 1 && digits) {
        const size_t size = bytes_from_hex(payload, sizeof payload, line + digits);
        const enum cw_error error = cw_netcode_server_send(server, slot, payload, size);
        check(error == CW_OK, cw_error_string(error));
    } else {
        check(sscanf(line, "disconnect %" SCNu32, &slot) == 1, "an unknown line");
        cw_netcode_server_disconnect(server, slot, 0, NULL);
    }
}

static void tell(struct cw_netcode_server *server)
{
    struct cw_netcode_server_event event;
    struct cw_server_client_info about;
    while (cw_netcode_server_next(server, &event)) {
        if (event.type == CW_NETCODE_SERVER_EVENT_CONNECTED) {
            check(cw_netcode_server_client(server, event.client, &about), "no client in the slot");
            printf("connected %" PRIu32 " %" PRIu64, event.client, about.id);
            print_hex_line(about.user_data, CW_USER_DATA_SIZE);
        } else if (event.type == CW_NETCODE_SERVER_EVENT_PAYLOAD) {
            printf("payload %" PRIu32, event.client);
            print_hex_line(event.payload, event.size);
        } else if (event.type == CW_NETCODE_SERVER_EVENT_DISCONNECTED) {
            printf("disconnected %" PRIu32 " %d\n", event.client, (int)event.reason);
        }
    }
}

static void receive(struct cw_netcode_server *server, struct cw_socket *socket)
{
    struct cw_address from;
    uint8_t data[2 * CW_SECURE_MAX];
    size_t size;
    while ((size = cw_socket_receive(socket, data, sizeof data, &from)) > 0) {
        const enum cw_error error =
            cw_netcode_server_receive(server, &from, data, size, cw_clock_now());
        if (error != CW_OK)
            printf("dropped %s\n", cw_error_string(error));
        tell(server);
        transmit(server, socket);
    }
}

int main(int argc, char **argv)
{
    check(argc == 4, "netcode_server ADDRESS:PORT PROTOCOL_ID SLOTS");
    lines_begin();
    struct cw_socket *socket = open_socket(argv[1]);
    struct cw_address address;
    cw_socket_address(socket, &address);
    struct cw_netcode_server *server = create_server(&address, argv + 2);
    char text[CW_ADDRESS_TEXT_SIZE];
    printf("listening %s\n", cw_address_format(&address, text));

    char line[LINE_SIZE];
    for (enum line got; (got = lines_wait(socket, line)) != LINE_END;) {
        receive(server, socket);
        if (got == LINE_ONE)
            obey(server, line);
        transmit(server, socket);
        cw_netcode_server_update(server, cw_clock_now());
        tell(server);
        transmit(server, socket);
    }
    cw_netcode_server_disconnect_all(server);
    transmit(server, socket);
    cw_netcode_server_destroy(server);
    cw_socket_close(socket);
    return 0;
}
