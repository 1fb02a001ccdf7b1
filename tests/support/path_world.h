/* Flows over one path, in virtual time: pairs of connections, and peers beside them, send through
   the same two links, one for each direction. The same seed gives the same run. */
#ifndef CAUSEWAY_TESTS_PATH_WORLD_H
#define CAUSEWAY_TESTS_PATH_WORLD_H

#include "base/prng.h"
#include "causeway/connection.h"
#include "causeway/simulator.h"

#include "path_peer.h"
#include "path_shaper.h"

#define PATH_FLOWS    16   /* at most */
#define PATH_DATAGRAM 1400 /* bytes, at most */
#define PATH_INBOX    4096 /* datagrams that wait for a tick, at most */

/* One direction of the path. */
struct path_link {
    struct cw_simulator *simulator;
    struct cw_simulator_path path;
    struct path_shaper shaper; /* the queue in front of the simulator, if any */
    double rate;               /* bytes per second of the bottleneck; 0: no limit */
    uint64_t sent, dropped;    /* numbers of datagrams; those dropped found no room in the queue */
    double backlog;            /* bytes in the queue, the one that is being sent included */
    double since, until;       /* the times from and to which the queue is measured */
    double byte_seconds;       /* the sum of the backlog over that time */
    double most;               /* the longest queue in that time, bytes */
};

struct path_world;
struct path_end;

/* A function that the application at one end calls. */
typedef void path_use(struct path_world *world, struct path_end *end);

struct path_end {
    struct cw_connection *connection; /* NULL for a peer */
    double interval;                  /* seconds from one tick to the next */
    double phase;                     /* seconds to the first tick */
    double wobble; /* share of the interval by which a tick comes late at most, drawn for each */
    uint32_t most_datagrams; /* datagrams in a tick; 0: as many as the connection gives. 1 is what
                                the reference library sends */
    /* a browser's hidden tab does so, whose timers are late but whose sockets are not */
    bool reads_at_once; /* takes datagrams when they arrive, not in the next tick */
    path_use *take;     /* called after datagrams arrived; NULL: releases all messages */
    path_use *use;      /* called in each tick, before the connection sends; NULL: nothing */
    void *context;      /* the argument of both */
    uint64_t ticks;
    double next_tick;
    uint64_t datagrams_sent, bytes_sent, bytes_arrived;
    struct {
        size_t size;
        uint8_t data[PATH_DATAGRAM];
    } * inbox;
    uint32_t read, written;
};

struct path_flow {
    struct path_end ends[2];
    struct path_peer *peer; /* NULL for connections */
};

struct path_world {
    double now;
    struct cw_prng random;
    struct path_link links[2]; /* the links from end 0 to end 1 of every flow, and back */
    struct path_flow flows[PATH_FLOWS];
    uint32_t flow_count;
};

/* Returns a path with this round trip time, no limits and no losses. */
struct cw_simulator_path path_of_rtt(double rtt);

/* Returns such a path with a bandwidth, in kbit/s of datagrams, and a queue of so many seconds. */
struct cw_simulator_path path_of_kbit(double rtt, double kbit, double queue_seconds);

/* Makes a world whose two links are like `there` and `back`. Exits the program when something
   cannot be made; so do the other functions. */
struct path_world *path_world_create(uint64_t seed, const struct cw_simulator_path *there,
                                     const struct cw_simulator_path *back);
void path_world_destroy(struct path_world *world);
void path_world_change(struct path_world *world, uint32_t link, const struct cw_simulator_path *to);

/* Puts a policer or CoDel with that rate, in kbit/s, in front of a link, whose own path should have
   no limit. depth is the bucket or the queue, in seconds at that rate, but at least two packets. */
void path_world_shape(struct path_world *world, uint32_t link, enum path_shaper_kind kind,
                      double kbit, double depth);

/* Adds a flow. Both ends tick at 60 Hz, the second half a tick after the first. The caller may
   change that, and the functions of the ends, before the first run. */
struct path_flow *path_world_add(struct path_world *world,
                                 const struct cw_connection_config *config);

/* Adds a peer that sends from end 0 to end 1 without end, from that time on. */
struct path_flow *path_world_add_peer(struct path_world *world, enum path_peer_kind kind,
                                      double start);

/* Lets everything happen up to that time. */
void path_world_run(struct path_world *world, double until);

/* Begins to measure the queues and the counters of the links and ends anew. */
void path_world_measure(struct path_world *world);

/* Returns figures since path_world_measure: milliseconds that the queue took on average and at
   most, and the share of datagrams that it dropped, in percent. */
double path_queue_ms(const struct path_link *link);
double path_most_queue_ms(const struct path_link *link);
double path_drops_percent(const struct path_link *link);

#endif
