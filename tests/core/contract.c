/* Tests of a rule that all modules keep: a call that fails leaves its results as they were. */
#include "causeway/causeway.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"
#include "message/message_pool.h"

#include "owned.h"

#include <string.h>

/* A result that is no object: a call that fails must leave it as it is. */
static int mark;
#define MARK ((void *)&mark)

static void *refuse(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

static const struct cw_allocator no_memory = {.allocate = refuse};

#define SAY_FIELDS(FIELD) FIELD(text, CW_STRING(16))
CW_MESSAGE(say, SAY_FIELDS)

static struct cw_schema *make_schema(void)
{
    return schema_with(&(struct cw_schema_config){.types = &say_type, .count = 1});
}

/* Calls create with a config that is refused, and with one for which there is no memory. */
#define LEAVES(create, bad, fine) LEAVES_WITHOUT(allocator, create, bad, fine)
#define LEAVES_WITHOUT(memory, create, bad, fine)                                                  \
    do {                                                                                           \
        void *result = MARK;                                                                       \
        assert_int_not_equal(create(&(bad), (void *)&result), CW_OK);                              \
        assert_ptr_equal(result, MARK);                                                            \
        (fine).memory = no_memory;                                                                 \
        assert_int_equal(create(&(fine), (void *)&result), CW_ERROR_NO_MEMORY);                    \
        assert_ptr_equal(result, MARK);                                                            \
    } while (0)

TEST(create_leaves_the_result)
{
    struct cw_schema *schema = make_schema();

    struct cw_endpoint_config endpoint = cw_endpoint_config_default(), bad_endpoint = endpoint;
    bad_endpoint.sent_window = 3;
    LEAVES(cw_endpoint_create, bad_endpoint, endpoint);

    struct cw_simulator_config simulator = cw_simulator_config_default(), bad_simulator = simulator;
    bad_simulator.path.loss = 2;
    LEAVES(cw_simulator_create, bad_simulator, simulator);

    struct cw_schema_config types = {.types = &say_type, .count = 1}, no_types = {.count = 1};
    LEAVES(cw_schema_create, no_types, types);

    struct cw_message_pool_config pool = cw_message_pool_config_default(), bad_pool = pool;
    pool.schema = schema;
    LEAVES(cw_message_pool_create, bad_pool, pool);

    struct cw_connection_config connection = cw_connection_config_default(schema);
    struct cw_connection_config bad_connection = connection;
    bad_connection.channel_count = 0;
    LEAVES(cw_connection_create, bad_connection, connection);

    struct cw_client_config client = cw_client_config_default(), bad_client = client;
    client.connection = &connection;
    bad_client.netcode.disconnect_packets = 0;
    LEAVES_WITHOUT(netcode.allocator, cw_client_create, bad_client, client);

    const struct cw_address address = {CW_ADDRESS_IPV4, 40000, {127, 0, 0, 1}};
    struct cw_server_config server = cw_server_config_default(), bad_server = server;
    server.connection = &connection;
    server.netcode.addresses = &address;
    server.netcode.address_count = 1;
    server.netcode.unix_offset_seconds = 0;
    server.netcode.private_key[0] = 1;
    LEAVES_WITHOUT(netcode.allocator, cw_server_create, bad_server, server);

    struct cw_socket_config socket = cw_socket_config_default(), bad_socket = socket;
    bad_socket.address = (struct cw_address){CW_ADDRESS_IPV6, 0, {0x20, 0x01, 0x0d, 0xb8}};
    LEAVES(cw_socket_open, bad_socket, socket);

    const struct cw_host_config bad_host = {.server = bad_server}, good_host = {.server = server};
    struct cw_host *host = MARK;
    assert_int_not_equal(cw_host_open("127.0.0.1:0", &bad_host, &host), CW_OK);
    assert_ptr_equal(host, MARK);
    assert_int_not_equal(cw_host_open("nowhere:x", &good_host, &host), CW_OK);
    assert_ptr_equal(host, MARK);
}

static void pool_end(void *pool)
{
    cw_message_pool_destroy(pool);
}

TEST(messages_and_schemas_leave_the_result)
{
    struct cw_schema *schema = make_schema(), *decoded = MARK;
    uint8_t data[256];
    const size_t size = cw_schema_encode(schema, data, sizeof data);
    assert_int_equal(cw_schema_decode(data, size - 1, NULL, &decoded), CW_ERROR_SCHEMA_BYTES);
    assert_int_equal(cw_schema_decode(data, size, &no_memory, &decoded), CW_ERROR_NO_MEMORY);
    assert_ptr_equal(decoded, MARK);

    struct cw_message_pool_config config = cw_message_pool_config_default();
    config.schema = schema;
    config.capacity = 1;
    struct cw_message_pool *pool;
    assert_ok(cw_message_pool_create(&config, &pool));
    own(pool, pool_end);
    struct cw_message *message, *none = MARK;
    assert_int_equal(cw_message_create(pool, 1, &none), CW_ERROR_MESSAGE_TYPE);
    assert_ok(cw_message_create(pool, 0, &message));
    assert_int_equal(cw_message_create(pool, 0, &none), CW_ERROR_POOL_EMPTY);
    assert_ptr_equal(none, MARK);
    size_t bits = 77;
    memset(message->data, 0xff, sizeof(struct say));
    assert_false(cw_message_measure(message, &bits));
    assert_int_equal(bits, 77);
    cw_message_release(message);
}

TEST(texts_leave_the_result)
{
    const struct cw_address before = {CW_ADDRESS_IPV6, 7, {1, 2, 3}};
    struct cw_address address = before;
    assert_int_equal(cw_address_parse("1.2.3.4:x", &address), CW_ERROR_ADDRESS);
    assert_int_equal(cw_resolve("[1.2.3.4", &address), CW_ERROR_ADDRESS);
    assert_int_equal(cw_resolve("nobody.invalid:1", &address), CW_ERROR_HOST);
    assert_memory_equal(&address, &before, sizeof before);
}
