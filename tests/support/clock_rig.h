/* A clock that follows a server's over a bad path, in virtual time, and the true time beside it.
   Every datagram is taken at the instant at which it arrives. */
#ifndef CAUSEWAY_TESTS_CLOCK_RIG_H
#define CAUSEWAY_TESTS_CLOCK_RIG_H

#include "causeway/clock_sync.h"
#include "causeway/simulator.h"

#include <math.h>
#include <stdlib.h>

struct clock_rig_config {
    double ticks_per_second;
    double stamps_per_second, echoes_per_second;
    struct cw_simulator_path up, down;
    double drift; /* the server's clock runs faster by this share */
    double first_tick;
    uint64_t seed;
};

struct clock_rig {
    struct clock_rig_config config;
    struct cw_simulator *up, *down;
    struct cw_clock_sync *sync;
    struct cw_clock_echo echo;
    double now;       /* true time in seconds, from 0 */
    double tick_jump; /* ticks by which the server's have jumped so far */
    double next_stamp, next_echo;
};

/* Returns the time of the client's clock, which has begun at another time than the server's. */
static inline double clock_rig_client_clock(const struct clock_rig *rig, double now)
{
    (void)rig;
    return now + 4321.5;
}

static inline double clock_rig_server_clock(const struct clock_rig *rig, double now)
{
    return now * (1 + rig->config.drift) - 77;
}

/* Returns the true tick time of the server. */
static inline double clock_rig_tick_time(const struct clock_rig *rig, double now)
{
    const struct clock_rig_config *config = &rig->config;
    return config->first_tick + rig->tick_jump +
           now * (1 + config->drift) * config->ticks_per_second;
}

/* Returns by how many seconds the client's clock is wrong about the tick time. */
static inline double clock_rig_error(const struct clock_rig *rig)
{
    const double known =
        cw_clock_sync_server_time(rig->sync, clock_rig_client_clock(rig, rig->now));
    const double error = known - clock_rig_tick_time(rig, rig->now);
    const double laps = floor(error / 4294967296.0 + 0.5);
    return (error - laps * 4294967296.0) / rig->config.ticks_per_second;
}

static inline struct cw_simulator *clock_rig_path(const struct cw_simulator_path *path,
                                                  uint64_t seed)
{
    struct cw_simulator *simulator = NULL;
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = seed;
    config.path = *path;
    config.max_datagrams = 4096;
    if (cw_simulator_create(&config, &simulator) != CW_OK)
        abort();
    return simulator;
}

static inline void clock_rig_start(struct clock_rig *rig, const struct clock_rig_config *config)
{
    struct cw_clock_sync_config sync_config = cw_clock_sync_config_default();
    sync_config.ticks_per_second = config->ticks_per_second;
    *rig = (struct clock_rig){.config = *config};
    rig->up = clock_rig_path(&config->up, config->seed);
    rig->down = clock_rig_path(&config->down, config->seed + 1000003);
    if (cw_clock_sync_create(&sync_config, &rig->sync) != CW_OK)
        abort();
}

static inline void clock_rig_stop(struct clock_rig *rig)
{
    cw_clock_sync_destroy(rig->sync);
    cw_simulator_destroy(rig->up);
    cw_simulator_destroy(rig->down);
}

/* Delivers what arrives until then. */
static inline void clock_rig_arrivals(struct clock_rig *rig, double until)
{
    uint8_t data[16];
    size_t size;
    double due;
    while ((due = cw_simulator_due(rig->up)) <= until) {
        size = cw_simulator_transmit(rig->up, data, sizeof data, due);
        cw_clock_echo_receive(&rig->echo, data, size, clock_rig_server_clock(rig, due));
    }
    while ((due = cw_simulator_due(rig->down)) <= until) {
        size = cw_simulator_transmit(rig->down, data, sizeof data, due);
        cw_clock_sync_receive(rig->sync, data, size, clock_rig_client_clock(rig, due));
    }
}

/* Sends what is due by now. */
static inline void clock_rig_departures(struct clock_rig *rig)
{
    uint8_t data[16];
    size_t size;
    const double now = rig->now;
    if (rig->next_stamp <= now) {
        rig->next_stamp += 1 / rig->config.stamps_per_second;
        size =
            cw_clock_sync_transmit(rig->sync, data, sizeof data, clock_rig_client_clock(rig, now));
        cw_simulator_receive(rig->up, data, size, now);
    }
    if (rig->next_echo <= now) {
        rig->next_echo += 1 / rig->config.echoes_per_second;
        size = cw_clock_echo_transmit(&rig->echo, clock_rig_tick_time(rig, now), data, sizeof data,
                                      clock_rig_server_clock(rig, now));
        cw_simulator_receive(rig->down, data, size, now);
    }
}

/* Lets a step of time pass. */
static inline void clock_rig_step(struct clock_rig *rig, double seconds)
{
    clock_rig_arrivals(rig, rig->now + seconds);
    rig->now += seconds;
    clock_rig_departures(rig);
    cw_clock_sync_update(rig->sync, clock_rig_client_clock(rig, rig->now));
}

#endif
