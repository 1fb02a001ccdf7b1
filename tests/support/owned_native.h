/* Hosts and sockets that the running test owns. */
#ifndef CAUSEWAY_TESTS_OWNED_NATIVE_H
#define CAUSEWAY_TESTS_OWNED_NATIVE_H

#include "owned.h"

#include "causeway/native/client_host.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"

/* X_end closes an X, and X_with opens one from a config, X_at at an address. */
#define OWNED_CLOSE(X)                                                                             \
    static inline void X##_end(void *object)                                                       \
    {                                                                                              \
        cw_##X##_close(object);                                                                    \
    }

#define OWNED_WITH(X)                                                                              \
    OWNED_CLOSE(X)                                                                                 \
    static inline struct cw_##X *X##_with(const struct cw_##X##_config *config)                    \
    {                                                                                              \
        struct cw_##X *object = NULL;                                                              \
        assert_ok(cw_##X##_open(config, &object));                                                 \
        return own(object, X##_end);                                                               \
    }

#define OWNED_AT(X)                                                                                \
    OWNED_CLOSE(X)                                                                                 \
    static inline struct cw_##X *X##_at(const char *address, const struct cw_##X##_config *config) \
    {                                                                                              \
        struct cw_##X *object = NULL;                                                              \
        assert_ok(cw_##X##_open(address, config, &object));                                        \
        return own(object, X##_end);                                                               \
    }

OWNED_WITH(client_host)
OWNED_WITH(netcode_client_host)
OWNED_WITH(socket)
OWNED_AT(host)
OWNED_AT(netcode_host)

/* Opens a socket at any port of 127.0.0.1. */
static inline struct cw_socket *socket_on_loopback(void)
{
    struct cw_socket_config config = cw_socket_config_default();
    config.address = (struct cw_address){CW_ADDRESS_IPV4, 0, {127, 0, 0, 1}};
    return socket_with(&config);
}

#endif
