/* Pairs of endpoints live under random terrible conditions, for as many simulated hours as asked.
   After every packet: nothing is acked that was not received, nothing is delivered twice or
   changed, every packet has one fate. */
#include "causeway/endpoint.h"
#include "causeway/simulator.h"
#include "soak_paths.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP           (1.0 / 360) /* seconds */
#define STEPS_PER_HOUR (3600 * 360)
#define CALM_STEPS     (60 * 360)
#define RECORDS        65536
#define MAX_PACKET     6000
#define MAX_DATAGRAM   2048

/* The test's knowledge of a packet, by sequence number. */
struct record {
    uint64_t number; /* the count of packets sent before it */
    uint32_t size;
    bool sent;
    bool delivered;
    bool acked;
    bool lost;
};

/* One end, and the path that leads away from it. */
struct side {
    struct cw_endpoint *endpoint;
    struct cw_simulator *path;
    struct record *records; /* records of the packets that this side sent */
    uint64_t sent;
    uint64_t delivered; /* the count of packets that the other side got */
    uint64_t acked;
    uint64_t lost;       /* packets told as lost, including those acked later */
    unsigned interval;   /* steps from one packet to the next */
    double large;        /* the chance of a packet of any size; the others have up to 100 bytes */
    uint64_t busy_until; /* the step up to which the application takes no events */
    uint8_t *latest;     /* the datagram that was taken in last */
};

struct world {
    uint64_t seed;
    struct cw_prng random;
    uint64_t step; /* the steps since the pair was made */
    uint64_t hour;
    double now;
    struct side sides[2];
};

static uint64_t all_sent, all_acked, all_lost, all_wraps;

static void fail(const struct world *world, int side, const char *what, unsigned sequence)
{
    fprintf(stderr, "seed %" PRIu64 ", hour %" PRIu64 ", second %.6f, side %d, sequence %u: %s\n",
            world->seed, world->hour, world->now, side, sequence, what);
    exit(1);
}

static bool is_busy(const struct world *world, int side)
{
    return world->step < world->sides[side].busy_until;
}

/* Fills a packet with content of its own that can be made again from its number, and quickly, since
   this is a large part of the test's work. */
static void fill(uint8_t *payload, uint32_t size, uint64_t number, int side)
{
    struct cw_prng content = {number * 2 + (uint64_t)side};
    const uint64_t start = cw_prng_bits(&content), step = cw_prng_bits(&content) | 1;
    for (uint32_t i = 0; i < size / 8; i++) {
        const uint64_t bits = start + i * step;
        memcpy(payload + 8 * (size_t)i, &bits, 8);
    }
    const uint64_t bits = start + size / 8 * step;
    memcpy(payload + size / 8 * 8, &bits, size % 8);
}

static uint32_t choose_size(struct cw_prng *random, double large, uint32_t max)
{
    const uint32_t limit = cw_prng_chance(random, large) ? max : 100;
    return cw_prng_below(random, (limit < max ? limit : max) + 1);
}

/* Draws new conditions: what the paths do, how fast each side sends, and how much. */
static void change_conditions(struct world *world)
{
    static const unsigned intervals[][2] = {{6, 6}, {1, 6}, {6, 1}, {1, 1}, {2, 12}, {36, 6}};
    static const double large[] = {0.05, 0.5, 0.0001};
    const unsigned *pair = intervals[cw_prng_below(&world->random, 6)];
    for (int i = 0; i < 2; i++) {
        const struct cw_simulator_path path =
            soak_path(&world->random, cw_prng_below(&world->random, SOAK_PATHS));
        if (cw_simulator_change(world->sides[i].path, &path) != CW_OK)
            fail(world, i, "path refused", 0);
        world->sides[i].interval = pair[i];
        world->sides[i].large = large[cw_prng_below(&world->random, 3)];
    }
}

static void take_packet(struct world *world, int at, const struct cw_endpoint_event *event)
{
    static uint8_t expected[MAX_PACKET];
    struct side *from = &world->sides[!at];
    struct record *record = &from->records[event->sequence];
    if (!record->sent)
        fail(world, at, "delivered but never sent", event->sequence);
    if (record->delivered)
        fail(world, at, "delivered twice", event->sequence);
    if (record->size != event->size)
        fail(world, at, "delivered with another size", event->sequence);
    fill(expected, record->size, record->number, !at);
    if (event->size && memcmp(expected, event->payload, event->size) != 0)
        fail(world, at, "delivered with other content", event->sequence);
    if (cw_prng_chance(&world->random, 0.01))
        return; /* the application does not accept it */
    cw_endpoint_accept(world->sides[at].endpoint, event->sequence);
    record->delivered = true;
    from->delivered++;
}

static void take_events(struct world *world, int at)
{
    struct side *side = &world->sides[at];
    struct cw_endpoint_event event;
    while (cw_endpoint_next(side->endpoint, &event)) {
        if (event.type == CW_ENDPOINT_EVENT_PACKET) {
            take_packet(world, at, &event);
            continue;
        }
        struct record *record = &side->records[event.sequence];
        if (!record->sent || record->acked)
            fail(world, at, "an event for no packet under way", event.sequence);
        if (event.type == CW_ENDPOINT_EVENT_ACKED) {
            if (!record->delivered)
                fail(world, at, "acked but not received", event.sequence);
            record->acked = true;
            side->acked++;
        } else {
            if (record->lost)
                fail(world, at, "lost twice", event.sequence);
            record->lost = true;
            side->lost++;
        }
    }
}

/* Checks the fate of a packet when its number is used again, or at the end. */
static void check_fate(const struct world *world, int at, unsigned sequence)
{
    const struct record *record = &world->sides[at].records[sequence];
    if (record->sent && !record->acked && !record->lost)
        fail(world, at, "neither acked nor lost", sequence);
    if (record->acked && !record->delivered)
        fail(world, at, "acked but never received", sequence);
}

static void send_packet(struct world *world, int at, uint32_t max_size)
{
    static uint8_t payload[MAX_PACKET];
    uint8_t datagram[MAX_DATAGRAM];
    struct side *side = &world->sides[at];
    const uint32_t size = choose_size(&world->random, side->large, max_size);
    const uint16_t expected = cw_endpoint_next_sequence(side->endpoint);
    uint16_t sequence = 0;
    uint8_t *place;
    fill(payload, size, side->sent, at);
    const enum cw_error error =
        cw_endpoint_begin(side->endpoint, size, datagram, sizeof datagram, &place);
    if (error == CW_ERROR_EVENTS_PENDING && is_busy(world, at))
        return;
    if (error != CW_OK)
        fail(world, at, cw_error_string(error), expected);
    memcpy(place, payload, size);
    size_t length = cw_endpoint_commit(side->endpoint, size, world->now, &sequence);
    if (sequence != expected || sequence != (side->sent & 0xffff))
        fail(world, at, "a sequence number out of order", sequence);

    struct record *record = &side->records[sequence];
    check_fate(world, at, sequence);
    *record = (struct record){.number = side->sent++, .size = size, .sent = true};
    for (; length > 0;
         length = cw_endpoint_transmit(side->endpoint, datagram, sizeof datagram, world->now))
        if (cw_simulator_receive(side->path, datagram, length, world->now) != CW_OK)
            fail(world, at, "a datagram that the path refused", sequence);
}

/* Hands over the datagrams that are due. Every datagram has its own place, of exactly its size,
   until the event in it is taken, which a busy application does later. */
static void deliver(struct world *world, int to)
{
    uint8_t datagram[MAX_DATAGRAM];
    struct side *side = &world->sides[to];
    for (size_t size; (size = cw_simulator_transmit(world->sides[!to].path, datagram,
                                                    sizeof datagram, world->now)) > 0;) {
        uint8_t *exact = malloc(size);
        if (!exact)
            abort();
        memcpy(exact, datagram, size);
        const enum cw_error error = cw_endpoint_receive(side->endpoint, exact, size, world->now);
        if (error == CW_ERROR_MALFORMED ||
            (error == CW_ERROR_EVENTS_PENDING && !is_busy(world, to)))
            fail(world, to, cw_error_string(error), 0);
        if (error == CW_OK) {
            free(side->latest);
            side->latest = exact;
        } else {
            free(exact);
        }
        if (!is_busy(world, to))
            take_events(world, to);
    }
}

static void check_stats(struct world *world, int at)
{
    struct cw_endpoint_stats stats, other;
    const struct side *side = &world->sides[at];
    cw_endpoint_get_stats(side->endpoint, &stats);
    cw_endpoint_get_stats(world->sides[!at].endpoint, &other);
    if (stats.packets_sent != side->sent || other.packets_received != side->delivered)
        fail(world, at, "packets counted wrongly", 0);
    if (stats.packets_malformed)
        fail(world, at, "malformed counted", 0);
    const double shares[] = {stats.loss_sent, stats.loss_received};
    for (int i = 0; i < 2; i++)
        if (!(shares[i] >= 0 && shares[i] <= 1))
            fail(world, at, "a loss that is no share", 0);
    const double amounts[] = {stats.rtt,
                              stats.rtt_min,
                              stats.rtt_deviation,
                              stats.jitter,
                              stats.sent_bytes_per_second,
                              stats.received_bytes_per_second,
                              stats.acked_bytes_per_second};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        if (!(amounts[i] >= 0 && amounts[i] < 1e12))
            fail(world, at, "a statistic that is no amount", (unsigned)i);
}

/* Checks that after the calm every packet has arrived or been given up. */
static void check_fates(struct world *world, int at)
{
    const struct side *side = &world->sides[at];
    struct cw_endpoint_stats stats;
    for (unsigned i = 0; i < RECORDS; i++)
        check_fate(world, at, i);
    cw_endpoint_get_stats(side->endpoint, &stats);
    if (stats.packets_acked != side->acked)
        fail(world, at, "acked packets counted wrongly", 0);
    if (stats.packets_acked + stats.packets_lost != stats.packets_sent)
        fail(world, at, "acked and lost are not all", 0);
}

static void make_side(struct world *world, int at, const struct cw_endpoint_config *config)
{
    struct side *side = &world->sides[at];
    struct cw_simulator_config path = cw_simulator_config_default();
    path.seed = cw_prng_bits(&world->random);
    path.max_datagram_size = MAX_DATAGRAM;
    path.max_datagrams = 4096;
    *side = (struct side){.interval = 6};
    side->records = calloc(RECORDS, sizeof *side->records);
    if (!side->records || cw_endpoint_create(config, &side->endpoint) != CW_OK ||
        cw_simulator_create(&path, &side->path) != CW_OK)
        fail(world, at, "could not be made", 0);
}

static struct cw_endpoint_config choose_config(struct cw_prng *random)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    if (cw_prng_chance(random, 0.3))
        return config;
    config.fragment_size = 200 + cw_prng_below(random, 1000);
    config.fragment_above = 100 + cw_prng_below(random, 1200);
    config.max_packet_size = 100 + cw_prng_below(random, MAX_PACKET - 100);
    if (config.max_packet_size < config.fragment_above)
        config.fragment_above = config.max_packet_size;
    config.sent_window = 32u << cw_prng_below(random, 8);
    config.received_window = 32u << cw_prng_below(random, 8);
    config.max_reassemblies = 1 + cw_prng_below(random, 8);
    return config;
}

/* Runs one pair for some steps, the last minute of them calm. */
static void run_pair(struct world *world, uint64_t steps)
{
    struct cw_endpoint_config config = choose_config(&world->random);
    uint64_t next_change = 0;
    for (int i = 0; i < 2; i++)
        make_side(world, i, &config);
    for (world->step = 0; world->step < steps; world->step++) {
        world->now = (double)world->step * STEP;
        const bool calm = world->step + CALM_STEPS > steps;
        if (world->step == next_change) {
            change_conditions(world);
            next_change += 360 + cw_prng_below(&world->random, 20 * 360);
        }
        for (int i = 0; i < 2; i++) {
            struct side *side = &world->sides[i];
            if (!is_busy(world, i))
                take_events(world, i);
            deliver(world, i);
            if (world->step % 6 == 0) {
                cw_endpoint_update(side->endpoint, world->now);
                if (!calm && cw_prng_chance(&world->random, 0.001))
                    side->busy_until = world->step + 1 + cw_prng_below(&world->random, 720);
            }
            if (!calm && world->step % side->interval == 0)
                send_packet(world, i, config.max_packet_size);
        }
        if (world->step % 3600 == 0)
            for (int i = 0; i < 2; i++)
                check_stats(world, i);
    }
    for (int i = 0; i < 2; i++)
        check_fates(world, i);
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        all_sent += side->sent;
        all_acked += side->acked;
        all_lost += side->lost;
        all_wraps += side->sent / 65536;
        cw_endpoint_destroy(side->endpoint);
        cw_simulator_destroy(side->path);
        free(side->records);
        free(side->latest);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'}, {"hours", required_argument, NULL, 'h'}, {0}};
    struct world world = {.seed = 1};
    unsigned long hours = 1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            world.seed = strtoull(optarg, NULL, 10);
        else if (option == 'h')
            hours = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    world.random.state = world.seed;
    printf("seed %" PRIu64 ", %lu simulated hours\n", world.seed, hours);
    fflush(stdout);
    for (world.hour = 0; world.hour < hours; world.hour++)
        run_pair(&world, STEPS_PER_HOUR);
    printf("%" PRIu64 " packets, %" PRIu64 " acked, %" PRIu64 " reported lost, %" PRIu64
           " laps of the sequence numbers\n",
           all_sent, all_acked, all_lost, all_wraps);
    return 0;
}
