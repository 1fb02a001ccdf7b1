/* Tests of lines of the lab: client and server of every protocol over a path of the test's, which
   stands for a real network. */
#include "lab/line.h"

#include "causeway/simulator.h"
#include "counted.h"
#include "fixture.h"
#include "lab/echo.h"
#include "lab/peers.h"

#include <math.h>
#include <string.h>

#define SECOND CW_LAB_TICKS_PER_SECOND
#define KEY    0x1badcafe

#define FOR_EACH(protocol)                                                                         \
    for (uint32_t protocol = 0; protocol < cw_lab_protocol_count(); protocol++)

/* A line, and the two ways between its ends. */
struct world {
    struct cw_lab_line *line;
    struct cw_lab_echo *echo;
    struct cw_simulator *up, *down;
    uint32_t ticks;
    bool damages; /* every fourth datagram arrives with a wrong byte */
    uint32_t random;
    uint32_t delivered[CW_LAB_BLOCK + 1], given_up;
    double shortest, longest; /* seconds of a message */
};

static void release_line(void *line)
{
    cw_lab_line_destroy(line);
}

static void release_echo(void *echo)
{
    cw_lab_echo_destroy(echo);
}

static void release_path(void *path)
{
    cw_simulator_destroy(path);
}

static struct cw_simulator *path_of(double latency, double loss, uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *path;
    config.max_datagram_size = CW_LAB_LINE_MAX_DATAGRAM;
    config.max_datagrams = 4096;
    config.seed = seed;
    assert_ok(cw_simulator_create(&config, &path));
    const struct cw_simulator_path way = {.latency_seconds = latency, .loss = loss};
    assert_ok(cw_simulator_change(path, &way));
    return own(path, release_path);
}

static struct world world_with(struct cw_lab_line_config config, double latency, double loss)
{
    const struct cw_allocator allocator = {0};
    struct world world = {.up = path_of(latency, loss, 1), .down = path_of(latency, loss, 2)};
    config.key = KEY;
    assert_ok(cw_lab_line_create(&config, &world.line));
    own(world.line, release_line);
    assert_ok(cw_lab_echo_create(config.protocol, KEY, &allocator, &world.echo));
    own(world.echo, release_echo);
    world.shortest = INFINITY;
    return world;
}

static struct world world_of(uint32_t protocol, double latency, double loss, bool blocks)
{
    struct cw_lab_line_config config = cw_lab_line_config_default();
    config.protocol = protocol;
    config.blocks = blocks;
    return world_with(config, latency, loss);
}

static void client_sends(struct world *world, double now)
{
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    size_t size;
    while ((size = cw_lab_line_transmit(world->line, data, sizeof data, now)) > 0)
        cw_simulator_receive(world->up, data, size, now);
}

static void server_sends(struct world *world, double now)
{
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    size_t size;
    while ((size = cw_lab_echo_transmit(world->echo, data, sizeof data, now)) > 0)
        cw_simulator_receive(world->down, data, size, now);
}

/* Damages a datagram, if this is to be done. Returns whether it must be taken. */
static bool arrives(struct world *world, uint8_t *data, size_t size)
{
    world->random = world->random * 1664525 + 1013904223;
    if (!world->damages || world->random >> 30 != 0)
        return true;
    data[(world->random >> 8 & 0xffff) % size] ^= (uint8_t)(world->random >> 24 | 1);
    return false;
}

/* Brings each datagram that is due by now to its end, at its own time. */
static void carry(struct world *world, double now)
{
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    for (;;) {
        const double up = cw_simulator_due(world->up), down = cw_simulator_due(world->down);
        const double due = fmin(up, down);
        if (due > now)
            return;
        if (up <= down) {
            const size_t size = cw_simulator_transmit(world->up, data, sizeof data, due);
            const bool whole = arrives(world, data, size);
            assert_true(cw_lab_echo_receive(world->echo, data, size, due) || !whole);
            server_sends(world, due);
        } else {
            const size_t size = cw_simulator_transmit(world->down, data, sizeof data, due);
            const bool whole = arrives(world, data, size);
            assert_true(cw_lab_line_receive(world->line, data, size, due) || !whole);
            client_sends(world, due);
        }
    }
}

static void take_events(struct world *world)
{
    struct cw_lab_column_event event;
    while (cw_lab_line_next(world->line, &event)) {
        if (event.type == CW_LAB_COLUMN_EVENT_GIVEN_UP) {
            world->given_up++;
            continue;
        }
        assert_int_equal(event.type, CW_LAB_COLUMN_EVENT_DELIVERED);
        assert_int_equal(event.sender, 1);
        world->delivered[event.traffic]++;
        if (event.traffic != CW_LAB_MESSAGE)
            continue;
        world->shortest = fmin(world->shortest, event.seconds);
        world->longest = fmax(world->longest, event.seconds);
    }
}

static double time_of(double ticks)
{
    return ticks / SECOND;
}

static void run(struct world *world, uint32_t ticks)
{
    for (uint32_t end = world->ticks + ticks; world->ticks < end; world->ticks++) {
        const double now = time_of(world->ticks), then = time_of(world->ticks + 0.5);
        carry(world, now);
        cw_lab_line_step(world->line, now);
        client_sends(world, now);
        carry(world, then);
        cw_lab_echo_step(world->echo, then);
        server_sends(world, then);
        take_events(world);
    }
}

static struct cw_lab_game_stats items_of(const struct world *world, enum cw_lab_traffic traffic)
{
    struct cw_lab_game_stats stats;
    cw_lab_line_item_stats(world->line, traffic, time_of(world->ticks), &stats);
    assert_int_equal(stats.faults, 0);
    return stats;
}

TEST(every_protocol_brings_its_items_back)
{
    FOR_EACH(protocol)
    {
        struct world world = world_of(protocol, 0.02, 0, false);
        run(&world, 10 * SECOND);
        assert_in_range(world.delivered[CW_LAB_MESSAGE], 580, 600);
        assert_in_range(world.delivered[CW_LAB_STATE], 100, 600);
        assert_int_equal(world.given_up, 0);
        assert_true(world.shortest >= 0.04);
        items_of(&world, CW_LAB_MESSAGE);
        items_of(&world, CW_LAB_STATE);
    }
}

TEST(what_is_lost_on_the_way_is_counted_and_comes_again)
{
    FOR_EACH(protocol)
    {
        struct world world = world_of(protocol, 0.02, 0.1, false);
        run(&world, 20 * SECOND);
        const bool is_unreliable = cw_lab_protocol(protocol) == &cw_lab_peer_thrice;
        assert_true(world.given_up == 0 || is_unreliable);
        if (cw_lab_protocol(protocol) != &cw_lab_peer_nagle)
            assert_in_range(world.delivered[CW_LAB_MESSAGE], 1000, 1200);
        for (uint32_t sender = 0; sender < 2; sender++) {
            struct cw_lab_wire_stats stats;
            cw_lab_line_wire_stats(world.line, sender, &stats);
            const double lost = (double)stats.datagrams_lost / stats.datagrams;
            assert_true(lost > 0.06 && lost < 0.14);
            assert_true(stats.bytes > 0);
        }
        items_of(&world, CW_LAB_MESSAGE);
    }
}

TEST(blocks_come_back_too)
{
    FOR_EACH(protocol)
    {
        struct world world = world_of(protocol, 0.02, 0, true);
        run(&world, 60 * SECOND);
        assert_true(world.delivered[CW_LAB_BLOCK] > 0);
        assert_int_equal(items_of(&world, CW_LAB_BLOCK).lost, 0);
    }
}

TEST(the_round_trip_is_that_of_the_path)
{
    struct world world = world_of(0, 0.1, 0, false);
    run(&world, 5 * SECOND);
    struct cw_lab_line_stats stats;
    cw_lab_line_get_stats(world.line, &stats);
    assert_int_equal(stats.answer, CW_LAB_ANSWER_ECHO);
    assert_true(fabs(stats.least_rtt - 0.2) < 1e-3 && fabs(stats.rtt - 0.2) < 1e-3);
    assert_true(stats.heard > 4.9);
}

TEST(as_many_messages_are_sent_as_asked)
{
    struct cw_lab_line_config config = cw_lab_line_config_default();
    config.message_every = 6;
    config.states = false;
    struct world world = world_with(config, 0.02, 0);
    run(&world, 10 * SECOND);
    assert_int_equal(items_of(&world, CW_LAB_MESSAGE).sent, 100);
    assert_int_equal(items_of(&world, CW_LAB_STATE).sent, 0);
}

TEST(datagrams_of_other_lines_are_not_taken)
{
    struct world world = world_of(0, 0, 0, false);
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    uint32_t protocol, key;
    cw_lab_line_step(world.line, 0);
    const size_t size = cw_lab_line_transmit(world.line, data, sizeof data, 0);
    assert_true(cw_lab_echo_read(data, size, &protocol, &key));
    assert_int_equal(protocol, 0);
    assert_int_equal(key, KEY);
    for (size_t place = 0; place < 6; place++) {
        data[place] ^= 1; /* the version, the protocol and the key */
        assert_false(cw_lab_echo_receive(world.echo, data, size, 0));
        data[place] ^= 1;
    }
    for (size_t part = 0; part <= CW_LAB_LINE_CLIENT_HEADER; part++)
        assert_false(cw_lab_echo_receive(world.echo, data, part, 0));
    assert_true(cw_lab_echo_receive(world.echo, data, size, 0));
    cw_lab_echo_step(world.echo, 0);
    const size_t answer = cw_lab_echo_transmit(world.echo, data, sizeof data, 0);
    for (size_t place = 0; place < 6; place++) {
        data[place] ^= 0x10;
        assert_false(cw_lab_line_receive(world.line, data, answer, 0));
        data[place] ^= 0x10;
    }
    for (size_t part = 0; part < CW_LAB_LINE_SERVER_HEADER; part++)
        assert_false(cw_lab_line_receive(world.line, data, part, 0));
    assert_true(cw_lab_line_receive(world.line, data, answer, 0));
}

TEST(a_refusal_is_heard)
{
    struct world world = world_of(0, 0, 0, false);
    struct cw_lab_line_stats stats;
    uint8_t data[CW_LAB_LINE_SERVER_HEADER];
    assert_int_equal(cw_lab_echo_refuse(KEY, CW_LAB_ANSWER_FULL, data, sizeof data - 1), 0);
    assert_int_equal(cw_lab_echo_refuse(KEY, CW_LAB_ANSWER_FULL, data, sizeof data), sizeof data);
    assert_true(cw_lab_line_receive(world.line, data, sizeof data, 1));
    cw_lab_line_get_stats(world.line, &stats);
    assert_int_equal(stats.answer, CW_LAB_ANSWER_FULL);
}

/* A report of datagrams that were never sent changes nothing. */
TEST(a_server_cannot_make_up_datagrams)
{
    struct world world = world_of(0, 0, 0, false);
    uint8_t data[CW_LAB_LINE_SERVER_HEADER + 1];
    struct cw_lab_wire_stats wire;
    struct cw_lab_line_stats stats;
    cw_lab_echo_refuse(KEY, CW_LAB_ANSWER_ECHO, data, sizeof data);
    memset(data + 6, 0xff, sizeof data - 6);
    assert_true(cw_lab_line_receive(world.line, data, sizeof data, 1));
    cw_lab_line_wire_stats(world.line, 1, &wire);
    cw_lab_line_get_stats(world.line, &stats);
    assert_int_equal(wire.datagrams + wire.datagrams_lost, 0);
    assert_true(stats.rtt == 0);
}

/* A message far ahead is, for the protocols that tell of losses, billions of lost ones. */
TEST(a_client_that_names_an_item_far_ahead_costs_little)
{
    const struct cw_allocator allocator = {0};
    const struct cw_lab_item item = {CW_LAB_MESSAGE, UINT32_MAX, 64};
    FOR_EACH(protocol)
    {
        const struct cw_lab_peer_type *type = cw_lab_protocol(protocol);
        struct cw_lab_echo *echo;
        uint8_t data[CW_LAB_LINE_MAX_DATAGRAM] = {CW_LAB_LINE_VERSION, (uint8_t)protocol};
        void *peer = own(cw_lab_peer_create(type, &allocator), cw_lab_peer_destroy);
        assert_ok(cw_lab_echo_create(protocol, 0, &allocator, &echo));
        own(echo, release_echo);
        assert_true(type->send(peer, &item, 0));
        for (uint32_t i = 0; i < 10; i++) {
            size_t size;
            type->update(peer, time_of(i));
            while ((size = type->transmit(peer, data + CW_LAB_LINE_CLIENT_HEADER,
                                          CW_LAB_MAX_DATAGRAM, time_of(i))) > 0)
                assert_true(
                    cw_lab_echo_receive(echo, data, CW_LAB_LINE_CLIENT_HEADER + size, time_of(i)));
            cw_lab_echo_step(echo, time_of(i));
        }
    }
}

TEST(an_end_is_one_allocation)
{
    FOR_EACH(protocol)
    {
        struct counted counted = {0}, other = {0};
        const struct cw_allocator allocator = counted_allocator(&other);
        struct cw_lab_line_config config = cw_lab_line_config_default();
        struct cw_lab_line *line;
        struct cw_lab_echo *echo;
        config.protocol = protocol;
        config.allocator = counted_allocator(&counted);
        assert_ok(cw_lab_line_create(&config, &line));
        assert_ok(cw_lab_echo_create(protocol, KEY, &allocator, &echo));
        assert_int_equal(counted.size, cw_lab_line_memory(&config));
        cw_lab_line_step(line, 0);
        cw_lab_echo_step(echo, 0);
        cw_lab_line_destroy(line);
        cw_lab_echo_destroy(echo);
        assert_int_equal(counted.allocations, 1);
        assert_int_equal(other.allocations, 1);
        assert_int_equal(counted.released, counted.size);
        assert_int_equal(other.released, other.size);
    }
}

/* A byte stream ends at the first wrong byte, which a real one would not let through. */
TEST(wrong_bytes_do_no_harm)
{
    FOR_EACH(protocol)
    {
        struct world world = world_of(protocol, 0.02, 0.05, true);
        world.damages = true;
        run(&world, 20 * SECOND);
        const bool is_stream = cw_lab_protocol(protocol)->answers_at_once;
        assert_true(world.delivered[CW_LAB_STATE] > 0 || is_stream);
    }
}

TEST(a_config_that_cannot_be_is_refused)
{
    struct cw_lab_line_config config = cw_lab_line_config_default();
    const struct cw_allocator allocator = {0};
    struct cw_lab_line *line = NULL;
    struct cw_lab_echo *echo = NULL;
    config.protocol = cw_lab_protocol_count();
    assert_int_equal(cw_lab_line_create(&config, &line), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_lab_line_memory(&config), 0);
    assert_int_equal(cw_lab_echo_create(config.protocol, KEY, &allocator, &echo),
                     CW_ERROR_INVALID_ARGUMENT);
    config.protocol = 0;
    config.max_events = 65537;
    assert_int_equal(cw_lab_line_create(&config, &line), CW_ERROR_INVALID_ARGUMENT);
    assert_null(line);
    assert_null(echo);
}
