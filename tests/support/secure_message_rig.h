/* The secure rig with a server and clients whose payloads are messages. */
#ifndef CAUSEWAY_TESTS_SECURE_MESSAGE_RIG_H
#define CAUSEWAY_TESTS_SECURE_MESSAGE_RIG_H

#define RIG_MESSAGES
#include "secure_rig.h"

#define NOTE_FIELDS(FIELD)                                                                         \
    FIELD(number, CW_UINT(0, 1000000))                                                             \
    FIELD(from, CW_INT(-1, 63))
CW_MESSAGE(note, NOTE_FIELDS)

#define OTHER_FIELDS(FIELD)                                                                        \
    FIELD(number, CW_UINT(0, 1000001))                                                             \
    FIELD(from, CW_INT(-1, 63))
CW_MESSAGE(other, OTHER_FIELDS)

#define RELIABLE   0
#define UNRELIABLE 1

struct message_rig {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
};

static inline struct cw_schema *make_schema(const struct cw_message_type *type)
{
    const struct cw_schema_config config = {.types = type, .count = 1};
    return schema_with(&config);
}

static inline void message_rig_start(struct message_rig *messages, uint32_t max_clients)
{
    messages->schema = make_schema(&note_type);
    messages->connection = cw_connection_config_default(messages->schema);
    rig_init(&messages->rig);
    messages->rig.config.max_clients = max_clients;
    messages->rig.connection = &messages->connection;
    rig_start(&messages->rig);
}

/* Returns a client with messages, connecting with a token that names its fingerprint. */
static inline struct cw_client *message_rig_client(struct message_rig *messages, uint64_t id,
                                                   const struct cw_connection_config *connection)
{
    struct cw_client_config config = cw_client_config_default();
    config.connection = connection;
    struct cw_token_grant grant = rig_grant(&messages->rig, id);
    grant.fingerprint = cw_connection_fingerprint(connection);
    return rig_client_of(&messages->rig, &config, &grant);
}

static inline void send_note(struct cw_connection *connection, uint32_t channel, uint32_t number,
                             int32_t from, double now)
{
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(connection, 0, &message), CW_OK);
    *(struct note *)message->data = (struct note){.number = number, .from = from};
    if (cw_connection_send(connection, channel, message, now) != CW_OK)
        cw_message_release(message);
}

static inline struct note take_note(struct cw_message *message)
{
    const struct note note = *(const struct note *)message->data;
    cw_message_release(message);
    return note;
}

#endif
