/* Translates the operations of serialize.json into our own. */
#ifndef CAUSEWAY_TESTS_SERIALIZE_VECTORS_H
#define CAUSEWAY_TESTS_SERIALIZE_VECTORS_H

#include "operations.h"
#include "vectors.h"

static inline uint64_t vector_number(const cJSON *object, const char *key)
{
    const cJSON *item = vectors_get(object, key);
    if (!item || cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? 1 : 0;
    if (cJSON_IsString(item)) {
        const char *text = cJSON_GetStringValue(item);
        return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
    }
    /* a larger one is the decimal form of a float, whose bits are read instead */
    const double value = cJSON_GetNumberValue(item);
    return value > -1e18 && value < 1e18 ? (uint64_t)(int64_t)value : 0;
}

static inline uint64_t vector_pattern(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(vectors_get(object, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

static inline struct operation vector_operation(const cJSON *object)
{
    const char *name = cJSON_GetStringValue(vectors_get(object, "op"));
    struct operation o = {.kind = OPERATION_COUNT,
                          .value = vector_number(object, "value"),
                          .min = vector_number(object, "min"),
                          .max = vector_number(object, "max")};
    for (int kind = 0; kind < OPERATION_COUNT; kind++)
        if (strcmp(name, operation_names[kind]) == 0)
            o.kind = (enum operation_kind)kind;
    switch (o.kind) {
    case OPERATION_BITS:
        o.min = vector_number(object, "bits");
        break;
    case OPERATION_UINT_64:
        o.max = UINT64_MAX;
        break;
    case OPERATION_FLOAT:
    case OPERATION_DOUBLE:
        o.value = vector_pattern(object, "hex");
        break;
    case OPERATION_COMPRESSED_FLOAT:
        o.value = vector_pattern(object, "value_hex");
        o.min = vector_pattern(object, "min_hex");
        o.max = vector_pattern(object, "max_hex");
        o.resolution = vector_pattern(object, "res_hex");
        break;
    case OPERATION_BYTES:
    case OPERATION_STRING: {
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(object, "hex"), &size);
        memcpy(o.data, bytes, size);
        free(bytes);
        o.value = size;
        o.min = vector_number(object, o.kind == OPERATION_BYTES ? "count" : "buffer_size");
        break;
    }
    case OPERATION_RELATIVE:
    case OPERATION_RELATIVE_SEQUENCE:
        o.value = vector_number(object, "current");
        o.min = vector_number(object, "previous");
        break;
    default:
        break;
    }
    return o;
}

static inline struct operation vector_operation_decoded(const cJSON *object)
{
    struct operation o = vector_operation(object);
    if (o.kind == OPERATION_COMPRESSED_FLOAT)
        o.value = vector_pattern(object, "decoded_hex");
    return o;
}

/* Returns whether ours refuses this entry of the list "accept", as the standard lets a reader
   do. */
static inline bool vector_refused_by_choice(const cJSON *item)
{
    const cJSON *note = vectors_get(item, "note");
    return note && strstr(note->valuestring, "wraps to 0 in the reference") != NULL;
}

#endif
