#include "lab/cubes_view.h"

#include "base/little_endian.h"
#include "base/memory.h"
#include "base/sequence.h"
#include "lab/cubes_wire.h"

#include <string.h>

#define SNAPSHOTS (CW_LAB_CUBES_CODING_COUNT - CW_LAB_CUBES_DIFFERENCES)

/* A snapshot in one of the first codings, of which parts have come. */
struct kept {
    bool used;
    uint16_t tick;
    uint64_t parts; /* bit n: part n has come */
    uint32_t cubes;
    struct cw_lab_cube world[CW_LAB_CUBES_COUNT];
};

struct cw_lab_cubes_view {
    uint32_t key;
    uint64_t cookie;
    enum cw_lab_cubes_coding coding;
    uint8_t change;
    bool has_ack;
    uint16_t ack;
    struct cw_schema *schema;
    struct cw_snapshot_client *snapshots[SNAPSHOTS];
    struct cw_lab_cubes_view_stats stats;
    struct cw_lab_cubes_state now[CW_LAB_CUBES_COUNT];
    float figures[CW_LAB_CUBES_COUNT][CW_LAB_CUBES_FIGURES];
    struct kept kept[CW_LAB_CUBES_KEPT]; /* the latest snapshots, by tick */
};

static struct cw_snapshot_client *snapshots_of(const struct cw_lab_cubes_view *view)
{
    return view->coding < CW_LAB_CUBES_DIFFERENCES
               ? NULL
               : view->snapshots[view->coding - CW_LAB_CUBES_DIFFERENCES];
}

static void show(struct cw_lab_cubes_view *view, uint32_t number)
{
    const struct cw_lab_cubes_state *const state = &view->now[number];
    float *const figures = view->figures[number];
    memcpy(figures, state->position, sizeof state->position);
    memcpy(figures + 3, state->orientation, sizeof state->orientation);
    figures[7] = state->quantized.touched;
}

enum cw_error cw_lab_cubes_view_create(uint32_t key, struct cw_lab_cubes_view **view)
{
    const struct cw_allocator allocator = {0};
    struct cw_lab_cubes_view *const v = cw_allocate(&allocator, sizeof *v);
    if (!v)
        return CW_ERROR_NO_MEMORY;
    memset(v, 0, sizeof *v);
    v->key = key;
    const struct cw_schema_config types = {.types = &cw_lab_cube_type, .count = 1};
    enum cw_error error = cw_schema_create(&types, &v->schema);
    for (int i = 0; i < SNAPSHOTS && error == CW_OK; i++) {
        const struct cw_snapshot_config config = cw_lab_cubes_snapshots(
            v->schema, (enum cw_lab_cubes_coding)(CW_LAB_CUBES_DIFFERENCES + i), &allocator);
        error = cw_snapshot_client_create(&config, &v->snapshots[i]);
    }
    if (error != CW_OK)
        cw_lab_cubes_view_destroy(v);
    else
        *view = v;
    return error;
}

void cw_lab_cubes_view_destroy(struct cw_lab_cubes_view *view)
{
    const struct cw_allocator allocator = {0};
    if (!view)
        return;
    for (int i = 0; i < SNAPSHOTS; i++)
        cw_snapshot_client_destroy(view->snapshots[i]);
    cw_schema_destroy(view->schema);
    cw_release(&allocator, view, sizeof *view);
}

uint32_t cw_lab_cubes_view_codings(void)
{
    return CW_LAB_CUBES_CODING_COUNT;
}

void cw_lab_cubes_view_choose(struct cw_lab_cubes_view *view, uint32_t coding)
{
    if (!view || coding >= CW_LAB_CUBES_CODING_COUNT)
        return;
    view->coding = (enum cw_lab_cubes_coding)coding;
    view->change++;
    view->has_ack = false;
    view->stats = (struct cw_lab_cubes_view_stats){0};
    for (int i = 0; i < CW_LAB_CUBES_KEPT; i++)
        view->kept[i].used = false;
    if (snapshots_of(view))
        cw_snapshot_client_reset(snapshots_of(view));
}

/* Returns the place of a snapshot, which is empty when nothing of it has come. */
static struct kept *place_of(struct cw_lab_cubes_view *view, uint16_t tick)
{
    struct kept *const kept = &view->kept[tick % CW_LAB_CUBES_KEPT];
    if (!kept->used || kept->tick != tick) {
        kept->used = true;
        kept->tick = tick;
        kept->parts = kept->cubes = 0;
    }
    return kept;
}

/* Returns the world to which a part is relative; NULL when it is not here. */
static const struct kept *baseline_of(const struct cw_lab_cubes_view *view, uint16_t tick)
{
    const struct kept *const kept = &view->kept[tick % CW_LAB_CUBES_KEPT];
    return kept->used && kept->tick == tick && kept->cubes == CW_LAB_CUBES_COUNT ? kept : NULL;
}

static bool is_late(const struct cw_lab_cubes_view *view, uint16_t tick)
{
    return view->stats.datagrams > 0 && cw_sequence_newer((uint16_t)view->stats.newest, tick);
}

/* Reads a part of a snapshot. The cubes of a part that is malformed keep what was read of it, and
   are never acked. */
static bool read_part(struct cw_lab_cubes_view *view, uint16_t tick, const uint8_t *data,
                      size_t size)
{
    struct cw_lab_cubes_part part;
    if (size < 1 || data[0] >= CW_LAB_CUBES_PARTS || is_late(view, tick))
        return false;
    struct cw_stream stream = cw_stream_reader(data + 1, size - 1);
    if (!cw_lab_cubes_serialize_part(&stream, &part))
        return false;
    const struct kept *const baseline =
        part.has_baseline && part.ago > 0 ? baseline_of(view, (uint16_t)(tick - part.ago)) : NULL;
    if (part.has_baseline && !baseline)
        return false;
    struct kept *const kept = place_of(view, tick);
    const uint64_t bit = (uint64_t)1 << data[0];
    if (kept->parts & bit)
        return false;
    for (uint32_t i = part.first; i < part.first + part.count; i++) {
        struct cw_lab_cubes_state state = view->now[i];
        if (!cw_lab_cubes_serialize_cube(&stream, view->coding, &state,
                                         baseline ? &baseline->world[i] : NULL))
            return false;
        view->now[i] = state;
        kept->world[i] = state.quantized;
        show(view, i);
    }
    kept->parts |= bit;
    kept->cubes += part.count;
    if (kept->cubes == CW_LAB_CUBES_COUNT) {
        view->stats.snapshots++;
        view->has_ack = true;
        view->ack = tick;
    }
    return true;
}

static bool read_snapshot(struct cw_lab_cubes_view *view, const uint8_t *data, size_t size)
{
    struct cw_snapshot_client *const client = snapshots_of(view);
    struct cw_snapshot_event event;
    if (cw_snapshot_client_receive(client, data, size) != CW_OK)
        return false;
    while (cw_snapshot_client_next(client, &event)) {
        const struct cw_lab_cube *const cube = cw_snapshot_client_state(client, event.entity, NULL);
        if (!cube)
            continue;
        view->now[event.entity].quantized = *cube;
        cw_lab_cubes_restore(&view->now[event.entity]);
        show(view, event.entity);
    }
    view->stats.snapshots++;
    view->has_ack = cw_snapshot_client_newest(client, &view->ack);
    return true;
}

bool cw_lab_cubes_view_receive(struct cw_lab_cubes_view *view, const uint8_t *data, size_t size)
{
    if (!view || !data || size < CW_LAB_CUBES_SERVER_HEADER || data[0] != CW_LAB_CUBES_VERSION)
        return false;
    const uint8_t *at = data + 1;
    if (cw_little_endian_get(&at, 4) != view->key)
        return false;
    const uint8_t what = *at++, change = *at++;
    const uint16_t tick = (uint16_t)cw_little_endian_get(&at, 2);
    const size_t left = size - CW_LAB_CUBES_SERVER_HEADER;
    view->stats.full = what == CW_LAB_CUBES_FULL;
    if (what == CW_LAB_CUBES_COOKIE && left == sizeof view->cookie)
        view->cookie = cw_little_endian_get(&at, sizeof view->cookie);
    if (what != view->coding || change != view->change)
        return false;
    const bool read =
        snapshots_of(view) ? read_snapshot(view, at, left) : read_part(view, tick, at, left);
    if (view->stats.datagrams == 0)
        view->stats.first = view->stats.newest = tick;
    view->stats.newest += is_late(view, tick) ? 0 : (uint16_t)(tick - view->stats.newest);
    view->stats.datagrams++;
    view->stats.bytes += (uint32_t)size;
    return read;
}

size_t cw_lab_cubes_view_transmit(struct cw_lab_cubes_view *view, int32_t east, int32_t north,
                                  uint8_t *out, size_t capacity)
{
    if (!view || !out || capacity < CW_LAB_CUBES_VIEW_SIZE)
        return 0;
    uint8_t *at = out;
    cw_little_endian_put(&at, CW_LAB_CUBES_VERSION, 1);
    cw_little_endian_put(&at, view->key, 4);
    cw_little_endian_put(&at, view->cookie, sizeof view->cookie);
    cw_little_endian_put(&at, view->coding, 1);
    cw_little_endian_put(&at, view->change, 1);
    cw_little_endian_put(&at, view->has_ack, 1);
    cw_little_endian_put(&at, view->ack, 2);
    cw_little_endian_put(&at, (uint8_t)east, 1);
    cw_little_endian_put(&at, (uint8_t)north, 1);
    return (size_t)(at - out);
}

const float *cw_lab_cubes_view_figures(const struct cw_lab_cubes_view *view)
{
    return view ? view->figures[0] : NULL;
}

void cw_lab_cubes_view_get_stats(const struct cw_lab_cubes_view *view,
                                 struct cw_lab_cubes_view_stats *stats)
{
    if (view && stats)
        *stats = view->stats;
}
