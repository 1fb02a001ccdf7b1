/* What the parts of the supervisor share: supervisor.c opens, runs and closes it;
   supervisor_sockets.c opens the workers' sockets; supervisor_workers.c starts and serves them;
   supervisor_commands.c brings them the operator's commands. */
#ifndef CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H
#define CAUSEWAY_RELAY_SUPERVISOR_INTERNAL_H

#include "admin/admin.h"
#include "http/descriptors.h"
#include "os/log.h"
#include "os/loop.h"
#include "os/signals.h"
#include "os/tls.h"
#include "process/child.h"
#include "process/directory.h"
#include "process/supervisor.h"
#include "process/upgrade.h"
#include "stats/counters.h"

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

/* A command that is with the workers. */
struct pending_command {
    struct supervisor *all;
    uint64_t ticket; /* 0 = there is none here */
    struct command command;
    struct command_result result;         /* so far */
    bool waits[OPTIONS_WORKERS_MAX];      /* for this worker */
    unsigned counts[OPTIONS_WORKERS_MAX]; /* of sessions in its page */
    struct session_facts *pages;          /* of all workers; NULL when it is no list */
    size_t pages_size;
    struct loop_timer timer;
};

#define PENDING_COMMANDS_MAX DESCRIPTORS_ADMIN

enum supervisor_state {
    SUPERVISOR_SERVING,
    SUPERVISOR_DRAINING, /* as in enum relay_state */
    SUPERVISOR_STOPPING,
};

struct supervisor {
    const struct options *options; /* of the start */
    struct options reloaded;       /* since then; all zero before the first time */
    struct lws_protocols protocols[3];
    struct loop *loop;
    struct signals signals;
    struct tls *tls;     /* for the workers; NULL without --tls-certificate */
    struct admin *admin; /* NULL without --admin */
    struct directory directory;
    struct loop_timer expiry; /* of sessions that are nobody's */
    struct upgrade upgrade;
    struct counters past; /* of the workers' earlier lives */
    struct blocks blocks;
    struct pending_command pending[PENDING_COMMANDS_MAX];
    struct log_limit keep_limit;
    struct loop_timer count_late; /* when a worker takes too long to count */
    struct loop_timer stop;
    struct worker workers[OPTIONS_WORKERS_MAX];
    unsigned count;
    enum supervisor_state state;
};

/* The options as they are now. */
const struct options *supervisor_options(const struct supervisor *all);

/* Opens the sockets of all workers, or takes them over. Logs why and returns false when it
   cannot. */
bool supervisor_open_sockets(struct supervisor *all, struct startup *startup);

/* Opens the admin listener, if there is to be one. Logs why and returns false when it cannot. */
bool supervisor_open_admin(struct supervisor *all, struct startup *startup);

/* Starts all workers, and waits until they have opened everything. Logs why and returns false when
   one does not start. */
bool supervisor_start_workers(struct supervisor *all);

/* Lets them serve, and waits until they do. */
bool supervisor_let_serve(struct supervisor *all);

/* Has a worker that serves take the options that were reloaded, if they were. */
void supervisor_reload_worker(const struct worker *worker);

/* Has the workers that serve take the certificates as they are now; context is the struct
   supervisor. */
void supervisor_share_certificates(void *context);

/* Sends all workers a message without data. */
void supervisor_tell(struct supervisor *all, enum message_type message);

/* Has the workers bring their counters up to date, and logs the sums. */
void supervisor_count(struct supervisor *all);

/* Sends a signal to all workers. */
void supervisor_signal(struct supervisor *all, int signal_number);

/* True while one lives. */
bool supervisor_has_workers(const struct supervisor *all);

/* Forgets sessions that have waited long enough, now and later. */
void supervisor_expire(struct supervisor *all);

/* Has the workers carry out a command, and tells the admin listener what has come of it. */
void supervisor_carry_out(void *context, const struct command *command, uint64_t ticket);

/* A worker has carried out a command, see struct command_reply. */
void supervisor_take_reply(struct worker *worker, const void *data, size_t size);

/* A worker has died, with whatever it was asked. */
void supervisor_forgo_replies(struct worker *worker);

/* Forgets all commands. */
void supervisor_drop_commands(struct supervisor *all);

/* Logs the sums of the counters. */
void supervisor_log_stats(const struct supervisor *all);

#endif
