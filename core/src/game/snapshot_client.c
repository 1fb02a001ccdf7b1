#include "base/bit_set.h"
#include "game/snapshot_internal.h"
#include "game/snapshot_reader.h"
#include "message/schema_quantized.h"

#include "base/sequence.h"

/* The newest known state of an entity. The newest snapshot may leave the entity out. */
struct known {
    uint32_t number; /* the number of the newest snapshot that has it */
    uint32_t tick;   /* the tick of that snapshot */
    uint32_t type;   /* its type plus 1, 0 when there is none */
    uint8_t incarnation;
    bool announced; /* the application knows that the entity is there */
    bool replaced;  /* it has been another entity since */
};

struct cw_snapshot_client {
    struct cw_snapshot_config config;
    size_t memory;
    struct cw_schema *quantized;
    struct cw_snapshot_reader reader;

    uint32_t
        newest;    /* the number of the newest snapshot, lifted from 16 bits; 0 before the first */
    uint32_t used; /* one more than the highest id that ever came */
    bool begun_anew; /* a snapshot had no baseline: entities may be gone without a word */
    struct cw_snapshot_received *snapshots; /* indexed by number, and one more to read into */
    struct known *known;
    uint8_t *states;  /* the struct of each entity */
    uint64_t *untold; /* entities of which the application has yet to learn */
    uint32_t next;    /* the id from which to look for the first of them */
    struct cw_snapshot_client_stats stats;
};

static struct cw_snapshot_client *lay_out(struct cw_arena *arena,
                                          const struct cw_snapshot_config *config)
{
    const uint64_t entities = config->max_entities;
    const bool coded = config->coding == CW_SNAPSHOT_RANGE_CODED;
    const size_t stride = (cw_schema_message_size(config->schema) + 15) / 16 * 16;
    struct cw_snapshot_client *const client = cw_arena_take(arena, sizeof *client);
    struct cw_snapshot_client parts = {
        .config = *config, .memory = arena->size, .reader = {.stride = stride}};
    parts.quantized = cw_schema_quantized(config->schema, arena);
    parts.reader.kinds =
        cw_snapshot_take(arena, 1 + cw_schema_count(config->schema), sizeof *parts.reader.kinds);
    parts.snapshots = cw_snapshot_take(arena, config->window + 1, sizeof *parts.snapshots);
    for (uint32_t i = 0; i <= config->window; ++i) {
        uint32_t *const types = cw_snapshot_take(arena, entities, sizeof *types);
        uint8_t *const states = cw_snapshot_take(arena, entities, stride);
        uint64_t *const mentions =
            coded ? cw_snapshot_take(arena, entities / 64 + 1, sizeof *mentions) : NULL;
        if (client)
            parts.snapshots[i] = (struct cw_snapshot_received){
                .types = types, .states = states, .mentions = mentions};
    }
    parts.reader.mentions = cw_snapshot_take(arena, entities, sizeof *parts.reader.mentions);
    parts.known = cw_snapshot_take(arena, entities, sizeof *parts.known);
    parts.states = cw_snapshot_take(arena, entities, stride);
    parts.reader.coder = coded ? cw_arena_take(arena, sizeof *parts.reader.coder) : NULL;
    parts.untold = cw_snapshot_take(arena, entities / 64 + 1, sizeof *parts.untold);
    if (client) {
        *client = parts;
        client->reader.wire = cw_snapshot_wire_make(parts.quantized, config);
        for (uint32_t i = 0; i < cw_schema_count(config->schema); ++i) {
            const struct cw_schema_steps *const steps = &parts.quantized->types[i].steps;
            parts.reader.kinds[1 + i] = (struct cw_snapshot_kind){
                .steps = steps,
                .plain = config->coding == CW_SNAPSHOT_DIFFERENCES && cw_schema_is_plain(steps),
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

static struct cw_snapshot_received *snapshot_of(const struct cw_snapshot_client *client,
                                                uint32_t number)
{
    return &client->snapshots[number % client->config.window];
}

/* Begins a snapshot with the entities of the baseline. */
static void copy_baseline(const struct cw_snapshot_client *client,
                          const struct cw_snapshot_received *baseline,
                          struct cw_snapshot_received *snapshot)
{
    const size_t used = client->used;
    if (!baseline) {
        memset(snapshot->types, 0, used * sizeof *snapshot->types);
        return;
    }
    memcpy(snapshot->types, baseline->types, used * sizeof *snapshot->types);
    memcpy(snapshot->states, baseline->states, used * client->reader.stride);
}

/* Clears the ids that never came: no snapshot has entities of these, but one that was read only in
   part may have. */
static void clear_unused(const struct cw_snapshot_client *client,
                         struct cw_snapshot_received *snapshot)
{
    const size_t unused = client->config.max_entities - client->used;
    memset(snapshot->types + client->used, 0, unused * sizeof *snapshot->types);
}

/* Notes that an entity has come, gone, or may be another one. */
static void learn_kind(struct cw_snapshot_client *client, struct known *known, uint32_t type,
                       const struct cw_snapshot_mention *mention)
{
    client->stats.entities += (uint32_t)(type != 0) - (uint32_t)(known->type != 0);
    known->type = type;
    known->replaced |= type == 0 || (mention->whole && known->incarnation != mention->incarnation);
    if (mention->whole)
        known->incarnation = mention->incarnation;
}

/* Copies a state. States are small, and a stride is a multiple of 16. */
static void copy_state(uint8_t *restrict to, const uint8_t *restrict from, size_t stride)
{
    for (size_t i = 0; i < stride; i += 16)
        memcpy(to + i, from + i, 16);
}

/* Notes an entity's state from the snapshot. */
static void learn(struct cw_snapshot_client *client, const struct cw_snapshot_received *snapshot,
                  const struct cw_snapshot_mention *mention)
{
    const uint32_t entity = mention->entity, type = snapshot->types[entity];
    const size_t offset = (size_t)entity * client->reader.stride;
    struct known *const known = &client->known[entity];
    if (known->number > snapshot->number)
        return;
    known->number = snapshot->number;
    known->tick = snapshot->tick;
    if (mention->whole || known->type != type)
        learn_kind(client, known, type, mention);
    if (type != 0) {
        copy_state(client->states + offset, snapshot->states + offset, client->reader.stride);
        if (client->reader.kinds[type].floats)
            cw_schema_dequantize(client->config.schema, type - 1, client->states + offset);
    }
    cw_bit_set(client->untold, entity);
}

/* Notes which entities the snapshot has news of. */
static void note_told(const struct cw_snapshot_client *client,
                      const struct cw_snapshot_received *snapshot, uint32_t count)
{
    memset(snapshot->mentions, 0,
           (client->config.max_entities / 64 + 1) * sizeof *snapshot->mentions);
    for (uint32_t i = 0; i < count; ++i)
        cw_bit_set(snapshot->mentions, client->reader.mentions[i].entity);
}

static void learn_all(struct cw_snapshot_client *client,
                      const struct cw_snapshot_received *snapshot,
                      const struct cw_snapshot_head *head)
{
    const uint32_t count = head->count;
    if (count > 0 && client->used <= client->reader.mentions[count - 1].entity)
        client->used = client->reader.mentions[count - 1].entity + 1;
    for (uint32_t i = 0; i < count; ++i)
        learn(client, snapshot, &client->reader.mentions[i]);
    if (snapshot->mentions)
        note_told(client, snapshot, count);
    client->next = 0;
    if (!head->complete || !client->begun_anew || snapshot->number != client->newest)
        return;
    for (uint32_t id = 0; id < client->used; ++id)
        if (client->known[id].type != 0 && snapshot->types[id] == 0)
            learn(client, snapshot, &(struct cw_snapshot_mention){.entity = id});
    client->begun_anew = false;
}

/* Returns the number of a snapshot, lifted from 16 bits to near the newest. */
static uint32_t lift(const struct cw_snapshot_client *client, uint16_t number)
{
    if (client->newest == 0)
        return number + 65536u;
    const int ahead = cw_sequence_difference(number, (uint16_t)client->newest);
    return client->newest + (uint32_t)ahead;
}

/* Finds the snapshots from which another one is a difference. Returns false when they are not
   there. */
static bool find_ground(const struct cw_snapshot_client *client, uint32_t number, uint8_t header,
                        struct cw_snapshot_reading *reading)
{
    const uint32_t back = header & (CW_SNAPSHOT_PREDICTS - 1);
    if (back == 0)
        return (header & CW_SNAPSHOT_PREDICTS) == 0;
    reading->baseline = snapshot_of(client, number - back);
    if (reading->baseline->number != number - back)
        return false;
    if ((header & CW_SNAPSHOT_PREDICTS) == 0)
        return true;
    const uint32_t before = reading->baseline->baseline;
    reading->before = snapshot_of(client, before);
    return before != 0 && reading->before->number == before;
}

static enum cw_error receive(struct cw_snapshot_client *client, const uint8_t *data, size_t size)
{
    if (size < CW_SNAPSHOT_HEADER_SIZE)
        return CW_ERROR_MALFORMED;
    const uint32_t number = lift(client, (uint16_t)(data[0] | data[1] << 8));
    struct cw_snapshot_received *const slot = snapshot_of(client, number);
    if (slot->number == number)
        return CW_ERROR_DUPLICATE;
    if (number < client->newest && client->newest - number >= client->config.window)
        return CW_ERROR_STALE;
    struct cw_snapshot_reading reading = {.snapshot = &client->snapshots[client->config.window]};
    if (!find_ground(client, number, data[2], &reading))
        return CW_ERROR_SNAPSHOT_BASELINE;
    const struct cw_snapshot_received *const baseline = reading.baseline;
    struct cw_snapshot_received *const spare = reading.snapshot;
    copy_baseline(client, baseline, spare);
    if (!cw_snapshot_read_body(&client->reader, &reading, data + CW_SNAPSHOT_HEADER_SIZE,
                               size - CW_SNAPSHOT_HEADER_SIZE)) {
        clear_unused(client, spare);
        return CW_ERROR_MALFORMED;
    }
    const struct cw_snapshot_received before = *slot;
    *slot = *spare;
    *spare = before;
    slot->number = number;
    slot->baseline = baseline ? baseline->number : 0;
    client->begun_anew |= !baseline && client->newest != 0;
    if (client->newest < number)
        client->newest = number;
    learn_all(client, slot, &reading.head);
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
    return client->states + (size_t)entity * client->reader.stride;
}

/* Fills in the event for an entity that has changed since its last event. Returns whether it needs
   one more event after this one. */
static bool tell(struct known *known, struct cw_snapshot_event *event)
{
    const bool is = known->type != 0, gone = known->announced && known->replaced;
    event->entity_type = is && !gone ? known->type - 1 : 0;
    if (gone)
        event->type = CW_SNAPSHOT_EVENT_REMOVED;
    else
        event->type = known->announced ? CW_SNAPSHOT_EVENT_UPDATED : CW_SNAPSHOT_EVENT_CREATED;
    known->announced = is && !gone;
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
        if (!known->announced && known->type == 0) {
            /* it came and went in between */
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

void cw_snapshot_client_get_stats(const struct cw_snapshot_client *client,
                                  struct cw_snapshot_client_stats *stats)
{
    if (!client || !stats)
        return;
    *stats = client->stats;
    stats->newest = client->newest;
}
