#include "base/bit_set.h"
#include "game/snapshot_coder.h"
#include "game/snapshot_internal.h"
#include "game/snapshot_wire.h"
#include "message/schema_plain.h"
#include "message/schema_quantized.h"

#include "causeway/sequence.h"

/* A snapshot that was received, as it was meant: what later ones are told against. */
struct snapshot {
    uint32_t number; /* 0: none */
    uint32_t tick;
    uint32_t baseline; /* the number of the snapshot that it was told against, 0: none */
    uint32_t *types;   /* per entity: 1 more than its type, 0 when there is none */
    uint8_t *states;   /* per entity: its struct, quantized */
    uint64_t *told;    /* entities that it told of; NULL without the range coder */
};

/* A snapshot that is being read, and those that it is told against, or NULL. */
struct reading {
    const struct snapshot *baseline, *before;
    struct snapshot *snapshot;
    struct cw_snapshot_head head;
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
    bool plain;  /* see cw_schema_is_plain; and is told by its differences */
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
    uint8_t *states;                 /* per entity: its struct */
    struct cw_snapshot_coder *coder; /* NULL without the range coder */
    uint64_t *untold;                /* entities that the application is to be told of */
    uint32_t next;                   /* where to look for the first of them */
    struct cw_snapshot_client_stats stats;
};

static struct cw_snapshot_client *lay_out(struct cw_arena *arena,
                                          const struct cw_snapshot_config *config)
{
    const uint64_t entities = config->max_entities;
    const bool coded = config->coding == CW_SNAPSHOT_RANGE_CODED;
    const size_t stride = (cw_schema_message_size(config->schema) + 15) / 16 * 16;
    struct cw_snapshot_client *const client = cw_arena_take(arena, sizeof *client);
    struct cw_snapshot_client parts = {.config = *config, .memory = arena->size, .stride = stride};
    parts.quantized = cw_schema_quantized(config->schema, arena);
    parts.kinds = cw_snapshot_take(arena, 1 + cw_schema_count(config->schema), sizeof *parts.kinds);
    parts.snapshots = cw_snapshot_take(arena, config->window + 1, sizeof *parts.snapshots);
    for (uint32_t i = 0; i <= config->window; ++i) {
        uint32_t *const types = cw_snapshot_take(arena, entities, sizeof *types);
        uint8_t *const states = cw_snapshot_take(arena, entities, stride);
        uint64_t *const told =
            coded ? cw_snapshot_take(arena, entities / 64 + 1, sizeof *told) : NULL;
        if (client)
            parts.snapshots[i] = (struct snapshot){.types = types, .states = states, .told = told};
    }
    parts.told = cw_snapshot_take(arena, entities, sizeof *parts.told);
    parts.known = cw_snapshot_take(arena, entities, sizeof *parts.known);
    parts.states = cw_snapshot_take(arena, entities, stride);
    parts.coder = coded ? cw_arena_take(arena, sizeof *parts.coder) : NULL;
    parts.untold = cw_snapshot_take(arena, entities / 64 + 1, sizeof *parts.untold);
    if (client) {
        *client = parts;
        client->wire = cw_snapshot_wire(parts.quantized, config);
        for (uint32_t i = 0; i < cw_schema_count(config->schema); ++i) {
            const struct cw_schema_steps *const steps = &parts.quantized->types[i].steps;
            parts.kinds[1 + i] = (struct kind){.steps = steps,
                                               .plain = config->coding == CW_SNAPSHOT_DIFFERENCES &&
                                                        cw_schema_is_plain(steps),
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

/* How the entity moved that is there in the baseline. */
static struct cw_snapshot_motion motion_of(const struct cw_snapshot_client *client,
                                           const struct reading *reading, uint32_t entity)
{
    const struct snapshot *const baseline = reading->baseline, *const before = reading->before;
    if (!before || before->types[entity] != reading->snapshot->types[entity])
        return (struct cw_snapshot_motion){0};
    return (struct cw_snapshot_motion){state_in(client, before, entity),
                                       baseline->tick - before->tick,
                                       reading->head.tick - baseline->tick};
}

/* What is no update of a plain struct by its differences. */
static bool read_other(const struct cw_snapshot_client *client, struct cw_bit_reader *reader,
                       const struct reading *reading, struct told *told)
{
    uint32_t *const type = &reading->snapshot->types[told->entity];
    uint8_t *const state = state_in(client, reading->snapshot, told->entity);
    struct cw_snapshot_entry entry = {.in_baseline = *type != 0,
                                      .type = *type != 0 ? *type - 1 : 0,
                                      .baseline = state,
                                      .motion = motion_of(client, reading, told->entity),
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
                         const struct reading *reading)
{
    const struct kind *const kinds = client->kinds;
    const struct told *const end = client->told + reading->head.count;
    /* what is written to states might be any of these, for all that a compiler knows */
    const uint32_t *const types = reading->snapshot->types;
    uint8_t *const states = reading->snapshot->states;
    const size_t stride = client->stride;
    struct cw_bit_reader reader = *in;
    uint32_t previous = CW_SNAPSHOT_NO_ID;
    for (struct told *told = client->told; told < end; ++told) {
        if (!cw_snapshot_read_id(&client->wire, &reader, previous, &previous))
            return false;
        *told = (struct told){.entity = previous};
        const uint32_t type = types[previous];
        cw_bit_reader_fill(&reader);
        if (kinds[type].plain && cw_snapshot_is_update(&reader)) {
            cw_bit_reader_skip(&reader, 1);
            if (!cw_schema_read_plain(&reader, kinds[type].steps, states + previous * stride))
                return false;
            continue;
        }
        struct cw_bit_reader copy = reader;
        if (!read_other(client, &copy, reading, told))
            return false;
        reader = copy;
    }
    cw_bit_reader_settle(&reader);
    *in = reader;
    return true;
}

/* Whether the baseline told of an entity, by its own baseline that is there. */
static bool told_before(const struct reading *reading, uint32_t entity)
{
    return reading->before && (reading->baseline->told[entity / 64] >> entity % 64 & 1) != 0;
}

/* An entry of which the range coder knows, at least that it is there. */
static bool read_coded_entry(const struct cw_snapshot_client *client, struct cw_stream *stream,
                             const struct reading *reading, struct told *told)
{
    const uint32_t type = reading->snapshot->types[told->entity];
    uint8_t *const state = state_in(client, reading->snapshot, told->entity);
    bool plain = false;
    if (!cw_snapshot_code_is_plain(client->coder, &plain))
        return false;
    if (!plain)
        return read_other(client, &stream->reader, reading, told);
    const struct cw_schema_steps *const steps =
        type != 0 ? cw_snapshot_moving(&client->wire, type - 1) : NULL;
    const struct cw_snapshot_motion motion = motion_of(client, reading, told->entity);
    return steps && cw_snapshot_code_fields(client->coder, steps, &motion, state, state);
}

/* Reads what the range coder tells, and with it the entries that it does not. */
static bool read_coded(const struct cw_snapshot_client *client, struct cw_stream *stream,
                       const struct reading *reading, const uint8_t *data, size_t size)
{
    uint32_t end = 0, count = 0;
    cw_snapshot_coder_start(client->coder, cw_range_reader(data, size));
    if (!cw_stream_count(stream, &end, client->config.max_entities))
        return false;
    for (uint32_t entity = 0; entity < end; ++entity) {
        bool changed = false;
        if (!cw_snapshot_code_changed(client->coder, told_before(reading, entity), &changed))
            return false;
        if (!changed)
            continue;
        struct told *const told = &client->told[count++];
        *told = (struct told){.entity = entity};
        if (!read_coded_entry(client, stream, reading, told))
            return false;
    }
    return count == reading->head.count && cw_range_ended(&client->coder->range);
}

/* Reads a body, and nothing but zero bits after it. */
static bool read_body(const struct cw_snapshot_client *client, struct reading *reading,
                      const uint8_t *data, size_t size)
{
    const struct snapshot *const baseline = reading->baseline, *const before = reading->before;
    size_t split = CW_SNAPSHOT_NOT_SPLIT;
    if (client->coder) {
        if (size < CW_SNAPSHOT_SPLIT_SIZE)
            return false;
        split = data[0] | (size_t)data[1] << 8;
        data += CW_SNAPSHOT_SPLIT_SIZE;
        size -= CW_SNAPSHOT_SPLIT_SIZE;
    }
    const bool coded = split != CW_SNAPSHOT_NOT_SPLIT;
    if (coded && split > size)
        return false;
    const size_t plain = coded ? split : size;
    struct cw_stream stream = cw_stream_reader(data, plain);
    struct cw_snapshot_head *const head = &reading->head;
    *head = (struct cw_snapshot_head){.has_baseline = baseline != NULL,
                                      .baseline_tick = baseline ? baseline->tick : 0};
    if (!cw_snapshot_serialize_head(&client->wire, &stream, head) ||
        (before &&
         !cw_snapshot_can_predict(baseline->tick - before->tick, head->tick - baseline->tick)))
        return false;
    const bool done = coded ? read_coded(client, &stream, reading, data + plain, size - plain)
                            : read_entries(client, &stream.reader, reading);
    reading->snapshot->tick = head->tick;
    return done && cw_stream_align(&stream) && cw_stream_position(&stream) == plain * 8;
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

/* Notes which entities the snapshot told of. */
static void note_told(const struct cw_snapshot_client *client, const struct snapshot *snapshot,
                      uint32_t count)
{
    memset(snapshot->told, 0, (client->config.max_entities / 64 + 1) * sizeof *snapshot->told);
    for (uint32_t i = 0; i < count; ++i)
        cw_bit_set(snapshot->told, client->told[i].entity);
}

static void learn_all(struct cw_snapshot_client *client, const struct snapshot *snapshot,
                      const struct cw_snapshot_head *head)
{
    const uint32_t count = head->count;
    if (count > 0 && client->used <= client->told[count - 1].entity)
        client->used = client->told[count - 1].entity + 1;
    for (uint32_t i = 0; i < count; ++i)
        learn(client, snapshot, &client->told[i]);
    if (snapshot->told)
        note_told(client, snapshot, count);
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

/* Finds what a snapshot is told against. False when it is not there. */
static bool find_ground(const struct cw_snapshot_client *client, uint32_t number, uint8_t header,
                        struct reading *reading)
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
    struct snapshot *const slot = snapshot_of(client, number);
    if (slot->number == number)
        return CW_ERROR_DUPLICATE;
    if (number < client->newest && client->newest - number >= client->config.window)
        return CW_ERROR_STALE;
    struct reading reading = {.snapshot = &client->snapshots[client->config.window]};
    if (!find_ground(client, number, data[2], &reading))
        return CW_ERROR_SNAPSHOT_BASELINE;
    const struct snapshot *const baseline = reading.baseline;
    struct snapshot *const spare = reading.snapshot;
    copy_baseline(client, baseline, spare);
    if (!read_body(client, &reading, data + CW_SNAPSHOT_HEADER_SIZE,
                   size - CW_SNAPSHOT_HEADER_SIZE)) {
        clear_unused(client, spare);
        return CW_ERROR_MALFORMED;
    }
    const struct snapshot before = *slot;
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
    return client->states + (size_t)entity * client->stride;
}

/* Fills in the event for an entity that is not as it was told. Returns whether it needs one more
   event after this one. */
static bool tell(struct known *known, struct cw_snapshot_event *event)
{
    const bool is = known->type != 0, gone = known->told && known->replaced;
    event->entity_type = is && !gone ? known->type - 1 : 0;
    if (gone)
        event->type = CW_SNAPSHOT_EVENT_REMOVED;
    else
        event->type = known->told ? CW_SNAPSHOT_EVENT_UPDATED : CW_SNAPSHOT_EVENT_CREATED;
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
