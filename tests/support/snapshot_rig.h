/* A world of two types of entities, a server of snapshots and its clients. The tests of a program
   that defines EVERY_CODING run with each. */
#ifndef CAUSEWAY_TESTS_SNAPSHOT_RIG_H
#define CAUSEWAY_TESTS_SNAPSHOT_RIG_H

#ifdef EVERY_CODING
#define OWN_MAIN
#endif
#include "fixture.h"

#include "causeway/snapshot.h"

#include <stdbool.h>
#include <string.h>

#define BODY_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_BITS(18))                                                                          \
    FIELD(y, CW_BITS(18))                                                                          \
    FIELD(angle, CW_COMPRESSED_FLOAT(-4, 4, 0.01f))                                                \
    FIELD(touched, CW_BOOL)                                                                        \
    FIELD(stamp, CW_BITS(32))
CW_MESSAGE(body, BODY_FIELDS)

#define PLAYER_FIELDS(FIELD)                                                                       \
    FIELD(name, CW_STRING(11))                                                                     \
    FIELD(score, CW_INT(-100, 100))                                                                \
    FIELD(target, CW_OPTIONAL(CW_BITS(10)))                                                        \
    FIELD(items, CW_ARRAY(CW_BITS(5), 6))                                                          \
    FIELD(stamp, CW_BITS(32))
CW_MESSAGE(player, PLAYER_FIELDS)

enum { BODY, PLAYER };

static struct cw_schema *rig_schema;
static struct cw_snapshot_config rig_config;
static enum cw_snapshot_coding rig_coding; /* the coding of all configs */
static struct cw_snapshot_server *rig_server;
static struct cw_snapshot_client *rig_client;
static uint32_t rig_tick;

#ifdef EVERY_CODING
int main(void)
{
    int failed = 0;
    for (int coding = 0; coding < CW_SNAPSHOT_CODING_COUNT; coding++) {
        rig_coding = (enum cw_snapshot_coding)coding;
        failed += fixture_run();
    }
    return failed;
}
#endif

static inline void rig_close(void *config)
{
    (void)config;
    cw_snapshot_client_destroy(rig_client);
    cw_snapshot_server_destroy(rig_server);
    cw_schema_destroy(rig_schema);
    rig_client = NULL;
    rig_server = NULL;
}

static inline void rig_open(void)
{
    const struct cw_message_type types[] = {body_type, player_type};
    const struct cw_schema_config config = {.types = types, .count = 2};
    assert_int_equal(cw_schema_create(&config, &rig_schema), CW_OK);
    rig_config = cw_snapshot_config_default(rig_schema);
    rig_config.coding = rig_coding;
    rig_tick = 1000;
    own(&rig_config, rig_close);
}

static inline void rig_start(void)
{
    assert_int_equal(cw_snapshot_server_create(&rig_config, &rig_server), CW_OK);
    assert_int_equal(cw_snapshot_client_create(&rig_config, &rig_client), CW_OK);
}

/* Starts again with the present rig_config. */
static inline void rig_restart(void)
{
    cw_snapshot_client_destroy(rig_client);
    cw_snapshot_server_destroy(rig_server);
    rig_start();
}

static inline void set_body(uint32_t entity, uint32_t x)
{
    const struct body body = {.x = x, .y = 7, .angle = 1, .stamp = rig_tick};
    assert_int_equal(cw_snapshot_server_set(rig_server, entity, BODY, &body), CW_OK);
}

static inline void next_tick(void)
{
    assert_int_equal(cw_snapshot_server_tick(rig_server, ++rig_tick), CW_OK);
}

/* A snapshot on its way. */
struct sent {
    uint32_t number;
    size_t size;
    uint8_t bytes[8000];
};

static inline struct sent transmit_up_to(uint32_t client, size_t capacity)
{
    struct sent sent;
    sent.size = cw_snapshot_server_transmit(rig_server, client, sent.bytes, capacity, &sent.number);
    assert_true(sent.size > 0 && sent.size <= capacity);
    return sent;
}

static inline struct sent transmit_snapshot(uint32_t client)
{
    return transmit_up_to(client, sizeof((struct sent *)0)->bytes);
}

static inline enum cw_error receive_snapshot(const struct sent *sent)
{
    return cw_snapshot_client_receive(rig_client, sent->bytes, sent->size);
}

/* Ticks, sends to client 0, delivers and acks. */
static inline struct sent exchange(void)
{
    next_tick();
    const struct sent sent = transmit_snapshot(0);
    assert_int_equal(receive_snapshot(&sent), CW_OK);
    cw_snapshot_server_acked(rig_server, 0, sent.number);
    return sent;
}

static inline const struct body *body_at(uint32_t entity)
{
    uint32_t type = PLAYER;
    const struct body *const body = cw_snapshot_client_state(rig_client, entity, &type);
    assert_true(!body || type == BODY);
    return body;
}

static inline void expect_event(enum cw_snapshot_event_type type, uint32_t entity)
{
    struct cw_snapshot_event event;
    assert_true(cw_snapshot_client_next(rig_client, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.entity, entity);
    assert_int_equal(event.tick, rig_tick);
}

static inline void expect_no_event(void)
{
    struct cw_snapshot_event event;
    assert_false(cw_snapshot_client_next(rig_client, &event));
}

#endif
