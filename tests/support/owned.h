/* Objects that the running test owns: X_with(&config) creates one, which must succeed. */
#ifndef CAUSEWAY_TESTS_OWNED_H
#define CAUSEWAY_TESTS_OWNED_H

#include "causeway/causeway.h"
#include "fixture.h"

#define OWNED(X, CONFIG)                                                                           \
    static inline void X##_end(void *object)                                                       \
    {                                                                                              \
        cw_##X##_destroy(object);                                                                  \
    }                                                                                              \
    static inline struct cw_##X *X##_with(const struct cw_##CONFIG##_config *config)               \
    {                                                                                              \
        struct cw_##X *object = NULL;                                                              \
        assert_ok(cw_##X##_create(config, &object));                                               \
        assert_non_null(object);                                                                   \
        return own(object, X##_end);                                                               \
    }

OWNED(client, client)
OWNED(connection, connection)
OWNED(endpoint, endpoint)
OWNED(history, history)
OWNED(input_receiver, input)
OWNED(input_sender, input)
OWNED(interpolation, interpolation)
OWNED(netcode_client, netcode_client)
OWNED(netcode_server, netcode_server)
OWNED(prediction, prediction)
OWNED(record, record)
OWNED(schema, schema)
OWNED(server, server)
OWNED(simulator, simulator)
OWNED(snapshot_server, snapshot)

#endif
