/* A message of every kind of field is read within any bytes or not at all, and a message that was
   read is written, measured and read again the same. The first byte chooses between the table, a
   function by hand and the bytes of a schema. */
#include "causeway/schema.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define PART_FIELDS(FIELD)                                                                         \
    FIELD(level, CW_INT(-3, 9))                                                                    \
    FIELD(angle, CW_COMPRESSED_FLOAT(0, 16, 0.5f))                                                 \
    FIELD(words, CW_ARRAY(CW_STRING(4), 2))
CW_MESSAGE(part, PART_FIELDS)

#define GROUP_FIELDS(FIELD)                                                                        \
    FIELD(first, CW_STRUCT(part))                                                                  \
    FIELD(parts, CW_ARRAY(CW_STRUCT(part), 3))                                                     \
    FIELD(last, CW_OPTIONAL(CW_STRUCT(part)))
CW_MESSAGE(group, GROUP_FIELDS)

#define ALL_FIELDS(FIELD)                                                                          \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(small, CW_INT(-100, 100))                                                                \
    FIELD(byte, CW_BITS(8))                                                                        \
    FIELD(word, CW_BITS(32))                                                                       \
    FIELD(constant, CW_UINT(7, 7))                                                                 \
    FIELD(large, CW_INT_64(INT64_MIN, 0))                                                          \
    FIELD(unsigned_large, CW_UINT_64(1, UINT64_MAX))                                               \
    FIELD(real, CW_FLOAT)                                                                          \
    FIELD(real_64, CW_DOUBLE)                                                                      \
    FIELD(angle, CW_COMPRESSED_FLOAT(0, 256, 0.5f))                                                \
    FIELD(name, CW_STRING(12))                                                                     \
    FIELD(data, CW_BYTES(12))                                                                      \
    FIELD(maybe, CW_OPTIONAL(CW_INT(0, 9)))                                                        \
    FIELD(maybe_name, CW_OPTIONAL(CW_STRING(6)))                                                   \
    FIELD(path, CW_ARRAY(CW_INT(-100, 100), 5))                                                    \
    FIELD(names, CW_ARRAY(CW_STRING(4), 3))                                                        \
    FIELD(angles, CW_ARRAY(CW_COMPRESSED_FLOAT(-1, 1, 0.25f), 3))                                  \
    FIELD(group, CW_STRUCT(group))                                                                 \
    FIELD(groups, CW_ARRAY(CW_STRUCT(group), 2))                                                   \
    FIELD(maybe_group, CW_OPTIONAL(CW_STRUCT(group)))
CW_MESSAGE(all, ALL_FIELDS)

struct by_hand {
    uint32_t first, second;
    uint16_t sequence, next;
    uint64_t wide;
    float angle;
    bool named;
    char name[9];
    uint32_t size;
    uint8_t data[10];
};

CW_SERIALIZE(serialize_by_hand, struct by_hand, stream, message)
{
    uint32_t sequence = message->sequence;
    if (!cw_stream_bits(stream, &message->first, 17) ||
        !cw_stream_relative(stream, message->first, &message->second) ||
        !cw_stream_bits(stream, &sequence, 16))
        return false;
    message->sequence = (uint16_t)sequence;
    return cw_stream_relative_sequence(stream, message->sequence, &message->next) &&
           cw_stream_align(stream) && cw_stream_bits_64(stream, &message->wide, 47) &&
           cw_stream_compressed_float(stream, &message->angle, -16, 16, 0.25f) &&
           cw_stream_bool(stream, &message->named) &&
           (!message->named || cw_stream_string(stream, message->name, sizeof message->name)) &&
           cw_stream_count(stream, &message->size, sizeof message->data) &&
           cw_stream_bytes(stream, message->data, message->size);
}

static void fuzz_message(const struct cw_schema *schema, uint32_t type, const uint8_t *data,
                         size_t size)
{
    const size_t bytes = cw_schema_type(schema, type)->size;
    void *message = calloc(1, bytes), *again = calloc(1, bytes);
    struct cw_stream stream = cw_stream_reader(data, size);
    if (cw_schema_serialize(schema, type, &stream, message)) {
        expect(cw_schema_check(schema, type, message) == CW_FIELD_NONE);
        stream = cw_stream_measurer();
        expect(cw_schema_serialize(schema, type, &stream, message));
        const size_t bits = cw_stream_position(&stream), most = (bits + 7) / 8;
        uint8_t *written = malloc(most);
        stream = cw_stream_writer(written, most);
        expect(cw_schema_serialize(schema, type, &stream, message));
        expect(cw_stream_position(&stream) <= bits);
        stream = cw_stream_reader(written, cw_stream_flush(&stream));
        expect(cw_schema_serialize(schema, type, &stream, again));
        expect(memcmp(message, again, bytes) == 0);
        free(written);
    }
    free(message);
    free(again);
}

static void fuzz_schema(const uint8_t *data, size_t size)
{
    struct cw_schema *schema;
    if (cw_schema_decode(data, size, NULL, &schema) != CW_OK)
        return;
    uint8_t *encoded = malloc(size);
    expect(cw_schema_encode(schema, encoded, size) == size);
    expect(memcmp(encoded, data, size) == 0);
    free(encoded);
    cw_schema_destroy(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_message_type types[] = {
        all_type, {.name = "hand", .size = sizeof(struct by_hand), .serialize = serialize_by_hand}};
    const struct cw_schema_config config = {.types = types, .count = 2};
    struct cw_schema *schema;
    if (size < 1)
        return 0;
    uint8_t *exact = malloc(size - 1);
    if (size > 1)
        memcpy(exact, data + 1, size - 1);
    if (data[0] % 3 == 2) {
        fuzz_schema(exact, size - 1);
    } else {
        expect(cw_schema_create(&config, &schema) == CW_OK);
        fuzz_message(schema, data[0] % 3, exact, size - 1);
        cw_schema_destroy(schema);
    }
    free(exact);
    return 0;
}
