#include "causeway/schema_bytes.h"

#include "base/memory.h"

#define VERSION     1
#define NO_FIELDS   UINT32_MAX
#define HASH_START  0xcbf29ce484222325u
#define HASH_FACTOR 0x100000001b3u

/* Where encoded bytes go: into a buffer as far as it reaches, and into an FNV-1a hash. */
struct sink {
    uint8_t *out;
    size_t capacity;
    size_t size;
    uint64_t hash;
};

static void put_bytes(struct sink *sink, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        sink->hash = (sink->hash ^ bytes[i]) * HASH_FACTOR;
        if (sink->size < sink->capacity)
            sink->out[sink->size] = bytes[i];
        ++sink->size;
    }
}

static void put(struct sink *sink, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; ++i) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);
        put_bytes(sink, &byte, 1);
    }
}

static void put_name(struct sink *sink, const char *name)
{
    put_bytes(sink, (const uint8_t *)name, strlen(name) + 1);
}

/* How many limits a kind has, each of how many bytes. */
static unsigned limits_of(enum cw_kind kind, unsigned *size)
{
    *size = 4;
    switch (kind) {
    case CW_KIND_INT:
    case CW_KIND_UINT:
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        *size = 8;
        return 2;
    case CW_KIND_BYTES:
    case CW_KIND_STRING:
        return 1;
    case CW_KIND_COMPRESSED_FLOAT:
        return 3;
    default:
        return 0;
    }
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void put_field(struct sink *sink, const struct cw_field *field)
{
    unsigned size;
    const unsigned count = limits_of(field->kind, &size);
    uint64_t limits[3] = {field->min, field->max, 0};
    if (count == 1) {
        limits[0] = field->max;
    } else if (count == 3) {
        limits[0] = float_bits(field->float_min);
        limits[1] = float_bits(field->float_max);
        limits[2] = float_bits(field->resolution);
    }
    put_name(sink, field->name);
    put(sink, (uint64_t)field->kind | (uint64_t)field->optional << 8 | (uint64_t)field->array << 16,
        6);
    for (unsigned i = 0; i < count; ++i)
        put(sink, limits[i], size);
}

static void put_schema(struct sink *sink, const struct cw_schema *schema)
{
    put(sink, VERSION | (uint64_t)cw_schema_count(schema) << 8, 5);
    for (uint32_t i = 0; i < cw_schema_count(schema); ++i) {
        const struct cw_message_type *const type = cw_schema_type(schema, i);
        put_name(sink, type->name);
        const uint64_t field_count = type->serialize ? NO_FIELDS : type->field_count;
        put(sink, (uint64_t)type->block | field_count << 8, 5);
        for (uint32_t j = 0; j < type->field_count; ++j)
            put_field(sink, &type->fields[j]);
    }
}

size_t cw_schema_encode(const struct cw_schema *schema, uint8_t *out, size_t capacity)
{
    struct sink sink = {out, out ? capacity : 0, 0, HASH_START};
    if (!schema)
        return 0;
    put_schema(&sink, schema);
    return sink.size;
}

uint64_t cw_schema_fingerprint(const struct cw_schema *schema, const uint8_t *extra, size_t size)
{
    struct sink sink = {NULL, 0, 0, HASH_START};
    if (!schema)
        return 0;
    put_schema(&sink, schema);
    put_bytes(&sink, extra, extra ? size : 0);
    return sink.hash;
}

/* Bytes still to decode; failed stays once it is set. */
struct source {
    const uint8_t *bytes;
    size_t left;
    bool failed;
};

static uint64_t get(struct source *source, unsigned size)
{
    uint64_t value = 0;
    if (source->left < size) {
        source->failed = true;
        source->left = 0;
        return 0;
    }
    for (unsigned i = 0; i < size; ++i)
        value |= (uint64_t)source->bytes[i] << 8 * i;
    source->bytes += size;
    source->left -= size;
    return value;
}

static const char *get_name(struct source *source)
{
    const char *const name = (const char *)source->bytes;
    const void *const end = source->left > 0 ? memchr(name, 0, source->left) : NULL;
    if (!end) {
        source->failed = true;
        source->left = 0;
        return "";
    }
    const size_t size = strlen(name) + 1;
    source->bytes += size;
    source->left -= size;
    return name;
}

static float bits_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static struct cw_field get_field(struct source *source)
{
    struct cw_field field = {.name = get_name(source)};
    const uint64_t head = get(source, 6);
    const uint64_t kind = head & 0xff, optional = head >> 8 & 0xff;
    source->failed |= kind >= CW_KIND_COUNT || optional > 1;
    field.kind = (enum cw_kind)kind;
    field.optional = optional == 1;
    field.array = (uint32_t)(head >> 16);
    unsigned size;
    const unsigned count = limits_of(field.kind, &size);
    uint64_t limits[3] = {0};
    for (unsigned i = 0; i < count; ++i)
        limits[i] = get(source, size);
    if (count == 3) {
        field.float_min = bits_float(limits[0]);
        field.float_max = bits_float(limits[1]);
        field.resolution = bits_float(limits[2]);
    } else {
        field.min = count == 2 ? limits[0] : 0;
        field.max = count == 2 ? limits[1] : limits[0];
    }
    return field;
}

/* Counts the fields of all types; with arrays to fill, fills them too. */
static uint32_t get_schema(struct source *source, uint32_t *count, struct cw_message_type *types,
                           struct cw_field *fields)
{
    uint32_t total = 0;
    const uint64_t head = get(source, 5);
    source->failed |= (head & 0xff) != VERSION;
    *count = (uint32_t)(head >> 8);
    for (uint32_t i = 0; i < *count && !source->failed; ++i) {
        const char *const name = get_name(source);
        const uint64_t type_head = get(source, 5), block = type_head & 0xff;
        const uint32_t field_count = (uint32_t)(type_head >> 8);
        source->failed |= block > 1;
        if (types)
            types[i] = (struct cw_message_type){.name = name,
                                                .fields = fields + total,
                                                .field_count = field_count,
                                                .block = block == 1};
        for (uint32_t j = 0; j < field_count && !source->failed; ++j, ++total) {
            const struct cw_field field = get_field(source);
            if (fields)
                fields[total] = field;
        }
    }
    source->failed |= source->left > 0;
    return total;
}

enum cw_error cw_schema_decode(const uint8_t *data, size_t size,
                               const struct cw_allocator *allocator, struct cw_schema **schema)
{
    if (!schema || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_schema_config config = {0};
    if (allocator)
        config.allocator = *allocator;
    const struct source start = {data, size, false};
    struct source source = start;
    /* every type and field has bytes of its own, so that the counts cannot be more than size */
    const uint32_t total = get_schema(&source, &config.count, NULL, NULL);
    if (source.failed)
        return CW_ERROR_SCHEMA_BYTES;
    const size_t types_size = config.count * sizeof(struct cw_message_type);
    const size_t scratch_size = types_size + total * sizeof(struct cw_field);
    uint8_t *const scratch = scratch_size > 0 ? cw_allocate(&config.allocator, scratch_size) : NULL;
    if (scratch_size > 0 && !scratch)
        return CW_ERROR_NO_MEMORY;
    source = start;
    struct cw_message_type *const types = (struct cw_message_type *)(void *)scratch;
    get_schema(&source, &config.count, types,
               scratch ? (struct cw_field *)(void *)(scratch + types_size) : NULL);
    config.types = types;
    const enum cw_error error = cw_schema_create(&config, schema);
    if (scratch)
        cw_release(&config.allocator, scratch, scratch_size);
    return error;
}
