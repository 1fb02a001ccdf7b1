#include "path_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK      (1.0 / 60)
#define HEAD      1    /* bytes in front of a datagram: the index of its flow */
#define NOT_A_LAG 1e-9 /* seconds by which rounded sums of times may differ */

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

struct cw_simulator_path path_of_rtt(double rtt)
{
    struct cw_simulator_path path = cw_simulator_config_default().path;
    path.latency_seconds = rtt / 2;
    return path;
}

struct cw_simulator_path path_of_kbit(double rtt, double kbit, double queue_seconds)
{
    struct cw_simulator_path path = path_of_rtt(rtt);
    path.bytes_per_second = kbit * 125;
    path.queue_bytes = path.bytes_per_second * queue_seconds;
    return path;
}

static void make_link(struct path_link *link, uint64_t seed, const struct cw_simulator_path *path)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = seed;
    config.path = *path;
    config.max_datagram_size = PATH_DATAGRAM;
    config.max_datagrams = 16384;
    check(cw_simulator_create(&config, &link->simulator));
    link->path = *path;
    link->rate = path->bytes_per_second;
    link->shaper.done = INFINITY;
}

struct path_world *path_world_create(uint64_t seed, const struct cw_simulator_path *there,
                                     const struct cw_simulator_path *back)
{
    struct path_world *world = calloc(1, sizeof *world);
    if (!world)
        exit(1);
    world->random.state = seed;
    make_link(&world->links[0], 2 * seed, there);
    make_link(&world->links[1], 2 * seed + 1, back);
    return world;
}

void path_world_destroy(struct path_world *world)
{
    for (uint32_t i = 0; i < world->flow_count; i++) {
        for (int j = 0; j < 2; j++) {
            cw_connection_destroy(world->flows[i].ends[j].connection);
            free(world->flows[i].ends[j].inbox);
        }
        free(world->flows[i].peer);
    }
    for (int i = 0; i < 2; i++) {
        cw_simulator_destroy(world->links[i].simulator);
        path_shaper_end(&world->links[i].shaper);
    }
    free(world);
}

/* The queue */

/* The backlog of CoDel's queue stays the same until the next datagram comes or goes. */
static void drain(struct path_link *link, double now)
{
    if (link->shaper.kind == PATH_SHAPER_CODEL) {
        link->byte_seconds += link->backlog * (now - link->until);
        link->backlog = link->shaper.backlog;
        link->until = now;
        return;
    }
    const double rate = link->path.bytes_per_second, passed = now - link->until;
    if (rate > 0 && passed > 0) {
        const double busy = fmin(passed, link->backlog / rate);
        link->byte_seconds += busy * (link->backlog - busy * rate / 2);
        link->backlog = busy < passed ? 0 : link->backlog - busy * rate;
    }
    link->until = now;
}

void path_world_change(struct path_world *world, uint32_t at, const struct cw_simulator_path *to)
{
    struct path_link *link = &world->links[at];
    drain(link, world->now);
    link->path = *to;
    if (link->shaper.kind == PATH_SHAPER_NONE)
        link->rate = to->bytes_per_second;
    check(cw_simulator_change(link->simulator, to));
}

void path_world_shape(struct path_world *world, uint32_t at, enum path_shaper_kind kind,
                      double kbit, double depth)
{
    struct path_link *link = &world->links[at];
    link->rate = kbit * 125;
    path_shaper_begin(&link->shaper, kind, link->rate,
                      fmax(link->rate * depth, 2.0 * PEER_SEGMENT));
}

/* Takes off CoDel's queue what has been sent. */
static void pass_on(struct path_world *world, uint32_t at)
{
    uint8_t datagram[PATH_DATAGRAM];
    struct path_link *link = &world->links[at];
    const uint64_t dropped = link->shaper.dropped;
    drain(link, world->now);
    const size_t size = path_shaper_take(&link->shaper, datagram);
    check(cw_simulator_receive(link->simulator, datagram, size, world->now));
    link->dropped += link->shaper.dropped - dropped;
    link->backlog = link->shaper.backlog;
}

static void put_on_shaper(struct path_world *world, struct path_link *link, const uint8_t *data,
                          size_t size)
{
    drain(link, world->now);
    link->sent++;
    if (link->shaper.kind == PATH_SHAPER_CODEL) {
        const uint64_t dropped = link->shaper.dropped;
        link->dropped += !path_shaper_put(&link->shaper, data, size, world->now);
        link->dropped += link->shaper.dropped - dropped;
        link->backlog = link->shaper.backlog;
    } else if (path_shaper_passes(&link->shaper, size, world->now)) {
        check(cw_simulator_receive(link->simulator, data, size, world->now));
    } else {
        link->dropped++;
    }
    link->most = fmax(link->most, link->backlog);
}

/* Puts a datagram on the link, with its head. */
static void put(struct path_world *world, uint32_t at, const uint8_t *data, size_t size)
{
    struct path_link *link = &world->links[at];
    struct cw_simulator_stats before, after;
    if (link->shaper.kind != PATH_SHAPER_NONE) {
        put_on_shaper(world, link, data, size);
        return;
    }
    drain(link, world->now);
    cw_simulator_get_stats(link->simulator, &before);
    check(cw_simulator_receive(link->simulator, data, size, world->now));
    cw_simulator_get_stats(link->simulator, &after);
    link->sent++;
    if (after.datagrams_overflowed > before.datagrams_overflowed)
        link->dropped++;
    else if (link->path.bytes_per_second > 0)
        link->backlog += (double)size;
    link->most = fmax(link->most, link->backlog);
}

/* Flows */

static struct path_flow *add(struct path_world *world)
{
    if (world->flow_count == PATH_FLOWS)
        exit(1);
    struct path_flow *flow = &world->flows[world->flow_count++];
    for (int i = 0; i < 2; i++) {
        flow->ends[i].interval = TICK;
        flow->ends[i].phase = i * TICK / 2;
        flow->ends[i].next_tick = NAN;
    }
    return flow;
}

struct path_flow *path_world_add(struct path_world *world,
                                 const struct cw_connection_config *config)
{
    struct path_flow *flow = add(world);
    for (int i = 0; i < 2; i++) {
        struct path_end *end = &flow->ends[i];
        check(cw_connection_create(config, &end->connection));
        end->inbox = calloc(PATH_INBOX, sizeof *end->inbox);
        if (!end->inbox)
            exit(1);
    }
    return flow;
}

struct path_flow *path_world_add_peer(struct path_world *world, enum path_peer_kind kind,
                                      double start)
{
    struct path_flow *flow = add(world);
    flow->peer = path_peer_create(kind, cw_prng_bits(&world->random), start);
    return flow;
}

static void peer_transmit(struct path_world *world, uint32_t index)
{
    uint8_t datagram[PEER_SEGMENT] = {(uint8_t)index};
    struct path_flow *flow = &world->flows[index];
    for (uint32_t number; path_peer_transmit(flow->peer, world->now, &number);) {
        memcpy(datagram + HEAD, &number, sizeof number);
        put(world, 0, datagram, PEER_SEGMENT);
        flow->ends[0].bytes_sent += PEER_SEGMENT;
    }
}

/* Acks a segment at once, with the time of its arrival, or takes an ack. */
static void peer_receive(struct path_world *world, uint32_t index, uint32_t at,
                         const uint8_t *datagram)
{
    uint8_t answer[PEER_ACK] = {(uint8_t)index};
    struct path_flow *flow = &world->flows[index];
    uint32_t number;
    double arrived;
    memcpy(&number, datagram + HEAD, sizeof number);
    if (at == 0) {
        flow->ends[1].bytes_arrived += PEER_SEGMENT;
        memcpy(answer + HEAD, &number, sizeof number);
        memcpy(answer + HEAD + sizeof number, &world->now, sizeof world->now);
        put(world, 1, answer, sizeof answer);
    } else {
        memcpy(&arrived, datagram + HEAD + sizeof number, sizeof arrived);
        path_peer_acked(flow->peer, number, arrived, world->now);
        peer_transmit(world, index);
    }
}

static void release_all(struct cw_connection *connection)
{
    for (struct cw_connection_event event; cw_connection_next(connection, &event);)
        cw_message_release(event.message);
}

/* Gives the connection the datagrams that have arrived. */
static void read_inbox(struct path_world *world, struct path_end *end)
{
    for (; end->read != end->written; end->read++) {
        const size_t size = end->inbox[end->read % PATH_INBOX].size;
        end->bytes_arrived += size;
        cw_connection_receive(end->connection, end->inbox[end->read % PATH_INBOX].data, size,
                              world->now);
    }
    if (end->take)
        end->take(world, end);
    else
        release_all(end->connection);
}

/* Takes one datagram off the link: a connection finds it in its next tick, a peer answers now. */
static void arrive(struct path_world *world, uint32_t at)
{
    uint8_t datagram[PATH_DATAGRAM];
    const size_t size =
        cw_simulator_transmit(world->links[at].simulator, datagram, sizeof datagram, world->now);
    if (size == 0)
        return;
    const uint32_t index = datagram[0];
    struct path_end *end = &world->flows[index].ends[!at];
    if (world->flows[index].peer) {
        peer_receive(world, index, at, datagram);
        return;
    }
    if (end->written - end->read == PATH_INBOX) {
        fprintf(stderr, "an end does not read what arrives\n");
        exit(1);
    }
    end->inbox[end->written % PATH_INBOX].size = size - HEAD;
    memcpy(end->inbox[end->written % PATH_INBOX].data, datagram + HEAD, size - HEAD);
    end->written++;
    if (end->reads_at_once)
        read_inbox(world, end);
}

static void tick(struct path_world *world, uint32_t index, uint32_t side)
{
    uint8_t datagram[PATH_DATAGRAM] = {(uint8_t)index};
    struct path_end *end = &world->flows[index].ends[side];
    read_inbox(world, end);
    if (end->use)
        end->use(world, end);
    cw_connection_update(end->connection, world->now);
    uint32_t count = 0;
    for (size_t size; (end->most_datagrams == 0 || count < end->most_datagrams) &&
                      (size = cw_connection_transmit(end->connection, datagram + HEAD,
                                                     sizeof datagram - HEAD, world->now)) > 0;
         count++) {
        put(world, side, datagram, HEAD + size);
        end->bytes_sent += size;
    }
    end->datagrams_sent += count;
}

static void plan_tick(struct path_world *world, struct path_end *end)
{
    const double late = end->wobble > 0 ? end->wobble * cw_prng_share(&world->random) : 0;
    end->next_tick = end->phase + ((double)end->ticks++ + late) * end->interval;
}

/* Returns the next thing that happens by itself: a tick, or the timer of a peer. */
static double next_of(const struct path_world *world, uint32_t *flow, uint32_t *side)
{
    double earliest = INFINITY;
    for (uint32_t i = 0; i < world->flow_count; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            const struct path_flow *the = &world->flows[i];
            const double time = the->peer ? path_peer_due(the->peer) : the->ends[j].next_tick;
            if (time < earliest) {
                earliest = time;
                *flow = i;
                *side = j;
            }
        }
    }
    return earliest;
}

static void happen(struct path_world *world, uint32_t flow, uint32_t side)
{
    struct path_flow *the = &world->flows[flow];
    if (the->peer) {
        path_peer_expire(the->peer, world->now);
        peer_transmit(world, flow);
        return;
    }
    tick(world, flow, side);
    plan_tick(world, &the->ends[side]);
}

static void begin(struct path_world *world)
{
    for (uint32_t i = 0; i < world->flow_count; i++) {
        struct path_flow *flow = &world->flows[i];
        for (int j = 0; j < 2 && flow->ends[j].connection; j++) {
            if (isnan(flow->ends[j].next_tick))
                plan_tick(world, &flow->ends[j]);
        }
    }
}

void path_world_run(struct path_world *world, double until)
{
    begin(world);
    for (;;) {
        uint32_t flow = 0, side = 0, at = 0;
        const double event = next_of(world, &flow, &side);
        const double due[2] = {cw_simulator_due(world->links[0].simulator),
                               cw_simulator_due(world->links[1].simulator)};
        if (due[1] < due[0])
            at = 1;
        const uint32_t shaped = world->links[1].shaper.done < world->links[0].shaper.done;
        if (world->links[shaped].shaper.done <= fmin(due[at], fmin(event, until))) {
            world->now = fmax(world->now, world->links[shaped].shaper.done);
            pass_on(world, shaped);
            continue;
        }
        const bool arrives = due[at] <= event + NOT_A_LAG;
        const double time = arrives ? due[at] : event;
        if (time > until)
            break;
        world->now = fmax(world->now, time);
        if (arrives)
            arrive(world, at);
        else
            happen(world, flow, side);
    }
    world->now = until;
    for (int i = 0; i < 2; i++)
        drain(&world->links[i], until);
}

/* Measuring */

void path_world_measure(struct path_world *world)
{
    for (int i = 0; i < 2; i++) {
        struct path_link *link = &world->links[i];
        drain(link, world->now);
        link->since = world->now;
        link->byte_seconds = 0;
        link->most = link->backlog;
        link->sent = link->dropped = 0;
    }
    for (uint32_t i = 0; i < world->flow_count; i++) {
        for (int j = 0; j < 2; j++) {
            struct path_end *end = &world->flows[i].ends[j];
            end->datagrams_sent = end->bytes_sent = end->bytes_arrived = 0;
        }
    }
}

double path_queue_ms(const struct path_link *link)
{
    return 1000 * link->byte_seconds / link->rate / (link->until - link->since);
}

double path_most_queue_ms(const struct path_link *link)
{
    return 1000 * link->most / link->rate;
}

double path_drops_percent(const struct path_link *link)
{
    return link->sent ? 100.0 * (double)link->dropped / (double)link->sent : 0;
}
