/* What the parts of the supervisor share: supervisor.c opens, runs and closes it;
   supervisor_sockets.c opens the workers' sockets; supervisor_workers.c starts and serves them. */
#ifndef CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H
#define CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H

#include "admin/admin.h"
#include "net/child.h"
#include "net/counters.h"
#include "net/loop.h"
#include "session/registry.h"
#include "supervisor.h"
#include "upgrade.h"

/* --listen and --http-redirect, and one of WebRTC. */
#define WORKER_SOCKETS_MAX (2 * OPTIONS_LISTEN_MAX + 1)

struct supervisor;

struct worker {
    struct supervisor *all;
    unsigned number; /* from 1 on: 0 is nobody */
    int sockets[WORKER_SOCKETS_MAX];
    unsigned socket_count;
    int counters_fd;
    struct counters *counters;
    struct child child; /* none between two of its lives */
    struct loop_watch watch;
    struct loop_timer again;
    double started;
    double pause; /* before it is started again */
    bool serving; /* it has been told to start: before, it waits for nothing else */
    bool counting;
};

struct supervisor {
    const struct options *options;
    struct lws_protocols protocols[3];
    struct loop *loop;
    struct loop_watch signals;
    struct admin *admin; /* NULL without --admin */
    struct registry registry;
    struct loop_timer expiry; /* of sessions that are nobody's */
    struct upgrade upgrade;
    struct counters past; /* of the workers' earlier lives */
    struct worker workers[OPTIONS_WORKERS_MAX];
    unsigned count;
    bool stopping;
};

/* Opens the sockets of all workers, or takes them over. Logs why and returns false when it
   cannot. */
bool supervisor_open_sockets(struct supervisor *all, struct heritage *heritage);

/* Opens the admin listener, if there is to be one. Logs why and returns false when it cannot. */
bool supervisor_open_admin(struct supervisor *all, struct heritage *heritage);

/* Starts all workers, and waits until they have opened everything. Logs why and returns false when
   one does not start. */
bool supervisor_start_workers(struct supervisor *all);

/* Lets them serve, and waits until they do. */
bool supervisor_let_serve(struct supervisor *all);

/* Sends all workers that serve a message without data. */
void supervisor_tell(struct supervisor *all, enum heritage_message message);

/* True while one is counting, or lives. */
bool supervisor_counts(const struct supervisor *all);
bool supervisor_has_workers(const struct supervisor *all);

/* Forgets sessions that have waited long enough, now and later. */
void supervisor_expire(struct supervisor *all);

/* All workers have counted: logs the sums. */
void supervisor_log_stats(const struct supervisor *all);

#endif
