/* Messages and configs of the vectors as our own, and a sender brought to the point where a given
   packet is the next that it sends. */
#ifndef CAUSEWAY_TESTS_VECTOR_MESSAGES_H
#define CAUSEWAY_TESTS_VECTOR_MESSAGES_H

#include "connections.h"
#include "stream_fields.h"
#include "vectors.h"

#define VECTOR_FIELDS 4
#define VECTOR_TYPES  8

/* True when bodies go by functions of the messages' own, which call those of a stream one by one,
   and not by tables of fields. */
static bool vector_by_hand;

/* The tables that the functions go by: those of the config that was asked for last. */
static struct cw_schema *vector_tables;

#define VECTOR_FUNCTION(number)                                                                    \
    static bool vector_function_##number(struct cw_stream *stream, void *message)                  \
    {                                                                                              \
        return stream_fields(stream, cw_schema_type(vector_tables, number), message);              \
    }
VECTOR_FUNCTION(0)
VECTOR_FUNCTION(1)
VECTOR_FUNCTION(2)
VECTOR_FUNCTION(3)
VECTOR_FUNCTION(4)
VECTOR_FUNCTION(5)
VECTOR_FUNCTION(6)
VECTOR_FUNCTION(7)
static cw_serialize *const vector_functions[VECTOR_TYPES] = {
    vector_function_0, vector_function_1, vector_function_2, vector_function_3,
    vector_function_4, vector_function_5, vector_function_6, vector_function_7};

static inline const struct cw_message_type *vector_type(const struct cw_message *message)
{
    return cw_schema_type(vector_tables, message->type);
}

static inline const cJSON *find_named(const cJSON *list, const char *name)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(cJSON_GetStringValue(vectors_get(item, "name")), name) == 0)
            return item;
    }
    fail_msg("no config %s", name);
    return NULL;
}

/* Returns a field for the operations of a body from *op on; an int and as many bytes are one
   field. */
static inline struct cw_field vector_field(const cJSON **op)
{
    const cJSON *const first = *op;
    const char *kind = cJSON_GetStringValue(vectors_get(first, "op"));
    const long max = vectors_int(first, "max");
    struct cw_field field = {.name = "field"};
    *op = first->next;
    if (strcmp(kind, "bits") == 0) {
        field.kind = CW_KIND_UINT;
        field.max = UINT32_MAX >> (32 - vectors_int(first, "bits"));
    } else if (strcmp(kind, "bool") == 0) {
        field.kind = CW_KIND_BOOL;
    } else if (strcmp(kind, "float") == 0) {
        field.kind = CW_KIND_FLOAT;
    } else if (strcmp(kind, "string") == 0) {
        field.kind = CW_KIND_STRING;
        field.max = (uint64_t)vectors_int(first, "buffer_size") - 1;
    } else {
        assert_string_equal(kind, "int");
        const cJSON *next = first->next;
        const bool bytes =
            next && strcmp(cJSON_GetStringValue(vectors_get(next, "op")), "bytes") == 0;
        field.kind = bytes ? CW_KIND_BYTES : CW_KIND_INT;
        field.min = (uint64_t)(int64_t)vectors_int(first, "min");
        field.max = (uint64_t)(int64_t)max;
        if (bytes)
            *op = next->next;
    }
    return field;
}

static inline struct cw_schema *vector_schema(const cJSON *types)
{
    static struct cw_field fields[VECTOR_TYPES][VECTOR_FIELDS];
    struct cw_message_type table[VECTOR_TYPES];
    uint32_t count = 0;
    const cJSON *type;
    cJSON_ArrayForEach(type, types)
    {
        uint32_t field_count = 0;
        for (const cJSON *op = vectors_get(type, "body")->child; op;)
            fields[count][field_count++] = vector_field(&op);
        table[count] = (struct cw_message_type){.name = "type",
                                                .fields = fields[count],
                                                .field_count = field_count,
                                                .block = cJSON_IsTrue(vectors_get(type, "block"))};
        count++;
    }
    const struct cw_schema_config config = {.types = table, .count = count};
    vector_tables = schema_with(&config);
    for (uint32_t i = 0; vector_by_hand && i < count; i++)
        table[i] = (struct cw_message_type){.name = "type",
                                            .size = cw_schema_type(vector_tables, i)->size,
                                            .serialize = vector_functions[i],
                                            .block = table[i].block};
    return schema_with(&config);
}

static inline struct cw_connection_config vector_config(const cJSON *file, const char *name)
{
    const cJSON *from = find_named(vectors_get(file, "configs"), name);
    const cJSON *reliable = vectors_get(from, "reliable");
    struct cw_schema *schema =
        vector_schema(vectors_get(vectors_get(file, "message_types"),
                                  cJSON_GetStringValue(vectors_get(from, "message_types"))));
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channel_count = (uint32_t)vectors_int(from, "num_channels");
    config.max_messages = 4096;
    config.max_packets_per_update = 1;
    config.idle_interval_seconds = 0; /* the reference sends a packet in every round */
    config.congestion.mode = CW_CONGESTION_NONE;
    config.endpoint.max_packet_size = (uint32_t)vectors_int(reliable, "max_packet_size");
    config.endpoint.fragment_above = (uint32_t)vectors_int(reliable, "fragment_above");
    config.endpoint.fragment_size = (uint32_t)vectors_int(reliable, "fragment_size");
    for (uint32_t i = 0; i < config.channel_count; i++) {
        const cJSON *item = cJSON_GetArrayItem(vectors_get(from, "channels"), (int)i);
        struct cw_channel_config *channel = &config.channels[i];
        const long budget = vectors_int(item, "packet_budget");
        const char *type = cJSON_GetStringValue(vectors_get(item, "type"));
        channel->kind = strcmp(type, "reliable_ordered") == 0 ? CW_CHANNEL_RELIABLE_ORDERED
                                                              : CW_CHANNEL_UNRELIABLE;
        channel->max_messages_per_packet = (uint32_t)vectors_int(item, "max_messages_per_packet");
        channel->send_queue_size = (uint32_t)vectors_int(item, "message_send_queue_size");
        channel->receive_queue_size = (uint32_t)vectors_int(item, "message_receive_queue_size");
        channel->blocks = !cJSON_IsTrue(vectors_get(item, "disable_blocks"));
        channel->max_block_size = (uint32_t)vectors_int(item, "max_block_size");
        channel->block_fragment_size = (uint32_t)vectors_int(item, "block_fragment_size");
        channel->packet_budget = budget > 0 ? (uint32_t)budget : CW_AUTO;
    }
    return config;
}

/* Fills the struct of a message from the values of a body. */
static inline void vector_fill(const struct cw_message_type *type, void *data, const cJSON *body)
{
    const cJSON *op = body->child;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct cw_field *field = &type->fields[i];
        uint8_t *member = (uint8_t *)data + field->offset;
        const cJSON *value = vectors_get(op, "value");
        const char *digits = cJSON_GetStringValue(value);
        const int64_t number = digits                  ? strtoll(digits, NULL, 10)
                               : cJSON_IsNumber(value) ? (int64_t)cJSON_GetNumberValue(value)
                                                       : cJSON_IsTrue(value);
        uint32_t bits = (uint32_t)number;
        if (field->kind == CW_KIND_BYTES) {
            size_t size;
            uint8_t *bytes = vectors_bytes(vectors_get(op->next, "hex"), &size);
            bits = (uint32_t)size;
            memcpy(member, &bits, 4);
            memcpy(member + 4, bytes, size);
            free(bytes);
            op = op->next;
        } else if (field->kind == CW_KIND_BOOL) {
            *member = bits == 1;
        } else if (field->kind == CW_KIND_STRING) {
            strcpy((char *)member, digits);
        } else {
            if (field->kind == CW_KIND_FLOAT)
                bits = (uint32_t)strtoul(cJSON_GetStringValue(vectors_get(op, "hex")), NULL, 16);
            memcpy(member, &bits, 4);
        }
        op = op->next;
    }
}

static inline void check_vector_message(const struct cw_message *message, const cJSON *expected)
{
    const struct cw_message_type *type = vector_type(message);
    uint8_t *data = calloc(1, type->size + 1u);
    size_t size = 0;
    uint8_t *block = vectors_bytes(vectors_get(expected, "block"), &size);
    assert_int_equal(message->type, vectors_int(expected, "type"));
    if (vectors_get(expected, "id"))
        assert_int_equal(message->id, vectors_int(expected, "id"));
    vector_fill(type, data, vectors_get(expected, "body"));
    assert_memory_equal(message->data, data, type->size);
    assert_int_equal(message->block_size, size);
    if (size > 0)
        assert_memory_equal(message->block, block, size);
    free(block);
    free(data);
}

static inline void free_block(void *context, uint8_t *block, size_t size)
{
    (void)context, (void)size;
    free(block);
}

static inline void send_vector_message(struct cw_connection *from, const cJSON *item, double now)
{
    struct cw_message *message;
    assert_int_equal(
        cw_connection_create_message(from, (uint32_t)vectors_int(item, "type"), &message), CW_OK);
    const struct cw_message_type *type = vector_type(message);
    vector_fill(type, message->data, vectors_get(item, "body"));
    if (vectors_get(item, "block")) {
        size_t size;
        uint8_t *block = vectors_bytes(vectors_get(item, "block"), &size);
        cw_message_attach(message, block, (uint32_t)size, free_block, NULL);
    }
    const uint32_t channel = (uint32_t)vectors_int(item, "channel");
    assert_int_equal(cw_connection_send(from, channel, message, now), CW_OK);
}

/* Sends a message of the first type, all zero. */
static inline void send_filler(struct cw_connection *from, uint32_t channel)
{
    static uint8_t byte;
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(from, 0, &message), CW_OK);
    if (vector_type(message)->block)
        cw_message_attach(message, &byte, 1, NULL, NULL);
    assert_int_equal(cw_connection_send(from, channel, message, 0), CW_OK);
}

/* Sends and acks all messages before the id. The time stands still here and below, so that no lost
   message is due again. */
static inline void bring_before(struct cw_connection *from, struct cw_connection *to,
                                uint32_t channel, long id)
{
    for (long next = 0; next < id;) {
        for (long batch = 0; batch < 60 && next < id; batch++, next++)
            send_filler(from, channel);
        while (channel_of(from, channel).queued + channel_of(from, channel).in_flight > 0) {
            round_of(from, to, 0);
            drain(to);
            round_of(to, from, 0);
        }
    }
}

static inline void send_all(struct cw_connection *from, struct cw_connection *to, uint32_t channel)
{
    while (channel_of(from, channel).queued > 0)
        round_of(from, to, 0);
}

/* Sends the messages from the first to the last of the items: the items go in packets that get
   lost, the others in packets that arrive. No ack comes back yet. */
static inline void bring_to_messages(struct cw_connection *from, struct cw_connection *to,
                                     uint32_t channel, const cJSON *items, const cJSON *messages)
{
    uint16_t next = (uint16_t)vectors_int(items->child, "id");
    for (const cJSON *item = items->child; item;) {
        bool fillers = false;
        for (; next != (uint16_t)vectors_int(item, "id"); next++, fillers = true)
            send_filler(from, channel);
        if (fillers)
            send_all(from, to, channel);
        for (; item && next == (uint16_t)vectors_int(item, "id"); next++, item = item->next)
            send_vector_message(from,
                                cJSON_GetArrayItem(messages, (int)vectors_int(item, "message")), 0);
        send_all(from, NULL, channel);
    }
}

/* Sends the fragments of a block up to this one, which gets lost, likewise. */
static inline void bring_to_fragment(struct cw_connection *from, struct cw_connection *to,
                                     uint32_t channel, const cJSON *fragment, const cJSON *messages)
{
    (void)channel;
    send_vector_message(from, cJSON_GetArrayItem(messages, (int)vectors_int(fragment, "message")),
                        0);
    for (long i = vectors_int(fragment, "fragment_id"); i >= 0; i--)
        round_of(from, i > 0 ? to : NULL, 0);
}

#endif
