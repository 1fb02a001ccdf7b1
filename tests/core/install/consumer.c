/* A program as a user of the installed library writes it. */
#include <causeway/causeway.h>
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>

#include <stdio.h>

int main(void)
{
    struct cw_endpoint *endpoint;
    struct cw_socket *socket;
    const struct cw_endpoint_config endpoint_config = cw_endpoint_config_default();
    const struct cw_socket_config socket_config = cw_socket_config_default();
    if (cw_endpoint_create(&endpoint_config, &endpoint) != CW_OK ||
        cw_socket_open(&socket_config, &socket) != CW_OK)
        return 1;
    printf("%zu bytes at %f\n", cw_endpoint_memory(&endpoint_config), cw_clock_now());
    cw_socket_close(socket);
    cw_endpoint_destroy(endpoint);
    /* A token needs libsodium. */
    struct cw_address server;
    uint8_t token[CW_TOKEN_SIZE];
    struct cw_token_grant grant = cw_token_grant_default();
    grant.addresses = &server;
    grant.address_count = 1;
    return cw_address_parse("127.0.0.1:40000", &server) || cw_token_insecure(&grant, token);
}
