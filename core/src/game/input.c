#include "causeway/input.h"

#include "base/config_fields.h"
#include "game/input_internal.h"
#include "message/schema_delta.h"

struct cw_input_config cw_input_config_default(const struct cw_schema *schema)
{
    return (struct cw_input_config){
        .schema = schema, .copies = 6, .max_early_ticks = 64, .max_repeats = 30};
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "must not be NULL")                                                              \
    OTHER(type, "must be a type of the schema that has a table of fields and a struct of at most " \
                "4096 bytes")                                                                      \
    RANGE(__VA_ARGS__, UINT, copies, 1, CW_INPUT_MAX_COPIES)                                       \
    RANGE(__VA_ARGS__, UINT, max_early_ticks, 1, 4096)
CW_CONFIG_FIELDS(cw_input_config, 0x1420, FIELDS, cw_input_config_errors)

_Static_assert(CW_INPUT_MAX_SIZE == 4096, "the limit above");

enum cw_error cw_input_config_check(const struct cw_input_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!config->schema)
        return CW_FIELD_ERROR(schema);
    const struct cw_message_type *type = cw_schema_type(config->schema, config->type);
    if (!cw_schema_comparable(config->schema, config->type) || type->size > CW_INPUT_MAX_SIZE)
        return CW_FIELD_ERROR(type);
    return CW_CHECK_FIELDS(config);
}

size_t cw_input_stride(const struct cw_input_config *config)
{
    const size_t size = cw_schema_type(config->schema, config->type)->size;
    return (size + 15) / 16 * 16;
}

bool cw_input_serialize_head(struct cw_stream *stream, uint16_t *newest, uint32_t *count)
{
    uint32_t low = *newest;
    if (!cw_stream_bits(stream, &low, 16) || !cw_stream_uint(stream, count, 1, CW_INPUT_MAX_COPIES))
        return false;
    *newest = (uint16_t)low;
    return true;
}

bool cw_input_serialize(const struct cw_input_config *config, struct cw_stream *stream,
                        const void *before, void *input)
{
    return before ? cw_schema_delta(config->schema, config->type, stream, before, input)
                  : cw_schema_serialize(config->schema, config->type, stream, input);
}
