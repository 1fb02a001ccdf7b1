/* One to four pairs of connections share one slow link with a queue, for as many simulated hours as
   asked; each scene draws the path, the ticks of all ends and what they send. Nothing reliable is
   lost or out of order, every channel of every flow goes on, the queue stays short after the start
   of a scene, and no end waits for a packet so long that a secure connection would end. */
#include "path_world.h"
#include "soak_messages.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_SECONDS   60.0
#define SCENES_PER_HOUR 60
#define START_SECONDS   20.0   /* the start of a scene, in which the queue is not measured */
#define CHECK_SECONDS   0.1    /* seconds from one look at all channels to the next */
#define TIMEOUT_SECONDS 5.0    /* seconds without a packet that usually end a connection */
#define PACKET          1064.0 /* bytes of a full packet */
#define LEAST_WINDOW    PACKET /* the least that congestion control allows in flight */
#define MOST_IN_FLIGHT  192    /* packets: three quarters of the sent_window */
#define MOST_LOST       64     /* unreliable messages in a row */
#define MOST_BLOCK      200000 /* bytes */
#define BLOCKS_WAITING  2
#define FLOWS           4 /* at most */

/* Each channel of a connection is used in another way. */
enum { COMMANDS, STATE, BURSTS, BLOCKS, CHANNELS };

/* One direction of a channel. */
struct stream {
    uint64_t sent, received;
    double waits_since; /* the time of the last arrival, or of a send with nothing under way */
    double per_second;  /* messages, or 0 */
    uint32_t at_once;   /* messages that are sent together */
    double due;         /* messages that are to be sent now */
};

/* One end of a flow, with the streams that it sends. */
struct side {
    struct scene *scene;
    struct side *other;
    unsigned flow, at; /* at: 0 or 1, the link it sends on */
    struct stream streams[CHANNELS];
    uint32_t most_body, most_block; /* bytes */
    double room;                    /* bytes per second that it could send alone on the path */
    uint64_t bytes_arrived;
    double last_packet; /* the time when a packet arrived last */
};

struct scene {
    uint64_t seed, number;
    struct cw_prng random;
    struct path_world *world;
    struct cw_simulator_path paths[2];
    double rtt;
    double slowest_tick; /* seconds */
    unsigned flows;
    struct side sides[FLOWS][2];
    bool quiet; /* nothing new is sent */
};

static const struct cw_schema *schema;
static uint64_t all_messages, all_blocks, all_drops;
static double worst_wait, worst_queue, worst_silence;

static void fail(const struct scene *scene, const struct side *side, const char *what, double value)
{
    fprintf(stderr, "seed %" PRIu64 ", scene %" PRIu64 ", second %.3f, RTT %g ms, %u flows",
            scene->seed, scene->number, scene->world->now, 1000 * scene->rtt, scene->flows);
    for (int i = 0; i < 2; i++) {
        const struct cw_simulator_path *path = &scene->paths[i];
        fprintf(stderr, ", %g kbit/s with a queue of %g s", path->bytes_per_second / 125,
                path->queue_bytes / path->bytes_per_second);
    }
    fprintf(stderr, ", loss %g: ", scene->paths[0].loss);
    if (side)
        fprintf(stderr, "flow %u, end %u: ", side->flow, side->at);
    fprintf(stderr, "%s (%g)\n", what, value);
    exit(1);
}

/* Draws a number between least and most, so that each factor is as likely as any other. */
static double of_all_sizes(struct cw_prng *random, double least, double most)
{
    return least * pow(most / least, cw_prng_share(random));
}

/* Messages: the content of each follows from its number alone. */

struct plan {
    uint32_t type, body, block;
    struct cw_prng content;
};

static struct plan plan_of(const struct side *side, uint32_t channel, uint64_t number)
{
    struct plan plan = {.content = {number * 64 + channel * 8 + side->flow * 2 + side->at}};
    if (channel == BLOCKS) {
        plan.type = BLOCK;
        plan.block = 1 + cw_prng_below(&plan.content, side->most_block);
    } else {
        plan.type = TEXT;
        plan.body = cw_prng_below(&plan.content, side->most_body + 1);
    }
    return plan;
}

static void release_block(void *context, uint8_t *block, size_t size)
{
    (void)context, (void)size;
    free(block);
}

/* Returns false when the connection takes no more now. */
static bool send_message(struct path_world *world, struct path_end *end, uint32_t channel)
{
    struct side *side = end->context;
    struct stream *stream = &side->streams[channel];
    struct plan plan = plan_of(side, channel, stream->sent);
    struct cw_message *message;
    if (cw_connection_create_message(end->connection, plan.type, &message) != CW_OK)
        return false;
    struct soak_message *data = message->data;
    data->number = (uint32_t)stream->sent;
    data->size = plan.body;
    fill(&plan.content, data->bytes, plan.body);
    if (plan.block > 0) {
        uint8_t *block = malloc(plan.block);
        fill(&plan.content, block, plan.block);
        cw_message_attach(message, block, plan.block, release_block, NULL);
    }
    const enum cw_error error = cw_connection_send(end->connection, channel, message, world->now);
    if (error != CW_OK) {
        cw_message_release(message);
        if (error != CW_ERROR_QUEUE_FULL)
            fail(side->scene, side, cw_error_string(error), channel);
        return false;
    }
    if (stream->received == stream->sent)
        stream->waits_since = world->now;
    stream->sent++;
    return true;
}

static void check_message(const struct side *from, uint32_t channel, uint64_t number,
                          const struct cw_message *message)
{
    static uint8_t expected[MOST_BLOCK + 8];
    struct plan plan = plan_of(from, channel, number);
    const struct soak_message *data = message->data;
    if (message->type != plan.type || data->number != (uint32_t)number)
        fail(from->scene, from->other, "not the next message", (double)data->number);
    fill(&plan.content, expected, plan.block ? plan.block : plan.body);
    if (data->size != plan.body || memcmp(data->bytes, expected, plan.body) != 0)
        fail(from->scene, from->other, "another body", (double)number);
    if (message->block_size != plan.block ||
        (plan.block && memcmp(message->block, expected, plan.block) != 0))
        fail(from->scene, from->other, "another block", (double)number);
}

/* Returns how long a channel may go without an arrival: ten round trips, and for blocks 20 times
   what a fair share of the path would take, or half a round trip for each packet. */
static double patience(const struct side *from, uint32_t channel)
{
    const struct scene *scene = from->scene;
    double trip = scene->rtt + 2 * scene->slowest_tick;
    for (int i = 0; i < 2; i++)
        trip += scene->paths[i].queue_bytes / scene->paths[i].bytes_per_second;
    const double seconds_per_byte = fmax(20 / from->room, trip / (2 * PACKET));
    return 1 + 10 * trip + (channel == BLOCKS ? from->most_block * seconds_per_byte : 0);
}

static void take_message(struct side *side, const struct cw_connection_event *event)
{
    struct side *from = side->other;
    struct stream *stream = &from->streams[event->channel];
    const bool in_order = event->channel != STATE;
    const struct soak_message *data = event->message->data;
    const uint64_t number = in_order ? stream->received : data->number;
    if (number >= stream->sent)
        fail(side->scene, side, "never sent", (double)number);
    check_message(from, event->channel, number, event->message);
    stream->received = number + 1;
    const double now = side->scene->world->now;
    if (in_order)
        worst_wait = fmax(worst_wait, (now - stream->waits_since) / patience(from, event->channel));
    stream->waits_since = now;
    all_messages++;
    all_blocks += event->channel == BLOCKS;
}

/* The ends */

static void take(struct path_world *world, struct path_end *end)
{
    struct side *side = end->context;
    if (end->bytes_arrived != side->bytes_arrived)
        side->last_packet = world->now;
    side->bytes_arrived = end->bytes_arrived;
    worst_silence = fmax(worst_silence, world->now - side->last_packet);
    if (world->now - side->last_packet > TIMEOUT_SECONDS)
        fail(side->scene, side, "no packet for too long", world->now - side->last_packet);
    for (struct cw_connection_event event; cw_connection_next(end->connection, &event);) {
        take_message(side, &event);
        cw_message_release(event.message);
    }
}

static void use(struct path_world *world, struct path_end *end)
{
    struct side *side = end->context;
    if (side->scene->quiet)
        return;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct stream *stream = &side->streams[i];
        stream->due += stream->per_second * end->interval;
        if (stream->due < stream->at_once)
            continue;
        while (stream->due >= 1 && send_message(world, end, i))
            stream->due--;
    }
    const struct stream *blocks = &side->streams[BLOCKS];
    while (blocks->at_once > 0 && blocks->sent - blocks->received < BLOCKS_WAITING &&
           send_message(world, end, BLOCKS))
        ;
}

/* Scenes */

static struct cw_simulator_path draw_path(struct scene *scene, double loss)
{
    struct cw_prng *random = &scene->random;
    const double kbit = of_all_sizes(random, 250, 20000);
    struct cw_simulator_path path = path_of_kbit(scene->rtt, kbit, of_all_sizes(random, 0.01, 1.5));
    path.queue_bytes = fmax(path.queue_bytes, 2 * PACKET);
    path.loss = loss;
    return path;
}

static struct cw_connection_config draw_config(struct scene *scene)
{
    struct cw_prng *random = &scene->random;
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.channel_count = CHANNELS;
    config.max_messages = 2048;
    config.max_packets_per_update = 1 + cw_prng_below(random, 32);
    for (uint32_t i = 0; i < CHANNELS; i++)
        config.channels[i] = cw_channel_config_default(i == STATE ? CW_CHANNEL_UNRELIABLE
                                                                  : CW_CHANNEL_RELIABLE_ORDERED);
    config.channels[COMMANDS].recovery = (enum cw_recovery_kind)cw_prng_below(random, 3);
    config.channels[COMMANDS].extra_bytes = 1 + cw_prng_below(random, 300);
    config.channels[BLOCKS].blocks = true;
    return config;
}

/* Game messages take at most a third of what the end may send; blocks take what is left. */
static void draw_traffic(struct side *side, const struct cw_connection_config *config, double hz)
{
    struct cw_prng *random = &side->scene->random;
    const struct cw_simulator_path *path = &side->scene->paths[side->at];
    side->room = path->bytes_per_second / side->scene->flows;
    side->room = fmin(side->room, config->max_packets_per_update * hz * PACKET);
    side->room = fmin(side->room, MOST_IN_FLIGHT * PACKET / (side->scene->rtt + 2 / hz));
    side->most_body = 10 + cw_prng_below(random, 191);
    side->most_block = (uint32_t)fmin(1 + side->room * of_all_sizes(random, 0.01, 4), MOST_BLOCK);
    const double most = side->room / 3 / (side->most_body / 2.0 + 8);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        side->streams[i].at_once = 1;
        side->streams[i].per_second = fmin(most / 3 * cw_prng_share(random), 5 * hz);
    }
    struct stream *bursts = &side->streams[BURSTS];
    bursts->at_once = 1 + (uint32_t)fmin(bursts->per_second * 2 * cw_prng_share(random), 64);
    side->streams[BLOCKS].at_once = cw_prng_chance(random, 0.7);
}

static void add_flow(struct scene *scene)
{
    const struct cw_connection_config config = draw_config(scene);
    const unsigned index = scene->world->flow_count;
    struct path_flow *flow = path_world_add(scene->world, &config);
    for (unsigned i = 0; i < 2; i++) {
        struct side *side = &scene->sides[index][i];
        const double hz = of_all_sizes(&scene->random, 10, 144);
        *side = (struct side){
            .scene = scene, .other = &scene->sides[index][!i], .flow = index, .at = i};
        flow->ends[i].interval = 1 / hz;
        flow->ends[i].phase = cw_prng_share(&scene->random) / hz;
        flow->ends[i].wobble = cw_prng_share(&scene->random) / 2;
        flow->ends[i].take = take;
        flow->ends[i].use = use;
        flow->ends[i].context = side;
        scene->slowest_tick = fmax(scene->slowest_tick, 1 / hz);
        draw_traffic(side, &config, hz);
    }
}

static void begin_scene(struct scene *scene)
{
    struct cw_prng *random = &scene->random;
    const double loss = cw_prng_chance(random, 0.4) ? 0 : 0.2 * cw_prng_share(random);
    scene->rtt = of_all_sizes(random, 0.0001, 0.6);
    scene->flows = 1 + cw_prng_below(random, FLOWS);
    scene->slowest_tick = 0;
    scene->quiet = false;
    for (unsigned i = 0; i < 2; i++)
        scene->paths[i] = draw_path(scene, loss);
    scene->world = path_world_create(cw_prng_bits(random), &scene->paths[0], &scene->paths[1]);
    for (unsigned i = 0; i < scene->flows; i++)
        add_flow(scene);
}

static void check_progress(const struct scene *scene)
{
    for (unsigned i = 0; i < 2 * scene->flows; i++) {
        const struct side *side = &scene->sides[i / 2][i % 2];
        for (uint32_t j = 0; j < CHANNELS; j++) {
            const struct stream *stream = &side->streams[j];
            const double waits = scene->world->now - stream->waits_since;
            const uint64_t most = j == STATE ? MOST_LOST : 0;
            if (stream->sent > stream->received + most && waits > patience(side, j))
                fail(scene, side, "a channel starves", j);
        }
    }
}

/* Returns the longest queue that a scene may have: twice the target of congestion control, and what
   it lets go at any queue, which is the least windows and the messages of a burst. */
static double longest_queue(const struct scene *scene, unsigned at)
{
    const double target = fmax(fmax(0.03, 2 * scene->slowest_tick), 0.05 * scene->rtt);
    double bytes = LEAST_WINDOW * scene->flows;
    for (unsigned i = 0; i < scene->flows; i++) {
        const struct side *side = &scene->sides[i][at];
        bytes += side->streams[BURSTS].at_once * side->most_body;
    }
    return 2 * target + bytes / scene->paths[at].bytes_per_second;
}

static void check_queues(const struct scene *scene)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct path_link *link = &scene->world->links[i];
        const double queue = path_queue_ms(link) / 1000, most = longest_queue(scene, i);
        all_drops += link->dropped;
        worst_queue = fmax(worst_queue, queue / most);
        if (queue > most)
            fail(scene, NULL, "a queue that is too long", queue);
    }
}

static bool all_has_arrived(const struct scene *scene)
{
    for (unsigned i = 0; i < 2 * scene->flows; i++) {
        for (uint32_t j = 0; j < CHANNELS; j++) {
            const struct stream *stream = &scene->sides[i / 2][i % 2].streams[j];
            if (j != STATE && stream->received < stream->sent)
                return false;
        }
    }
    return true;
}

static void run_until(struct scene *scene, double until)
{
    while (scene->world->now < until) {
        path_world_run(scene->world, scene->world->now + CHECK_SECONDS);
        check_progress(scene);
    }
}

static void check_ends(const struct scene *scene)
{
    for (unsigned i = 0; i < 2 * scene->flows; i++) {
        struct cw_connection_stats stats;
        const struct side *side = &scene->sides[i / 2][i % 2];
        cw_connection_get_stats(scene->world->flows[i / 2].ends[i % 2].connection, &stats);
        if (stats.packets_invalid > 0)
            fail(scene, side, "invalid packets", (double)stats.packets_invalid);
        if (stats.messages_in_use > 0)
            fail(scene, side, "messages that did not come back", stats.messages_in_use);
    }
}

static void run_scene(struct scene *scene)
{
    begin_scene(scene);
    run_until(scene, START_SECONDS);
    path_world_measure(scene->world);
    for (unsigned i = 0; i < 2 * scene->flows; i++)
        scene->sides[i / 2][i % 2].bytes_arrived = 0;
    run_until(scene, SCENE_SECONDS);
    check_queues(scene);
    scene->quiet = true;
    while (!all_has_arrived(scene)) /* run_until fails when a channel starves */
        run_until(scene, scene->world->now + 1);
    run_until(scene, scene->world->now + 10);
    check_ends(scene);
    path_world_destroy(scene->world);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'}, {"hours", required_argument, NULL, 'h'}, {0}};
    const struct cw_schema_config config = {.types = soak_types, .count = 3};
    static struct scene scene = {.seed = 1};
    unsigned long hours = 1;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            scene.seed = strtoull(optarg, NULL, 10);
        else if (option == 'h')
            hours = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    struct cw_schema *made;
    if (cw_schema_create(&config, &made) != CW_OK)
        return 1;
    schema = made;
    scene.random.state = scene.seed;
    printf("seed %" PRIu64 ", %lu simulated hours\n", scene.seed, hours);
    fflush(stdout);
    for (; scene.number < hours * SCENES_PER_HOUR; scene.number++)
        run_scene(&scene);
    cw_schema_destroy(made);
    printf("%" PRIu64 " messages, %" PRIu64 " blocks, %" PRIu64
           " datagrams dropped; worst of the allowed: wait %.2f, queue %.2f, silence %.2f\n",
           all_messages, all_blocks, all_drops, worst_wait, worst_queue,
           worst_silence / TIMEOUT_SECONDS);
    return 0;
}
