#include "base/bit_set.h"
#include "game/snapshot_internal.h"
#include "game/snapshot_wire.h"
#include "message/schema_plain.h"
#include "message/schema_quantized.h"

#include "causeway/sequence.h"

/* A snapshot that was received, as it was meant: what later ones are told against. */
struct snapshot {
    uint32_t number; /* 0: none */
    uint32_t tick;
    uint32_t *types; /* per entity: 1 more than its type, 0 when there is none */
    uint8_t *states; /* per entity: its struct, quantized */
};

/* The newest that is known of an entity. A snapshot that leaves it out need not be the newest for
   it. */
struct known {
    uint32_t number; /* of the newest snapshot that told of it */
    uint32_t tick;   /* of that one */
    uint32_t type;   /* 1 more than its type, 0 when there is none */
    uint8_t incarnation;
    bool told;     /* the application knows that it is there */
    bool replaced; /* it is another one since */
};

struct told {
    uint32_t entity;
    bool whole;
    uint8_t incarnation; /* of one that is told whole */
};

/* What is to be known of a type while a snapshot is read. */
struct kind {
    const struct cw_schema_steps *steps;
    bool plain;  /* see cw_schema_is_plain */
    bool floats; /* is quantized into something else */
};

struct cw_snapshot_client {
    struct cw_snapshot_config config;
    size_t memory;
    struct cw_schema *quantized;
    struct cw_snapshot_wire wire;
    struct kind *kinds; /* per type of a snapshot; of 0, all false */
    size_t stride;

    uint32_t
        newest;    /* the number of the newest snapshot, lifted from 16 bits; 0 before the first */
    uint32_t used; /* one more than the highest id that was ever told */
    bool begun_anew; /* a snapshot had no baseline: entities may be gone without a word */
    struct snapshot *snapshots; /* by number, and one to read into */
    struct told *told;          /* by the snapshot that is being read */
    struct known *known;
    uint8_t *states;  /* per entity: its struct */
    uint64_t *untold; /* entities that the application is to be told of */
    uint32_t next;    /* where to look for the first of them */
    struct cw_snapshot_client_stats stats;
};

static struct cw_snapshot_client *lay_out(struct cw_arena *arena,
                                          const struct cw_snapshot_config *config)
{
    const uint64_t entities = config->max_entities;
    const size_t stride = (cw_schema_message_size(config->schema) + 15) / 16 * 16;
    struct cw_snapshot_client *const client = cw_arena_take(arena, sizeof *client);
    struct cw_snapshot_client parts = {.config = *config, .memory = arena->size, .stride = stride};
    parts.quantized = cw_schema_quantized(config->schema, arena);
    parts.kinds = cw_snapshot_take(arena, 1 + cw_schema_count(config->schema), sizeof *parts.kinds);
    parts.snapshots = cw_snapshot_take(arena, config->window + 1, sizeof *parts.snapshots);
    for (uint32_t i = 0; i <= config->window; ++i) {
        uint32_t *const types = cw_snapshot_take(arena, entities, sizeof *types);
        uint8_t *const states = cw_snapshot_take(arena, entities, stride);
        if (client)
            parts.snapshots[i] = (struct snapshot){.types = types, .states = states};
    }
    parts.told = cw_snapshot_take(arena, entities, sizeof *parts.told);
    parts.known = cw_snapshot_take(arena, entities, sizeof *parts.known);
    parts.states = cw_snapshot_take(arena, entities, stride);
    parts.untold = cw_snapshot_take(arena, entities / 64 + 1, sizeof *parts.untold);
    if (client) {
        *client = parts;
        client->wire = cw_snapshot_wire(parts.quantized, config->max_entities);
        for (uint32_t i = 0; i < cw_schema_count(config->schema); ++i) {
            const struct cw_schema_steps *const steps = &parts.quantized->types[i].steps;
            parts.kinds[1 + i] = (struct kind){.steps = steps,
                                               .plain = cw_schema_is_plain(steps),
                                               .floats = cw_schema_quantizes(config->schema, i)};
        }
    }
    return client;
}

size_t cw_snapshot_client_memory(const struct cw_snapshot_config *config)
{
    struct cw_arena arena = {0};
    if (cw_snapshot_config_check(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_snapshot_client_create(const struct cw_snapshot_config *config,
                                        struct cw_snapshot_client **client)
{
    const enum cw_error error =
        client ? cw_snapshot_config_check(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_snapshot_client_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *client = lay_out(&arena, config);
    return CW_OK;
}

void cw_snapshot_client_destroy(struct cw_snapshot_client *client)
{
    if (!client)
        return;
    const struct cw_allocator allocator = client->config.allocator;
    cw_release(&allocator, client, client->memory);
}

void cw_snapshot_client_reset(struct cw_snapshot_client *client)
{
    if (!client)
        return;
    const size_t entities = client->config.max_entities;
    for (uint32_t i = 0; i <= client->config.window; ++i) {
        client->snapshots[i].number = 0;
        memset(client->snapshots[i].types, 0, entities * sizeof(uint32_t));
    }
    memset(client->known, 0, entities * sizeof *client->known);
    memset(client->untold, 0, (entities / 64 + 1) * sizeof *client->untold);
    memset(&client->stats, 0, sizeof client->stats);
    client->newest = 0;
    client->used = 0;
    client->next = 0;
    client->begun_anew = false;
}

static struct snapshot *snapshot_of(const struct cw_snapshot_client *client, uint32_t number)
{
    return &client->snapshots[number % client->config.window];
}

static uint8_t *state_in(const struct cw_snapshot_client *client, const struct snapshot *snapshot,
                         uint32_t entity)
{
    return snapshot->states + (size_t)entity * client->stride;
}

/* Begins with what the baseline has. */
static void copy_baseline(const struct cw_snapshot_client *client, const struct snapshot *baseline,
                          struct snapshot *snapshot)
{
    const size_t used = client->used;
    if (!baseline) {
        memset(snapshot->types, 0, used * sizeof *snapshot->types);
        return;
    }
    memcpy(snapshot->types, baseline->types, used * sizeof *snapshot->types);
    memcpy(snapshot->states, baseline->states, used * client->stride);
}

/* No snapshot has entities of ids that were never told; one that was read in part may have. */
static void clear_unused(const struct cw_snapshot_client *client, struct snapshot *snapshot)
{
    const size_t unused = client->config.max_entities - client->used;
    memset(snapshot->types + client->used, 0, unused * sizeof *snapshot->types);
}

/* What is no update of a plain struct. */
static bool read_other(const struct cw_snapshot_client *client, struct cw_bit_reader *reader,
                       struct snapshot *snapshot, struct told *told)
{
    uint32_t *const type = &snapshot->types[told->entity];
    uint8_t *const state = state_in(client, snapshot, told->entity);
    struct cw_snapshot_entry entry = {.in_baseline = *type != 0,
                                      .type = *type != 0 ? *type - 1 : 0,
                                      .baseline = state,
                                      .state = state};
    struct cw_stream stream = {.mode = CW_STREAM_READ};
    cw_bit_reader_settle(reader);
    stream.reader = *reader;
    const bool done = cw_snapshot_serialize_entry(&client->wire, &stream, &entry);
    *reader = stream.reader;
    *type = entry.change == CW_SNAPSHOT_REMOVE ? 0 : entry.type + 1;
    told->whole = entry.change == CW_SNAPSHOT_WHOLE;
    told->incarnation = (uint8_t)entry.incarnation;
    return done;
}

/* Reads entries with the reader in registers. */
static bool read_entries(const struct cw_snapshot_client *client, struct cw_bit_reader *in,
                         struct snapshot *snapshot, uint32_t count)
{
    const struct kind *const kinds = client->kinds;
    const struct told *const end = client->told + count;
    struct cw_bit_reader reader = *in;
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (struct told *told = client->told; told < end; ++told) {
        if (!cw_snapshot_read_id(&client->wire, &reader, previous, &previous))
            return false;
        *told = (struct told){.entity = previous};
        const uint32_t type = snapshot->types[previous];
        cw_bit_reader_fill(&reader);
        if (kinds[type].plain && cw_snapshot_is_update(&reader)) {
            cw_bit_reader_skip(&reader, 1);
            if (!cw_schema_read_plain(&reader, kinds[type].steps,
                                      state_in(client, snapshot, previous)))
                return false;
            continue;
        }
        struct cw_bit_reader copy = reader;
        if (!read_other(client, &copy, snapshot, told))
            return false;
        reader = copy;
    }
    cw_bit_reader_settle(&reader);
    *in = reader;
    return true;
}

/* Reads a body, and nothing but zero bits after it. */
static bool read_body(const struct cw_snapshot_client *client, const struct snapshot *baseline,
                      struct snapshot *snapshot, const uint8_t *data, size_t size,
                      struct cw_snapshot_head *head)
{
    struct cw_stream stream = cw_stream_reader(data, size);
    *head = (struct cw_snapshot_head){.has_baseline = baseline != NULL,
                                      .baseline_tick = baseline ? baseline->tick : 0};
    if (!cw_snapshot_serialize_head(&client->wire, &stream, head) ||
        !read_entries(client, &stream.reader, snapshot, head->count))
        return false;
    snapshot->tick = head->tick;
    return cw_stream_align(&stream) && cw_stream_position(&stream) == size * 8;
}

/* Notes that an entity has come, gone, or may be another one. */
static void learn_kind(struct cw_snapshot_client *client, struct known *known, uint32_t type,
                       const struct told *told)
{
    client->stats.entities += (uint32_t)(type != 0) - (uint32_t)(known->type != 0);
    known->type = type;
    known->replaced |= type == 0 || (told->whole && known->incarnation != told->incarnation);
    if (told->whole)
        known->incarnation = told->incarnation;
}

/* States are small, and a stride is a multiple of 16. */
static void copy_state(uint8_t *restrict to, const uint8_t *restrict from, size_t stride)
{
    for (size_t i = 0; i < stride; i += 16)
        memcpy(to + i, from + i, 16);
}

/* Notes that an entity is as the snapshot says. */
static void learn(struct cw_snapshot_client *client, const struct snapshot *snapshot,
                  const struct told *told)
{
    const uint32_t entity = told->entity, type = snapshot->types[entity];
    const size_t offset = (size_t)entity * client->stride;
    struct known *const known = &client->known[entity];
    if (known->number > snapshot->number)
        return;
    known->number = snapshot->number;
    known->tick = snapshot->tick;
    if (told->whole || known->type != type)
        learn_kind(client, known, type, told);
    if (type != 0) {
        copy_state(client->states + offset, snapshot->states + offset, client->stride);
        if (client->kinds[type].floats)
            cw_schema_dequantize(client->config.schema, type - 1, client->states + offset);
    }
    cw_bit_set(client->untold, entity);
}

static void learn_all(struct cw_snapshot_client *client, const struct snapshot *snapshot,
                      const struct cw_snapshot_head *head)
{
    const uint32_t count = head->count;
    if (count > 0 && client->used <= client->told[count - 1].entity)
        client->used = client->told[count - 1].entity + 1;
    for (uint32_t i = 0; i < count; ++i)
        learn(client, snapshot, &client->told[i]);
    client->next = 0;
    if (!head->complete || !client->begun_anew || snapshot->number != client->newest)
        return;
    for (uint32_t id = 0; id < client->used; ++id)
        if (client->known[id].type != 0 && snapshot->types[id] == 0)
            learn(client, snapshot, &(struct told){.entity = id});
    client->begun_anew = false;
}

/* The number of a snapshot, lifted from 16 bits to near the newest. */
static uint32_t lift(const struct cw_snapshot_client *client, uint16_t number)
{
    if (client->newest == 0)
        return number + 65536u;
    const int ahead = cw_sequence_difference(number, (uint16_t)client->newest);
    return client->newest + (uint32_t)ahead;
}

static enum cw_error receive(struct cw_snapshot_client *client, const uint8_t *data, size_t size)
{
    if (size < CW_SNAPSHOT_HEADER_SIZE)
        return CW_ERROR_MALFORMED;
    const uint32_t number = lift(client, (uint16_t)(data[0] | data[1] << 8));
    struct snapshot *const slot = snapshot_of(client, number);
    if (slot->number == number)
        return CW_ERROR_DUPLICATE;
    if (number < client->newest && client->newest - number >= client->config.window)
        return CW_ERROR_STALE;
    const struct snapshot *baseline = NULL;
    if (data[2] > 0) {
        baseline = snapshot_of(client, number - data[2]);
        if (baseline->number != number - data[2])
            return CW_ERROR_SNAPSHOT_BASELINE;
    }
    struct snapshot *const spare = &client->snapshots[client->config.window];
    struct cw_snapshot_head head;
    copy_baseline(client, baseline, spare);
    if (!read_body(client, baseline, spare, data + CW_SNAPSHOT_HEADER_SIZE,
                   size - CW_SNAPSHOT_HEADER_SIZE, &head)) {
        clear_unused(client, spare);
        return CW_ERROR_MALFORMED;
    }
    const struct snapshot before = *slot;
    *slot = *spare;
    *spare = before;
    slot->number = number;
    client->begun_anew |= !baseline && client->newest != 0;
    if (client->newest < number)
        client->newest = number;
    learn_all(client, slot, &head);
    client->stats.whole += !baseline;
    return CW_OK;
}

enum cw_error cw_snapshot_client_receive(struct cw_snapshot_client *client, const uint8_t *data,
                                         size_t size)
{
    if (!client || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    const enum cw_error error = receive(client, data, size);
    client->stats.malformed += error == CW_ERROR_MALFORMED;
    client->stats.duplicate += error == CW_ERROR_DUPLICATE;
    client->stats.stale += error == CW_ERROR_STALE;
    client->stats.baseline_missing += error == CW_ERROR_SNAPSHOT_BASELINE;
    client->stats.snapshots += error == CW_OK;
    client->stats.bytes += error == CW_OK ? size : 0;
    return error;
}

bool cw_snapshot_client_newest(const struct cw_snapshot_client *client, uint16_t *number)
{
    if (!client || !number || client->newest == 0)
        return false;
    *number = (uint16_t)client->newest;
    return true;
}

bool cw_snapshot_client_tick(const struct cw_snapshot_client *client, uint32_t *tick)
{
    if (!client || !tick || client->newest == 0)
        return false;
    *tick = snapshot_of(client, client->newest)->tick;
    return true;
}

const void *cw_snapshot_client_state(const struct cw_snapshot_client *client, uint32_t entity,
                                     uint32_t *type)
{
    if (!client || entity >= client->config.max_entities || client->known[entity].type == 0)
        return NULL;
    if (type)
        *type = client->known[entity].type - 1;
    return client->states + (size_t)entity * client->stride;
}

/* Fills in the event for an entity that is not as it was told. Returns whether it needs one more
   event after this one. */
static bool tell(struct known *known, struct cw_snapshot_event *event)
{
    const bool is = known->type != 0, gone = known->told && known->replaced;
    event->type = is && !gone ? known->type - 1 : 0;
    if (gone)
        event->kind = CW_SNAPSHOT_EVENT_REMOVED;
    else
        event->kind = known->told ? CW_SNAPSHOT_EVENT_UPDATED : CW_SNAPSHOT_EVENT_CREATED;
    known->told = is && !gone;
    known->replaced = false;
    return is && gone;
}

bool cw_snapshot_client_next(struct cw_snapshot_client *client, struct cw_snapshot_event *event)
{
    if (!client || !event)
        return false;
    for (;;) {
        const uint32_t entity = cw_bit_next(client->untold, client->next, client->used);
        if (entity == CW_BIT_NONE) {
            client->next = client->used;
            return false;
        }
        client->next = entity;
        struct known *const known = &client->known[entity];
        if (!known->told && known->type == 0) {
            /* came and went in between */
            known->replaced = false;
            cw_bit_clear(client->untold, entity);
            continue;
        }
        event->entity = entity;
        event->tick = known->tick;
        if (!tell(known, event))
            cw_bit_clear(client->untold, entity);
        return true;
    }
}

void cw_snapshot_client_stats(const struct cw_snapshot_client *client,
                              struct cw_snapshot_client_stats *stats)
{
    if (client && stats)
        *stats = client->stats;
}
