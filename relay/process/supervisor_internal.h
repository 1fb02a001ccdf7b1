/* Declarations that the sources of the supervisor share: supervisor.c opens, runs and closes it,
   and answers the operator; supervisor_workers.c starts and serves the workers. */
#ifndef CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H
#define CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H

#include "admin/admin.h"
#include "admin/block_list.h"
#include "http/descriptors.h"
#include "os/log.h"
#include "os/loop.h"
#include "os/tls.h"
#include "process/child.h"
#include "process/directory.h"
#include "process/liveness.h"
#include "process/pending_commands.h"
#include "process/signals.h"
#include "process/supervisor.h"
#include "process/upgrade.h"
#include "process/worker_sockets.h"
#include "stats/counters.h"

struct worker_process {
    struct supervisor *supervisor;
    unsigned number; /* the number of the worker, from 1 on */
    int counters_fd;
    struct counters *counters;
    struct child child; /* no process while the worker waits to be started again */
    struct loop_watch watch;
    struct loop_timer restart;
    struct liveness_watch liveness;
    double started;
    double pause; /* seconds before the worker is started again */
    /* it has been asked to serve; before, it waits for that and reads nothing else */
    bool serving;
    bool is_counting;                 /* it has been asked to bring its counters up to date */
    unsigned woken;                   /* the times that it was asked before only to wake it */
    bool is_asking;                   /* it waits for the answer to MESSAGE_LOOKUP */
    uint8_t asked[SESSION_HASH_SIZE]; /* the session for which it asks */
};

enum supervisor_state {
    SUPERVISOR_SERVING,
    SUPERVISOR_DRAINING, /* as in enum relay_state */
    SUPERVISOR_STOPPING,
};

struct supervisor {
    const struct options *options; /* the options at the start */
    struct options reloaded;       /* the options since a reload; all zero before the first one */
    struct lws_protocols protocols[3];
    struct loop *loop;
    struct lingers *lingers; /* the connections of the admin listener that are ending */
    struct signals signals;
    struct tls *tls;     /* the certificates for the workers; NULL without --tls-certificate */
    struct admin *admin; /* NULL without --admin */
    struct directory directory;
    struct loop_timer expiry; /* armed for sessions that no worker has */
    struct upgrade upgrade;
    struct counters past; /* the counters of workers that have ended */
    struct blocks blocks;
    struct block_list *block_list; /* NULL without --blocks-from */
    struct pending_commands commands;
    struct log_limit lost_limit;
    struct loop_timer count_late; /* expires when a worker takes too long to count */
    struct loop_timer stop;
    struct loop_timer liveness; /* armed while there are sessions: looks for workers that hang */
    struct worker_process workers[OPTIONS_WORKERS_MAX];
    struct worker_sockets sockets[OPTIONS_WORKERS_MAX];
    unsigned count;
    bool is_asked; /* a worker has asked for a session that is not known; see
                      supervisor_read_workers */
    enum supervisor_state state;
};

/* Returns the options as they are now. */
const struct options *supervisor_options(const struct supervisor *supervisor);

/* Starts all workers, and waits until they have opened everything. Logs why and returns false when
   one does not start. */
bool supervisor_start_workers(struct supervisor *supervisor);

/* Lets the workers serve, and waits until they do. */
bool supervisor_let_serve(struct supervisor *supervisor);

/* Makes a worker that serves take the options that were reloaded, if they were. */
void supervisor_reload_worker(const struct worker_process *worker);

/* Makes the workers that serve take the certificates as they are now; context is the struct
   supervisor. */
void supervisor_share_certificates(void *context);

/* Kills workers that hang, now and later, while there are sessions that others can carry on. */
void supervisor_look_after_workers(struct supervisor *supervisor);

/* Sends all workers a message without data. */
void supervisor_send_all(struct supervisor *supervisor, enum message_type message);

/* Obeys the messages that the workers which serve have sent until now, and answers those that ask.
 */
void supervisor_read_workers(struct supervisor *supervisor);

/* Makes the workers bring their counters up to date, and logs the sums. */
void supervisor_count(struct supervisor *supervisor);

/* Sends a signal to all workers. */
void supervisor_signal(struct supervisor *supervisor, int signal_number);

/* Returns true while a worker lives. */
bool supervisor_has_workers(const struct supervisor *supervisor);

/* Forgets sessions that have waited long enough, now and later. */
void supervisor_expire(struct supervisor *supervisor);

/* Logs the sums of the counters. */
void supervisor_log_stats(const struct supervisor *supervisor);

#endif
