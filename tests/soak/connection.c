/* Pairs of connections live under random terrible conditions, for as many simulated hours as asked.
   After every datagram: reliable messages come strictly in order, or unordered, none is missing and
   none comes twice; sequenced ones never go back; all are as they were sent. When the path is calm
   again, all that is reliable is delivered and acked in time. In the end every message is back in
   its pool. */
#include "causeway/connection.h"
#include "causeway/simulator.h"
#include "connection_state.h"
#include "soak_messages.h"
#include "soak_paths.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP           (1.0 / 60) /* seconds */
#define PAIRS_PER_HOUR 6
#define STEPS_PER_PAIR (3600 * 60 / PAIRS_PER_HOUR)
#define CALM_LATENCY   0.02 /* seconds one way */
#define CALM_TRIP      (2 * CALM_LATENCY + 2 * STEP)
#define CALM_SECONDS   10.0 /* seconds beyond those that the path needs */
#define CHANNELS       5
#define MAX_HELD       64
#define MAX_LARGE      40000 /* bytes of the longest large message */
#define LARGE_HEAD     30    /* bytes that it has beside its bytes */
#define MAX_DATAGRAM   2048
#define SEEN           65536

struct channel {
    uint64_t sent;     /* the count sent by the near side */
    uint64_t received; /* the count that the far side got; in order, the next number */
    double per_step;   /* the mean of messages sent in a step */
    uint64_t *seen;    /* the numbers + 1 that arrived, on a channel without order */
    uint64_t newest;   /* the newest number that arrived there */
};

/* One end, and the path that leads away from it. */
struct side {
    struct cw_connection *connection;
    struct cw_simulator *path;
    struct channel channels[CHANNELS];
    unsigned interval;   /* steps from one round of packets to the next */
    uint64_t busy_until; /* the step up to which the application takes no messages */
    struct cw_message *kept[MAX_HELD];
    double hold; /* the chance of keeping a message for a while */
};

struct world {
    uint64_t seed;
    struct cw_prng random;
    uint64_t pair;
    uint64_t pair_seed; /* the seed with which this pair is the first */
    uint64_t step;
    double now;
    struct cw_schema *schema;
    struct cw_connection_config config;
    bool fast; /* bad paths are milder, and ids wrap every few seconds */
    struct side sides[2];
};

static uint64_t all_reliable, all_unreliable, all_laps, all_blocks, all_resent, all_refused;
static uint64_t blocks_made, blocks_released;
static double worst_calm; /* seconds beyond what the path needed */

static void fail(const struct world *world, int side, const char *what, uint64_t number)
{
    fprintf(stderr, "seed %" PRIu64 ", pair %" PRIu64 ", second %.3f, side %d: %s (%" PRIu64 ")\n",
            world->seed, world->pair, world->now, side, what, number);
    fprintf(stderr, "this pair alone: --hours 1 --seed %" PRIu64 "\n", world->pair_seed);
    for (int i = 0; i < 2; i++)
        print_connection_state(world->sides[i].connection, i == 0 ? "side 0" : "side 1");
    exit(1);
}

/* The content of a message, which follows from its number alone. */
struct plan {
    uint32_t type;
    uint32_t body;
    uint32_t block;
    struct cw_prng content;
};

static bool is_of_kind(const struct world *world, uint32_t channel, enum cw_channel_kind kind)
{
    return world->config.channels[channel].kind == kind;
}

static bool is_reliable(const struct world *world, uint32_t channel)
{
    return is_of_kind(world, channel, CW_CHANNEL_RELIABLE_ORDERED) ||
           is_of_kind(world, channel, CW_CHANNEL_RELIABLE_UNORDERED);
}

/* Returns the bytes of the longest block or body of a large message, 0 without such messages. */
static uint32_t large_of(const struct cw_channel_config *config)
{
    const uint32_t most = config->max_message_size == CW_AUTO ? 0 : config->max_message_size;
    return most > LARGE_HEAD ? most - LARGE_HEAD : 0;
}

static struct plan plan_of(const struct world *world, int side, uint32_t channel, uint64_t number)
{
    const struct cw_channel_config *config = &world->config.channels[channel];
    struct plan plan = {.content = {number * 64 + channel * 2 + (uint64_t)side}};
    struct cw_prng *random = &plan.content;
    const uint32_t packet = world->config.endpoint.fragment_above, large = large_of(config);
    uint32_t room = config->packet_budget;
    room = room > packet ? packet : room;
    const uint32_t kind = cw_prng_below(random, 100);
    if ((kind < 60 || channel == 0) && is_of_kind(world, channel, CW_CHANNEL_RELIABLE_ORDERED)) {
        plan.type = SMALL;
    } else if (kind > 97 && (config->blocks || large > 0)) {
        plan.type = BLOCK;
        uint32_t most = config->blocks ? config->max_block_size : 0;
        if (!is_reliable(world, channel) && most > room - 40)
            most = room - 40;
        if (most < large)
            most = large;
        plan.block = 1 + cw_prng_below(random, cw_prng_below(random, most) + 1);
    } else {
        uint32_t most = room - 29;
        if (most < large)
            most = large;
        plan.body = cw_prng_below(random, most > MAX_BODY ? MAX_BODY : most);
        if (cw_prng_below(random, 4))
            plan.body %= 100;
    }
    return plan;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context, (void)size;
    blocks_released++;
    free(block);
}

/* Returns false when the connection takes no more now. */
static bool send_message(struct world *world, int at, uint32_t index)
{
    struct side *side = &world->sides[at];
    struct channel *channel = &side->channels[index];
    struct plan plan = plan_of(world, at, index, channel->sent);
    struct cw_message *message;
    enum cw_error error = cw_connection_create_message(side->connection, plan.type, &message);
    if (error == CW_ERROR_POOL_EMPTY)
        return false;
    struct soak_message *data = message->data;
    data->number = (uint32_t)channel->sent & (plan.type == SMALL ? 7 : UINT32_MAX);
    data->size = plan.body;
    fill(&plan.content, data->bytes, plan.body);
    if (plan.type == BLOCK) {
        uint8_t *block = malloc(plan.block);
        fill(&plan.content, block, plan.block);
        cw_message_attach(message, block, plan.block, release_block, NULL);
        blocks_made++;
    }
    error = cw_connection_send(side->connection, index, message, world->now);
    if (error == CW_OK) {
        channel->sent++;
        return true;
    }
    cw_message_release(message);
    if (error != CW_ERROR_QUEUE_FULL)
        fail(world, at, cw_error_string(error), channel->sent);
    return false;
}

static void check_content(const struct world *world, int from, uint32_t index, uint64_t number,
                          const struct cw_message *message)
{
    static uint8_t expected[65536];
    struct plan plan = plan_of(world, from, index, number);
    const struct soak_message *data = message->data;
    if (message->type != plan.type)
        fail(world, !from, "another type", number);
    if (data->number != ((uint32_t)number & (plan.type == SMALL ? 7 : UINT32_MAX)))
        fail(world, !from, "another number", number);
    fill(&plan.content, expected, plan.body);
    if (data->size != plan.body || memcmp(data->bytes, expected, plan.body) != 0)
        fail(world, !from, "another body", number);
    if (message->block_size != plan.block)
        fail(world, !from, "a block of another size", number);
    fill(&plan.content, expected, plan.block);
    if (plan.block && memcmp(message->block, expected, plan.block) != 0)
        fail(world, !from, "another block", number);
    all_blocks += plan.type == BLOCK;
}

static void take_message(struct world *world, int at, struct cw_message *message, uint32_t index)
{
    struct channel *channel = &world->sides[!at].channels[index];
    uint64_t number = channel->received;
    if (!is_of_kind(world, index, CW_CHANNEL_RELIABLE_ORDERED)) {
        number = ((const struct soak_message *)message->data)->number;
        if (number >= channel->sent)
            fail(world, at, "never sent", number);
        if (channel->seen[number % SEEN] == number + 1)
            fail(world, at, "delivered twice", number);
        channel->seen[number % SEEN] = number + 1;
        if (number < channel->newest && is_of_kind(world, index, CW_CHANNEL_UNRELIABLE_SEQUENCED))
            fail(world, at, "older than the latest", number);
        channel->newest = number;
    } else if (number == channel->sent) {
        fail(world, at, "never sent", number);
    }
    check_content(world, !at, index, number, message);
    channel->received++;
    struct cw_message **slot = &world->sides[at].kept[cw_prng_below(&world->random, MAX_HELD)];
    if (!*slot && cw_prng_chance(&world->random, world->sides[at].hold))
        *slot = message;
    else
        cw_message_release(message);
}

static void take_messages(struct world *world, int at)
{
    struct cw_connection_event event;
    while (cw_connection_next(world->sides[at].connection, &event))
        take_message(world, at, event.message, event.channel);
}

static void let_go(struct side *side, uint32_t slot)
{
    cw_message_release(side->kept[slot]);
    side->kept[slot] = NULL;
}

static void deliver(struct world *world, int to)
{
    uint8_t datagram[MAX_DATAGRAM];
    struct side *side = &world->sides[to];
    for (size_t size; (size = cw_simulator_transmit(world->sides[!to].path, datagram,
                                                    sizeof datagram, world->now)) > 0;) {
        uint8_t *exact = malloc(size);
        memcpy(exact, datagram, size);
        const enum cw_error error =
            cw_connection_receive(side->connection, exact, size, world->now);
        if (error == CW_ERROR_MALFORMED)
            fail(world, to, cw_error_string(error), 0);
        free(exact);
        if (world->step >= side->busy_until)
            take_messages(world, to);
    }
}

static void send_round(struct world *world, int at)
{
    uint8_t datagram[MAX_DATAGRAM];
    struct side *side = &world->sides[at];
    cw_connection_update(side->connection, world->now);
    for (size_t size; (size = cw_connection_transmit(side->connection, datagram, sizeof datagram,
                                                     world->now)) > 0;)
        if (cw_simulator_receive(side->path, datagram, size, world->now) != CW_OK)
            fail(world, at, "a datagram that the path refused", size);
}

/* Draws new conditions: what the paths do, how often each side sends, how much, and how quickly it
   reads. */
static void change_conditions(struct world *world)
{
    static const unsigned intervals[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 2}, {2, 12}, {30, 1}};
    static const double rates[] = {0.02, 0.3, 1, 8, 100};
    struct cw_prng *random = &world->random;
    const unsigned *pair = intervals[cw_prng_below(random, 6)];
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        const struct cw_simulator_path path =
            soak_path(random, world->fast ? 7 : cw_prng_below(random, SOAK_PATHS));
        if (cw_simulator_change(side->path, &path) != CW_OK)
            fail(world, i, "path refused", 0);
        side->interval = pair[i];
        side->hold = cw_prng_chance(random, 0.3) ? some(random, 0.5) : 0;
        for (uint32_t j = 0; j < world->config.channel_count; j++)
            side->channels[j].per_step = some(random, rates[cw_prng_below(random, 5)]);
        if (world->fast)
            side->channels[0].per_step = 20;
    }
}

static void use(struct world *world, int at)
{
    struct side *side = &world->sides[at];
    struct cw_prng *random = &world->random;
    for (uint32_t i = 0; i < world->config.channel_count; i++) {
        double count = side->channels[i].per_step;
        while ((count >= 1 || cw_prng_chance(random, count)) && send_message(world, at, i))
            count = count >= 1 ? count - 1 : 0;
    }
    let_go(side, cw_prng_below(random, MAX_HELD));
    if (cw_prng_chance(random, 0.0005))
        side->busy_until = world->step + cw_prng_below(random, 600);
    if (world->step >= side->busy_until)
        take_messages(world, at);
}

static struct cw_channel_config choose_channel(struct cw_prng *random, uint32_t packet_size)
{
    static const enum cw_channel_kind kinds[] = {
        CW_CHANNEL_RELIABLE_ORDERED,   CW_CHANNEL_RELIABLE_ORDERED, CW_CHANNEL_RELIABLE_ORDERED,
        CW_CHANNEL_RELIABLE_UNORDERED, CW_CHANNEL_UNRELIABLE,       CW_CHANNEL_UNRELIABLE_SEQUENCED,
    };
    struct cw_channel_config config = cw_channel_config_default(kinds[cw_prng_below(random, 6)]);
    if (cw_prng_chance(random, 0.2))
        return config;
    config.max_messages_per_packet = 1 + cw_prng_below(random, 256);
    config.send_queue_size = 2u << cw_prng_below(random, 11);
    config.receive_queue_size = 2u << cw_prng_below(random, 11);
    config.blocks = cw_prng_chance(random, 0.5);
    config.block_fragment_size = 1 + cw_prng_below(random, packet_size - 80);
    config.max_block_size = 1 + cw_prng_below(random, 60000);
    config.weight = 1 + cw_prng_below(random, 20);
    config.extra_bytes = 1 + cw_prng_below(random, 400);
    const bool reliable =
        config.kind == CW_CHANNEL_RELIABLE_ORDERED || config.kind == CW_CHANNEL_RELIABLE_UNORDERED;
    if (reliable)
        config.recovery = (enum cw_recovery_kind)cw_prng_below(random, 3);
    config.max_message_size = 0;
    if (config.block_fragment_size >= 40 && cw_prng_chance(random, 0.5)) {
        const uint32_t queue = config.send_queue_size < config.receive_queue_size
                                   ? config.send_queue_size
                                   : config.receive_queue_size;
        const uint32_t most = queue * config.block_fragment_size;
        config.max_message_size = 1 + cw_prng_below(random, most < MAX_LARGE ? most : MAX_LARGE);
    }
    if (!config.blocks && config.max_message_size == 0 && cw_prng_chance(random, 0.3))
        config.packet_budget = 60 + cw_prng_below(random, 1200);
    return config;
}

static struct cw_connection_config choose_config(struct world *world)
{
    struct cw_prng *random = &world->random;
    struct cw_connection_config config = cw_connection_config_default(world->schema);
    if (cw_prng_chance(random, 0.1))
        return config;
    world->fast = cw_prng_chance(random, 0.1);
    if (world->fast) {
        config.max_messages = 8192;
        config.channels[0].send_queue_size = config.channels[0].receive_queue_size = 2048;
        return config;
    }
    const uint32_t packet_size = 200 + cw_prng_below(random, 865);
    config.endpoint.max_packet_size = config.endpoint.fragment_above = packet_size;
    config.endpoint.sent_window = 32u << cw_prng_below(random, 6);
    config.endpoint.received_window = 64u << cw_prng_below(random, 3);
    config.channel_count = 1 + cw_prng_below(random, CHANNELS);
    config.max_messages = 1 + cw_prng_below(random, 1u << 4 * cw_prng_below(random, 4));
    config.max_packets_per_update = 1 + cw_prng_below(random, 8);
    for (uint32_t i = 0; i < CHANNELS; i++)
        config.channels[i] = choose_channel(random, packet_size);
    return config;
}

static void make_pair(struct world *world)
{
    world->fast = false;
    world->config = choose_config(world);
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        struct cw_simulator_config path = cw_simulator_config_default();
        path.seed = cw_prng_bits(&world->random);
        path.max_datagram_size = MAX_DATAGRAM;
        path.max_datagrams = 4096;
        *side = (struct side){.interval = 1};
        for (uint32_t j = 0; j < CHANNELS; j++)
            side->channels[j].seen = calloc(SEEN, sizeof *side->channels[j].seen);
        if (cw_connection_create(&world->config, &side->connection) != CW_OK ||
            cw_simulator_create(&path, &side->path) != CW_OK)
            fail(world, i, "could not be made", 0);
    }
}

static void run_step(struct world *world, bool calm)
{
    world->now = (double)world->step * STEP;
    for (int i = 0; i < 2; i++) {
        deliver(world, i);
        if (calm)
            take_messages(world, i);
        else
            use(world, i);
        if (world->step % world->sides[i].interval == 0)
            send_round(world, i);
    }
    world->step++;
}

static void check_stats(struct world *world, int at)
{
    struct side *side = &world->sides[at];
    struct cw_connection_stats stats;
    cw_connection_get_stats(side->connection, &stats);
    if (stats.packets_invalid)
        fail(world, at, "invalid packets counted", stats.packets_invalid);
    const uint32_t most = world->config.max_messages;
    uint32_t reserves = 0;
    for (uint32_t i = 0; i < world->config.channel_count; i++)
        if (is_reliable(world, i))
            reserves += world->config.channels[i].max_message_size % CW_AUTO > 0 ? 2 : 1;
    if (stats.messages_in_use > most + (most + 1) / 2 + reserves)
        fail(world, at, "more messages than the pools have", stats.messages_in_use);
    for (uint32_t i = 0; i < world->config.channel_count; i++) {
        struct cw_channel_stats counts;
        cw_connection_get_channel_stats(side->connection, i, &counts);
        if (counts.sent != side->channels[i].sent)
            fail(world, at, "messages sent counted wrongly", i);
        if (is_reliable(world, i) &&
            counts.queued + counts.in_flight + counts.delivered != counts.sent)
            fail(world, at, "queued, in flight and delivered are not all", i);
        if (counts.queued > world->config.channels[i].send_queue_size)
            fail(world, at, "a queue longer than it can be", i);
    }
}

/* Returns whether everything that was sent has arrived, and both ends know it. */
static bool is_quiet(const struct world *world)
{
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < world->config.channel_count; j++) {
            struct cw_channel_stats counts;
            cw_connection_get_channel_stats(world->sides[i].connection, j, &counts);
            if (counts.queued + counts.in_flight > 0)
                return false;
        }
    }
    return true;
}

/* Adds what a side has to deliver on a channel: packets, and round trips one after the other. No
   more messages are under way than the other side may receive, and a block waits for those before
   it. */
static void add_work(const struct world *world, int at, uint32_t index, double *packets,
                     double *trips)
{
    const struct cw_channel_config *config = &world->config.channels[index];
    const struct channel *channel = &world->sides[at].channels[index];
    const uint32_t packet = world->config.endpoint.fragment_above,
                   most = world->config.max_messages;
    const uint32_t room = config->packet_budget < packet ? config->packet_budget : packet;
    const uint32_t at_once =
        config->receive_queue_size < (most + 1) / 2 ? config->receive_queue_size : (most + 1) / 2;
    for (uint64_t number = channel->received; number < channel->sent; number++) {
        const struct plan plan = plan_of(world, at, index, number);
        const uint32_t unit = large_of(config) > 0 ? config->block_fragment_size : room;
        const double own = (plan.body + 16.0) / (unit < room ? unit : room) +
                           1.0 / config->max_messages_per_packet + (large_of(config) > 0);
        *packets += config->recovery == CW_RECOVERY_CODED ? (1 + config->extra_bytes / 100.0) * own
                                                          : own; /* with its combinations */
        *trips += 1.0 / at_once;
        if (plan.block > 0) {
            *packets += (plan.block - 1) / config->block_fragment_size + 1;
            *trips += 2;
        }
    }
}

/* Returns the seconds that the calm path needs for all that is reliable. */
static double time_needed(const struct world *world)
{
    double needed = 0;
    for (int i = 0; i < 2; i++) {
        double packets = 0, longest = 0;
        for (uint32_t j = 0; j < world->config.channel_count; j++) {
            double trips = 0;
            if (is_reliable(world, j))
                add_work(world, i, j, &packets, &trips);
            if (trips > longest)
                longest = trips;
        }
        const double time =
            packets / world->config.max_packets_per_update * STEP + longest * CALM_TRIP;
        if (time > needed)
            needed = time;
    }
    return needed;
}

static void finish(struct world *world)
{
    const struct cw_simulator_path path = {.latency_seconds = CALM_LATENCY, .queue_bytes = 1e6};
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        side->interval = 1;
        side->busy_until = 0;
        side->hold = 0;
        for (uint32_t j = 0; j < MAX_HELD; j++)
            let_go(side, j);
        if (cw_simulator_change(side->path, &path) != CW_OK)
            fail(world, i, "path refused", 0);
    }
    const double needed = time_needed(world), begin = world->now;
    while (!is_quiet(world)) {
        if (world->now - begin > needed + CALM_SECONDS)
            fail(world, 0, "messages are stuck, which needed milliseconds",
                 (uint64_t)(1000 * needed));
        run_step(world, true);
    }
    if (world->now - begin - needed > worst_calm)
        worst_calm = world->now - begin - needed;
    for (int i = 0; i < 300; i++)
        run_step(world, true);
    for (int i = 0; i < 2; i++) {
        struct cw_connection_stats stats;
        cw_connection_get_stats(world->sides[i].connection, &stats);
        if (stats.messages_in_use > 0)
            fail(world, i, "messages that did not come back", stats.messages_in_use);
        for (uint32_t j = 0; j < world->config.channel_count; j++) {
            const struct channel *channel = &world->sides[i].channels[j];
            if (is_reliable(world, j) && channel->received != channel->sent)
                fail(world, i, "missing messages", channel->sent - channel->received);
        }
    }
}

static void count_and_destroy(struct world *world)
{
    for (int i = 0; i < 2; i++) {
        struct side *side = &world->sides[i];
        struct cw_connection_stats stats;
        cw_connection_get_stats(side->connection, &stats);
        all_refused += stats.packets_refused;
        for (uint32_t j = 0; j < CHANNELS; j++) {
            struct cw_channel_stats counts = {0};
            cw_connection_get_channel_stats(side->connection, j, &counts);
            all_resent += counts.resent;
            if (j < world->config.channel_count && is_reliable(world, j)) {
                all_reliable += side->channels[j].received;
                all_laps += side->channels[j].received / 65536;
            } else {
                all_unreliable += side->channels[j].received;
            }
            free(side->channels[j].seen);
        }
        for (uint32_t j = 0; j < MAX_HELD; j++)
            let_go(side, j);
        cw_connection_reset(side->connection);
        cw_connection_get_stats(side->connection, &stats);
        if (stats.messages_in_use > 0)
            fail(world, i, "messages that survived a reset", stats.messages_in_use);
        cw_connection_destroy(side->connection);
        cw_simulator_destroy(side->path);
    }
    if (blocks_made != blocks_released)
        fail(world, 0, "blocks not released exactly once", blocks_made - blocks_released);
}

static void run_pair(struct world *world)
{
    uint64_t next_change = 0;
    world->step = 0;
    world->pair_seed = world->random.state;
    make_pair(world);
    while (world->step < STEPS_PER_PAIR) {
        if (world->step == next_change) {
            change_conditions(world);
            next_change += 60 + cw_prng_below(&world->random, 20 * 60);
        }
        run_step(world, false);
        if (world->step % 60 == 0)
            for (int i = 0; i < 2; i++)
                check_stats(world, i);
    }
    /* Some pairs end while messages are still under way. */
    if (world->fast || cw_prng_chance(&world->random, 0.8))
        finish(world);
    count_and_destroy(world);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'}, {"hours", required_argument, NULL, 'h'}, {0}};
    const struct cw_schema_config schema = {.types = soak_types, .count = 3};
    static struct world world = {.seed = 1};
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
    if (cw_schema_create(&schema, &world.schema) != CW_OK)
        fail(&world, 0, "no schema", 0);
    for (world.pair = 0; world.pair < hours * PAIRS_PER_HOUR; world.pair++)
        run_pair(&world);
    cw_schema_destroy(world.schema);
    printf("%" PRIu64 " reliable messages, %" PRIu64 " laps of their ids, %" PRIu64
           " sent again; %" PRIu64 " unreliable; %" PRIu64 " blocks; %" PRIu64
           " packets refused by full receivers; all delivered at most %.1f s late\n",
           all_reliable, all_laps, all_resent, all_unreliable, all_blocks, all_refused, worst_calm);
    return 0;
}
