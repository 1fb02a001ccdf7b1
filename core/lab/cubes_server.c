#include "lab/cubes_server.h"

#include "base/little_endian.h"
#include "base/memory.h"
#include "lab/cubes_wire.h"

#include <math.h>
#include <string.h>

#define SILENCE_SECONDS 2 /* after these a view is gone */
#define COOKIE_SIZE     8
#define SNAPSHOTS       (CW_LAB_CUBES_CODING_COUNT - CW_LAB_CUBES_DIFFERENCES)

struct view {
    struct cw_address address; /* its type is 0: nobody is here */
    uint32_t key;
    uint64_t cookie;
    bool proven; /* it has returned the cookie */
    enum cw_lab_cubes_coding coding;
    uint8_t change;
    bool has_ack;
    uint32_t acked; /* the tick, in the first codings */
    double heard;

    /* The snapshot of this tick that is being sent. */
    uint32_t next; /* the first cube of its next part, or CW_LAB_CUBES_COUNT: all were sent */
    uint8_t part;
};

struct cw_lab_cubes_server {
    struct cw_allocator allocator;
    size_t size;
    struct cw_random random;
    struct cw_lab_cubes *world;
    struct cw_schema *schema;
    struct cw_snapshot_server *snapshots[SNAPSHOTS];
    uint32_t tick;
    struct view views[CW_LAB_CUBES_VIEWS];
    struct cw_lab_cubes_state now[CW_LAB_CUBES_COUNT];
    struct cw_lab_cube kept[CW_LAB_CUBES_KEPT][CW_LAB_CUBES_COUNT]; /* the latest worlds, by tick */
};

/* The datagram of a view. */
struct request {
    uint32_t key;
    uint64_t cookie;
    enum cw_lab_cubes_coding coding;
    uint8_t change;
    bool has_ack;
    uint16_t ack;
    int8_t east, north;
};

static bool in_snapshots(enum cw_lab_cubes_coding coding)
{
    return coding >= CW_LAB_CUBES_DIFFERENCES;
}

static struct cw_snapshot_server *snapshots_of(const struct cw_lab_cubes_server *server,
                                               enum cw_lab_cubes_coding coding)
{
    return server->snapshots[coding - CW_LAB_CUBES_DIFFERENCES];
}

enum cw_error cw_lab_cubes_server_create(uint64_t seed, const struct cw_random *random,
                                         const struct cw_allocator *allocator,
                                         struct cw_lab_cubes_server **server)
{
    if (!random->fill)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_lab_cubes_server *const s = cw_allocate(allocator, sizeof *s);
    if (!s)
        return CW_ERROR_NO_MEMORY;
    memset(s, 0, sizeof *s);
    s->allocator = *allocator;
    s->size = sizeof *s;
    s->random = *random;
    const struct cw_schema_config types = {
        .types = &cw_lab_cube_type, .count = 1, .allocator = *allocator};
    s->world = cw_lab_cubes_create(seed);
    enum cw_error error = s->world ? cw_schema_create(&types, &s->schema) : CW_ERROR_NO_MEMORY;
    for (int i = 0; i < SNAPSHOTS && error == CW_OK; i++) {
        const struct cw_snapshot_config config = cw_lab_cubes_snapshots(
            s->schema, (enum cw_lab_cubes_coding)(CW_LAB_CUBES_DIFFERENCES + i), allocator);
        error = cw_snapshot_server_create(&config, &s->snapshots[i]);
    }
    if (error != CW_OK)
        cw_lab_cubes_server_destroy(s);
    else
        *server = s;
    return error;
}

void cw_lab_cubes_server_destroy(struct cw_lab_cubes_server *server)
{
    if (!server)
        return;
    for (int i = 0; i < SNAPSHOTS; i++)
        cw_snapshot_server_destroy(server->snapshots[i]);
    cw_schema_destroy(server->schema);
    cw_lab_cubes_destroy(server->world);
    const struct cw_allocator allocator = server->allocator;
    cw_release(&allocator, server, server->size);
}

bool cw_lab_cubes_server_wants(const uint8_t *data, size_t size)
{
    return data && size == CW_LAB_CUBES_VIEW_SIZE && data[0] == CW_LAB_CUBES_VERSION;
}

static bool read_request(const uint8_t *data, size_t size, struct request *request)
{
    if (!cw_lab_cubes_server_wants(data, size) || data[13] >= CW_LAB_CUBES_CODING_COUNT)
        return false;
    const uint8_t *at = data + 1;
    request->key = (uint32_t)cw_little_endian_get(&at, 4);
    request->cookie = cw_little_endian_get(&at, COOKIE_SIZE);
    request->coding = (enum cw_lab_cubes_coding)cw_little_endian_get(&at, 1);
    request->change = (uint8_t)cw_little_endian_get(&at, 1);
    request->has_ack = cw_little_endian_get(&at, 1) != 0;
    request->ack = (uint16_t)cw_little_endian_get(&at, 2);
    request->east = (int8_t)cw_little_endian_get(&at, 1);
    request->north = (int8_t)cw_little_endian_get(&at, 1);
    return true;
}

/* Returns the place of a view, or else one that is free; NULL when there is none. */
static struct view *place_of(struct cw_lab_cubes_server *server, const struct cw_address *from,
                             uint32_t key, double now)
{
    struct view *empty = NULL;
    for (int i = 0; i < CW_LAB_CUBES_VIEWS; i++) {
        struct view *const view = &server->views[i];
        if (view->address.type == 0 || now - view->heard > SILENCE_SECONDS)
            empty = view;
        else if (view->key == key && cw_address_equal(&view->address, from))
            return view;
    }
    if (empty)
        *empty = (struct view){.heard = -INFINITY};
    return empty;
}

static size_t answer(uint8_t *out, const struct request *request, uint8_t what, uint64_t cookie)
{
    uint8_t *at = out;
    cw_little_endian_put(&at, CW_LAB_CUBES_VERSION, 1);
    cw_little_endian_put(&at, request->key, 4);
    cw_little_endian_put(&at, what, 1);
    cw_little_endian_put(&at, request->change, 1);
    cw_little_endian_put(&at, 0, 2);
    cw_little_endian_put(&at, cookie, COOKIE_SIZE);
    return (size_t)(at - out);
}

/* Begins with a coding anew. */
static void begin(struct cw_lab_cubes_server *server, struct view *view,
                  const struct request *request)
{
    view->coding = request->coding;
    view->change = request->change;
    view->has_ack = false;
    if (in_snapshots(view->coding))
        (void)cw_snapshot_server_join(snapshots_of(server, view->coding),
                                      (uint32_t)(view - server->views));
}

static void take_ack(struct cw_lab_cubes_server *server, struct view *view, uint16_t ack)
{
    if (in_snapshots(view->coding)) {
        cw_snapshot_server_acked(snapshots_of(server, view->coding),
                                 (uint32_t)(view - server->views), ack);
        return;
    }
    const uint32_t ago = (uint16_t)(server->tick - ack);
    if (ago < CW_LAB_CUBES_KEPT && ago < server->tick) {
        view->has_ack = true;
        view->acked = server->tick - ago;
    }
}

size_t cw_lab_cubes_server_receive(struct cw_lab_cubes_server *server,
                                   const struct cw_address *from, const uint8_t *data, size_t size,
                                   double now, uint8_t *out)
{
    struct request request;
    if (!server || !from || !out || !isfinite(now) || !read_request(data, size, &request))
        return 0;
    struct view *const view = place_of(server, from, request.key, now);
    if (!view)
        return answer(out, &request, CW_LAB_CUBES_FULL, 0);
    if (view->address.type == 0) {
        view->address = *from;
        view->key = request.key;
        view->heard = now;
        server->random.fill(server->random.context, (uint8_t *)&view->cookie, sizeof view->cookie);
    }
    if (request.cookie != view->cookie)
        return answer(out, &request, CW_LAB_CUBES_COOKIE, view->cookie);
    view->heard = now;
    if (!view->proven || request.coding != view->coding || request.change != view->change)
        begin(server, view, &request);
    view->proven = true;
    if (request.has_ack)
        take_ack(server, view, request.ack);
    if (request.east != 0 || request.north != 0)
        cw_lab_cubes_steer(server->world, request.east / 127.0, request.north / 127.0);
    return 0;
}

static void show(struct cw_lab_cubes_server *server, enum cw_lab_cubes_coding coding)
{
    struct cw_snapshot_server *const snapshots = snapshots_of(server, coding);
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++)
        (void)cw_snapshot_server_set(snapshots, i, 0, &server->now[i].quantized);
    (void)cw_snapshot_server_tick(snapshots, server->tick);
}

void cw_lab_cubes_server_step(struct cw_lab_cubes_server *server, double now)
{
    bool used[CW_LAB_CUBES_CODING_COUNT] = {false}, any = false;
    for (int i = 0; i < CW_LAB_CUBES_VIEWS; i++) {
        struct view *const view = &server->views[i];
        const bool here = view->proven && now - view->heard <= SILENCE_SECONDS;
        view->next = here ? 0 : CW_LAB_CUBES_COUNT;
        view->part = 0;
        used[view->coding] |= here;
        any |= here;
    }
    if (!any)
        return;
    server->tick++;
    cw_lab_cubes_step(server->world);
    for (uint32_t i = 0; i < CW_LAB_CUBES_COUNT; i++) {
        struct cw_lab_cubes_body body;
        cw_lab_cubes_look(server->world, i, &body);
        cw_lab_cubes_state_of(&body, &server->now[i]);
        server->kept[server->tick % CW_LAB_CUBES_KEPT][i] = server->now[i].quantized;
    }
    for (int i = CW_LAB_CUBES_DIFFERENCES; i < CW_LAB_CUBES_CODING_COUNT; i++)
        if (used[i])
            show(server, (enum cw_lab_cubes_coding)i);
}

/* Writes the cubes from first on that fit, and returns how many these are. */
static uint32_t write_cubes(struct cw_lab_cubes_server *server, const struct view *view,
                            struct cw_stream *stream, const struct cw_lab_cube *baseline)
{
    uint32_t i = view->next;
    while (i < CW_LAB_CUBES_COUNT &&
           cw_stream_position(stream) + CW_LAB_CUBES_CUBE_BITS <= 8 * CW_LAB_CUBES_MAX_BODY) {
        struct cw_lab_cubes_state state = server->now[i];
        (void)cw_lab_cubes_serialize_cube(stream, view->coding, &state,
                                          baseline ? &baseline[i] : NULL);
        i++;
    }
    return i - view->next;
}

/* Writes the next part of a snapshot. Its head, which has the count of cubes, is written again when
   the count is known. */
static size_t write_part(struct cw_lab_cubes_server *server, struct view *view, uint8_t *out)
{
    const uint32_t ago = server->tick - view->acked;
    struct cw_lab_cubes_part part = {.has_baseline = view->coding == CW_LAB_CUBES_CHANGED &&
                                                     view->has_ack && ago < CW_LAB_CUBES_KEPT,
                                     .first = view->next};
    const struct cw_lab_cube *baseline = NULL;
    if (part.has_baseline) {
        part.ago = ago;
        baseline = server->kept[view->acked % CW_LAB_CUBES_KEPT];
    }
    out[0] = view->part++;
    struct cw_stream stream = cw_stream_measurer();
    (void)cw_lab_cubes_serialize_part(&stream, &part);
    part.count = write_cubes(server, view, &stream, baseline);
    stream = cw_stream_writer(out + 1, CW_LAB_CUBES_MAX_BODY - 1);
    (void)cw_lab_cubes_serialize_part(&stream, &part);
    (void)write_cubes(server, view, &stream, baseline);
    view->next += part.count;
    return 1 + cw_stream_flush(&stream);
}

static size_t write_view(struct cw_lab_cubes_server *server, struct view *view, uint8_t *out)
{
    uint8_t *at = out;
    cw_little_endian_put(&at, CW_LAB_CUBES_VERSION, 1);
    cw_little_endian_put(&at, view->key, 4);
    cw_little_endian_put(&at, view->coding, 1);
    cw_little_endian_put(&at, view->change, 1);
    cw_little_endian_put(&at, server->tick, 2);
    if (!in_snapshots(view->coding))
        return CW_LAB_CUBES_SERVER_HEADER + write_part(server, view, at);
    uint32_t number;
    view->next = CW_LAB_CUBES_COUNT;
    return CW_LAB_CUBES_SERVER_HEADER +
           cw_snapshot_server_transmit(snapshots_of(server, view->coding),
                                       (uint32_t)(view - server->views), at, CW_LAB_CUBES_MAX_BODY,
                                       &number);
}

size_t cw_lab_cubes_server_transmit(struct cw_lab_cubes_server *server, uint8_t *out,
                                    struct cw_address *to)
{
    for (int i = 0; i < CW_LAB_CUBES_VIEWS; i++) {
        struct view *const view = &server->views[i];
        if (view->next == CW_LAB_CUBES_COUNT || view->address.type == 0)
            continue;
        *to = view->address;
        return write_view(server, view, out);
    }
    return 0;
}
