#include "causeway/input.h"

#include "game/input_internal.h"
#include "message/schema_delta.h"

#define MAX_EARLY_TICKS 4096

struct cw_input_config cw_input_config_default(const struct cw_schema *schema)
{
    return (struct cw_input_config){
        .schema = schema, .copies = 6, .max_early_ticks = 64, .max_repeats = 30};
}

enum cw_error cw_input_config_check(const struct cw_input_config *config)
{
    if (!config || !config->schema)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_message_type *type = cw_schema_type(config->schema, config->type);
    if (!type || type->serialize)
        return CW_ERROR_MESSAGE_TYPE;
    if (type->size > CW_INPUT_MAX_SIZE || config->copies < 1 ||
        config->copies > CW_INPUT_MAX_COPIES || config->max_early_ticks < 1 ||
        config->max_early_ticks > MAX_EARLY_TICKS)
        return CW_ERROR_CONFIG_INPUT;
    return CW_OK;
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
