#include "causeway/snapshot.h"

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

enum cw_error cw_snapshot_config_check(const struct cw_snapshot_config *config)
{
    if (!config || !config->schema)
        return CW_ERROR_INVALID_ARGUMENT;
    const bool valid =
        config->max_entities >= 1 && config->max_entities <= 65536 && config->window >= 2 &&
        config->window <= 128 && (config->window & (config->window - 1)) == 0 &&
        config->max_clients >= 1 && config->max_clients <= 1024 && config->max_bytes >= 64 &&
        config->max_bytes <= 65535 && (uint32_t)config->coding < CW_SNAPSHOT_CODING_COUNT;
    return valid ? CW_OK : CW_ERROR_CONFIG_SNAPSHOT;
}
