#include "causeway/game_config.h"

#include "base/config_fields.h"
#include "game/game_config_internal.h"
#include "message/schema_delta.h"

#include <math.h>
#include <string.h>

/* The most bytes of a struct in a history, with its type behind it. */
#define MAX_KEPT 65536
/* The most bytes of all states in a history. */
#define MAX_HISTORY (1u << 30)

/* These are the limits of the fields of a view: ticks that it is behind the input, ticks between
   its two states, and parts of the way from one to the other. */
#define MAX_BEHIND 4095u
#define MAX_SPAN   1023u
#define MAX_PARTS  4095u
#define PARTS      256.0f
#define VIEW_SIZE  (3 * sizeof(uint32_t))

struct cw_game_config cw_game_config_default(const struct cw_schema *schema)
{
    return (struct cw_game_config){
        .schema = schema,
        .player_type = 1,
        .ticks_per_second = 60,
        .max_entities = 256,
        .window = 64,
        .max_clients = 64,
        .max_bytes = CW_GAME_BODY_SIZE,
        .ticks_per_snapshot = 2,
        .ticks_per_input = 2,
        .max_catch_up_seconds = 0.6,
        .max_rewind_seconds = 1,
        .smooth_seconds = 0.1,
        .max_delay_seconds = 0.5,
    };
}

#define FIELDS(OTHER, RANGE, ...)                                                                  \
    OTHER(schema, "must not be NULL, and its structs may have at most 65528 bytes")                \
    OTHER(input_type, "must be a type of the schema that has a table of fields, structs nested "   \
                      "in at most 7 levels, and a struct of at most 4080 bytes")                   \
    OTHER(player_type, "must be a type of the schema that has a table of fields")                  \
    RANGE(__VA_ARGS__, REAL, ticks_per_second, 1, 1000)                                            \
    RANGE(__VA_ARGS__, UINT, max_entities, 1, 65536)                                               \
    RANGE(__VA_ARGS__, POWER, window, 2, 128)                                                      \
    OTHER(coding, "must be one of enum cw_snapshot_coding")                                        \
    RANGE(__VA_ARGS__, UINT, max_clients, 1, 1024)                                                 \
    RANGE(__VA_ARGS__, UINT, max_bytes, 128, 65535)                                                \
    RANGE(__VA_ARGS__, UINT, max_interest, 0, 65535)                                               \
    RANGE(__VA_ARGS__, UINT, ticks_per_snapshot, 1, 1000)                                          \
    RANGE(__VA_ARGS__, REAL, max_catch_up_seconds, 0, 60)                                          \
    RANGE(__VA_ARGS__, REAL, max_rewind_seconds, 0, 4)                                             \
    RANGE(__VA_ARGS__, UINT, ticks_per_input, 1, 5)                                                \
    OTHER(tolerances, "must be finite and not negative")                                           \
    OTHER(smooth_limits, "must be finite and not negative")                                        \
    RANGE(__VA_ARGS__, ABOVE, smooth_seconds, 0, 60)                                               \
    RANGE(__VA_ARGS__, UINT, max_group, 0, 256)                                                    \
    OTHER(group_limits, "must be finite and not negative")                                         \
    RANGE(__VA_ARGS__, REAL, max_delay_seconds, 0, 60)
CW_CONFIG_FIELDS(cw_game_config, 0x1460, FIELDS, cw_game_config_errors)

/* The type of an input with its view, which has these fields. */
struct carried {
    struct cw_field fields[4];
    struct cw_message_type type;
};

static struct cw_schema_config describe(const struct cw_game_config *config,
                                        struct carried *carried)
{
    static const char *const names[] = {"behind", "span", "parts"};
    static const uint32_t limits[] = {MAX_BEHIND, MAX_SPAN, MAX_PARTS};
    *carried =
        (struct carried){.fields = {{.name = "input",
                                     .kind = CW_KIND_STRUCT,
                                     .type = cw_schema_type(config->schema, config->input_type)}},
                         .type = {.name = "carried", .field_count = 4}};
    for (int i = 0; i < 3; i++)
        carried->fields[i + 1] =
            (struct cw_field){.name = names[i], .kind = CW_KIND_UINT, .max = limits[i]};
    carried->type.fields = carried->fields;
    return (struct cw_schema_config){.types = &carried->type, .count = 1};
}

static bool is_amounts(const struct cw_message_type *type, const float *amounts)
{
    for (uint32_t i = 0; amounts && i < type->field_count; i++)
        if (!(amounts[i] >= 0 && amounts[i] < (float)INFINITY))
            return false;
    return true;
}

static bool has_input(const struct cw_game_config *config)
{
    struct carried carried;
    const struct cw_message_type *const type = cw_schema_type(config->schema, config->input_type);
    if (!cw_schema_comparable(config->schema, config->input_type) || type->field_count == 0 ||
        type->size > CW_INPUT_MAX_SIZE - 16)
        return false;
    const struct cw_schema_config schema = describe(config, &carried);
    return cw_schema_memory(&schema) > 0;
}

static bool has_group_limits(const struct cw_game_config *config)
{
    for (uint32_t i = 0; config->group_limits && i < cw_schema_count(config->schema); i++)
        if (!is_amounts(cw_schema_type(config->schema, i), config->group_limits[i]))
            return false;
    return true;
}

enum cw_error cw_game_config_check(const struct cw_game_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!config->schema || cw_game_kept_size(config->schema) > MAX_KEPT)
        return CW_FIELD_ERROR(schema);
    if (!has_input(config))
        return CW_FIELD_ERROR(input_type);
    const struct cw_message_type *const player =
        cw_schema_type(config->schema, config->player_type);
    if (!cw_schema_comparable(config->schema, config->player_type) || player->field_count == 0)
        return CW_FIELD_ERROR(player_type);
    if ((uint32_t)config->coding >= CW_SNAPSHOT_CODING_COUNT)
        return CW_FIELD_ERROR(coding);
    if (!is_amounts(player, config->tolerances))
        return CW_FIELD_ERROR(tolerances);
    if (!is_amounts(player, config->smooth_limits))
        return CW_FIELD_ERROR(smooth_limits);
    if (!has_group_limits(config))
        return CW_FIELD_ERROR(group_limits);
    return CW_CHECK_FIELDS(config);
}

size_t cw_game_carried_size(const struct cw_game_config *config)
{
    const size_t size = cw_schema_type(config->schema, config->input_type)->size;
    return ((size + 3) / 4 * 4 + VIEW_SIZE + 15) / 16 * 16;
}

struct cw_input_config cw_game_input_config(const struct cw_game_config *config,
                                            struct cw_arena *arena,
                                            struct cw_game_stand_in *stand_in)
{
    struct carried carried;
    struct cw_schema *schema = NULL;
    struct cw_schema_config described = describe(config, &carried);
    described.allocator = cw_arena_allocator(arena);
    if (arena->base) {
        (void)cw_schema_create(&described, &schema);
    } else {
        cw_arena_take(arena, cw_schema_memory(&described));
        stand_in->type = (struct cw_compiled_type){
            .public.size = (uint32_t)cw_game_carried_size(config), .comparable = true};
        stand_in->schema = (struct cw_schema){.count = 1, .types = &stand_in->type};
        schema = &stand_in->schema;
    }
    struct cw_input_config input = cw_input_config_default(schema);
    const double ticks = config->ticks_per_second;
    input.allocator = cw_arena_allocator(arena);
    input.copies *= config->ticks_per_input; /* so that as many packets have each */
    input.max_early_ticks = (uint32_t)cw_game_limit(2 * ticks, 64, 4096);
    input.max_repeats = (uint32_t)ticks;
    return input;
}

static uint8_t *words_of(const struct cw_schema *carried, void *input)
{
    return (uint8_t *)input + cw_schema_type(carried, 0)->fields[1].offset;
}

void cw_game_set_view(const struct cw_schema *carried, void *input, uint32_t tick,
                      const struct cw_view *view)
{
    const uint32_t behind = tick - view->to, span = view->to - view->from;
    const float parts = view->fraction * PARTS + 0.5f;
    const uint32_t words[3] = {
        behind < MAX_BEHIND   ? behind
        : (int32_t)behind < 0 ? 0
                              : MAX_BEHIND,
        span < MAX_SPAN ? span : MAX_SPAN,
        (uint32_t)cw_game_limit((double)parts, 0, MAX_PARTS),
    };
    memcpy(words_of(carried, input), words, sizeof words);
}

struct cw_view cw_game_get_view(const struct cw_schema *carried, const void *input, uint32_t tick)
{
    uint32_t words[3];
    memcpy(words, (const uint8_t *)input + cw_schema_type(carried, 0)->fields[1].offset,
           sizeof words);
    const uint32_t to = tick - words[0];
    return (struct cw_view){to - words[1], to, (float)words[2] / PARTS};
}

struct cw_snapshot_config cw_game_snapshot_config(const struct cw_game_config *config)
{
    struct cw_snapshot_config snapshots = cw_snapshot_config_default(config->schema);
    snapshots.max_entities = config->max_entities;
    snapshots.window = config->window;
    snapshots.coding = config->coding;
    snapshots.max_clients = config->max_clients;
    snapshots.max_bytes = config->max_bytes;
    if (config->max_interest > 0)
        snapshots.max_interest = config->max_interest + 1; /* the client's own entity */
    return snapshots;
}

struct cw_history_config cw_game_history_config(const struct cw_game_config *config, double ticks)
{
    struct cw_history_config history = cw_history_config_default();
    const size_t size = cw_game_kept_size(config->schema);
    const double room = (double)MAX_HISTORY / ((double)(size + 15) * config->max_entities);
    history.state_size = (uint32_t)size;
    history.max_entities = config->max_entities;
    history.max_ticks = (uint32_t)cw_game_limit(ticks < room ? ticks : room, 2, 4096);
    return history;
}

static size_t type_place(const struct cw_schema *schema)
{
    return (cw_schema_message_size(schema) + 3) / 4 * 4;
}

size_t cw_game_kept_size(const struct cw_schema *schema)
{
    return type_place(schema) + sizeof(uint32_t);
}

void cw_game_keep(const struct cw_schema *schema, void *kept, uint32_t type, const void *state)
{
    memcpy(kept, state, cw_schema_type(schema, type)->size);
    memcpy((uint8_t *)kept + type_place(schema), &type, sizeof type);
}

uint32_t cw_game_kept_type(const struct cw_schema *schema, const void *kept)
{
    uint32_t type;
    memcpy(&type, (const uint8_t *)kept + type_place(schema), sizeof type);
    return type;
}

bool cw_game_find(const struct cw_schema *schema, const struct cw_history *history,
                  const struct cw_view *view, uint32_t entity, struct cw_game_entity *found)
{
    const void *from, *to;
    if (!cw_history_find(history, view, entity, &from, &to))
        return false;
    const uint32_t type = cw_game_kept_type(schema, from);
    /* Another entity has got the id, or there is nothing to blend. */
    if (cw_game_kept_type(schema, to) != type ||
        memcmp(from, to, cw_schema_type(schema, type)->size) == 0)
        to = from;
    *found = (struct cw_game_entity){
        .entity = entity, .type = type, .fraction = view->fraction, .from = from, .to = to};
    return true;
}
