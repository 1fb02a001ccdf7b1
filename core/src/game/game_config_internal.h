/* Declarations that both ends of a game share: their config, and the input that travels with the
   view of the client. */
#ifndef CAUSEWAY_GAME_CONFIG_INTERNAL_H
#define CAUSEWAY_GAME_CONFIG_INTERNAL_H

#include "base/memory.h"
#include "message/schema_internal.h"

#include "causeway/game_config.h"
#include "causeway/history.h"
#include "causeway/input.h"
#include "causeway/interpolation.h"

/* Returns CW_OK, or the error that create would return. */
enum cw_error cw_game_config_check(const struct cw_game_config *config);

/* Stands for a schema while memory is measured. */
struct cw_game_stand_in {
    struct cw_compiled_type type;
    struct cw_schema schema;
};

/* Returns the config of the inputs that travel: each is the game's input and, behind it, what its
   player saw. So a pointer to one is also a pointer to the game's struct. Their schema is made in
   the arena, or the stand-in while measuring. The config must be valid. */
struct cw_input_config cw_game_input_config(const struct cw_game_config *config,
                                            struct cw_arena *arena,
                                            struct cw_game_stand_in *stand_in);

/* The room for such an input. */
size_t cw_game_carried_size(const struct cw_game_config *config);

/* Sets or gets the view that travels with an input of a tick. */
void cw_game_set_view(const struct cw_schema *carried, void *input, uint32_t tick,
                      const struct cw_view *view);
struct cw_view cw_game_get_view(const struct cw_schema *carried, const void *input, uint32_t tick);

struct cw_snapshot_config cw_game_snapshot_config(const struct cw_game_config *config);

/* The config of a history of all entities for so many ticks, fewer when they would be too large. */
struct cw_history_config cw_game_history_config(const struct cw_game_config *config, double ticks);

/* An entity in a history and in a server's table: a struct of any type, and which one it is. */
size_t cw_game_kept_size(const struct cw_schema *schema);
void cw_game_keep(const struct cw_schema *schema, void *kept, uint32_t type, const void *state);
uint32_t cw_game_kept_type(const struct cw_schema *schema, const void *kept);

/* Looks an entity up in a view. Returns false when it is not there. */
bool cw_game_find(const struct cw_schema *schema, const struct cw_history *history,
                  const struct cw_view *view, uint32_t entity, struct cw_game_entity *found);

static inline double cw_game_limit(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

#endif
