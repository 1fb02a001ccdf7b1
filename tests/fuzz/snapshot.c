/* Any bytes arrive at a client of snapshots. It reads no byte too many, and takes only what is in
   range.

   An input is a list of snapshots, each with its size in a byte before it. */
#include "causeway/snapshot.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_BITS(18))                                                                          \
    FIELD(side, CW_INT(-3, 3))                                                                     \
    FIELD(angle, CW_COMPRESSED_FLOAT(-4, 4, 0.01f))                                                \
    FIELD(touched, CW_BOOL)
CW_MESSAGE(body, BODY_FIELDS)

#define PLAYER_FIELDS(FIELD)                                                                       \
    FIELD(name, CW_STRING(7))                                                                      \
    FIELD(data, CW_BYTES(5))                                                                       \
    FIELD(wide, CW_UINT_64(1, 1000000000000))                                                      \
    FIELD(target, CW_OPTIONAL(CW_BITS(10)))                                                        \
    FIELD(angles, CW_ARRAY(CW_COMPRESSED_FLOAT(-1, 1, 0.3f), 3))
CW_MESSAGE(player, PLAYER_FIELDS)

#define GROUP_FIELDS(FIELD)                                                                        \
    FIELD(first, CW_STRUCT(body))                                                                  \
    FIELD(last, CW_OPTIONAL(CW_STRUCT(body)))                                                      \
    FIELD(players, CW_ARRAY(CW_STRUCT(player), 3))
CW_MESSAGE(group, GROUP_FIELDS)

#define ENTITIES 20

static void receive(const struct cw_schema *schema, struct cw_snapshot_client *client,
                    const uint8_t *data, size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    if (cw_snapshot_client_receive(client, exact + 1, size) == CW_OK)
        for (uint32_t i = 0; i < ENTITIES; i++) {
            uint32_t type;
            const void *const state = cw_snapshot_client_state(client, i, &type);
            expect(!state || cw_schema_check(schema, type, state) == CW_FIELD_NONE);
        }
    free(exact);
}

static void play(const struct cw_schema *schema, enum cw_snapshot_coding coding,
                 const uint8_t *data, size_t size)
{
    struct cw_snapshot_client *client;
    struct cw_snapshot_event event;
    struct cw_snapshot_config config = cw_snapshot_config_default(schema);
    config.max_entities = ENTITIES;
    config.window = 4;
    config.coding = coding;
    expect(cw_snapshot_client_create(&config, &client) == CW_OK);
    while (size > 0) {
        const size_t next = data[0] < size ? data[0] : size - 1;
        receive(schema, client, data + 1, next);
        if (next % 2)
            while (cw_snapshot_client_next(client, &event))
                expect(event.entity < ENTITIES);
        data += 1 + next;
        size -= 1 + next;
    }
    cw_snapshot_client_destroy(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_message_type types[] = {body_type, player_type, group_type};
    const struct cw_schema_config schema_config = {.types = types, .count = 3};
    struct cw_schema *schema;
    expect(cw_schema_create(&schema_config, &schema) == CW_OK);
    play(schema, CW_SNAPSHOT_DIFFERENCES, data, size);
    play(schema, CW_SNAPSHOT_PREDICTED, data, size);
    play(schema, CW_SNAPSHOT_RANGE_CODED, data, size);
    cw_schema_destroy(schema);
    return 0;
}
