/* The two ends of a fast game share this config and this message. Each end, game_client.h and
   game_server.h, is one object that runs the parts of the game kit together: the clock, inputs,
   prediction, snapshots, interpolation and history. core/GAME.md has a whole game.

   Both ends have the same schema of the world: the type of inputs and the types of entities. They
   send bodies to each other: bytes for messages on an unreliable channel. The connection has a
   message for them, beside those of the game:

       const struct cw_message_type types[] = {cw_game_body_type, ...}; */
#ifndef CAUSEWAY_GAME_CONFIG_H
#define CAUSEWAY_GAME_CONFIG_H

#include "causeway/base.h"
#include "causeway/schema.h"
#include "causeway/snapshot.h"

CW_BEGIN_DECLARATIONS

/* These are the most bytes of a body whose message is sure to fit into one packet. */
#define CW_GAME_BODY_SIZE 1000

/* The message is named game_body on the wire. */
#define CW_GAME_BODY_FIELDS(FIELD) FIELD(body, CW_BYTES(CW_GAME_BODY_SIZE))
struct cw_game_body {
    CW_GAME_BODY_FIELDS(CW_FIELD_MEMBER)
};
static const struct cw_field cw_game_body_fields[] = {CW_GAME_BODY_FIELDS(CW_FIELD_ENTRY)};
static const struct cw_message_type cw_game_body_type = {
    "game_body", cw_game_body_fields, 1, sizeof(struct cw_game_body), NULL, false};

struct cw_game_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these. */
    const struct cw_schema *schema; /* the world: inputs and entities. Must outlive the object */
    uint32_t input_type;            /* the type of inputs, with a table of fields; default 0 */
    uint32_t player_type;    /* the type of the entities that clients play and predict; default 1 */
    double ticks_per_second; /* 1 to 1000; default 60 */
    uint32_t max_entities;   /* all ids are below this; 1 to 65536; default 256 */
    uint32_t window;         /* the number of snapshots back that a baseline may be, a power of two
                                from 2 to 128; default 64. It should span the round trip */
    enum cw_snapshot_coding coding; /* default CW_SNAPSHOT_DIFFERENCES */

    /* Only a server uses these. */
    uint32_t max_clients;  /* 1 to 1024; default 64 */
    uint32_t max_bytes;    /* the largest body, 128 to 65535; default 1000 */
    uint32_t max_interest; /* the most entities that a client gets beside its own, at most 65535;
                              default 0: it gets the world. See cw_game_server_set_interest */
    uint32_t ticks_per_snapshot; /* 1 to 1000; default 2: a snapshot every other tick */
    /* When more ticks than this are due at once, the server plays this many and leaves the rest
       out; 0 to 60; default 0.6. At least one is played. A server whose steps take longer than
       their ticks always plays so many at once; it is shown more evenly with less. */
    double max_catch_up_seconds;
    double max_rewind_seconds; /* the longest way back that a client's view can reach, 0 to 4;
                                  default 1 */

    /* Only a client uses these; prediction.h and interpolation.h say more about them. */
    uint32_t ticks_per_input;   /* the inputs of so many ticks go together, 1 to 5; default 2 */
    const float *tolerances;    /* one for each field of the player's type, copied; NULL: all 0 */
    const float *smooth_limits; /* the same; NULL: all 0, which means that all corrections jump */
    double smooth_seconds;      /* above 0 to 60; default 0.1 */
    uint32_t max_group; /* the most entities that are predicted beside the own one, at most 256;
                           default 0. See cw_game_client_set_group */
    /* For each type of the schema limits like smooth_limits, or NULL, for entities of a group that
       are not of the player's type; copied. NULL: their corrections jump. */
    const float *const *group_limits;
    double max_delay_seconds; /* the others are never shown further behind, 0 to 60; default 0.5 */
};

struct cw_game_config cw_game_config_default(const struct cw_schema *schema);

/* An entity at a moment between two states. */
struct cw_game_entity {
    uint32_t entity;
    uint32_t type;
    bool own;         /* the entity that this client plays */
    bool predicted;   /* both states are predicted ones: the own entity's, and those of a group */
    float fraction;   /* 0 is from, 1 is to, above 1 is beyond to */
    const void *from; /* structs of the type, valid until the next call for this object */
    const void *to;   /* the same as from where they do not differ */
};

/* The latest value of the game that the wire cannot carry. A number that is out of range is played
   and sent as the nearest one that is in range; anything else is refused. */
struct cw_game_fault {
    uint64_t count; /* such values since create or reset */
    uint32_t tick;
    uint32_t entity; /* CW_FIELD_NONE: it was in an input */
    uint32_t type;
    uint32_t field; /* its index in the type */
};

CW_END_DECLARATIONS

#endif
