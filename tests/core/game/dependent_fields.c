/* The game kit sends differences and reads fields alone, so it refuses types with fields that
   depend on others. */
#include "causeway/input.h"
#include "causeway/prediction.h"
#include "causeway/snapshot.h"

#include "config_error.h"
#include "fixture.h"
#include "owned.h"

#define PLAIN_FIELDS(FIELD)                                                                        \
    FIELD(a, CW_BITS(8))                                                                           \
    FIELD(b, CW_ARRAY(CW_BITS(8), 4))
#define COUNTED_FIELDS(FIELD)                                                                      \
    FIELD(a, CW_BITS(8))                                                                           \
    FIELD(b, CW_REPEAT(a & 3, CW_BITS(8), 4))
#define ALIGNED_FIELDS(FIELD)                                                                      \
    FIELD(a, CW_BITS(8))                                                                           \
    FIELD(b, CW_ARRAY(CW_BITS(8), 4))                                                              \
    FIELD(gap, CW_ALIGN)
#define RELATIVE_FIELDS(FIELD)                                                                     \
    FIELD(a, CW_BITS(8))                                                                           \
    FIELD(b, CW_ARRAY(CW_RELATIVE(a), 4))
#define LEAST_FIELDS(FIELD)                                                                        \
    FIELD(a, CW_BITS(8))                                                                           \
    FIELD(b, CW_ARRAY_FROM(CW_BITS(8), 1, 4))
CW_MESSAGE(plain, PLAIN_FIELDS)
CW_MESSAGE(counted, COUNTED_FIELDS)
CW_MESSAGE(aligned, ALIGNED_FIELDS)
CW_MESSAGE(relative, RELATIVE_FIELDS)
CW_MESSAGE(least, LEAST_FIELDS)
#define NESTED_FIELDS(FIELD) FIELD(one, CW_STRUCT(counted))
CW_MESSAGE(nested, NESTED_FIELDS)

static const struct cw_message_type *const dependent[] = {
    &counted_type, &aligned_type, &relative_type, &least_type, &nested_type};
#define DEPENDENT (sizeof dependent / sizeof dependent[0])

static const struct cw_schema *plain_and(const struct cw_message_type *other)
{
    const struct cw_message_type types[] = {plain_type, *other};
    return schema_with(&(struct cw_schema_config){.types = types, .count = 2});
}

TEST(test_inputs_cannot_depend_on_one_another)
{
    struct cw_input_sender *sender;
    struct cw_input_receiver *receiver;
    for (size_t i = 0; i < DEPENDENT; i++) {
        struct cw_input_config config = cw_input_config_default(plain_and(dependent[i]));
        assert_true(cw_input_sender_memory(&config) > 0);
        config.type = 1;
        assert_error_names(cw_input_sender_create(&config, &sender), "type");
        assert_error_names(cw_input_receiver_create(&config, &receiver), "type");
    }
}

TEST(test_predicted_states_cannot)
{
    struct cw_prediction *prediction;
    for (size_t i = 0; i < DEPENDENT; i++) {
        struct cw_prediction_config config = cw_prediction_config_default(plain_and(dependent[i]));
        assert_error_names(cw_prediction_create(&config, &prediction), "state_type");
        config.state_type = 0;
        assert_true(cw_prediction_memory(&config) > 0);
    }
}

/* The server of the second half has a plain type where the client has one that depends. */
TEST(test_entities_cannot)
{
    for (size_t i = 0; i < DEPENDENT; i++) {
        struct cw_snapshot_server *server;
        struct cw_snapshot_client *client;
        union {
            struct plain plain;
            uint8_t bytes[sizeof(struct nested) + sizeof(struct plain)];
        } entity = {.plain = {.a = 1}};
        uint8_t data[256];
        uint32_t number;
        struct cw_snapshot_config config = cw_snapshot_config_default(plain_and(dependent[i]));
        assert_int_equal(cw_snapshot_server_create(&config, &server), CW_OK);
        assert_int_equal(cw_snapshot_server_set(server, 1, 1, &entity), CW_ERROR_MESSAGE_TYPE);
        assert_int_equal(cw_snapshot_server_set(server, 1, 0, &entity), CW_OK);
        cw_snapshot_server_destroy(server);
        assert_int_equal(cw_snapshot_client_create(&config, &client), CW_OK);

        config.schema = plain_and(&plain_type);
        assert_int_equal(cw_snapshot_server_create(&config, &server), CW_OK);
        assert_int_equal(cw_snapshot_server_set(server, 1, 1, &entity), CW_OK);
        assert_int_equal(cw_snapshot_server_tick(server, 1), CW_OK);
        assert_int_equal(cw_snapshot_server_join(server, 0), CW_OK);
        const size_t size = cw_snapshot_server_transmit(server, 0, data, sizeof data, &number);
        assert_true(size > 0);
        assert_int_equal(cw_snapshot_client_receive(client, data, size), CW_ERROR_MALFORMED);
        assert_null(cw_snapshot_client_state(client, 1, NULL));
        cw_snapshot_client_destroy(client);
        cw_snapshot_server_destroy(server);
    }
}
