#include "causeway/snapshot.h"

#include "base/config_fields.h"
#include "game/snapshot_internal.h"

struct cw_snapshot_config cw_snapshot_config_default(const struct cw_schema *schema)
{
    return (struct cw_snapshot_config){
        .schema = schema,
        .max_entities = 1024,
        .window = 32,
        .max_clients = 64,
        .max_bytes = 1000,
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "must not be NULL")                                                              \
    RANGE(__VA_ARGS__, UINT, max_entities, 1, 1048576)                                             \
    RANGE(__VA_ARGS__, POWER, window, 2, 128)                                                      \
    OTHER(coding, "must be one of enum cw_snapshot_coding")                                        \
    RANGE(__VA_ARGS__, UINT, max_clients, 1, 1024)                                                 \
    RANGE(__VA_ARGS__, UINT, max_bytes, 64, 65535)                                                 \
    RANGE(__VA_ARGS__, UINT, max_interest, 0, 65536)
CW_CONFIG_FIELDS(cw_snapshot_config, 0x1450, FIELDS, cw_snapshot_config_errors)

enum cw_error cw_snapshot_config_check(const struct cw_snapshot_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!config->schema)
        return CW_FIELD_ERROR(schema);
    if ((uint32_t)config->coding >= CW_SNAPSHOT_CODING_COUNT)
        return CW_FIELD_ERROR(coding);
    return CW_CHECK_FIELDS(config);
}
