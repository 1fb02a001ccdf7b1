#include "causeway/schema.h"

#include "base/memory.h"
#include "message/schema_expression.h"

#define VERSION     1
#define NO_FIELDS   UINT32_MAX
#define HASH_START  0xcbf29ce484222325u
#define HASH_FACTOR 0x100000001b3u

/* A sink takes encoded bytes: a buffer gets them as far as it reaches, and an FNV-1a hash gets all
   of them. */
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

/* Puts a name and the size bytes of the head that follows every such name. */
static void put_entry(struct sink *sink, const char *name, uint64_t head, unsigned size)
{
    put_bytes(sink, (const uint8_t *)name, strlen(name) + 1);
    put(sink, head, size);
}

/* Returns the number of limits of a kind, and sets the bytes of each. The only limit of a struct is
   its number of fields. */
static unsigned limits_of(enum cw_kind kind, unsigned *size)
{
    *size = 4;
    switch (kind) {
    case CW_KIND_INT:
    case CW_KIND_UINT:
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
    case CW_KIND_CONSTANT:
        *size = 8;
        return 2;
    case CW_KIND_BYTES:
    case CW_KIND_STRING:
    case CW_KIND_STRUCT:
    case CW_KIND_RELATIVE:
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

/* The parts that a field may have besides its limits. */
enum { PART_OPTIONAL = 1, PART_COUNT = 2, PART_OPERAND = 4, PARTS = 7 };

static unsigned parts_of(const struct cw_field *field)
{
    return (field->optional ? PART_OPTIONAL : 0u) | (field->count ? PART_COUNT : 0u) |
           (field->operand ? PART_OPERAND : 0u);
}

/* Puts the fields of a type. The recursion is as deep as cw_schema_create allows. */
static void put_fields(struct sink *sink, const struct cw_message_type *type)
{
    for (uint32_t i = 0; i < type->field_count; ++i) {
        const struct cw_field *const field = &type->fields[i];
        unsigned size;
        const unsigned count = limits_of(field->kind, &size);
        uint64_t limits[3] = {field->min, field->max, 0};
        if (field->kind == CW_KIND_STRUCT) {
            limits[0] = field->type->field_count;
        } else if (count == 1) {
            limits[0] = field->max;
        } else if (count == 3) {
            limits[0] = float_bits(field->float_min);
            limits[1] = float_bits(field->float_max);
            limits[2] = float_bits(field->resolution);
        }
        const uint64_t head =
            (uint64_t)field->kind | (uint64_t)parts_of(field) << 8 | (uint64_t)field->array << 16;
        put_entry(sink, field->name, head, 6);
        for (unsigned j = 0; j < count; ++j)
            put(sink, limits[j], size);
        if (field->kind == CW_KIND_STRUCT)
            put_fields(sink, field->type);
        if (field->count)
            put_entry(sink, field->count, 0, 0);
        if (field->operand)
            put_entry(sink, field->operand, 0, 0);
    }
}

static void put_schema(struct sink *sink, const struct cw_schema *schema)
{
    put(sink, VERSION | (uint64_t)cw_schema_count(schema) << 8, 5);
    for (uint32_t i = 0; i < cw_schema_count(schema); ++i) {
        const struct cw_message_type *const type = cw_schema_type(schema, i);
        const uint64_t field_count = type->serialize ? NO_FIELDS : type->field_count;
        put_entry(sink, type->name, (uint64_t)type->block | field_count << 8, 5);
        put_fields(sink, type);
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

/* Ends an entry of an outline: puts 16 bits of the hash so far, if there is room. Returns the size
   of the outline then. */
static size_t end_entry(const struct sink *sink, uint8_t *out, size_t capacity, size_t size)
{
    if (size + 2 > capacity)
        return size;
    const uint64_t folded = sink->hash ^ sink->hash >> 16 ^ sink->hash >> 32 ^ sink->hash >> 48;
    out[size] = (uint8_t)folded;
    out[size + 1] = (uint8_t)(folded >> 8);
    return size + 2;
}

size_t cw_schema_outline(const struct cw_schema *schema, uint8_t *out, size_t capacity)
{
    struct sink sink = {NULL, 0, 0, HASH_START};
    size_t size = 0;
    for (uint32_t i = 0; i < cw_schema_count(schema); ++i) {
        const struct cw_message_type *const type = cw_schema_type(schema, i);
        const bool has_function = type->serialize != NULL;
        put_entry(&sink, type->name, (uint64_t)type->block | (uint64_t)has_function << 1, 1);
        size = end_entry(&sink, out, capacity, size);
        for (uint32_t j = 0; j < type->field_count; ++j) {
            const struct cw_message_type one = {.fields = &type->fields[j], .field_count = 1};
            put_fields(&sink, &one);
            size = end_entry(&sink, out, capacity, size);
        }
    }
    return size;
}

void cw_schema_entry(const struct cw_schema *schema, size_t entry,
                     struct cw_schema_difference *difference)
{
    *difference = (struct cw_schema_difference){0};
    for (uint32_t i = 0; i < cw_schema_count(schema); ++i) {
        const struct cw_message_type *const type = cw_schema_type(schema, i);
        if (entry <= type->field_count) {
            difference->message = type->name;
            difference->field = entry > 0 ? type->fields[entry - 1].name : NULL;
            return;
        }
        entry -= 1 + type->field_count;
    }
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

/* The least bytes of a type and of a field: a name and its head. */
#define TYPE_BYTES  6
#define FIELD_BYTES 7

/* The tables that the bytes describe, in arrays for as many as there can be. Structs take theirs
   from the end on. */
struct tables {
    struct cw_message_type *types; /* the types of the schema, then the types of structs */
    size_t types_left;
    struct cw_field *fields;
    size_t fields_left;
};

static void get_fields(struct source *source, struct tables *tables, struct cw_message_type *type,
                       unsigned depth);

/* Gets the type of a struct at this depth. */
static const struct cw_message_type *get_struct(struct source *source, struct tables *tables,
                                                uint64_t field_count, unsigned depth)
{
    source->failed |= depth > CW_STRUCT_MAX_DEPTH || tables->types_left == 0;
    if (source->failed)
        return NULL;
    struct cw_message_type *const type = &tables->types[--tables->types_left];
    *type = (struct cw_message_type){.field_count = (uint32_t)field_count};
    get_fields(source, tables, type, depth);
    return type;
}

static struct cw_field get_field(struct source *source, struct tables *tables, unsigned depth)
{
    struct cw_field field = {.name = get_name(source)};
    const uint64_t head = get(source, 6);
    const uint64_t kind = head & 0xff, parts = head >> 8 & 0xff;
    source->failed |= kind >= CW_KIND_COUNT || parts > PARTS;
    field.kind = (enum cw_kind)kind;
    field.optional = (parts & PART_OPTIONAL) != 0;
    field.array = (uint32_t)(head >> 16);
    unsigned size;
    const unsigned count = limits_of(field.kind, &size);
    uint64_t limits[3] = {0};
    for (unsigned i = 0; i < count; ++i)
        limits[i] = get(source, size);
    if (field.kind == CW_KIND_STRUCT) {
        field.type = get_struct(source, tables, limits[0], depth + 1);
    } else if (count == 3) {
        field.float_min = bits_float(limits[0]);
        field.float_max = bits_float(limits[1]);
        field.resolution = bits_float(limits[2]);
    } else {
        field.min = count == 2 ? limits[0] : 0;
        field.max = count == 2 ? limits[1] : limits[0];
    }
    field.count = parts & PART_COUNT ? get_name(source) : NULL;
    field.operand = parts & PART_OPERAND ? get_name(source) : NULL;
    return field;
}

/* Gets the fields of a type, which has their number already. */
static void get_fields(struct source *source, struct tables *tables, struct cw_message_type *type,
                       unsigned depth)
{
    source->failed |= type->field_count > tables->fields_left;
    if (source->failed)
        return;
    tables->fields_left -= type->field_count;
    struct cw_field *const fields = &tables->fields[tables->fields_left];
    type->fields = fields;
    for (uint32_t i = 0; i < type->field_count && !source->failed; ++i)
        fields[i] = get_field(source, tables, depth);
}

/* Gives the config its types. */
static void get_schema(struct source *source, struct tables *tables,
                       struct cw_schema_config *config)
{
    const uint64_t head = get(source, 5);
    const uint32_t count = (uint32_t)(head >> 8);
    source->failed |= (head & 0xff) != VERSION || count > tables->types_left;
    if (source->failed)
        return;
    tables->types_left -= count;
    struct cw_message_type *const types = &tables->types[tables->types_left];
    config->types = types;
    config->count = count;
    for (uint32_t i = 0; i < count && !source->failed; ++i) {
        types[i] = (struct cw_message_type){.name = get_name(source)};
        const uint64_t type_head = get(source, 5), block = type_head & 0xff;
        source->failed |= block > 1;
        types[i].block = block == 1;
        types[i].field_count = (uint32_t)(type_head >> 8);
        get_fields(source, tables, &types[i], 0);
    }
    source->failed |= source->left > 0;
}

enum cw_error cw_schema_decode(const uint8_t *data, size_t size,
                               const struct cw_allocator *allocator, struct cw_schema **schema)
{
    if (!schema || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_schema_config config = {0};
    if (allocator)
        config.allocator = *allocator;
    struct source source = {data, size, false};
    struct tables tables = {.types_left = size / TYPE_BYTES, .fields_left = size / FIELD_BYTES};
    const size_t types_size = tables.types_left * sizeof *tables.types;
    const size_t scratch_size = types_size + tables.fields_left * sizeof *tables.fields;
    uint8_t *const scratch = scratch_size > 0 ? cw_allocate(&config.allocator, scratch_size) : NULL;
    if (!scratch)
        return scratch_size > 0 ? CW_ERROR_NO_MEMORY : CW_ERROR_SCHEMA_BYTES;
    tables.types = (struct cw_message_type *)(void *)scratch;
    tables.fields = (struct cw_field *)(void *)(scratch + types_size);
    get_schema(&source, &tables, &config);
    const enum cw_error error =
        source.failed ? CW_ERROR_SCHEMA_BYTES : cw_schema_make(&config, NULL, schema);
    cw_release(&config.allocator, scratch, scratch_size);
    return error;
}
