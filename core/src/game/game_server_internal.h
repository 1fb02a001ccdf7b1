/* The inside of a game's server. */
#ifndef CAUSEWAY_GAME_SERVER_INTERNAL_H
#define CAUSEWAY_GAME_SERVER_INTERNAL_H

#include "game/game_config_internal.h"
#include "game/game_events.h"
#include "game/snapshot_internal.h"

#include "causeway/clock_sync.h"
#include "causeway/game_server.h"

/* The rates that are known, of the last quarters of a second. The clients are told the middle one,
   so that one stall is none, or that the server keeps up when the newest one says so. */
#define CW_GAME_RATES 3

struct cw_game_server_time {
    bool started;
    double start, updated; /* when the first and the last update were */
    uint64_t due;          /* the tick that was due then; the first one is 1 */
    uint64_t skipped;      /* ticks left out */
    uint64_t ticks;        /* ticks played; the newest one has this number */
    uint64_t snapshots;    /* snapshots that were due by then */

    double measured;           /* when the present rate began to be measured */
    uint64_t measured_skipped; /* the ticks that had been left out by then */
    double rates[CW_GAME_RATES];
    uint32_t next_rate;
};

struct cw_game_seat {
    struct cw_input_receiver *inputs;
    uint8_t *input; /* the one of given_tick, with its view */
    bool taken;
    bool given;
    uint32_t given_tick;
    uint32_t entity;
    struct cw_clock_echo echo;
    double echoed;      /* when the last echo was sent */
    uint32_t sent_tick; /* the last snapshot that was sent */
    struct cw_game_log_reader events;
};

struct cw_game_server {
    struct cw_game_config config;
    size_t memory;
    const struct cw_schema *carried;
    struct cw_snapshot_server *snapshots;
    struct cw_history *history; /* NULL for none */
    struct cw_game_seat *seats;

    size_t stride;
    uint8_t *states; /* the entities, as in the history */
    bool *there;
    uint32_t used; /* one more than the highest id that was ever set */

    struct cw_game_server_time time;
    bool playing; /* the application plays `tick` */
    uint32_t tick;
    uint32_t snapshot_tick; /* the tick of the snapshot that clients are to get; 0: none */

    struct cw_game_log log;
    uint64_t malformed;
    struct cw_game_fault fault;
};

/* The tick time at now, a time of the application: at most that of the newest tick that may be
   played then. */
double cw_game_server_tick_time(const struct cw_game_server *server, double now);

/* The real rate of the server, from 1 to CW_GAME_FULL_RATE. */
uint16_t cw_game_server_rate(const struct cw_game_server *server);

#endif
