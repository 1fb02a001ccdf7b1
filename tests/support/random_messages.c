/* Writes random messages for tests that encode them in another way: one JSON object per line with
   the fields, the values and the bytes of the body. The arguments are the seed and the number of
   messages. The functions of a stream and a schema must write the same, or the program fails.
   Numbers are decimal strings; floats, bytes and strings are hex; an optional field without a value
   is null, a struct the list of its values. */
#include "stream_fields.h"

#include <inttypes.h>

/* The most bytes of a body; a packet of the package surely has room for them. */
#define MOST_BYTES 900

static void print_hex(const uint8_t *bytes, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('"');
}

static void print_fields(const struct cw_message_type *type);

static void print_field(const struct cw_field *field)
{
    const bool has_sign = field->kind == CW_KIND_INT || field->kind == CW_KIND_INT_64;
    printf("{\"kind\":%d,\"optional\":%s,\"array\":%" PRIu32, (int)field->kind,
           field->optional ? "true" : "false", field->array);
    if (has_sign)
        printf(",\"min\":\"%" PRId64 "\",\"max\":\"%" PRId64 "\"", (int64_t)field->min,
               (int64_t)field->max);
    else
        printf(",\"min\":\"%" PRIu64 "\",\"max\":\"%" PRIu64 "\"", field->min, field->max);
    printf(",\"low\":%.9g,\"high\":%.9g,\"resolution\":%.9g", (double)field->float_min,
           (double)field->float_max, (double)field->resolution);
    if (field->type) {
        fputs(",\"fields\":", stdout);
        print_fields(field->type);
    }
    putchar('}');
}

static void print_fields(const struct cw_message_type *type)
{
    putchar('[');
    for (uint32_t i = 0; i < type->field_count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_field(&type->fields[i]);
    }
    putchar(']');
}

static void print_members(const struct cw_message_type *type, const uint8_t *message);

static void print_value(const struct cw_field *field, const uint8_t *value)
{
    uint32_t low;
    uint64_t wide;
    switch (field->kind) {
    case CW_KIND_BOOL:
        fputs(*value ? "true" : "false", stdout);
        break;
    case CW_KIND_INT:
        memcpy(&low, value, sizeof low);
        printf("\"%" PRId32 "\"", (int32_t)low);
        break;
    case CW_KIND_UINT:
        memcpy(&low, value, sizeof low);
        printf("\"%" PRIu32 "\"", low);
        break;
    case CW_KIND_INT_64:
        memcpy(&wide, value, sizeof wide);
        printf("\"%" PRId64 "\"", (int64_t)wide);
        break;
    case CW_KIND_UINT_64:
        memcpy(&wide, value, sizeof wide);
        printf("\"%" PRIu64 "\"", wide);
        break;
    case CW_KIND_FLOAT:
    case CW_KIND_COMPRESSED_FLOAT:
        memcpy(&low, value, sizeof low);
        printf("\"%08" PRIx32 "\"", low);
        break;
    case CW_KIND_DOUBLE:
        memcpy(&wide, value, sizeof wide);
        printf("\"%016" PRIx64 "\"", wide);
        break;
    case CW_KIND_BYTES:
        memcpy(&low, value, sizeof low);
        print_hex(value + sizeof low, low);
        break;
    case CW_KIND_STRUCT:
        print_members(field->type, value);
        break;
    default:
        print_hex(value, strlen((const char *)value));
    }
}

static void print_member(const struct cw_field *field, const uint8_t *member)
{
    uint32_t first, count;
    const uint32_t stride = random_stride(field, &first);
    if (field->array == 0) {
        if (field->optional && *member == 0)
            fputs("null", stdout);
        else
            print_value(field, member + first);
        return;
    }
    memcpy(&count, member, sizeof count);
    putchar('[');
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_value(field, member + first + i * stride);
    }
    putchar(']');
}

static void print_members(const struct cw_message_type *type, const uint8_t *message)
{
    putchar('[');
    for (uint32_t i = 0; i < type->field_count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_member(&type->fields[i], message + type->fields[i].offset);
    }
    putchar(']');
}

static void print_message(const struct cw_message_type *type, const uint8_t *message,
                          const uint8_t *bytes, size_t size)
{
    fputs("{\"fields\":", stdout);
    print_fields(type);
    fputs(",\"values\":", stdout);
    print_members(type, message);
    fputs(",\"bytes\":", stdout);
    print_hex(bytes, size);
    puts("}");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    random_state = strtoull(argv[1], NULL, 10);
    for (long left = strtol(argv[2], NULL, 10); left > 0;) {
        struct cw_schema *schema = random_schema();
        const struct cw_message_type *type = cw_schema_type(schema, 0);
        uint8_t *message = random_message(schema, 0);
        uint8_t bytes[2][MOST_BYTES];
        size_t size[2];
        for (int way = 0; way < 2; way++) {
            struct cw_stream stream = cw_stream_writer(bytes[way], MOST_BYTES);
            if (way == 0)
                stream_fields(&stream, type, message);
            else
                cw_schema_serialize(schema, 0, &stream, message);
            size[way] = cw_stream_failed(&stream) ? SIZE_MAX : cw_stream_flush(&stream);
        }
        if (size[0] != size[1] || (size[0] < MOST_BYTES && memcmp(bytes[0], bytes[1], size[0]))) {
            fprintf(stderr, "a schema writes other bytes than the functions of a stream\n");
            return 1;
        }
        if (size[0] <= MOST_BYTES) {
            print_message(type, message, bytes[0], size[0]);
            left--;
        }
        free(message);
        cw_schema_destroy(schema);
    }
    return 0;
}
