/* A player's inputs on their way to a server, with the clock that leads them, over two connections
   and a bad path, in virtual time. The client runs frames, and in them the ticks that its clock
   tells; with the inputs goes a stamp. The server takes one input per tick, and sends a state that
   holds its time and a report. */
#ifndef CAUSEWAY_TESTS_INPUT_RIG_H
#define CAUSEWAY_TESTS_INPUT_RIG_H

#include "causeway/clock_sync.h"
#include "causeway/connection.h"
#include "causeway/input.h"
#include "causeway/simulator.h"

#include "base/prng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_RIG_KEPT 8192 /* ticks whose inputs the rig remembers */

/* A typical input: 43 bits. */
#define INPUT_RIG_PLAY(FIELD)                                                                      \
    FIELD(right, CW_INT(-1, 1))                                                                    \
    FIELD(forward, CW_INT(-1, 1))                                                                  \
    FIELD(buttons, CW_BITS(8))                                                                     \
    FIELD(weapon, CW_UINT(0, 7))                                                                   \
    FIELD(yaw, CW_BITS(16))                                                                        \
    FIELD(pitch, CW_INT(-4096, 4095))
CW_MESSAGE(input_rig_play, INPUT_RIG_PLAY)

#define INPUT_RIG_BODY(FIELD) FIELD(bytes, CW_BYTES(512))
CW_MESSAGE(input_rig_body, INPUT_RIG_BODY)

struct input_rig_config {
    double ticks_per_second;
    double frames_per_second; /* frames of the client */
    double states_per_second; /* states of the server, at most one per tick */
    struct cw_simulator_path up, down;
    double drift;
    double first_tick;
    uint32_t copies;
    bool server_polls; /* true: it takes arrivals once per tick, not at once */
    uint64_t seed;
};

struct input_rig {
    struct input_rig_config config;
    struct cw_schema *schema;
    struct cw_connection *client, *server;
    struct cw_simulator *up, *down;
    struct cw_clock_sync *sync;
    struct cw_clock_echo echo;
    struct cw_input_sender *sender;
    struct cw_input_receiver *receiver;
    struct input_rig_play played[INPUT_RIG_KEPT]; /* inputs, by their ticks */
    struct input_rig_play hands;                  /* the input that the player holds now */
    struct cw_prng random;
    double now;
    double next_frame, next_state;
    double next_tick; /* the tick time of the server's next tick */
    double tick_jump; /* ticks by which the server's have jumped so far */
    bool hidden;      /* the page is hidden: it runs no frames and takes nothing */
    uint64_t ticks;   /* ticks of the server */
    uint64_t starved; /* ticks without an input */
    uint64_t wrong;   /* ticks that got another input than the player's */
    uint64_t packets; /* packets of the client */
    uint64_t bytes;   /* bytes in its datagrams */
    uint64_t restarts;
};

static inline void input_rig_must(enum cw_error error)
{
    if (error == CW_OK)
        return;
    fprintf(stderr, "%s\n", cw_error_string(error));
    abort();
}

static inline double input_rig_client_clock(const struct input_rig *rig)
{
    return rig->now + 4321.5;
}

static inline double input_rig_server_clock(const struct input_rig *rig)
{
    return rig->now * (1 + rig->config.drift);
}

static inline double input_rig_tick_time(const struct input_rig *rig)
{
    return rig->config.first_tick + rig->tick_jump +
           input_rig_server_clock(rig) * rig->config.ticks_per_second;
}

static inline struct cw_simulator *input_rig_path(const struct cw_simulator_path *path,
                                                  uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    struct cw_simulator *simulator = NULL;
    config.seed = seed;
    config.path = *path;
    config.max_datagrams = 4096;
    input_rig_must(cw_simulator_create(&config, &simulator));
    return simulator;
}

static inline struct input_rig *input_rig_start(const struct input_rig_config *config)
{
    const struct cw_message_type types[] = {input_rig_play_type, input_rig_body_type};
    const struct cw_schema_config schema_config = {.types = types, .count = 2};
    struct cw_clock_sync_config sync_config = cw_clock_sync_config_default();
    struct input_rig *rig = calloc(1, sizeof *rig);
    if (!rig)
        abort();
    rig->config = *config;
    rig->random.state = config->seed;
    rig->next_tick = floor(config->first_tick) + 1;
    input_rig_must(cw_schema_create(&schema_config, &rig->schema));
    const struct cw_connection_config connection = cw_connection_config_default(rig->schema);
    input_rig_must(cw_connection_create(&connection, &rig->client));
    input_rig_must(cw_connection_create(&connection, &rig->server));
    rig->up = input_rig_path(&config->up, config->seed);
    rig->down = input_rig_path(&config->down, config->seed + 1000003);
    sync_config.ticks_per_second = config->ticks_per_second;
    input_rig_must(cw_clock_sync_create(&sync_config, &rig->sync));
    struct cw_input_config input = cw_input_config_default(rig->schema);
    if (config->copies > 0)
        input.copies = config->copies;
    input_rig_must(cw_input_sender_create(&input, &rig->sender));
    input_rig_must(cw_input_receiver_create(&input, &rig->receiver));
    return rig;
}

static inline void input_rig_stop(struct input_rig *rig)
{
    cw_input_sender_destroy(rig->sender);
    cw_input_receiver_destroy(rig->receiver);
    cw_clock_sync_destroy(rig->sync);
    cw_simulator_destroy(rig->up);
    cw_simulator_destroy(rig->down);
    cw_connection_destroy(rig->client);
    cw_connection_destroy(rig->server);
    cw_schema_destroy(rig->schema);
    free(rig);
}

/* Keys change some five times a second; the aim moves half of the time, from tick to tick. */
static inline void input_rig_play_on(struct input_rig *rig)
{
    struct input_rig_play *hands = &rig->hands;
    struct cw_prng *random = &rig->random;
    const double per_tick = 1 / rig->config.ticks_per_second;
    if (cw_prng_chance(random, 3 * per_tick)) {
        hands->right = (int32_t)cw_prng_below(random, 3) - 1;
        hands->forward = (int32_t)cw_prng_below(random, 3) - 1;
    }
    if (cw_prng_chance(random, 2 * per_tick))
        hands->buttons ^= 1u << cw_prng_below(random, 8);
    if (cw_prng_chance(random, 0.2 * per_tick))
        hands->weapon = cw_prng_below(random, 8);
    /* half a second of aiming, then half a second of rest */
    if (fmod(rig->now, 1) < 0.5) {
        const double reach = 12000 * per_tick; /* in 65536ths of a turn */
        hands->yaw = (hands->yaw + (uint32_t)(reach * cw_prng_share(random))) & 0xFFFF;
        const double pitch = hands->pitch + reach / 4 * (cw_prng_share(random) - 0.5);
        hands->pitch = (int32_t)fmin(fmax(pitch, -4096), 4095);
    }
}

/* Sends a body at a time of the sender's clock, which is now on the path; returns the bytes on the
   wire. */
static inline size_t input_rig_send(struct cw_connection *connection, struct cw_simulator *path,
                                    const uint8_t *data, size_t size, double clock, double now)
{
    struct cw_message *message;
    uint8_t datagram[1400];
    size_t bytes = 0;
    input_rig_must(cw_connection_create_message(connection, 1, &message));
    struct input_rig_body *body = message->data;
    memcpy(body->bytes.data, data, size);
    body->bytes.size = (uint32_t)size;
    input_rig_must(cw_connection_send(connection, 1, message, clock));
    cw_connection_update(connection, clock);
    while ((size = cw_connection_transmit(connection, datagram, sizeof datagram, clock)) > 0) {
        bytes += size;
        cw_simulator_receive(path, datagram, size, now);
    }
    return bytes;
}

static inline void input_rig_server_takes(struct input_rig *rig)
{
    uint8_t datagram[1400];
    size_t size;
    struct cw_connection_event event;
    const double clock = input_rig_server_clock(rig);
    while ((size = cw_simulator_transmit(rig->up, datagram, sizeof datagram, rig->now)) > 0) {
        cw_connection_receive(rig->server, datagram, size, clock);
        while (cw_connection_next(rig->server, &event)) {
            const struct input_rig_body *body = event.message->data;
            cw_clock_echo_receive(&rig->echo, body->bytes.data, 2, clock);
            cw_input_receiver_receive(rig->receiver, body->bytes.data + 2, body->bytes.size - 2,
                                      input_rig_tick_time(rig));
            cw_message_release(event.message);
        }
    }
}

static inline void input_rig_client_takes(struct input_rig *rig)
{
    uint8_t datagram[1400];
    size_t size;
    struct cw_connection_event event;
    struct cw_input_report report;
    const double clock = input_rig_client_clock(rig);
    while ((size = cw_simulator_transmit(rig->down, datagram, sizeof datagram, rig->now)) > 0) {
        cw_connection_receive(rig->client, datagram, size, clock);
        while (cw_connection_next(rig->client, &event)) {
            const struct input_rig_body *body = event.message->data;
            cw_clock_sync_receive(rig->sync, body->bytes.data, CW_CLOCK_ECHO_SIZE, clock);
            if (body->bytes.size > CW_CLOCK_ECHO_SIZE &&
                cw_input_sender_receive(rig->sender, body->bytes.data + CW_CLOCK_ECHO_SIZE,
                                        CW_INPUT_REPORT_SIZE, &report) == CW_OK)
                cw_clock_sync_adjust(rig->sync, report.tick, report.early_ticks, clock);
            cw_message_release(event.message);
        }
    }
}

static inline void input_rig_server_ticks(struct input_rig *rig)
{
    struct input_rig_play input;
    uint8_t state[CW_CLOCK_ECHO_SIZE + CW_INPUT_REPORT_SIZE];
    const uint32_t tick = cw_tick_of(rig->next_tick);
    rig->next_tick++;
    rig->ticks++;
    if (!cw_input_receiver_take(rig->receiver, tick, &input))
        rig->starved++;
    else
        rig->wrong += memcmp(&input, &rig->played[tick % INPUT_RIG_KEPT], sizeof input) != 0;
    if (rig->next_state > rig->now)
        return;
    rig->next_state = fmax(rig->now, rig->next_state + 1 / rig->config.states_per_second);
    const double clock = input_rig_server_clock(rig);
    size_t size =
        cw_clock_echo_transmit(&rig->echo, input_rig_tick_time(rig), state, sizeof state, clock);
    size += cw_input_receiver_transmit(rig->receiver, state + size, sizeof state - size);
    input_rig_send(rig->server, rig->down, state, size, clock, rig->now);
}

static inline void input_rig_client_frame(struct input_rig *rig)
{
    const double clock = input_rig_client_clock(rig);
    struct cw_clock_sync_event event;
    uint8_t data[512];
    cw_clock_sync_update(rig->sync, clock);
    while (cw_clock_sync_next(rig->sync, &event)) {
        if (event.type == CW_CLOCK_SYNC_EVENT_RESTART) {
            rig->restarts++;
            continue;
        }
        input_rig_play_on(rig);
        rig->played[event.tick % INPUT_RIG_KEPT] = rig->hands;
        input_rig_must(cw_input_sender_add(rig->sender, event.tick, &rig->hands));
    }
    size_t size = cw_clock_sync_transmit(rig->sync, data, sizeof data, clock);
    size += cw_input_sender_transmit(rig->sender, data + size, sizeof data - size);
    rig->packets++;
    rig->bytes += input_rig_send(rig->client, rig->up, data, size, clock, rig->now);
}

/* Lets time pass: everything happens at its instant, in order. */
static inline void input_rig_run(struct input_rig *rig, double seconds)
{
    const double end = rig->now + seconds;
    for (;;) {
        const double rate = rig->config.ticks_per_second * (1 + rig->config.drift);
        const double tick =
            (rig->next_tick - rig->config.first_tick - rig->tick_jump) / rate + 1e-9;
        const double up = rig->config.server_polls ? (double)INFINITY : cw_simulator_due(rig->up);
        const double down = rig->hidden ? (double)INFINITY : cw_simulator_due(rig->down);
        const double frame = rig->hidden ? (double)INFINITY : rig->next_frame;
        const double next = fmin(fmin(tick, frame), fmin(up, down));
        if (next > end)
            break;
        rig->now = fmax(rig->now, next);
        if (next == up || next == tick)
            input_rig_server_takes(rig);
        if (next == tick)
            input_rig_server_ticks(rig);
        if (next == down)
            input_rig_client_takes(rig);
        if (next == frame) {
            input_rig_client_frame(rig);
            rig->next_frame = rig->now + 1 / rig->config.frames_per_second;
        }
    }
    rig->now = end;
}

/* Counts from here on. */
static inline void input_rig_count(struct input_rig *rig)
{
    rig->ticks = rig->starved = rig->wrong = rig->packets = rig->bytes = rig->restarts = 0;
}

#endif
