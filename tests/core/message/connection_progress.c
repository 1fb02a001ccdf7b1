/* Tests that reliable messages go on whatever is full: after terrible paths and slow readers, with
   as little room as can be configured, all that is reliable arrives soon once the path is good. */
#include "fixture.h"

#include "connection_pair.h"
#include "connection_state.h"
#include "soak_paths.h"

#include <float.h>

#define RTT          0.05             /* seconds */
#define TRIP         (RTT + 8 * TICK) /* includes the wait for coded repair */
#define BAD_TICKS    (12 * 60)
#define CALM_SECONDS 10.0
#define CHANNELS     12
#ifndef SEEDS
#define SEEDS 600
#endif

struct stream {
    uint32_t sent, received;
    uint32_t fragments; /* fragments of blocks that were sent and have not arrived */
};

struct world {
    uint64_t seed;
    struct cw_prng random;
    struct cw_connection_config config;
    struct pair pair;
    struct stream streams[2][CHANNELS]; /* the streams of each sender */
    bool reads[2];
};

static bool orders(const struct world *world, uint32_t channel)
{
    return world->config.channels[channel].kind == CW_CHANNEL_RELIABLE_ORDERED;
}

static bool is_reliable(const struct world *world, uint32_t channel)
{
    return orders(world, channel) ||
           world->config.channels[channel].kind == CW_CHANNEL_RELIABLE_UNORDERED;
}

static uint32_t fragments_of(const struct world *world, uint32_t channel, uint32_t size)
{
    return (size + world->config.channels[channel].block_fragment_size - 1) /
           world->config.channels[channel].block_fragment_size;
}

static struct cw_channel_config choose_channel(struct cw_prng *random, uint32_t packet_size)
{
    static const enum cw_channel_kind kinds[] = {
        CW_CHANNEL_RELIABLE_ORDERED, CW_CHANNEL_RELIABLE_ORDERED, CW_CHANNEL_RELIABLE_ORDERED,
        CW_CHANNEL_RELIABLE_UNORDERED, CW_CHANNEL_UNRELIABLE};
    struct cw_channel_config config = cw_channel_config_default(kinds[cw_prng_below(random, 5)]);
    config.max_messages_per_packet = 1 + cw_prng_below(random, cw_prng_below(random, 256) + 1);
    config.send_queue_size = 2u << cw_prng_below(random, 8);
    config.receive_queue_size = 2u << cw_prng_below(random, 8);
    config.blocks = config.kind != CW_CHANNEL_UNRELIABLE && cw_prng_chance(random, 0.5);
    config.block_fragment_size = 1 + cw_prng_below(random, packet_size - 40);
    if (cw_prng_chance(random, 0.5))
        config.block_fragment_size = 1 + cw_prng_below(random, 4);
    config.max_block_size = 1 + cw_prng_below(random, 60 * config.block_fragment_size);
    config.weight = cw_prng_chance(random, 0.5) ? 1 : 1000;
    if (config.kind != CW_CHANNEL_UNRELIABLE)
        config.recovery = (enum cw_recovery_kind)cw_prng_below(random, 3);
    config.extra_bytes = 1 + cw_prng_below(random, 400);
    return config;
}

static void choose_config(struct world *world)
{
    struct cw_prng *random = &world->random;
    struct cw_connection_config *config = &world->config;
    const uint32_t packet_size = 80 + cw_prng_below(random, 200);
    *config = notes_config();
    config->endpoint.max_packet_size = config->endpoint.fragment_above = packet_size;
    config->endpoint.sent_window = 32u << cw_prng_below(random, 3);
    config->channel_count = 1 + cw_prng_below(random, CHANNELS);
    config->max_messages = 1 + cw_prng_below(random, 2u << cw_prng_below(random, 9));
    if (cw_prng_chance(random, 0.5))
        config->max_received_messages = 1 + cw_prng_below(random, 1u << cw_prng_below(random, 5));
    config->max_packets_per_update = 1 + cw_prng_below(random, 2);
    for (uint32_t i = 0; i < config->channel_count; i++)
        config->channels[i] = choose_channel(random, packet_size);
}

/* Sends a message, unless there is no room for it. */
static void send_some(struct world *world, int at, uint32_t channel)
{
    const struct cw_channel_config *config = &world->config.channels[channel];
    struct stream *stream = &world->streams[at][channel];
    struct cw_connection *from = world->pair.sides[at];
    struct cw_prng *random = &world->random;
    struct cw_message *message;
    if (cw_connection_create_message(from, NOTE, &message) != CW_OK)
        return;
    cw_message_release(message);
    if (!config->blocks || cw_prng_chance(random, 0.9)) {
        const uint32_t padding = cw_prng_below(random, 4) ? cw_prng_below(random, 8) : 20;
        stream->sent += try_note(from, channel, stream->sent, padding, world->pair.now);
        return;
    }
    const uint32_t size = 1 + cw_prng_below(random, config->max_block_size);
    message = make_parcel(from, stream->sent, size);
    if (cw_connection_send(from, channel, message, world->pair.now) != CW_OK) {
        cw_message_release(message);
        return;
    }
    stream->sent++;
    stream->fragments += fragments_of(world, channel, size);
}

static void read_all(struct world *world, int at)
{
    uint32_t channel;
    for (struct cw_message *message;
         (message = next_message(world->pair.sides[at], &channel)) != NULL;) {
        struct stream *stream = &world->streams[!at][channel];
        if (orders(world, channel) && number_of(message) != stream->received)
            fail_msg("seed %llu: channel %u: %u came after %u", (unsigned long long)world->seed,
                     channel, number_of(message), stream->received);
        stream->received++;
        stream->fragments -= fragments_of(world, channel, message->block_size);
        cw_message_release(message);
    }
}

static void change_paths(struct world *world)
{
    for (int i = 0; i < 2; i++) {
        const struct cw_simulator_path path =
            soak_path(&world->random, cw_prng_below(&world->random, SOAK_PATHS));
        assert_int_equal(cw_simulator_change(world->pair.paths[i], &path), CW_OK);
        world->reads[i] = cw_prng_chance(&world->random, 0.7);
    }
}

static void tick(struct world *world)
{
    pair_tick(&world->pair);
    for (int i = 0; i < 2; i++)
        if (world->reads[i])
            read_all(world, i);
}

/* Returns the seconds that a side's packets and round trips need for all that has not arrived: no
   more of it is under way than the other end has room for. */
static double time_needed(const struct world *world, int at)
{
    const struct cw_connection_config *config = &world->config;
    const uint32_t most = config->max_received_messages == CW_AUTO ? (config->max_messages + 1) / 2
                                                                   : config->max_received_messages;
    double packets = 0, trips = 0;
    for (uint32_t i = 0; i < config->channel_count; i++) {
        const struct stream *stream = &world->streams[at][i];
        const uint32_t queue = config->channels[i].receive_queue_size;
        const double left = is_reliable(world, i) ? stream->sent - stream->received : 0;
        packets += left;
        trips += left / (queue < most ? queue : most);
        packets += stream->fragments;
        trips += config->channels[i].blocks ? left * 2 : 0;
    }
    return packets / config->max_packets_per_update * TICK + trips * TRIP;
}

static void check_arrival(const struct world *world, double limit)
{
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < world->config.channel_count; j++) {
            const struct stream *stream = &world->streams[i][j];
            if (!is_reliable(world, j) || stream->received == stream->sent)
                continue;
            print_connection_state(world->pair.sides[0], "side 0");
            print_connection_state(world->pair.sides[1], "side 1");
            fail_msg("seed %llu: side %d, channel %u: %u of %u arrived within %g s",
                     (unsigned long long)world->seed, i, j, stream->received, stream->sent, limit);
        }
    }
}

static bool is_done(const struct world *world)
{
    for (int i = 0; i < 2; i++)
        for (uint32_t j = 0; j < world->config.channel_count; j++)
            if (is_reliable(world, j) && world->streams[i][j].received != world->streams[i][j].sent)
                return false;
    return true;
}

/* Returns by how many seconds the last message was later than it had to be. */
static double live_through(uint64_t seed)
{
    struct world world = {.seed = seed, .random = {seed}};
    choose_config(&world);
    world.pair = pair_open(&world.config, RTT, 0);
    for (int i = 0; i < BAD_TICKS; i++) {
        if (i % 120 == 0)
            change_paths(&world);
        for (uint32_t j = 0; j < 2 * world.config.channel_count; j++)
            if (cw_prng_chance(&world.random, 0.5))
                send_some(&world, j % 2, j / 2);
        tick(&world);
    }
    pair_set_loss(&world.pair, 0, RTT);
    world.reads[0] = world.reads[1] = true;
    const double start = world.pair.now;
    const double needed = fmax(time_needed(&world, 0), time_needed(&world, 1));
    while (!is_done(&world) && world.pair.now - start < needed + CALM_SECONDS)
        tick(&world);
    check_arrival(&world, needed + CALM_SECONDS);
    const double late = world.pair.now - start - needed;
    fixture_release(NULL);
    return late;
}

TEST(test_all_arrives_soon_when_the_path_is_good_again)
{
    double worst = -DBL_MAX;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        worst = fmax(worst, live_through(seed));
    print_message("at most %.1f s later than it had to be\n", worst);
}
